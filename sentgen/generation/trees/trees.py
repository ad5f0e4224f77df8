"""Common parts of the tree algorithms: weights of edges with constraints, scores, n-best lists.

A tree algorithm is a search, from edge weights to a tree, and an arrangement, from a tree to an order: each
head between its left and its right modifiers. There are two ways to order the siblings on one side of a head:

* `by_ngrams`, LMO (Wan et al. 2009, algorithm 2): repeatedly append the sibling whose string joins best (see
`window_logp`). The left modifiers begin after a start token, the right ones after the
  head's own string; the modifiers of the root are right of a start token.
* `by_weight` (Wan et al. 2007, section 5, "relation-based"): the stronger the relation, the nearer to the
  head.

Both work from the leaves up. A string is a linked list of units, so that two strings are joined by one link.
Nothing is recursive, so that trees may be chains of a thousand heads.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Annotated, NamedTuple

import numpy as np

from sentgen.arrays import Floats, Ints, compiled
from sentgen.generation.bags.problem import LEFT, RIGHT, ROOT, Ordering, Problem, Setting, Tree
from sentgen.generation.ngrams.lmo import LmoSettings, window_logp
from sentgen.models.ngrams.ngram_table import NgramTable
from sentgen.schema.tables.corpus import BOS


class _Strings(NamedTuple):
    """The string of each unit's subtree, once it is built, as linked lists; -1 for none."""

    first: Ints  # (n,) first unit of the string
    last: Ints  # (n,) last unit of the string
    before: Ints  # (n,) the unit to the left of a unit
    after: Ints  # (n,) the unit to its right


class _Joining(NamedTuple):
    """Data for joining strings: the language model, the units, and a window of n - 1 words of either side."""

    table: NgramTable
    words: Ints
    offsets: Ints
    order: int
    window: Ints  # (2 * (order - 1),) overwritten for each join
    whole_string: bool


@compiled
def by_ngrams(
    table: NgramTable,
    words: Ints,
    offsets: Ints,
    order: int,
    heads: Ints,
    sides: Ints,
    whole_string: bool,
) -> Ints:
    """Return the units from left to right, siblings in the order of LMO.

    Args:
        table, words, offsets: the language model and the units (see `Problem`).
        order: n.
        heads, sides: (n,) the tree (see `Tree`).
        whole_string: whether to join with the end of the whole string so far; else with the last chosen
            phrase.

    Ties go to the first unit. Time: quadratic in the number of siblings on a side.
    """
    members, begins = _siblings(heads, sides)
    strings = _single(len(heads))
    window = np.empty(2 * max(1, order - 1), np.int32)
    joining = _Joining(table, words, offsets, order, window, whole_string)
    start = -1
    # Leaves first: the strings of all modifiers are complete before that of their head.
    for node in _heads_first(members, begins)[::-1]:
        begin, middle, end = begins[2 * node], begins[2 * node + 1], begins[2 * node + 2]
        left = _chain(joining, strings, members, begin, middle, -1)
        right = _chain(joining, strings, members, middle, end, node - 1)
        start = _around(strings, node - 1, left, right)
    return _walk(strings, start)


@compiled
def by_weight(heads: Ints, sides: Ints, earlier: Ints, weights: Floats) -> Ints:
    """Return the units from left to right, the strongest relation nearest to the head.

    Ties go to the sibling that was attached first, which is nearest. Args as in `Tree`. Time: as `by_ngrams`.
    """
    members, begins = _siblings(heads, sides)
    strings = _single(len(heads))
    start = -1
    for node in _heads_first(members, begins)[::-1]:
        begin, middle, end = begins[2 * node], begins[2 * node + 1], begins[2 * node + 2]
        _sort(members, begin, middle, earlier, weights)
        _sort(members, middle, end, earlier, weights)
        left, right = (-1, -1), (node - 1, node - 1)
        for index in range(begin, end):
            if index < middle:
                left = _linked(strings, (strings.first[members[index]], strings.last[members[index]]), left)
            else:
                right = _linked(strings, right, (strings.first[members[index]], strings.last[members[index]]))
        start = _around(strings, node - 1, left, right)
    return _walk(strings, start)


