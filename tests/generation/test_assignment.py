"""The assignment problem against all permutations and SciPy; the algorithm against one with dummies, by hand."""

from __future__ import annotations

from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from toy_problems import FLOOR, problem_of, problems

from sentgen.arrays import Floats, Ints
from sentgen.generation import SearchSettings
from sentgen.generation.bags.problem import LEFT, RIGHT, ROOT
from sentgen.generation.trees import assignment
from sentgen.generation.trees.assignment import Padding, Positions, assign
from sentgen.generation.trees.trees import FORBIDDEN, edge_weights


def grow_reference(
    edges: Floats, charges: Floats, limits: Ints, price: float
) -> tuple[dict[int, tuple[int, int]], float]:
    """Return unit -> (head, side), and the sum of the weights: `grow` with sets, and with the dummies."""
    from scipy.optimize import linear_sum_assignment

    outside = list(range(edges.shape[1]))
    inside = [ROOT]
    tree: dict[int, tuple[int, int]] = {}
    total = 0.0

    def cost(position: tuple[int, int], unit: int) -> float:
        head, side = position
        earlier = sum(position == taken for taken in tree.values())
        return -float(edges[head + 1, unit, side]) - float(charges[head + 1, side][: earlier + 1][-1])

    def is_open(head: int, side: int) -> bool:
        return sum((head, side) == taken for taken in tree.values()) < int(limits[head + 1, side])

    while outside:
        places = [(head, side) for head in inside for side in (LEFT, RIGHT)]
        positions = [place for place in places if is_open(*place)]
        if all(cost(*pair) > -FORBIDDEN / 2 for pair in product(positions, outside)):
            positions = [place for place in places if is_open(*place) or place[0] != ROOT]
        padding = (
            max(0, len(positions) - len(outside)) if len(inside) == 1 or price == np.inf else len(positions)
        )
        empty = min(price, 1e7)
        costs = [[*(cost(position, unit) for unit in outside), *[empty] * padding] for position in positions]
        pairs = [
            (positions[row], outside[column])
            for row, column in zip(*linear_sum_assignment(costs), strict=True)
            if column < len(outside) and costs[row][column] < -FORBIDDEN / 2
        ]
        if not pairs:
            pairs = [min(product(positions, outside), key=lambda pair: cost(*pair))]
        total -= sum(cost(*pair) for pair in pairs)
        tree.update({unit: position for position, unit in pairs})
        inside += [unit for _, unit in pairs]
        outside = [unit for unit in outside if unit not in tree]
    return tree, total


@st.composite
def costs(draw: st.DrawFn, most: int) -> Floats:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = draw(st.tuples(st.integers(1, most), st.integers(1, most)))
    return rng.integers(-4, 5, shape).astype(float) if draw(st.booleans()) else rng.normal(size=shape)


def total(matrix: Floats, columns: list[int]) -> float:
    return sum(float(matrix[row, column]) for row, column in enumerate(columns) if column >= 0)


@given(costs(5))
def test_assignment_is_the_best_of_all(matrix: Floats) -> None:
    """Up to five rows and columns, more rows or more columns, equal and negative costs."""
    small = matrix if matrix.shape[0] <= matrix.shape[1] else matrix.T
    rows, columns = small.shape
    best = min(
        sum(small[row, column] for row, column in enumerate(chosen))
        for chosen in permutations(range(columns), rows)
    )

    assert total(matrix, assign(matrix).tolist()) == pytest.approx(best)


@given(costs(30))
def test_assignment_agrees_with_scipy(matrix: Floats) -> None:
    """The total is SciPy's; columns are used once, and there are as many pairs as possible."""
    found = assign(matrix).tolist()
    used = [column for column in found if column >= 0]

    assert total(matrix, found) == pytest.approx(matrix[linear_sum_assignment(matrix)].sum())
    assert len(used) == len(set(used)) == min(matrix.shape)


@pytest.mark.parametrize("padding", ["free", "literal"])
@pytest.mark.parametrize("q", ["paper", "learned"])
@given(data=st.data())
def test_compiled_agrees_with_dummies(padding: Padding, q: Positions, data: st.DataObject) -> None:
    """For any bag, the tree is that of the reference with sets, dummies and SciPy."""
    cost = data.draw(st.sampled_from([0.0, 1.0, 4.0]))
    problem = data.draw(problems(assignment.AssignmentSettings(q, padding, cost)))
    model, edges = problem.require_trees(), edge_weights(problem)
    found = assignment.search(problem, edges)
    tree, score = grow_reference(
        edges,
        assignment.argument_charges(model),
        assignment.positions(model, q),
        np.inf if padding == "literal" else cost,
    )

    assert found.score == pytest.approx(score)
    assert dict(enumerate(zip(found.heads.tolist(), found.sides.tolist(), strict=True))) == tree


