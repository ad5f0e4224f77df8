"""What all tree algorithms share: the weights of edges with the constraints, scores, and further answers.

A tree algorithm is a search, from edge weights to a tree, and an arrangement, from a tree to an order.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Annotated, NamedTuple

import numpy as np

from sentgen.arrays import Floats, Ints
from sentgen.generation.bags.problem import LEFT, RIGHT, ROOT, Ordering, Problem, Setting, Tree, string_of
from sentgen.generation.ngrams.lmo import LmoSettings
from sentgen.generation.trees import linearize

#: Stands for probability zero, so that even the worst edge can be taken.
ZERO = 1e-12
#: Added to the weight of an edge that a constraint forbids: it is taken only where nothing else is left.
FORBIDDEN = -1e5
#: Weight of an edge that a search for further answers must do without; a tree with such an edge is none.
_EXCLUDED = -1e7
#: Of a tree, so many edges are given up in turn; for each answer wanted, so many trees are looked at.
_RIVALS, _TREES = 32, 4


@dataclass(frozen=True, slots=True)
class ConstraintSettings:
    """The hard constraints of Wan et al. 2007, section 3.1.2.

    ``verb_root``: only a verb may attach to the root, where the bag has one; ``noun_under_noun``: whether a
    noun may modify a noun, which the paper forbids.
    """

    verb_root: Annotated[bool, Setting("Only a verb may be the root, if there is one.", off="--any-root")] = (
        True
    )
    noun_under_noun: Annotated[bool, Setting("A noun may modify a noun.", off="--no-noun-under-noun")] = False


@dataclass(frozen=True, slots=True)
class RootSettings:
    """Whether the root takes one modifier only; for algorithms that could give it several."""

    one_root: Annotated[bool, Setting("Only one unit may be the root.", off="--many-roots")] = True


class Attachments(NamedTuple):
    """A tree as arrays, an entry a unit: what `Tree` holds."""

    heads: Ints  # (n,) unit, -1 for the root
    sides: Ints  # (n,)
    earlier: Ints  # (n,)
    weights: Floats  # (n,)

    @property
    def score(self) -> float:
        """Return the sum of the weights."""
        return float(self.weights.sum())


Search = Callable[[Problem, Floats], Attachments]
Arrange = Callable[[Problem, Attachments], Ints]


def edge_weights(problem: Problem) -> Floats:
    """Return (n + 1, n, 2) log prob(head, modifier, side), less what the hard constraints forbid.

    The root has its modifiers on the right. Only verbs may attach to it, and a noun may not modify a noun
    (Wan et al. 2007, section 3.1.2), as the settings say; in a bag without verbs anything may be the root.
    """
    model, settings = problem.require_trees(), problem.settings.of(ConstraintSettings)
    # A floor, not -inf: sums of weights must stay comparable where a tree needs an impossible edge.
    edges = np.maximum(model.prob, np.log(ZERO))
    edges[0, :, LEFT] = -np.inf
    if settings.verb_root and model.verb.any():
        edges[0, ~model.verb, RIGHT] += FORBIDDEN
    if not settings.noun_under_noun:
        nouns = np.flatnonzero(model.noun)
        edges[np.ix_(nouns + 1, nouns)] += FORBIDDEN
    return edges


def is_forced(weight: float) -> bool:
    """Return whether the weight of an edge says that a constraint forbids it."""
    return weight < FORBIDDEN / 2


def log_of(probabilities: Floats) -> Floats:
    """Return natural logarithms, that of `ZERO` for zero."""
    return np.asarray(np.log(np.maximum(probabilities, ZERO)))


def tree_value(
    problem: Problem, units: tuple[int, ...], heads: tuple[int, ...] | None, charges: Floats | None = None
) -> float | None:
    """Return the sum of the weights of the edges of a tree over units in some order; None without a tree.

    ``charges`` are (n + 1, 2, 8) the logarithms of what a head takes for one more modifier on a side where it
    has 0, 1, ... 7 and more of them.
    """
    if heads is None:
        return None
    place = {unit: position for position, unit in enumerate(units)}
    taken: dict[tuple[int, int], int] = {}
    edges = edge_weights(problem)
    total = 0.0
    for unit, head in enumerate(heads):
        side = RIGHT if head == ROOT or place[unit] > place[head] else LEFT
        total += edges[head + 1, unit, side]
        if charges is not None:
            earlier = taken.get((head, side), 0)
            total += charges[head + 1, side, min(earlier, charges.shape[2] - 1)]
            taken[head, side] = earlier + 1
    return float(total)


def by_ngrams(problem: Problem, attachments: Attachments) -> Ints:
    """Return the units in the order of the tree, siblings ordered by n-grams (LMO)."""
    whole_string = problem.settings.of(LmoSettings).whole_string
    return linearize.by_ngrams(
        problem.table,
        problem.words,
        problem.offsets,
        problem.order,
        attachments.heads,
        attachments.sides,
        whole_string,
    )


def best_orderings(problem: Problem, nbest: int, search: Search, arrange: Arrange) -> list[Ordering]:
    """Return the answer of a tree algorithm, and behind it those of other trees by their scores.

    The trees are enumerated as Lawler 1972 does for any problem whose solutions are sets: each answer splits
    the trees left into those without its first edge, those with its first but without its second one, and so
    on; the search runs on each part, and the best tree of all parts comes next. Edges are taken by how
    little worse the next best head of the same modifier is. Trees that give a string seen before are no new
    answers. With an exact search the trees come in the order of their scores, as far as `_RIVALS` and
    `_TREES` let them; the algorithm's own answer is always the first.
    """
    edges = edge_weights(problem)
    own = search(problem, edges)
    if nbest <= 1:
        return [_ordering(problem, own, arrange)]
    different: dict[tuple[int, ...], Ordering] = {}
    for number, found in enumerate(_trees(problem, edges, own, search)):
        ordering = _ordering(problem, found, arrange)
        different.setdefault(string_of(problem, ordering.units), ordering)
        # Several trees may give one string; the second bound keeps that from going on for long.
        if len(different) == nbest or number == _TREES * nbest:
            break
    first, *others = different.values()
    return [first, *sorted(others, key=lambda ordering: -ordering.score)]


def _ordering(problem: Problem, attachments: Attachments, arrange: Arrange) -> Ordering:
    units = arrange(problem, attachments)
    tree = Tree(*(tuple(column.tolist()) for column in attachments))
    return Ordering(tuple(units.tolist()), attachments.score, tree)


class _Part(NamedTuple):
    """Some of the trees: those with some edges and without some others, and the best one of them."""

    best: Attachments
    fixed: dict[int, tuple[int, int]]  # unit -> (row of the head, side)
    dropped: list[tuple[int, int, int]]  # (row of the head, unit, side)


def _trees(problem: Problem, edges: Floats, own: Attachments, search: Search) -> Iterator[Attachments]:
    """Yield different trees, the first one given, then always the best one known."""
    serial = count()
    waiting = [(-own.score, next(serial), _Part(own, {}, []))]
    while waiting:
        part = heapq.heappop(waiting)[-1]
        yield part.best
        fixed = dict(part.fixed)
        for unit in _by_margin(edges, part.best)[:_RIVALS]:
            if unit in fixed:
                continue
            row, side = int(part.best.heads[unit]) + 1, int(part.best.sides[unit])
            dropped = [*part.dropped, (row, unit, side)]
            other = search(problem, _restricted(edges, fixed, dropped))
            # A search must give a tree, and may have had to take an excluded edge: that part is empty.
            if other.weights.min() > _EXCLUDED / 2:
                heapq.heappush(waiting, (-other.score, next(serial), _Part(other, dict(fixed), dropped)))
            # The parts are disjoint: from here on this edge is kept, so that no tree is met twice.
            fixed[unit] = row, side


def _by_margin(edges: Floats, attachments: Attachments) -> list[int]:
    """Return the units by how much the weight of their edge is above that of their best other edge."""
    size = len(attachments.heads)
    rivals = edges.copy()
    units = np.arange(size)
    # A unit is no rival for itself.
    rivals[units + 1, units] = -np.inf
    mine = edges[attachments.heads + 1, units, attachments.sides]
    rivals[attachments.heads + 1, units, attachments.sides] = -np.inf
    # Small margins first: giving up such an edge costs least, so that good trees are met early.
    return list(map(int, np.argsort(mine - rivals.max(axis=(0, 2)), kind="stable")))


def _restricted(
    edges: Floats, fixed: dict[int, tuple[int, int]], dropped: list[tuple[int, int, int]]
) -> Floats:
    """Return the edges with all rivals of those to keep, and those to drop, excluded."""
    edges = edges.copy()
    for unit, (head, side) in fixed.items():
        weight = edges[head, unit, side]
        edges[:, unit] = _EXCLUDED
        edges[head, unit, side] = weight
    for edge in dropped:
        edges[edge] = _EXCLUDED
    edges[0, :, LEFT] = -np.inf
    return edges
