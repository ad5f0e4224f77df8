"""Sparse rows: from mappings, and scaled to length 1."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentgen.arrays import sparse_rows, unit_rows

#: Column to value.
ROWS = st.lists(st.dictionaries(st.integers(0, 9), st.floats(0.1, 1.0), max_size=6), max_size=6)


def test_products_by_hand() -> None:
    """(2, 0, 1) and (0, 3, 0) with (1, 1, 1), with nothing, and in a column that the left does not have."""
    left, right = sparse_rows([{0: 2, 2: 1}, {1: 3}], 8), sparse_rows([{2: 1, 0: 1, 1: 1}, {}, {7: 1}], 8)

    assert (left @ right.T).toarray().tolist() == [[3, 0, 0], [3, 0, 0]]


@pytest.mark.parametrize("width", [0, 3])
def test_no_rows(width: int) -> None:
    """A matrix without rows, of any width, can be multiplied."""
    none, some = sparse_rows([], width), sparse_rows([{}, {}], width)

    assert (unit_rows(none) @ unit_rows(some).T).toarray().shape == (0, 2)


@given(ROWS)
def test_lengths(rows: list[dict[int, float]]) -> None:
    """Each row has length 1 in its old direction; a row of zeros stays."""
    dense = sparse_rows(rows, 10).toarray()
    lengths = np.sqrt((dense * dense).sum(axis=1))

    unit = unit_rows(sparse_rows(rows, 10)).toarray()

    assert np.sqrt((unit * unit).sum(axis=1)) == pytest.approx((lengths > 0).astype(float))
    assert unit * lengths[:, None] == pytest.approx(dense)
