"""Numbers, amounts, dates and times as values: how they are found in a text, and compared."""

from __future__ import annotations

import gzip
import json
from fractions import Fraction
from itertools import islice, pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentgen.alignment.words.number_words import CARDINALS, ORDINALS
from sentgen.alignment.words.quantities import Quantity, quantities
from sentgen.alignment.words.units import UnitValue
from sentgen.corpus.tokenizer import tokenize


def found(text: str) -> list[tuple[str, str, str]]:
    """Return the words of each quantity, its kind, and its value with its unit."""
    words = tokenize(text)
    return [
        (" ".join(words[one.start : one.end]), one.kind, f"{one.value} {one.unit}".strip())
        for one in quantities(words)
    ]


def only(text: str) -> Quantity:
    (one,) = quantities(tokenize(text))
    return one


@pytest.mark.parametrize(
    ("text", "words", "kind", "value"),
    [
        ("12 men", "12", "number", "12"),
        ("a dozen men", "a dozen", "number", "12"),
        ("half a dozen men", "half a dozen", "number", "6"),
        ("twenty-five men", "twenty-five", "number", "25"),
        ("twenty - five men", "twenty - five", "number", "25"),
        ("two hundred and fifty-three thousand men", "two hundred and fifty-three thousand", "number", "253000"),
        ("a hundred and five men", "a hundred and five", "number", "105"),
        ("1.5 million men", "1.5 million", "number", "1500000"),
        ("two and a half million men", "two and a half million", "number", "2500000"),
        ("1.2M men", "1.2M", "number", "1200000"),
        ("at 10^-3", "10^-3", "number", "1/1000"),
        ("at 2x10^3", "2x10^3", "number", "2000"),
        ("at 1e-3", "1e-3", "number", "1/1000"),
        ("at 2½ km", "2½ km", "measure", "2500 length"),
        ("3/4 of it", "3/4", "number", "3/4"),
        ("two thirds of it", "two thirds", "number", "2/3"),
        ("one-third of it", "one-third", "number", "1/3"),
        ("a quarter of it", "a quarter", "number", "1/4"),
        ("half of it", "half", "number", "1/2"),
        ("one in five men", "one in five", "number", "1/5"),
        ("a two-party system", "two-party", "number", "2"),
        ("the third man", "third", "ordinal", "3"),
        ("the 21st man", "21st", "ordinal", "21"),
        ("the third-largest firm", "third-largest", "ordinal", "3"),
        ("40%", "40 %", "percent", "2/5 percent"),
        ("4 percentage points", "4 percentage points", "measure", "4 percentage-point"),
        ("4 % points", "4 % points", "measure", "4 percentage-point"),
        ("forty per cent of it", "forty per cent", "percent", "2/5 percent"),
        ("5 1/2 percent of it", "5 1/2 percent", "percent", "11/200 percent"),
        ("$1.5 billion was", "$ 1.5 billion", "money", "1500000000 dollar"),
        ("US$5m was", "US $ 5m", "money", "5000000 dollar"),
        ("€3bn was", "€3bn", "money", "3000000000 euro"),
        ("50 cents was", "50 cents", "money", "1/2 dollar"),
        ("2km wide", "2km", "measure", "2000 length"),
        ("2,000 m deep", "2,000 m", "measure", "2000 length"),
        ("5 feet 10 inches tall", "5 feet 10 inches", "measure", "889/500 length"),
        ("a 10-year-old boy", "10-year-old", "measure", "315569520 time"),
        ("a 10 - year - old boy", "10 - year", "measure", "315569520 time"),
        ("half an hour", "half an hour", "measure", "1800 time"),
        ("1 hour and 20 minutes", "1 hour and 20 minutes", "measure", "4800 time"),
        ("a 3.5-fold rise", "3.5-fold", "measure", "7/2 times"),
        ("twice as many", "twice", "measure", "2 times"),
        ("at 37°C", "37°C", "measure", "37 celsius"),
        ("100mg/kg of it", "100mg/kg", "measure", "1/10 mass/kg"),
        ("1 GB of it", "1 GB", "measure", "1000000000 bytes"),
        ("in 1987", "1987", "date", "1987"),
        ("1987 patients", "1987", "number", "1987"),
        ("the 2020 elections", "2020", "date", "2020"),
        ("2000 people", "2000", "number", "2000"),
    ],
)  # fmt: skip
def test_what_is_found(text: str, words: str, kind: str, value: str) -> None:
    """Numbers, shares, money and measures are found, with their units, in base units."""
    assert found(text) == [(words, kind, value)]


