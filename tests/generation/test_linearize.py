"""From trees to strings: by hand, against recursive references, and on long chains."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from linearize_reference import by_ngrams_reference, by_weight_reference
from toy_problems import BOS, TABLE, VOCABULARY, logp, table_of, trees

from sentgen.generation.trees.trees import by_ngrams, by_weight

Drawn = tuple[list[int], list[int]]


def ints(values: list[int]) -> np.ndarray:
    return np.array(values, np.int32)


def test_relations_by_hand() -> None:
    """Strength decides on both sides: 0 has 1 (-1) and 2 (-3) on its left, 3 (-2) and 4 (-1) on its right.

    The stronger is nearer: left 2 1, right 4 3.
    """
    order = by_weight(
        ints([-1, 0, 0, 0, 0]),
        ints([1, 0, 0, 1, 1]),
        ints([0, 0, 1, 0, 1]),
        np.array([0.0, -1.0, -3.0, -2.0, -1.0]),
    )

    assert order.tolist() == [2, 1, 0, 4, 3]


def test_equal_relations_stand_in_the_order_of_attachment() -> None:
    """Of equals the first attached is nearest to the head, whatever its number."""
    order = by_weight(ints([-1, 0, 0, 0, 0]), ints([1, 0, 0, 1, 1]), ints([0, 1, 0, 1, 0]), np.zeros(5))

    assert order.tolist() == [1, 2, 0, 4, 3]


def test_lmo_by_hand() -> None:
    """Left modifiers begin after <s>, right ones after the head, and each looks at what was chosen last.

    Words: head 4, left 5 and 6, right 7 and 8. p(6|<s>) > p(5|<s>): left 6 5, although p(4|5) < p(4|6), for
    the head plays no part there. p(8|4) > p(7|4): right 8 7, although p(8|5) < p(7|5).
    """
    bigrams = {(1, 6): -1.0, (1, 5): -2.0, (4, 8): -1.0, (4, 7): -2.0, (5, 4): -9.0, (6, 4): -1.0}
    unigrams = {(word,): -5.0 for word in (0, 1, 4, 5, 6, 7, 8)}
    table = table_of({gram: (value, 0.0) for gram, value in {**unigrams, **bigrams}.items()})
    words, offsets = ints([4, 5, 6, 7, 8]), np.arange(6, dtype=np.int32)
    order = by_ngrams(table, words, offsets, 4, ints([-1, 0, 0, 0, 0]), ints([1, 0, 0, 1, 1]), False)

    assert order.tolist() == [2, 1, 0, 4, 3]


@given(trees(), st.integers(2, 4), st.booleans(), st.integers(0, 2**32 - 1))
def test_lmo_agrees_with_recursion(tree: Drawn, order: int, whole: bool, seed: int) -> None:
    """Any tree, phrases of one to five words, both contexts, orders 2 to 4: the order of algorithm 2."""
    rng = np.random.default_rng(seed)
    heads, sides = tree
    strings = [rng.choice(VOCABULARY, rng.integers(1, 6)).tolist() for _ in heads]
    offsets = np.cumsum([0, *map(len, strings)], dtype=np.int32)
    words = ints([word for string in strings for word in string])
    found = by_ngrams(TABLE, words, offsets, order, ints(heads), ints(sides), whole)

    assert found.tolist() == by_ngrams_reference(logp, strings, order, heads, sides, whole_string=whole)


@given(trees(), st.integers(0, 2**32 - 1))
def test_relations_agree_with_recursion(tree: Drawn, seed: int) -> None:
    """Any tree, weights that are often equal."""
    rng = np.random.default_rng(seed)
    heads, sides = tree
    earlier, weights = rng.permutation(len(heads)), -rng.integers(0, 3, len(heads)).astype(float)
    found = by_weight(ints(heads), ints(sides), earlier.astype(np.int32), weights)

    assert found.tolist() == by_weight_reference(heads, sides, earlier.tolist(), weights.tolist())


@pytest.mark.parametrize("side", [0, 1])
def test_long_chains(side: int) -> None:
    """Three thousand heads, each the modifier of the next, are no deeper than a list."""
    size = 3000
    heads, sides = np.arange(-1, size - 1, dtype=np.int32), np.full(size, side, np.int32)
    sides[0] = 1
    expected = np.arange(size) if side else np.arange(size)[::-1]
    words, offsets = np.full(size, BOS, np.int32), np.arange(size + 1, dtype=np.int32)

    assert np.array_equal(by_ngrams(TABLE, words, offsets, 4, heads, sides, True), expected)
    assert np.array_equal(by_weight(heads, sides, np.zeros(size, np.int32), np.zeros(size)), expected)


def test_a_thousand_siblings() -> None:
    """Equal siblings stay in the order of the bag."""
    size = 1000
    heads, sides = np.full(size, -1, np.int32), np.ones(size, np.int32)
    words, offsets = np.full(size, 4, np.int32), np.arange(size + 1, dtype=np.int32)

    assert np.array_equal(by_ngrams(TABLE, words, offsets, 4, heads, sides, False), np.arange(size))
