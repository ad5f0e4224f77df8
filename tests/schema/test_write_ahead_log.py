"""A log that a crash has cut: DuckDB restores its complete transactions, and nothing of the others."""

from __future__ import annotations

import shutil
from pathlib import Path

import duckdb
import pytest

from sentgen.schema.durability.duckdb_faults import log_of

#: Rows of both tables before, between and after two transactions; row groups hold 122,880 rows.
STATES = [(0, 0), (300_000, 20), (300_000, 21)]


@pytest.fixture(scope="module")
def crashed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with two transactions in its log, one of them large."""
    path = tmp_path_factory.mktemp("log") / "crashed.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("create table big (i bigint); create table small (i bigint)")
        connection.execute("checkpoint")
        connection.execute("pragma disable_checkpoint_on_shutdown")
        connection.execute("begin; insert into small select * from range(10)")
        connection.execute("insert into big select * from range(300000)")
        connection.execute("insert into small select * from range(10); commit")
        connection.execute("insert into small values (1)")
    return path


def cut(crashed: Path, folder: Path, length: int) -> Path:
    """Copy the database with the first ``length`` bytes of its log."""
    path = folder / "torn.duckdb"
    shutil.copy(crashed, path)
    log_of(path).write_bytes(log_of(crashed).read_bytes()[:length])
    return path


def rows(path: Path) -> tuple[int, ...] | None:
    with duckdb.connect(str(path)) as connection:
        query = "select (select count(*) from big), (select count(*) from small)"
        return connection.execute(query).fetchone()


@pytest.mark.parametrize("missing", [0, 1, 8, 30, 50, 63, 64, 65, 100, 150, 200, 400])
def test_transactions_are_whole(crashed: Path, tmp_path: Path, missing: int) -> None:
    assert rows(cut(crashed, tmp_path, log_of(crashed).stat().st_size - missing)) in STATES
