"""Joint decoding: n-gram models and dependency trees with their arguments are one score.

    score(order) = log p(words) + w1 log p1 + w2 log p2 ...    the models of `--features`
                 + the best projective tree's w3 f3 + w4 f4 ... the factors of `--factors`

The search is hill climbing from the best sentences of `beam`. A round scores all orders that are one move
away: two adjacent blocks or two units are exchanged. The gain of a move in the n-gram models is computed
exactly from its joins; for the moves with the largest gains the trees are scored, too, and the best move is
made. The search ends if no move gains, or after some rounds. It returns the best order with its best tree.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from sentgen.arrays import Floats, Ints, compiled
from sentgen.generation.bags.problem import RIGHT, Algorithm, Ordering, Problem, Setting, Tree
from sentgen.generation.ngrams.beam import BeamSettings, weights_of, whole_sentences
from sentgen.generation.ngrams.features import AUTO, FeatureSettings
from sentgen.generation.trees.factors import (
    Factors,
    FactorSettings,
    WeightSettings,
    edge_at,
    factor_sums,
)
from sentgen.generation.trees.projective import Chart, TreeScores, best_heads, new_chart, tree_score
from sentgen.models.ngrams.ngram_table import NgramTable, NgramTables, extend, table_at
from sentgen.schema.tables.corpus import EOS

#: Most moves of a round, and steps of `tree_score` for all trees; long bags have shorter moves, fewer trees.
_MOVES, _STEPS = 20_000, 500_000_000


class ClimbingUnits(NamedTuple):
    """The n units of a bag in M models."""

    words: Ints  # local word ids, unit after unit, model after model
    offsets: Ints  # (M, n + 1) unit u in model m is words[offsets[m, u]:offsets[m, u + 1]]


class _ScoredOrder(NamedTuple):
    """A sentence, with states and log-probabilities of the models at each position."""

    order: Ints  # (n,)
    state: Ints  # (M, n + 1) before each position
    logp: Floats  # (M, n + 2) of all units before a position; the last one includes the end of the sentence


class _Moves(NamedTuple):
    """Moves: positions begin < middle <= last < end; the blocks begin:middle and last:end are exchanged."""

    places: Ints  # (K, 4)
    gain: Floats  # (K,) gain of the weighted log-probabilities


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
    """Return the orders whose trees a search scored, in the order of visits.

    Args:
        weights: (M,) weights of their log-probabilities.
        units: the units of the bag, at least one.
        starts: (S, n) different orders, at least one.
        rounds: most moves from a start.
        candidates: moves a round of which the trees are scored.
        climbers: number of the best starts from which the search climbs.
    """
    size = starts.shape[1]
    chart = new_chart(size)
    candidates = min(candidates, most_trees(size))
    capacity = len(starts) + min(climbers * rounds * candidates, most_trees(size))
    visited = Visited(np.empty((capacity, size), np.int32), np.empty(capacity))
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
            if first + candidates > capacity:
                break
            count = _try(weights, scores, line, moves, candidates, best - most, chart, visited, count)
            if count == first:
                break
            winner = first + np.argmax(visited.scores[first:count])
            # With gains by rounding errors the search could cycle.
            if visited.scores[winner] <= best + 1e-9:
                break
            best = visited.scores[winner]
            line.order[:] = visited.orders[winner]
    return Visited(visited.orders[:count], visited.scores[:count])


@compiled
def most_trees(size: int) -> int:
    """Return the most trees over ``size`` units that may be scored."""
    # `tree_score` is cubic in the length.
    return _STEPS * 3 // (8 * size**3) + 1


@compiled
def line_scores(tables: NgramTables, units: ClimbingUnits, order: Ints) -> Floats:
    """Return (M,) the log-probability of an order as a sentence in each model."""
    line = _line(len(tables.bits), len(order))
    line.order[:] = order
    _read(tables, units, line)
    return line.logp[:, -1].copy()


@compiled
def tree_bound(scores: TreeScores) -> float:
    """Return an upper bound of the scores of trees over the units in any order."""
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
def _line(models: int, size: int) -> _ScoredOrder:
    """Return buffers for a sentence."""
    return _ScoredOrder(
        np.empty(size, np.int32), np.empty((models, size + 1), np.int32), np.empty((models, size + 2))
    )


@compiled
def _read(tables: NgramTables, units: ClimbingUnits, line: _ScoredOrder) -> None:
    """Set states and log-probabilities of the models for the order of a sentence."""
    size = len(line.order)
    for model in range(len(tables.bits)):
        table, offsets = table_at(tables, model), units.offsets[model]
        total, state = 0.0, int(tables.start[model])
        line.logp[model, 0], line.state[model, 0] = total, state
        for position in range(size):
            unit = line.order[position]
            for i in range(offsets[unit], offsets[unit + 1]):
                logp, state = extend(table, state, units.words[i])
                total += logp
            line.logp[model, position + 1], line.state[model, position + 1] = total, state
        line.logp[model, size + 1] = total + extend(table, state, EOS)[0]


@compiled
def _total(weights: Floats, line: _ScoredOrder) -> float:
    """Return the weighted log-probability of a sentence."""
    total = 0.0
    for model in range(len(weights)):
        total += weights[model] * line.logp[model, -1]
    return total


@compiled
def _moves(size: int) -> _Moves:
    """Return all moves of a sentence: adjacent blocks, and pairs of units that are not adjacent."""
    window = min(size, max(3, int(math.sqrt(2 * _MOVES / max(1, size)))))
    count = 0
    for begin in range(size):
        width = min(size, begin + window) - begin
        # Blocks: two more cuts behind the first; units: each unit two or more positions behind.
        count += width * (width - 1) // 2 + max(0, width - 2)
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
    return _Moves(places, np.empty(count))


@compiled
def _weigh(
    tables: NgramTables, weights: Floats, units: ClimbingUnits, line: _ScoredOrder, moves: _Moves
) -> None:
    """Set the gain of each move in the n-gram models."""
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
    for position in range(begin, end):
        # If the state is that of the sentence, so are all that follow.
        if state == states[position]:
            return total + sums[end] - sums[position], int(states[end])
        unit = order[position]
        for i in range(offsets[unit], offsets[unit + 1]):
            logp, state = extend(table, state, words[i])
            total += logp
    return total, state


@compiled
def _try(
    weights: Floats,
    scores: TreeScores,
    line: _ScoredOrder,
    moves: _Moves,
    candidates: int,
    least: float,
    chart: Chart,
    visited: Visited,
    count: int,
) -> int:
    """Score the trees of the best moves; return the number of orders visited now.

    ``least`` is the least log-probability of an order that can be better than the present one.
    """
    total = _total(weights, line)
    tried = min(candidates, len(moves.gain))
    if tried == 0:
        return count
    worst = np.partition(moves.gain, len(moves.gain) - tried)[len(moves.gain) - tried]
    # Ties with the worst kept move go to the first moves.
    ties = tried - np.count_nonzero(moves.gain > worst)
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


@dataclass(frozen=True, slots=True)
class JointSettings:
    """Limits of the search."""

    starts: Annotated[
        int, Setting("Sentences of the beam whose trees are scored.", least=1, api={"le": 1000})
    ] = 64
    climbers: Annotated[
        int, Setting("Sentences of the beam that the search climbs from.", least=1, api={"le": 100})
    ] = 4
    rounds: Annotated[int, Setting("Moves that are made from each of them.", least=0, api={"le": 100})] = 30
    candidates: Annotated[
        int, Setting("Moves a round of which the trees are scored.", least=1, api={"le": 1000})
    ] = 40


def _order_units(problem: Problem, nbest: int = 1) -> list[Ordering]:
    """Return the best visited orders with their trees, by their score (`value`)."""
    if not problem.size:
        return [Ordering((), value(problem, (), None), Tree((), (), (), ()))]
    scores = tree_scores(problem)
    visited = _visit(problem, scores)
    orderings = []
    for i in _best_different(problem, visited, nbest):
        units = tuple(visited.orders[i].tolist())
        orderings.append(Ordering(units, float(visited.scores[i]), _best_tree(scores, units)))
    return orderings


def _best_different(problem: Problem, visited: Visited, count: int) -> list[int]:
    """Return the indexes of the best orders with different strings, at most ``count``."""
    different: dict[tuple[int, ...], int] = {}
    # Stable: ties go to the order visited first.
    for i in np.argsort(-visited.scores, kind="stable").tolist():
        different.setdefault(problem.string_of(tuple(visited.orders[i].tolist())), i)
        if len(different) == count:
            break
    return list(different.values())


def _visit(problem: Problem, scores: TreeScores) -> Visited:
    """Return all orders that the search visited; the bag is not empty."""
    settings = problem.settings.of(JointSettings)
    count = min(settings.starts, most_trees(problem.size))
    starts = np.array(whole_sentences(problem, count), np.int32)
    return climb(
        problem.tables,
        weights_of(problem),
        _units_of(problem),
        scores,
        starts,
        settings.rounds,
        settings.candidates,
        min(settings.climbers, len(starts)),
    )


def _units_of(problem: Problem) -> ClimbingUnits:
    columns = problem.columns
    begins = np.cumsum([0, *(len(words) for words, _ in columns)])
    return ClimbingUnits(
        np.concatenate([words for words, _ in columns]),
        np.array([begin + offsets for begin, (_, offsets) in zip(begins, columns, strict=False)], np.int32),
    )


def tree_scores(problem: Problem) -> TreeScores:
    """Return the weighted scores of the parts of trees over a bag."""
    return Factors.of_problem(problem).weighted(problem.settings.of(FactorSettings).weights)


def value(problem: Problem, units: tuple[int, ...], heads: tuple[int, ...] | None) -> float:
    """Return the score of an order with its best tree, whatever its given tree."""
    order = np.array(units, np.int32)
    total = float(weights_of(problem) @ line_scores(problem.tables, _units_of(problem), order))
    if units:
        total += tree_score(tree_scores(problem), order, new_chart(len(units)))
    return total


def _best_tree(scores: TreeScores, units: tuple[int, ...]) -> Tree:
    """Return the best tree over units in an order, as one over the units of the bag."""
    order, size = np.array(units, np.int32), len(units)
    chart = new_chart(size)
    tree_score(scores, order, chart)
    heads = best_heads(scores, order, chart)
    unit_heads, sides, earlier = ([0] * size for _ in range(3))
    weights = [0.0] * size
    for position in range(size):
        row, unit, side, distance = edge_at(heads, order, position)
        head = int(heads[position])
        between = heads[head + 1 : position] if side == RIGHT else heads[position + 1 : head]
        unit_heads[unit], sides[unit] = row - 1, side
        earlier[unit] = int(np.count_nonzero(between == head))
        weights[unit] = float(scores.edges[row, unit, side, distance])
    return Tree(tuple(unit_heads), tuple(sides), tuple(earlier), tuple(weights))


ALGORITHMS = (
    Algorithm(
        "joint",
        "n-grams and trees with arguments as one score, by local search from a beam",
        _order_units,
        value,
        settings=(BeamSettings, FeatureSettings, FactorSettings, WeightSettings, JointSettings),
        defaults={"order": 5, "beam": 128, "features": AUTO},
        trees=True,
        distances=True,
    ),
)


@dataclass(frozen=True, slots=True)
class _Candidates:
    """Different orders of one bag, the best ones first; M models and 5 factors."""

    orders: Ints  # (C, n)
    values: Floats  # (C, M + 5) log-probabilities in the models, then `FACTORS` of the best tree


def candidates(problem: Problem, count: int) -> _Candidates:
    """Return the best orders that the search visited; none if the bag has no units."""
    if not problem.size:
        return _Candidates(np.zeros((0, 0), np.int32), np.zeros((0, 0)))
    factors = Factors.of_problem(problem)
    scores = factors.weighted(problem.settings.of(FactorSettings).weights)
    visited = _visit(problem, scores)
    orders = visited.orders[_best_different(problem, visited, count)]
    return _Candidates(orders, _values(problem.tables, _units_of(problem), factors, scores, orders))


@compiled
def _values(
    tables: NgramTables, units: ClimbingUnits, factors: Factors, scores: TreeScores, orders: Ints
) -> Floats:
    """Return the value of each model and factor for each order."""
    chart = new_chart(orders.shape[1])
    models = len(tables.bits)
    parts = len(factors.edges) + len(factors.arguments) + len(factors.siblings)
    values = np.empty((len(orders), models + parts))
    for i in range(len(orders)):
        values[i, :models] = line_scores(tables, units, orders[i])
        tree_score(scores, orders[i], chart)
        values[i, models:] = factor_sums(factors, orders[i], best_heads(scores, orders[i], chart))
    return values
