"""The best path (max-plus), and links out of the posteriors of events, compiled."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sentgen.alignment.jump_kernels import Jumps
from sentgen.alignment.jumps import Floats
from sentgen.alignment.lattice_kernels import Chain, Emission, Indices
from sentgen.models.ngram_table import compiled


@compiled
def log_chain(chain: Chain) -> Chain:
    """Return a chain whose jumps are logs; P(null) stays as it is."""
    jumps = Jumps(np.log(chain.jumps.near), chain.jumps.first, chain.jumps.last, np.log(chain.jumps.far))
    return Chain(chain.p0, jumps, np.log(chain.total), chain.null_moves)


@compiled
def best_jumps(jumps: Jumps, source: Floats, queue: Indices, out: Floats) -> None:
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
def best_scores(emission: Emission, chain: Chain, scores: Floats) -> None:
    """Fill the log-probability of the best way to each position after each word, (m + 1, n + 1).

    ``chain`` is that of ``log_chain``.
    """
    m, n = emission.words.shape
    stay, move = np.log(chain.p0), np.log(1.0 - chain.p0)
    source, arrived = np.empty(n + 1), np.empty(n + 2)
    queue = np.empty(n + 1, np.int64)
    scores[:] = -np.inf
    scores[0, 0] = 0.0
    event = 0
    for t in range(m):
        source[:] = scores[t] - chain.total
        best_jumps(chain.jumps, source, queue, arrived)
        row = scores[t + 1]
        null = stay + np.log(emission.null[t])
        words = np.log(emission.words[t])
        for e in range(n + 1):
            value = (arrived[e] if chain.null_moves else scores[t, e]) + null
            row[e] = value if value > row[e] else row[e]
        for i in range(1, n + 1):
            value = arrived[i] + (move + words[i - 1])
            row[i] = value if value > row[i] else row[i]
        while event < len(emission.start) and emission.start[event] == t:
            end = emission.position[event] + emission.width[event] - 1
            value = arrived[emission.position[event]] + (move + np.log(emission.prob[event]))
            target = scores[t + emission.length[event]]
            target[end] = value if value > target[end] else target[end]
            event += 1


@compiled
def best_path(emission: Emission, chain: Chain, scores: Floats, path: Indices) -> tuple[float, int]:
    """Follow the best path back; return its log-probability and its number of segments.

    ``path`` (m, 5) takes start, length, position, width and event of each segment from the last to the first,
    the width 0 for null and the event -1 for words and null. Of equal ways, a word event comes first, then
    events in their order, then null.
    """
    m, n = emission.words.shape
    stay, move = np.log(chain.p0), np.log(1.0 - chain.p0)
    logp, e = best_source(chain.jumps, scores[m] - chain.total, n + 1)
    ends = (emission.start + emission.length)[emission.by_end]
    segments, t = 0, m
    while t > 0:
        before = scores[t - 1] - chain.total
        best, came = -np.inf, e
        found = (t - 1, 1, e, 0, -1)
        arrived, origin = -np.inf, 0
        if e > 0:
            arrived, origin = best_source(chain.jumps, before, e)
            best, came = arrived + (move + np.log(emission.words[t - 1, e - 1])), origin
            found = (t - 1, 1, e, 1, -1)
        for place in range(np.searchsorted(ends, t), np.searchsorted(ends, t, side="right")):
            one = emission.by_end[place]
            begun, position = emission.start[one], emission.position[one]
            if position + emission.width[one] - 1 != e:
                continue
            value, start = best_source(chain.jumps, scores[begun] - chain.total, position)
            value += move + np.log(emission.prob[one])
            if value > best:
                best, came = value, start
                found = (begun, emission.length[one], position, emission.width[one], one)
        null = (arrived if chain.null_moves else scores[t - 1, e]) + (stay + np.log(emission.null[t - 1]))
        if null > best:
            came = origin if chain.null_moves else e
            found = (t - 1, 1, e, 0, -1)
        for field in range(5):
            path[segments, field] = found[field]
        segments += 1
        t, e = found[0], came
    return logp + move, segments


@compiled
def add_event_links(
    emission: Emission, posterior: Floats, copied: npt.NDArray[np.bool_], links: Floats
) -> None:
    """Add the posteriors of phrase events to their links (m, n): a copy one to one, others each to each."""
    for one in range(len(posterior)):
        for s in range(emission.length[one]):
            for d in range(emission.width[one]):
                if not copied[one] or s == d:
                    links[emission.start[one] + s, emission.position[one] - 1 + d] += posterior[one]
