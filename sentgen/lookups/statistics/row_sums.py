"""Rows of numbers, each once, with how often each occurs: packed into one number, which is sorted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from sentgen.arrays import Bools, Floats, Ints, Longs

#: As many packed numbers as rows, times this, are counted by their place in an array instead.
_DENSE = 4
#: Packed numbers are smaller.
_MOST = 1 << 63
#: Rows that are held before those that are the same are put together.
_HELD = 1 << 20


@dataclass(slots=True)
class RowSums:
    """Sums by rows of numbers, of which some are added at a time.

    Args:
        columns: how many numbers a row has.
        sums: how many sums of numbers there are beside the count.
    """

    columns: int
    sums: int = 0
    _held: list[tuple[list[Longs], Longs, list[Floats]]] = field(default_factory=list)
    _rows: int = 0
    _most: int = _HELD

    def add(self, columns: Sequence[Ints | Longs], numbers: Sequence[Floats] = ()) -> None:
        """Count rows, and add numbers to their sums."""
        if not len(columns[0]):
            return
        ones = np.ones(len(columns[0]), np.int64) if numbers else None
        found = summed(columns, ones, numbers)
        self._held.append(found)
        self._rows += len(found[1])
        if self._rows > self._most:
            found = self.all()
            self._held, self._rows = [found], len(found[1])
            self._most = max(_HELD, 2 * self._rows)

    def all(self) -> tuple[list[Longs], Longs, list[Floats]]:
        """Return the columns of all rows, ascending and each once, how often each was counted, and sums."""
        if len(self._held) == 1:
            return self._held[0]
        if not self._held:
            nothing = np.zeros(0, np.int64)
            return [nothing] * self.columns, nothing, [np.zeros(0)] * self.sums
        columns, counts, sums = zip(*self._held, strict=True)
        return summed(
            [np.concatenate(one) for one in zip(*columns, strict=True)],
            np.concatenate(counts),
            [np.concatenate(one) for one in zip(*sums, strict=True)],
        )


def summed(
    columns: Sequence[Ints | Longs], counts: Longs | None = None, numbers: Sequence[Floats] = ()
) -> tuple[list[Longs], Longs, list[Floats]]:
    """Return rows of numbers ascending and each once, with the sums of counts and numbers; at least one row.

    >>> [one.tolist() for one in summed([np.array([2, 1, 2]), np.array([7, 8, 7])])[0]]
    [[1, 2], [8, 7]]
    """
    packed = Packed(columns)
    keys = packed.keys
    if counts is not None:
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        begins = np.flatnonzero(_new(keys))
        sums = [np.add.reduceat(one[order], begins) for one in numbers]
        return packed.columns(keys[begins]), np.add.reduceat(counts[order], begins), sums
    if packed.size <= _DENSE * len(keys):
        every = np.bincount(keys)
        keys = np.flatnonzero(every)
        return packed.columns(keys), every[keys], []
    keys = np.sort(keys)
    begins = np.flatnonzero(_new(keys))
    return packed.columns(keys[begins]), np.diff(begins, append=len(keys)), []


def each_once(numbers: Ints | Longs) -> Longs:
    """Return numbers ascending and each once: numpy hashes them, which took seconds of consecutive ones."""
    return summed([numbers])[0][0] if len(numbers) else numbers.astype(np.int64)


class Packed:
    """Rows of numbers as one number each, in the same order.

    Args:
        columns: the numbers.

    Attributes:
        keys: the packed numbers.
        size: what all of them are smaller than.
    """

    def __init__(self, columns: Sequence[Ints | Longs]) -> None:
        # How columns were packed: least number and width, or numbers in whose place others stand.
        self._steps: list[tuple[int, int] | Longs] = []
        self.keys, self.size = np.zeros(len(columns[0]), np.int64), 1
        for column in columns:
            self._add(column)

    def _add(self, column: Ints | Longs) -> None:
        least = int(column.min())
        width = int(column.max()) - least + 1
        if self.size * width >= _MOST:
            known, self.keys = np.unique(self.keys, return_inverse=True)
            self.size = len(known)
            self._steps.append(known)
        self.keys *= width
        self.keys += column
        self.keys -= least
        self.size *= width
        self._steps.append((least, width))

    def columns(self, keys: Longs) -> list[Longs]:
        """Return the columns of packed numbers."""
        found = list[Longs]()
        for step in reversed(self._steps):
            if isinstance(step, tuple):
                least, width = step
                keys, column = np.divmod(keys, width)
                found.append(column + least)
            else:
                keys = step[keys]
        return found[::-1]


def begins_of(columns: Sequence[Ints | Longs]) -> Bools:
    """Return which rows differ from those before them in one of the columns."""
    found: Bools = np.logical_or.reduce([_new(column) for column in columns])
    return found


def _new(column: Ints | Longs) -> Bools:
    return np.append(True, column[1:] != column[:-1])[: len(column)]
