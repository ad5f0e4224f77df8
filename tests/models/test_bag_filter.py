"""The filter of n-grams within one bag, compared with its definition."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sentgen.models.submodel import membership, within_bags


def within_bags_reference(
    words: Sequence[Sequence[int]], bags: Sequence[Sequence[int]], everywhere: Iterable[int]
) -> list[int]:
    """Return the n-grams of `within_bags` by the definition, as a readable reference."""
    always = {-1, *everywhere}
    sets: list[set[Any]] = [set(bag) | always for bag in bags] or [always]
    return [row for row, gram in enumerate(words) if any(set(gram) <= bag for bag in sets)]


WORDS = st.integers(0, 12)
BAGS = st.lists(st.lists(WORDS, max_size=6), max_size=5)
GRAMS = st.lists(st.lists(WORDS, min_size=1, max_size=5), max_size=30)


def padded(grams: list[list[int]]) -> np.ndarray:  # type: ignore[type-arg]
    return np.array([gram + [-1] * (5 - len(gram)) for gram in grams], np.int32).reshape(-1, 5)


@given(BAGS, GRAMS, st.sets(WORDS, min_size=1, max_size=3))
def test_as_defined(bags: list[list[int]], grams: list[list[int]], everywhere: set[int]) -> None:
    """An n-gram is kept if and only if a bag has all of its words."""
    known = max([word for bag in [*bags, everywhere] for word in bag])
    words = padded([gram for gram in grams if max(gram) <= known])

    found = within_bags(words, *membership(bags, everywhere))

    assert found.tolist() == within_bags_reference(words.tolist(), bags, everywhere)


def test_words_of_two_bags_do_not_mix() -> None:
    """The batch has 5, 6 and 7, but no bag has 5 and 7."""
    words = padded([[5, 6], [6, 7], [5, 7], [0, 5, 6], [7, 0, 7]])

    assert within_bags(words, *membership([[5, 6], [6, 7]], {0})).tolist() == [0, 1, 3, 4]


def test_more_bags_than_bits() -> None:
    """Bag b of 200 has the words b and b + 1; the bits of the words 63 and 64 lie in two integers."""
    bags = [[b, b + 1] for b in range(200)]
    words = padded([[b, b + 1] for b in range(200)] + [[b, b + 2] for b in range(199)])

    assert within_bags(words, *membership(bags, ())).tolist() == list(range(200))


def test_no_bags() -> None:
    """Without bags, n-grams of words that are members of every bag are still kept."""
    assert within_bags(padded([[1, 2], [0], [1, 1]]), *membership([], {1, 2})).tolist() == [0, 2]
    assert membership([], ()).places.size == 0