@pytest.mark.parametrize(
    "text",
    [
        "no one saw this one", "one of the men", "one must know what one wants", "One day he left",
        "at first he left", "First, we left", "who first came", "a second-hand car", "one-way streets",
        "a few hundred men", "the other half of it", "her voice first attracted us", "dozens of men", "millions of dollars", "the dollar",
        "a cat named COVID-19", "an F-16 and a 3D film", "open 24/7 since 9/11", "cited [12] and (1) or (2)", "a COVID - 19 test", "one way or another",
        "She may march on", "the Sun sat", "at 5:1 odds", "5m people",
    ],
)  # fmt: skip
def test_what_is_no_quantity(text: str) -> None:
    """Pronouns, adverbs, vague numbers, names with digits, references and ambiguous words are no quantities."""
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("on Monday", {"weekday": 0}),
        ("on Sat. 5 Jan.", {"weekday": 5, "day": 5, "month": 1}),
        ("in March", {"month": 3}),
        ("in May 2020", {"month": 5, "year": 2020}),
        ("on march 4 , 2021", {"month": 3, "day": 4, "year": 2021}),
        ("on the 4th of March", {"month": 3, "day": 4}),
        ("on Monday, March 4", {"weekday": 0, "month": 3, "day": 4}),
        ("8 - May - 2006", {"month": 5, "day": 8, "year": 2006}),
        ("on 2021-03-04", {"year": 2021, "month": 3, "day": 4}),
        ("on 04.03.2021", {"year": 2021, "month": 3, "day": 4}),
        ("on 3/14/2021", {"year": 2021, "month": 3, "day": 14}),
        ("in mid-2019", {"year": 2019}),
        ("in the 1990s", {"decade": 1990}),
        ("in the '90s", {"decade": 1990}),
        ("in the 19th century", {"century": 19}),
        ("nineteenth-century art", {"century": 19}),
        ("in the 7th century BC", {"century": -7}),
        ("in 776 BC", {"year": -776, "century": -8}),
        ("at 3 p.m. sharp", {"hour": 3, "minute": 0, "half": 1}),
        ("at 10:30", {"hour": 10, "minute": 30}),
        ("at 15:00", {"hour": 3, "minute": 0, "half": 1}),
        ("at ten o'clock", {"hour": 10, "minute": 0}),
        ("at noon", {"hour": 0, "minute": 0, "half": 1}),
    ],
)
def test_dates_and_times(text: str, parts: dict[str, int]) -> None:
    """Dates have the parts in the text, and those that follow from them, such as the weekday."""
    (reading,) = only(text).readings

    assert {name: reading[name] for name in parts} == parts
    assert reading.keys() - parts.keys() <= {"decade", "century", "weekday"}


def test_a_date_that_may_mean_two() -> None:
    """Day and month are told apart where one is above twelve."""
    assert len(only("on 3/4/2021").readings) == 2
    assert len(only("on 3/14/2021").readings) == 1


@pytest.mark.parametrize(
    ("text", "hedge"),
    [
        ("about 20", "about"), ("nearly 20", "about"), ("20 or so", "about"), ("more than 20", "more"),
        ("at least 20", "more"), ("no more than 20", "less"), ("no fewer than 20", "more"), ("20 or more", "more"),
        ("up to 20", "less"), ("over 20", "more"), ("under two roofs", ""), ("p < 0.05", "less"), ("60+", "more"),
        ("n=20", ""), ("exactly 20", ""),
    ],
)  # fmt: skip
def test_how_exact_a_number_is(text: str, hedge: str) -> None:
    """The words before and after a number tell how exact it is."""
    assert only(text).hedge == hedge


