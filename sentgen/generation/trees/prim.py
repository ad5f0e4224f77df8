"""Prim's algorithm: grow a dependency tree from the root, edge by edge (Wan et al. 2007, figure 2).

For every unit outside the tree the best edge into it waits; the best waiting edge is attached; then each unit
outside keeps the better of its waiting edge and that from the new node. Attached edges are final.

Three systems: `prim` ("Tree") puts the stronger relation nearer to the head, `prim-ngram` ("Tree+N-Grams")
orders siblings by n-grams, and `prim-arg` ("Tree+Arg") does, too, and models the number of modifiers:

* A waiting edge has the weight prob(H, M, D) * p_arg(H, n + 1, D), where the head H has n modifiers on side D
so far; so it loses when its head is full (section 4.3.1, against greediness). * An edge that would take M
from the head P that it waits for is scaled by the chance that P is satisfied
  without M (section 4.3.2, against theft), as the setting `theft` says; see `_satisfied`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Literal, get_args

import numpy as np

from sentgen.arrays import Bools, Floats, Ints, compiled
from sentgen.generation.bags.problem import (
    LEFT,
    RIGHT,
    ROOT,
    Algorithm,
    Ordering,
    Problem,
    SearchStep,
    Setting,
    StepEvent,
    TreeModel,
)
from sentgen.generation.ngrams.lmo import LmoSettings
from sentgen.generation.trees.trees import (
    FORBIDDEN,
    ZERO,
    Attachments,
    ConstraintSettings,
    RootSettings,
    best_orderings,
    by_weight,
    edge_weights,
    is_forced,
    log_of,
    siblings_by_ngrams,
    tree_value,
)

Theft = Literal["off", "sum", "printed"]
THEFTS: tuple[Theft, ...] = get_args(Theft)
_OFF, _PRINTED = THEFTS.index("off"), THEFTS.index("printed")


@dataclass(frozen=True, slots=True)
class TheftSettings:
    """How an edge is scaled that takes a word from another head: not at all, or by `_satisfied`."""

    theft: Annotated[Theft, Setting("How an edge is scaled that takes a word from another head.")] = "sum"


def _order_by_relations(problem: Problem, nbest: int = 1) -> list[Ordering]:
    """Order a bag by its tree, the strongest relation nearest to the head: "Tree".

    For ties see `grow`, for further answers `sentgen.generation.trees.trees.best_orderings`. Time: O(n^2).
    """
    return best_orderings(problem, nbest, search, lambda _, attachments: by_weight(*attachments))


def _order_siblings_by_ngrams(problem: Problem, nbest: int = 1) -> list[Ordering]:
    """Order a bag by the same tree, siblings by n-grams: "Tree+N-Grams"."""
    return best_orderings(problem, nbest, search, siblings_by_ngrams)


def order_with_arguments(problem: Problem, nbest: int = 1) -> list[Ordering]:
    """Order a bag by a tree that models the number of modifiers, siblings by n-grams: "Tree+Arg"."""
    return best_orderings(problem, nbest, search_with_arguments, siblings_by_ngrams)


def value_with_arguments(
    problem: Problem, units: tuple[int, ...], heads: tuple[int, ...] | None
) -> float | None:
    """Return the sum of log prob(H, M, D) * p_arg(H, n + 1, D) over the edges of a tree.

    The sum does not depend on the order in which edges are attached; the factor against theft does, and only
    guides the search.
    """
    return tree_value(problem, units, heads, argument_charges(problem.require_trees()))


def search(problem: Problem, edges: Floats) -> Attachments:
    """Return the tree of `grow` by probabilities alone."""
    return Attachments(*grow(edges, *_by_edges(problem)))


def search_with_arguments(problem: Problem, edges: Floats) -> Attachments:
    """Return the tree of `grow` with the two corrections."""
    return Attachments(*grow(edges, *_by_arguments(problem)))


def steps(problem: Problem) -> list[SearchStep]:
    """Return the steps by which `search` finds the tree of a problem."""
    return _grow_in_steps(edge_weights(problem), *_by_edges(problem))


def steps_with_arguments(problem: Problem) -> list[SearchStep]:
    """Return the steps by which `search_with_arguments` finds the tree of a problem."""
    return _grow_in_steps(edge_weights(problem), *_by_arguments(problem))


#: The arguments of `grow` behind the edges.
_Growing = tuple[Floats, Floats, int, bool]


def _by_edges(problem: Problem) -> _Growing:
    arguments = problem.require_trees().arguments
    return np.zeros_like(arguments), arguments, _OFF, problem.settings.of(RootSettings).one_root


def _by_arguments(problem: Problem) -> _Growing:
    model, theft = problem.require_trees(), THEFTS.index(problem.settings.of(TheftSettings).theft)
    return argument_charges(model), model.arguments, theft, problem.settings.of(RootSettings).one_root


def argument_charges(model: TreeModel) -> Floats:
    """Return (n + 1, 2, 8) log p_arg(head, j + 1, side), j = 0 ... 7; seven stands for seven and more."""
    return log_of(np.concatenate((model.arguments[..., 1:], model.arguments[..., -1:]), axis=-1))


@compiled
def grow(
    edges: Floats, charges: Floats, arguments: Floats, theft: int, one_root: bool
) -> tuple[Ints, Ints, Ints, Floats]:
    """Return heads, sides, earlier and weights of the tree.

    Args:
        edges: (n + 1, n, 2) log-probabilities, with the constraints; row 0 is the root.
        charges: (n + 1, 2, 8) terms added to an edge, by the number of modifiers of its head on that side.
        arguments: (n + 1, 2, 8) p_arg, for the factor against theft.
        theft: index of the setting in `THEFTS`.
        one_root: whether the root has one modifier only.

    Ties go to the first unit, to the waiting edge, and to the left side. As printed, a new edge is compared
    without its charge. Time: O(n^2).
    """
    size, most = edges.shape[1], charges.shape[2] - 1
    heads, sides = np.full(size, ROOT, np.int32), np.full(size, RIGHT, np.int32)
    earlier, weights = np.zeros(size, np.int32), np.zeros(size)
    # At first all units wait for the root, whose modifiers are to its right only.
    edge = edges[0, :, RIGHT].copy()  # log-probability of the waiting edge
    outside = np.ones(size, np.bool_)
    taken = np.zeros((size + 1, 2), np.int32)
    for _ in range(size):
        best, best_worth = -1, -np.inf
        for unit in range(size):
            if outside[unit]:
                head, side = heads[unit] + 1, sides[unit]
                worth = edge[unit] + charges[head, side, min(taken[head, side], most)]
                if best < 0 or worth > best_worth:
                    best, best_worth = unit, worth
        head, side = heads[best] + 1, sides[best]
        outside[best], earlier[best], weights[best] = False, taken[head, side], best_worth
        taken[head, side] += 1
        waiting = _waiting(heads, sides, edge, outside)
        for unit in range(size):
            if not outside[unit]:
                continue
            new = edges[best + 1, unit]
            new_side = RIGHT if new[RIGHT] > new[LEFT] else LEFT
            head, side = heads[unit] + 1, sides[unit]
            worth, offer = edge[unit] + charges[head, side, min(taken[head, side], most)], new[new_side]
            if theft != _OFF and edge[unit] > FORBIDDEN / 2:
                others = waiting[head, side] - 1
                offer += np.log(
                    max(ZERO, _satisfied(arguments[head, side], taken[head, side], others, theft))
                )
            # With one root, units that wait for it move to the first node whatever the weight.
            if offer > worth or (one_root and head == 0):
                heads[unit], sides[unit], edge[unit] = best, new_side, new[new_side]
    return heads, sides, earlier, weights


def _grow_in_steps(
    edges: Floats, charges: Floats, arguments: Floats, theft: int, one_root: bool
) -> list[SearchStep]:
    """Return the steps of `grow`, in plain Python; see there.

    A step attaches the best waiting edge; its further events are the units that wait for the new node
    instead, and those that do not because of the factor against theft.
    """
    size, most = edges.shape[1], charges.shape[2] - 1
    heads, sides = np.full(size, ROOT, np.int32), np.full(size, RIGHT, np.int32)
    edge, outside = edges[0, :, RIGHT].copy(), np.ones(size, np.bool_)
    taken = np.zeros((size + 1, 2), np.int32)
    all_steps: list[SearchStep] = []

    def worth(unit: int) -> float:
        head, side = heads[unit] + 1, sides[unit]
        return float(edge[unit] + charges[head, side, min(taken[head, side], most)])

    for step in range(1, size + 1):
        best = max((unit for unit in range(size) if outside[unit]), key=worth)
        head, side, weight = int(heads[best]), int(sides[best]), worth(best)
        event: StepEvent = "forced" if is_forced(weight) else "attached"
        earlier = int(taken[head + 1, side])
        all_steps.append(SearchStep(step, event, best, head, side, earlier, float(edge[best]), weight))
        outside[best] = False
        taken[head + 1, side] += 1
        waiting = _waiting(heads, sides, edge, outside)
        for unit in map(int, np.flatnonzero(outside)):
            new = edges[best + 1, unit]
            new_side = RIGHT if new[RIGHT] > new[LEFT] else LEFT
            head, side, rival_weight = int(heads[unit]), int(sides[unit]), worth(unit)
            logp = offer = float(new[new_side])
            if theft != _OFF and edge[unit] > FORBIDDEN / 2:
                chance = _satisfied(
                    arguments[head + 1, side], taken[head + 1, side], waiting[head + 1, side] - 1, theft
                )
                offer += math.log(max(ZERO, chance))
            moves = offer > rival_weight or (one_root and head == ROOT)
            if moves or logp > rival_weight:
                event = "moved" if moves else "kept"
                edge_to = (best, new_side, int(taken[best + 1, new_side]))
                all_steps.append(SearchStep(step, event, unit, *edge_to, logp, offer, head, rival_weight))
            if moves:
                heads[unit], sides[unit], edge[unit] = best, new_side, logp
    return all_steps


@compiled
def _waiting(heads: Ints, sides: Ints, edge: Floats, outside: Bools) -> Ints:
    """Return (n + 1, 2) the number of allowed waiting edges, by head and side.

    They are counted once a round, so that the order of the units does not matter.
    """
    counts = np.zeros((len(heads) + 1, 2), np.int32)
    for unit in range(len(heads)):
        if outside[unit] and edge[unit] > FORBIDDEN / 2:
            counts[heads[unit] + 1, sides[unit]] += 1
    return counts


@compiled
def _satisfied(arguments: Floats, taken: int, others: int, theft: int) -> float:
    """Return the probability that a head is satisfied on one side without the modifier that is taken from it.

    Args:
        arguments: (8,) p_arg of 0 ... 7 modifiers.
        taken: number of modifiers of the head.
        others: number of other edges that wait for the head: m.
        theft: `printed` for (p_arg(0) + ... + p_arg(m)) / m, for m = 0 over 1, as in the paper; `sum` for the
            chance that it wants no more than it has and may still get, p_arg(0) + ... + p_arg(taken + m).
    """
    if theft == _PRINTED:
        return float(arguments[: others + 1].sum() / max(others, 1))
    return float(arguments[: taken + others + 1].sum())


#: The hard constraints are those of the paper; in it the root may take several modifiers.
_DEFAULTS = {"one_root": False}

ALGORITHMS = (
    Algorithm(
        "prim",
        "Prim's tree, the strongest relation nearest to its head (2007)",
        _order_by_relations,
        tree_value,
        steps=steps,
        settings=(ConstraintSettings, RootSettings),
        defaults=_DEFAULTS,
        published={"2007": {}},
        trees=True,
    ),
    Algorithm(
        "prim-ngram",
        "Prim's tree, siblings ordered by n-grams (2007)",
        _order_siblings_by_ngrams,
        tree_value,
        steps=steps,
        settings=(LmoSettings, ConstraintSettings, RootSettings),
        defaults=_DEFAULTS,
        published={"2007": {}},
        trees=True,
    ),
    Algorithm(
        "prim-arg",
        "Prim's tree with argument counts, siblings ordered by n-grams (2007)",
        order_with_arguments,
        value_with_arguments,
        steps=steps_with_arguments,
        settings=(LmoSettings, ConstraintSettings, RootSettings, TheftSettings),
        defaults=_DEFAULTS,
        published={"2007": {"theft": "printed"}},
        trees=True,
    ),
)
