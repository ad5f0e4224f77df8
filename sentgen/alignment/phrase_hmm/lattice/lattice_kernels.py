"""Forward and backward over segments, compiled; the tests say it plainly, over states.

The state after t abstract words is the last position e in the document (0 before the first phrase), because a
jump depends on nothing else. With A_t(e) the sum over all ways to get there and B_t(i) the sum over all jumps
to i, an event that rewrites the document phrase i..i+k-1 into l abstract words adds B_t(i) * p to
A_t+l(i + k - 1). Events of one word on each side are the dense matrix ``words``, all others a list.

Row t is divided by the sum of what entered it (but see ``SMALLEST``); ``log_scale[t]`` is the log of all
divisors so far. So long texts do not underflow.

The passes go over some rows at a time, ``first`` up to ``last``, which stand at 0 in the tables. An event
leaps over rows, perhaps out of those at hand; what it takes along is kept by event (``Leaps``).
"""

from __future__ import annotations

from math import exp, log
from typing import NamedTuple

import numpy as np

from sentgen.alignment.phrase_hmm.lattice.event_kernels import EventOrder
from sentgen.alignment.phrase_hmm.lattice.jumps import Jumps, add_jumps, count_jumps
from sentgen.arrays import Floats, Longs, compiled

#: Smallest divisor of a row: one that phrases leap over may be empty, and what leaps must not overflow.
SMALLEST = 1e-30


class Chain(NamedTuple):
    """The transitions: P(null), the jumps, and what they are divided by at each position, (n + 1,)."""

    p0: float
    jumps: Jumps
    total: Floats
    null_moves: bool


