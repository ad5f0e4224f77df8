"""The relation of a word of a summary to a word of its document; different forms of the same word."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Literal, get_args

from sentgen.alignment.words.dates import MONTHS
from sentgen.alignment.words.number_words import CARDINALS, ORDINALS
from sentgen.alignment.words.word_classes import groups, is_function_word, stem
from sentgen.alignment.words.wordnet import meanings, senses

_PLAIN = re.compile(r"[\W_]+")
#: Short forms and the words that they abbreviate, without punctuation; for currencies and units the name.
_SHORT = """
% percent,pct percent,pc percent,$ dollar,dollars dollar,us$ dollar,usd dollar,hk$ dollar,€ euro,euros euro
£ pound,pounds pound,& and,mr mister,dr doctor,prof professor,gov governor,sen senator,rep representative
gen general,col colonel,lt lieutenant,sgt sergeant,st saint,vs versus,dept department,govt government
univ university,inst institute,corp corporation,inc incorporated,co company,cos companies,ltd limited
bros brothers,assn association,natl national,intl international,mt mount,ft feet,km kilometer
kms kilometer,kilometers kilometer,kilometre kilometer,kilometres kilometer,kg kilogram
kilograms kilogram,mln million,bln billion,bn billion,hrs hours,hr hour,mins minutes,min minute
sept september,tv television,phd doctorate,okay ok,alright ok,mom mother,dad father,xmas christmas
photo photograph,photos photographs,ad advertisement,ads advertisements,auto automobile,uk britain
till until,thru through,nite night,tonite tonight,ii 2,iii 3,iv 4,grey gray,tyre tire,tyres tires
cheque check,cheques checks,plough plow,gaol jail,programme program,storey story,draught draft
""".replace("\n", ",")


def _spellings() -> dict[str, str]:
    """Return the word of each written form."""
    forms = dict(pair.split() for pair in _SHORT.split(",") if pair)
    forms |= {word: str(number) for word, number in CARDINALS.items()}
    forms |= {word: f"{number}th" for word, number in ORDINALS.items()}
    # *1st* and *first* both become *1th*.
    for number, ending in enumerate(("st", "nd", "rd"), 1):
        forms |= {f"{ten}{number}{ending}": f"{ten}{number}th" for ten in ("", *range(2, 10))}
    # *May* has no short form, and *mar* is a word.
    return forms | {month[:3]: month for month in MONTHS if not month.startswith("ma")}


_FORMS = _spellings()


@lru_cache(maxsize=1 << 16)
def letters(word: str) -> str:
    """Return a word in lower case without punctuation."""
    return _PLAIN.sub("", word.lower())


@lru_cache(maxsize=1 << 16)
def same_word(word: str) -> str:
    """Return the same string for all forms in which a word is written; an empty string for punctuation.

    >>> [same_word(word) for word in ("twenty-five", "25", "Jan.", "January", "%", "pre-war", "--")]
    ['25', '25', 'january', 'january', 'percent', 'prewar', '']
    """
    plain = letters(word)
    return _FORMS.get(word.lower(), _FORMS.get(plain, plain))


def common_beginning(word: str, other: str) -> int:
    """Return the number of letters with which both words begin."""
    same = 0
    while same < min(len(word), len(other)) and word[same] == other[same]:
        same += 1
    return same


#: ``other``: no known relation.
Relation = Literal["same", "variant", "related", "other"]
#: From the closest to the loosest.
RELATIONS: tuple[Relation, ...] = get_args(Relation)

#: Endings of derived words, without those that negate, such as *less*.
_SUFFIXES = """
    s es is ed ing er ers or ors ist ists ism y ly ies ic ical ically al ally ion ions ation ations ment
    ments ness ity able ible ive ively ant ance ent ence ency ous ously ize ized izing ization izations ian
    ians an n ens ened en e ful fully ship hood age ure a um i
