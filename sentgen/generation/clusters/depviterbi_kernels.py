"""The dependency-propagating Viterbi search, compiled; the tests have it in plain Python.

A hypothesis is a prefix of a sentence. Its continuations depend on its last word, on its head stack, and on
the words that it may not use again: hypotheses that agree in these are equivalent, and only the best are
kept. Only relevant items of the stack are kept. An item without relations to later words is irrelevant, as is
an item above another whose relations are all at least as probable: ties go to the oldest item, which is
popped last. If relations decrease with the number of items above, all items are relevant.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sentgen.arrays import Bits, Bools, Floats, Ints, Longs, compiled
from sentgen.generation.ngrams.beam_kernels import random_bits

# Bounds and sums add the same numbers in another order; smaller differences are rounding errors.
CLOSE = 1e-9


class DepviterbiLattice(NamedTuple):
    """The n words of a search and their probabilities; rows are earlier, columns later words.

    After word w with a stack of items h, word x has the probability ngram[w, x] + max over h of dep[h, x],
    times nearness for each item above h.
    """

    start: Floats  # (n,) log-probability of a word at the start, with its emission
    end: Floats  # (n,) log-probability of the end after a word
    ngram: Floats  # (n, n) share of the bigram in the probability; -inf where a word may not follow
    dep: Floats  # (n, n) share of the dependency
    governs: Bools  # (n, n) whether the later word governs the earlier one
    emission: Floats  # (n,) log p_em
    limit: Ints  # (n,) how often a word may be used
    nearness: float  # factor of a relation for each item above


class _Bounds(NamedTuple):
    """Bounds that are computed before the search."""

    ahead: Floats  # (longest, n) upper bound of paths from a word to the end over 0, 1 ... further words
    ceiling: Floats  # (n, n) upper bound of a transition to the word of the row after the word of the column
    matters: Bools  # (n,) whether a word has relations to later ones
    covers: Bools  # (n, n) whether the word of the row on the stack makes that of the column irrelevant
    column: Ints  # (n,) column in which uses of a word are counted, -1 if its limit cannot be reached
    mark: Bits  # (n,) of the column; 0 without one


class DepviterbiHypotheses(NamedTuple):
    """All hypotheses, by length."""

    logp: Floats  # (N,)
    word: Ints  # (N,) the last one
    parent: Ints  # (N,) -1 at the start


class _DepviterbiFrontier(NamedTuple):
    """The m hypotheses of one length, with their states."""

    logp: Floats  # (m,)
    word: Ints  # (m,)
    parent: Ints  # (m,) within the frontier before
    height: Ints  # (m,) of the stack
    stack: Ints  # (m, highest) the oldest item first
    used: Ints  # (m, columns) how often words were used
    uses: Bits  # (m,) hash of that: the sum of the marks of the columns, as often as they were used


@compiled
def search(
    lattice: DepviterbiLattice, longest: int, beam: int, nbest: int, floor: Floats
) -> tuple[DepviterbiHypotheses, Ints, Floats]:
    """Find the most probable sentences of 1 to ``longest`` words.

    Args:
        lattice: the words.
        longest: most words of a sentence.
        beam: hypotheses to keep for each length and last word.
        nbest: equivalent hypotheses to keep.
        floor: (longest + 1,) by length, a log-probability that sentences must reach, which saves time; inf
            for lengths that are not wanted.

    Returns:
        The hypotheses; (longest + 2,) the first hypothesis of each length; and (longest + 1,) by length, an
        upper bound of the sentences that the beam lost, -inf if it lost none.

    Ties go to the hypothesis found first; more probable prefixes are extended first.
    Time: longest * beam * n * n * height of the stacks.
    """
    n = len(lattice.start)
    bounds = _bounds(lattice, longest)
    nodes = _hypotheses(longest * n * beam)
    begin = np.zeros(longest + 2, np.int32)
    lost = np.full(longest + 1, -np.inf)
    # Of equal words on the stack the older one makes the other irrelevant; see `_append`.
    frontier = _first_words(lattice, bounds, min(longest, n) if lattice.nearness == 1 else longest)
    for length in range(1, longest + 1):
        if length > 1:
            slack = _slack(bounds.ahead, floor, length)
            extended, count, worst = _extensions(lattice, bounds, frontier, slack, beam, nbest)
            _note_lost(lost, worst, bounds.ahead, length)
            frontier = _sorted(extended, count, beam)
        begin[length + 1] = begin[length] + len(frontier.logp)
        nodes.logp[begin[length] : begin[length + 1]] = frontier.logp
        nodes.word[begin[length] : begin[length + 1]] = frontier.word
        nodes.parent[begin[length] : begin[length + 1]] = frontier.parent + begin[length - 1]
    size = begin[longest + 1]
    return DepviterbiHypotheses(nodes.logp[:size], nodes.word[:size], nodes.parent[:size]), begin, lost


@compiled
def _hypotheses(size: int) -> DepviterbiHypotheses:
    return DepviterbiHypotheses(np.empty(size), np.empty(size, np.int32), np.empty(size, np.int32))


@compiled
def _frontier(size: int, highest: int, columns: int) -> _DepviterbiFrontier:
    return _DepviterbiFrontier(
        np.empty(size),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.zeros(size, np.int32),
        np.empty((size, highest), np.int32),
        np.zeros((size, columns), np.int32),
        np.zeros(size, np.uint64),
    )


@compiled
def _bounds(lattice: DepviterbiLattice, longest: int) -> _Bounds:
    """Compute the bounds of all words and pairs of words."""
    n = len(lattice.start)
    ceiling, covers = np.empty((n, n)), np.empty((n, n), np.bool_)
    matters = np.zeros(n, np.bool_)
    for x in range(n):
        # Over all words, not those of a stack: an upper bound does not depend on the stack.
        best = lattice.dep[:, x].max()
        for w in range(n):
            ceiling[x, w] = -np.inf
            if lattice.ngram[w, x] > -np.inf:
                ceiling[x, w] = np.log(lattice.ngram[w, x] + best) + lattice.emission[x]
            covers[x, w] = lattice.nearness == 1 and _covers(lattice.dep, x, w)
        # If items above count, every item is relevant.
        matters[x] = lattice.nearness < 1 or lattice.dep[x].max() > 0
    ahead = np.empty((longest, n))
    ahead[0] = lattice.end
    for more in range(1, longest):
        for w in range(n):
            ahead[more, w] = (ceiling[:, w] + ahead[more - 1]).max()
    column, columns = np.full(n, -1, np.int32), 0
    for x in range(n):
        # Limits of other words cannot be reached; counting their uses would only separate equivalent
        # hypotheses.
        if lattice.limit[x] < longest:
            column[x] = columns
            columns += 1
    return _Bounds(ahead, ceiling, matters, covers, column, _marks(column))


@compiled
def _covers(dep: Floats, old: int, new: int) -> bool:
    """Return whether all relations of one word to later ones are at least as probable as those of another."""
    for x in range(dep.shape[1]):  # noqa: SIM110 (numba has no generators in all())
        if dep[old, x] < dep[new, x]:
            return False
    return True


@compiled
def _marks(column: Ints) -> Bits:
    """Return random bits for each column."""
    marks = np.zeros(len(column), np.uint64)
    for x in range(len(column)):
        if column[x] >= 0:
            marks[x] = random_bits(column[x])
    return marks


@compiled
def _first_words(lattice: DepviterbiLattice, bounds: _Bounds, highest: int) -> _DepviterbiFrontier:
    """Return the hypotheses of length 1, one for each word."""
    n = len(lattice.start)
    extended = _frontier(n, highest, int(bounds.column.max()) + 1)
    count = np.zeros(n, np.int32)
    for x in range(n):
        if lattice.limit[x] > 0 and lattice.start[x] > -np.inf:
            extended.logp[x], extended.word[x], extended.parent[x] = lattice.start[x], x, -1
            if bounds.matters[x]:
                extended.stack[x, 0] = x
                extended.height[x] = 1
            if bounds.column[x] >= 0:
                extended.used[x, bounds.column[x]] = 1
                extended.uses[x] = bounds.mark[x]
            count[x] = 1
    return _sorted(extended, count, 0)


@compiled
def best_slots(logp: Floats, filled: Ints, size: int) -> Longs:
    """Return the slots that are filled, the most probable first.

    Args:
        logp: log-probabilities of the slots, word by word, each word with the same number of slots.
        filled: number of filled slots of each word, which are the first ones.
        room: slots of a word.
    """
    slots = np.empty(filled.sum(), np.int64)
    at = 0
    for x in range(len(filled)):
        for slot in range(x * size, x * size + filled[x]):
            slots[at] = slot
            at += 1
    # A stable sort: ties go to the first word.
    return slots[np.argsort(-logp[slots], kind="mergesort")]


@compiled
def _sorted(frontier: _DepviterbiFrontier, count: Ints, beam: int) -> _DepviterbiFrontier:
    """Return the hypotheses in the slots of all words, the most probable first."""
    order = best_slots(frontier.logp, count, beam + 1)
    return _DepviterbiFrontier(
        frontier.logp[order],
        frontier.word[order],
        frontier.parent[order],
        frontier.height[order],
        frontier.stack[order],
        frontier.used[order],
        frontier.uses[order],
    )


@compiled
def _slack(ahead: Floats, floor: Floats, length: int) -> Floats:
    """Return by word minus the least log-probability of hypotheses of a length that can reach some floor."""
    slack = np.full(ahead.shape[1], -np.inf)
    for whole in range(length, len(floor)):
        for x in range(len(slack)):
            if ahead[whole - length, x] > -np.inf:
                slack[x] = max(slack[x], ahead[whole - length, x] - floor[whole])
    return slack + CLOSE


@compiled
def _note_lost(lost: Floats, worst: Floats, ahead: Floats, length: int) -> None:
    """Raise the bounds on lost sentences: hypotheses that a word lost were no better than its worst."""
    for whole in range(length, len(lost)):
        for x in range(len(worst)):
            lost[whole] = max(lost[whole], worst[x] + ahead[whole - length, x])


@compiled
def _extensions(
    lattice: DepviterbiLattice,
    bounds: _Bounds,
    before: _DepviterbiFrontier,
    slack: Floats,
    beam: int,
    nbest: int,
) -> tuple[_DepviterbiFrontier, Ints, Floats]:
    """Extend hypotheses by every word; the best ones that end in x have the slots from x * (beam + 1) on.

    Returns:
        The slots, the number of filled ones by word, and by word the worst kept hypothesis if others were
        lost.
    """
    n = len(lattice.start)
    extended = _frontier(n * (beam + 1), before.stack.shape[1], before.used.shape[1])
    count = np.zeros(n, np.int32)
    worst = np.full(n, -np.inf)
    for x in range(n):
        count[x], worst[x] = _extend(lattice, bounds, before, extended, x, slack[x], beam, nbest)
    return extended, count, worst


@compiled
def _extend(
    lattice: DepviterbiLattice,
    bounds: _Bounds,
    before: _DepviterbiFrontier,
    extended: _DepviterbiFrontier,
    x: int,
    slack: float,
    beam: int,
    nbest: int,
) -> tuple[int, float]:
    """Fill the slots of word x; a slot more than the beam is for the hypothesis that is tried."""
    first, count = x * (beam + 1), 0
    lowest, lost = -np.inf, False
    column, highest = bounds.column[x], bounds.ceiling[x].max()
    for p in range(len(before.logp)):
        need = max(lowest, -slack)
        # The frontier is sorted (`_sorted`), so that all later ones fail, too; this saves most of the work.
        if before.logp[p] + highest <= need:
            lost |= before.logp[p] + highest > -slack
            break  # later hypotheses are no more probable
        if column >= 0 and before.used[p, column] >= lattice.limit[x]:
            continue
        if before.logp[p] + bounds.ceiling[x, before.word[p]] <= need:
            lost |= before.logp[p] + bounds.ceiling[x, before.word[p]] > -slack
            continue
        dep, partner = _relation(lattice, before, p, x)
        logp = before.logp[p] + np.log(lattice.ngram[before.word[p], x] + dep) + lattice.emission[x]
        if logp <= need:
            # A hypothesis that cannot reach the floor is not lost: it misses no answer.
            lost |= logp > -slack
            continue
        tried = first + count
        extended.logp[tried] = logp
        # Tried in the slot behind the filled ones: equivalence can be tested only once the stack is made.
        _append(lattice, bounds, before, p, x, partner, extended, tried)
        weakest = _weakest_same(extended, first, tried, nbest)
        if weakest >= 0:
            if logp > extended.logp[weakest]:
                _copy(extended, tried, weakest)
        elif count < beam:
            count += 1
        else:
            # The lowest is less probable, else `need` would have refused the new hypothesis.
            _copy(extended, tried, _lowest(extended, first, tried))
            lost = True
        if count == beam:
            lowest = extended.logp[_lowest(extended, first, first + count)]
    return count, lowest if lost else -np.inf


@compiled
def _relation(lattice: DepviterbiLattice, before: _DepviterbiFrontier, p: int, x: int) -> tuple[float, int]:
    """Return the share of the most probable relation of a word to the stack, and the item, -1 for none."""
    dep, partner, left = 0.0, -1, 1.0
    for i in range(before.height[p] - 1, -1, -1):
        share = lattice.dep[before.stack[p, i], x] * left
        # `>=` from the top: ties go to the oldest item, as the paper's example needs (see `depviterbi`).
        if share > 0 and share >= dep:
            dep, partner = share, i
        left *= lattice.nearness
    return dep, partner


@compiled
def _append(
    lattice: DepviterbiLattice,
    bounds: _Bounds,
    before: _DepviterbiFrontier,
    p: int,
    x: int,
    partner: int,
    extended: _DepviterbiFrontier,
    slot: int,
) -> None:
    """Write hypothesis p with word x appended into a slot (Wan et al. 2005, section 3.2)."""
    height = before.height[p]
    if partner >= 0:
        height = partner if lattice.governs[before.stack[p, partner], x] else partner + 1
    matters = bounds.matters[x]
    for i in range(height):
        extended.stack[slot, i] = before.stack[p, i]
        # An older item with relations at least as probable to all later words is always preferred to x.
        matters &= not bounds.covers[before.stack[p, i], x]
    if matters:
        extended.stack[slot, height] = x
        height += 1
    extended.word[slot], extended.parent[slot], extended.height[slot] = x, p, height
    for c in range(before.used.shape[1]):
        extended.used[slot, c] = before.used[p, c]
    extended.uses[slot] = before.uses[p] + bounds.mark[x]
    if bounds.column[x] >= 0:
        extended.used[slot, bounds.column[x]] += 1


@compiled
def _weakest_same(frontier: _DepviterbiFrontier, first: int, tried: int, nbest: int) -> int:
    """Return the slot of the least probable hypothesis equivalent to one; -1 if fewer than ``nbest`` are."""
    same, weakest = 0, -1
    for slot in range(first, tried):
        if _are_same(frontier, slot, tried):
            same += 1
            if weakest < 0 or frontier.logp[slot] < frontier.logp[weakest]:
                weakest = slot
    return weakest if same >= nbest else -1


@compiled
def _are_same(frontier: _DepviterbiFrontier, a: int, b: int) -> bool:
    """Return whether two hypotheses with the same last word are equivalent."""
    # The hash first: it separates nearly all different ones with one comparison.
    if frontier.uses[a] != frontier.uses[b] or frontier.height[a] != frontier.height[b]:
        return False
    for i in range(frontier.height[a]):
        if frontier.stack[a, i] != frontier.stack[b, i]:
            return False
    for c in range(frontier.used.shape[1]):  # noqa: SIM110 (numba has no generators in all())
        if frontier.used[a, c] != frontier.used[b, c]:
            return False
    return True


@compiled
def _lowest(frontier: _DepviterbiFrontier, first: int, end: int) -> int:
    """Return the slot of the least probable hypothesis; ties go to the one found last."""
    lowest = first
    for slot in range(first + 1, end):
        if frontier.logp[slot] < frontier.logp[lowest] or (
            frontier.logp[slot] == frontier.logp[lowest] and frontier.parent[slot] > frontier.parent[lowest]
        ):
            lowest = slot
    return lowest


@compiled
def _copy(frontier: _DepviterbiFrontier, source: int, target: int) -> None:
    frontier.logp[target], frontier.word[target] = frontier.logp[source], frontier.word[source]
    frontier.parent[target], frontier.height[target] = frontier.parent[source], frontier.height[source]
    for i in range(frontier.height[source]):
        frontier.stack[target, i] = frontier.stack[source, i]
    for c in range(frontier.used.shape[1]):
        frontier.used[target, c] = frontier.used[source, c]
    frontier.uses[target] = frontier.uses[source]
