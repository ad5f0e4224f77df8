"""Rows that are 0 in most columns, as arrays of SciPy: importing it takes a sixth of a second."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def sparse_rows(rows: Sequence[Mapping[int, float]], width: int) -> csr_array:
    """Return (len(rows), width) from what is in the columns of each row."""
    from scipy.sparse import csr_array

    columns = [sorted(row) for row in rows]
    values = [row[column] for row, own in zip(rows, columns, strict=True) for column in own]
    indices = np.fromiter(chain.from_iterable(columns), np.int64)
    parts = np.array(values, np.float64), indices, np.cumsum([0, *map(len, columns)])
    return csr_array(parts, shape=(len(rows), width))


def unit_rows(rows: csr_array) -> csr_array:
    """Return rows with a length of 1; those without a length stay as they are."""
    sizes = np.diff(rows.indptr)
    squares, some = np.zeros(len(sizes)), np.flatnonzero(sizes)
    squares[some] = np.add.reduceat(rows.data * rows.data, rows.indptr[some])
    factors = 1 / np.maximum(np.sqrt(squares), 1e-12)
    return type(rows)((rows.data * np.repeat(factors, sizes), rows.indices, rows.indptr), shape=rows.shape)
