"""Numbers as words and as digits: their values, the worth of the last digit, and how exact they are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Final, Literal, NamedTuple


def listed(words: str) -> tuple[str, ...]:
    """Return the words of a text as a tuple."""
    return tuple(words.split())


_UNITS: Final = listed("""
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen
""")
_TENS: Final = listed("twenty thirty forty fifty sixty seventy eighty ninety")
_ORDINALS: Final = listed("""
zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth
fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth
""")


def _cardinals() -> dict[str, int]:
    """Return the values of the number words up to *ninety-nine*, written without hyphen."""
    words = {word: number for number, word in enumerate(_UNITS)}
    for ten, word in enumerate(_TENS, 2):
        words |= {word: 10 * ten} | {word + _UNITS[unit]: 10 * ten + unit for unit in range(1, 10)}
    return words


def _ordinals() -> dict[str, int]:
    words = {word: number for number, word in enumerate(_ORDINALS)}
    for ten, word in enumerate(_TENS, 2):
        words[word[:-1] + "ieth"] = 10 * ten
        words |= {word + _ORDINALS[unit]: 10 * ten + unit for unit in range(1, 10)}
    return words


#: Numbers below a hundred, and their ordinals, without hyphen.
CARDINALS: Final = _cardinals()
ORDINALS: Final = _ordinals()
#: Factors of the number before these words.
SCALES: Final = {
    "dozen": 12,
    "hundred": 100,
    "thousand": 1000,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
    "mln": 10**6,
    "mn": 10**6,
    "bln": 10**9,
    "bn": 10**9,
    "tn": 10**12,
}
#: Letters behind a number; *m* is a million behind a currency only, else meters.
LETTERS: Final = {"k": 10**3, "K": 10**3, "M": 10**6, "B": 10**9} | {
    short: SCALES[short] for short in ("mln", "mn", "bln", "bn", "tn")
}
_PARTS: Final = {
    "half": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8,
    "ninth": 9, "tenth": 10,
}  # fmt: skip
#: Fractions: *two thirds*; *halves* is an irregular plural.
PARTS: Final = _PARTS | {f"{word}s": number for word, number in _PARTS.items()} | {"halves": 2}
_SIGNS: Final = {
    "½": (1, 2), "⅓": (1, 3), "⅔": (2, 3), "¼": (1, 4), "¾": (3, 4), "⅕": (1, 5), "⅛": (1, 8),
}  # fmt: skip
_DIGITS: Final = r"(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?"
_NUMERAL: Final = re.compile(rf"([+\-−]?)(?=\.?\d)({_DIGITS})(?:[eE]([+\-−]?\d{{1,3}})(?!\w))?")
_POWER: Final = re.compile(r"(?:(\d+(?:\.\d+)?)[x×*·])?10\^([+\-−]?\d{1,3})")
#: Most letters of a number word: longer words are names, and would only cost time.
_LONGEST: Final = 30


def word_at(words: Sequence[str], at: int) -> str:
    """Return a word of a text; an empty string before its beginning and behind its end."""
    return words[at] if 0 <= at < len(words) else ""


class Numeral(NamedTuple):
    """A number, its end, the worth of its last digit, and whether it is in digits alone."""

    value: Fraction
    step: Fraction
    end: int
    digits: bool = False

    @staticmethod
    def at(words: Sequence[str], at: int) -> Numeral | None:
        """Return the number that begins at a word, given in lower case: in digits, in letters, or in both.

        >>> str(Numeral.at(listed("two hundred and fifty-three thousand people"), 0).value)
        '253000'
        """
        word = words[at]
        if word in ("a", "an"):
            return _times_scales(words, Numeral(Fraction(1), Fraction(1), at + 1), least=12)
        if word == "half":
            start = at + 2 if words[at + 1 : at + 2] in (["a"], ["an"]) else at + 1
            return _times_scales(words, Numeral(Fraction(1, 2), Fraction(1, 10), start), least=12)
        if (cut := digits(word)) is not None:
            if cut[2]:
                return None
            plain = Numeral(cut[0], cut[1], at + 1, digits=True)
            return _times_scales(words, _and_part(words, plain))
        if (small := small_number(word)) is None:
            return None
        return _in_words(words, at, small)


@lru_cache(maxsize=1 << 12)
def digits(word: str) -> tuple[Fraction, Fraction, str] | None:
    """Return a number at the beginning of a word, the worth of its last digit, and the rest of the word.

    >>> [str(part) for part in digits("1,200.5km")]
    ['2401/2', '1/10', 'km']
    """
    if len(word) > _LONGEST:
        return None
    if (power := _POWER.fullmatch(word)) is not None:
        scale = Fraction(10) ** int(power[2].replace("−", "-"))
        value = Fraction(power[1] or 1)
        return value * scale, _step(power[1] or "1") * scale, ""
    if word and word[-1] in _SIGNS and (len(word) == 1 or word[:-1].isdecimal()):
        part = Fraction(*_SIGNS[word[-1]])
        return int(word[:-1] or 0) + part, Fraction(1, 10 if word[:-1] else 1000), ""
    if (match := _NUMERAL.match(word)) is None:
        return None
    written = match[2].replace(",", "")
    scale = Fraction(10) ** int((match[3] or "0").replace("−", "-"))
    value = Fraction(written) * scale
    return -value if match[1] in ("-", "−") else value, _step(written) * scale, word[match.end() :]


def _step(written: str) -> Fraction:
    return Fraction(1, 10 ** len(written.partition(".")[2]))


def small_number(word: str) -> int | None:
    """Return the value of a number word below a hundred: *five*, *twenty-five*."""
    if "-" in word:
        ten, _, unit = word.partition("-")
        if ten not in _TENS or not 0 < CARDINALS.get(unit, 0) < 10:
            return None
    return CARDINALS.get(word.replace("-", "", 1))


def _and_part(words: Sequence[str], number: Numeral) -> Numeral:
    """Add *1/2*, *½*, or *and a half*."""
    after = words[number.end : number.end + 3]
    if after == ["and", "a", "half"]:
        return number._replace(value=number.value + Fraction(1, 2), step=Fraction(1, 10), end=number.end + 3)
    if not after or number.value.denominator > 1 or not number.digits:
        return number
    part = simple_fraction(after[0])
    if part is None and after[0] in _SIGNS:
        part = Fraction(*_SIGNS[after[0]])
    if part is None:
        return number
    return Numeral(number.value + part, Fraction(1, 10), number.end + 1, digits=True)


def simple_fraction(word: str) -> Fraction | None:
    """Return the value of *3/4*, not of a possible date or score, such as *9/11* or *24/7*."""
    above, slash, below = word.partition("/")
    if not slash or not (above.isascii() and above.isdecimal() and below.isascii() and below.isdecimal()):
        return None
    fits = len(above) == 1 and len(below) <= 2 and 0 < int(above) < int(below) <= 10
    return Fraction(int(above), int(below)) if fits else None


def _times_scales(words: Sequence[str], number: Numeral, *, least: int = 0) -> Numeral | None:
    """Multiply by the words behind, such as *thousand*, *dozen*; there must be one of at least ``least``."""
    value, step, end, in_digits = number
    has_scale = False
    # At most *thousand million million*, or a hostile text takes all memory.
    while end < min(len(words), number.end + 3) and words[end] in SCALES:
        scale = SCALES[words[end]]
        # *Two hundred* shows as many digits as *200*, *1.2 million* fewer than *1,200,000*.
        value, end, has_scale = value * scale, end + 1, True
        step = step * scale if scale >= 1000 or step < 1 else step
    if least and not has_scale:
        return None
    return Numeral(value, step, end, in_digits)


def _in_words(words: Sequence[str], at: int, first: int) -> Numeral:
    """Add up *two hundred and fifty-three thousand*: a scale multiplies the number before it."""
    total, current, step, end = 0, first, 1, at + 1
    least = first if first < 10 else 10 if first % 10 == 0 else 0
    ceiling = 10**18
    while end < len(words):
        word = words[end]
        if word in SCALES and word.isalpha() and SCALES[word] < ceiling:
            scale = SCALES[word]
            if scale <= 100 and current >= 100:
                break
            if scale <= 100:
                current, least = current * scale, scale
            else:
                total, current, step, least, ceiling = total + current * scale, 0, scale, scale, scale
            end += 1
            continue
        joined = (word == "and" and least >= 100) or (word == "-" and least == 10)
        ahead = end + 1 if joined else end
        small = small_number(words[ahead]) if ahead < len(words) else None
        # *Twenty five*, *hundred and five*; not *five six*, nor *one hundred and three hundred*.
        if small is None or least < 10 or (least == 10 and not (0 < small < 10 and current % 100 >= 20)):
            break
        if words[ahead + 1 : ahead + 2] == ["hundred"] and least <= 100:
            break
        current, end, step = current + small, ahead + 1, 1
        least = 10 if small >= 20 and small % 10 == 0 else 0
    number = Numeral(Fraction(total + current), Fraction(step), end)
    halved = _and_part(words, number)
    return number if halved.end == number.end else _times_scales(words, halved) or halved


Hedge = Literal["", "about", "more", "less"]
_HEDGES: Final[tuple[tuple[Hedge, str], ...]] = (
    ("about", "~ ≈ about around nearly almost approximately approx approx. roughly some circa ca."),
    ("more", "> ≥ >= ⩾ exceeding"),
    ("less", "< ≤ <= ⩽"),
)
_WORDS: Final = {word: hedge for hedge, words in _HEDGES for word in listed(words)}
#: Characters at a number without a blank.
SIGNS: Final[dict[str, Hedge]] = {word: hedge for word, hedge in _WORDS.items() if not word[0].isalpha()} | {
    "+": "more"
}
#: Hedges of large numbers; with small ones more often prepositions: *over two years*, *under one roof*.
_PLACES: Final[dict[str, Hedge]] = {"over": "more", "above": "more", "under": "less", "below": "less"}
_PHRASES: Final[dict[tuple[str, str], Hedge]] = {
    ("more", "than"): "more", ("greater", "than"): "more", ("at", "least"): "more", ("just", "over"): "more",
    ("less", "than"): "less", ("fewer", "than"): "less", ("at", "most"): "less", ("up", "to"): "less",
    ("close", "to"): "about", ("many", "as"): "less", ("much", "as"): "less",
}  # fmt: skip
_BEHIND: Final[dict[tuple[str, str], Hedge]] = {
    ("or", "more"): "more", ("or", "less"): "less", ("or", "fewer"): "less", ("or", "so"): "about",
}  # fmt: skip
_TURNED: Final[dict[Hedge, Hedge]] = {"more": "less", "less": "more"}


def hedge(lower: Sequence[str], start: int, end: int, *, large: bool) -> Hedge:
    """Return the hedge of a number, by the words before and behind it, in lower case.

    ``start`` and ``end`` are the span of the number; if it is ``large``, *over* is a hedge, too, not a
    preposition.

    >>> hedge("no more than ten".split(), 3, 4, large=True)
    'less'
    """
    first, *before = (word_at(lower, start - back) for back in (3, 2, 1))
    if (behind := _BEHIND.get((word_at(lower, end), word_at(lower, end + 1)))) is not None:
        return behind
    if (phrase := _PHRASES.get((before[0], before[1]))) is not None:
        return _TURNED.get(phrase, phrase) if first in ("no", "not") else phrase
    return _WORDS.get(before[1]) or (_PLACES.get(before[1], "") if large else "")
