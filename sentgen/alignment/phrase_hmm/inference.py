"""Exact inference in the phrase-based HMM: likelihood and posteriors (Daumé & Marcu 2004, sec. 2.2).

The paper sums over pairs of states, O(m * L * (n * K)^2), and prunes half of them. A jump depends only on
where it starts and ends, so that the sums factor through the last position: O(m * n * (window + far cells) +
events), with the same result. Forward and backward over segments are compiled; the tests have the plain
recursions over states.

The state after t abstract words is the last position e in the document (0 before the first phrase), because a
jump depends on nothing else. With A_t(e) the sum over all paths to it and B_t(i) the sum over all jumps to i,
an event that rewrites the document phrase i..i+k-1 into l abstract words adds B_t(i) * p to A_t+l(i + k - 1).
Events of one word on each side are the dense matrix ``words``, all others a list.

Row t is divided by the sum of its entries (but see ``_SMALLEST``), so that long texts do not underflow;
``log_scale[t]`` is the log of all divisors so far.

The passes run over a block of rows at a time, ``first`` up to ``last``; row ``first`` is row 0 of the tables.
An event may start in one block and end in another; its sums are kept by event (``_Leaps``).

Jumps are the distances from the end of a phrase to the next phrase (Daumé & Marcu 2004, table 3).

A jump d is the distance from the last position e (0 before the first phrase) to the first word of the next
phrase, or to n + 1 at the end; d = 1 is the adjacent word. Distances up to the window have a cell of their
own, larger ones share cells that double in size, within which they are equally likely.

A jump leads from the position e in 0..n to the target i in 1..n + 1 with the weight j(i - e), so that a sum
over all jumps is a product with a Toeplitz matrix. Near distances are added one diagonal after another, a far
cell is a difference of prefix sums: O(n * (window + far cells)). The tests have the matrix itself.

Vectors over positions are (n + 1,), those over targets (n + 2,) with the first value unused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import exp, log
from typing import NamedTuple

import numpy as np

from sentgen.alignment.phrase_hmm.kernels import EventOrder
from sentgen.arrays import Floats, Longs, compiled, compiled_loosely

#: Largest distance of the outermost cells in sums: longer than any document.
_LARGEST_DISTANCE = 1 << 40


@dataclass(frozen=True, slots=True, eq=False)
class JumpCells:
    """Jump cells in the order of their distances; a cell has the distances ``first`` to ``last``, (C,)."""

    window: int
    first: Longs
    last: Longs

    @property
    def sizes(self) -> Longs:
        """Number of distances in each cell, (C,)."""
        return self.last - self.first + 1

    def prior(self, power: float, *, back: float = 1.0) -> Floats:
        """Return the mass of each cell, (C,): a jump is (1 + |d - 1|) ** -power, times ``back`` if d < 1."""
        distances = np.arange(self.first[0], self.last[-1] + 1)
        mass = (1.0 + np.abs(distances - 1)) ** -power * np.where(distances < 1, back, 1.0)
        cells: Floats = np.add.reduceat(mass, self.first - self.first[0])
        cells /= cells.sum()
        return cells

    def weights(self, mass: Floats) -> Jumps:
        """Divide the mass of each cell evenly among its distances; the outermost cells have no outer end."""
        # The divisor counts distances up to the reach only; farther ones have the same weight, not 0.
        weights = mass / self.sizes
        side = (len(mass) - 2 * self.window - 1) // 2
        outer = np.r_[0:side, len(mass) - side : len(mass)]
        first, last = self.first[outer].copy(), self.last[outer].copy()
        if side:
            first[0], last[-1] = -_LARGEST_DISTANCE, _LARGEST_DISTANCE
        return Jumps(weights[side : len(mass) - side].copy(), first, last, weights[outer])


# Called for each pair.
@lru_cache(maxsize=16)
def jump_cells(window: int | None, longest: int) -> JumpCells:
    """Return the cells for jumps of up to ``longest``; a window of ``None`` gives each distance a cell."""
    near = longest if window is None else min(window, longest)
    bounds = [near]
    while bounds[-1] < longest:
        bounds.append(min(2 * bounds[-1], longest))
    starts = np.array([bound + 1 for bound in bounds[:-1]], np.int64)
    ends = np.array(bounds[1:], np.int64)
    alone = np.arange(-near, near + 1, dtype=np.int64)
    return JumpCells(
        near,
        np.concatenate([-ends[::-1], alone, starts]),
        np.concatenate([-starts[::-1], alone, ends]),
    )


class Jumps(NamedTuple):
    """The weight of a single jump by its distance.

    ``near[d + window]`` is the weight of the distance d; a far cell has the distances ``first`` to ``last``,
    each with the weight ``far``.
    """

    near: Floats  # (2 * window + 1,)
    first: Longs  # (far cells,)
    last: Longs
    far: Floats


@compiled
def _prefix_sums(values: Floats, sums: Floats) -> None:
    """Set ``sums[k]`` to the sum of the first k values."""
    total = 0.0
    sums[0] = 0.0
    for k in range(len(values)):
        total += values[k]
        sums[k + 1] = total


@compiled
def add_jumps(jumps: Jumps, values: Floats, sums: Floats, out: Floats, backward: bool) -> None:
    """Set each of ``out`` to the sum over all jumps between it and one of ``values``, times their weights.

    Forward, ``values`` are over positions and ``out`` over targets, backward the reverse: then ``out[e]`` is
    the sum over i of j(i - e) * values[i]. ``sums`` is working buffers, (n + 3,).
    """
    n = min(len(values), len(out)) - 1
    window = len(jumps.near) // 2
    low, out_low = (1, 0) if backward else (0, 1)
    out[:] = 0.0
    for d in range(max(-window, 1 - n), min(window, n + 1) + 1):
        weight = jumps.near[d + window]
        start, stop = max(0, 1 - d), min(n, n + 1 - d) + 1
        # Slices without a condition, which become vector instructions.
        shift, out_shift = (d, 0) if backward else (0, d)
        part, target = values[start + shift : stop + shift], out[start + out_shift : stop + out_shift]
        for k in range(len(part)):
            target[k] += weight * part[k]
    _prefix_sums(values, sums)
    for cell in range(len(jumps.far)):
        first, last, weight = jumps.first[cell], jumps.last[cell], jumps.far[cell]
        # Direction of the values from an element of `out`: ahead in the backward pass, behind in the forward
        # pass.
        nearest, farthest = (first, last) if backward else (-last, -first)
        for k in range(max(out_low, low - farthest), min(n + out_low, n + low - nearest) + 1):
            out[k] += weight * (sums[min(n + low, k + farthest) + 1] - sums[max(low, k + nearest)])


# Fast math, which may reorder the sum, is allowed: counts enter no further pass.
@compiled_loosely
def _dot(left: Floats, right: Floats) -> float:
    total = 0.0
    for k in range(len(left)):
        total += left[k] * right[k]
    return total


@compiled
def count_jumps(
    jumps: Jumps, source: Floats, target: Floats, sums: Floats, near: Floats, far: Floats
) -> None:
    """Add source[e] * j(i - e) * target[i] to the cell of i - e, for all e and i."""
    n = len(source) - 1
    window = len(jumps.near) // 2
    for d in range(max(-window, 1 - n), min(window, n + 1) + 1):
        start, stop = max(0, 1 - d), min(n, n + 1 - d) + 1
        near[d + window] += jumps.near[d + window] * _dot(source[start:stop], target[start + d : stop + d])
    _prefix_sums(source, sums)
    for cell in range(len(jumps.far)):
        first, last = jumps.first[cell], jumps.last[cell]
        total = 0.0
        for i in range(max(1, first), min(n + 1, n + last) + 1):
            total += target[i] * (sums[min(n, i - first) + 1] - sums[max(0, i - last)])
        far[cell] += jumps.far[cell] * total


#: Smallest divisor of a row: a row that phrases span may be empty, and sums of such phrases must not
#: overflow.
_SMALLEST = 1e-30


class Chain(NamedTuple):
    """The transitions: P(null), the jumps, and the divisor of jumps from each position, (n + 1,)."""

    p0: float
    jumps: Jumps
    total: Floats
    null_moves: bool


class Emission(NamedTuple):
    """The rewrite probabilities of a pair.

    ``words[abstract[t], document[i]]`` is the probability of document word i into abstract word t, both from
    0: equal words share a row or column. ``null[t]`` is that of null into abstract word t, ``prob`` are those
    of the events of several words. ``by_end`` sorts these by their end in the abstract. ``forget[t]`` is the
    probability that the position is forgotten before abstract word t, and any position, 0 to n, as likely as
    any other.
    """

    words: Floats  # (different words of the abstract, and of the document)
    abstract: Longs  # (m,)
    document: Longs  # (n,)
    null: Floats  # (m,)
    forget: Floats  # (m,)
    events: EventOrder
    prob: Floats  # (events,)
    by_end: Longs  # (events,)


class _Leaps(NamedTuple):
    """Events by start and by end, and their sums in the passes.

    Events ``starts[t]`` up to ``starts[t + 1]`` start at t, those at the places ``ends[t]`` up to ``ends[t +
    1]`` of ``by_end`` end after t words. ``entry`` is the sum over all jumps into an event, ``into`` the sum
    over its continuations, the event included.
    """

    starts: Longs  # (m + 1,)
    ends: Longs  # (m + 2,)
    entry: Floats  # (events,)
    into: Floats  # (events,)


class AlignmentLattice(NamedTuple):
    """Emission, transitions and events of a pair; every pass needs its own, for it changes their sums."""

    emission: Emission
    chain: Chain
    leaps: _Leaps


def lattice(emission: Emission, chain: Chain) -> AlignmentLattice:
    """Return the lattice of a pair, with empty sums of events."""
    m, events = len(emission.abstract), emission.events
    starts = np.searchsorted(events.start, np.arange(m + 1))
    ends = np.append(0, np.cumsum(np.bincount(events.start + events.length, minlength=m + 1)))
    leaps = _Leaps(starts, ends, np.zeros(len(events.start)), np.zeros(len(events.start)))
    return AlignmentLattice(emission, chain, leaps)


class Alphas(NamedTuple):
    """The forward sums A of a block of rows, the sums over jumps from each, and the scales of all rows."""

    scaled: Floats  # (rows + 1, n + 1)
    jumped: Floats  # (rows, n + 2)
    log_scale: Floats  # (m + 1,)


@compiled
def _forget(share: float, row: Floats) -> None:
    """Distribute a share of a row evenly over its positions; the step is the same forward and backward."""
    if share > 0.0:
        row[:] = (1.0 - share) * row + share * row.sum() / len(row)


@compiled
def word_row(emission: Emission, t: int, row: Floats) -> None:
    """Set ``row[i]`` to the probability of document word i into abstract word t, (n,)."""
    words = emission.words[emission.abstract[t]]
    for i in range(len(row)):
        row[i] = words[emission.document[i]]


@compiled
def forward(lattice: AlignmentLattice, first: int, last: int, alphas: Alphas) -> None:
    """Fill the rows after ``first`` up to ``last``; row ``first`` is given."""
    emission, chain, leaps = lattice
    events, log_scale = emission.events, alphas.log_scale
    n = len(emission.document)
    source, sums, words = np.empty(n + 1), np.empty(n + 3), np.empty(n)
    move = 1.0 - chain.p0
    for t in range(first, last):
        before, row = alphas.scaled[t - first], alphas.scaled[t - first + 1]
        arrived = alphas.jumped[t - first]
        # In place: `_backward` needs the row after forgetting. Checkpoints have it from before.
        _forget(emission.forget[t], before)
        source[:] = before / chain.total
        add_jumps(chain.jumps, source, sums, arrived, False)
        word_row(emission, t, words)
        null = chain.p0 * emission.null[t]
        if chain.null_moves:
            # A null word has a position here (table 3), which is not 0.
            row[0] = 0.0
            for i in range(1, n + 1):
                row[i] = arrived[i] * (null + move * words[i - 1])
        else:
            row[0] = null * before[0]
            for i in range(1, n + 1):
                row[i] = null * before[i] + move * arrived[i] * words[i - 1]
        for event in range(leaps.starts[t], leaps.starts[t + 1]):
            # By event: at its end, this row may be in another block.
            leaps.entry[event] = arrived[events.position[event]]
        begun, scale = -1, 0.0
        for index in range(leaps.ends[t + 1], leaps.ends[t + 2]):
            ended = emission.by_end[index]
            if events.start[ended] != begun:
                begun = events.start[ended]
                # The entry has the scale of its first row; `row` still has that of row t.
                scale = move * exp(log_scale[begun] - log_scale[t])
            entry = scale * leaps.entry[ended]
            row[events.position[ended] + events.width[ended] - 1] += entry * emission.prob[ended]
        divisor = max(row.sum(), _SMALLEST)
        row /= divisor
        log_scale[t + 1] = log_scale[t] + log(divisor)


@compiled
def jump_to_end(chain: Chain, row: Floats) -> float:
    """Return P(end), scaled, after the last row of A, (n + 1,)."""
    n = len(row) - 1
    out = np.empty(n + 2)
    add_jumps(chain.jumps, row / chain.total, np.empty(n + 3), out, False)
    return (1.0 - chain.p0) * float(out[n + 1])


class _Sums(NamedTuple):
    """Outputs of the backward pass: posteriors, and expected jumps if ``counting``.

    Jumps are summed by cell, and by position as departures / total.
    """

    null: Floats  # (m,)
    events: Floats  # (events,)
    near: Floats
    far: Floats
    departures: Floats  # (n + 1,)
    counting: bool


class _PassBuffers(NamedTuple):
    """Working buffers: vectors over positions, over targets, for prefix sums and words, and two rows of beta.

    beta_t(e), the sum over all continuations from e after t words, is in ``beta[t % 2]``. It is divided by
    the probability of the pair, in the scale of row t, so that A_t(e) * beta_t(e) is the posterior of the
    state.
    """

    source: Floats  # (n + 1,)
    target: Floats  # (n + 2,)
    arrived: Floats  # (n + 2,)
    sums: Floats  # (n + 3,)
    words: Floats  # (n,)
    beta: Floats  # (2, n + 1)


@compiled
def _begin_backward(
    lattice: AlignmentLattice, row: Floats, log_scale: Floats, end: float, sums: _Sums, buffers: _PassBuffers
) -> None:
    """Fill beta of the last row, given this row of A, and the posteriors of the events that end there."""
    m, n = len(lattice.emission.abstract), len(lattice.emission.document)
    # Set for this row alone: the target n + 1 is the end, and all other jumps lead to a word.
    buffers.target[n + 1] = (1.0 - lattice.chain.p0) / end
    _leave(lattice.chain, row, buffers, buffers.beta[m % 2], sums)
    buffers.target[n + 1] = 0.0
    _finish_events(lattice, m, buffers.beta[m % 2], log_scale, sums.events)


@compiled
def _backward(
    lattice: AlignmentLattice, first: int, last: int, alphas: Alphas, sums: _Sums, buffers: _PassBuffers
) -> None:
    """Fill the posteriors of null and of events from these rows, and replace ``jumped`` by those of words.

    ``alphas`` are those of ``forward`` over the same rows, and beta is that of row ``last``.
    """
    emission, chain, leaps = lattice
    null, log_scale = sums.null, alphas.log_scale
    n = len(emission.document)
    move = 1.0 - chain.p0
    for t in range(last - 1, first - 1, -1):
        before, arrived = alphas.scaled[t - first], alphas.jumped[t - first]
        after, here = buffers.beta[(t + 1) % 2], buffers.beta[t % 2]
        scale = exp(log_scale[t] - log_scale[t + 1])
        from_null = scale * chain.p0 * emission.null[t]
        # A copy: `arrived` is overwritten with the posteriors of the words, to save a table.
        buffers.arrived[:] = arrived
        word_row(emission, t, buffers.words)
        for i in range(1, n + 1):
            buffers.target[i] = move * scale * buffers.words[i - 1] * after[i]
            arrived[i] = buffers.arrived[i] * buffers.target[i]
        for event in range(leaps.starts[t + 1] - 1, leaps.starts[t] - 1, -1):
            buffers.target[emission.events.position[event]] += leaps.into[event]
        null[t] = 0.0
        if chain.null_moves:
            for i in range(1, n + 1):
                null[t] += from_null * buffers.arrived[i] * after[i]
                buffers.target[i] += from_null * after[i]
            _leave(chain, before, buffers, here, sums)
        else:
            for e in range(n + 1):
                null[t] += from_null * before[e] * after[e]
            _leave(chain, before, buffers, here, sums)
            for e in range(n + 1):
                here[e] += from_null * after[e]
        # Events that end after t words end before the position is forgotten, and backward comes later.
        _forget(emission.forget[t], here)
        _finish_events(lattice, t, here, log_scale, sums.events)


@compiled
def _finish_events(
    lattice: AlignmentLattice, t: int, beta: Floats, log_scale: Floats, posterior: Floats
) -> None:
    """Fill the sums over continuations of the events that end after t words, and their posteriors."""
    emission, chain, leaps = lattice
    events = emission.events
    move = 1.0 - chain.p0
    start, scale = -1, 0.0
    for index in range(leaps.ends[t], leaps.ends[t + 1]):
        event = emission.by_end[index]
        if events.start[event] != start:
            start = events.start[event]
            # One `exp` for all events with the same start: `by_end` sorts events with the same end by start.
            scale = move * exp(log_scale[start] - log_scale[t])
        leaps.into[event] = (
            scale * emission.prob[event] * beta[events.position[event] + events.width[event] - 1]
        )
        posterior[event] = leaps.into[event] * leaps.entry[event]


@compiled
def _leave(chain: Chain, row: Floats, buffers: _PassBuffers, beta: Floats, sums: _Sums) -> None:
    """Sum over the jumps from each position into ``beta``, and count them."""
    add_jumps(chain.jumps, buffers.target, buffers.sums, beta, True)
    # Divided by the total twice, here and below: `rejected_jumps` needs departures divided by it.
    buffers.source[:] = row / chain.total
    if sums.counting:
        count_jumps(chain.jumps, buffers.source, buffers.target, buffers.sums, sums.near, sums.far)
    for e in range(len(beta)):
        beta[e] /= chain.total[e]
        sums.departures[e] += buffers.source[e] * beta[e]


@compiled
def totals(jumps: Jumps, n: int) -> Floats:
    """Return the sum of j(i - e) over the targets i = 1..n + 1, for each position e, (n + 1,)."""
    target, out = np.ones(n + 2), np.empty(n + 1)
    # Index 0 is no target, but prefix sums include it.
    target[0] = 0.0
    add_jumps(jumps, target, np.empty(n + 3), out, True)
    return out


#: Called with the index of the first abstract word of a block, the posteriors of words (rows, n), which are
#: valid until the call returns, and those of all events; those of events that end later are final.
_Take = Callable[[int, Floats, Floats], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Posteriors:
    """Posteriors and expected counts of a pair, without the posteriors of its word links.

    ``events`` are the posteriors of the events of an ``Emission``, ``null`` (m,) those of null for each
    abstract word. ``jumps`` are the expected jumps by cell, ends included, and ``departures`` (n + 1,) the
    expected jumps from each position divided by the sum of their weights. An impossible pair has a ``logp``
    of -inf, posteriors of 0 and null words only.
    """

    logp: float
    null: Floats
    events: Floats
    jumps: Floats
    departures: Floats


def infer_rows(
    emission: Emission, chain: Chain, take: _Take, *, rows: int = 0, counting: bool = True
) -> Posteriors:
    """Call ``take`` with the posteriors of ``rows`` abstract words at a time, the last words first.

    Blocks begin at row 0, ``rows``, and so on; with 0 all rows are one block. The forward pass keeps the
    first row of each block (a checkpoint), and is repeated for all blocks but the last when the backward pass
    reaches them (Griewank 1992): all sums are the same to the last bit, in 16 * n * rows + 8 * n * m / rows
    bytes. Ten thousand words against a hundred thousand take 250 MB with rows = sqrt(m / 2), and 18 GB all at
    once.
    """
    m, n = len(emission.abstract), len(emission.document)
    # 0 is all rows; tables need a row even without words.
    rows = min(rows, m) or max(m, 1)
    firsts = range(0, m, rows)
    table = lattice(emission, chain)
    alphas = Alphas(np.zeros((rows + 1, n + 1)), np.empty((rows, n + 2)), np.zeros(m + 1))
    alphas.scaled[0, 0] = 1.0
    # No checkpoint of the last block: its rows are still in the table when the backward pass begins.
    checkpoints = np.empty((len(firsts) - 1 if len(firsts) > 1 else 0, n + 1))
    near, far = np.zeros(len(chain.jumps.near)), np.zeros(len(chain.jumps.far))
    sums = _Sums(np.ones(m), np.zeros(len(emission.prob)), near, far, np.zeros(n + 1), counting)
    last = 0
    for number, first in enumerate(firsts):
        if number:
            alphas.scaled[0] = alphas.scaled[rows]
        if number < len(checkpoints):
            checkpoints[number] = alphas.scaled[0]
        last = min(first + rows, m)
        forward(table, first, last, alphas)
    row = alphas.scaled[m - firsts[-1] if m else 0]
    end = jump_to_end(chain, row)
    if end == 0.0:
        for first in reversed(firsts):
            take(first, np.zeros((min(rows, m - first), n)), sums.events)
        return _posteriors(-np.inf, sums)
    vectors = np.empty(n + 1), np.zeros(n + 2), np.empty(n + 2), np.empty(n + 3), np.empty(n)
    buffers = _PassBuffers(*vectors, np.zeros((2, n + 1)))
    _begin_backward(table, row, alphas.log_scale, end, sums, buffers)
    for first in reversed(firsts):
        last = min(first + rows, m)
        if last < m:
            alphas.scaled[0] = checkpoints[first // rows]
            forward(table, first, last, alphas)
        _backward(table, first, last, alphas, sums, buffers)
        take(first, alphas.jumped[: last - first, 1 : n + 1], sums.events)
    return _posteriors(float(alphas.log_scale[m] + np.log(end)), sums)


def _posteriors(logp: float, sums: _Sums) -> Posteriors:
    side = len(sums.far) // 2
    # As `jump_cells` has them: `JumpCells.weights` has taken the far cells from both ends.
    by_cell = np.concatenate([sums.far[:side], sums.near, sums.far[side:]])
    return Posteriors(
        logp=logp, null=sums.null, events=sums.events, jumps=by_cell, departures=sums.departures
    )
