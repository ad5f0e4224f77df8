"""The posteriors of all word links of a pair, and the choice among them, some columns at a time.

The posteriors of a direction come row by row, those of the other direction column by column. Between them
they lie in memory, or where they do not fit in a file without a name, which goes with the process.

Full stops follow the words before them (`SentenceLinks`).
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np

from sentgen.alignment.words.word_classes import breaks
from sentgen.arrays import Bools, Floats, Longs
from sentgen.errors import MemoryLimitError


class StopLinks:
    """Posteriors of links of full stops, which are those of their sentences.

    One full stop looks like the other: which one is copied, only the words before it know. The posterior is
    the share of the links of the abstract sentence that lead to the document sentence, times the share of
    those of the document sentence that lead to the abstract sentence. Takes 8 bytes for each pair of
    sentences, and for each abstract sentence with each word of the longest document sentence.

    Args:
        abstract: Which words of the abstract are full stops, (m,),
        document: and of the document, (n,).
    """

    def __init__(self, abstract: Bools, document: Bools) -> None:
        self._abstract, self._document = abstract, document
        self._first_row = np.append(0, np.flatnonzero(breaks(abstract)))
        self._first_column = np.append(0, np.flatnonzero(breaks(document)))
        self._together = np.zeros((len(self._first_row), len(self._first_column)))
        #: Sums of the columns of the document sentence that goes on to the left of those at hand.
        self._open = np.empty((len(self._first_row), 0))

    def leave_out(self, begin: int, chosen: Bools) -> None:
        """Forget that links of full stops were chosen among columns from ``begin`` on."""
        columns = np.flatnonzero(self._document[begin : begin + chosen.shape[1]])
        chosen[np.ix_(np.flatnonzero(self._abstract), columns)] = False

    def add(self, begin: int, links: Floats) -> None:
        """Add links of columns from ``begin`` on, (m, columns), which come from the last ones to the first.

        Links of full stops are set to 0.
        """
        links[self._abstract] = 0.0
        links[:, self._document[begin : begin + links.shape[1]]] = 0.0
        sums = np.concatenate([np.add.reduceat(links, self._first_row, axis=0), self._open], axis=1)
        place = int(np.searchsorted(self._first_column, begin))
        end = begin + sums.shape[1]
        # Sentences that begin here are whole now; the one that began further left waits for its columns.
        firsts = self._first_column[place : np.searchsorted(self._first_column, end)]
        if len(firsts):
            whole = np.add.reduceat(sums[:, firsts[0] - begin :], firsts - firsts[0], axis=1)
            self._together[:, place : place + len(firsts)] = whole
            sums = sums[:, : firsts[0] - begin].copy()
        self._open = sums

    def reaching(self, threshold: float) -> Iterator[tuple[Longs, Longs, Floats]]:
        """Yield rows, columns and posteriors of the links of full stops that reach a threshold."""
        rows, columns = np.flatnonzero(self._abstract), np.flatnonzero(self._document)
        of_row = np.cumsum(breaks(self._abstract))[rows]
        of_column = np.cumsum(breaks(self._document))[columns]
        by_row, by_column = self._together.sum(axis=1), self._together.sum(axis=0)
        for row, sentence in zip(rows.tolist(), of_row.tolist(), strict=True):
            # t / row sum times t / column sum; where either is 0 there is no link, and the share is 0.
            sums, together = by_row[sentence] * by_column, self._together[sentence]
            shares = np.divide(together**2, sums, out=np.zeros_like(sums), where=sums > 0)[of_column]
            reached = np.flatnonzero(shares >= threshold)
            yield np.full(len(reached), row), columns[reached], shares[reached]


class LinkTable:
    """Posteriors (m, n) that are written by rows and read by columns, ``width`` of them at a time."""

    def __init__(self, m: int, n: int, *, width: int, folder: Path | None = None) -> None:
        self.m, self.n, self.width = m, n, max(1, width)
        self._file: IO[bytes] | None = None
        self._table = np.empty((0, n))
        if folder is None:
            self._table = np.empty((m, n))
        else:
            self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 (closed by `close`)

    def put(self, first: int, rows: Floats) -> None:
        """Write rows from ``first`` on."""
        if self._file is None:
            self._table[first : first + len(rows)] = rows
            return
        for begin, end in self._blocks():
            # Block after block, each by rows: columns are read in one stretch, rows written in pieces.
            place = self.m * begin + first * (end - begin)
            self._file.seek(8 * place)
            self._file.write(np.ascontiguousarray(rows[:, begin:end]).data)

    def columns(self, begin: int) -> Floats:
        """Return the columns from ``begin`` on, (m, width), which may be overwritten."""
        end = min(begin + self.width, self.n)
        if self._file is None:
            return self._table[:, begin:end]
        self._file.seek(8 * self.m * begin)
        found: Floats = np.fromfile(self._file, np.float64, self.m * (end - begin))
        return found.reshape(self.m, end - begin)

    def from_last(self) -> Iterator[tuple[int, Floats]]:
        """Yield the first of some columns and the columns, from the last ones to the first."""
        for begin, _ in reversed(list(self._blocks())):
            yield begin, self.columns(begin)

    def _blocks(self) -> Iterator[tuple[int, int]]:
        for begin in range(0, self.n, self.width):
            yield begin, min(begin + self.width, self.n)

    def close(self) -> None:
        """Give the memory or the file back."""
        self._table = np.empty((0, self.n))
        if self._file is not None:
            self._file.close()


class LinkChoice:
    """Chooses the links that reach a threshold; full stops have the posterior of their sentences, if given.

    Columns come from the last ones to the first.

    Args:
        threshold: least posterior.
        stops: which words of the abstract, (m,), and of the document, (n,), are full stops.
        most: links that there is room for.
    """

    def __init__(
        self, threshold: float, stops: tuple[Bools, Bools] | None = None, *, most: float = math.inf
    ) -> None:
        self._threshold, self._most = threshold, most
        self._stops = None
        if stops is not None and stops[0].any() and stops[1].any():
            self._stops = StopLinks(*stops)
        self._found: list[tuple[Longs, Longs, Floats]] = []
        self._count = 0

    def take(self, begin: int, links: Floats) -> None:
        """Choose among the links of columns from ``begin`` on, (m, columns), which are overwritten."""
        chosen = links >= self._threshold
        if self._stops is not None:
            self._stops.leave_out(begin, chosen)
        rows, columns = np.nonzero(chosen)
        # Before `add`, which sets the links of full stops to 0.
        self._keep(rows, columns + begin, links[rows, columns])
        if self._stops is not None:
            self._stops.add(begin, links)

    def chosen(self) -> tuple[Longs, Longs, Floats]:
        """Return rows, columns and posteriors of the links, in the order of rows, then columns."""
        if self._stops is not None:
            for rows, columns, posteriors in self._stops.reaching(self._threshold):
                self._keep(rows, columns, posteriors)
        # To begin with, for `concatenate` refuses an empty list.
        none = np.empty(0, np.int64)
        rows, columns, posteriors = (
            np.concatenate(parts) for parts in zip((none, none, np.empty(0)), *self._found, strict=True)
        )
        order = np.lexsort((columns, rows))
        return rows[order], columns[order], posteriors[order]

    def _keep(self, rows: Longs, columns: Longs, posteriors: Floats) -> None:
        self._count += len(rows)
        if self._count > self._most:
            raise MemoryLimitError(
                f"more than {int(self._most):,} links reach the threshold {self._threshold:g}, too many for"
                " the memory limit; give a higher threshold, or raise --memory-limit"
            )
        self._found.append((rows, columns, posteriors))


class Noted:
    """What is noted of a pair while it is decoded, so that links can be explained (``reasons``).

    Args:
        floor: least posterior of the links that are noted, beside those that are chosen.
    """

    def __init__(self, floor: float) -> None:
        self.floor = floor
        #: Posteriors of the events in each direction.
        self.events: list[Floats] = []
        self._found: list[tuple[Longs, Longs, Floats]] = []

    def take(self, wanted: Bools, first: tuple[int, int], *tables: Floats) -> None:
        """Note cells of tables that begin at ``first``, each with the posteriors of a direction."""
        rows, columns = np.nonzero(wanted)
        posteriors = np.stack([table[rows, columns] for table in tables], axis=1)
        self._found.append((rows + first[0], columns + first[1], posteriors))

    def links(self) -> tuple[Longs, Longs, Floats]:
        """Return rows, columns and posteriors (links, directions), in the order of rows, then columns."""
        none = np.empty(0, np.int64)
        # For `concatenate` refuses an empty list, which a pair without words leaves.
        found = self._found or [(none, none, np.empty((0, len(self.events))))]
        rows, columns, posteriors = (np.concatenate(parts) for parts in zip(*found, strict=True))
        order = np.lexsort((columns, rows))
        return rows[order], columns[order], posteriors[order]
