"""Scores of trees: weighted factors of edges, of numbers of modifiers and of siblings.

    relations   log p_dep of a modifier on a side of its head, by distance (Collins 1996; Wan et al. 2007)
    arguments   log p_arg of exactly as many modifiers as a unit has on a side (Wan et al. 2009)
    siblings log P of the tag of a modifier after the previous one, and of the end (Eisner 1996, model C)
    lexical log-ratio by which a head raises the probability of the word of its modifier
    distances   log P of a distance between two tags

The last three are those of `sentgen.models.dependency.dependencies`. If no weights are given, a search has
the weights that were tuned for its model, else defaults.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, NamedTuple

import numpy as np

from sentgen.arrays import Floats, Ints, compiled
from sentgen.errors import InputError, NotFoundError
from sentgen.generation.bags.problem import (
    LEFT,
    RIGHT,
    ROOT,
    Algorithm,
    Problem,
    SearchSettings,
    Setting,
    Weights,
)
from sentgen.generation.ngrams.features import AUTO, FeatureSettings, companion_weights, companions
from sentgen.generation.trees.projective import (
    COUNTS,
    DISTANCES,
    Chart,
    TreeScores,
    best_heads,
    new_chart,
    tree_score,
)
from sentgen.generation.trees.trees import FORBIDDEN, ZERO, log_of
from sentgen.models.base.registry import ModelInfo, list_models
from sentgen.models.companions import TEXT, LearntWeights
from sentgen.models.scorer import scorer_named
from sentgen.schema import Store

#: In the order of their weights: of edges, of numbers of modifiers, of siblings.
_EDGES, _ARGUMENTS, _SIBLINGS = ("relations", "lexical", "distances"), ("arguments",), ("siblings",)
FACTORS = (*_EDGES, *_ARGUMENTS, *_SIBLINGS)

_DEFAULT = Weights.read("relations=.7,lexical=.25,distances=.3,arguments=.3,siblings=.25", "factor")
#: Default weights in the presence of a model of more text.
BESIDE_TEXT = {"relations": 1.1, "lexical": 0.15, "distances": 0.65, "arguments": 0.15, "siblings": 0.6}


@dataclass(frozen=True, slots=True)
class FactorSettings:
    """Weights of the factors of trees; the log-probability of the words has the weight 1."""

    factors: Annotated[
        Weights,
        Setting(
            f"Factors of trees, and what they weigh beside the words' 1. There are: {', '.join(FACTORS)}.",
            metavar="NAME[=WEIGHT],...",
            read=partial(Weights.read, kind="factor"),
            api={"max_length": 1000},
        ),
    ] = _DEFAULT

    def __post_init__(self) -> None:
        unknown = next((name for name in self.weights if name not in FACTORS), None)
        if unknown is not None:
            raise InputError(f"no factor {unknown!r}; there are: {', '.join(FACTORS)}")

    @property
    def weights(self) -> Mapping[str, float]:
        """Return the weights by name; missing factors have the weight 0."""
        return dict(self.factors.named)


class Factors(NamedTuple):
    """The factors of one bag, natural logarithms; factors of a kind are stacked in the order of `FACTORS`."""

    edges: Floats  # (3, n + 1, n, 2, 3) see `TreeScores`
    arguments: Floats  # (1, n + 1, 2, 8)
    siblings: Floats  # (1, K + 1, K + 1, K + 1, 2)
    kinds: Ints  # (n,)

    def weighted(self, weights: Mapping[str, float]) -> TreeScores:
        """Return the weighted scores of the parts of trees."""

        def total(stacked: Floats, names: tuple[str, ...]) -> Floats:
            return np.ascontiguousarray(np.tensordot([weights.get(name, 0.0) for name in names], stacked, 1))

        return TreeScores(
            total(self.edges, _EDGES),
            total(self.arguments, _ARGUMENTS),
            total(self.siblings, _SIBLINGS),
            self.kinds,
        )

    @classmethod
    def of_problem(cls, problem: Problem) -> Factors:
        """Return the factors of the trees over a bag."""
        model = problem.require_trees()
        if model.distance is None or model.automata is None:
            raise ValueError("this algorithm needs distances")
        lexical = np.broadcast_to(model.automata.words[..., None], model.distance.shape)
        # A unit is never its own modifier; a floor, not -inf: times the weight 0 it must be 0.
        relations = np.maximum(model.distance, np.log(ZERO))
        return cls(
            edges=np.stack([relations, lexical, model.automata.distances]),
            arguments=log_of(model.arguments)[None],
            siblings=model.automata.siblings[None],
            kinds=model.automata.tags,
        )


@compiled
def edge_at(heads: Ints, order: Ints, position: int) -> tuple[int, int, int, int]:
    """Return the index of the edge of a position in `TreeScores`: row of the head, unit, side, distance."""
    head = heads[position]
    # The root has the position -1, left of all units.
    side = RIGHT if position > head else LEFT
    row = 0 if head == ROOT else order[head] + 1
    return row, order[position], side, min(abs(position - head), DISTANCES) - 1


@compiled
def factor_sums(factors: Factors, order: Ints, heads: Ints) -> Floats:
    """Return the value of each of the `FACTORS`, (5,), for a tree over units in an order.

    Args:
        order: (n,) units.
        heads: (n,) positions of heads.
    """
    edges, arguments, siblings = len(factors.edges), len(factors.arguments), len(factors.siblings)
    sums = np.zeros(edges + arguments + siblings)
    size = len(order)
    for position in range(size):
        row, unit, side, distance = edge_at(heads, order, position)
        for f in range(edges):
            sums[f] += factors.edges[f, row, unit, side, distance]
    for head in range(-1, size):
        row, kind = (0, -1) if head < 0 else (order[head] + 1, factors.kinds[order[head]])
        for side in range(2):
            # The root has a right side only, without a factor for its number of modifiers.
            if head < 0 and side == LEFT:
                continue
            number, before = 0, -1
            step = 1 if side == RIGHT else -1
            position = head + step
            while 0 <= position < size:
                if heads[position] == head:
                    number += 1
                    mine = factors.kinds[order[position]]
                    for f in range(siblings):
                        sums[edges + arguments + f] += factors.siblings[f, kind, before, mine, side]
                    before = mine
                position += step
            for f in range(siblings):
                sums[edges + arguments + f] += factors.siblings[f, kind, before, -1, side]
            if head >= 0:
                for f in range(arguments):
                    sums[edges + f] += factors.arguments[f, row, side, min(number, COUNTS - 1)]
    return sums


@dataclass(frozen=True, slots=True)
class Decision:
    """One attachment of a sentence, compared with the best tree over the same order without it.

    Attributes:
        rival: the position of the head in that tree, `ROOT` for the root; None if there is no other tree.
        margin: difference of the scores of both trees.
        gains: weighted difference of each factor; they add up to the margin.
    """

    rival: int | None
    margin: float
    gains: Mapping[str, float]

    @property
    def decided_by(self) -> str | None:
        """Return the factor with the largest gain; none if there is no other tree."""
        return max(self.gains, key=lambda name: self.gains[name]) if self.rival is not None else None


def decisions(problem: Problem, units: Sequence[int]) -> list[Decision]:
    """Return a decision for each position of the best tree over units in an order.

    Time: that of a tree for each unit.
    """
    factors = Factors.of_problem(problem)
    weights = problem.settings.of(FactorSettings).weights
    scores = factors.weighted(weights)
    by_factor = np.array([weights.get(name, 0.0) for name in FACTORS])
    order = np.array(units, np.int32)
    chart = new_chart(len(order))
    tree_score(scores, order, chart)
    heads = best_heads(scores, order, chart)
    own = factor_sums(factors, order, heads) * by_factor
    reasons = []
    for position in range(len(order)):
        other = _heads_without(scores, order, heads, position, chart)
        if other is None:
            reasons.append(Decision(None, 0.0, {}))
            continue
        gains = own - factor_sums(factors, order, other) * by_factor
        named = dict(zip(FACTORS, gains.tolist(), strict=True))
        reasons.append(Decision(int(other[position]), float(gains.sum()), named))
    return reasons


def _heads_without(scores: TreeScores, order: Ints, heads: Ints, position: int, chart: Chart) -> Ints | None:
    """Return the best tree in which the unit at a position has another head; None if there is none."""
    row, unit, _, _ = edge_at(heads, order, position)
    edges = scores.edges.copy()
    edges[row, unit] += FORBIDDEN
    without = scores._replace(edges=edges)
    tree_score(without, order, chart)
    others = best_heads(without, order, chart)
    return None if others[position] == heads[position] else others


#: Names of the default weights, and of the last tuned weights.
DEFAULT, _LEARNT = "default", "learnt"


@dataclass(frozen=True, slots=True)
class WeightSettings:
    """The weights to use if `--features` and `--factors` give none."""

    weights: Annotated[
        str,
        Setting(
            f"Weights: {_LEARNT} for those that `sentgen tune` learnt last, if it did, their version, or"
            f" {DEFAULT}.",
            metavar=f"{_LEARNT}|{DEFAULT}|N",
            api={"max_length": 20},
        ),
    ] = _LEARNT

    def __post_init__(self) -> None:
        if self.weights not in (_LEARNT, DEFAULT) and not self.weights.isdecimal():
            raise InputError(f"weights {self.weights!r} are not {_LEARNT}, {DEFAULT} or a version")

    @property
    def version(self) -> int | None:
        """Return the number of the version, if one is named."""
        return int(self.weights) if self.weights.isdecimal() else None


def found_weights(
    store: Store, model: ModelInfo, algorithm: Algorithm, settings: SearchSettings, given: Collection[str]
) -> SearchSettings:
    """Return settings with the weights that were tuned for a model, else default weights.

    Args:
        given: names of the settings that were given, which are not changed.

    Raises:
        NotFoundError: there are no weights of a version, or a model of the tuning no longer exists.
    """
    features = settings.of(FeatureSettings)
    tuned, learnt = settings.of(WeightSettings), None
    if WeightSettings in algorithm.groups and tuned.weights != DEFAULT:
        learnt = LearntWeights.find(store, model.id, algorithm.name, tuned.version)
    factors: Mapping[str, float] | None
    if learnt is not None:
        mine, factors = learnt.features, learnt.factors
        if features.automatic:
            _require(store, model, mine)
    elif features.automatic:
        models = companions(store, model)
        mine, factors = companion_weights(models), BESIDE_TEXT if TEXT in models else None
    else:
        return settings
    if features.automatic:
        named = {name: weight for name, weight in features.features.named if name != AUTO}
        # Further names keep their given weights, and follow the tuned ones.
        weights = {name: weight for name, weight in mine.items() if name not in named} | named
        settings = settings.having(FeatureSettings(Weights.rounded(weights.items())))
    if factors is not None and FactorSettings in algorithm.groups and "factors" not in given:
        settings = settings.having(FactorSettings(Weights.rounded(factors.items())))
    return settings


def _require(store: Store, model: ModelInfo, learnt: Collection[str]) -> None:
    """Refuse weights whose tuning used a missing model or scorer: the other weights depend on it."""
    there = {listed.label for listed in list_models(store)}
    gone = next((name for name in learnt if name not in there and scorer_named(name) is None), None)
    if gone is not None:
        raise NotFoundError(
            f"weights of {model.label} were learnt with {gone}, which was removed;"
            " tune again, or take weights default"
        )
