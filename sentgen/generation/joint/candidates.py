"""The orders that a joint search came across, each with what every model and factor says of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sentgen.arrays import Floats, Ints, compiled
from sentgen.generation.bags.problem import Problem
from sentgen.generation.joint.climbing import ClimbingUnits, line_scores
from sentgen.generation.joint.factors import Factors, factor_sums, factors_of, settings_weights, weighted
from sentgen.generation.joint.joint import best_different, units_of, visit
from sentgen.generation.ngrams.beam import models_of
from sentgen.generation.trees.projective import TreeScores, best_heads, new_chart, tree_score
from sentgen.models.ngrams.ngram_table import NgramTables


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
    visited = visit(problem, scores)
    orders = visited.orders[best_different(problem, visited, count)]
    return Candidates(orders, _values(models_of(problem), units_of(problem), factors, scores, orders))


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
