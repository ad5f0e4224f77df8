"""Weights that are tuned on gold links: the model as a log-linear one.

Every probability that makes a path, of a word into another, of null into a word, of a copied run or a jump,
is multiplied by exp(the sum of the weights of its features). Without weights the model is what it was, to the
last bit; with them a path has a score, and its posterior is the score over that of all paths.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sentgen.alignment.phrase_hmm.lattice.event_kernels import EventOrder
from sentgen.alignment.phrase_hmm.lattice.jumps import JumpCells
from sentgen.alignment.phrase_hmm.lattice.lattice_kernels import Emission
from sentgen.alignment.phrase_hmm.weighting.weight_names import JUMP_ENDS, LINK_TEMPLATES, NULL_TEMPLATES, OFFSETS, RUNS
from sentgen.alignment.phrase_hmm.weighting.clues import Clues
from sentgen.alignment.phrase_hmm.weighting.link_counts import LinkCounts
from sentgen.alignment.phrase_hmm.weighting.weight_kernels import add_along, add_scores
from sentgen.arrays import Floats, Longs

#: Where the weights of the templates of each kind begin.
LINK_OFFSETS = np.array(OFFSETS[: len(LINK_TEMPLATES)], np.int64)
NULL_OFFSETS = np.array(OFFSETS[len(LINK_OFFSETS) : len(LINK_OFFSETS) + len(NULL_TEMPLATES)], np.int64)
RUN_OFFSET, JUMP_OFFSET = OFFSETS[-3], OFFSETS[-2]


@dataclass(frozen=True, slots=True)
class Tuning:
    """What a direction of the model learnt from gold links: weights by `weight_names.NAMES`, and counts."""

    weights: Floats
    counts: LinkCounts


@dataclass(frozen=True, slots=True)
class WeightSums:
    """Sums of weights: of links (m, n), of null words (m,) and of events."""

    links: Floats
    null: Floats
    events: Floats


def scores(clues: Clues, events: EventOrder, weights: Floats) -> WeightSums:
    """Add the weights of a pair up."""
    links, null = np.zeros(clues.links.shape[1:]), np.zeros((1, clues.abstract.shape[1]))
    add_scores(clues.links, LINK_OFFSETS, weights, links)
    add_scores(clues.abstract[:, None, :], NULL_OFFSETS, weights, null)
    of_events = weights[run_places(events)]
    add_along(events, links, of_events)
    return WeightSums(links, null[0], of_events)


def by_place(emission: Emission) -> Emission:
    """Return an emission with a row and a column for each word of the texts, also if it comes again."""
    words = emission.words[emission.abstract][:, emission.document]
    return emission._replace(
        words=words, abstract=np.arange(len(words)), document=np.arange(len(emission.document))
    )


def weighted(emission: Emission, clues: Clues, weights: Floats) -> Emission:
    """Return an emission (``by_place``) whose probabilities are multiplied by exp(scores)."""
    of = scores(clues, emission.events, weights)
    return emission._replace(
        words=emission.words * np.exp(of.links),
        null=emission.null * np.exp(of.null),
        prob=emission.prob * np.exp(of.events),
    )


def weighted_jumps(cells: JumpCells, mass: Floats, weights: Floats) -> Floats:
    """Return the mass of the jump cells, (C,), multiplied by exp(weights)."""
    tilted: Floats = mass * np.exp(weights[jump_places(cells)])
    return tilted


def run_places(events: EventOrder) -> Longs:
    """Return the weight of the length of each event."""
    places: Longs = RUN_OFFSET + np.minimum(events.length - 2, RUNS.size - 1)
    return places


@lru_cache(maxsize=16)
def jump_places(cells: JumpCells) -> Longs:
    """Return the weight of each jump cell, by its last distance, (C,)."""
    places: Longs = JUMP_OFFSET + np.searchsorted(np.array(JUMP_ENDS), cells.last)
    return places
