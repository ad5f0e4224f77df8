"""Arrays of numbers: sets, and distinct rows with how often each occurs.

Most sets are dense, so that a table with an entry for each number up to the greatest is faster than sorting
or searching. Rows are packed into as few numbers as hold them, which are sorted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from sentgen.arrays import Bools, Floats, Ints, Longs

Numbers = TypeVar("Numbers", Ints, Longs)
#: Entries that a table may have for each number.
_DENSE = 4
#: Numbers up to which each is compared with the whole array.
_FEW = 4


def among(values: Ints | Longs, numbers: Ints | Longs) -> Bools:
    """Return which of many values (-1 or more) are among a few numbers, ascending and 0 or more."""
    if not len(numbers):
        return np.zeros(len(values), bool)
    if len(numbers) <= _FEW:
        met: Bools = values == numbers[0]
        for number in numbers[1:]:
            met |= values == number
        return met
    if int(numbers[-1]) <= _DENSE * len(values):
        # Values of -1, and values above the greatest number, are mapped to the ends, which are false.
        table = np.zeros(int(numbers[-1]) + 3, bool)
        table[numbers + 1] = True
        table_hits: Bools = np.take(table, values + 1, mode="clip")
        return table_hits
    at = np.searchsorted(numbers, values)
    at[at == len(numbers)] = 0
    equal: Bools = numbers[at] == values
    return equal


def unique(numbers: Ints | Longs) -> Longs:
    """Return the distinct numbers, ascending; numpy hashes them, which took seconds for consecutive ones."""
    if not len(numbers):
        return numbers.astype(np.int64)
    least = int(numbers.min())
    if _are_dense(numbers, least):
        return np.flatnonzero(np.bincount(numbers - least)) + least
    ordered = np.sort(numbers).astype(np.int64)
    return ordered[begins_of([ordered])]


def unique_inverse(numbers: Numbers) -> tuple[Numbers, Longs]:
    """Return the distinct numbers, ascending, and the index there of each number.

    >>> [array.tolist() for array in unique_inverse(np.array([7, 5, 7]))]
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


#: The number in place of a missing one; it is less than any.
MISSING = -2
#: Bits of a packed number.
_BITS = 63
#: Rows that are collected before equal rows are added up.
HELD = 1 << 20

#: Distinct rows, ascending, as packed numbers; how often each occurs; and sums.
_Summed = tuple[list[Longs], Longs, list[Floats]]


@dataclass(frozen=True, slots=True)
class Packing:
    """Packs rows of numbers, `MISSING` or more, into as few numbers as hold their bits, in the same order.

    >>> packing = Packing.of_columns([np.array([2, -1]), np.array([7, 8])])
    >>> [column.tolist() for column in packing.unpack(packing.pack([np.array([2, -1]), np.array([7, 8])]))]
    [[2, -1], [7, 8]]
    """

    bits: tuple[int, ...]

    @classmethod
    def of_columns(cls, columns: Sequence[Ints | Longs], least: Sequence[int] = ()) -> Packing:
        """Return a packing for some columns, each with at least its bits of ``least``."""
        needed = (int(column.max(initial=MISSING) - MISSING).bit_length() for column in columns)
        return cls(tuple(map(max, needed, least)) if least else tuple(needed))

    def pack(self, columns: Sequence[Ints | Longs]) -> list[Longs]:
        """Return the packed numbers, by which rows are sorted: by the first array, then by the next."""
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
        """Return for each packed number the bits of its columns."""
        together: list[list[int]] = []
        for bits in self.bits:
            if not together or sum(together[-1]) + bits > _BITS:
                together.append([])
            together[-1].append(bits)
        return together


@dataclass(slots=True)
class RowSums:
    """Counts rows of numbers, added in several calls, and adds up ``sums`` further numbers by them."""

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
        """Count rows, by 1 unless there are ``counts``, and add ``numbers`` to their sums."""
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
        """Return the counts and sums by rows whose columns were changed."""
        columns, counts, sums = self.all()
        columns = change(columns)
        changed = RowSums(len(columns), self.sums)
        changed.add(columns, sums, counts)
        return changed

    def pack(self) -> _Summed:
        """Return the distinct rows, packed, with their counts and sums."""
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
        """Return the columns of the distinct rows, ascending, with their counts and sums."""
        keys, counts, sums = self.pack()
        return self.packing.unpack(keys), counts, sums


def _sum_rows(keys: list[Longs], counts: Longs | None, numbers: Sequence[Floats]) -> _Summed:
    """Return the distinct packed rows, ascending, with the sums of their counts and numbers."""
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
    """Return the index of a row of each distinct value, these ascending, and for each row that of its value.

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
