"""Sets of numbers in arrays: most are dense, so that a table of all takes less than to sort or to search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from sentgen.arrays import Bools, Ints, Longs

Numbers = TypeVar("Numbers", Ints, Longs)
#: A table may have so many times the entries that there are numbers.
DENSE = 4
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
    if int(numbers[-1]) <= DENSE * len(values):
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
    begins = [np.append(True, one[1:] != one[:-1])[: len(one)] for one in columns]
    any_of: Bools = np.logical_or.reduce(begins)
    return any_of


def _are_dense(numbers: Ints | Longs, least: int) -> bool:
    return int(numbers.max()) - least <= DENSE * len(numbers)
