"""Sort the tokens of a segment by their forms and lemmas: where each of them occurs.

Ids are small and dense, so that the tokens are not compared: how often each word occurs says where its tokens
begin, and one more pass over the text puts each token into the next place of its word, in ascending order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from sqlalchemy import Connection, func, select

from sentgen.arrays import Ints, Longs, compiled
from sentgen.schema.engine import arrow_reader, raw
from sentgen.schema.store import scalar
from sentgen.schema.tables.corpus import sentence
from sentgen.schema.tables.counts import ATTRIBUTES

#: Bytes of memory for each token that is sorted: its number and its word.
BYTES_PER_TOKEN = 12
#: Rows that are read, and written, at once.
_ROWS = 1 << 20

_APPEND = """
insert into occurrence by name
select {segment} as segment_id, '{attribute}' as attribute, word_id, token
from _rows
"""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Sentences with consecutive ids, whose tokens are in the store.

    Attributes:
        first, last: ids of the first and the last sentence.
        first_token: number of the first token.
    """

    first: int
    last: int
    first_token: int


def next_token(connection: Connection) -> int:
    """Return the number of the token that is stored next: behind all that there are, 1 without any."""
    return scalar(connection, select(func.max(sentence.c.first_token + sentence.c.length))) or 1


@compiled
def _place(ids: Ints, first_word: int, ends: Longs, token: int, tokens: Longs) -> None:
    """Put the number of each token, from ``token`` on, behind those of its word, if there is room."""
    for i in range(ids.size):
        word = ids[i] - first_word
        if 0 <= word < ends.size:
            place = ends[word]
            if 0 <= place < tokens.size:
                tokens[place] = token + i
            ends[word] = place + 1


def append_occurrences(connection: Connection, segment_id: int, stretch: Stretch, *, memory: int) -> None:
    """Store where the words of sentences occur, which are in the store, sorted by word.

    Linear in the tokens. Where memory does not hold all of them, they are read once for each part that it
    does hold: a range of words, or as many tokens of one that is too frequent for that.

    Args:
        connection: the transaction.
        segment_id: segment that the rows belong to.
        stretch: the sentences.
        memory: bytes that sorting may take.
    """
    most = max(memory // BYTES_PER_TOKEN, _ROWS)
    for attribute, column in ATTRIBUTES.items():
        for words, tokens in _sorted(_Column(connection, stretch, column), most):
            _rows = pa.table({"word_id": words, "token": tokens})  # found by its name, as `append` does it
            raw(connection).execute(_APPEND.format(segment=segment_id, attribute=attribute))


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of the tokens of some sentences, which is read from the store."""

    connection: Connection
    stretch: Stretch
    name: str

    def parts(self) -> Iterator[tuple[int, Ints]]:
        """Yield the words of the tokens in their order, -1 for none, each part with its first token."""
        at = self.stretch.first_token
        # In the order of the rows: they were appended in that of the text.
        query = f"""
            select coalesce({self.name}, -1) as word
            from token
            where sentence_id between {self.stretch.first} and {self.stretch.last}
        """
        for batch in arrow_reader(raw(self.connection), query, rows=_ROWS):
            words = batch.column("word").to_numpy()
            yield at, words
            at += words.size


def _sorted(column: _Column, most: int) -> Iterator[tuple[Ints, Longs]]:
    """Yield words and the tokens that have them, sorted by both, in blocks."""
    counts = np.zeros(0, np.int64)
    for _, words in column.parts():
        found = np.bincount(words + 1, minlength=counts.size)  # 0 for none
        found[: counts.size] += counts
        counts = found
    counts = counts[1:]
    for first, last, skipped in _ranges(counts, most):
        sizes = counts[first:last]
        tokens = np.empty(min(int(sizes.sum()) - skipped, most), np.int64)
        ends = np.cumsum(sizes) - sizes - skipped
        for token, words in column.parts():
            _place(words, first, ends, token, tokens)
        words = np.repeat(np.arange(first, last, dtype=np.int32), np.minimum(sizes, most))[: tokens.size]
        for start in range(0, tokens.size, _ROWS):
            yield words[start : start + _ROWS], tokens[start : start + _ROWS]


def _ranges(counts: Longs, most: int) -> Iterator[tuple[int, int, int]]:
    """Cut words into ranges of at most so many tokens, or of one word, with the tokens to skip of that."""
    ends = np.cumsum(counts)
    first = done = 0
    while first < counts.size:
        last = max(int(np.searchsorted(ends, done + most, "right")), first + 1)
        total = int(ends[last - 1]) - done
        for skipped in range(0, total, most):
            yield first, last, skipped
        first, done = last, done + total
