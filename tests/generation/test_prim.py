"""Prim's algorithm: against textbooks without arguments, against the figure of the paper with them, by hand."""

from __future__ import annotations

import heapq
import math
from collections import Counter

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy_problems import FLOOR, problem_of, problems

from sentgen.arrays import Floats
from sentgen.generation import ALGORITHMS, Problem, SearchSettings, settings_for
from sentgen.generation.bags.problem import LEFT, RIGHT, ROOT
from sentgen.generation.ngrams.lmo import LmoSettings
from sentgen.generation.trees import prim
from sentgen.generation.trees.prim import THEFTS, Theft
from sentgen.generation.trees.trees import FORBIDDEN, ZERO, ConstraintSettings, RootSettings, edge_weights


def grow_reference(
    edges: Floats, charges: Floats, arguments: Floats, theft: Theft, *, one_root: bool
) -> list[tuple[int, int, float]]:
    """Return head, side and weight of each unit: `grow`, line by line as figure 2 of the paper."""
    units = range(edges.shape[1])
    best_edges = dict.fromkeys(units, (ROOT, RIGHT))
    tree: dict[int, tuple[int, int, float]] = {}

    def weight(unit: int, head: int, side: int) -> float:
        return float(edges[head + 1, unit, side])

    def modifiers(head: int, side: int) -> int:
        return sum((head, side) == taken[:2] for taken in tree.values())

    def worth(unit: int) -> float:
        head, side = best_edges[unit]
        return weight(unit, head, side) + float(charges[head + 1, side][: modifiers(head, side) + 1][-1])

    while best_edges:
        new = max(best_edges, key=worth)
        tree[new] = (*best_edges[new], worth(new))
        del best_edges[new]
        waiting = Counter(edge for unit, edge in best_edges.items() if weight(unit, *edge) > FORBIDDEN / 2)
        for unit, (head, side) in list(best_edges.items()):
            offer, new_side = max((weight(unit, new, side), -side) for side in (LEFT, RIGHT))
            if theft != "off" and weight(unit, head, side) > FORBIDDEN / 2:
                others = waiting[head, side] - 1
                within = others if theft == "printed" else modifiers(head, side) + others
                chance = sum(arguments[head + 1, side, : within + 1])
                offer += math.log(max(ZERO, chance / max(others, 1) if theft == "printed" else chance))
            if offer > worth(unit) or (one_root and head == ROOT):
                best_edges[unit] = (new, -new_side)
    return [tree[unit] for unit in units]


FREE = SearchSettings(
    (ConstraintSettings(verb_root=False, noun_under_noun=True), RootSettings(one_root=False))
)


def textbook(edges: Floats) -> list[int]:
    """Prim's algorithm for a directed graph with a heap of all edges that leave the tree."""
    size = edges.shape[1]
    heads: dict[int, int] = {}
    heap = [(-edges[0, unit].max(), unit, ROOT) for unit in range(size)]
    heapq.heapify(heap)
    while heap:
        _, node, head = heapq.heappop(heap)
        if node not in heads:
            heads[node] = head
            for unit in range(size):
                if unit != node:
                    heapq.heappush(heap, (-edges[node + 1, unit].max(), unit, node))
    return [heads[unit] for unit in range(size)]


@given(problems())
def test_without_arguments_it_is_the_textbook_s(problem: Problem) -> None:
    """The same heads as with a heap of all edges."""
    edges = edge_weights(problem)
    found = prim.grow(edges, np.zeros((7, 2, 8)), np.zeros((7, 2, 8)), 0, False)

    assert found[0].tolist() == textbook(edges)