class Emission(NamedTuple):
    """The rewrite probabilities of a pair.

    ``words[abstract[t], document[i]]`` is that of document word i into abstract word t, both from 0: a word
    that comes again has the same row or column. ``null[t]`` is that of null into it, ``prob`` are those of
    the events of more words. ``by_end`` sorts these by where they end in the abstract. ``forget[t]`` is the
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


class Leaps(NamedTuple):
    """Events by where they start and end, and what the passes keep of them.

    Events ``starts[t]`` up to ``starts[t + 1]`` start at t, those at the places ``ends[t]`` up to ``ends[t +
    1]`` of ``by_end`` end after t words. ``entry`` is the sum over all jumps into an event, ``into`` what
    the jump into it is worth: the event and all ways to go on.
    """

    starts: Longs  # (m + 1,)
    ends: Longs  # (m + 2,)
    entry: Floats  # (events,)
    into: Floats  # (events,)


class AlignmentLattice(NamedTuple):
    """All that can make an abstract, with what a pass keeps: each needs one of its own."""

    emission: Emission
    chain: Chain
    leaps: Leaps


def lattice(emission: Emission, chain: Chain) -> AlignmentLattice:
    """Return a lattice with room for what is kept of events."""
    m, events = len(emission.abstract), emission.events
    starts = np.searchsorted(events.start, np.arange(m + 1))
    ends = np.append(0, np.cumsum(np.bincount(events.start + events.length, minlength=m + 1)))
    leaps = Leaps(starts, ends, np.zeros(len(events.start)), np.zeros(len(events.start)))
    return AlignmentLattice(emission, chain, leaps)


class Alphas(NamedTuple):
    """The forward sums A of some rows and those over the jumps after each row, and the scales of all rows."""

    scaled: Floats  # (rows + 1, n + 1)
    jumped: Floats  # (rows, n + 2)
    log_scale: Floats  # (m + 1,)


@compiled
def _forget(share: float, row: Floats) -> None:
    """Spread a share of a row evenly over its positions: a symmetric step, the same forward and backward."""
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
    """Fill the rows after ``first`` up to ``last``, of which the table holds the first one."""
    emission, chain, leaps = lattice
    events, log_scale = emission.events, alphas.log_scale
    n = len(emission.document)
    source, sums, words = np.empty(n + 1), np.empty(n + 3), np.empty(n)
    move = 1.0 - chain.p0
    for t in range(first, last):
        before, row = alphas.scaled[t - first], alphas.scaled[t - first + 1]
        arrived = alphas.jumped[t - first]
        # In place: `backward` wants the row that was jumped from. Checkpoints hold it as it was before.
        _forget(emission.forget[t], before)
        source[:] = before / chain.total
        add_jumps(chain.jumps, source, sums, arrived, False)
        word_row(emission, t, words)
        null = chain.p0 * emission.null[t]
        if chain.null_moves:
            # A null word is at a document word here (table 3), and position 0 is none.
            row[0] = 0.0
            for i in range(1, n + 1):
                row[i] = arrived[i] * (null + move * words[i - 1])
        else:
            row[0] = null * before[0]
            for i in range(1, n + 1):
                row[i] = null * before[i] + move * arrived[i] * words[i - 1]
        for event in range(leaps.starts[t], leaps.starts[t + 1]):
            # By event: where it ends, this row may be out of those at hand.
            leaps.entry[event] = arrived[events.position[event]]
        begun, scale = -1, 0.0
        for place in range(leaps.ends[t + 1], leaps.ends[t + 2]):
            one = emission.by_end[place]
            if events.start[one] != begun:
                begun = events.start[one]
                # The entry has the scale of its first row, `row` as yet that of row t.
                scale = move * exp(log_scale[begun] - log_scale[t])
            entry = scale * leaps.entry[one]
            row[events.position[one] + events.width[one] - 1] += entry * emission.prob[one]
        divisor = max(row.sum(), SMALLEST)
        row /= divisor
        log_scale[t + 1] = log_scale[t] + log(divisor)


@compiled
def jump_to_end(chain: Chain, row: Floats) -> float:
    """Return P(end), scaled, after the last row of A, (n + 1,)."""
    n = len(row) - 1
    out = np.empty(n + 2)
    add_jumps(chain.jumps, row / chain.total, np.empty(n + 3), out, False)
    return (1.0 - chain.p0) * float(out[n + 1])


class Sums(NamedTuple):
    """Where the backward pass puts what is expected: posteriors, and jumps where they are ``counting``.

    Jumps are added up by cell, and as departures / total by position.
    """

    null: Floats  # (m,)
    events: Floats  # (events,)
    near: Floats
    far: Floats
    departures: Floats  # (n + 1,)
    counting: bool


class Room(NamedTuple):
    """Working space: vectors over positions, over targets, for prefix sums and words, and two rows of beta.

    beta_t(e), the sum over all ways to go on from e after t words, is in ``beta[t % 2]``. It is kept divided
    by the probability of the whole pair over that of the scale of row t, so that A_t(e) * beta_t(e) is the
    posterior of the state.
    """

    source: Floats  # (n + 1,)
    target: Floats  # (n + 2,)
    arrived: Floats  # (n + 2,)
    sums: Floats  # (n + 3,)
    words: Floats  # (n,)
    beta: Floats  # (2, n + 1)


def room(n: int) -> Room:
    """Return working space for a document of n words."""
    return Room(
        np.empty(n + 1), np.zeros(n + 2), np.empty(n + 2), np.empty(n + 3), np.empty(n), np.zeros((2, n + 1))
    )


@compiled
def begin_backward(
    lattice: AlignmentLattice, row: Floats, log_scale: Floats, end: float, sums: Sums, room: Room
) -> None:
    """Fill beta of the last row, which ``row`` is of A, and the posteriors of the events that end there."""
    m, n = len(lattice.emission.abstract), len(lattice.emission.document)
    # Set for this row alone: the target n + 1 is the end, and all other jumps lead to a word.
    room.target[n + 1] = (1.0 - lattice.chain.p0) / end
    _leave(lattice.chain, row, room, room.beta[m % 2], sums)
    room.target[n + 1] = 0.0
    _land(lattice, m, room.beta[m % 2], log_scale, sums.events)


@compiled
def backward(
    lattice: AlignmentLattice, first: int, last: int, alphas: Alphas, sums: Sums, room: Room
) -> None:
    """Fill the posteriors of null and of the events that end here, and turn ``jumped`` into those of words.

    ``alphas`` are those of ``forward`` over the same rows, and beta is that of row ``last``.
    """
    emission, chain, leaps = lattice
    null, log_scale = sums.null, alphas.log_scale
    n = len(emission.document)
    move = 1.0 - chain.p0
    for t in range(last - 1, first - 1, -1):
        before, arrived = alphas.scaled[t - first], alphas.jumped[t - first]
        after, here = room.beta[(t + 1) % 2], room.beta[t % 2]
        scale = exp(log_scale[t] - log_scale[t + 1])
        from_null = scale * chain.p0 * emission.null[t]
        # A copy: `arrived` becomes the posteriors of the words, which are handed out without another table.
        room.arrived[:] = arrived
        word_row(emission, t, room.words)
        for i in range(1, n + 1):
            room.target[i] = move * scale * room.words[i - 1] * after[i]
            arrived[i] = room.arrived[i] * room.target[i]
        for event in range(leaps.starts[t + 1] - 1, leaps.starts[t] - 1, -1):
            room.target[emission.events.position[event]] += leaps.into[event]
        null[t] = 0.0
        if chain.null_moves:
            for i in range(1, n + 1):
                null[t] += from_null * room.arrived[i] * after[i]
                room.target[i] += from_null * after[i]
            _leave(chain, before, room, here, sums)
        else:
            for e in range(n + 1):
                null[t] += from_null * before[e] * after[e]
            _leave(chain, before, room, here, sums)
            for e in range(n + 1):
                here[e] += from_null * after[e]
        # Events that end after t words land before the position is forgotten: `_land` comes after.
        _forget(emission.forget[t], here)
        _land(lattice, t, here, log_scale, sums.events)


@compiled
def _land(lattice: AlignmentLattice, t: int, beta: Floats, log_scale: Floats, posterior: Floats) -> None:
    """Fill what the events that end after t words are worth, and their posteriors."""
    emission, chain, leaps = lattice
    events = emission.events
    move = 1.0 - chain.p0
    begun, over = -1, 0.0
    for place in range(leaps.ends[t], leaps.ends[t + 1]):
        one = emission.by_end[place]
        if events.start[one] != begun:
            begun = events.start[one]
            # One `exp` for all that start together: `by_end` has those that end together by their start.
            over = move * exp(log_scale[begun] - log_scale[t])
        leaps.into[one] = over * emission.prob[one] * beta[events.position[one] + events.width[one] - 1]
        posterior[one] = leaps.into[one] * leaps.entry[one]


@compiled
def _leave(chain: Chain, row: Floats, room: Room, beta: Floats, sums: Sums) -> None:
    """Sum over the jumps out of each position into ``beta``, and count them."""
    add_jumps(chain.jumps, room.target, room.sums, beta, True)
    # The total divides twice, here and below: departures are jumps over it, as `rejected_jumps` takes them.
    room.source[:] = row / chain.total
    if sums.counting:
        count_jumps(chain.jumps, room.source, room.target, room.sums, sums.near, sums.far)
    for e in range(len(beta)):
        beta[e] /= chain.total[e]
        sums.departures[e] += room.source[e] * beta[e]


@compiled
def totals(jumps: Jumps, n: int) -> Floats:
    """Return the sum of j(i - e) over the targets i = 1..n + 1, for each position e, (n + 1,)."""
    target, out = np.ones(n + 2), np.empty(n + 1)
    # No target, but prefix sums go over it.
    target[0] = 0.0
    add_jumps(jumps, target, np.empty(n + 3), out, True)
    return out
