"""Numbers in arrays: sets of them, and rows of them, each once, with how often each occurs.

Most sets are dense, so that a table of all takes less than to sort or to search. Rows are packed into few
numbers, which are sorted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from sentgen.arrays import Bools, Floats, Ints, Longs

Numbers = TypeVar("Numbers", Ints, Longs)
#: A table may have so many times the entries that there are numbers.
_DENSE = 4
#: So many numbers are compared one after the other.
_FEW = 4


def among(values: Ints | Longs, numbers: Ints | Longs) -> Bools:
    """Return which of many numbers, none below -1, are among a few that are ascending and none below 0."""
    if not len(numbers):
        return np.zeros(len(values), bool)
    if len(numbers) <= _FEW:
        met: Bools = values == numbers[0]
        for number in numbers[1:]:
            met |= values == number
        return met
    if int(numbers[-1]) <= _DENSE * len(values):
        # What is none, or greater than all, comes to lie at the ends.
        table = np.zeros(int(numbers[-1]) + 3, bool)
        table[numbers + 1] = True
        table_hits: Bools = np.take(table, values + 1, mode="clip")
        return table_hits
    at = np.searchsorted(numbers, values)
    at[at == len(numbers)] = 0
    equal: Bools = numbers[at] == values
    return equal


def unique(numbers: Ints | Longs) -> Longs:
    """Return numbers ascending and each once: numpy hashes them, which took seconds of consecutive ones."""
    if not len(numbers):
        return numbers.astype(np.int64)
    least = int(numbers.min())
    if _are_dense(numbers, least):
        return np.flatnonzero(np.bincount(numbers - least)) + least
    ordered = np.sort(numbers).astype(np.int64)
    return ordered[begins_of([ordered])]


def unique_inverse(numbers: Numbers) -> tuple[Numbers, Longs]:
    """Return numbers ascending and each once, and for each of all its row there.

    >>> [one.tolist() for one in unique_inverse(np.array([7, 5, 7]))]
    [[5, 7], [1, 0, 1]]
    """
    different = unique(numbers)
    if not len(different):
        return numbers, different
    least = int(different[0])
    if not _are_dense(numbers, least):
        return different.astype(numbers.dtype), np.searchsorted(different, numbers)
    rows = np.zeros(int(different[-1]) - least + 1, np.int64)
    rows[different - least] = np.arange(len(different))
    return different.astype(numbers.dtype), rows[numbers - least]


def begins_of(columns: Sequence[Ints | Longs]) -> Bools:
    """Return which rows differ from those before them in one of the columns."""
    begins = [np.append(True, column[1:] != column[:-1])[: len(column)] for column in columns]
    any_of: Bools = np.logical_or.reduce(begins)
    return any_of


def _are_dense(numbers: Ints | Longs, least: int) -> bool:
    return int(numbers.max()) - least <= _DENSE * len(numbers)


#: Stands where a row has no number, and is less than any.
MISSING = -2
#: Bits of a packed number.
_BITS = 63
#: Rows that are held before those that are the same are put together.
HELD = 1 << 20

#: Rows ascending and each once, as packed numbers; how often each occurs; and sums.
_Summed = tuple[list[Longs], Longs, list[Floats]]


@dataclass(frozen=True, slots=True)
class Packing:
    """How rows of numbers, from `MISSING` on, are packed into as few as hold their bits, in the same order.

    >>> packing = Packing.of_columns([np.array([2, -1]), np.array([7, 8])])
    >>> [column.tolist() for column in packing.unpack(packing.pack([np.array([2, -1]), np.array([7, 8])]))]
    [[2, -1], [7, 8]]
    """

    bits: tuple[int, ...]

    @classmethod
    def of_columns(cls, columns: Sequence[Ints | Longs], least: Sequence[int] = ()) -> Packing:
        """Return what packs some columns, each into as many bits as are the least at least."""
        needed = (int(column.max(initial=MISSING) - MISSING).bit_length() for column in columns)
        return cls(tuple(map(max, needed, least)) if least else tuple(needed))

    def pack(self, columns: Sequence[Ints | Longs]) -> list[Longs]:
        """Return packed numbers; rows are in order by the first ones, then by the next."""
        keys, left = list[Longs](), iter(columns)
        for together in self._together():
            key, least = next(left).astype(np.int64), MISSING
            for bits in together[1:]:
                key <<= bits
                key += next(left)
                least = (least << bits) + MISSING
            key -= least
            keys.append(key)
        return keys

    def unpack(self, keys: Sequence[Longs]) -> list[Longs]:
        """Return the columns of packed numbers."""
        columns = list[Longs]()
        for key, together in zip(keys, self._together(), strict=True):
            behind = sum(together)
            for bits in together:
                behind -= bits
                columns.append((key >> behind & (1 << bits) - 1) + MISSING)
        return columns

    def _together(self) -> list[list[int]]:
        """Return the bits of the columns that go into the same number, for each of these."""
        together: list[list[int]] = []
        for bits in self.bits:
            if not together or sum(together[-1]) + bits > _BITS:
                together.append([])
            together[-1].append(bits)
        return together


@dataclass(slots=True)
class RowSums:
    """Sums by rows of numbers, of which some are added at a time.

    Args:
        columns: how many numbers a row has.
        sums: how many sums of numbers there are beside the count.
    """

    columns: int
    sums: int = 0
    packing: Packing = field(init=False)
    rows: int = field(init=False, default=0)
    _held: list[_Summed] = field(init=False, default_factory=list)
    _most: int = field(init=False, default=HELD)

    def __post_init__(self) -> None:
        self.packing = Packing((0,) * self.columns)

    def add(
        self, columns: Sequence[Ints | Longs], numbers: Sequence[Floats] = (), counts: Longs | None = None
    ) -> None:
        """Count rows, once each unless counts are given, and add numbers to their sums."""
        if not len(columns[0]):
            return
        packing = Packing.of_columns(columns, self.packing.bits)
        if packing != self.packing:
            self._held = [
                (packing.pack(self.packing.unpack(keys)), held, sums) for keys, held, sums in self._held
            ]
            self.packing = packing
        summed = _sum_rows(packing.pack(columns), counts, numbers)
        self._held.append(summed)
        self.rows += len(summed[1])
        if self.rows > self._most:
            self.pack()
            self._most = max(HELD, 2 * self.rows)

    def with_columns(self, change: Callable[[list[Longs]], list[Longs]]) -> RowSums:
        """Return the sums of rows with other columns."""
        columns, counts, sums = self.all()
        columns = change(columns)
        changed = RowSums(len(columns), self.sums)
        changed.add(columns, sums, counts)
        return changed

    def pack(self) -> _Summed:
        """Return all rows, packed."""
        if len(self._held) > 1:
            keys, counts, sums = zip(*self._held, strict=True)
            self._held = []
            all_keys = [np.concatenate(parts) for parts in zip(*keys, strict=True)]
            all_sums = [np.concatenate(parts) for parts in zip(*sums, strict=True)]
            self._held = [_sum_rows(all_keys, np.concatenate(counts), all_sums)]
        if not self._held:
            nothing = np.zeros(0, np.int64)
            packed = self.packing.pack([nothing] * self.columns)
            self._held = [(packed, nothing, [np.zeros(0)] * self.sums)]
        self.rows = len(self._held[0][1])
        return self._held[0]

    def all(self) -> _Summed:
        """Return the columns of all rows, ascending and each once, how often each was counted, and sums."""
        keys, counts, sums = self.pack()
        return self.packing.unpack(keys), counts, sums


def _sum_rows(keys: list[Longs], counts: Longs | None, numbers: Sequence[Floats]) -> _Summed:
    """Return packed rows ascending and each once, with the sums of counts and numbers."""
    if counts is None and not numbers and len(keys) == 1:
        if int(keys[0].max()) <= _DENSE * len(keys[0]):
            every = np.bincount(keys[0])
            rows = np.flatnonzero(every)
            return [rows], every[rows], []
        ordered = np.sort(keys[0])
        begins = np.flatnonzero(begins_of([ordered]))
        return [ordered[begins]], np.diff(begins, append=len(ordered)), []
    order = _order(keys)
    keys = [key[order] for key in keys]
    begins = np.flatnonzero(begins_of(keys))
    ends = np.append(begins[1:], len(order))
    sums = [np.add.reduceat(values[order], begins) for values in numbers]
    added = ends - begins if counts is None else np.add.reduceat(counts[order], begins)
    return [key[begins] for key in keys], added, sums


def kinds_of(columns: Sequence[Ints | Longs]) -> tuple[Longs, Longs]:
    """Return a row of each kind, these in ascending order, and the number of the kind of each row.

    >>> [numbers.tolist() for numbers in kinds_of([np.array([2, 1, 2]), np.array([7, 8, 7])])]
    [[1, 0], [1, 0, 1]]
    """
    keys = Packing.of_columns(columns).pack(columns)
    order = _order(keys)
    begins = begins_of([key[order] for key in keys])
    kinds = np.empty(len(order), np.int64)
    kinds[order] = np.cumsum(begins) - 1
    return order[begins], kinds


def _order(keys: Sequence[Longs]) -> Longs:
    return np.argsort(keys[0], kind="stable") if len(keys) == 1 else np.lexsort(keys[::-1])
