"""The best projective dependency tree over units in a given order, compiled; heads count their modifiers.

Eisner 1996 ("Three new probabilistic models for dependency parsing", section 3), in the form with siblings of
McDonald and Pereira 2006: of each head, the modifiers on either side are found apart, nearest first. Added
here is the number of modifiers on a side, so that p_arg (Wan et al. 2009, section 4.1) is part of what is
maximized:

    score(tree) = sum of edge(head, modifier, side, distance), over the edges
                + sum of argument(unit, side, number of modifiers), over units and sides
                + sum of sibling(head, modifier before, modifier, side), over the edges and the ends of sides

The root has one modifier. Time: 8 n^3 / 3 steps; space: 9 n^2.

A boundary b lies before unit b. Of a head h, boundaries up to h stand for its left side, those beyond it for
its right one: span (h, b) is unit h with its modifiers there, as far as the boundary.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sentgen.arrays import Floats, Ints, compiled
from sentgen.generation.bags.problem import LEFT, RIGHT, ROOT

#: Numbers of modifiers that are told apart: 0 to 6, and 7 and more.
COUNTS = 8
#: Distances that are told apart: 1, 2, and 3 and more units.
DISTANCES = 3


class TreeScores(NamedTuple):
    """What the parts of a tree over n units add to its score; row 0 of heads is the root.

    Units are of K kinds for siblings, as their tags tell. Kind K is the root as a head, none as the modifier
    before, and the end of the side as a modifier.
    """

    edges: Floats  # (n + 1, n, 2, 3) head, modifier, side, distance 1, 2, 3 and more
    arguments: Floats  # (n + 1, 2, 8)
    siblings: Floats  # (K + 1, K + 1, K + 1, 2) head, modifier before, modifier, side
    kinds: Ints  # (n,)


class Chart(NamedTuple):
    """The scores of spans: the best trees over parts of a sentence."""

    taken: Floats  # (n, n, 8) of head h, as far as modifier m and what is between; m is number c
    best: Floats  # (n, n) the same, with what the number of modifiers adds if m is the last one
    whole: Floats  # (n, n + 1) span (h, b)
    between: Floats  # (n, n) of units s < m with all units between: those left hang on s, those right on m


@compiled
def new_chart(size: int) -> Chart:
    """Return room for sentences of so many units."""
    return Chart(
        np.empty((size, size, COUNTS)),
        np.empty((size, size)),
        np.empty((size, size + 1)),
        np.empty((size, size)),
    )


@compiled
def tree_score(scores: TreeScores, order: Ints, chart: Chart) -> float:
    """Return the score of the best tree over units in an order, and fill the chart; no units have 0."""
    size = len(order)
    for position in range(size):
        row, ends = order[position] + 1, scores.siblings[scores.kinds[order[position]], -1, -1]
        chart.whole[position, position] = scores.arguments[row, LEFT, 0] + ends[LEFT]
        chart.whole[position, position + 1] = scores.arguments[row, RIGHT, 0] + ends[RIGHT]
    # Short spans first: longer ones are made of them.
    for length in range(1, size):
        for left in range(size - length):
            right = left + length
            between = -np.inf
            for b in range(left + 1, right + 1):
                between = max(between, chart.whole[left, b] + chart.whole[right, b])
            chart.between[left, right] = between
            _attach(scores, order, chart, left, right)
            _attach(scores, order, chart, right, left)
    return _best_root(scores, order, chart)[1]


@compiled
def _attach(scores: TreeScores, order: Ints, chart: Chart, head: int, modifier: int) -> None:
    """Fill the spans that end with a modifier, and the one that goes on as far as its own modifiers do."""
    side, step = (RIGHT, 1) if modifier > head else (LEFT, -1)
    edge = scores.edges[order[head] + 1, order[modifier], side, min(abs(modifier - head), DISTANCES) - 1]
    of_head, of_modifier = scores.kinds[order[head]], scores.kinds[order[modifier]]
    taken = chart.taken[head, modifier]
    taken[:] = -np.inf
    # The first modifier of its head: what lies between hangs on it.
    first = chart.whole[modifier, head + 1 if step > 0 else head]
    taken[1] = first + scores.siblings[of_head, -1, of_modifier, side]
    for before in range(head + step, modifier, step):
        between = chart.between[min(before, modifier), max(before, modifier)]
        between += scores.siblings[of_head, scores.kinds[order[before]], of_modifier, side]
        other = chart.taken[head, before]
        for count in range(1, COUNTS - 1):
            taken[count + 1] = max(taken[count + 1], other[count] + between)
        taken[COUNTS - 1] = max(taken[COUNTS - 1], other[COUNTS - 1] + between)
    best = -np.inf
    for count in range(1, COUNTS):
        taken[count] += edge
        best = max(best, taken[count] + scores.arguments[order[head] + 1, side, count])
    chart.best[head, modifier] = best + scores.siblings[of_head, of_modifier, -1, side]
    end = modifier + 1 if step > 0 else modifier
    whole = -np.inf
    for last in range(head + step, modifier + step, step):
        whole = max(whole, chart.best[head, last] + chart.whole[last, end])
    chart.whole[head, end] = whole


@compiled
def _best_root(scores: TreeScores, order: Ints, chart: Chart) -> tuple[int, float]:
    """Return the place of the modifier of the root in the best tree, and the score of that."""
    size = len(order)
    root, best = ROOT, 0.0
    for position in range(size):
        # The root is in place -1: right of nothing, so that its modifier is as far as its number from 1.
        kind = scores.kinds[order[position]]
        edge = scores.edges[0, order[position], RIGHT, min(position + 1, DISTANCES) - 1]
        edge += scores.siblings[-1, -1, kind, RIGHT] + scores.siblings[-1, kind, -1, RIGHT]
        score = edge + chart.whole[position, 0] + chart.whole[position, size]
        if root == ROOT or score > best:
            root, best = position, score
    return root, best


@compiled
def best_heads(scores: TreeScores, order: Ints, chart: Chart) -> Ints:
    """Return the place of the head of each place in the best tree, `ROOT` for the root's modifier.

    The chart is that which `tree_score` filled for the same order. Of equal trees it is always the same one.
    """
    size = len(order)
    heads = np.full(size, ROOT, np.int32)
    if size == 0:
        return heads
    # Spans to take apart; never more than two for each unit.
    stack = np.empty((2 * size + 2, 2), np.int32)
    root, _ = _best_root(scores, order, chart)
    stack[:2, 0], stack[0, 1], stack[1, 1] = root, 0, size
    count = 2
    while count:
        count -= 1
        head, end = int(stack[count, 0]), int(stack[count, 1])
        count = _take_apart(scores, order, chart, head, end, heads, stack, count)
    return heads


@compiled
def _take_apart(
    scores: TreeScores,
    order: Ints,
    chart: Chart,
    head: int,
    end: int,
    heads: Ints,
    stack: Ints,
    count: int,
) -> int:
    """Set the heads of the modifiers in a span, and put their own spans on the stack; return its size."""
    side, step = (RIGHT, 1) if end > head else (LEFT, -1)
    stop = end if step > 0 else end - 1
    modifier, best = -1, -np.inf
    for last in range(head + step, stop, step):
        score = chart.best[head, last] + chart.whole[last, end]
        if score > best:
            modifier, best = last, score
    if modifier < 0:
        return count
    stack[count, 0], stack[count, 1] = modifier, end
    count += 1
    number, best = 1, -np.inf
    for c in range(1, COUNTS):
        score = chart.taken[head, modifier, c] + scores.arguments[order[head] + 1, side, c]
        if score > best:
            number, best = c, score
    while modifier >= 0:
        heads[modifier] = head
        before, boundary, number = _before(scores, order, chart, head, modifier, number)
        stack[count, 0], stack[count, 1] = modifier, boundary
        count += 1
        if before >= 0:
            stack[count, 0], stack[count, 1] = before, boundary
            count += 1
        modifier = before
    return count


@compiled
def _before(
    scores: TreeScores, order: Ints, chart: Chart, head: int, modifier: int, number: int
) -> tuple[int, int, int]:
    """Return the modifier before one that is number c of its head, what parts the two, and its number.

    Before the first one is none, -1, and what parts it from the head.
    """
    side, step = (RIGHT, 1) if modifier > head else (LEFT, -1)
    of_head, of_modifier = scores.kinds[order[head]], scores.kinds[order[modifier]]
    boundary = head + 1 if step > 0 else head
    nearest, its_number, best = -1, 0, -np.inf
    for before in range(head + step, modifier, step):
        sibling = scores.siblings[of_head, scores.kinds[order[before]], of_modifier, side]
        between = chart.between[min(before, modifier), max(before, modifier)] + sibling
        # Number 7 stands for more as well: the one before it may have it, too.
        for c in range(max(1, number - 1), number + (number == COUNTS - 1)):
            if number > 1 and chart.taken[head, before, c] + between > best:
                nearest, its_number, best = before, c, chart.taken[head, before, c] + between
    if nearest >= 0:
        low, high = min(nearest, modifier), max(nearest, modifier)
        score = -np.inf
        for b in range(low + 1, high + 1):
            if chart.whole[low, b] + chart.whole[high, b] > score:
                boundary, score = b, chart.whole[low, b] + chart.whole[high, b]
    return nearest, boundary, its_number
