"""Joint decoding: n-gram models and dependency trees with their arguments are one score.

    score(order) = log p(words) + w1 log p1 + w2 log p2 ...               the models of `--features`
                 + max over projective trees of
                       r * sum log p_dep(head, modifier, side, distance)  Collins 1996; Wan et al. 2007
                     + a * sum log p_arg(unit, side, number of modifiers) Wan et al. 2009

p_arg is that of exactly as many modifiers as a unit has. The search starts from the best sentences of `beam`,
and climbs (see `sentgen.generation.joint.climbing`). The tree of the best order comes with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from sentgen.arrays import Ints
from sentgen.generation.joint.climbing import Units, Visited, climb, line_scores
from sentgen.generation.ngrams.beam import BeamSettings, models_of, weights_of, whole_sentences
from sentgen.generation.ngrams.features import FeatureSettings
from sentgen.generation.problem import (
    LEFT,
    RIGHT,
    ROOT,
    Algorithm,
    Ordering,
    Problem,
    Setting,
    Tree,
    string_of,
)
from sentgen.generation.trees.projective import TreeScores, best_heads, new_chart, tree_score
from sentgen.generation.trees.trees import log_of


@dataclass(frozen=True, slots=True)
class JointSettings:
    """What trees weigh beside the words' 1, and how far the search goes."""

    relation_weight: Annotated[float, Setting("What attachments weigh beside the words' 1.", least=0)] = 0.7
    argument_weight: Annotated[
        float, Setting("What numbers of modifiers weigh beside the words' 1.", least=0)
    ] = 0.5
    sibling_weight: Annotated[float, Setting("sib", least=0)] = 0.0
    word_weight: Annotated[float, Setting("w", least=0)] = 0.0
    distance_weight: Annotated[float, Setting("d", least=0)] = 0.0
    starts: Annotated[
        int, Setting("Sentences of the beam whose trees are scored.", least=1, api={"le": 1000})
    ] = 64
    climbers: Annotated[
        int, Setting("Sentences of the beam that the search climbs from.", least=1, api={"le": 100})
    ] = 2
    rounds: Annotated[int, Setting("Moves that are made from each of them.", least=0, api={"le": 100})] = 8
    candidates: Annotated[
        int, Setting("Moves a round of which the trees are scored.", least=1, api={"le": 1000})
    ] = 60


def order_units(problem: Problem, nbest: int = 1) -> list[Ordering]:
    """Return the best orders that the search came across, with their trees, ranked by their score (`value`)."""
    if not problem.size:
        return [Ordering((), value(problem, (), None), Tree((), (), (), ()))]
    scores = tree_scores(problem)
    visited = visit(problem, scores)
    different: dict[tuple[int, ...], Ordering] = {}
    # Stable: of equals the one that was met first.
    for i in np.argsort(-visited.scores, kind="stable"):
        units = tuple(visited.orders[i].tolist())
        string = string_of(problem, units)
        if string not in different:
            different[string] = Ordering(units, float(visited.scores[i]), best_tree(scores, units))
        if len(different) == nbest:
            break
    return list(different.values())


def visit(problem: Problem, scores: TreeScores) -> Visited:
    """Return all orders that the search came across; the bag has units."""
    settings = problem.settings.of(JointSettings)
    starts = np.array(whole_sentences(problem, settings.starts), np.int32)
    return climb(
        models_of(problem),
        weights_of(problem),
        units_of(problem),
        scores,
        starts,
        settings.rounds,
        settings.candidates,
        min(settings.climbers, len(starts)),
    )


def units_of(problem: Problem) -> Units:
    """Return the units in all models."""
    columns = [(problem.words, problem.offsets)]
    if problem.features is not None:
        columns += zip(problem.features.words, problem.features.offsets, strict=True)
    begins = np.cumsum([0, *(len(words) for words, _ in columns)])
    return Units(
        np.concatenate([words for words, _ in columns]),
        np.array([begin + offsets for begin, (_, offsets) in zip(begins, columns, strict=False)], np.int32),
    )


def tree_scores(problem: Problem) -> TreeScores:
    """Return what the parts of trees over a bag add to the score."""
    model, settings = problem.require_trees(), problem.settings.of(JointSettings)
    assert model.distance is not None and model.automata is not None
    auto = model.automata
    edges = settings.relation_weight * np.maximum(model.distance, np.log(1e-12))
    edges += settings.word_weight * auto.words[..., None] + settings.distance_weight * auto.distances
    return TreeScores(
        edges=edges,
        arguments=settings.argument_weight * log_of(model.arguments),
        siblings=settings.sibling_weight * auto.siblings,
        kinds=auto.tags,
    )


def value(problem: Problem, units: tuple[int, ...], heads: tuple[int, ...] | None) -> float:
    """Return the score of an order with its best tree, whatever tree it came with."""
    total = 0.0
    order = np.array(units, np.int32)
    total = float(weights_of(problem) @ line_scores(models_of(problem), units_of(problem), order))
    if units:
        total += tree_score(tree_scores(problem), order, new_chart(len(units)))
    return total


def best_tree(scores: TreeScores, units: tuple[int, ...]) -> Tree:
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
        head, unit = int(heads[place]), int(order[place])
        side = RIGHT if place > head else LEFT
        between = range(head + 1, place) if side == RIGHT else range(place + 1, head)
        found[unit] = ROOT if head == ROOT else int(order[head])
        sides[unit] = side
        earlier[unit] = 0 if head == ROOT else sum(int(heads[other]) == head for other in between)
        row = 0 if head == ROOT else int(order[head]) + 1
        weights[unit] = float(scores.edges[row, unit, side, min(abs(place - head), 3) - 1])
    return Tree(tuple(found), tuple(sides), tuple(earlier), tuple(weights))


ALGORITHMS = (
    Algorithm(
        "joint",
        "n-grams and trees with arguments as one score, by local search from a beam",
        order_units,
        value,
        settings=(BeamSettings, FeatureSettings, JointSettings),
        defaults={"order": 5, "beam": 128},
        trees=True,
        distances=True,
        max_units=200,
    ),
)
