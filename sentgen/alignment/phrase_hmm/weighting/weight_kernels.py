"""Sums of weights, and of posteriors by weight, compiled."""

from __future__ import annotations

from sentgen.alignment.phrase_hmm.lattice.event_kernels import EventOrder
from sentgen.arrays import Bytes, Floats, Longs, compiled


@compiled
def add_scores(values: Bytes, offsets: Longs, weights: Floats, scores: Floats) -> None:
    """Add the weights of the values (templates, rows, columns) of each place to its score."""
    for one in range(len(values)):
        of = weights[offsets[one] :]
        for t in range(values.shape[1]):
            for i in range(values.shape[2]):
                scores[t, i] += of[values[one, t, i]]


@compiled
def add_counts(values: Bytes, offsets: Longs, posteriors: Floats, counts: Floats) -> None:
    """Add the posterior of each place to the counts of its values; the reverse of ``add_scores``."""
    for one in range(len(values)):
        of = counts[offsets[one] :]
        for t in range(values.shape[1]):
            for i in range(values.shape[2]):
                of[values[one, t, i]] += posteriors[t, i]


@compiled
def add_along(events: EventOrder, scores: Floats, sums: Floats) -> None:
    """Add the scores of its links to the sum of each event; events are copies, linked one to one."""
    for one in range(len(sums)):
        for k in range(events.length[one]):
            sums[one] += scores[events.start[one] + k, events.position[one] - 1 + k]
