"""Power cuts: a store opens in every state that a disk may have between two syncs.

`benchmarks/power_cuts.py` makes these states.
"""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest

ROOT = Path(__file__).resolve().parents[2]
#: Bytes of two pages.
OLD, NEW = b"o" * 8192, b"n" * 8192


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A simulated folder with one file of two pages, to which system calls can be applied."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    (tmp_path / "store").write_bytes(OLD)
    return importlib.import_module("durability.disk").Disk(tmp_path, seed=1)


def call(disk: Any, name: str, file: str, *words: bytes | int) -> None:
    """Apply a system call, as strace writes it."""

    def escaped(data: bytes) -> str:
        return "".join(f"\\x{byte:02x}" for byte in data)

    path = os.fsencode(disk.folder / file)
    if name in ("openat", "unlink"):
        at = f'AT_FDCWD<>, "{escaped(path)}", O_WRONLY|O_CREAT' if name == "openat" else f'"{escaped(path)}"'
    else:
        rest = (f', "{escaped(word)}"' if isinstance(word, bytes) else f", {word}" for word in words)
        at = f"5<{escaped(path)}>{''.join(rest)}"
    disk.play(f"77 {name}({at}) = 0\n")


def test_what_was_synced_is_there_in_every_state(disk: Any) -> None:
    call(disk, "pwrite64", "store", NEW, 8192, 0)
    call(disk, "fsync", "store")

    assert [*disk.states()] == [{"store": NEW}]


def test_a_write_is_lost_or_torn_at_pages(disk: Any) -> None:
    """A write of two pages may reach the disk with neither, one, or both of them."""
    call(disk, "pwrite64", "store", NEW, 8192, 0)

    found = {state["store"] for state in disk.states()}
    assert found == {OLD, NEW, NEW[:4096] + OLD[4096:], OLD[:4096] + NEW[4096:]}


def test_a_later_write_may_be_there_without_an_earlier_one(disk: Any) -> None:
    call(disk, "pwrite64", "store", b"1", 1, 0)
    call(disk, "pwrite64", "store", b"2", 1, 1)

    assert {state["store"][:2] for state in disk.states()} == {b"oo", b"1o", b"o2", b"12"}


def test_a_synced_file_may_have_no_name(disk: Any) -> None:
    """Without a sync of the folder, a new file may have no name, and a removed one may be back."""
    call(disk, "openat", "journal")
    call(disk, "write", "journal", b"j", 1)
    call(disk, "fsync", "journal")
    assert {*map(frozenset, disk.states())} == {frozenset({"store"}), frozenset({"store", "journal"})}

    call(disk, "fsync", "")
    assert [*disk.states()] == [{"store": OLD, "journal": b"j"}]
    call(disk, "unlink", "journal")
    assert set(next(disk.states())) == {"store", "journal"}
    assert {*disk.now()} == {"store"}


def test_a_log_with_a_hole_keeps_a_store_from_opening(tmp_path: Path) -> None:
    """This is why commits write no log, in any version; if this test fails, review `WITHOUT_LOG`."""
    path, log = tmp_path / "store.duckdb", tmp_path / "store.duckdb.wal"
    with duckdb.connect(str(path)) as duck:
        duck.execute("create table t (x varchar); checkpoint; pragma disable_checkpoint_on_shutdown")
        duck.execute("insert into t select 'word ' || range from range(5000)")
    written = log.read_bytes()
    log.write_bytes(written[:8192] + bytes(4096) + written[12288:])

    with pytest.raises(duckdb.Error, match="Failure while replaying WAL"):
        duckdb.connect(str(path))


@pytest.mark.nightly
@pytest.mark.skipif(not shutil.which("strace"), reason="needs strace")
def test_every_state_of_small_commits_is_whole(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "power_cuts.py"), "--sentences", "30"]
    done = subprocess.run(
        [*command, "--folder", str(tmp_path / "cuts")], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "as before the commit" in done.stdout
    assert "damaged" not in done.stdout
