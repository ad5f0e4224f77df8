"""Joint decoding: n-gram models and dependency trees with their arguments are one score.

    score(order) = log p(words) + w1 log p1 + w2 log p2 ...    the models of `--features`
                 + the best projective tree's w3 f3 + w4 f4 ... the factors of `--factors`

The search starts from the best sentences of `beam`, and climbs (see `sentgen.generation.joint.climbing`). The
tree of the best order comes with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from sentgen.arrays import Floats, Ints, compiled
from sentgen.generation.bags.problem import (
    RIGHT,
    Algorithm,
    Ordering,
    Problem,
    Setting,
    Tree,
    string_of,
)
from sentgen.generation.joint.climbing import ClimbingUnits, Visited, climb, line_scores, most_trees
from sentgen.generation.joint.factors import (
    Factors,
    FactorSettings,
    edge_at,
    factor_sums,
    factors_of,
    settings_weights,
    weighted,
)
from sentgen.generation.joint.weights import WeightSettings
from sentgen.generation.ngrams.beam import BeamSettings, models_of, weights_of, whole_sentences
from sentgen.generation.ngrams.features import AUTO, FeatureSettings
from sentgen.generation.trees.projective import TreeScores, best_heads, new_chart, tree_score
from sentgen.models.ngrams.ngram_table import NgramTables


@dataclass(frozen=True, slots=True)
class JointSettings:
    """How far the search goes."""

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
    """Return the best orders that the search came across with their trees, by their score (`value`)."""
    if not problem.size:
        return [Ordering((), value(problem, (), None), Tree((), (), (), ()))]
    scores = tree_scores(problem)
    visited = _visit(problem, scores)
    found = []
    for i in _best_different(problem, visited, nbest):
        units = tuple(visited.orders[i].tolist())
        found.append(Ordering(units, float(visited.scores[i]), _best_tree(scores, units)))
    return found


def _best_different(problem: Problem, visited: Visited, count: int) -> list[int]:
    """Return the places of the best orders that are different strings, at most so many."""
    different: dict[tuple[int, ...], int] = {}
    # Stable: of equals the one that was met first.
    for i in np.argsort(-visited.scores, kind="stable").tolist():
        different.setdefault(string_of(problem, tuple(visited.orders[i].tolist())), i)
        if len(different) == count:
            break
    return list(different.values())


def _visit(problem: Problem, scores: TreeScores) -> Visited:
    """Return all orders that the search came across; the bag has units."""
    settings = problem.settings.of(JointSettings)
    count = min(settings.starts, most_trees(problem.size))
    starts = np.array(whole_sentences(problem, count), np.int32)
    return climb(
        models_of(problem),
        weights_of(problem),
        _units_of(problem),
        scores,
        starts,
        settings.rounds,
        settings.candidates,
        min(settings.climbers, len(starts)),
    )


def _units_of(problem: Problem) -> ClimbingUnits:
    """Return the units in all models."""
    columns = problem.columns
    begins = np.cumsum([0, *(len(words) for words, _ in columns)])
    return ClimbingUnits(
        np.concatenate([words for words, _ in columns]),
        np.array([begin + offsets for begin, (_, offsets) in zip(begins, columns, strict=False)], np.int32),
    )


def tree_scores(problem: Problem) -> TreeScores:
    """Return what the parts of trees over a bag add to the score."""
    return weighted(factors_of(problem), settings_weights(problem))


def value(problem: Problem, units: tuple[int, ...], heads: tuple[int, ...] | None) -> float:
    """Return the score of an order with its best tree, whatever tree it came with."""
    order = np.array(units, np.int32)
    total = float(weights_of(problem) @ line_scores(models_of(problem), _units_of(problem), order))
    if units:
        total += tree_score(tree_scores(problem), order, new_chart(len(units)))
    return total


def _best_tree(scores: TreeScores, units: tuple[int, ...]) -> Tree:
    """Return the best tree over units in an order."""
    order = np.array(units, np.int32)
    chart = new_chart(len(units))
    tree_score(scores, order, chart)
    heads = best_heads(scores, order, chart)
    return _tree(scores, order, heads)


def _tree(scores: TreeScores, order: Ints, heads: Ints) -> Tree:
    """Return a tree over places as one over the units of the bag."""
    size = len(order)
    found, sides, earlier = ([0] * size for _ in range(3))
    weights = [0.0] * size
    for place in range(size):
        row, unit, side, distance = edge_at(heads, order, place)
        head = int(heads[place])
        between = heads[head + 1 : place] if side == RIGHT else heads[place + 1 : head]
        found[unit], sides[unit] = row - 1, side
        earlier[unit] = int(np.count_nonzero(between == head))
        weights[unit] = float(scores.edges[row, unit, side, distance])
    return Tree(tuple(found), tuple(sides), tuple(earlier), tuple(weights))


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
class Candidates:
    """Different orders of one bag, the best ones first; M models and 5 factors."""

    orders: Ints  # (C, n)
    values: Floats  # (C, M + 5) log-probabilities in the models, then `FACTORS` of the best tree


def candidates(problem: Problem, count: int) -> Candidates:
    """Return the best orders that the search came across; none where the bag has no units."""
    if not problem.size:
        return Candidates(np.zeros((0, 0), np.int32), np.zeros((0, 0)))
    factors = factors_of(problem)
    scores = weighted(factors, settings_weights(problem))
    visited = _visit(problem, scores)
    orders = visited.orders[_best_different(problem, visited, count)]
    return Candidates(orders, _values(models_of(problem), _units_of(problem), factors, scores, orders))


@compiled
def _values(
    tables: NgramTables, units: ClimbingUnits, factors: Factors, scores: TreeScores, orders: Ints
) -> Floats:
    """Return what each model and factor says of each order."""
    chart = new_chart(orders.shape[1])
    models = len(tables.bits)
    parts = len(factors.edges) + len(factors.arguments) + len(factors.siblings)
    found = np.empty((len(orders), models + parts))
    for i in range(len(orders)):
        found[i, :models] = line_scores(tables, units, orders[i])
        tree_score(scores, orders[i], chart)
        found[i, models:] = factor_sums(factors, orders[i], best_heads(scores, orders[i], chart))
    return found
