"""Siblings, words below heads and distances: against plain formulas over toy treebanks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product
from math import exp, log
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from toy_treebank import LEFT, RIGHT, ROOT, TREES, Pair, Tree, any_tree, matches, store_of

from sentgen.models.dependency.dependencies import STRENGTH, Automata, prefetch_dependencies
from sentgen.schema import Store

BAG: list[Pair] = [("a", "X"), ("b", "Y"), ("c", "X"), ("b", "Z"), ("new", "X"), ("new", "NEW"), ("a", "Z")]
NONE, END = "none", "end"
#: Head, side, and its modifiers on that side, nearest first, with their distances.
Side = tuple[Pair, int, list[tuple[Pair, int]]]


def sides_of(trees: Sequence[Tree]) -> list[Side]:
    """Both sides of all tokens, and of the roots."""
    found = []
    for tree in trees:
        for h, side in product(range(len(tree) + 1), (LEFT, RIGHT)):
            places = [i for i, node in enumerate(tree, 1) if node[2] == h and (i > h) == (side == RIGHT)]
            nearest = sorted(places, key=lambda i: abs(i - h))
            head = tree[h - 1][:2] if h else ROOT
            found.append((head, side, [(tree[i - 1][:2], min(abs(i - h), 3)) for i in nearest]))
    return found


class Plain:
    """The definitions at the head of the module."""

    def __init__(self, trees: Sequence[Tree]) -> None:
        self.sides = sides_of(trees)
        self.tokens = [token[:2] for tree in trees for token in tree]

    def sibling(self, head: str, before: str, after: str, side: int) -> float:
        steps = [
            step
            for (_, tag), found, taken in self.sides
            if (tag, found) == (head, side)
            for tags in [[NONE, *(one[1] for one, _ in taken), END]]
            for step in pairwise(tags)
        ]
        alone = self.tag(after)
        coarse = smoothed(sum(b == after for _, b in steps), len(steps), alone)
        return smoothed(steps.count((before, after)), sum(a == before for a, _ in steps), coarse)

    def tag(self, tag: str) -> float:
        """Return P(tag) by the definition: an unseen tag counts half, the ends as much as all tags."""
        seen = len(self.tokens) + 0.5 if tag == END else max(sum(t == tag for _, t in self.tokens), 0.5)
        return seen / (2 * len(self.tokens) + 1)

    def word(self, head: Pair, modifier: Pair, side: int) -> float:
        of_tag = sum(token[1] == modifier[1] for token in self.tokens)
        alone = max(self.tokens.count(modifier), 0.5) / max(of_tag, 1)
        probability = alone
        for level in ("tag", "word"):
            below = [
                one
                for found, where, taken in self.sides
                if where == side and matches(found, head, level)
                for one, _ in taken
                if one[1] == modifier[1]
            ]
            probability = smoothed(below.count(modifier), len(below), probability)
        return probability / alone

    def distance(self, head: str, modifier: str, side: int, distance: int) -> float:
        events = [
            (found[1], one[1], far)
            for found, where, taken in self.sides
            if where == side
            for one, far in taken
        ]
        alone = (sum(far == distance for *_, far in events) + 1) / (len(events) + 3)
        mine = [far for h, m, far in events if (h, m) == (head, modifier)]
        return smoothed(mine.count(distance), len(mine), alone)


def smoothed(seen: float, of: float, coarser: float) -> float:
    return (seen + STRENGTH * coarser) / (of + STRENGTH)


def automata_of(store: Store, *bags: list[Pair]) -> list[Automata]:
    found = prefetch_dependencies(store, [1], "word", bags, distances=True)
    automata = [one.automata for one in found]
    assert all(automata)
    return [one for one in automata if one]


def check(found: Automata, bag: list[Pair], plain: Plain) -> None:
    # Tags that the store does not know have one number.
    number = {tag: int(found.tags[place]) for place, (_, tag) in enumerate(bag)}
    last = len(found.siblings) - 1
    heads = {**number, ROOT[1]: last}
    before, after = {**number, NONE: last}, {**number, END: last}
    assert set(number.values()) == set(range(last))
    for (h, i), (b, j), (m, k), side in product(heads.items(), before.items(), after.items(), (LEFT, RIGHT)):
        assert found.siblings[i, j, k, side] == pytest.approx(log(plain.sibling(h, b, m, side)))
    for (i, head), (j, modifier), side in product(enumerate([ROOT, *bag]), enumerate(bag), (LEFT, RIGHT)):
        assert found.words[i, j, side] == pytest.approx(log(plain.word(head, modifier, side)), abs=1e-9)
        for d in range(3):
            expected = plain.distance(head[1], modifier[1], side, d + 1)
            assert exp(found.distances[i, j, side, d]) == pytest.approx(expected)


def test_agree_with_their_formulas(tmp_path: Path) -> None:
    """This includes words and tags that no tree has, the root, and an empty list of units."""
    with store_of(TREES, tmp_path) as store:
        found, nothing = automata_of(store, BAG, [])

    check(found, BAG, Plain(TREES))
    assert nothing.words.shape == (1, 0, 2)


@settings(max_examples=4, suppress_health_check=list(HealthCheck))
@given(st.lists(any_tree(), min_size=1, max_size=4))
def test_any_trees(tmp_path_factory: pytest.TempPathFactory, found: list[Tree]) -> None:
    with store_of(found, tmp_path_factory.mktemp("trees")) as store:
        (automata,) = automata_of(store, BAG)

    check(automata, BAG, Plain(found))


def test_by_hand(tmp_path: Path) -> None:
    """P(X after none | Y, left): of the three Y, one has an X on its left, the others nothing.

    Of 10 tokens 6 are X: alone = 6 / 21. Four steps left of a Y, one of them to X: coarse = (1 + 4 * alone) / 8.
    Three of them are after none: (1 + 4 * coarse) / 7.
    """
    with store_of(TREES, tmp_path) as store:
        (found,) = automata_of(store, [("b", "Y"), ("a", "X")])
    x, y = int(found.tags[1]), int(found.tags[0])
    coarse = (1 + 4 * 6 / 21) / 8

    assert exp(found.siblings[y, -1, x, LEFT]) == pytest.approx((1 + 4 * coarse) / 7)


def test_they_are_probabilities(tmp_path: Path) -> None:
    """Probabilities sum to 1 over all tags, an unseen one and the end, and over the three distances."""
    with store_of(TREES, tmp_path) as store:
        (found,) = automata_of(store, [("a", "X"), ("b", "Y"), ("b", "Z"), ("new", "NEW")])

    assert np.exp(found.siblings).sum(axis=2) == pytest.approx(1)
    assert np.exp(found.distances).sum(axis=3) == pytest.approx(1)


def test_other_bags_of_the_batch_change_nothing(tmp_path: Path) -> None:
    """Results do not depend on other bags of the batch."""
    one: list[Pair] = [("b", "Y"), ("a", "X")]
    with store_of(TREES, tmp_path) as store:
        (alone,) = automata_of(store, one)
        together, _ = automata_of(store, one, BAG)

    for name, mine, other in zip(alone._fields, alone, together, strict=True):
        assert np.array_equal(mine, other), name


def test_without_trees_all_are_finite(tmp_path: Path) -> None:
    """Without trees, as in an unknown corpus, all values are finite and equal."""
    with store_of(TREES, tmp_path) as store:
        (found,) = prefetch_dependencies(store, [99], "word", [BAG], distances=True)

    assert found.automata
    assert found.automata.words == pytest.approx(0)
    assert np.isfinite(found.automata.siblings).all()
    assert np.exp(found.automata.distances) == pytest.approx(1 / 3)
