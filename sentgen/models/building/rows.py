"""The n-grams of each order in sorted order, each linked to its prefix and its suffix in the order below.

The row of an n-gram is its index among the sorted n-grams of its order. Both orders are sorted, so that the
n-grams that begin with a context are neighbors, and the contexts follow each other as they do in the order
below: one parallel walk finds the first row of each context. The suffix of an n-gram is the child, by the
same last word, of the suffix of its prefix: a search among a few neighbors. With these two links every join
of smoothing is a look-up in an array.

Time O(n-grams), without the search; memory 20 bytes an n-gram of the highest order and 32 of the others, in
the given `Space`, and beyond its limit in files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import Connection

from sentgen.arrays import Bools, Floats, Ints, Longs, Space, compiled
from sentgen.errors import DamagedError
from sentgen.models.base import sql
from sentgen.schema.engine import arrow_reader
from sentgen.schema.store import raw
from sentgen.schema.tables.corpus import BOS, EOS, UNK

#: Rows processed at once: an interrupt waits for them, and after them pages of files are given back.
BLOCK = 1 << 18
#: Rows that are read at once.
_READ = 1 << 17
#: Errors that `_find_prefixes` returns instead of a row.
_UNSORTED, _REPEATED, _MISSING = -2, -3, -4
_FILE = "build.sql"


@dataclass(slots=True)
class NgramRows:
    """The N n-grams of one order, sorted by their words; the order below has M.

    Below order 1 there is one n-gram, the empty context.
    """

    n: int
    first: Ints  # (M + 1,) row of the first n-gram with each prefix; those of prefix i end at first[i + 1]
    last: Ints  # (N,) last word
    suffix: Ints  # (N,) row of the last n - 1 words in the order below, until there are prefixes
    prefix: Ints  # (N,) row of the first n - 1 words there; empty until `find_prefixes`
    anchor: Ints  # (N,) greatest word
    value: Floats  # (N,) count; then adjusted count; then probability, 0 if the n-gram is not in the model
    weight: Floats  # (N,) back-off weight, 1 if it is no context; empty in the highest order
    kept: Bools  # (N,) whether its count is high enough; empty if all are
    begins: tuple[int, int]  # first and past-the-end row of the n-grams that begin with <s>

    def spans(self) -> Iterator[tuple[int, int]]:
        """Yield ranges of contexts, as rows of the order below: about `BLOCK` n-grams or one context each."""
        start, end = 0, len(self.first) - 1
        while start < end:
            target = np.int32(min(int(self.first[start]) + BLOCK, 2**31 - 1))
            until = max(start + 1, int(np.searchsorted(self.first, target, side="right")) - 1)
            yield start, min(until, end)
            start = until

    def blocks(self) -> Iterator[tuple[int, int]]:
        """Yield ranges of up to `BLOCK` rows."""
        for start in range(0, len(self.last), BLOCK):
            yield start, min(start + BLOCK, len(self.last))

    def counts_of(self, values: int) -> list[int]:
        """Return how many rows have each value from 1 to ``values``."""
        counts = np.zeros(values, np.int64)
        for start, end in self.blocks():
            counts += [np.count_nonzero(self.value[start:end] == r) for r in range(1, values + 1)]
        return counts.tolist()

    def find_prefixes(self, space: Space) -> None:
        """Set `prefix`, and drop `suffix`, whose memory it takes over once smoothing needs it no more."""
        self.prefix, self.suffix = self.suffix, self.suffix[:0]
        for start, end in self.spans():
            sizes = np.diff(self.first[start : end + 1])
            prefixes = np.repeat(np.arange(start, end, dtype=np.int32), sizes)
            self.prefix[self.first[start] : self.first[end]] = prefixes
            space.relax()

    def find_suffixes(self, below: NgramRows, space: Space) -> None:
        """Set `suffix`, the rows in the order below.

        Raises:
            DamagedError: an n-gram without its suffix.
        """
        for start, end in self.spans():
            first, suffix = self.first[start : end + 1], below.suffix[start:end]
            if not _find_suffixes(first, self.last, suffix, below.first, below.last, self.suffix):
                raise damaged(self.n)
            space.relax()

    @classmethod
    def read_unigrams(cls, connection: Connection, min_count: int, unknown: bool, space: Space) -> NgramRows:
        """Read ``counted_1``, with a row for <unk> and no count for <s>.

        These and </s> are kept, however rare. ``<unk>`` has a count only if the text has it; without one, it
        is kept if it is to have a probability.
        """
        words, counts = np.array(sql.run(connection, _FILE, "unigrams"), np.int64).reshape(-1, 2).T
        if not len(words) or words[0] != UNK:
            words, counts = np.append(UNK, words), np.append(0, counts)
        kept = counts >= min_count
        kept[words <= EOS] = True
        kept[0] = unknown or counts[0] > 0
        counts[words == BOS] = 0
        rows = NgramRows.of_words(words, space)
        rows.value[:], rows.kept = counts, kept
        return rows

    @classmethod
    def read_contexts(cls, connection: Connection, space: Space) -> NgramRows:
        """Read the words of ``counted_1`` as the contexts of bigrams; they may be part of the vocabulary."""
        words = np.array(sql.run(connection, _FILE, "unigrams"), np.int32).reshape(-1, 2)[:, 0]
        return NgramRows.of_words(words, space)

    @classmethod
    def read_rows(cls, connection: Connection, below: NgramRows, min_count: int, space: Space) -> NgramRows:
        """Read ``part_n`` of the next order and link its n-grams; DuckDB sorts rows that are not sorted.

        Raises:
            DamagedError: an n-gram without its prefix or its suffix.
        """
        rows = NgramRows.read_continuations(connection, below, min_count, space)
        rows.find_suffixes(below, space)
        return rows

    @classmethod
    def read_continuations(
        cls, connection: Connection, below: NgramRows, min_count: int, space: Space
    ) -> NgramRows:
        """Read ``part_n`` as `read_rows` does, but without links to suffixes, which may be in another range.

        Raises:
            DamagedError: an n-gram without its prefix.
        """
        n = below.n + 1
        rows = NgramRows.allocate(
            n, int(sql.run(connection, _FILE, "size", n=n)[0][0]), len(below.last), space
        )
        size = _fill(connection, rows, below, space, in_order=False)
        if size == _UNSORTED:
            size = _fill(connection, rows, below, space, in_order=True)
        if size < 0:
            raise damaged(n)
        rows.last, rows.suffix = rows.last[:size], rows.suffix[:size]
        rows.anchor, rows.value = rows.anchor[:size], rows.value[:size]
        if min_count > 1:
            rows.kept = space.array(size, np.bool_)
            for start, end in rows.blocks():
                np.greater_equal(rows.value[start:end], min_count, out=rows.kept[start:end])
        rows.begins = int(rows.first[below.begins[0]]), int(rows.first[below.begins[1]])
        return rows

    @classmethod
    def of_words(cls, words: Ints | Longs, space: Space) -> NgramRows:
        """Return the unigrams of ascending words."""
        rows = cls.allocate(1, len(words), 1, space)
        rows.first[1] = len(words)
        rows.last[:] = rows.anchor[:] = words
        start, end = np.searchsorted(words, [BOS, BOS + 1]).tolist()
        rows.begins = (start, end)
        return rows

    @classmethod
    def allocate(cls, n: int, size: int, contexts: int, space: Space) -> NgramRows:
        """Return uninitialized arrays for ``size`` n-grams of order n after so many contexts."""
        return cls(
            n,
            first=space.array(contexts + 1, np.int32),
            last=space.array(size, np.int32),
            suffix=space.array(size, np.int32),
            prefix=np.empty(0, np.int32),
            anchor=space.array(size, np.int32),
            value=space.array(size, np.float64),
            weight=np.empty(0),
            kept=np.empty(0, np.bool_),
            begins=(0, 0),
        )


def words_of(orders: Sequence[NgramRows], n: int, chosen: Ints | Longs) -> Ints:
    """Return the words of ascending rows of order n as (n, rows) int32; ``orders`` begins with order 1."""
    words = np.empty((n, len(chosen)), np.int32)
    for rows in reversed(orders[:n]):
        np.take(rows.last, chosen, out=words[rows.n - 1])
        chosen = rows.prefix[chosen]
    return words


def damaged(n: int) -> DamagedError:
    """Return the error that an n-gram of an order lacks its prefix or its suffix."""
    return DamagedError(f"the counts of order {n} do not fit those of order {n - 1}; see: sentgen db check")


def _fill(connection: Connection, rows: NgramRows, below: NgramRows, space: Space, *, in_order: bool) -> int:
    """Read words and counts, and find the prefixes; return the number of n-grams, or a negative error."""
    n, at, row = rows.n, -1, 0
    words = np.full((n, _READ + 1), -1, np.int32)
    listed = sql.words(n)
    order = f"order by {listed}" if in_order else ""
    query = sql.statements(_FILE)["rows"].format(n=n, words=listed, order=order)
    for batch in arrow_reader(raw(connection), query, rows=_READ):
        size = batch.num_rows
        *columns, counts = (column.to_numpy() for column in batch.columns)
        for k, column in enumerate(columns):
            words[k, 1 : size + 1] = column
        following = _find_prefixes(words, size, below.last, rows.first, at, row)
        if following == _REPEATED:
            before, counts = _sum_repeated(words, counts)
            rows.value[row - 1 : row] += before
            size = len(counts)
            following = _find_prefixes(words, size, below.last, rows.first, at, row)
        if following < -1:
            return following
        at, end = following, row + size
        rows.last[row:end], rows.value[row:end] = words[n - 1, 1 : size + 1], counts
        np.max(words[:, 1 : size + 1], axis=0, out=rows.anchor[row:end])
        words[:, 0] = words[:, size]
        row = end
        space.relax()
    rows.first[at + 1 :] = row
    return row


def _sum_repeated(words: Ints, counts: Longs) -> tuple[int, Longs]:
    """Keep one of equal n-grams; return what to add to the n-gram before them, and the sums of the others."""
    size = len(counts)
    new = np.flatnonzero((words[:, 1 : size + 1] != words[:, :size]).any(axis=0))
    if not len(new):
        return int(counts.sum()), counts[:0]
    words[:, 1 : len(new) + 1] = words[:, new + 1]
    return int(counts[: new[0]].sum()), np.add.reduceat(counts, new)


@compiled
def _find_prefixes(words: Ints, size: int, lower: Ints, first: Ints, at: int, row: int) -> int:
    """Set ``first`` for the prefixes of a batch; return the row of the last prefix, or a negative error.

    A row of the order below without n-grams ends in </s>, which ends no prefix: it is skipped.

    Args:
        words: (n, more than size) the n-gram before the batch, and those of the batch.
        size: number of the n-grams of the batch.
        lower: last words of the order below.
        first: as in `NgramRows`; filled up to the last prefix that was read.
        at: row of the prefix of the n-gram before, -1 if there is none.
        row: row of the first n-gram of the batch.
    """
    n = len(words)
    for i in range(1, size + 1):
        k = 0
        while k < n and words[k, i] == words[k, i - 1]:
            k += 1
        if k == n:
            return _REPEATED
        if words[k, i] < words[k, i - 1]:
            return _UNSORTED
        if k == n - 1:
            continue
        while True:
            at += 1
            if at == len(lower):
                return _MISSING
            first[at] = row + i - 1
            if lower[at] == words[n - 2, i]:
                break
    return at


@compiled
def _find_suffixes(
    first: Ints, last: Ints, suffix: Ints, children: Ints, lower: Ints, suffixes: Ints
) -> bool:
    """Find the suffix of each n-gram among the children of the suffix of its prefix; False if one is missing.

    Args:
        first: (c + 1,) rows of the n-grams of c prefixes.
        last: last words of the n-grams.
        suffix: (c,) suffixes of the prefixes, two orders below the n-grams.
        children: ``first`` of the order below: the rows of the n-grams that begin with a suffix.
        lower: last words of the order below.
        suffixes: is set to the suffixes of the n-grams.
    """
    for context in range(len(suffix)):
        low, end = children[suffix[context]], children[suffix[context] + 1]
        for row in range(first[context], first[context + 1]):
            high = end
            while low < high:
                middle = (low + high) >> 1
                if lower[middle] < last[row]:
                    low = middle + 1
                else:
                    high = middle
            if low == end or lower[low] != last[row]:
                return False
            suffixes[row] = low
    return True
