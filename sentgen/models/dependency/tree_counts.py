"""Count in trees what the dependency model of a batch of sentences needs, in one compiled walk over them.

A batch asks for some *kinds*, tagged words, and for their tags; all other words of the trees are passed over.
Kind 0 is the root and tag 0 the root's: it stands in every sentence once. Everything that Wan et al. 2007,
section 3, divides by something else is a sum over the sentences, so that counts of parts of a corpus add up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sentgen.arrays import Ints, Longs, compiled

MAX_ARGUMENTS = 7
DISTANCES = 3


class Trees(NamedTuple):
    """Some trees, one after the other; S sentences, N nodes."""

    words: Ints  # (N,) word ids
    tags: Ints  # (N,) tag ids
    heads: Ints  # (N,) place of the head among the nodes of its sentence, from 0; -1 below the root
    starts: Longs  # (S + 1,) first node of each sentence


class TreeNumbering(NamedTuple):
    """From the ids of the store to the numbers of a batch, -1 for what it does not ask for.

    Ids beyond the end of an array are not asked for either.
    """

    words: Ints  # (highest word id + 1,) row of `kinds`
    tags: Ints  # (highest tag id + 1,) number of the tag
    kinds: Ints  # (words, T) number of the kind


class TreeCounts(NamedTuple):
    """What was counted for K kinds and T tags; events by side, or by 3 * side + distance - 1, the last axis.

    The side is 0 for left, 1 for right of the head; 7 arguments stand for seven and more.
    """

    kinds: Longs  # (K,) occurrences
    tags: Longs  # (T,)
    together: Longs  # (K, K) sum over the sentences of the products of occurrences
    with_tags: Longs  # (K, T)
    tags_together: Longs  # (T, T)
    events: Longs  # (B,) of all words, whether the batch asks for them or not
    word_word: Ints  # (K, K, B) events, head first
    tag_word: Ints  # (T, K, B)
    word_tag: Ints  # (K, T, B)
    tag_tag: Ints  # (T, T, B)
    arguments: Longs  # (K, 2, 8) occurrences with a number of modifiers on a side
    tag_arguments: Longs  # (T, 2, 8)
    siblings: Ints  # (T, T + 2, T + 2, 2) modifiers by head and the modifier before; see `no_counts`


def no_counts(kinds: int, tags: int, *, distances: bool) -> TreeCounts:
    """Return counts of nothing for some numbers of kinds and tags.

    With ``distances`` there are siblings, too, nearest to the head first: [h, b, m, side] counts modifiers of
    tag m whose head has tag h, and for which the modifier before has tag b. In the place of b, T stands for
    none before, in that of m for the end of that side; T + 1 is any tag that the batch does not ask for.
    """
    bins = 2 * DISTANCES if distances else 2
    return TreeCounts(
        kinds=np.zeros(kinds, np.int64),
        tags=np.zeros(tags, np.int64),
        together=np.zeros((kinds, kinds), np.int64),
        with_tags=np.zeros((kinds, tags), np.int64),
        tags_together=np.zeros((tags, tags), np.int64),
        events=np.zeros(bins, np.int64),
        # 32 bits for the largest tables: no pair is attached two billion times.
        word_word=np.zeros((kinds, kinds, bins), np.int32),
        tag_word=np.zeros((tags, kinds, bins), np.int32),
        word_tag=np.zeros((kinds, tags, bins), np.int32),
        tag_tag=np.zeros((tags, tags, bins), np.int32),
        arguments=np.zeros((kinds, 2, MAX_ARGUMENTS + 1), np.int64),
        tag_arguments=np.zeros((tags, 2, MAX_ARGUMENTS + 1), np.int64),
        siblings=np.zeros((tags, tags + 2, tags + 2, 2) if distances else (0, 0, 0, 0), np.int32),
    )


@compiled
def places_of_heads(positions: Ints, heads: Ints, starts: Longs) -> Ints:
    """Return the place of each node's head among the nodes of its sentence, from 0, and -1 for the root.

    Args:
        positions: (N,) of the nodes in their sentences, from 1.
        heads: (N,) positions of the heads, 0 for the root.
        starts: (S + 1,) first node of each sentence.
    """
    highest = 0
    for position in positions:
        highest = max(highest, position)
    # Never cleared: a sentence sets all positions that it asks for, and 0, the root's head, stays -1.
    places = np.full(highest + 1, -1, np.int32)
    found = np.empty(len(heads), np.int32)
    for s in range(len(starts) - 1):
        for i in range(starts[s], starts[s + 1]):
            places[positions[i]] = i - starts[s]
        for i in range(starts[s], starts[s + 1]):
            found[i] = places[heads[i]]
    return found


@compiled
def count_trees(trees: Trees, numbering: TreeNumbering, counts: TreeCounts) -> None:
    """Add the counts of some trees; linear in the nodes and in the pairs asked for within each sentence."""
    longest = 0
    for s in range(len(trees.starts) - 1):
        longest = max(longest, trees.starts[s + 1] - trees.starts[s])
    # The root and the nodes of one sentence: numbers of kind and tag, and of modifiers on each side.
    kinds, tags = np.zeros(longest + 1, np.int32), np.zeros(longest + 1, np.int32)
    modifiers = np.zeros((longest + 1, 2), np.int32)
    # Which kinds and tags occur in the sentence, and how often.
    of_kind, of_tag = np.zeros(len(counts.kinds), np.int64), np.zeros(len(counts.tags), np.int64)
    which_kinds, which_tags = np.zeros(longest + 1, np.int32), np.zeros(longest + 1, np.int32)
    for s in range(len(trees.starts) - 1):
        start, end = trees.starts[s], trees.starts[s + 1]
        size = end - start + 1
        # The root is in every sentence that has a tree, and in no other.
        if size > 1:
            _number(trees, start, end, numbering, kinds, tags)
            _count_events(trees.heads[start:end], kinds, tags, modifiers, counts)
            _count_arguments(kinds[:size], tags[:size], modifiers, counts)
            if len(counts.siblings):
                _count_siblings(trees.heads[start:end], tags, modifiers, counts.siblings)
            k, t = _distinct(kinds[:size], of_kind, which_kinds), _distinct(tags[:size], of_tag, which_tags)
            _count_pairs(which_kinds[:k], which_tags[:t], of_kind, of_tag, counts)


@compiled
def _number(trees: Trees, start: int, end: int, numbering: TreeNumbering, kinds: Ints, tags: Ints) -> None:
    """Set the numbers of the nodes of one sentence; those of the root are 0."""
    for i in range(start, end):
        word, tag = trees.words[i], trees.tags[i]
        row = numbering.words[word] if word < len(numbering.words) else -1
        column = numbering.tags[tag] if tag < len(numbering.tags) else -1
        kinds[i - start + 1] = numbering.kinds[row, column] if row >= 0 and column >= 0 else -1
        tags[i - start + 1] = column


@compiled
def _count_events(heads: Ints, kinds: Ints, tags: Ints, modifiers: Ints, counts: TreeCounts) -> None:
    """Count the events of one sentence at four levels, and how many modifiers each node has on each side."""
    by_distance = counts.tag_tag.shape[2] > 2
    modifiers[: len(heads) + 1] = 0
    for i in range(1, len(heads) + 1):
        # -1 is the root, which has place 0 here.
        h = heads[i - 1] + 1
        side = 1 if i > h else 0
        modifiers[h, side] += 1
        # Distances count nodes of the layer: in that of units, a noun phrase is one.
        b = 3 * side + min(abs(i - h), 3) - 1 if by_distance else side
        counts.events[b] += 1
        if kinds[i] >= 0:
            if kinds[h] >= 0:
                counts.word_word[kinds[h], kinds[i], b] += 1
            if tags[h] >= 0:
                counts.tag_word[tags[h], kinds[i], b] += 1
        if tags[i] >= 0:
            if kinds[h] >= 0:
                counts.word_tag[kinds[h], tags[i], b] += 1
            if tags[h] >= 0:
                counts.tag_tag[tags[h], tags[i], b] += 1


@compiled
def _count_arguments(kinds: Ints, tags: Ints, modifiers: Ints, counts: TreeCounts) -> None:
    """Count how many modifiers the nodes of one sentence have on each side."""
    for i in range(len(kinds)):
        for side in range(2):
            number = min(modifiers[i, side], 7)
            if kinds[i] >= 0:
                counts.arguments[kinds[i], side, number] += 1
            if tags[i] >= 0:
                counts.tag_arguments[tags[i], side, number] += 1


@compiled
def _count_siblings(heads: Ints, tags: Ints, before: Ints, siblings: Ints) -> None:
    """Count the modifiers of one sentence after those before them on the same side, and the ends of sides.

    ``before`` is room for the tags of the last modifiers of each node.
    """
    none, other = len(siblings), len(siblings) + 1
    before[: len(heads) + 1] = none
    for k in range(2 * len(heads)):
        # Left modifiers from right to left, then right ones from left to right: nearest first.
        side = k // len(heads)
        i = k - len(heads) + 1 if side else len(heads) - k
        h = heads[i - 1] + 1
        if (i > h) == (side == 1):
            mine = tags[i] if tags[i] >= 0 else other
            if tags[h] >= 0:
                siblings[tags[h], before[h, side], mine, side] += 1
            before[h, side] = mine
    for h in range(len(heads) + 1):
        for side in range(2):
            if tags[h] >= 0:
                siblings[tags[h], before[h, side], none, side] += 1


@compiled
def _distinct(numbers: Ints, occurrences: Longs, which: Ints) -> int:
    """List the different numbers of one sentence, count their occurrences, and return how many there are."""
    found = 0
    for number in numbers:
        if number >= 0:
            if occurrences[number] == 0:
                which[found] = number
                found += 1
            occurrences[number] += 1
    return found


@compiled
def _count_pairs(kinds: Ints, tags: Ints, of_kind: Longs, of_tag: Longs, counts: TreeCounts) -> None:
    """Count the occurrences of one sentence and their products, and set the former back to nothing."""
    for kind in kinds:
        counts.kinds[kind] += of_kind[kind]
        for other in kinds:
            counts.together[kind, other] += of_kind[kind] * of_kind[other]
        for tag in tags:
            counts.with_tags[kind, tag] += of_kind[kind] * of_tag[tag]
    for tag in tags:
        counts.tags[tag] += of_tag[tag]
        for other in tags:
            counts.tags_together[tag, other] += of_tag[tag] * of_tag[other]
    for kind in kinds:
        of_kind[kind] = 0
    for tag in tags:
        of_tag[tag] = 0


def _numbers(numbering: TreeNumbering, word: int, tag: int) -> tuple[int, int]:
    """Return the numbers of kind and tag, -1 for what the batch does not ask for."""
    row = int(numbering.words[word]) if word < len(numbering.words) else -1
    column = int(numbering.tags[tag]) if tag < len(numbering.tags) else -1
    return int(numbering.kinds[row, column]) if min(row, column) >= 0 else -1, column


def _add(table: npt.NDArray[np.int64], *place: int) -> None:
    """Count one, unless the batch does not ask for it."""
    if min(place) >= 0:
        table[place] += 1
