"""Factors of trees beside those of the papers: siblings, words below their heads, and distances.

A head takes its modifiers on a side one by one, nearest first, and then stops (Eisner 1996, model C; Collins
1997, model 1). With t for tags, w for words, h for the head and m for the modifier:

    sibling  = log P(t_m | t_h, side, tag of the modifier before), which may be none, and t_m the end
    word     = log P(w_m | t_m, w_h, t_h, side) - log P(w_m | t_m)
    distance = log P(distance | t_h, t_m, side), for 1, 2, 3 and more

Each is smoothed by the next coarser distribution, as strongly as if that had been seen a few times:
P(w_m | t_m, t_h, side) and P(w_m | t_m); P(t_m | t_h, side) and P(t_m); P(distance | side).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sentgen.arrays import Floats, Ints
from sentgen.models.dependency.tree_counts import DISTANCES, TreeCounts

#: How many times a coarser distribution counts as seen.
STRENGTH = 4.0


class Automata(NamedTuple):
    """The factors for one sentence of n units that have K different tags, natural logarithms."""

    siblings: (
        Floats  # (K + 1, K + 1, K + 1, 2) head, before (K: none), modifier (K: the end), side; head K: root
    )
    tags: Ints  # (n,) number of the tag of each unit among the K
    words: Floats  # (n + 1, n, 2) head (0: the root), modifier, side
    distances: Floats  # (n + 1, n, 2, 3)


def automata(counts: TreeCounts, kinds: Ints, tags: Ints) -> Automata:
    """Return the factors of one sentence, from the kinds and tags of the root and the units."""
    # The root's tag, 0, comes first; the root is no modifier.
    different, numbers = np.unique(tags, return_inverse=True)
    return Automata(
        _siblings(counts, different),
        np.asarray(numbers[1:] - 1, np.int32),
        _words(counts, kinds, tags),
        _distances(counts, tags),
    )


def _siblings(counts: TreeCounts, tags: Ints) -> Floats:
    """Return the log-probabilities of tags after siblings; the root's tag comes last as a head."""
    size = len(counts.tags)
    heads = np.append(tags[1:], tags[0])
    before, after = np.append(tags[1:], size), np.append(tags[1:], size)
    seen = counts.siblings[heads].astype(float)
    totals = seen.sum(axis=2, keepdims=True)
    of_head = seen.sum(axis=1, keepdims=True)
    # Tags as such, and the end as often as they all: where a head was never seen, it stops as often as not. A
    # tag never seen is half a one. Nothing depends on which other tags the batch asks for.
    nodes = counts.events.sum()
    alone = np.append(np.maximum(counts.tags, 0.5), [nodes + 0.5, nodes - counts.tags[1:].sum()])
    # The root modifies nothing.
    alone[0] = 0.0
    alone = (alone / (2 * nodes + 1))[None, None, :, None]
    coarse = (of_head + STRENGTH * alone) / (of_head.sum(axis=2, keepdims=True) + STRENGTH)
    found = (seen + STRENGTH * coarse) / (totals + STRENGTH)
    return np.ascontiguousarray(np.log(found[:, before][:, :, after]))


def _words(counts: TreeCounts, kinds: Ints, tags: Ints) -> Floats:
    """Return how much likelier a head makes the words of its modifiers."""
    mods, mod_tags = kinds[1:], tags[1:]
    # Words never seen are as likely below any head.
    alone = (np.maximum(counts.kinds[mods], 0.5) / np.maximum(counts.tags[mod_tags], 1.0))[None, :, None]
    of_tag = _by_side(counts.tag_word[np.ix_(tags, mods)])
    tag_tag = _by_side(counts.tag_tag[np.ix_(tags, mod_tags)])
    coarse = (of_tag + STRENGTH * alone) / (tag_tag + STRENGTH)
    together = _by_side(counts.word_word[np.ix_(kinds, mods)])
    of_word = _by_side(counts.word_tag[np.ix_(kinds, mod_tags)])
    found = (together + STRENGTH * coarse) / (of_word + STRENGTH)
    return np.ascontiguousarray(np.log(found / alone))


def _distances(counts: TreeCounts, tags: Ints) -> Floats:
    """Return the logarithms of the probabilities of distances."""
    seen = counts.tag_tag.reshape(*counts.tag_tag.shape[:2], 2, DISTANCES).astype(float)
    alone = counts.events.reshape(2, DISTANCES) + 1.0
    alone /= alone.sum(axis=1, keepdims=True)
    seen = seen[np.ix_(tags, tags[1:])]
    found = (seen + STRENGTH * alone) / (seen.sum(axis=3, keepdims=True) + STRENGTH)
    return np.ascontiguousarray(np.log(found))


def _by_side(events: Ints) -> Floats:
    """Sum events over distances."""
    # The length is given: of no units -1 stands for no length.
    return np.asarray(events.reshape(*events.shape[:-1], 2, events.shape[-1] // 2).sum(axis=-1), float)
