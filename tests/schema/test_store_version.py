"""A new store has a released version of DuckDB's file format, so that later versions open it."""

from __future__ import annotations

from pathlib import Path

import pytest

from sentgen.schema import Store
from sentgen.schema.maintenance import compact

#: The eight bytes of the version in the header of a DuckDB file: 67 is that of 1.4; 2.0.1 writes 999 by default.
PLACE, OPENED_BY_ALL = slice(12, 20), range(64, 68)


def version(path: Path) -> int:
    return int.from_bytes(path.read_bytes()[PLACE], "little")


@pytest.mark.usefixtures("made_stores")
def test_a_new_store_has_a_version_with_a_number(tmp_path: Path) -> None:
    """A new store has a released version, and so has a compacted one."""
    path = tmp_path / "s.duckdb"
    Store(path, create=True).close()
    assert version(path) in OPENED_BY_ALL

    compact(path)
    assert version(path) in OPENED_BY_ALL
