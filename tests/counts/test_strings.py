"""Ids of strings for columns that share strings."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from sentgen.corpus.token_columns import Coded, Values
from sentgen.counts.strings import StoredStrings
from sentgen.schema import Store
from sentgen.schema.tables.corpus import word


def test_a_string_has_one_id_in_whatever_columns_it_comes(tmp_path: Path) -> None:
    """New strings are numbered by their frequency in the column; strings without rows get no id."""
    new: list[str] = []
    with Store(tmp_path / "store.duckdb", create=True) as store, store.connect() as connection:
        words = StoredStrings(connection, word, "form", lambda _, rows: new.extend(rows["form"].to_pylist()))
        shared = Values(["never", "b", "A", "a"])

        def ids(*codes: int) -> list[int]:
            return words.encode_column(Coded(shared, np.array(codes, np.int32)), lowercase=True).tolist()

        # Ids 0 to 3 are reserved; `A` is `a` in lower case, and more frequent than `b`.
        assert ids(1, 2, 3) == [5, 4, 4]
        shared.add(["c"])
        assert ids(4, 3, 1, 1) == [6, 4, 5, 5]
        assert words.encode_column(Coded.encode(pa.array(["d", "c"]))).tolist() == [7, 6]
        assert words.encode(["a", "d"]).tolist() == [4, 7]
    assert new == ["a", "b", "c", "d"]