def test_argument_model_by_hand() -> None:
    """Equation 6 with p_arg 0.5, 0.3, 0.2: more than none 0.5, more than one 0.2, more than two never."""
    arguments = np.zeros((2, 2, 8))
    arguments[..., :3] = 0.5, 0.3, 0.2
    problem = problem_of(np.zeros((2, 1, 2)), arguments=arguments)
    found = assignment.argument_charges(problem.require_trees())

    assert found[1, RIGHT].tolist() == pytest.approx([np.log(0.5), np.log(0.2), *[FLOOR] * 6])


def test_seven_stands_for_seven_and_more() -> None:
    """An eighth argument has probability 0, a seventh has that of seven and more."""
    arguments = np.zeros((1, 2, 8))
    arguments[..., 7] = 1.0
    found = assignment.argument_charges(problem_of(np.zeros((1, 0, 2)), arguments=arguments).require_trees())

    assert found[0, LEFT].tolist() == pytest.approx([0.0] * 7 + [FLOOR])


def test_positions_of_the_paper() -> None:
    """Root: one. Verb: both sides. Preposition: one after it. Others: after it."""
    model = problem_of(np.zeros((4, 3, 2)), tags="vpn").require_trees()

    assert assignment.positions(model, "paper").tolist() == [[0, 1], [4, 4], [0, 1], [0, 4]]


def test_learned_positions() -> None:
    """A side has a position if modifiers were seen on it, for any tag."""
    arguments = np.zeros((3, 2, 8))
    arguments[..., 0] = 1
    arguments[1, LEFT, :2] = 0.9, 0.1
    arguments[2, RIGHT, [0, 7]] = 0.9, 0.1
    model = problem_of(np.zeros((3, 2, 2)), arguments=arguments, tags="vp").require_trees()

    assert assignment.positions(model, "learned").tolist() == [[0, 1], [3, 0], [0, 3]]


def tree_of(prob: Floats, arguments: Floats, **settings: Any) -> list[int]:
    problem = problem_of(
        prob,
        arguments=arguments,
        tags="v",
        settings=SearchSettings((assignment.AssignmentSettings(**settings),)),
    )
    return assignment.search(problem, edge_weights(problem)).heads.tolist()


def test_words_compete_by_hand() -> None:
    """`saw`(0) has one place on its right, for which both `he`(1) and `it`(2) are good; `he` fits on its left, too.

    Costs: `he` right 1, left 2; `it` right 1.5, left 9. The greedy choice, `he` on the right, would cost
    1 + 9; the assignment 2 + 1.5.
    """
    prob = np.full((4, 3, 2), -20.0)
    prob[0, 0, RIGHT], prob[1, 1], prob[1, 2] = 0, (-2, -1), (-9, -1.5)
    arguments = np.tile(np.eye(8)[0], (4, 2, 1))
    arguments[0, RIGHT] = arguments[1] = np.eye(8)[1]

    for padding in ("free", "literal"):
        assert tree_of(prob, arguments, padding=padding, padding_cost=10) == [ROOT, 0, 0]


def test_literal_padding_fills_every_position() -> None:
    """b costs 2 and c 5 or 9 beside the verb a; c costs 1 on the right of b.

    `literal`: the positions left and right of a are filled with c and b in one round. `free`, at 1 nat a
    position: b alone, as the cheapest, and then c below b.
    """
    prob = np.full((4, 3, 2), -20.0)
    prob[0, 0, RIGHT], prob[1, 1, RIGHT], prob[1, 2], prob[2, 2, RIGHT] = -1, -2, (-5, -9), -1
    arguments = np.tile(np.eye(8)[7], (4, 2, 1))

    assert tree_of(prob, arguments, padding="literal") == [ROOT, 0, 0]
    assert tree_of(prob, arguments, padding="free") == [ROOT, 0, 1]


def test_words_without_a_position_take_the_cheapest() -> None:
    """Without counts of modifiers, words take the position with the greatest probability."""
    prob = np.full((4, 3, 2), -9.0)
    prob[0, 1, RIGHT], prob[2, 0, LEFT], prob[1, 2, RIGHT] = -1, -2, -3
    arguments = np.tile(np.eye(8)[0], (4, 2, 1))
    (ordering,) = assignment.order_units(problem_of(prob, arguments=arguments))

    assert ordering.tree is not None
    assert ordering.tree.heads == (1, ROOT, 0)
    assert ordering.units == (0, 2, 1)