@given(st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_symmetric_weights_give_the_spanning_tree_of_networkx(size: int, seed: int) -> None:
    """Where both directions weigh the same, the tree is the maximum spanning tree of the undirected graph."""
    rng = np.random.default_rng(seed)
    weights = rng.uniform(-9, 0, (size + 1, size + 1))
    weights += weights.T
    problem = problem_of(np.repeat(weights[:, 1:, None], 2, axis=2), settings=FREE)
    graph = networkx.Graph()
    graph.add_weighted_edges_from((x, y, weights[x, y]) for x in range(size + 1) for y in range(x))
    expected = sum(data["weight"] for *_, data in networkx.maximum_spanning_tree(graph).edges(data=True))

    assert prim.search(problem, edge_weights(problem)).score == pytest.approx(expected)


@pytest.mark.parametrize("theft", THEFTS)
@given(data=st.data(), one_root=st.booleans())
def test_compiled_agrees_with_figure_2(theft: Theft, data: st.DataObject, one_root: bool) -> None:
    """Arguments on, every reading of the theft, any bag: the same edges with the same weights."""
    problem = data.draw(problems(prim.TheftSettings(theft), RootSettings(one_root)))
    model, edges = problem.require_trees(), edge_weights(problem)
    found = prim.search_with_arguments(problem, edges)
    expected = grow_reference(edges, prim.argument_charges(model), model.arguments, theft, one_root=one_root)

    assert list(zip(found.heads.tolist(), found.sides.tolist(), strict=True)) == [
        edge[:2] for edge in expected
    ]
    assert found.weights.tolist() == pytest.approx([edge[2] for edge in expected])


def p_arg(size: int, **numbers: dict[int, float]) -> Floats:
    """Return p_arg of units and sides such as `u0r` by number; for the others any number has probability 1."""
    arguments = np.ones((size + 1, 2, 8))
    for name, of_number in numbers.items():
        row = np.zeros(8)
        row[list(of_number)] = list(of_number.values())
        arguments[int(name[1:-1]) + 1, RIGHT if name[-1] == "r" else LEFT] = row
    return arguments


def greedy_bag(theft: Theft, **numbers: dict[int, float]) -> Problem:
    """Return the bag saw(0) with(1) dog(2) bone(3): `with` is the better head of both nouns."""
    prob = np.full((5, 4, 2), -20.0)
    prob[0, 0, RIGHT] = -1
    prob[1, 1, RIGHT] = -1
    prob[1, 2, RIGHT], prob[1, 3, RIGHT] = -3, -3.5
    prob[2, 2, RIGHT], prob[2, 3, RIGHT] = -2, -2.5
    settings = SearchSettings((RootSettings(one_root=False), prim.TheftSettings(theft)))
    return problem_of(prob, arguments=p_arg(4, **numbers), tags="vpxx", settings=settings)


def heads(problem: Problem) -> list[int]:
    return prim.search_with_arguments(problem, edge_weights(problem)).heads.tolist()


def test_the_queue_is_scored_again_by_hand() -> None:
    """A preposition with one argument keeps one: what waits for it loses, so that another head can have it.

    `saw` goes first, then `with`; both nouns wait for `with`. `dog` goes to it (-2 + log 1). Now an edge from
    `with` is worth log p_arg(with, 2) = log 1e-12 less, and `dog` (-4) takes `bone`.
    """
    problem = greedy_bag("off", u1r={1: 1.0})
    problem.require_trees().prob[3, 3, RIGHT] = -4

    assert prim.search(problem, edge_weights(problem)).heads.tolist() == [-1, 0, 1, 1]
    assert heads(problem) == [-1, 0, 1, 2]


@pytest.mark.parametrize(
    ("theft", "expected"),
    [("off", [ROOT, 0, 1, 1]), ("sum", [ROOT, 0, 0, 0]), ("printed", [ROOT, 0, 0, 0])],
)
def test_thefts_are_prevented_by_hand(theft: Theft, expected: list[int]) -> None:
    """`saw` wants three modifiers on its right; both nouns wait for it when `with` makes its offers.

    They are worth -3 and -3.5 there, and -2 and -2.5 under `with`. Without one of them `saw` has `with` and
    another candidate. `sum`: p_arg(0) + p_arg(1) + p_arg(2) = 0.1 and -2 + log 0.1 = -4.3, which is less than
    -3. `printed`: m = 1, (p_arg(0) + p_arg(1)) / 1 = 0. The numbers do not charge the edges themselves here.
    """
    problem = greedy_bag("off")
    arguments = p_arg(4, u0r={2: 0.1, 3: 0.9})
    found = prim.grow(
        edge_weights(problem), np.zeros((5, 2, 8)), arguments, THEFTS.index(theft), one_root=False
    )

    assert found[0].tolist() == expected


@pytest.mark.parametrize(
    ("taken", "others", "theft", "chance"),
    [
        (0, 0, "printed", 0.5),  # p(0) / 1, the guard for m = 0
        (0, 1, "printed", 0.75),  # (p(0) + p(1)) / 1
        (2, 2, "printed", 0.5),  # (p(0) + p(1) + p(2)) / 2; what it has does not count
        (0, 1, "sum", 0.75),
        (1, 1, "sum", 1.0),  # p(0) + p(1) + p(2)
        (9, 9, "sum", 1.0),
    ],
)
def test_chance_of_satisfaction_by_hand(taken: int, others: int, theft: Theft, chance: float) -> None:
    """p_arg = 1/2, 1/4, 1/4 for 0, 1 and 2 modifiers."""
    arguments = np.array([0.5, 0.25, 0.25, 0, 0, 0, 0, 0])

    assert prim._satisfied(arguments, taken, others, THEFTS.index(theft)) == pytest.approx(chance)


@given(problems(ConstraintSettings(verb_root=True)), st.integers(0, 2**32 - 1))
def test_value_does_not_depend_on_the_order_of_attachment(problem: Problem, seed: int) -> None:
    """The score of the answer, with arguments, is the value of its order and tree."""
    (ordering,) = prim.order_with_arguments(problem)
    assert ordering.tree is not None

    value = prim.value_with_arguments(problem, ordering.units, ordering.tree.heads)

    assert value == pytest.approx(ordering.score)


def test_published_reading() -> None:
    """As published: thefts as printed, both hard constraints, several modifiers of the root."""
    settings = settings_for(ALGORITHMS["prim-arg"], "2007")

    assert settings.of(prim.TheftSettings).theft == "printed"
    assert settings.of(ConstraintSettings) == ConstraintSettings(verb_root=True, noun_under_noun=False)
    assert settings.of(RootSettings) == RootSettings(one_root=False)
    assert settings.of(LmoSettings) == LmoSettings("phrase")


def test_several_roots() -> None:
    """Without `one_root` a second verb stays with the root if that is better; with it, it cannot."""
    prob = np.full((3, 2, 2), -9.0)
    prob[0, :, RIGHT] = -1
    several, one = (
        prim.search(problem_of(prob, tags="vv", settings=SearchSettings((RootSettings(one),))), prob)
        for one in (False, True)
    )

    assert several.heads.tolist() == [-1, -1]
    assert one.heads.tolist() == [-1, 0]
    assert FLOOR < several.score == -2
