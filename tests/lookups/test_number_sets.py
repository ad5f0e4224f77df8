"""Sets of numbers, dense and not, against those of numpy."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sentgen.lookups.search.number_sets import among, unique, unique_inverse

NUMBERS = st.one_of(
    st.lists(st.integers(-1, 9), max_size=30),
    st.lists(st.integers(-1, 2**31 - 4), max_size=9),
)
KINDS = st.sampled_from((np.int32, np.int64))


@given(NUMBERS, KINDS)
def test_each_once(numbers: list[int], kind: type[np.int64]) -> None:
    found, rows = np.unique(np.array(numbers, kind), return_inverse=True)

    assert unique(np.array(numbers, kind)).tolist() == found.tolist()
    again = unique_inverse(np.array(numbers, kind))
    assert [one.tolist() for one in again] == [found.tolist(), rows.tolist()]
    assert again[0].dtype == kind


@given(NUMBERS, NUMBERS, KINDS)
def test_among(values: list[int], numbers: list[int], kind: type[np.int64]) -> None:
    asked = np.array(sorted({one for one in numbers if one >= 0}), kind)

    assert among(np.array(values, kind), asked).tolist() == [one in asked.tolist() for one in values]
