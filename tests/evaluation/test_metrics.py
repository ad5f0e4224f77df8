"""Metrics of single sentences, each by hand and against another way to compute it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from sentgen.evaluation.regeneration.measures import (
    adjacencies_found,
    attachments_found,
    is_search_error,
    kendall_tau,
)

ORDERS = st.integers(2, 12).flatmap(lambda size: st.permutations(range(size)))
GOLD = ["the", "dog", "saw", "the", "cat"]


@pytest.mark.parametrize(
    ("output", "tau"),
    [
        # 10 pairs: 0, 10 and 1 of them in the wrong order; 1 - 2 * wrong / 10
        ("abcde", 1.0),
        ("edcba", -1.0),
        ("abced", 0.8),
    ],
)
def test_kendall_tau_by_hand(output: str, tau: float) -> None:
    """One, minus one, and a swap of neighbors."""
    assert kendall_tau(output, "abcde") == pytest.approx(tau)


@given(ORDERS)
def test_kendall_tau_is_that_of_scipy(order: list[int]) -> None:
    """Without ties tau-b is tau."""
    assert kendall_tau(order, sorted(order)) == pytest.approx(kendalltau(order, sorted(order)).statistic)


def test_identical_words_are_matched_in_turn() -> None:
    """The first `the` of the output is the first of the gold order: "the cat saw the dog" is 0 4 2 3 1."""
    # pairs in the wrong order: 4 before 2, 3, 1; 2 before 1; 3 before 1: 5 of 10
    assert kendall_tau(["the", "cat", "saw", "the", "dog"], GOLD) == pytest.approx(0.0)


def test_one_word_has_no_order() -> None:
    """Fewer than two words have no Kendall's tau."""
    assert kendall_tau(["a"], ["a"]) is None
    assert kendall_tau([], []) is None


def test_adjacencies_by_hand() -> None:
    """ "the cat saw the dog": ^the yes, the-cat yes, cat-saw no, saw-the yes, the-dog yes, dog$ no."""
    output = ["the", "cat", "saw", "the", "dog"]

    assert adjacencies_found(output, GOLD) == [True, True, False, True, True, False]


def test_an_adjacency_counts_as_often_as_the_gold_order_has_it() -> None:
    """ "a b a b c" has a-b twice, "a b c a b" too; "b c" is not where the output has it twice."""
    assert adjacencies_found("abbaa", "ababa") == [True, True, False, True, False, True]


@given(st.lists(st.sampled_from("aab"), max_size=8), st.randoms(use_true_random=False))
def test_adjacencies_are_a_multiset_intersection(gold: list[str], random) -> None:  # type: ignore[no-untyped-def]
    """The number found is that of a multiset intersection, by removing pairs one by one."""
    output = random.sample(gold, len(gold))
    left = list(pairwise(["<", *gold, ">"]))
    found = 0
    for pair in pairwise(["<", *output, ">"]):
        if pair in left:
            left.remove(pair)
            found += 1

    assert sum(adjacencies_found(output, gold)) == found
    assert all(adjacencies_found(gold, gold))


def test_attachments_by_hand() -> None:
    """Places do not matter: dog < saw and cat < saw and the root are right, one `the` hangs on the other noun."""
    gold = [1, 2, -1, 4, 2]
    output, heads = ["the", "cat", "saw", "the", "dog"], [1, 2, -1, 1, 2]

    # (dog, the), (cat, the), (saw, dog), (saw, cat), (ROOT, saw) against (cat, the) twice and the same others
    assert attachments_found(output, heads, GOLD, gold) == 4


def test_root_is_no_word() -> None:
    """A unit on the root differs from a unit on one with the name of the root."""
    assert attachments_found(["a", None], [-1, 0], ["a", None], [1, -1]) == 0
    assert attachments_found([], [], [], []) == 0


@given(ORDERS, st.data())
def test_attachment_does_not_depend_on_the_order(order: list[int], data: st.DataObject) -> None:
    """The same tree over another order of units has the same attachments."""
    size = len(order)
    heads = [-1, *(data.draw(st.integers(0, i - 1)) for i in range(1, size))]
    words = data.draw(st.lists(st.sampled_from("abc"), min_size=size, max_size=size))
    place = {unit: position for position, unit in enumerate(order)}
    moved = [place[heads[unit]] if heads[unit] >= 0 else -1 for unit in order]

    assert attachments_found([words[unit] for unit in order], moved, words, heads) == size


@pytest.mark.parametrize(
    ("score", "gold", "error"),
    [(-10.0, -9.0, True), (-9.0, -10.0, False), (-9.0, -9.0, False), (-1000.0, -1000 + 1e-7, False)],
)
def test_search_errors(score: float, gold: float, error: bool) -> None:
    """A better gold order is a search error; a rounding difference is none."""
    assert is_search_error(score, gold) is error
