"""The dependency-propagating Viterbi search as it is defined, hypothesis by hypothesis: slow, and readable.

Hypotheses carry whole stacks, and nothing is bounded. Without a beam it tries every word after everything,
and keeps all hypotheses that differ in their last word, their stack, or the words that they used: exact, and
exponential. With a beam of one it is the search of Wan et al. 2005: one path for each length and last word,
and its stack.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from sentgen.generation.clusters.depviterbi_kernels import DepviterbiLattice


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """The beginning of a sentence: words, head stack with the oldest item first, log-probability."""

    words: tuple[int, ...]
    stack: tuple[int, ...]
    logp: float


def best_paths_plainly(
    lattice: DepviterbiLattice, longest: int, *, nbest: int = 1, beam: int | None = None
) -> dict[int, list[Hypothesis]]:
    """Return by length the most probable sentences with their ends, the best one first."""
    n = len(lattice.start)
    hypotheses = [
        Hypothesis((x,), (x,), float(lattice.start[x]))
        for x in range(n)
        if lattice.limit[x] > 0 and lattice.start[x] > -math.inf
    ]
    found = {}
    for length in range(1, longest + 1):
        if length > 1:
            hypotheses = _kept(list(_extensions(lattice, hypotheses)), nbest, beam)
        whole = [
            Hypothesis(one.words, one.stack, one.logp + float(lattice.end[one.words[-1]]))
            for one in hypotheses
        ]
        found[length] = sorted(whole, key=lambda one: -one.logp)[:nbest]
    return found


def _extensions(lattice: DepviterbiLattice, hypotheses: list[Hypothesis]) -> Iterator[Hypothesis]:
    """Append every word that may be used to every hypothesis."""
    for one in hypotheses:
        used = Counter(one.words)
        for x in range(len(lattice.start)):
            stack, dep = append_to_stack(lattice, one.stack, x)
            p = float(lattice.ngram[one.words[-1], x]) + dep
            emission = float(lattice.emission[x])
            if used[x] < lattice.limit[x] and p > 0 and emission > -math.inf:
                yield Hypothesis((*one.words, x), stack, one.logp + math.log(p) + emission)


def append_to_stack(
    lattice: DepviterbiLattice, stack: tuple[int, ...], x: int
) -> tuple[tuple[int, ...], float]:
    """Return the stack after a word, and the share of its most probable relation (rules 1, 2a and 2b)."""
    # What each item above leaves of a relation.
    left = [lattice.nearness**above for above in reversed(range(len(stack)))]
    shares = [float(lattice.dep[item, x]) * share for item, share in zip(stack, left, strict=True)]
    dep = max(shares, default=0.0)
    if dep == 0:
        return (*stack, x), 0.0
    oldest = shares.index(dep)
    kept = oldest if lattice.governs[stack[oldest], x] else oldest + 1
    return (*stack[:kept], x), dep


def _kept(hypotheses: list[Hypothesis], nbest: int, beam: int | None) -> list[Hypothesis]:
    """Return the n best hypotheses of each kind, and per last word at most as many as the beam holds."""
    hypotheses = sorted(hypotheses, key=lambda one: -one.logp)
    same: defaultdict[object, int] = defaultdict(int)
    last: defaultdict[int, int] = defaultdict(int)
    kept = []
    for one in hypotheses:
        state = (one.words[-1], one.stack, tuple(sorted(one.words)))
        same[state] += 1
        if same[state] <= nbest and (beam is None or last[one.words[-1]] < beam):
            last[one.words[-1]] += 1
            kept.append(one)
    return kept
