"""Chu-Liu/Edmonds: by hand, against the textbook, networkx, and all trees of small bags."""

from __future__ import annotations

from itertools import product

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy_problems import problem_of, problems

from sentgen.arrays import Floats
from sentgen.generation import Problem
from sentgen.generation.bags.problem import LEFT, RIGHT, ROOT
from sentgen.generation.trees import cle
from sentgen.generation.trees.cle import best_arborescence
from sentgen.generation.trees.trees import RootSettings, edge_weights


def best_arborescence_reference(weights: dict[tuple[int, int], float], root: int = 0) -> dict[int, int]:
    """Return modifier -> head; the textbook recursion, a readable reference of `best_arborescence`.

    ``weights`` are by (head, modifier); nodes are numbers, and no edge may enter the root.
    """
    heads: dict[int, int] = {}
    for node in sorted({modifier for _, modifier in weights}):
        heads[node] = max(
            (head for head, modifier in weights if modifier == node), key=lambda head: weights[head, node]
        )
    cycle = _cycle(heads)
    if not cycle:
        return heads
    new = max(max(edge) for edge in weights) + 1
    outer: dict[tuple[int, int], float] = {}
    real: dict[tuple[int, int], tuple[int, int]] = {}
    for (head, modifier), weight in weights.items():
        if head in cycle and modifier in cycle:
            continue
        edge = (new if head in cycle else head, new if modifier in cycle else modifier)
        worth = weight - weights[heads[modifier], modifier] if modifier in cycle else weight
        if edge not in outer or worth > outer[edge]:
            outer[edge], real[edge] = worth, (head, modifier)
    found = {node: heads[node] for node in cycle}
    for modifier, head in best_arborescence_reference(outer, root).items():
        real_head, real_modifier = real[head, modifier]
        found[real_modifier] = real_head
    return found


def _cycle(heads: dict[int, int]) -> set[int]:
    for start in heads:
        seen: list[int] = []
        node = start
        while node in heads and node not in seen:
            seen.append(node)
            node = heads[node]
        if node in seen:
            return set(seen[seen.index(node) :])
    return set()


def edges_of(weights: Floats) -> dict[tuple[int, int], float]:
    size = len(weights)
    return {
        (head, modifier): float(weights[head, modifier])
        for head, modifier in product(range(size), range(1, size))
        if head != modifier
    }


def total(weights: Floats, heads: list[int]) -> float:
    return sum(float(weights[head, modifier]) for modifier, head in enumerate(heads) if modifier)


def test_a_cycle_is_broken_by_hand() -> None:
    """The best heads of 1, 2 and 3 are 3, 1 and 2: a cycle worth 30. It is entered at 2, where that costs least.

    Entering at 1 gives 10 + 10 + 1 = 21, at 3 10 + 10 + 2 = 22, at 2 10 + 10 + 5 = 25.
    """
    weights = np.zeros((4, 4))
    weights[0] = [0, 1, 5, 2]
    weights[3, 1] = weights[1, 2] = weights[2, 3] = 10

    assert best_arborescence(weights).tolist() == [-1, 3, 0, 2]


def test_a_cycle_inside_a_cycle() -> None:
    """1 and 2 choose each other; together they and 3 choose each other; the root enters at 3, then at 2.

    root-3 4, 3-2 6, 2-1 9: 19. To enter at 1 gives 1 + 10 + 5 = 16, at 2 1 + 9 + 5 = 15.
    """
    weights = np.full((4, 4), -50.0)
    weights[0] = [0, 1, 1, 4]
    weights[1, 2], weights[2, 1] = 10, 9
    weights[3, 2], weights[1, 3] = 6, 5

    assert best_arborescence(weights).tolist() == [-1, 2, 3, 0]


@given(st.integers(1, 9), st.integers(0, 2**32 - 1), st.booleans())
def test_agrees_with_networkx_and_the_textbook(size: int, seed: int, ties: bool) -> None:
    """The weight of the best tree, with real weights and with many equal ones."""
    rng = np.random.default_rng(seed)
    shape = (size + 1, size + 1)
    weights = rng.integers(-3, 4, shape).astype(float) if ties else rng.normal(size=shape)
    edges = edges_of(weights)
    graph = networkx.DiGraph()
    # networkx minimizes its own costs; with all weights above 0 all trees have n edges.
    graph.add_weighted_edges_from((head, modifier, 10 + w) for (head, modifier), w in edges.items())
    tree = networkx.maximum_spanning_arborescence(graph)
    expected = sum(data["weight"] - 10 for *_, data in tree.edges(data=True))
    textbook = best_arborescence_reference(edges)
    heads = best_arborescence(weights).tolist()

    assert total(weights, heads) == pytest.approx(expected)
    assert sum(edges[head, modifier] for modifier, head in textbook.items()) == pytest.approx(expected)
    if not ties:
        assert {modifier: head for modifier, head in enumerate(heads) if modifier} == textbook


def is_tree(heads: tuple[int, ...]) -> bool:
    for unit in range(len(heads)):
        seen = set()
        while unit != ROOT and unit not in seen:
            seen.add(unit)
            unit = heads[unit]
        if unit != ROOT:
            return False
    return True


def best_of_all(problem: Problem) -> float:
    """Return the weight of the best tree over all heads and sides of all units."""
    edges, size = edge_weights(problem), len(problem.offsets) - 1
    best = -np.inf
    for heads in product(range(-1, size), repeat=size):
        roots = heads.count(ROOT)
        if is_tree(heads) and (roots == 1 or not problem.settings.of(RootSettings).one_root):
            best = max(best, sum(edges[head + 1, unit].max() for unit, head in enumerate(heads)))
    return best


@pytest.mark.parametrize("one_root", [False, True])
@given(data=st.data())
def test_best_of_all_trees(one_root: bool, data: st.DataObject) -> None:
    """No tree over up to four units has a greater weight, with one root or several, and under constraints."""
    problem = data.draw(problems(RootSettings(one_root), most=4))
    found = cle.search(problem, edge_weights(problem))

    assert found.score == pytest.approx(best_of_all(problem))
    assert not one_root or found.heads.tolist().count(ROOT) == 1


def test_of_both_sides_the_better_counts() -> None:
    """0 is the root; 1 is its modifier on the left with -1, on the right with -2."""
    prob = np.full((3, 2, 2), -9.0)
    prob[0, 0, RIGHT], prob[1, 1] = -1, (-1, -2)
    (ordering,) = cle.order_units(problem_of(prob, tags="v"))

    assert ordering.tree is not None
    assert (ordering.units, ordering.tree.sides, ordering.score) == ((1, 0), (RIGHT, LEFT), -2)


def test_second_best_tree_is_exact() -> None:
    """Root -1 over a, b or c; a has b at -1 and c at -2, b has c at -2.5: the trees are worth -4, -4.5, ...

    Their strings differ: c hangs right of a, then right of b.
    """
    prob = np.full((4, 3, 2), -20.0)
    prob[0, :, RIGHT] = (-1, -9, -9)
    prob[1, 1, LEFT], prob[1, 2, RIGHT], prob[2, 2, RIGHT] = -1, -2, -2.5
    best, second, *_ = cle.order_units(problem_of(prob, tags="vxx"), 3)

    assert (best.units, best.score) == ((1, 0, 2), -4)
    assert (second.units, second.score) == ((1, 2, 0), -4.5)
