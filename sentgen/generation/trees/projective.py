"""The best projective dependency tree over units in a given order, compiled; heads count their modifiers.

Eisner 1996 ("Three new probabilistic models for dependency parsing", section 3), in the form with siblings of
McDonald and Pereira 2006: of each head, the modifiers on either side are found apart, nearest first. Added
here is the number of modifiers on a side, so that the maximized score includes p_arg (Wan et al. 2009,
section 4.1):

    score(tree) = sum of edge(head, modifier, side, distance), over the edges
                + sum of argument(unit, side, number of modifiers), over units and sides
                + sum of sibling(head, modifier before, modifier, side), over the edges and the ends of sides

The root has one modifier. Time: 8 n^3 / 3 steps; space: 9 n^2.

Boundary b is before unit b. For a head h, boundaries up to h belong to its left side, those beyond h to its
right side: span (h, b) is unit h with its modifiers on that side, up to the boundary.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sentgen.arrays import Floats, Ints, compiled
from sentgen.generation.bags.problem import LEFT, RIGHT, ROOT

#: Classes of numbers of modifiers: 0 to 6, and 7 and more.
COUNTS = 8
#: Classes of distances: 1, 2, and 3 and more units.
DISTANCES = 3


class TreeScores(NamedTuple):
    """Scores of the parts of trees over n units; row 0 of heads is the root.

    Units are of K kinds for siblings, by their tags. Kind K is the root as a head, none as the previous
    modifier, and the end of the side as a modifier.
    """

    edges: Floats  # (n + 1, n, 2, 3) head, modifier, side, distance 1, 2, 3 and more
    arguments: Floats  # (n + 1, 2, 8)
    siblings: Floats  # (K + 1, K + 1, K + 1, 2) head, modifier before, modifier, side
    kinds: Ints  # (n,)


class Chart(NamedTuple):
    """The scores of spans: the best trees over parts of a sentence."""

    taken: Floats  # (n, n, 8) of head h up to modifier m, which is its modifier number c
    best: Floats  # (n, n) the same with the score of the number of modifiers, if m is the last one
    whole: Floats  # (n, n + 1) span (h, b)
    between: Floats  # (n, n) of units s < m with all units between: left ones below s, right ones below m


@compiled
def new_chart(size: int) -> Chart:
    """Return the chart for sentences of ``size`` units."""
    return Chart(
        np.empty((size, size, COUNTS)),
        np.empty((size, size)),
        np.empty((size, size + 1)),
        np.empty((size, size)),
    )


@compiled
def tree_score(scores: TreeScores, order: Ints, chart: Chart) -> float:
    """Return the score of the best tree over units in an order, 0 without units, and fill the chart."""
    size = len(order)
    for position in range(size):
        row, ends = order[position] + 1, scores.siblings[scores.kinds[order[position]], -1, -1]
        chart.whole[position, position] = scores.arguments[row, LEFT, 0] + ends[LEFT]
        chart.whole[position, position + 1] = scores.arguments[row, RIGHT, 0] + ends[RIGHT]
    # Short spans first: longer spans consist of them.
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
    """Fill the spans that end with a modifier, and those that end with the modifier's own modifiers."""
    side, step = (RIGHT, 1) if modifier > head else (LEFT, -1)
    edge = scores.edges[order[head] + 1, order[modifier], side, min(abs(modifier - head), DISTANCES) - 1]
    of_head, of_modifier = scores.kinds[order[head]], scores.kinds[order[modifier]]
    taken = chart.taken[head, modifier]
    taken[:] = -np.inf
    # The first modifier of its head: units between both are below the modifier.
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
    """Return the position of the modifier of the root in the best tree, and the score of the tree."""
    size = len(order)
    root, best = ROOT, 0.0
    for position in range(size):
        # The root has the position -1, so that the distance of its modifier is the modifier's number from 1.
        kind = scores.kinds[order[position]]
        edge = scores.edges[0, order[position], RIGHT, min(position + 1, DISTANCES) - 1]
        edge += scores.siblings[-1, -1, kind, RIGHT] + scores.siblings[-1, kind, -1, RIGHT]
        score = edge + chart.whole[position, 0] + chart.whole[position, size]
        if root == ROOT or score > best:
            root, best = position, score
    return root, best


@compiled
def best_heads(scores: TreeScores, order: Ints, chart: Chart) -> Ints:
    """Return the position of the head of each position in the best tree, `ROOT` for the root's modifier.

    `tree_score` must have filled the chart for the same order. Ties are broken deterministically.
    """
    size = len(order)
    heads = np.full(size, ROOT, np.int32)
    if size == 0:
        return heads
    # A stack of spans; never more than two for each unit.
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
    """Set the heads of the modifiers in a span, and push the spans of these; return the size of the stack."""
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
    """Return the modifier before modifier number c of a head, the boundary between both, and its number.

    Before the first modifier there is none, -1, and the boundary is that to the head.
    """
    side, step = (RIGHT, 1) if modifier > head else (LEFT, -1)
    of_head, of_modifier = scores.kinds[order[head]], scores.kinds[order[modifier]]
    boundary = head + 1 if step > 0 else head
    nearest, its_number, best = -1, 0, -np.inf
    for before in range(head + step, modifier, step):
        sibling = scores.siblings[of_head, scores.kinds[order[before]], of_modifier, side]
        between = chart.between[min(before, modifier), max(before, modifier)] + sibling
        # Number 7 includes larger numbers: the previous modifier may have it, too.
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
