"""A log that a crash cut short: what it held whole comes back, what it held in part does not."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from sentgen.errors import StoreError
from sentgen.schema.durability import write_ahead_log
from sentgen.schema.durability.duckdb_faults import TORN_LOGS_COME_BACK
from sentgen.schema.durability.write_ahead_log import drop_torn_tail, log_of, whole_length

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
    """Copy the database with so many bytes of its log."""
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
    path = cut(crashed, tmp_path, log_of(crashed).stat().st_size - missing)
    drop_torn_tail(path)

    assert rows(path) in STATES


def test_log_of_whole_transactions_is_kept(crashed: Path) -> None:
    assert whole_length(log_of(crashed)) == log_of(crashed).stat().st_size


def test_what_is_no_log_is_kept(tmp_path: Path) -> None:
    log = tmp_path / "a.wal"
    log.write_bytes(b"something else, which is long enough")

    assert whole_length(log) == log.stat().st_size


@pytest.mark.skipif(not TORN_LOGS_COME_BACK, reason="DuckDB 2 reads torn logs as it should")
def test_log_in_use_is_left_alone(crashed: Path, tmp_path: Path) -> None:
    """A log that is being written ends in the middle of a transaction, too."""
    path = cut(crashed, tmp_path, log_of(crashed).stat().st_size - 100)
    hold = "import fcntl, sys; f = open(sys.argv[1], 'rb+'); fcntl.lockf(f, fcntl.LOCK_EX); print(flush=True); sys.stdin.read()"
    before = log_of(path).stat().st_size
    with subprocess.Popen(
        [sys.executable, "-c", hold, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        drop_torn_tail(path)
        other.communicate(b"")

    assert log_of(path).stat().st_size == before


@pytest.mark.skipif(not TORN_LOGS_COME_BACK, reason="DuckDB 2 reads torn logs as it should")
def test_log_that_cannot_be_cut_is_refused(
    crashed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = cut(crashed, tmp_path, log_of(crashed).stat().st_size - 100)
    monkeypatch.setattr(write_ahead_log.os, "access", lambda *_: False)

    with pytest.raises(StoreError, match="a crash left a transaction half written"):
        drop_torn_tail(path)
