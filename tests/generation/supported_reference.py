"""The reference of the search for supported trees: all sentences and trees of a few words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from itertools import product

import numpy as np

from sentgen.generation.bags.problem import ROOT
from sentgen.models.dependency.cluster_model import Arcs, Trigrams


def trigram_logp(ngrams: Trigrams, words: tuple[int, ...]) -> float:
    """Return the log-probability of a sentence with its end: trigrams that were seen, else backed off."""
    size = len(ngrams.bigram)
    seen = dict(zip(ngrams.keys.tolist(), ngrams.trigram.tolist(), strict=True))
    history = (size - 1, *words, size - 1)
    total = float(ngrams.bigram[history[0], history[1]])
    for u, v, x in zip(history, history[1:], history[2:], strict=False):
        backed_off = float(ngrams.backed_off[u, v] + ngrams.bigram[v, x])
        total += seen.get((u * size + v) * size + x, backed_off)
    return total


def trees(length: int) -> Iterator[tuple[int, ...]]:
    """Yield the heads of all projective trees with one root."""
    for heads in product(range(ROOT, length), repeat=length):
        if heads.count(ROOT) == 1 and all(_reaches(heads, place) for place in range(length)):
            arcs = [tuple(sorted((head, place))) for place, head in enumerate(heads) if head != ROOT]
            root = heads.index(ROOT)
            crossing = any(a < c < b < d for a, b in arcs for c, d in arcs)
            if not crossing and not any(a < root < b for a, b in arcs):
                yield heads


def _reaches(heads: tuple[int, ...], place: int) -> bool:
    for _ in heads:
        place = heads[place] if place != ROOT else ROOT
    return place == ROOT


def tree_logp(arcs: Arcs, words: tuple[int, ...], heads: tuple[int, ...]) -> float:
    """Return the log-probability of a tree, -inf if an arc is not supported, or a head has too many modifiers."""
    total = 0.0
    taken: Counter[tuple[int, int]] = Counter()
    for place, head in enumerate(heads):
        if head == ROOT:
            total += float(arcs.root[words[place]])
            continue
        a, b = words[min(place, head)], words[max(place, head)]
        table, kinds = (arcs.left, arcs.left_kind) if head < place else (arcs.right, arcs.right_kind)
        total += float(table[a, b])
        taken[head, int(kinds[a, b])] += 1
    if any(times > arcs.room[words[head], kind] for (head, kind), times in taken.items()):
        return -math.inf
    return total


def best_plainly(
    ngrams: Trigrams, arcs: Arcs, length: int, *, weight: float, limit: np.ndarray
) -> list[tuple[float, tuple[int, ...]]]:
    """Return all sentences of a length that have a tree, with the score of the best one, the best first."""
    shapes = list(trees(length))
    found = []
    for words in product(range(len(arcs.root)), repeat=length):
        if any(times > limit[word] for word, times in Counter(words).items()):
            continue
        tree = max(tree_logp(arcs, words, heads) for heads in shapes)
        score = (1 - weight) * trigram_logp(ngrams, words) + weight * tree
        if tree > -math.inf and score > -math.inf:
            found.append((score, words))
    return sorted(found, key=lambda one: -one[0])
