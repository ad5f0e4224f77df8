"""Words that mean nearly the same in news, a small list of our own, and countries with their people.

It stands in for WordNet where that is not installed, and has what WordNet has not.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache

from sentgen.alignment.words.function_words import memberships
from sentgen.alignment.words.stems import stem

#: Groups of words, separated by commas; all forms of a word with the same stem are meant.
_GROUPS = """
say tell state declare announce report note remark add stress explain claim mention express point indicate,
say accord, reply answer respond, ask question inquire request demand, emphasize stress underline,
reporter journalist correspondent press, article story report news, newspaper paper daily,
kill murder slay assassinate, die death perish, dead deceased, injure wound hurt, victim casualty,
army military troop force soldier, soldier troop, fight battle combat war conflict,
attack assault raid strike, bomb explosive blast, explosion blast, weapon arm gun,
rebel insurgent guerrilla militant, terrorist militant, police cop officer, arrest detain capture seize,
jail prison, crime offense, suspect accuse charge, court judge trial tribunal, lawyer attorney counsel,
verdict ruling judgment sentence, law legislation bill, government authority administration regime,
official authority officer, leader head chief chairman president, premier minister, president leader,
spokesman representative, lawmaker legislator congressman parliamentarian,
parliament congress legislature assembly, election vote ballot poll, party faction, opposition opponent,
country nation state, city town municipal, village rural, area region zone district, border frontier,
world global international worldwide, domestic internal national home, abroad overseas foreign,
people resident citizen inhabitant person civilian, man person guy, woman female lady, child kid youngster,
boy youth, girl daughter, wife spouse, spouse husband, parent mother, parent father, baby infant,
student pupil, house home residence, building structure, car automobile, plane aircraft jet airplane airliner,
ship vessel boat, road street highway, trip journey travel visit tour, flight fly,
company firm corporation enterprise business, business trade commerce, job work employment post,
worker employee staff labor, boss manager director executive, owner proprietor, buy purchase acquire,
sell sale market, price cost, money fund cash capital, pay payment, rich wealthy, poor needy,
increase rise grow climb soar gain, decrease decline fall drop reduce cut lower, cut reduce slash,
big large great huge vast, small little tiny, high tall, quick fast rapid swift speed, slow gradual,
begin start commence launch, end finish conclude complete close, stop halt cease, continue keep remain go,
make create produce, create form establish set found, produce manufacture, build construct,
give provide offer supply grant, get receive obtain gain, take seize, send dispatch deliver,
help aid assist support assistance, support back, agree consent approve, approve ratify endorse,
refuse reject decline deny, oppose resist object, ban prohibit forbid, allow permit let,
order command instruct, show demonstrate display reveal, see watch view look, find discover,
search seek look hunt, think believe consider, know understand, want wish hope desire, need require,
try attempt seek effort, use employ utilize apply, meet conference meeting gathering summit,
talk discussion negotiation dialogue, discuss debate, tie relation link, agreement deal accord pact treaty,
plan program project scheme, decide determine decision, choose select pick elect, change alter modify shift,
develop expand growth, improve enhance upgrade, strengthen boost reinforce, happen occur,
cause trigger lead, result outcome consequence, reason cause, problem issue question matter trouble,
danger risk threat, important significant key major crucial vital, main major chief principal,
new novel recent fresh, old elderly aged ancient, good fine nice, best top leading, bad poor,
hard difficult tough, easy simple, whole entire all total complete, part portion section share,
number amount figure quantity, group team band, now currently present today, soon shortly,
later afterwards subsequently, often frequently, again once, year annual, month monthly, week weekly,
day daily, today day, early beginning, late recently, former previous ex, last past previous final,
next following coming, first initial, near close adjacent, far distant, north northern, south southern,
east eastern, west western, middle central, sick ill patient, disease illness ailment,
doctor physician medic, hospital clinic, drug medicine medication, treatment therapy cure,
operation surgery, earthquake quake, storm hurricane typhoon, flood deluge, win victory triumph beat,
lose defeat, score point goal, match game, player athlete, champion winner, prize award, try test,
study research survey, scientist researcher, school college university, teacher instructor,
film movie picture, sea ocean marine, mountain hill, forest wood, oil petroleum crude, gas fuel,
internet online web, computer pc, phone telephone, letter mail, television broadcast, speech address talk,
visit tour, come arrive reach, go leave depart, return back, enter join, become get,
live reside inhabit stay, hold organize host, establish found, protect defend guard safeguard,
attend participate join, participant attendee, special particular, different various diverse,
same identical equal, similar alike, free release liberate, clear obvious evident, true real actual genuine,
wrong false mistaken, right correct, sure certain, about regarding concerning,
despite although notwithstanding, almost nearly, especially particularly, besides addition
"""
_COUNTRIES = """
afghanistan afghan, africa african, albania albanian, algeria algerian, america american us,
argentina argentine, asia asian, australia australian, austria austrian, belgium belgian, brazil brazilian,
britain british uk england, bulgaria bulgarian, cambodia cambodian, canada canadian, chile chilean,
china chinese, colombia colombian, croatia croatian, cuba cuban, cyprus cypriot, denmark danish dane,
egypt egyptian, england english, eu european, europe european, finland finnish finn, france french,
germany german, greece greek, holland dutch netherlands, hungary hungarian, iceland icelandic, india indian,
indonesia indonesian, iran iranian, iraq iraqi, ireland irish, israel israeli, italy italian,
japan japanese, jordan jordanian, kenya kenyan, korea korean, kuwait kuwaiti, lebanon lebanese,
libya libyan, malaysia malaysian, mexico mexican, mongolia mongolian, morocco moroccan,
myanmar burma burmese, nepal nepalese, nigeria nigerian, norway norwegian, pakistan pakistani,
palestine palestinian, peru peruvian, philippines philippine filipino, poland polish, portugal portuguese,
romania romanian, russia russian, scotland scottish, serbia serbian serb, singapore singaporean,
somalia somali, spain spanish, sudan sudanese, sweden swedish, switzerland swiss, syria syrian,
taiwan taiwanese, thailand thai, tibet tibetan, turkey turkish, uganda ugandan, ukraine ukrainian,
venezuela venezuelan, vietnam vietnamese, wales welsh, yemen yemeni, zimbabwe zimbabwean
"""


@cache
def _groups() -> Mapping[str, frozenset[int]]:
    """Return the groups of each stem."""
    return memberships(map(stem, group.split()) for group in f"{_GROUPS},{_COUNTRIES}".split(","))


@lru_cache(maxsize=1 << 16)
def meanings(word: str) -> frozenset[int]:
    """Return the groups of a word by their numbers.

    >>> meanings("killed") & meanings("Murders") != frozenset()
    True
    """
    return _groups().get(stem(word.lower()), frozenset())