@compiled
def _siblings(heads: Ints, sides: Ints) -> tuple[Ints, Ints]:
    """Return units grouped by node and side, and the starts of the groups 2 * (head + 1) + side."""
    size = len(heads)
    # One more than the groups, since filling moves each start to the end of its group.
    begins = np.zeros(2 * size + 4, np.int32)
    for unit in range(size):
        begins[2 * (heads[unit] + 1) + sides[unit] + 2] += 1
    for group in range(2, len(begins)):
        begins[group] += begins[group - 1]
    members = np.empty(size, np.int32)
    for unit in range(size):
        group = 2 * (heads[unit] + 1) + sides[unit]
        # In the order of units, so that siblings begin in the order of the bag.
        members[begins[group + 1]] = unit
        begins[group + 1] += 1
    return members, begins


@compiled
def _heads_first(members: Ints, begins: Ints) -> Ints:
    """Return all nodes, 0 for the root and unit + 1 for the others, each before its modifiers."""
    nodes = np.zeros(len(members) + 1, np.int32)
    filled = 1
    for done in range(len(nodes)):
        for index in range(begins[2 * nodes[done]], begins[2 * nodes[done] + 2]):
            nodes[filled] = members[index] + 1
            filled += 1
    return nodes


@compiled
def _sort(members: Ints, begin: int, end: int, earlier: Ints, weights: Floats) -> None:
    """Sort units by descending weight, ties by the order of attachment."""
    for step in range(begin + 1, end):
        unit, index = members[step], step
        while index > begin and (weights[members[index - 1]], -earlier[members[index - 1]]) < (
            weights[unit],
            -earlier[unit],
        ):
            members[index] = members[index - 1]
            index -= 1
        members[index] = unit


@compiled
def _chain(
    joining: _Joining, strings: _Strings, members: Ints, begin: int, end: int, start: int
) -> tuple[int, int]:
    """Link ``members[begin:end]`` behind a unit, or a start token if it is -1; return first and last unit."""
    table, words, offsets, order, window, whole_string = joining
    chain, phrase = (start, start), start
    for step in range(begin, end):
        since = chain[0] if whole_string else phrase
        length = _last_words(words, offsets, strings, since, chain[1], whole_string and start < 0, window)
        best, best_logp = -1, -np.inf
        for index in range(step, end):
            total = _first_words(words, offsets, strings, strings.first[members[index]], window, length)
            logp = window_logp(table, window, total, order)
            if best < 0 or logp > best_logp:
                best, best_logp = index, logp
        chosen = members[best]
        # The others keep their order, so that ties go to the first unit of the bag.
        for index in range(best, step, -1):
            members[index] = members[index - 1]
        members[step] = chosen
        phrase = strings.first[chosen]
        chain = _linked(strings, chain, (phrase, strings.last[chosen]))
    return chain


@compiled
def _last_words(
    words: Ints, offsets: Ints, strings: _Strings, first: int, last: int, after_start: bool, window: Ints
) -> int:
    """Write the last n - 1 words from one unit to another, with a start token before them if there is one.

    Returns:
        The number of words; a start token alone if there are no units.
    """
    free = len(window) // 2
    unit = last
    while unit >= 0 and free:
        index = offsets[unit + 1]
        while index > offsets[unit] and free:
            index -= 1
            free -= 1
            window[free] = words[index]
        # Stops at `first`: with `phrase`, units before it are linked, but not in the window.
        unit = strings.before[unit] if unit != first else -1
    if free and (after_start or last < 0):
        free -= 1
        window[free] = BOS
    # Words were written from the right end; they must begin at 0 for `window_logp`.
    length = len(window) // 2 - free
    for index in range(length):
        window[index] = window[free + index]
    return length


