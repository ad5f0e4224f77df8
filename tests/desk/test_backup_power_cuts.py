"""Power cuts while a store is backed up or restored: every possible state of the disk is consistent."""

from __future__ import annotations

import hashlib
import importlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from sentgen.counts.corpora import remove
from sentgen.desk.backup import Backup, back_up
from sentgen.desk.desk import Desk
from sentgen.schema import Store, folders, snapshots
from sentgen.schema.migrate import drafts_of

ROOT = Path(__file__).resolve().parents[2]
#: Runs a command that copies by system calls whose bytes strace shows.
COMMAND = """
import shutil, sys
shutil._USE_CP_SENDFILE = shutil._USE_CP_COPY_FILE_RANGE = False
from sentgen.cli import build
build()(sys.argv[1:])
"""
#: A file of somebody else in the folder.
NOTES = b"notes"

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(not shutil.which("strace"), reason="needs strace"),
]


class Cut:
    """A folder with a store, and the states in which a power cut may leave it."""

    def __init__(self, folder: Path, modules: Any) -> None:
        self.folder, self.left, self._disk = folder, folder.with_name("left"), modules

    def states(self, *words: object) -> Iterator[dict[str, bytes]]:
        """Run a command, and give each state of the disk once, written to `left`."""
        played, trace = self._disk.Disk(self.folder, 1), self.folder.with_name("trace")
        command = [sys.executable, "-c", COMMAND, *map(str, words)]
        subprocess.run([*self._disk.TRACED, "-o", str(trace), *command], check=True, capture_output=True)
        seen = set[int]()
        with trace.open() as file:
            # Most is unsynced just before a sync, and at the end.
            for line in chain(file, ["sync()"]):
                for state in played.states() if "sync(" in line else ():
                    # Of a draft only the names matter, not the content.
                    told = {(name, b"" if "/." in f"/{name}" else data) for name, data in state.items()}
                    if (key := hash(frozenset(told))) not in seen:
                        seen.add(key)
                        self._leave(state)
                        yield state
                played.play(line)
        assert {name: data for name, data in played.now().items() if not name.endswith("/")} == {
            str(path.relative_to(self.folder)): path.read_bytes()
            for path in self.folder.rglob("*")
            if path.is_file()
        }

    def _leave(self, state: dict[str, bytes]) -> None:
        shutil.rmtree(self.left, ignore_errors=True)
        for name, data in state.items():
            path = self.left / name
            (path if name.endswith("/") else path.parent).mkdir(parents=True, exist_ok=True)
            if not name.endswith("/"):
                path.write_bytes(data)


@pytest.fixture
def cut(store: Path, desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cut:
    """A folder with a store, its line sets, a folder of backups with one in it, and notes of somebody."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    folder = tmp_path / "disk"
    (folder / "backups" / "mine").mkdir(parents=True)
    for name in ("notes", "backups/notes", "backups/mine/notes"):
        (folder / name).write_bytes(NOTES)
    for path in (store, desk.path):
        path.rename(folder / path.name)
    return Cut(folder, importlib.import_module("durability.disk"))


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_a_backup_that_is_found_is_whole(cut: Cut) -> None:
    """The backup before, the new one, or both are there and whole; and the next can be made."""
    store = cut.folder / "a.duckdb"
    before = back_up(store, cut.folder / "backups", quick=True)
    kept = {
        name: data for name, data in files_of(cut.folder).items() if not name.startswith("backups/sentgen-")
    }
    found = set()
    for state in cut.states(
        "db", "backup", "--quick", "--keep", "1", "--to", store.parent / "backups", "--db", store
    ):
        there = Backup.all_in(cut.left / "backups")
        for each in there:
            held = {path.name: digest(path.read_bytes()) for path in each.folder.iterdir()}
            assert held.pop("backup.json")
            assert held == each.files
        found.add(tuple(each.folder.name == before.folder.name for each in there))
        assert kept.items() <= state.items()
        with snapshots.drafts_in(cut.left / "backups"):
            pass

    assert {(True,), (True, False), (False,)} == found


def files_of(folder: Path) -> dict[str, bytes]:
    """The files in a folder and those in it."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("way", [[], ["--no-backup"]])
@pytest.mark.parametrize("log", [b"", b"of the old one"])
def test_a_store_is_the_old_one_or_that_of_the_backup(cut: Cut, way: list[str], log: bytes) -> None:
    """The store has no log of the other one; the old store keeps its log; line sets are whole."""
    store, desk = cut.folder / "a.duckdb", cut.folder / "a.desk"
    made = back_up(store, cut.folder.with_name("backups"), quick=True)
    desk.unlink()
    with Store(store) as opened:
        remove(opened, "texts")
    if log:
        (cut.folder / "a.duckdb.wal").write_bytes(log)
    old = store.read_bytes()
    kept = {name: data for name, data in files_of(cut.folder).items() if "notes" in name}
    found = set()
    for state in cut.states("db", "restore", made.folder, "--yes", *way, "--db", store):
        assert kept.items() <= state.items()
        assert digest(state["a.duckdb"]) in (digest(old), made.files["store.duckdb"])
        is_old = state["a.duckdb"] == old
        others = [name for name in state if name.startswith("a.duckdb.backup-restore-")]
        whole = [
            name for name in others if state[name] == old and (not log or state.get(f"{name}.wal") == log)
        ]
        assert not any(state[name] != (log if name.endswith(".wal") else old) for name in others)
        if is_old and log and not way:
            assert state.get("a.duckdb.wal") == log or whole
        if not is_old:
            assert "a.duckdb.wal" not in state
            assert way or whole
        assert "a.desk" not in state or digest(state["a.desk"]) == made.files["store.desk"]
        with folders.for_drafts(drafts_of(cut.left / "a.duckdb")):
            pass
        found.add(is_old)

    assert found == {True, False}
