"""The best projective tree, beside all trees there are."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentgen.generation.bags.problem import LEFT, RIGHT, ROOT
from sentgen.generation.trees.projective import TreeScores, best_heads, new_chart, tree_score


def random_scores(size: int, seed: int, kinds: int = 2) -> TreeScores:
    """Return scores of any size and sign."""
    rng = np.random.default_rng(seed)
    return TreeScores(
        edges=rng.normal(size=(size + 1, size, 2, 3)),
        arguments=rng.normal(size=(size + 1, 2, 8)),
        siblings=rng.normal(size=(kinds + 1, kinds + 1, kinds + 1, 2)),
        kinds=rng.integers(0, kinds, size).astype(np.int32),
    )


def is_projective_tree(heads: tuple[int, ...]) -> bool:
    """Whether heads of places are a tree with one root whose edges do not cross."""
    if heads.count(ROOT) != 1:
        return False
    above = [set() for _ in heads]
    for place in range(len(heads)):
        node = place
        while node != ROOT:
            if node in above[place]:
                return False
            above[place].add(node)
            node = heads[node]
    return all(
        head == ROOT or all(head in above[k] for k in range(min(head, m) + 1, max(head, m)))
        for m, head in enumerate(heads)
    )


def score_of(scores: TreeScores, order: list[int], heads: tuple[int, ...]) -> float:
    """Return the score of a tree as the module defines it."""
    total = 0.0
    modifiers: dict[tuple[int, int], list[int]] = {}
    for m, head in enumerate(heads):
        side = RIGHT if m > head else LEFT
        row = 0 if head == ROOT else order[head] + 1
        total += scores.edges[row, order[m], side, min(abs(m - head), 3) - 1]
        modifiers.setdefault((head, side), []).append(m)
    for h, side in product(range(len(heads)), (LEFT, RIGHT)):
        mine = sorted(modifiers.get((h, side), []), key=lambda m: abs(m - h))
        total += scores.arguments[order[h] + 1, side, min(len(mine), 7)]
        before = -1
        for m in mine:
            kind = scores.kinds[order[m]]
            total += scores.siblings[scores.kinds[order[h]], before, kind, side]
            before = kind
        total += scores.siblings[scores.kinds[order[h]], before, -1, side]
    root = scores.kinds[order[heads.index(ROOT)]]
    total += scores.siblings[-1, -1, root, RIGHT] + scores.siblings[-1, root, -1, RIGHT]
    return float(total)


@given(st.integers(1, 5), st.integers(0, 10_000), st.randoms(use_true_random=False))
def test_is_the_best_of_all_trees(size, seed, random):
    scores, order = random_scores(size, seed), list(range(size))
    random.shuffle(order)
    chart = new_chart(size)
    found = tree_score(scores, np.array(order, np.int32), chart)
    heads = tuple(best_heads(scores, np.array(order, np.int32), chart).tolist())
    trees = [one for one in product(range(-1, size), repeat=size) if is_projective_tree(one)]
    assert found == pytest.approx(max(score_of(scores, order, one) for one in trees))
    assert is_projective_tree(heads)
    assert score_of(scores, order, heads) == pytest.approx(found)


@given(st.integers(1, 14), st.integers(0, 10_000))
def test_the_tree_has_the_score(size, seed):
    scores, order = random_scores(size, seed), np.random.default_rng(seed).permutation(size).astype(np.int32)
    chart = new_chart(size)
    found = tree_score(scores, order, chart)
    heads = tuple(best_heads(scores, order, chart).tolist())
    assert is_projective_tree(heads)
    assert score_of(scores, order.tolist(), heads) == pytest.approx(found)


def test_more_than_seven_modifiers_are_seven():
    scores = random_scores(12, 1)
    # Everything hangs on the last unit, whatever the distance.
    scores.edges[:] = -100.0
    scores.edges[12, :, LEFT] = 100.0
    scores.edges[0, 11] = 100.0
    order = np.arange(12, dtype=np.int32)
    chart = new_chart(12)
    tree_score(scores, order, chart)
    heads = best_heads(scores, order, chart).tolist()
    assert Counter(heads) == {11: 11, ROOT: 1}


def test_no_units_have_a_tree_without_nodes():
    scores, nothing = random_scores(0, 1), np.zeros(0, np.int32)
    chart = new_chart(0)
    assert tree_score(scores, nothing, chart) == 0.0
    assert best_heads(scores, nothing, chart).tolist() == []
