"""What the sentences of a cluster support: which word a word may govern, on which side, and how often.

The dependencies of `cluster_model` are shares of the sentences that have both words. Here every word of a
sentence needs a head that some sentence of the cluster gives it, on the same side, and a head takes no more
modifiers of a kind, such as subjects, than one of its tokens has in the cluster. For words h and m,

    p(h governs m) = times that h governs m on that side / tokens of h
    p(root h)      = times that h is the root / sentences
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sentgen.arrays import Floats, Ints
from sentgen.models.related.cluster_counts import CountedTree

#: Kinds of modifiers that are told apart, and how many of a kind: two bits each, in 64.
KINDS, MOST = 32, 3


class Arcs(NamedTuple):
    """The supported arcs of n words; probabilities are natural logarithms, -inf without support.

    Rows are earlier, columns later words: ``left[a, b]`` is that of a governing b, ``right[a, b]`` that of b
    governing a. A kind is a relation on a side.
    """

    left: Floats  # (n, n)
    right: Floats  # (n, n)
    left_kind: Ints  # (n, n) from 0
    right_kind: Ints  # (n, n)
    room: Ints  # (n, KINDS) how many modifiers of a kind a word takes
    root: Floats  # (n,)


def supported_arcs(trees: Sequence[CountedTree], n: int) -> Arcs:
    """Count the arcs of some sentences of n different words.

    A pair of words with several relations has the most frequent one; relations beyond the `KINDS` - 1 most
    frequent ones share a kind.
    """
    relations = [Counter[tuple[int, int, str]]() for _ in range(2)]  # a governs b; b governs a
    tokens, roots = np.zeros(n), np.zeros(n)
    most: Counter[tuple[int, tuple[int, str]]] = Counter()
    for tree in trees:
        words = tree.words.tolist()
        np.add.at(tokens, tree.words, 1)
        taken: Counter[tuple[int, tuple[int, str]]] = Counter()
        for place, (head, relation) in enumerate(zip(tree.heads.tolist(), tree.relations, strict=True)):
            if head < 0:
                roots[words[place]] += 1
                continue
            side = int(head > place)
            relations[side][words[min(head, place)], words[max(head, place)], relation] += 1
            taken[head, (side, relation)] += 1
        for (head, kind), times in taken.items():
            most[words[head], kind] = max(most[words[head], kind], times)
    kinds = _kinds(relations)
    room = np.zeros((n, KINDS), np.int32)
    for (word, kind), times in most.items():
        room[word, kinds[kind]] = max(room[word, kinds[kind]], min(times, MOST))
    (left, left_kind), (right, right_kind) = (
        _table(counted, side, kinds, n) for side, counted in enumerate(relations)
    )
    heads = np.maximum(tokens, 1)
    with np.errstate(divide="ignore"):
        return Arcs(
            left=np.log(left / heads[:, None]),
            right=np.log(right / heads),
            left_kind=left_kind,
            right_kind=right_kind,
            room=room,
            root=np.log(roots / max(len(trees), 1)),
        )


def _kinds(relations: Sequence[Counter[tuple[int, int, str]]]) -> dict[tuple[int, str], int]:
    """Number the relations of both sides, the most frequent ones first."""
    counted: Counter[tuple[int, str]] = Counter()
    for side, pairs in enumerate(relations):
        for (_, _, relation), times in pairs.items():
            counted[side, relation] += times
    ranked = sorted(counted, key=lambda kind: (-counted[kind], kind))
    return {kind: min(rank, KINDS - 1) for rank, kind in enumerate(ranked)}


def _table(
    relations: Counter[tuple[int, int, str]], side: int, kinds: dict[tuple[int, str], int], n: int
) -> tuple[Floats, Ints]:
    """Return how often each arc of one side is there, and its kind."""
    count, highest = np.zeros((n, n)), np.zeros((n, n))
    kind = np.zeros((n, n), np.int32)
    # Sorted: of equally frequent relations the first by name, whatever the order of the sentences.
    for (a, b, relation), times in sorted(relations.items()):
        count[a, b] += times
        if times > highest[a, b]:
            highest[a, b], kind[a, b] = times, kinds[side, relation]
    return count, kind
