"""Numbers of a text with their units: counts, ordinals, percentages, measures, money."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Final, Literal, NamedTuple

from sentgen.alignment.words.function_words import FUNCTION_WORDS
from sentgen.alignment.words.number_words import (
    CARDINALS,
    LETTERS,
    ORDINALS,
    PARTS,
    SCALES,
    Numeral,
    digits,
    listed,
    numeral,
    simple_fraction,
    small_number,
)
from sentgen.alignment.words.units import DOLLARS, MONEY, SIGNS, Measure, measure

Hedge = Literal["", "about", "more", "less"]
_HEDGES: Final[dict[str, Hedge]] = (
    dict.fromkeys(
        listed("about around nearly almost approximately approx approx. roughly some circa ca. ~ ≈"), "about"
    )
    | dict.fromkeys(listed("over above exceeding > ≥ >= ⩾"), "more")
    | dict.fromkeys(listed("under below < ≤ <= ⩽"), "less")
)
_PHRASES: Final[dict[tuple[str, str], Hedge]] = {
    ("more", "than"): "more", ("greater", "than"): "more", ("at", "least"): "more", ("just", "over"): "more",
    ("less", "than"): "less", ("fewer", "than"): "less", ("at", "most"): "less", ("up", "to"): "less",
    ("close", "to"): "about", ("many", "as"): "less", ("much", "as"): "less",
}  # fmt: skip
#: What the last digit of a part is worth, so that 33 % is a third, rounded, and 40 % no half.
EXACT: Final = Fraction(1, 1000)
_TURNED: Final[dict[Hedge, Hedge]] = {"more": "less", "less": "more"}
_ORDERED: Final = re.compile(r"(\d{1,3}(?:,\d{3})*|\d+)(?:st|nd|rd|th)(?:-.*)?")
_RANGE: Final = re.compile(r"(\d[\d,]*(?:\.\d+)?)[-–—](\d[\d,]*(?:\.\d+)?)(%?)")
_SIGNED: Final = re.compile(r"(?:[^\W\d_]{1,3})?([<>≤≥=~≈]=?)(?=[\d.])(.*)")
_MULTIPLES: Final = {"twice": 2, "thrice": 3} | {f"{word}fold": number for word, number in CARDINALS.items()}
#: Units of two or more words by their first; a point makes no sentence of *U.S. dollars*.
_LONG_UNITS: Final = frozenset(
    listed("per percentage square cubic metric degrees degree us u.s. kilometers kilometres miles °")
)
#: *One* counts nothing behind these, and in front of no function word.
_NO_ONE: Final = frozenset(
    listed(
        "no any every some this that which each the another 's ’s these those only such good bad first last "
        "next wrong right new old other best number"
    )
)
_ADVERBS: Final = frozenset(listed("at was were is are been be being has had have when who that which"))
_FRACTIONED: Final = frozenset(listed("of the its their his her our my your these those this that all"))
#: Digits behind a name are part of it: *COVID-19*.
_METERS: Final = frozenset(listed("deep high long wide tall thick away above below race pool radius"))


class Amount(NamedTuple):
    """A number with its unit; ``step`` is what its last digit is worth, ``high`` the end of a range."""

    start: int
    end: int
    figure: Fraction
    step: Fraction
    measure: Measure | None = None
    high: Fraction | None = None
    ordinal: bool = False
    hedge: Hedge = ""


def begins(word: str) -> bool:
    """Say whether an amount may begin with a word, given in lower case, or have begun right before it."""
    if word in _WORDS or word[0] in "$€£¥₹₽₩":
        return True
    first, hyphen, _ = word.partition("-")
    return bool(hyphen) and first in _WORDS


_WORDS: Final = frozenset((*CARDINALS, *ORDINALS, *SCALES, *PARTS, *_MULTIPLES, *SIGNS, "half")) | frozenset(
    "½⅓⅔¼¾⅕⅛"
)


def amount(words: Sequence[str], lower: Sequence[str], at: int, *, least: int = 0) -> Amount | None:
    """Return the amount that begins at a word, or at the article before it.

    Args:
        words: The text,
        lower: and in lower case.
        at: The offset of a word of it.
        least: The offset of the first word that belongs to nothing else.
    """
    word = lower[at]
    if _at(lower, at - 1) == "[" and _at(lower, at + 1) == "]":  # a reference
        return None
    if word in SIGNS or word[0] in "$€£¥₹₽₩":
        return _money(words, lower, at, least)
    if word in _MULTIPLES:
        return Amount(at, at + 1, Fraction(_MULTIPLES[word]), Fraction(1), Measure("times", Fraction(1)))
    if (
        word in ORDINALS
        or _ORDERED.fullmatch(word)
        or word.partition("-")[0] in ORDINALS
        or _hyphened_ordinal(word)
    ):
        return _part_of(lower, at, least) or _ordinal(lower, at)
    if word in PARTS or word in SCALES:
        return _behind_article(words, lower, at, least)
    if (signed := _SIGNED.fullmatch(word)) is not None:
        return _signed(signed[1], signed[2], at)
    found = numeral(lower, at)
    if found is None:
        return _glued(words, lower, at)
    if (part := _times_part(lower, at, found)) is not None:
        return part
    return _counted(words, lower, at, found)


def _at(lower: Sequence[str], at: int) -> str:
    return lower[at] if 0 <= at < len(lower) else ""


def _counted(words: Sequence[str], lower: Sequence[str], at: int, found: Numeral) -> Amount | None:
    """Return a number with the unit behind it; *one* only where it counts something."""
    unit, end = unit_at(words, lower, found.end, found)
    if unit is None and lower[at] in ("one", "1") and (share := _one_in(lower, at)) is not None:
        return share
    if unit is None and lower[at] == "one" and found.end == at + 1 and not _counts(words, lower, at):
        return None
    return _and_more(words, lower, Amount(at, end, found.value, found.step, unit))


def _counts(words: Sequence[str], lower: Sequence[str], at: int) -> bool:
    before, after = _at(lower, at - 1), _at(lower, at + 1)
    capital = words[at][0].isupper() and at > 0 and before[-1:].isalnum()
    return not (
        capital
        or before in _NO_ONE
        or after in FUNCTION_WORDS
        or not after.isalpha()
        or after in ("another", "day")
    )


def _one_in(lower: Sequence[str], at: int) -> Amount | None:
    """Read *one in five*."""
    if _at(lower, at + 1) != "in" or at + 2 >= len(lower):
        return None
    whole = numeral(lower, at + 2)
    if whole is None or not 2 <= whole.value <= 1000 or measure(_at(lower, whole.end)) is not None:
        return None
    return Amount(at, whole.end, 1 / whole.value, EXACT)


def _and_more(words: Sequence[str], lower: Sequence[str], found: Amount) -> Amount:
    """Add the smaller unit of *5 feet 10 inches*, *1 hour and 20 minutes*."""
    if found.measure is None or found.measure.kind not in ("time", "length", "mass"):
        return found
    place = found.end + (_at(lower, found.end) in ("and", ","))
    rest = numeral(lower, place) if place < len(lower) else None
    if rest is None or rest.value < 1:
        return found
    unit, end = unit_at(words, lower, rest.end, rest)
    if unit is None or unit.kind != found.measure.kind or unit.size * rest.value >= found.measure.size:
        return found
    figure = found.figure + rest.value * unit.size / found.measure.size
    return found._replace(end=end, figure=figure, step=rest.step * unit.size / found.measure.size)


def unit_at(
    words: Sequence[str], lower: Sequence[str], at: int, number: Numeral
) -> tuple[Measure | None, int]:
    """Return the unit behind a number, and where it ends."""
    if at >= len(words):
        return None, at
    if lower[at] in _LONG_UNITS:
        for size in (3, 2):
            if (
                found := measure("-".join(lower[at : at + size]).replace("°-c", "°c"))
            ) is not None and at + size <= len(words):
                return found, at + size
    if lower[at] == "-" and at + 1 < len(words):
        found = measure(words[at + 1], digits=number.digits) if not lower[at + 1].endswith("s") else None
        return (found, at + 2) if found else (None, at)
    if (lower[at] == "m" and not _metric(words, lower, at)) or (
        lower[at] in "x×" and _at(lower, at + 1)[:1].isdigit()
    ):
        return None, at
    found = measure(
        words[at].split("-")[0] if words[at].endswith("-old") else words[at], digits=number.digits
    )
    return (found, at + 1) if found else (None, at)


def _metric(words: Sequence[str], lower: Sequence[str], at: int) -> bool:
    """Say whether *m* may be meters: *5 m deep*; *5 m people* are millions."""
    after = _at(lower, at + 1)
    return not after or after in _METERS or after in FUNCTION_WORDS or not after[0].isalnum()


def _money(words: Sequence[str], lower: Sequence[str], at: int, least: int) -> Amount | None:
    """Read *$ 5 million*, *US $ 5m*, *€3bn*, *USD 5*."""
    sign, start = lower[at], at
    glued = sign not in SIGNS
    if glued:
        sign = sign[0]
        found = _lettered(lower[at][1:], at)
    else:
        if sign == "$" and at > least and lower[at - 1] in DOLLARS:
            sign, start = lower[at - 1] + sign, at - 1
        if at + 1 >= len(words):
            return None
        found = _lettered(words[at + 1], at + 1)
    unit = measure(sign)
    if found is None or unit is None:
        return None
    number, high = found
    number = _scaled_by(lower, number)
    if high is not None:
        high *= number.value / found[0].value if found[0].value else 1
    return Amount(start, number.end, number.value, number.step, unit, high)


def _lettered(word: str, at: int) -> tuple[Numeral, Fraction | None] | None:
    """Read the number behind a currency: *3bn*, *5m*, *1.5*, *5-10*."""
    if (found := _range(word)) is not None:
        return Numeral(found[0], found[2], at + 1, digits=True), found[1]
    cut = digits(word)
    if cut is None:
        small = small_number(word.lower())
        return None if small is None else (Numeral(Fraction(small), Fraction(1), at + 1), None)
    value, step, tail = cut
    scale = {"": 1, "m": 10**6, "b": 10**9, "t": 10**12, **LETTERS}.get(tail.partition("-")[0])
    return None if scale is None else (Numeral(value * scale, step * scale, at + 1, digits=True), None)


def _scaled_by(lower: Sequence[str], number: Numeral) -> Numeral:
    scale = SCALES.get(
        _at(lower, number.end).partition("-")[0], 10**6 if _at(lower, number.end) == "m" else None
    )
    if scale is None and _at(lower, number.end) == "-":  # *$ 5 - million*
        scale = SCALES.get(_at(lower, number.end + 1))
        number = number._replace(end=number.end + 1) if scale else number
    if scale is None:
        return number
    return number._replace(value=number.value * scale, step=number.step * scale, end=number.end + 1)


def _range(word: str) -> tuple[Fraction, Fraction, Fraction] | None:
    """Return both ends of *2-3*, and what the last digit is worth; not of a score."""
    found = _RANGE.fullmatch(word)
    if found is None:
        return None
    low, high = digits(found[1]), digits(found[2])
    if low is None or high is None or low[2] or high[2] or not low[0] < high[0] <= 1000 * low[0]:
        return None
    return low[0], high[0], min(low[1], high[1])


def _glued(words: Sequence[str], lower: Sequence[str], at: int) -> Amount | None:
    """Read a word that has more than its number: *2km*, *1.2M*, *10-year-old*, *2-3*, *3/4*."""
    word = words[at]
    if (part := simple_fraction(word)) is not None:
        return Amount(at, at + 1, part, EXACT)
    if (found := _range(word)) is not None:
        both = Numeral(found[1], found[2], at + 1, digits=True)
        unit, end = (measure("%"), at + 1) if word.endswith("%") else unit_at(words, lower, at + 1, both)
        return Amount(at, end, found[0], found[2], unit, found[1])
    cut = digits(word)
    if cut is None:
        return _hyphened(lower, at)
    value, step, tail = cut
    hedged: Hedge = "more" if tail == "+" else ""
    if tail in LETTERS:
        number = Numeral(value * LETTERS[tail], step * LETTERS[tail], at + 1, digits=True)
        unit, end = unit_at(words, lower, at + 1, number)
        return Amount(at, end, number.value, number.step, unit)
    if tail == "m" and not _metric(words, lower, at):
        return None
    if hedged or tail[:1] == "±":
        unit, end = unit_at(words, lower, at + 1, Numeral(value, step, at + 1, digits=True))
        return Amount(at, end, value, step, unit, hedge=hedged)
    return _with_tail(at, value, step, tail)


def _with_tail(at: int, value: Fraction, step: Fraction, tail: str) -> Amount | None:
    """Return what stands before a unit, or before a hyphen: *2km*, *10-year-old*, *2-party*."""
    if not tail.startswith("-"):
        unit = measure(tail) or _ratio(tail)
        return None if unit is None else Amount(at, at + 1, value, step, unit)
    joined = tail[1:]
    first = joined.partition("-")[0]
    if first in SCALES:
        return Amount(
            at, at + 1, value * SCALES[first], step * SCALES[first], measure(joined.partition("-")[2])
        )
    unit = measure(first)
    # *F-16*, *10-K*, *5-3*: of these nothing is counted.
    return Amount(at, at + 1, value, step, unit) if unit or (first.islower() and len(first) > 2) else None


def _ratio(tail: str) -> Measure | None:
    """Return the unit of *mg/kg*."""
    above, slash, below = tail.partition("/")
    unit = measure(above) if slash and below.isalnum() else None
    return None if unit is None else Measure(f"{unit.kind}/{below}", unit.size)


def _hyphened(lower: Sequence[str], at: int) -> Amount | None:
    """Read *two-year*, *twenty-five-year-old*, *half-hour*; not *one-way*, where nothing is counted."""
    pieces = lower[at].split("-")
    for size in (2, 1):
        small = small_number("-".join(pieces[:size]))
        value = Fraction(1, 2) if pieces[:size] == ["half"] else small
        if value is None or len(pieces) <= size:
            continue
        if pieces[size] in PARTS and len(pieces) == size + 1 and small:
            return Amount(at, at + 1, Fraction(small, PARTS[pieces[size]]), EXACT)
        if pieces[size] in ("and", "something", "to", "on", "by", "of"):
            return None
        found = _with_tail(at, Fraction(value), Fraction(1), "-" + "-".join(pieces[size:]))
        return None if found and found.measure is None and value <= 1 else found
    return None


def _signed(sign: str, rest: str, at: int) -> Amount | None:
    """Read *p<0.05*, *n=20*, *~5*."""
    cut = digits(rest)
    if cut is None:
        return None
    unit = measure(cut[2]) if cut[2] else None
    return (
        None
        if cut[2] and unit is None
        else Amount(at, at + 1, cut[0], cut[1], unit, hedge=_HEDGES.get(sign, ""))
    )


def _hyphened_ordinal(word: str) -> bool:
    return word.replace("-", "", 1) in ORDINALS


def _ordinal(lower: Sequence[str], at: int) -> Amount | None:
    """Read *third*, *3rd*, *twenty-first*, *third-largest*; not *at first*, nor *First, ...*."""
    word = lower[at]
    found = _ORDERED.fullmatch(word)
    if found is not None:
        return Amount(at, at + 1, Fraction(found[1].replace(",", "")), Fraction(1), ordinal=True)
    whole = word.replace("-", "", 1)
    number = ORDINALS.get(whole)
    if number is None:
        first, _, tail = word.partition("-")
        # *First-hand* and *second-rate* count nothing.
        if tail not in (
            "largest",
            "biggest",
            "highest",
            "lowest",
            "best",
            "place",
            "quarter",
            "year",
            "round",
            "most",
        ):
            return None
        number = ORDINALS[first]
    before, after = _at(lower, at - 1), _at(lower, at + 1)
    if number == 1 and (before in _ADVERBS or (after == "of" and _at(lower, at + 2) == "all")):
        return None
    opens = not before or not before[-1].isalnum()
    if number <= 5 and opens and after in (",", ":"):
        return None
    return Amount(at, at + 1, Fraction(number), Fraction(1), ordinal=True)


def _part_of(lower: Sequence[str], at: int, least: int) -> Amount | None:
    """Read *a third of*; *a third party* is none."""
    below = PARTS.get(lower[at])
    if below is None or _at(lower, at + 1) != "of" or at - 1 < least or lower[at - 1] not in ("a", "an"):
        return None
    return Amount(at - 1, at + 1, Fraction(1, below), EXACT)


def _behind_article(words: Sequence[str], lower: Sequence[str], at: int, least: int) -> Amount | None:
    """Read *a dozen*, *half of*, *half a million*, *a quarter of*; not *dozens*, nor *a few hundred*."""
    word = lower[at]
    article = at > least and lower[at - 1] in ("a", "an")
    start = at - 1 if article else at
    if word in SCALES:
        found = numeral(lower, start) if article else None
        return None if found is None else _counted(words, lower, start, _all_of(lower, start, found))
    if word == "half" and (found := numeral(lower, at)) is not None:
        return _counted(words, lower, at, found)
    if word == "half" and _at(lower, at + 1) in ("a", "an", "-"):
        half = Numeral(Fraction(1, 2), Fraction(1, 10), at + 2)
        unit, end = unit_at(words, lower, at + 2, half)
        return None if unit is None else Amount(at, end, half.value, half.step, unit)
    if (word == "half" and _at(lower, at + 1) in _FRACTIONED) or (article and _at(lower, at + 1) == "of"):
        return Amount(start, at + 1, Fraction(1, PARTS[word]), EXACT)
    return None


def _all_of(lower: Sequence[str], at: int, found: Numeral) -> Numeral:
    """Add what follows: *a hundred and five*."""
    whole = numeral(["one", *lower[at + 1 : at + 10]], 0)
    return found if whole is None else whole._replace(end=whole.end + at)


def _times_part(lower: Sequence[str], at: int, found: Numeral) -> Amount | None:
    """Read *two thirds*, *three quarters of*, *one half*."""
    word = _at(lower, found.end)
    place = found.end + 1 if word == "-" else found.end
    below = PARTS.get(_at(lower, place))
    if below is None or found.value.denominator > 1 or not 0 < found.value < below:
        return None
    plural = lower[place].endswith("s")
    if plural != (found.value > 1) or (below == 4 and _at(lower, place + 1) not in ("of", "the")):
        return None
    return Amount(at, place + 1, found.value / below, EXACT)


def hedge(lower: Sequence[str], found: Amount) -> Hedge:
    """Return how exact a text says that a number is, by the words before and behind it."""
    if found.hedge:
        return found.hedge
    before, behind = lower[max(0, found.start - 3) : found.start], lower[found.end : found.end + 2]
    if behind == ["or", "more"]:
        return "more"
    if behind in (["or", "less"], ["or", "fewer"]):
        return "less"
    if behind == ["or", "so"]:
        return "about"
    if len(before) > 1 and (phrase := _PHRASES.get((before[-2], before[-1]))) is not None:
        return _TURNED.get(phrase, phrase) if before[0] in ("no", "not") and len(before) == 3 else phrase
    return _HEDGES.get(before[-1], "") if before else ""


def is_money(unit: Measure | None) -> bool:
    """Say whether a unit is a currency."""
    return unit is not None and unit.kind in MONEY
