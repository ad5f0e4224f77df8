"""Files of others beside a store or a snapshot stay as they are, whatever their names are."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from sentgen.errors import StoreError
from sentgen.schema import Store, folders, maintenance, migrate, snapshots
from sentgen.schema.store import raw

MINE = "what somebody wrote"


def write(path: Path) -> None:
    """Write a file of another program, with its folder if needed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(MINE)


def commit(path: Path) -> None:
    """Commit a change to a store."""
    with Store(path) as store, store.begin() as connection:
        raw(connection).execute("insert into word values (5000, 'x')")


def test_only_a_marked_folder_is_removed(tmp_path: Path) -> None:
    """An empty folder is used; an unmarked folder with files is refused and stays."""
    folders.make(tmp_path / "ours")
    (tmp_path / "ours" / "deep" / "er").mkdir(parents=True)
    (tmp_path / "ours" / "link").symlink_to(tmp_path / "mine")
    write(tmp_path / "mine" / "file")
    folders.make(tmp_path / "ours")

    for name in ("ours", "mine", "none"):
        folders.remove(tmp_path / name)
    with pytest.raises(StoreError, match=r"mine: in the way, and sentgen did not write it"):
        folders.make(tmp_path / "mine")
    with pytest.raises(StoreError, match=r"file: in the way"):
        folders.make(tmp_path / "mine" / "file")

    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
    assert (tmp_path / "mine" / "file").read_text() == MINE


@pytest.mark.parametrize("name", ["store.duckdb.tmp-notes/a", "store.duckdb.tmp-17/a", "store.duckdb.tmp/a"])
def test_folders_beside_a_store_stay(path: Path, name: str) -> None:
    """Folders of others with the names of DuckDB's temporary folders stay."""
    mine = path.parent / name
    write(mine)
    (mine.parent / "duckdb_temp_storage_DEFAULT-0.tmp").touch()

    commit(path)
    maintenance.compact(path)

    assert mine.read_text() == MINE


def upgrade(path: Path) -> None:
    """Do the first steps of an upgrade."""
    migrate.back_up(path, "0001")


@pytest.mark.parametrize(
    ("name", "work"),
    [
        ("store.duckdb.lock", commit),
        ("store.duckdb.journal", commit),
        ("store.duckdb.journal/a", commit),
        (".store.duckdb.compact/a", maintenance.compact),
        (".store.duckdb.compact", maintenance.compact),
        (".store.duckdb.backup/a", upgrade),
    ],
)
def test_what_has_a_name_that_is_needed_is_refused(
    path: Path, name: str, work: Callable[[Path], object]
) -> None:
    """The message names the file to move; nothing is removed, overwritten, or left behind."""
    mine = path.parent / name
    write(mine)

    with pytest.raises(StoreError, match=rf"{name.split('/')[0]}: in the way, .*; move it, or remove it"):
        work(path)

    assert mine.read_text() == MINE
    assert {one.name for one in path.parent.iterdir()} == {path.name, name.split("/")[0]}


def test_a_short_file_with_the_name_of_the_log_stays(path: Path) -> None:
    """A short file that is not the beginning of a log is not taken for a torn log."""
    mine = path.with_name(f"{path.name}.wal")
    mine.write_text("notes")

    Store(path, read_only=True).close()

    assert mine.read_text() == "notes"


def test_snapshots_leave_alone_what_lies_beside_them(path: Path, tmp_path: Path) -> None:
    """Files stay that are named like drafts, locks or snapshots, or that their owner renamed."""
    folder = tmp_path / "to"
    names = (
        "notes.txt",
        ".sentgen-notes.tmp",
        ".sentgen-draft.tmp",
        ".sentgen-draft.tmp.txt",
        ".sentgen-lock",
    )
    for name in (*names, "sentgen-0.json", "sentgen-0.duckdb"):
        write(folder / name)
    first = snapshots.publish(path, folder).snapshot
    kept = folder / "sentgen-release.duckdb"
    shutil.copy(first.path, kept)
    manifest = first.manifest.read_text().replace(first.path.name, kept.name)
    kept.with_suffix(".json").write_text(manifest.replace('"published_at": "2', '"published_at": "1'))
    commit(path)

    done = snapshots.publish(path, folder, keep=1)

    assert done.removed == (first.name,)
    assert {name: (folder / name).read_text() for name in names} == dict.fromkeys(names, MINE)
    new = (done.snapshot.path.name, done.snapshot.manifest.name, kept.name, "sentgen-release.json")
    assert {one.name for one in folder.iterdir()} == {*names, "sentgen-0.json", "sentgen-0.duckdb", *new}


def test_drafts_of_another_are_not_used(path: Path, tmp_path: Path) -> None:
    """A folder of others with the name of the folder for drafts is refused."""
    write(tmp_path / "to" / ".sentgen-draft" / "a")

    with pytest.raises(StoreError, match=r"\.sentgen-draft: in the way"):
        snapshots.publish(path, tmp_path / "to")

    assert (tmp_path / "to" / ".sentgen-draft" / "a").read_text() == MINE
