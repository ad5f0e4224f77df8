"""Rewrite tables for many pairs, allocated once, in memory or in files, and re-estimated in place.

The cells are those of `parameters.support`: all word pairs that occur together in a pair, and the phrase
pairs that do so in ``min_documents`` pairs. Only phrases that are in that many pairs themselves need be
considered. A cell takes 21 bytes; arrays that do not fit into memory are memory-mapped files.

Inference reads cells in random order. In files larger than memory each read would wait for the disk; so the
cells of a batch of pairs are copied into memory in the order of the table, which is that of the file, and
their counts are copied back in the same order. The sums are the same to the last bit.

A table has a row for each document phrase and a column for each abstract phrase; row r has the cells
``starts[r]`` up to ``starts[r + 1]``, in the order of their columns. Arrays named ``x_of`` and ``x_starts``
have the lists of x in the same form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np

from sentgen.alignment.phrase_hmm.lexicon import PairIds, find_keys, phrase_keys, text_keys
from sentgen.alignment.phrase_hmm.parameters import RewriteTable
from sentgen.alignment.phrase_hmm.settings import PbhmmSettings, Prior
from sentgen.arrays import Bools, Bytes, Floats, Ints, Longs, Space, compiled

#: Kinds of cells; stores hold these numbers.
_PHRASE, WORD, _STEM, _IDENTITY = range(4)


class _Occurrences(NamedTuple):
    """The pairs of each row and the columns of each pair, and the keys of rows and columns.

    Cells other than those of words with words need ``least`` pairs.
    """

    pair_starts: Longs
    pairs_of: Ints
    column_starts: Longs
    columns_of: Ints
    rows: Longs
    columns: Longs
    row_stems: Longs
    column_stems: Longs
    least: int


class _CellArrays(NamedTuple):
    """Column, kind, expected count and probability of each cell, (cells,), and fake counts by kind."""

    targets: Ints
    kinds: Bytes
    counts: Floats
    prob: Floats
    fake: Floats


class _PartArrays(NamedTuple):
    """Index, column, probability and expected count of some cells, in the order of their indexes."""

    places: Longs
    targets: Ints
    prob: Floats
    counts: Floats


@compiled
def _invert(starts: Longs, things: Ints, new_starts: Longs, owners: Ints) -> None:
    """Invert lists of things into lists of owners by thing; ``new_starts`` (things + 1,) is zeros before."""
    for thing in things:
        new_starts[thing + 1] += 1
    for thing in range(len(new_starts) - 1):
        new_starts[thing + 1] += new_starts[thing]
    next_free = new_starts[:-1].copy()
    for owner in range(len(starts) - 1):
        for k in range(starts[owner], starts[owner + 1]):
            owners[next_free[things[k]]] = owner
            next_free[things[k]] += 1


@compiled
def _count_row(occurrences: _Occurrences, row: int, times: Ints, seen: Ints) -> int:
    """Write the columns of the cells of a row into ``seen``; return their number.

    ``times`` (columns,) is zeros before and after the call.
    """
    count = 0
    for k in range(occurrences.pair_starts[row], occurrences.pair_starts[row + 1]):
        pair = occurrences.pairs_of[k]
        for c in range(occurrences.column_starts[pair], occurrences.column_starts[pair + 1]):
            column = occurrences.columns_of[c]
            if times[column] == 0:
                seen[count] = column
                count += 1
            times[column] += 1
    # Only counted columns are cleared: clearing all of them for each row would take longer.
    left = 0
    for column in seen[:count]:
        if times[column] >= occurrences.least or (
            occurrences.rows[row] >= 0 and occurrences.columns[column] >= 0
        ):
            seen[left] = column
            left += 1
        times[column] = 0
    return left


@compiled
def _count_cells(occurrences: _Occurrences, sizes: Longs) -> None:
    times = np.zeros(len(occurrences.columns), np.int32)
    seen = np.empty(len(occurrences.columns), np.int32)
    for row in range(len(occurrences.rows)):
        sizes[row] = _count_row(occurrences, row, times, seen)


@compiled
def _fill_cells(
    occurrences: _Occurrences, first: int, last: int, starts: Longs, targets: Ints, kinds: Bytes
) -> None:
    """Write the column and the kind of each cell of some rows; phrases with equal stem keys are equal."""
    times = np.zeros(len(occurrences.columns), np.int32)
    seen = np.empty(len(occurrences.columns), np.int32)
    for row in range(first, last):
        count = _count_row(occurrences, row, times, seen)
        end = starts[row] + count
        targets[starts[row] : end] = seen[:count]
        # The columns are in the order of the pairs, and `find_cells` needs them sorted.
        targets[starts[row] : end].sort()
        for cell in range(starts[row], end):
            column = targets[cell]
            if occurrences.rows[row] == occurrences.columns[column]:
                kinds[cell] = _IDENTITY
            elif occurrences.row_stems[row] == occurrences.column_stems[column]:
                kinds[cell] = _STEM
            else:
                kinds[cell] = (
                    WORD if occurrences.rows[row] >= 0 and occurrences.columns[column] >= 0 else _PHRASE
                )


@compiled
def _remake_rows(starts: Longs, cells: _CellArrays) -> None:
    """Set each row to the mode of its posterior, (count + fake) / sum, and the counts to 0.

    A row whose sum is 0 keeps its probabilities.
    """
    kinds, counts, fake = cells.kinds, cells.counts, cells.fake
    for row in range(len(starts) - 1):
        total = 0.0
        for cell in range(starts[row], starts[row + 1]):
            total += counts[cell] + fake[kinds[cell]]
        for cell in range(starts[row], starts[row + 1]):
            if total > 0.0:
                cells.prob[cell] = (counts[cell] + fake[kinds[cell]]) / total
            counts[cell] = 0.0


@compiled
def _prior_density(kinds: Bytes, fake: Floats, prob: Floats) -> float:
    """Return the sum of fake * log(prob) over all cells with a fake count."""
    total = 0.0
    for cell in range(len(kinds)):
        if fake[kinds[cell]] > 0.0:
            total += fake[kinds[cell]] * np.log(prob[cell])
    return total


@compiled
def _drop_cells(before: Longs, starts: Longs, count: int, cells: _CellArrays, least: float) -> int:
    """Move the cells of some rows that are kept (fake count, or count of ``least``) to index ``count`` on.

    ``before`` are the starts of these rows and the end of the last one; ``starts`` becomes those of the kept
    cells. Return the number of cells that are kept so far.
    """
    targets, kinds, counts, prob, fake = cells
    # In place: `kept` is never greater than `cell`.
    for row in range(len(before) - 1):
        for cell in range(before[row], before[row + 1]):
            if fake[kinds[cell]] > 0.0 or counts[cell] >= least:
                targets[count], kinds[count] = targets[cell], kinds[cell]
                counts[count], prob[count] = counts[cell], prob[cell]
                count += 1
        starts[row + 1] = count
    return count


@compiled
def _take_part(
    starts: Longs, rows: Longs, wanted: Bools, cells: _CellArrays, part: _PartArrays, part_starts: Longs
) -> int:
    """Copy the cells of some ascending rows that are in ``wanted`` columns; return their number.

    ``part_starts`` (rows + 1,) becomes the start of each row in the part. Return -1 if the part is too small.
    """
    taken = 0
    for k in range(len(rows)):
        for cell in range(starts[rows[k]], starts[rows[k] + 1]):
            if wanted[cells.targets[cell]]:
                if taken == len(part.places):
                    return -1
                part.places[taken], part.targets[taken] = cell, cells.targets[cell]
                part.prob[taken], part.counts[taken] = cells.prob[cell], cells.counts[cell]
                taken += 1
        part_starts[k + 1] = taken
    return taken


#: Returns a new iterator over all pairs with each call.
Stream = Callable[[], Iterator[PairIds]]
#: Keys in memory before they are counted, and cells of a block.
_BLOCK = 1 << 22


@dataclass(slots=True)
class StoredPhrases:
    """Phrases of one side, sorted by key: (P,) keys, keys of their stems, and (P, longest) words or -1."""

    keys: Longs
    stems: Longs
    words: Ints


@dataclass(slots=True)
class RewriteCells:
    """A rewrite table (see ``RewriteTable``) with expected counts.

    ``fake`` are the fake counts by kind. ``size`` cells of the arrays are in use. Methods that pass over all
    cells release memory of ``space`` after each block.
    """

    rows: Longs
    starts: Longs
    columns: Longs
    targets: Ints
    kinds: Bytes
    prob: Floats
    counts: Floats
    fake: Floats
    space: Space | None = None

    @classmethod
    def of_size(
        cls, rows: Longs, starts: Longs, columns: Longs, size: int, fake: Floats, space: Space | None = None
    ) -> RewriteCells:
        """Return a table with room for ``size`` cells, in memory if there is no space."""
        make = np.zeros if space is None else space.array
        # Counts are allocated first: they are written in random order, and should not be in a file.
        counts, prob = make(size, np.float64), make(size, np.float64)
        targets, kinds = make(size, np.int32), make(size, np.uint8)
        return cls(rows, starts, columns, targets, kinds, prob, counts, fake, space)

    @property
    def size(self) -> int:
        """Number of cells."""
        return int(self.starts[-1])

    def table(self) -> RewriteTable:
        """Return the table for inference, a view that changes with the cells."""
        size, no_fake = self.size, np.empty(0)
        return RewriteTable(
            self.rows, self.starts, self.columns, self.targets[:size], self.prob[:size], no_fake
        )

    def start(self) -> None:
        """Set the table to the prior mean."""
        for first, last in self.blocks():
            # The mean of the prior (alpha = fake + 1) is the mode with an additional count of 1 in each cell.
            self.counts[self.starts[first] : self.starts[last]] = 1.0
            self._remake(first, last)

    def maximize(self) -> None:
        """Set the table to the mode of its posterior, and the counts to 0."""
        for first, last in self.blocks():
            self._remake(first, last)

    def _remake(self, first: int, last: int) -> None:
        _remake_rows(self.starts[first : last + 1], self.arrays)

    @property
    def arrays(self) -> _CellArrays:
        """The arrays for compiled loops."""
        return _CellArrays(self.targets, self.kinds, self.counts, self.prob, self.fake)

    def log_prior(self) -> float:
        """Return the log-density of the Dirichlet prior, but for a constant."""
        total = 0.0
        for first, last in self.blocks():
            cells = slice(self.starts[first], self.starts[last])
            total += _prior_density(self.kinds[cells], self.fake, self.prob[cells])
        return total

    def drop(self, least: float) -> None:
        """Remove cells without a fake count whose expected count is below ``least``."""
        # A copy: blocks use the old starts while cells move.
        left, count = self.starts.copy(), 0
        for first, last in self.blocks():
            before = self.starts[first : last + 1]
            count = _drop_cells(before, left[first:], count, self.arrays, least)
        self.starts = left

    def blocks(self) -> Iterator[tuple[int, int]]:
        """Yield ranges of rows with some millions of cells."""
        first = 0
        while first < len(self.rows):
            end = int(np.searchsorted(self.starts, self.starts[first] + _BLOCK, side="right")) - 1
            # A row with more cells than a block is a block by itself.
            last = max(first + 1, end)
            yield first, last
            self.relax()
            first = last

    def relax(self) -> None:
        """Release memory, if the arrays are in a space."""
        if self.space is not None:
            self.space.relax()

    @staticmethod
    def none(fake: Floats) -> RewriteCells:
        """Return a table without cells."""
        keys = np.empty(0, np.int64)
        return RewriteCells.of_size(keys, np.zeros(1, np.int64), keys, 0, fake)


def fake_counts(prior: Prior, *, stems: bool) -> Floats:
    """Return the fake counts by kind; in a table of stems, identical keys count as equal stems."""
    # In the order of the kinds.
    return np.array([prior.phrase, prior.word, prior.stem, prior.stem if stems else prior.identity])


def lay_out(
    stream: Stream, settings: PbhmmSettings, space: Space, *, stems: bool = False
) -> tuple[RewriteCells, StoredPhrases, StoredPhrases]:
    """Return the cells that the pairs support, at the prior mean, and the phrases of both sides.

    The cells, of words or of ``stems``, are allocated in ``space``.
    """
    least = settings.min_documents
    sides = [
        (lambda pair: (pair.document, pair.document_stems), settings.max_document_phrase),
        (lambda pair: (pair.abstract, pair.abstract_stems), settings.max_abstract_phrase),
    ]
    # Streams that are read twice: the keys of a side are in memory, its texts are not.
    texts = [_texts(stream, words_of, stems=stems) for words_of, _ in sides]
    both = [_phrases(text, longest, least) for text, (_, longest) in zip(texts, sides, strict=True)]
    (rows, row_starts, rows_of), (columns, column_starts, columns_of) = both
    pair_starts = np.zeros(len(rows.keys) + 1, np.int64)
    pairs_of = np.empty(len(rows_of), np.int32)
    _invert(row_starts, rows_of, pair_starts, pairs_of)
    places = (pair_starts, pairs_of, column_starts, columns_of)
    occurrences = _Occurrences(*places, rows.keys, columns.keys, rows.stems, columns.stems, least)
    starts = np.zeros(len(rows.keys) + 1, np.int64)
    _count_cells(occurrences, starts[1:])
    np.cumsum(starts, out=starts)
    size = int(starts[-1])
    fake = fake_counts(settings.prior, stems=stems)
    cells = RewriteCells.of_size(rows.keys, starts, columns.keys, size, fake, space)
    for first, last in cells.blocks():
        _fill_cells(occurrences, first, last, starts, cells.targets, cells.kinds)
    cells.start()
    return cells, rows, columns


Texts = Callable[[], Iterator[tuple[Ints, Ints]]]


def _texts(stream: Stream, words_of: Callable[[PairIds], tuple[Ints, Ints]], *, stems: bool) -> Texts:
    """Return a stream of one side: words and stems of each text, or stems for both."""

    def texts() -> Iterator[tuple[Ints, Ints]]:
        for pair in stream():
            words, stems_of = words_of(pair)
            yield (stems_of, stems_of) if stems else (words, stems_of)

    return texts


def _phrases(texts: Texts, longest: int, least: int) -> tuple[StoredPhrases, Longs, Ints]:
    """Return the words and frequent phrases of one side, and lists of the phrases of each text."""
    keys = _frequent(texts, longest, least)
    phrases = StoredPhrases(keys, keys.copy(), np.full((len(keys), longest), -1, np.int32))
    starts = [0]
    members: list[Ints] = []
    for words, stems in texts():
        mine: list[Longs] = []
        for length in range(1, longest + 1):
            at, index = find_keys(keys, phrase_keys(words, length))
            phrases.stems[index] = phrase_keys(stems, length)[at]
            for offset in range(length):
                phrases.words[index, offset] = words[at + offset]
            mine.append(index)
        members.append(np.unique(np.concatenate(mine)).astype(np.int32))
        starts.append(starts[-1] + len(members[-1]))
    return phrases, np.array(starts, np.int64), np.concatenate([np.empty(0, np.int32), *members])


def _frequent(texts: Texts, longest: int, least: int) -> Longs:
    """Return the sorted keys of all words, and of the phrases that at least ``least`` texts have."""
    words: set[int] = set()
    # Words are kept whatever their frequency, and need no counts.
    keys, times = np.empty(0, np.int64), np.empty(0, np.int64)
    held: list[Longs] = []
    size = 0
    for text, _ in texts():
        words.update(text.tolist())
        if longest > 1:
            held.append(np.unique(np.concatenate([phrase_keys(text, k) for k in range(2, longest + 1)])))
            size += len(held[-1])
        if size > _BLOCK:
            keys, times = _counted(keys, times, held)
            held, size = [], 0
    keys, times = _counted(keys, times, held)
    # Keys of phrases are negative: the concatenation is sorted.
    return np.concatenate([keys[times >= least], np.array(sorted(words), np.int64)])


def _counted(keys: Longs, times: Longs, held: Sequence[Longs]) -> tuple[Longs, Longs]:
    """Count keys, and add the counts to those of sorted keys."""
    every = np.concatenate([keys, *held])
    weights = np.concatenate([times, np.ones(len(every) - len(keys), np.int64)])
    order = np.argsort(every, kind="stable")
    every, weights = every[order], weights[order]
    if not len(every):
        return every, weights
    firsts = np.flatnonzero(np.append(True, every[1:] != every[:-1]))
    return every[firsts], np.add.reduceat(weights, firsts)


#: Bytes of a cell of a part: index, column, probability and count.
_CELL_BYTES = 28
#: Pairs of the first batch, and least number of cells of a buffer.
_FIRST, _LEAST = 32, 1 << 12
#: Share of the buffer in use below which the next batch is larger.
_SPARE = 0.7

#: Texts of a pair in a layer: document and abstract.
TextsOf = Callable[[PairIds], tuple[Ints, Ints]]
TEXTS: Mapping[str, TextsOf] = {
    "words": lambda pair: (pair.document, pair.abstract),
    "stems": lambda pair: (pair.document_stems, pair.abstract_stems),
}


@dataclass(frozen=True, slots=True)
class _CellPart:
    """Some cells of a table, as a table of their own with expected counts and indexes."""

    cells: RewriteCells
    table: RewriteTable
    counts: Floats
    places: Longs

    def put_back(self) -> None:
        """Write the counts of the part into the table."""
        self.cells.counts[self.places] = self.counts
        self.cells.relax()


class PartBuffer:
    """Buffer for one part of a table at a time.

    Args:
        cells: the table.
        texts_of: returns the document and the abstract of a pair in the words or stems of the table.
        settings: the longest phrases.
        memory: bytes.
    """

    def __init__(
        self, cells: RewriteCells, texts_of: TextsOf, settings: PbhmmSettings, memory: float
    ) -> None:
        self.cells, self._texts_of = cells, texts_of
        self._longest = settings.max_document_phrase, settings.max_abstract_phrase
        self._make(max(_LEAST, int(memory / _CELL_BYTES)))

    def _make(self, size: int) -> None:
        # At most the size of the table; unused pages take no memory.
        size = min(size, self.cells.size)
        self._arrays = _PartArrays(
            np.empty(size, np.int64), np.empty(size, np.int32), np.empty(size), np.empty(size)
        )

    @property
    def size(self) -> int:
        """Number of cells that fit into the buffer."""
        return len(self._arrays.places)

    def part(self, pairs: Sequence[PairIds]) -> _CellPart | None:
        """Return the cells that pairs need, valid until the next part; ``None`` if they do not fit.

        The cells of a single pair always fit: the buffer grows.
        """
        cells = self.cells
        texts = [self._texts_of(pair) for pair in pairs]
        sides = zip(zip(*texts, strict=True), self._longest, (cells.rows, cells.columns), strict=True)
        rows, columns = (find_keys(known, text_keys(side, longest))[1] for side, longest, known in sides)
        wanted = np.zeros(len(cells.columns), np.bool_)
        wanted[columns] = True
        starts = np.zeros(len(rows) + 1, np.int64)
        while (count := _take_part(cells.starts, rows, wanted, cells.arrays, self._arrays, starts)) < 0:
            if len(pairs) > 1:
                return None
            self._make(2 * self.size)
        cells.relax()
        arrays, no_fake = self._arrays, np.empty(0)
        table = RewriteTable(
            cells.rows[rows], starts, cells.columns, arrays.targets[:count], arrays.prob[:count], no_fake
        )
        return _CellPart(cells, table, arrays.counts[:count], arrays.places[:count])


def batches(
    pairs: Iterable[PairIds], buffers: Mapping[str, PartBuffer]
) -> Iterator[tuple[list[PairIds], dict[str, _CellPart]]]:
    """Yield batches of pairs in their order, each with the parts of the tables that it needs."""
    stream = iter(pairs)
    waiting, number = list[PairIds](), _FIRST
    while True:
        waiting += islice(stream, max(0, number - len(waiting)))
        if not waiting:
            return
        some = waiting[:number]
        parts = {name: buffer.part(some) for name, buffer in buffers.items()}
        complete = {name: part for name, part in parts.items() if part is not None}
        if len(complete) < len(parts):
            number = max(1, 2 * len(some) // 3)
            continue
        yield some, complete
        for part in complete.values():
            part.put_back()
        waiting = waiting[number:]
        if all(len(part.places) < _SPARE * buffers[name].size for name, part in complete.items()):
            number += -(-number // 4)
