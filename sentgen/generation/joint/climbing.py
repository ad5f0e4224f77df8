"""Local search over the orders of a bag, compiled: n-gram models and the best tree together are the score.

A round looks at all orders that one move leads to: two neighboring blocks change places, or two units do.
What the n-gram models say of a move is known from its joins, and exact; of the moves that they like best the
trees are scored, too, and the best one is made. It ends where no move gains, or after some rounds.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from sentgen.arrays import Floats, Ints, compiled
from sentgen.generation.trees.projective import Chart, TreeScores, new_chart, tree_score
from sentgen.models.ngrams.ngram_table import NgramTable, NgramTables, extend, table_at
from sentgen.schema.tables.corpus import EOS

#: Moves a round, and steps of `tree_score` over all trees: long bags have shorter moves and fewer trees.
MOVES, STEPS = 20_000, 500_000_000


class ClimbingUnits(NamedTuple):
    """The n units of a bag in M models."""

    words: Ints  # local word ids, unit after unit, model after model
    offsets: Ints  # (M, n + 1) unit u in model m is words[offsets[m, u]:offsets[m, u + 1]]


class ScoredOrder(NamedTuple):
    """A sentence, and what the models say of it as far as each place."""

    order: Ints  # (n,)
    state: Ints  # (M, n + 1) before each place
    logp: Floats  # (M, n + 2) of all that is before a place; the last one has the end of the sentence


class Moves(NamedTuple):
    """Places begin < middle <= last < end of a sentence: blocks from begin to middle and last to end swap."""

    places: Ints  # (K, 4)
    gain: Floats  # (K,) what the weighted log-probabilities gain


class Visited(NamedTuple):
    """All orders whose trees were scored."""

    orders: Ints  # (V, n)
    scores: Floats  # (V,)


@compiled
def climb(
    tables: NgramTables,
    weights: Floats,
    units: ClimbingUnits,
    scores: TreeScores,
    starts: Ints,
    rounds: int,
    candidates: int,
    climbers: int,
) -> Visited:
    """Return the orders that a search came by, in the order of visits.

    Args:
        tables: the models.
        weights: (M,) what their log-probabilities are multiplied by.
        units: the units of the bag, at least one.
        scores: of trees.
        starts: (S, n) different orders, at least one.
        rounds: moves to make from a start, at most.
        candidates: moves a round of which the trees are scored.
        climbers: of the starts, so many of the best ones are climbed from.
    """
    size = starts.shape[1]
    chart = new_chart(size)
    candidates = min(candidates, most_trees(size))
    room = len(starts) + min(climbers * rounds * candidates, most_trees(size))
    visited = Visited(np.empty((room, size), np.int32), np.empty(room))
    line = _line(len(weights), size)
    for i in range(len(starts)):
        line.order[:] = starts[i]
        _read(tables, units, line)
        visited.orders[i] = starts[i]
        visited.scores[i] = _total(weights, line) + tree_score(scores, line.order, chart)
    count = len(starts)
    moves = _moves(size)
    most = tree_bound(scores)
    for i in np.argsort(-visited.scores[:count], kind="mergesort")[:climbers]:
        line.order[:] = starts[i]
        best = visited.scores[i]
        for _ in range(rounds):
            _read(tables, units, line)
            _weigh(tables, weights, units, line, moves)
            first = count
            if first + candidates > room:
                break
            count = _try(weights, scores, line, moves, candidates, best - most, chart, visited, count)
            if count == first:
                break
            found = first + np.argmax(visited.scores[first:count])
            # A gain that is no more than rounding would go round in circles.
            if visited.scores[found] <= best + 1e-9:
                break
            best = visited.scores[found]
            line.order[:] = visited.orders[found]
    return Visited(visited.orders[:count], visited.scores[:count])


@compiled
def most_trees(size: int) -> int:
    """Return how many trees over so many units may be scored."""
    # As `tree_score` says: of a sentence twice as long, eight times the steps.
    return STEPS * 3 // (8 * size**3) + 1


@compiled
def line_scores(tables: NgramTables, units: ClimbingUnits, order: Ints) -> Floats:
    """Return (M,) the log-probability of an order as a sentence in each model."""
    line = _line(len(tables.bits), len(order))
    line.order[:] = order
    _read(tables, units, line)
    return line.logp[:, -1].copy()


@compiled
def tree_bound(scores: TreeScores) -> float:
    """Return a bound that no tree over the units in any order exceeds."""
    bound = 0.0
    for unit in range(scores.edges.shape[1]):
        best = -np.inf
        for head in range(len(scores.edges)):
            if head != unit + 1:
                best = max(best, scores.edges[head, unit].max())
        bound += best
        kind = scores.kinds[unit]
        bound += scores.siblings[:, :, kind].max()
        for side in range(2):
            bound += scores.arguments[unit + 1, side].max() + scores.siblings[kind, :, -1, side].max()
    # The end of the root's side.
    return float(bound + scores.siblings[-1, :, -1].max())


@compiled
def _line(models: int, size: int) -> ScoredOrder:
    """Return room for a sentence."""
    return ScoredOrder(
        np.empty(size, np.int32), np.empty((models, size + 1), np.int32), np.empty((models, size + 2))
    )


@compiled
def _read(tables: NgramTables, units: ClimbingUnits, line: ScoredOrder) -> None:
    """Set what the models say of the order of a sentence."""
    size = len(line.order)
    for model in range(len(tables.bits)):
        table, offsets = table_at(tables, model), units.offsets[model]
        total, state = 0.0, int(tables.start[model])
        line.logp[model, 0], line.state[model, 0] = total, state
        for place in range(size):
            unit = line.order[place]
            for i in range(offsets[unit], offsets[unit + 1]):
                logp, state = extend(table, state, units.words[i])
                total += logp
            line.logp[model, place + 1], line.state[model, place + 1] = total, state
        line.logp[model, size + 1] = total + extend(table, state, EOS)[0]


@compiled
def _total(weights: Floats, line: ScoredOrder) -> float:
    """Return the weighted log-probability of a sentence."""
    total = 0.0
    for model in range(len(weights)):
        total += weights[model] * line.logp[model, -1]
    return total


@compiled
def _moves(size: int) -> Moves:
    """Return all moves of a sentence: neighboring blocks, and pairs of units that are no neighbors."""
    window = min(size, max(3, int(math.sqrt(2 * MOVES / max(1, size)))))
    count = 0
    for begin in range(size):
        reach = min(size, begin + window) - begin
        # Blocks: two more cuts behind the first; units: each one two places on and further.
        count += reach * (reach - 1) // 2 + max(0, reach - 2)
    places, k = np.empty((count, 4), np.int32), 0
    for begin in range(size):
        furthest = min(size, begin + window)
        for end in range(begin + 2, furthest + 1):
            for cut in range(begin + 1, end):
                places[k, 0], places[k, 1], places[k, 2], places[k, 3] = begin, cut, cut, end
                k += 1
            if end > begin + 2:
                places[k, 0], places[k, 1], places[k, 2], places[k, 3] = begin, begin + 1, end - 1, end
                k += 1
    return Moves(places, np.empty(count))


@compiled
def _weigh(
    tables: NgramTables, weights: Floats, units: ClimbingUnits, line: ScoredOrder, moves: Moves
) -> None:
    """Set what each move gains in the n-gram models."""
    size = len(line.order)
    moves.gain[:] = 0.0
    for model in range(len(weights)):
        if weights[model] == 0:
            continue
        table, offsets = table_at(tables, model), units.offsets[model]
        states, sums = line.state[model], line.logp[model]
        for k in range(len(moves.gain)):
            begin, middle, last, end = moves.places[k]
            state = int(states[begin])
            new, state = _pass(table, units.words, offsets, line.order, states, sums, last, end, state)
            total = new
            new, state = _pass(table, units.words, offsets, line.order, states, sums, middle, last, state)
            total += new
            new, state = _pass(table, units.words, offsets, line.order, states, sums, begin, middle, state)
            total += new
            new, state = _pass(table, units.words, offsets, line.order, states, sums, end, size, state)
            total += new
            if state == states[size]:
                total += sums[size + 1] - sums[size]
            else:
                total += extend(table, state, EOS)[0]
            moves.gain[k] += weights[model] * (total - (sums[size + 1] - sums[begin]))


@compiled
def _pass(
    table: NgramTable,
    words: Ints,
    offsets: Ints,
    order: Ints,
    states: Ints,
    sums: Floats,
    begin: int,
    end: int,
    state: int,
) -> tuple[float, int]:
    """Return the log-probability of a block after another state, and the state behind it."""
    total = 0.0
    for place in range(begin, end):
        # From where it is as in the sentence, all that follows is, too.
        if state == states[place]:
            return total + sums[end] - sums[place], int(states[end])
        unit = order[place]
        for i in range(offsets[unit], offsets[unit + 1]):
            logp, state = extend(table, state, words[i])
            total += logp
    return total, state


@compiled
def _try(
    weights: Floats,
    scores: TreeScores,
    line: ScoredOrder,
    moves: Moves,
    candidates: int,
    least: float,
    chart: Chart,
    visited: Visited,
    count: int,
) -> int:
    """Score the trees of the best moves; return the number of orders visited now.

    ``least`` is what the models must say of an order that can be better than the one at hand.
    """
    total = _total(weights, line)
    kept = min(candidates, len(moves.gain))
    if kept == 0:
        return count
    worst = np.partition(moves.gain, len(moves.gain) - kept)[len(moves.gain) - kept]
    # Of moves as good as the worst one that is kept, the first ones.
    ties = kept - np.count_nonzero(moves.gain > worst)
    for k in range(len(moves.gain)):
        tie = moves.gain[k] == worst
        if (moves.gain[k] > worst or (tie and ties)) and total + moves.gain[k] > least:
            ties -= tie
            begin, middle, last, end = moves.places[k]
            order = visited.orders[count]
            order[:begin] = line.order[:begin]
            order[begin : begin + end - last] = line.order[last:end]
            order[begin + end - last : begin + end - middle] = line.order[middle:last]
            order[begin + end - middle : end] = line.order[begin:middle]
            order[end:] = line.order[end:]
            visited.scores[count] = total + moves.gain[k] + tree_score(scores, order, chart)
            count += 1
    return count