@pytest.mark.parametrize(
    ("one", "other", "answer"),
    [
        ("12", "twelve", "equal"),
        ("12", "a dozen", "equal"),
        ("12", "21", "different"),
        ("20", "21", "different"),
        ("1.5 million", "1,500,000", "equal"),
        ("1.2 million", "1,187,000", "near"),
        ("1.2 million", "1,287,000", "different"),
        ("about 1,200", "1,187", "near"),
        ("1,200", "1,187", "different"),
        ("more than 1,000", "1,187", "near"),
        ("more than 1,000", "990", "different"),
        ("more than 1,200", "2,400", "different"),
        ("up to 20", "19", "near"),
        ("up to 20", "21", "different"),
        ("more than 100", "less than 100", "different"),
        ("two hundred", "200", "equal"),
        ("half a million", "520,000", "near"),
        ("40 percent", "40%", "equal"),
        ("4 percent", "40 percent", "different"),
        ("half of it", "50%", "equal"),
        ("a third of it", "33%", "near"),
        ("half of it", "40%", "different"),
        ("one in five", "20%", "equal"),
        ("92.3%", "92.3", "incomparable"),
        ("92.3%", "91.3", "different"),
        ("one man", "100%", "different"),
        ("zero men", "40%", "different"),
        ("two years", "two and a half years", "different"),
        ("4 percent", "4.2 percent", "near"),
        ("2-3 %", "2.5 %", "near"),
        ("2-3 %", "2-3%", "equal"),
        ("2-3 %", "4 %", "different"),
        ("2 km", "2,000 m", "equal"),
        ("2 km", "2 miles", "different"),
        ("3 km", "3 kg", "incomparable"),
        ("12 km", "12", "incomparable"),
        ("12 km", "13", "different"),
        ("$5 million", "US$5m", "equal"),
        ("$5", "5 dollars", "equal"),
        ("$5", "€5", "incomparable"),
        ("£5", "5 pounds", "equal"),
        ("two weeks", "14 days", "equal"),
        ("24 months", "2 years", "equal"),
        ("4 weeks", "1 month", "near"),
        ("3 weeks", "3 months", "different"),
        ("a 10-year-old boy", "10 years", "equal"),
        ("third", "3rd", "equal"),
        ("third", "fourth", "different"),
        ("third", "3", "incomparable"),
        ("Monday", "Friday", "different"),
        ("Monday", "in March", "incomparable"),
        ("March 2021", "in 2021", "equal"),
        ("2021-03-04", "4 March 2021", "equal"),
        ("2021-03-04", "Thursday", "equal"),
        ("2021-03-04", "Friday", "different"),
        ("2021-03-04", "3/4/2021", "equal"),
        ("3/4/2021", "4/3/2021", "equal"),
        ("3/4/2021", "May 5, 2021", "different"),
        ("in 1994", "the 1990s", "equal"),
        ("in 1994", "in 1995", "different"),
        ("in 1887", "the 19th century", "equal"),
        ("in 1992", "1990-95", "near"),
        ("in 1997", "1990-95", "different"),
        ("in 2016", "2017 people", "different"),
        ("3 p.m.", "15:00", "equal"),
        ("3 p.m.", "3:00", "equal"),
        ("3 p.m.", "3 a.m.", "different"),
        ("3 p.m.", "3 percent", "incomparable"),
    ],
)
def test_what_is_the_same(one: str, other: str, answer: str) -> None:
    """Equal quantities are equal in both orders."""
    assert only(one).compare(only(other)) == answer
    assert only(other).compare(only(one)) == answer


def test_ranges_share_a_unit() -> None:
    """The first number of a range has unit and scale of the last, if none of its own."""
    low, high = quantities(tokenize("2 to 3 percent"))
    assert (low.value, high.value, low.kind) == (Fraction(1, 50), Fraction(3, 100), "percent")
    low, high = quantities(tokenize("between $5 and $10 million"))
    assert (low.value, high.value) == (5_000_000, 10_000_000)
    low, high = quantities(tokenize("from 500 to 2 million people"))
    assert (low.value, high.value) == (500, 2_000_000)
    low, high = quantities(tokenize("5 million men and 3 km"))
    assert low.unit == ""


