"""Vectors that are mostly 0: the same bits as scipy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from sentgen import sparse
from sentgen.arrays import Floats
from sentgen.sparse import SparseVectors, inner_products

#: Column to value.
VECTOR = st.dictionaries(st.integers(0, 9), st.floats(0.1, 1.0), max_size=6)
VECTORS = st.lists(VECTOR, max_size=6)


def theirs(of: SparseVectors) -> csr_matrix:
    """Return scipy's."""
    return csr_matrix((of.values, of.columns, of.starts), shape=(len(of), 10))


def test_products_by_hand() -> None:
    """(2, 0, 1) and (0, 3, 0) with (1, 1, 1), with nothing, and in a column that the left does not have."""
    left, right = SparseVectors.of([{0: 2, 2: 1}, {1: 3}]), SparseVectors.of([{0: 1, 1: 1, 2: 1}, {}, {7: 1}])

    assert inner_products(left, right).tolist() == [[3, 0, 0], [3, 0, 0]]


@pytest.mark.parametrize("held", [1, 1 << 16], ids=["a row at a time", "all at once"])
@given(left=VECTORS, right=VECTORS)
def test_products_are_those_of_scipy(
    left: list[dict[int, float]], right: list[dict[int, float]], held: int
) -> None:
    """Bit for bit, as they are added in the same order."""
    one, other = SparseVectors.of(left), SparseVectors.of(right)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sparse, "_PRODUCTS", held)

        assert np.array_equal(inner_products(one, other), (theirs(one) @ theirs(other).T).toarray())


@given(VECTORS, st.lists(st.floats(0.1, 1.0), min_size=10, max_size=10))
def test_weights_and_lengths_are_those_of_scipy(of: list[dict[int, float]], weights: list[float]) -> None:
    """Columns times a weight, vectors by their length; without a length they stay."""
    given_weights: Floats = np.array(weights)
    weighted = SparseVectors.of(of).weighted(given_weights)
    expected = theirs(SparseVectors.of(of)).multiply(given_weights).tocsr()
    norms = np.sqrt(np.asarray(expected.multiply(expected).sum(axis=1)).ravel())

    assert np.array_equal(theirs(weighted).toarray(), expected.toarray())
    unit = expected.multiply(1 / np.maximum(norms, 1e-12)[:, None])
    assert np.array_equal(theirs(weighted.unit()).toarray(), unit.toarray())
