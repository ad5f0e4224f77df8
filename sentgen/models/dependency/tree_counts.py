"""Counts of trees, as the dependency model of a batch of sentences needs them, put together from rows.

A batch asks for some *kinds*, tagged words, and for their tags; all other words of the rows are passed over.
Kind 0 is the root and tag 0 the root's: it stands in every sentence once. Everything that Wan et al. 2007,
section 3, divides by something else is a sum over the sentences, so that counts of parts of a corpus add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from sentgen.arrays import Ints, Longs, compiled

MAX_ARGUMENTS = 7
DISTANCES = 3

#: What a row counts (see `TreeRows`): numbers below the first are events.
_PAIR, _ARGUMENTS, _SIBLINGS = 6, 7, 23
_NUMBERS = MAX_ARGUMENTS + 1


class TreeRows(NamedTuple):
    """N rows of counts.

    The columns of a key are what is counted, the ids of a word and its tag, and of another word and its tag,
    -1 where there is none. What is counted is 3 * side + distance - 1 for an event of a head and its
    modifier, 6 for pairs of different tokens in one sentence, 7 + 8 * side + number for heads with a number
    of modifiers on a side, and 23 + side for a modifier next after another below a head: the tag of the head,
    that of the one before in the place of the other word, and that of the modifier.
    """

    keys: Ints  # (N, 5)
    counts: Longs  # (N,)

    @property
    def nbytes(self) -> int:
        """Return the memory that the rows take."""
        return self.keys.nbytes + self.counts.nbytes

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Return all rows of some parts, in new arrays."""
        nothing = cls(np.zeros((0, 5), np.int32), np.zeros(0, np.int64))
        keys, counts = zip(nothing, *parts, strict=True)
        return cls(np.concatenate(keys), np.concatenate(counts))


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


def add_root(counts: TreeCounts, tag_of: Ints) -> None:
    """Add what no row says once all are added: pairs with the root, and those of a token with itself."""
    sentences = counts.kinds[0]
    counts.together[0] += counts.kinds
    counts.together[1:, 0] += counts.kinds[1:]
    kinds = np.arange(1, len(counts.kinds))
    counts.together[kinds, kinds] += counts.kinds[1:]
    np.add.at(counts.with_tags, (kinds, tag_of[1:]), counts.kinds[1:])
    counts.with_tags[1:, 0] += counts.kinds[1:]
    tokens = counts.tags.copy()
    tokens[0] -= sentences
    tags = np.arange(len(tokens))
    counts.with_tags[0] += tokens
    counts.with_tags[0, 0] += sentences
    counts.tags_together[tags, tags] += tokens
    counts.tags_together[0] += tokens
    counts.tags_together[:, 0] += tokens
    counts.tags_together[0, 0] += sentences


@compiled
def add_rows(rows: TreeRows, numbering: TreeNumbering, counts: TreeCounts) -> None:
    """Add what rows say about the kinds and tags of a batch; each row is added once, in any order."""
    for i in range(len(rows.counts)):
        what, word, tag_id, other_word, other_tag_id = rows.keys[i]
        count = rows.counts[i]
        tag, other_tag = _number(numbering.tags, tag_id), _number(numbering.tags, other_tag_id)
        if what >= _SIBLINGS:
            if len(counts.siblings) and tag >= 0:
                before = _number(numbering.tags, other_word)
                _add_sibling(counts.siblings, tag, before, other_tag, what - _SIBLINGS, count)
            continue
        is_word, of_word = word >= 0, other_word >= 0
        if what < _PAIR and not is_word and not of_word:
            # Tags alone have each event once.
            counts.events[_bin(counts.events, what)] += count
            if len(counts.siblings) and tag >= 0:
                _add_modifiers(counts.siblings, tag, other_tag, what // DISTANCES, count)
        one = _kind(numbering.words, numbering.kinds, word, tag) if is_word else tag
        if one < 0:
            continue
        if what > _PAIR:
            side, number = (what - _ARGUMENTS) // _NUMBERS, (what - _ARGUMENTS) % _NUMBERS
            if is_word:
                _add_arguments(counts.arguments, counts.kinds, one, side, number, count)
            else:
                _add_arguments(counts.tag_arguments, counts.tags, one, side, number, count)
                if len(counts.siblings) and number == 0:
                    counts.siblings[one, len(counts.tags), len(counts.tags), side] += count
            continue
        other = _kind(numbering.words, numbering.kinds, other_word, other_tag) if of_word else other_tag
        if other >= 0 and what < _PAIR:
            b = _bin(counts.events, what)
            if is_word and of_word:
                counts.word_word[one, other, b] += count
            elif is_word:
                counts.word_tag[one, other, b] += count
            elif of_word:
                counts.tag_word[one, other, b] += count
            else:
                counts.tag_tag[one, other, b] += count
        elif other >= 0:
            if is_word and of_word:
                _add_pair(counts.together, one, other, count)
            elif is_word:
                counts.with_tags[one, other] += count
            else:
                _add_pair(counts.tags_together, one, other, count)


# No more than what they need is given to the following functions: to hand all counts on takes longer than to
# add a row.


@compiled
def _number(numbers: Ints, number: int) -> int:
    return numbers[number] if 0 <= number < len(numbers) else -1


@compiled
def _kind(words: Ints, kinds: Ints, word: int, tag: int) -> int:
    """Return the number of a kind, whose tag has this number."""
    row = _number(words, word)
    return kinds[row, tag] if row >= 0 and tag >= 0 else -1


@compiled
def _bin(events: Longs, what: int) -> int:
    """Return where an event is counted, by side or by side and distance."""
    return what if len(events) > 2 else what // DISTANCES


@compiled
def _add_pair(pairs: Longs, first: int, second: int, count: int) -> None:
    """Count pairs of different tokens, which are as many in the other order."""
    pairs[first, second] += count
    if first != second:
        pairs[second, first] += count


@compiled
def _add_arguments(arguments: Longs, heads: Longs, head: int, side: int, number: int, count: int) -> None:
    """Count heads with a number of modifiers on a side; each node is once a head on the left."""
    arguments[head, side, number] += count
    if side == 0:
        heads[head] += count


@compiled
def _add_modifiers(siblings: Ints, head: int, modifier: int, side: int, count: int) -> None:
    """Count modifiers as the first and the last on their side, as far as no sibling says otherwise."""
    none, mine = len(siblings), modifier if modifier >= 0 else len(siblings) + 1
    siblings[head, none, mine, side] += count
    siblings[head, mine, none, side] += count


@compiled
def _add_sibling(siblings: Ints, head: int, before: int, modifier: int, side: int, count: int) -> None:
    """Count a modifier next after another: it is not the first, and that is not the last."""
    none, other = len(siblings), len(siblings) + 1
    first, second = before if before >= 0 else other, modifier if modifier >= 0 else other
    siblings[head, first, second, side] += count
    siblings[head, none, second, side] -= count
    siblings[head, first, none, side] -= count