"""
_ENDINGS = frozenset(_SUFFIXES.split())
#: British spellings by the American ones.
_BRITISH = (
    *(("our", "or"), ("ise", "ize"), ("isa", "iza"), ("isi", "izi"), ("yse", "yze"), ("tre", "ter")),
    *(("ogue", "og"), ("ll", "l"), ("ae", "e")),
)
#: Least number of letters that derived words share.
_BASE = 4
#: Least length of words of which a misspelling with one letter is no other word.
_LONG = 7
#: Function words that are opposites.
_PAIRS = """
        before/after with/without above/below over/under more/less more/fewer most/least up/down all/none
        every/no always/never he/she his/her him/her both/neither can/cannot into/from onto/off
        inside/outside until/since against/for
"""
_OPPOSITES = frozenset(frozenset(pair.split("/")) for pair in _PAIRS.split())


def opposite(word: str, other: str) -> bool:
    """Return whether two function words are opposites."""
    return frozenset((word.lower(), other.lower())) in _OPPOSITES


@lru_cache(maxsize=1 << 16)
def relation(word: str, other: str, wordnet: Path | None = None) -> tuple[Relation, str]:
    """Return the relation of a word of the abstract to a word of the document, and the reason.

    >>> relation("Cats", "cats"), relation("cats", "cat")
    (('same', ''), ('variant', 'inflected'))
    >>> relation("economist", "economy"), relation("internet", "interest")
    (('variant', 'derived'), ('other', ''))
    """
    if word.lower() == other.lower():
        return "same", ""
    if same_word(word) and same_word(word) == same_word(other):
        return "variant", "spelled otherwise"
    if is_function_word(word) or is_function_word(other):
        shared = groups(word) & groups(other) and not opposite(word, other)
        return ("related", "") if shared else ("other", "")
    if any(map(str.isdigit, word + other)):
        return "other", ""
    if stem(word) == stem(other):
        return "variant", "inflected"
    if _american(letters(word)) == _american(letters(other)):
        return "variant", "spelled otherwise"
    if meanings(word) & meanings(other):
        return "variant", "synonym"
    if _is_derived(_american(letters(word)), _american(letters(other))):
        return "variant", "derived"
    if _is_part(word, other) or _is_part(other, word):
        return "related", "part of a compound"
    if _is_misspelled(word, other):
        return "related", "similar spelling"
    return ("other", "") if wordnet is None else _in_wordnet(word, other, wordnet)


def other_form(word: str, other: str) -> tuple[Literal["same", "variant"], str]:
    """Return the relation of two words with the same stem, and the reason."""
    state, why = relation(word, other)
    return ("same" if state == "same" else "variant"), why


def _in_wordnet(word: str, other: str, folder: Path) -> tuple[Relation, str]:
    (own, near), (others, others_near) = senses(folder, word), senses(folder, other)
    if own & others:
        return "variant", "synonym"
    return ("related", "one sense away") if own & others_near or near & others else ("other", "")


def _is_derived(word: str, other: str) -> bool:
    """Return whether both words have the same base with different endings, or without one."""
    same = common_beginning(word, other)
    # The base may lose its last letters before an ending: *economy*, *economic*.
    return any(
        base >= _BASE and _ends(word[base:]) and _ends(other[base:])
        for base in range(same, max(same - 2, 0), -1)
    )


def _american(word: str) -> str:
    for british, american in _BRITISH:
        word = word.replace(british, american)
    return word


def _is_part(word: str, other: str) -> bool:
    """Return whether a word is a part of another word that has a hyphen."""
    return "-" in other and word.lower() in other.lower().split("-")


def _is_misspelled(word: str, other: str) -> bool:
    """Return whether two long words differ by a letter or, if they are names, by two."""
    left, right = letters(word), letters(other)
    named = word[:1].isupper() and other[:1].isupper()
    # Names of countries and peoples are known: none is a misspelling of another.
    if min(len(left), len(right)) < _LONG or left[0] != right[0] or meanings(word) or meanings(other):
        return False
    return _within(left, right, 2 if named else 1)


def _within(left: str, right: str, most: int) -> bool:
    """Return whether the edit distance (Levenshtein) of two words is at most ``most``."""
    if left == right:
        return True
    if not most:
        return False
    same = common_beginning(left, right)
    left, right = left[same:], right[same:]
    return any(
        _within(next_left, next_right, most - 1)
        for next_left, next_right in ((left[1:], right[1:]), (left[1:], right), (left, right[1:]))
    )


def _ends(rest: str) -> bool:
    return not rest or rest in _ENDINGS
