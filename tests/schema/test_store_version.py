"""A store can be opened with each DuckDB that sentgen may be installed with."""

from __future__ import annotations

from pathlib import Path

import pytest

from sentgen.schema import Store
from sentgen.schema.maintenance import compact

#: Where the header of a DuckDB file has its version, in eight bytes; 1.4 opens 64 to 67, and 1.5 up to 68.
PLACE, OPENED_BY_ALL = slice(12, 20), range(64, 68)


def version(path: Path) -> int:
    return int.from_bytes(path.read_bytes()[PLACE], "little")


@pytest.mark.migrates
def test_a_new_store_is_read_by_earlier_versions(tmp_path: Path) -> None:
    """As is one that was written anew."""
    path = tmp_path / "s.duckdb"
    Store(path, create=True).close()
    assert version(path) in OPENED_BY_ALL

    compact(path)
    assert version(path) in OPENED_BY_ALL