@compiled
def _first_words(words: Ints, offsets: Ints, strings: _Strings, first: int, window: Ints, length: int) -> int:
    """Write the first n - 1 words of a string behind ``length`` words; return the number of words in all."""
    limit = length + len(window) // 2
    unit = first
    while unit >= 0 and length < limit:
        index = offsets[unit]
        while index < offsets[unit + 1] and length < limit:
            window[length] = words[index]
            index += 1
            length += 1
        unit = strings.after[unit]
    return length


@compiled
def _single(size: int) -> _Strings:
    """Return strings of one unit each."""
    units = np.arange(size).astype(np.int32)
    return _Strings(units, units.copy(), np.full(size, -1, np.int32), np.full(size, -1, np.int32))


@compiled
def _linked(strings: _Strings, left: tuple[int, int], right: tuple[int, int]) -> tuple[int, int]:
    """Join two strings, either of which may be empty (-1, -1); return first and last unit."""
    if left[1] < 0:
        return right
    if right[0] < 0:
        return left
    strings.after[left[1]] = right[0]
    strings.before[right[0]] = left[1]
    return left[0], right[1]


@compiled
def _around(strings: _Strings, head: int, left: tuple[int, int], right: tuple[int, int]) -> int:
    """Link left modifiers, head and right modifiers; return the first unit."""
    first, last = _linked(strings, left, right)
    if head >= 0:
        strings.first[head], strings.last[head] = first, last
    return first


@compiled
def _walk(strings: _Strings, start: int) -> Ints:
    """Return the units of a string."""
    units = np.empty(len(strings.after), np.int32)
    for index in range(len(units)):
        units[index] = start
        start = strings.after[start]
    return units


#: Logarithm in place of that of 0, so that even the worst edge can be attached.
ZERO = 1e-12
#: Added to the weight of an edge that a constraint forbids: it is attached only if no other edge is left.
FORBIDDEN = -1e5
#: Weight of an edge that is excluded in the search for further answers; a tree with such an edge is invalid.
_EXCLUDED = -1e7
#: Most edges of a tree that are excluded in turn, and most trees for each answer.
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
    """Whether the root has one modifier only; for algorithms that could give it several."""

    one_root: Annotated[bool, Setting("Only one unit may be the root.", off="--many-roots")] = True


class Attachments(NamedTuple):
    """A tree as arrays with an entry for each unit; the fields are those of `Tree`."""

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
    # A floor, not -inf: sums of weights must stay comparable if a tree needs an impossible edge.
    edges = np.maximum(model.prob, np.log(ZERO))
    edges[0, :, LEFT] = -np.inf
    if settings.verb_root and model.verb.any():
        edges[0, ~model.verb, RIGHT] += FORBIDDEN
    if not settings.noun_under_noun:
        nouns = np.flatnonzero(model.noun)
        edges[np.ix_(nouns + 1, nouns)] += FORBIDDEN
    return edges


def is_forced(weight: float) -> bool:
    """Return whether the weight of an edge has the penalty of a constraint."""
    return weight < FORBIDDEN / 2


def log_of(probabilities: Floats) -> Floats:
    """Return natural logarithms, `ZERO` for that of 0."""
    return np.asarray(np.log(np.maximum(probabilities, ZERO)))


def tree_value(
    problem: Problem, units: tuple[int, ...], heads: tuple[int, ...] | None, charges: Floats | None = None
) -> float | None:
    """Return the sum of the weights of the edges of a tree over units in some order; None without a tree.

    ``charges`` are (n + 1, 2, 8) the terms added for one more modifier of a head on a side where it has 0, 1,
    ... 7 and more modifiers.
    """
    if heads is None:
        return None
    position_of = {unit: position for position, unit in enumerate(units)}
    taken: dict[tuple[int, int], int] = {}
    edges = edge_weights(problem)
    total = 0.0
    for unit, head in enumerate(heads):
        side = RIGHT if head == ROOT or position_of[unit] > position_of[head] else LEFT
        total += edges[head + 1, unit, side]
        if charges is not None:
            earlier = taken.get((head, side), 0)
            total += charges[head + 1, side, min(earlier, charges.shape[2] - 1)]
            taken[head, side] = earlier + 1
    return float(total)


