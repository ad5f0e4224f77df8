"""Vectors that are 0 in most columns, and their products."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from sentgen.arrays import Floats, Longs

#: Products of two numbers that are held at once, of 24 bytes each.
_PRODUCTS = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class SparseVectors:
    """Vectors that lie one after the other.

    Attributes:
        starts: (n + 1,) where each begins, and the end.
        columns: where they are not 0, ascending in each.
        values: what is there.
    """

    starts: Longs
    columns: Longs
    values: Floats

    @classmethod
    def of(cls, vectors: Sequence[Mapping[int, float]]) -> SparseVectors:
        """Return vectors from what is in the columns of each."""
        columns = [sorted(one) for one in vectors]
        values = (one[column] for one, each in zip(vectors, columns, strict=True) for column in each)
        return cls(
            np.cumsum([0, *map(len, columns)]),
            np.fromiter(chain.from_iterable(columns), np.int64),
            np.fromiter(values, np.float64),
        )

    def __len__(self) -> int:
        return len(self.starts) - 1

    def some(self, begin: int, end: int) -> SparseVectors:
        """Return those from one to before another, or to the last."""
        starts = self.starts[begin : end + 1]
        inside = slice(starts[0], starts[-1])
        return SparseVectors(starts - starts[0], self.columns[inside], self.values[inside])

    def weighted(self, weights: Floats) -> SparseVectors:
        """Return them with the values of each column times its weight."""
        return replace(self, values=self.values * weights[self.columns])

    def unit(self) -> SparseVectors:
        """Return them with a length of 1; those without a length stay as they are."""
        squares, some = np.zeros(len(self)), np.flatnonzero(np.diff(self.starts))
        squares[some] = np.add.reduceat(self.values * self.values, self.starts[some])
        factors = 1 / np.maximum(np.sqrt(squares), 1e-12)
        return replace(self, values=self.values * factors[self._numbers()])

    def _numbers(self) -> Longs:
        """Return for each value the number of its vector."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))


def inner_products(left: SparseVectors, right: SparseVectors) -> Floats:
    """Return (len(left), len(right)) inner products, each summed from the first column to the last.

    Takes as long as there are pairs of values in one column.
    """
    products = np.zeros((len(left), len(right)))
    if not len(left.columns) or not len(right.columns):
        return products
    by_column = _transposed(right, 1 + int(left.columns.max()))
    matches = np.diff(by_column.starts)[left.columns]
    rows = 1 + _PRODUCTS * len(left) // max(1, int(matches.sum()))
    for begin in range(0, len(left), rows):
        some = left.some(begin, begin + rows)
        products[begin : begin + rows] = _products(some, by_column, len(right))
    return products


def _transposed(vectors: SparseVectors, width: int) -> SparseVectors:
    """Return the columns as vectors: those that there are, and empty ones up to a width."""
    order = np.argsort(vectors.columns, kind="stable")
    counts = np.bincount(vectors.columns, minlength=width)
    return SparseVectors(np.cumsum([0, *counts]), vectors._numbers()[order], vectors.values[order])


def _products(left: SparseVectors, by_column: SparseVectors, width: int) -> Floats:
    matches = np.diff(by_column.starts)[left.columns]
    ends = np.cumsum(matches)
    # For the matches of each value of the left: one place after the other, from the start of its column on.
    places = np.arange(int(matches.sum())) + np.repeat(
        by_column.starts[left.columns] - (ends - matches), matches
    )
    cells = np.repeat(left._numbers() * width, matches) + by_column.columns[places]
    weights = np.repeat(left.values, matches) * by_column.values[places]
    sums: Floats = np.bincount(cells, weights, len(left) * width).astype(np.float64, copy=False)
    return sums.reshape(len(left), width)