def in_words(number: int) -> str:
    """Return a number below a billion in words, with *and* behind hundreds."""
    for scale, name in ((10**6, "million"), (1000, "thousand"), (100, "hundred")):
        if number >= scale:
            rest = number % scale
            tail = ("" if not rest else " and " if rest < 100 else " ") + (in_words(rest) if rest else "")
            return f"{in_words(number // scale)} {name}{tail}"
    if number < 20 or number % 10 == 0:
        return next(word for word, value in CARDINALS.items() if value == number)
    return f"{in_words(number - number % 10)}-{in_words(number % 10)}"


@given(st.integers(2, 10**9 - 1))
def test_a_number_is_the_same_however_it_is_written(number: int) -> None:
    """In digits, with commas, in words, and in millions."""
    written = [str(number), f"{number:,}", in_words(number), f"{Fraction(number, 10**6)}"]
    if not 1000 <= number < 10_000:
        assert only(f"{written[0]} men").value == number
    assert only(f"{written[1]} men").value == number
    assert only(written[2]).value == number
    millions = f"{number // 10**6}.{number % 10**6:06} million"
    assert only(millions).value == number
    assert only(written[2]).compare(only(f"{written[1]} men")) == "equal"


@given(
    st.integers(1, 9999),
    st.sampled_from([("km", "m"), ("kg", "g"), ("hours", "minutes"), ("years", "months")]),
)
def test_units_convert_exactly(number: int, units: tuple[str, str]) -> None:
    """Units convert without rounding errors."""
    large, small = (UnitValue.find(unit) for unit in units)
    assert large is not None
    assert small is not None
    many = number * large.size / small.size

    assert only(f"{number:,} {units[0]}").compare(only(f"{many.numerator:,} {units[1]}")) == "equal"


WORDS = """
a the one two second twenty - and half dozen hundred million third thirds of percent % $ US 5 5m 1,200 1.5
1990 1990s in March May 4th Monday , Sat. p.m. 10:30 10-year-old 2-3 km m years to about than more ( ) [ ] o'clock
twenty-five 3/4/2021 2021-03-04 century '90s p<0.05 10^-3 ½ €3bn - -5 x BC quarter first zero $5 .5 1/0 1e999 °
"""


@given(st.lists(st.sampled_from(WORDS.split()) | st.text("aAé1.,-–/°$% ", max_size=4), max_size=12))
def test_spans_lie_in_order_and_compare_alike_in_both_directions(words: list[str]) -> None:
    """For any words; a comparable quantity equals itself."""
    all_of_them = quantities(words)

    assert all(0 <= one.start < one.end <= len(words) for one in all_of_them)
    assert all(one.end <= other.start for one, other in pairwise(all_of_them))
    assert all(one.compare(one) == "equal" for one in all_of_them)
    assert all(one.compare(other) == other.compare(one) for one in all_of_them for other in all_of_them)


@pytest.mark.data
def test_quantities_of_real_texts(data_dir: Path) -> None:
    """Quantities are in order, about as many as expected; most of an abstract's are in its document."""
    with gzip.open(data_dir / "pairs" / "scitldr-dev.jsonl.gz", "rt", encoding="utf-8") as lines:
        papers = [json.loads(line) for line in islice(lines, 150)]
    pairs = [(tokenize(one["target"][0]), tokenize(" ".join(one["source"]))) for one in papers]
    found = [tuple(quantities(words) for words in pair) for pair in pairs]
    numbers = sum(word[0].isdigit() for pair in pairs for words in pair for word in words)
    all_of_them = [one for pair in found for texts in pair for one in texts]
    supported = [
        any(one.compare(other) in ("equal", "near") for other in right)
        for left, right in found
        for one in left
    ]

    assert all(one.end <= other.start for pair in found for texts in pair for one, other in pairwise(texts))
    # As many are written in letters.
    assert 1.2 * numbers < len(all_of_them) < 3 * numbers
    assert sum(supported) > 0.5 * len(supported)


def test_ordinals_and_numbers_have_the_same_words() -> None:
    """One to ninety-nine."""
    assert len(CARDINALS) == len(ORDINALS) == 100
    assert set(CARDINALS.values()) == set(ORDINALS.values()) == set(range(100))
