"""The parts of a score: what each model and each factor of trees says of a sentence, without its weight."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sentgen.generation.bags.problem import Ordering, Problem, string_logp, strings_of
from sentgen.generation.joint.factors import (
    FACTORS,
    FactorSettings,
    factor_sums,
    factors_of,
)
from sentgen.generation.ngrams.beam import models_of
from sentgen.generation.ngrams.features import FeatureSettings
from sentgen.generation.plan import SearchPlan
from sentgen.models.ngrams.ngram_table import table_at


def parts_of(plan: SearchPlan, problem: Problem, orderings: Sequence[Ordering]) -> list[dict[str, float]]:
    """Return the parts of the score of each ordering: models by their labels, then factors.

    Natural logarithms. What reranks is no part of an ordering; its scores come later.
    """
    tables, names = models_of(problem), _models(plan)
    factors = factors_of(problem) if FactorSettings in plan.algorithm.groups and problem.size else None
    found = []
    for one in orderings:
        strings = strings_of(problem, one.units)
        logps = [string_logp(table_at(tables, model), string) for model, string in enumerate(strings)]
        parts = dict(zip(names, logps, strict=True))
        if factors is not None and one.tree:
            heads = np.array(one.tree.reordered(one.units).heads, np.int32)
            sums = factor_sums(factors, np.array(one.units, np.int32), heads)
            parts |= zip(FACTORS, sums.tolist(), strict=True)
        found.append(parts)
    return found


def part_weights(plan: SearchPlan) -> dict[str, float]:
    """Return what the parts weigh, with what reranks; of an algorithm with a score of its own only that."""
    found: dict[str, float] = {}
    if FeatureSettings in plan.algorithm.groups:
        named = plan.settings.of(FeatureSettings).features.named
        found = dict(zip(_models(plan), [1.0, *(weight for _, weight in named)], strict=True))
    if FactorSettings in plan.algorithm.groups:
        weights = plan.settings.of(FactorSettings).weights
        found |= {name: weights.get(name, 0.0) for name in FACTORS}
    return found | {scorer.name: weight for scorer, weight in plan.rerankers}


def _models(plan: SearchPlan) -> list[str]:
    """Return the labels of the models that a search asks, that of the words first."""
    return [f"{one.name}@{one.version}" for one in (plan.model, *(each.model for each in plan.features))]
