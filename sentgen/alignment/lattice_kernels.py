"""Forward and backward over segments, compiled; ``inference_reference`` says the same over states, plainly.

The state after t abstract words is the last position e in the document (0 before the first phrase), because a
jump depends on nothing else. With A_t(e) the sum over all ways to get there and B_t(i) the sum over all jumps
to i, an event that rewrites the document phrase i..i+k-1 into l abstract words adds B_t(i) * p to
A_t+l(i + k - 1). Events of one word on each side are the dense matrix ``words``, all others a list.

Row t is divided by the sum of what entered it (but see ``SMALLEST``); ``log_scale[t]`` is the log of all
divisors so far. So long texts do not underflow.
"""

from __future__ import annotations

from math import exp, log
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sentgen.alignment.jump_kernels import Jumps, count_jumps, jump_backward, jump_forward
from sentgen.alignment.jumps import Floats
from sentgen.models.ngram_table import compiled

Indices = npt.NDArray[np.int64]

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

    ``words[t, i]`` is that of document word i into abstract word t, both from 0, ``null[t]`` that of null
    into it. Events of more words rewrite ``width`` document words from ``position`` (from 1) on into
    ``length`` abstract words from ``start`` (from 0) on; they are sorted by ``start``. ``by_end`` sorts them
    by where they end in the abstract. ``forget[t]`` is the probability that the position is forgotten before
    abstract word t, and any position, 0 to n, as likely as any other.
    """

    words: Floats  # (m, n)
    null: Floats  # (m,)
    start: Indices  # (events,)
    length: Indices
    position: Indices
    width: Indices
    prob: Floats
    by_end: Indices
    forget: Floats  # (m,)


@compiled
def _forget(share: float, row: Floats) -> None:
    """Spread a share of a row evenly over its positions: a symmetric step, the same forward and backward."""
    if share > 0.0:
        row[:] = (1.0 - share) * row + share * row.sum() / len(row)


@compiled
def forward(emission: Emission, chain: Chain, scaled: Floats, jumped: Floats, log_scale: Floats) -> float:
    """Fill A (m + 1, n + 1), sums over jumps (m, n + 2) and scales (m + 1,); return P(end), scaled."""
    m, n = emission.words.shape
    source, sums = np.empty(n + 1), np.empty(n + 3)
    scaled[0, :] = 0.0
    scaled[0, 0] = 1.0
    log_scale[0] = 0.0
    move = 1.0 - chain.p0
    event = 0
    for t in range(m):
        _forget(emission.forget[t], scaled[t])
        source[:] = scaled[t] / chain.total
        jump_forward(chain.jumps, source, sums, jumped[t])
        row, arrived = scaled[t + 1], jumped[t]
        null = chain.p0 * emission.null[t]
        if chain.null_moves:
            row[0] = 0.0
            for i in range(1, n + 1):
                row[i] = arrived[i] * (null + move * emission.words[t, i - 1])
        else:
            row[0] = null * scaled[t, 0]
            for i in range(1, n + 1):
                row[i] = null * scaled[t, i] + move * arrived[i] * emission.words[t, i - 1]
        begun, scale = -1, 0.0
        while event < len(emission.by_end):
            one = emission.by_end[event]
            if emission.start[one] + emission.length[one] != t + 1:
                break
            if emission.start[one] != begun:
                begun = emission.start[one]
                scale = move * exp(log_scale[begun] - log_scale[t])
            entry = scale * jumped[begun, emission.position[one]]
            row[emission.position[one] + emission.width[one] - 1] += entry * emission.prob[one]
            event += 1
        divisor = max(row.sum(), SMALLEST)
        row /= divisor
        log_scale[t + 1] = log_scale[t] + log(divisor)
    source[:] = scaled[m] / chain.total
    last = np.empty(n + 2)
    jump_forward(chain.jumps, source, sums, last)
    return move * float(last[n + 1])


class Counts(NamedTuple):
    """Where the expected jumps are added up: by cell, and as departures / total by position, (n + 1,)."""

    near: Floats
    far: Floats
    departures: Floats


class Room(NamedTuple):
    """Working space: vectors over positions, over targets, and for prefix sums."""

    source: Floats  # (n + 1,)
    target: Floats  # (n + 2,)
    arrived: Floats  # (n + 2,)
    sums: Floats  # (n + 3,)


@compiled
def backward(
    emission: Emission,
    chain: Chain,
    scaled: Floats,
    jumped: Floats,
    log_scale: Floats,
    end: float,
    null: Floats,
    events: Floats,
    counts: Counts,
    counting: bool,
) -> None:
    """Fill the posteriors of null (m,) and of events, and turn ``jumped[:, 1 : n + 1]`` into those of words.

    beta_t(e), the sum over all ways to go on from e after t words, is kept divided by the probability of the
    whole pair over that of the scale of row t, so that A_t(e) * beta_t(e) is the posterior of the state. It
    is a ring of as many rows as the longest event spans.
    """
    m, n = emission.words.shape
    rows = 2
    for one in range(len(emission.length)):
        rows = max(rows, emission.length[one] + 1)
    beta = np.zeros((rows, n + 1))
    room = Room(np.empty(n + 1), np.zeros(n + 2), np.empty(n + 2), np.empty(n + 3))
    move = 1.0 - chain.p0
    room.target[n + 1] = move / end
    _leave(chain, scaled[m], room, beta[m % rows], counts, counting)
    room.target[n + 1] = 0.0
    event = len(emission.start)
    for t in range(m - 1, -1, -1):
        after = beta[(t + 1) % rows]
        scale = exp(log_scale[t] - log_scale[t + 1])
        from_null = scale * chain.p0 * emission.null[t]
        room.arrived[:] = jumped[t]
        for i in range(1, n + 1):
            room.target[i] = move * scale * emission.words[t, i - 1] * after[i]
            jumped[t, i] = room.arrived[i] * room.target[i]
        length, over, stop = 0, 0.0, 0
        while event > 0 and emission.start[event - 1] == t:
            event -= 1
            if emission.length[event] != length:
                length = emission.length[event]
                over, stop = move * exp(log_scale[t] - log_scale[t + length]), (t + length) % rows
            position = emission.position[event]
            into = over * emission.prob[event] * beta[stop, position + emission.width[event] - 1]
            events[event] = into * room.arrived[position]
            room.target[position] += into
        null[t] = 0.0
        if chain.null_moves:
            for i in range(1, n + 1):
                null[t] += from_null * room.arrived[i] * after[i]
                room.target[i] += from_null * after[i]
            _leave(chain, scaled[t], room, beta[t % rows], counts, counting)
        else:
            for e in range(n + 1):
                null[t] += from_null * scaled[t, e] * after[e]
            _leave(chain, scaled[t], room, beta[t % rows], counts, counting)
            for e in range(n + 1):
                beta[t % rows, e] += from_null * beta[(t + 1) % rows, e]
        _forget(emission.forget[t], beta[t % rows])


@compiled
def _leave(chain: Chain, row: Floats, room: Room, beta: Floats, counts: Counts, counting: bool) -> None:
    """Sum over the jumps out of each position into ``beta``, and count them."""
    jump_backward(chain.jumps, room.target, room.sums, beta)
    room.source[:] = row / chain.total
    if counting:
        count_jumps(chain.jumps, room.source, room.target, room.sums, counts.near, counts.far)
    for e in range(len(beta)):
        beta[e] /= chain.total[e]
        counts.departures[e] += room.source[e] * beta[e]


@compiled
def totals(jumps: Jumps, n: int) -> Floats:
    """Return the sum of j(i - e) over the targets i = 1..n + 1, for each position e, (n + 1,)."""
    target, out = np.ones(n + 2), np.empty(n + 1)
    target[0] = 0.0
    jump_backward(jumps, target, np.empty(n + 3), out)
    return out
