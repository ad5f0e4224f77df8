"""Why each attachment of a joint answer is there: what speaks for it, against the best tree without it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sentgen.arrays import Ints
from sentgen.generation.bags.problem import Problem
from sentgen.generation.joint.factors import (
    FACTORS,
    edge_at,
    factor_sums,
    factors_of,
    settings_weights,
    weighted,
)
from sentgen.generation.trees.projective import Chart, TreeScores, best_heads, new_chart, tree_score
from sentgen.generation.trees.trees import FORBIDDEN


@dataclass(frozen=True, slots=True)
class Decision:
    """One attachment of a sentence, beside the best tree over the same order that does without it.

    Attributes:
        rival: the place of the head there, `ROOT` for the root; None where there is no other tree.
        margin: by how much the score of that tree is lower.
        gains: how much of the margin each factor gives, weighted; they add up to it.
    """

    rival: int | None
    margin: float
    gains: Mapping[str, float]

    @property
    def decided_by(self) -> str | None:
        """Return the factor that speaks most for the attachment; none where nothing else is possible."""
        return max(self.gains, key=lambda name: self.gains[name]) if self.rival is not None else None


def decisions(problem: Problem, units: Sequence[int]) -> list[Decision]:
    """Return the reasons of the attachments of the best tree over units in an order, place by place.

    Time: that of a tree for each unit.
    """
    factors = factors_of(problem)
    weights = settings_weights(problem)
    scores = weighted(factors, weights)
    by_factor = np.array([weights.get(name, 0.0) for name in FACTORS])
    order = np.array(units, np.int32)
    chart = new_chart(len(order))
    tree_score(scores, order, chart)
    heads = best_heads(scores, order, chart)
    own = factor_sums(factors, order, heads) * by_factor
    found = []
    for place in range(len(order)):
        other = _heads_without(scores, order, heads, place, chart)
        if other is None:
            found.append(Decision(None, 0.0, {}))
            continue
        gains = own - factor_sums(factors, order, other) * by_factor
        named = dict(zip(FACTORS, gains.tolist(), strict=True))
        found.append(Decision(int(other[place]), float(gains.sum()), named))
    return found


def _heads_without(scores: TreeScores, order: Ints, heads: Ints, place: int, chart: Chart) -> Ints | None:
    """Return the best tree in which the unit of a place has another head; None if there is none."""
    row, unit, _, _ = edge_at(heads, order, place)
    edges = scores.edges.copy()
    edges[row, unit] += FORBIDDEN
    without = scores._replace(edges=edges)
    tree_score(without, order, chart)
    found = best_heads(without, order, chart)
    return None if found[place] == heads[place] else found
