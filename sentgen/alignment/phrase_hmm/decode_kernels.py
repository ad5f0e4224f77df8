"""The best path (max-plus), and links out of the posteriors of events, compiled.

As in ``lattice_kernels``, scores are filled some rows at a time, and what an event takes along over the rows
that it leaps over is kept by event; here the logs of both.
"""

from __future__ import annotations

import numpy as np

from sentgen.alignment.phrase_hmm.kernels import EventOrder
from sentgen.alignment.phrase_hmm.lattice_kernels import AlignmentLattice, Chain, Emission, Jumps, word_row
from sentgen.arrays import Floats, Longs, compiled


@compiled
def _best_jumps(jumps: Jumps, source: Floats, queue: Longs, out: Floats) -> None:
    """Set ``out[i]`` to the greatest source[e] + log j(i - e) over e; ``queue`` is working space, (n + 1,).

    The greatest value of a far cell is that of a sliding window, kept as a queue of falling values.
    """
    n = len(source) - 1
    window = len(jumps.near) // 2
    out[:] = -np.inf
    for d in range(max(-window, 1 - n), min(window, n + 1) + 1):
        weight = jumps.near[d + window]
        start, stop = max(0, 1 - d), min(n, n + 1 - d) + 1
        target, part = out[start + d : stop + d], source[start:stop]
        for k in range(len(part)):
            value = part[k] + weight
            target[k] = value if value > target[k] else target[k]
    for cell in range(len(jumps.far)):
        first, last, weight = jumps.first[cell], jumps.last[cell], jumps.far[cell]
        head, tail, entered = 0, 0, max(0, max(1, first) - last)
        for i in range(max(1, first), min(n + 1, n + last) + 1):
            while entered <= min(n, i - first):
                # What is no greater than a later source can never be the greatest again.
                while tail > head and source[queue[tail - 1]] <= source[entered]:
                    tail -= 1
                queue[tail] = entered
                tail += 1
                entered += 1
            while tail > head and queue[head] < i - last:
                head += 1
            if tail > head:
                value = source[queue[head]] + weight
                out[i] = value if value > out[i] else out[i]


@compiled
def best_source(jumps: Jumps, source: Floats, target: int) -> tuple[float, int]:
    """Return the greatest source[e] + log j(target - e), and e: of several the one nearest to target - 1."""
    n = len(source) - 1
    window = len(jumps.near) // 2
    best, at = -np.inf, 0
    for d in range(max(-window, target - n), min(window, target) + 1):
        value = source[target - d] + jumps.near[d + window]
        if value > best or (value == best and abs(d - 1) < abs(target - at - 1)):
            best, at = value, target - d
    for cell in range(len(jumps.far)):
        for e in range(max(0, target - jumps.last[cell]), min(n, target - jumps.first[cell]) + 1):
            value = source[e] + jumps.far[cell]
            if value > best:
                best, at = value, e
    return best, at


@compiled
def logs(probabilities: AlignmentLattice) -> AlignmentLattice:
    """Return a lattice of logs; P(null) stays as it is."""
    emission, chain, leaps = probabilities
    # Compiled, log 0 is -inf without a warning.
    jumps = Jumps(np.log(chain.jumps.near), chain.jumps.first, chain.jumps.last, np.log(chain.jumps.far))
    words, null, prob = np.log(emission.words), np.log(emission.null), np.log(emission.prob)
    texts = emission.abstract, emission.document
    return AlignmentLattice(
        Emission(words, *texts, null, emission.forget, emission.events, prob, emission.by_end),
        Chain(chain.p0, jumps, np.log(chain.total), chain.null_moves),
        leaps,
    )


@compiled
def best_scores(lattice: AlignmentLattice, first: int, last: int, scores: Floats) -> None:
    """Fill the log-probability of the best way to each position after each word, (rows + 1, n + 1).

    The first row is given. ``lattice`` is one of logs; its ``leaps.entry`` takes the score of the best jump
    into each event.
    """
    emission, chain, leaps = lattice
    events = emission.events
    n = len(emission.document)
    stay, move = np.log(chain.p0), np.log(1.0 - chain.p0)
    source, arrived, words = np.empty(n + 1), np.empty(n + 2), np.empty(n)
    queue = np.empty(n + 1, np.int64)
    for t in range(first, last):
        before, row = scores[t - first], scores[t - first + 1]
        source[:] = before - chain.total
        _best_jumps(chain.jumps, source, queue, arrived)
        null = stay + emission.null[t]
        word_row(emission, t, words)
        for e in range(n + 1):
            row[e] = (arrived[e] if chain.null_moves else before[e]) + null
        for i in range(1, n + 1):
            value = arrived[i] + (move + words[i - 1])
            row[i] = value if value > row[i] else row[i]
        for event in range(leaps.starts[t], leaps.starts[t + 1]):
            leaps.entry[event] = arrived[events.position[event]]
        for index in range(leaps.ends[t + 1], leaps.ends[t + 2]):
            other = emission.by_end[index]
            end = events.position[other] + events.width[other] - 1
            value = leaps.entry[other] + (move + emission.prob[other])
            row[end] = value if value > row[end] else row[end]


