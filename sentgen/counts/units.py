"""From a tree over tokens to a tree over units: base noun phrases as one node each, and other words."""

from __future__ import annotations

import numpy as np

from sentgen.arrays import Bools, Ints, compiled

NOT_LAST = -1


@compiled
def _is_tree(heads: Ints, start: int, size: int, seen: Ints) -> bool:
    """Whether every unit reaches the root; ``seen`` is scratch, 1-based positions."""
    seen[: size + 1] = 0
    roots = 0
    for i in range(1, size + 1):
        if heads[start + i - 1] == NOT_LAST:
            continue
        roots += heads[start + i - 1] == 0
        at = i
        # Marked by where the walk began: meeting one's own mark is a cycle.
        while at != 0 and seen[at] == 0:
            seen[at] = i
            at = heads[start + at - 1]
        if at != 0 and seen[at] == i:
            return False
    return roots == 1


@compiled
def unit_heads(heads: Ints, nps: Ints, lengths: Ints) -> tuple[Ints, Bools]:
    """Return the governing unit of every unit, both represented by their last word.

    The head of a unit is found from its last word: up the tree until the path leaves the unit
    (Wan et al. 2007 represent a base NP by its last word).

    Args:
        heads: (tokens,) int32, 1-based position of the head in its sentence, 0 for the root, -1 for none.
        nps: (tokens,) int32, number of the base NP in the sentence, 0 outside.
        lengths: (sentences,) int32.

    Returns:
        (tokens,) int32: on the last word of a unit the position of the last word of the governing unit, 0 for
        the root; ``NOT_LAST`` elsewhere. And (sentences,) bool: whether the units of the sentence form a
        tree; where they do not (a base NP that is no subtree), all its entries are ``NOT_LAST``.
    """
    result = np.full(heads.size, NOT_LAST, np.int32)
    trees = np.ones(lengths.size, np.bool_)
    longest = 0
    for size in lengths:
        longest = max(longest, size)
    last = np.empty(longest + 1, np.int32)
    seen = np.empty(longest + 1, np.int32)
    start = 0
    for s in range(lengths.size):
        size = lengths[s]
        # From the right: the last word of a phrase is known before its other words.
        for i in range(size, 0, -1):
            same = i < size and nps[start + i - 1] > 0 and nps[start + i - 1] == nps[start + i]
            last[i] = last[i + 1] if same else i
        for i in range(1, size + 1):
            if last[i] != i or heads[start + i - 1] < 0:
                continue
            at = heads[start + i - 1]
            steps = 0
            # `steps` bounds the walk, should the heads be no tree.
            while at > 0 and last[at] == i and steps <= size:
                at = heads[start + at - 1]
                steps += 1
            result[start + i - 1] = last[at] if at > 0 else 0
        if size and heads[start] >= 0 and not _is_tree(result, start, size, seen):
            trees[s] = False
            result[start : start + size] = NOT_LAST
        start += size
    return result, trees