def siblings_by_ngrams(problem: Problem, attachments: Attachments) -> Ints:
    """Return the units in the order of the tree, siblings ordered by n-grams (LMO)."""
    whole_string = problem.settings.of(LmoSettings).whole_string
    return by_ngrams(
        problem.table,
        problem.words,
        problem.offsets,
        problem.order,
        attachments.heads,
        attachments.sides,
        whole_string,
    )


def best_orderings(problem: Problem, nbest: int, search: Search, arrange: Arrange) -> list[Ordering]:
    """Return the answer of a tree algorithm, followed by the orders of other trees by their scores.

    The trees are enumerated by the method of Lawler 1972: each answer splits the remaining trees into those
    without its first edge, those with its first but without its second edge, and so on; the search runs on
    each part, and the best tree of all parts is next. Edges are sorted by the loss with the next best head of
    the same modifier, smallest first. Trees with a string seen before are no new answers. With an exact
    search the trees are in the order of their scores, within the limits `_RIVALS` and `_TREES`; the
    algorithm's own answer is always the first.
    """
    edges = edge_weights(problem)
    own = search(problem, edges)
    if nbest <= 1:
        return [_ordering(problem, own, arrange)]
    different: dict[tuple[int, ...], Ordering] = {}
    for number, tree in enumerate(_trees(problem, edges, own, search)):
        ordering = _ordering(problem, tree, arrange)
        different.setdefault(problem.string_of(ordering.units), ordering)
        # Several trees may have the same string; the second bound limits their number.
        if len(different) == nbest or number == _TREES * nbest:
            break
    first, *others = different.values()
    return [first, *sorted(others, key=lambda ordering: -ordering.score)]


def _ordering(problem: Problem, attachments: Attachments, arrange: Arrange) -> Ordering:
    units = arrange(problem, attachments)
    tree = Tree(*(tuple(column.tolist()) for column in attachments))
    return Ordering(tuple(units.tolist()), attachments.score, tree)


class _Part(NamedTuple):
    """The trees with some edges and without some others, and the best of them."""

    best: Attachments
    fixed: dict[int, tuple[int, int]]  # unit -> (row of the head, side)
    dropped: list[tuple[int, int, int]]  # (row of the head, unit, side)


def _trees(problem: Problem, edges: Floats, own: Attachments, search: Search) -> Iterator[Attachments]:
    """Yield different trees: ``own``, then always the best known tree."""
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
            # The search must return a tree, perhaps with an excluded edge: then the part is empty.
            if other.weights.min() > _EXCLUDED / 2:
                heapq.heappush(waiting, (-other.score, next(serial), _Part(other, dict(fixed), dropped)))
            # From here on this edge is kept, so that the parts are disjoint, and no tree is found twice.
            fixed[unit] = row, side


def _by_margin(edges: Floats, attachments: Attachments) -> list[int]:
    """Return the units by the difference of their edge's weight from that of their best other edge."""
    size = len(attachments.heads)
    rivals = edges.copy()
    units = np.arange(size)
    # A unit is not its own head.
    rivals[units + 1, units] = -np.inf
    mine = edges[attachments.heads + 1, units, attachments.sides]
    rivals[attachments.heads + 1, units, attachments.sides] = -np.inf
    # Small margins first: excluding such an edge costs least, so that good trees are found early.
    return list(map(int, np.argsort(mine - rivals.max(axis=(0, 2)), kind="stable")))


def _restricted(
    edges: Floats, fixed: dict[int, tuple[int, int]], dropped: list[tuple[int, int, int]]
) -> Floats:
    """Return the weights with all rivals of ``fixed`` edges, and all ``dropped`` edges, excluded."""
    edges = edges.copy()
    for unit, (head, side) in fixed.items():
        weight = edges[head, unit, side]
        edges[:, unit] = _EXCLUDED
        edges[head, unit, side] = weight
    for edge in dropped:
        edges[edge] = _EXCLUDED
    edges[0, :, LEFT] = -np.inf
    return edges
