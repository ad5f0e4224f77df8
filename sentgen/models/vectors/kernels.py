"""Pairs of a word and a context as numbers, and their counts, compiled."""

from __future__ import annotations

from typing import NamedTuple

from sentgen.arrays import Ints, Longs, compiled


class SentenceBlock(NamedTuple):
    """Whole sentences: for each token its word (-1 for none), and where it stands.

    ``heads`` is 0 for a root and -1 for a token without a tree, ``relations`` the id of the relation to it.
    """

    words: Ints
    sentences: Longs
    positions: Ints
    heads: Ints
    relations: Ints


@compiled
def window_pairs(block: SentenceBlock, window: int, width: int, out: Longs) -> int:
    """Write the pairs of words of a sentence that are no farther apart, each both ways; return how many.

    A pair is ``word * width + context``; the context of a window is a word. Words without a number keep
    their place.
    """
    size, words = 0, block.words
    for i in range(len(words)):
        if words[i] < 0:
            continue
        for j in range(i + 1, min(i + window + 1, len(words))):
            if block.sentences[j] != block.sentences[i]:
                break
            if words[j] >= 0:
                out[size] = words[i] * width + words[j]
                out[size + 1] = words[j] * width + words[i]
                size += 2
    return size


@compiled
def dependency_pairs(block: SentenceBlock, vocabulary: int, width: int, out: Longs) -> int:
    """Write the pairs of heads and modifiers, each both ways; return how many.

    The context is the relation, seen from above or below, with the other word (Levy & Goldberg 2014).
    """
    size, words = 0, block.words
    for i in range(len(words)):
        head = i - block.positions[i] + block.heads[i]
        if block.heads[i] <= 0 or words[i] < 0 or head >= len(words) or head < 0:
            continue
        if block.sentences[head] != block.sentences[i] or words[head] < 0:
            continue
        # Context 0 up to the vocabulary are words of a window; those of relations come behind.
        below = 1 + 2 * block.relations[i]
        out[size] = words[head] * width + below * vocabulary + words[i]
        out[size + 1] = words[i] * width + (below + 1) * vocabulary + words[head]
        size += 2
    return size


@compiled
def run_lengths(keys: Longs, counts: Longs) -> int:
    """Keep each of sorted keys once, with how often it was there; return how many there are."""
    size = 0
    for i in range(len(keys)):
        if size and keys[size - 1] == keys[i]:
            counts[size - 1] += 1
        else:
            keys[size] = keys[i]
            counts[size] = 1
            size += 1
    return size


@compiled
def merged(keys: Longs, counts: Longs, others: Longs, more: Longs, out: Longs, sums: Longs) -> int:
    """Merge two sorted lists of distinct keys with their counts; return how many there are."""
    size, i, j = 0, 0, 0
    while i < len(keys) or j < len(others):
        if j == len(others) or (i < len(keys) and keys[i] < others[j]):
            out[size], sums[size] = keys[i], counts[i]
            i += 1
        elif i == len(keys) or others[j] < keys[i]:
            out[size], sums[size] = others[j], more[j]
            j += 1
        else:
            out[size], sums[size] = keys[i], counts[i] + more[j]
            i += 1
            j += 1
        size += 1
    return size