@compiled
def follow_back(lattice: AlignmentLattice, first: int, scores: Floats, path: Longs, at: Longs) -> None:
    """Follow the best path back through the rows from ``first`` on, as far as they go.

    ``path`` (m, 5) takes start, length, position, width and event of each segment from the last to the first,
    the width 0 for null and the event -1 for words and null. Of equal ways, a word event comes first, then
    events in their order, then null. ``at`` is where the path has come to: words before it, the position
    there, -1 if it is not known yet, then the target of the jump that leaves from there, and the number of
    segments so far.
    """
    emission, chain, leaps = lattice
    events = emission.events
    stay, move = np.log(chain.p0), np.log(1.0 - chain.p0)
    t, e, target, segments = at[0], at[1], at[2], at[3]
    while t > first:
        if e < 0:
            e = best_source(chain.jumps, scores[t - first] - chain.total, target)[1]
        before = scores[t - 1 - first] - chain.total
        best = -np.inf
        segment = (t - 1, 1, e, 0, -1)
        arrived, origin = -np.inf, 0
        if e > 0:
            arrived, origin = best_source(chain.jumps, before, e)
            word = emission.words[emission.abstract[t - 1], emission.document[e - 1]]
            best = arrived + (move + word)
            segment = (t - 1, 1, e, 1, -1)
        for index in range(leaps.ends[t], leaps.ends[t + 1]):
            event = emission.by_end[index]
            position = events.position[event]
            if position + events.width[event] - 1 != e:
                continue
            value = leaps.entry[event] + (move + emission.prob[event])
            if value > best:
                best = value
                segment = (events.start[event], events.length[event], position, events.width[event], event)
        null = (arrived if chain.null_moves else scores[t - 1 - first, e]) + (stay + emission.null[t - 1])
        if null > best:
            segment = (t - 1, 1, e, 0, -1)
        for field in range(5):
            path[segments, field] = segment[field]
        segments += 1
        t, target = segment[0], segment[2]
        # An event came from a row that may not be at hand yet (-1); a null that stays keeps the position.
        if segment[3] > 0 or chain.null_moves:
            e = origin if segment[4] < 0 else -1
    at[0], at[1], at[2], at[3] = t, e, target, segments


@compiled
def add_event_links(events: EventOrder, posterior: Floats, first: int, links: Floats) -> None:
    """Add the posteriors of phrase events to their links, of the abstract words from ``first`` on, (rows, n).

    The words of a copy are linked one to one, those of another event each to each.
    """
    last = first + len(links)
    for event in range(len(posterior)):
        start, length, copied = events.start[event], events.length[event], events.stems[event]
        for s in range(max(0, first - start), min(length, last - start)):
            # A text that is copied whole has an event for each two of its words.
            for d in range(s if copied else 0, s + 1 if copied else events.width[event]):
                links[start + s - first, events.position[event] - 1 + d] += posterior[event]


@compiled
def share_out_events(
    events: EventOrder, shares: Floats, starts: Longs, columns: Longs, swapped: bool, out: Floats
) -> None:
    """Add what components have in the posteriors of events, (components, events), to their links.

    The links are those of ``add_event_links``, as far as they are wanted: abstract word t, with the document
    words ``columns[k]``, ascending, for k from ``starts[t]`` up to ``starts[t + 1]``; ``out`` is (wanted,
    components). Where the texts of the events are ``swapped``, their abstract is the document of the links.
    """
    for event in range(shares.shape[1]):
        start, length = events.start[event], events.length[event]
        position, width = events.position[event] - 1, events.width[event]
        copied = events.stems[event]
        for s in range(length):
            for d in range(s if copied else 0, s + 1 if copied else width):
                row, column = start + s, position + d
                if swapped:
                    row, column = column, row
                first, last = starts[row], starts[row + 1]
                k = first + np.searchsorted(columns[first:last], column)
                if k < last and columns[k] == column:
                    for component in range(len(shares)):
                        out[k, component] += shares[component, event]
