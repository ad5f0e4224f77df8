"""Backups are complete copies of the store, and are restored completely, even after a kill."""

from __future__ import annotations

import hashlib
import io
import json
import os
import random
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from killing import Zygote, moments

import sentgen
from sentgen.cli import build
from sentgen.counts.corpora import remove
from sentgen.counts.ingestion import Settings, ingest
from sentgen.desk.backup import Backup, back_up
from sentgen.desk.desk import Desk
from sentgen.desk.labels import GivenLabel
from sentgen.errors import InputError, NotFoundError, StoreError
from sentgen.schema import Store, snapshots
from sentgen.schema.durability.write_lock import InUseError
from sentgen.schema.lake_transfer import export
from sentgen.schema.places import Place


def names(folder: Path) -> set[str]:
    """Return the names in a folder."""
    return {path.name for path in folder.iterdir()}


def content(path: Path) -> str:
    """The SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def whole(backup: Backup) -> bool:
    """Return whether the files are exactly those of the manifest, with their hashes."""
    there = names(backup.folder) == {"backup.json", *backup.files}
    return there and all(content(backup.folder / name) == digest for name, digest in backup.files.items())


def add(store: Path, corpus: str, text: str) -> None:
    """Read a text into a corpus of a store."""
    (file := store.with_name(f"{corpus}.txt")).write_text(text)
    with Store(store) as opened:
        ingest(opened, [str(file)], Settings(corpus))


@pytest.fixture
def beside(desk: Desk) -> Path:
    """The desk of users who see the corpus `texts` alone, beside that of all."""
    return Path(shutil.copyfile(desk.path, desk.path.with_name("a-texts.desk")))


def test_a_backup_has_the_store_and_all_its_line_sets(store: Path, desk: Desk, beside: Path) -> None:
    """A backup has the bytes of store and line sets, with a description, and is write-protected."""
    made = back_up(store, store.with_name("backups"))

    assert set(made.files) == {"store.duckdb", "store.desk", "store-texts.desk"}
    assert whole(made)
    assert (made.folder / "store.duckdb").read_bytes() == store.read_bytes()
    assert {stat.S_IMODE(path.stat().st_mode) for path in made.folder.iterdir()} == {0o444}
    assert [(each["name"], each["sentences"]) for each in made.corpora] == [("texts", 8)]
    assert made.store == str(store)
    assert str(made).startswith("1 corpus (")
    assert Backup.at(made.folder.parent) == Backup.at(made.folder) == made
    assert names(made.folder.parent) == {made.folder.name, ".sentgen-lock"}


def test_who_may_not_read_the_store_may_not_read_its_backup(store: Path) -> None:
    """A backup, and a restored store, has the read permissions of the store."""
    store.chmod(0o600)

    made = back_up(store, store.with_name("backups"), quick=True)
    made.restore(store.with_name("new.duckdb"))

    assert {stat.S_IMODE(path.stat().st_mode) for path in made.folder.iterdir()} == {0o400}
    assert stat.S_IMODE(made.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(store.with_name("new.duckdb").stat().st_mode) == 0o600


def test_a_desk_is_copied_while_it_is_written_to(store: Path, desk: Desk, tmp_path: Path) -> None:
    """The copy has no changes of unfinished transactions, and does not wait for them."""
    with desk.writing() as writing:
        writing.exec_driver_sql("update line_set set name = 'other'")
        made = back_up(store, tmp_path / "backups", quick=True)

    for each, name in ((desk, "other"), (Desk(made.folder / "store.desk"), "make")):
        with each.reading() as reading:
            assert reading.exec_driver_sql("select name from line_set").scalars().all() == [name]


def test_a_store_that_somebody_fills_is_copied_between_two_transactions(store: Path, tmp_path: Path) -> None:
    """Each backup has whole sources, no fewer than the one before, and passes all checks; the writer goes on."""
    texts = tmp_path / "texts"
    texts.mkdir()
    for number in range(6):
        (texts / f"{number}.txt").write_text(f"one two three {number} .\n" * 40)
    script = (
        "import sys; from sentgen.counts import batch; batch.BATCH_SECONDS = 0.0\n"
        "from sentgen.cli import main; main()"
    )
    command = [sys.executable, "-c", script, "ingest", str(texts), "--corpus", "more", "--db", str(store)]
    found = []
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as writer:
        while writer.poll() is None:
            time.sleep(0.2)
            try:
                made = back_up(store, tmp_path / "backups", quick=True)
            except InUseError:
                continue  # as without `--wait`
            found.append({each["name"]: each["sentences"] for each in made.corpora}.get("more", 0))
    assert writer.returncode == 0
    with Store(store, read_only=True) as opened, opened.connect() as connection:
        assert connection.exec_driver_sql("select count(*) from sentence").scalar() == 8 + 240

    assert found == sorted(found)
    assert len(set(found)) > 1
    assert {number % 40 for number in found} == {0}


def test_a_store_with_a_fault_is_not_backed_up(store: Path, tmp_path: Path) -> None:
    """A faulty store is not backed up, so that it does not displace good backups."""
    with Store(store) as opened, opened.begin() as connection:
        connection.exec_driver_sql("delete from document where id = 1")

    with pytest.raises(StoreError, match=r"not backed up, as it does not pass a check .*sentgen db check"):
        back_up(store, tmp_path / "backups")

    assert names(tmp_path / "backups") == {".sentgen-lock"}


def test_what_is_no_store_is_refused(store: Path, tmp_path: Path) -> None:
    """A file that is no store is refused, with what to do."""
    snapshot = snapshots.publish(store, tmp_path / "snapshots").snapshot
    for path in (snapshot.path, snapshot.path.parent):
        with pytest.raises(StoreError, match="snapshots never change; copy the files"):
            back_up(path, tmp_path / "backups")
    with pytest.raises(StoreError, match="this is a folder"):
        back_up(tmp_path, tmp_path / "backups")
    with pytest.raises(NotFoundError, match="no store here; make one with"):
        back_up(tmp_path / "none.duckdb", tmp_path / "backups")
    with pytest.raises(NotFoundError, match="no line sets here"):
        back_up(store, tmp_path / "backups", desk=tmp_path / "none.desk")
    with pytest.raises(StoreError, match="no desk of sentgen"):
        back_up(store, tmp_path / "backups", desk=store)
    with pytest.raises(InputError, match="would remove all backups"):
        back_up(store, tmp_path / "backups", keep=0)


def test_the_oldest_backups_go(store: Path, tmp_path: Path) -> None:
    """The oldest backups are removed, but not those with added files, nor other folders."""
    folder = tmp_path / "backups"
    made = [back_up(store, folder, quick=True) for _ in range(3)]
    (made[0].folder / "notes.txt").write_text("before the course")
    (folder / "sentgen-20200101T000000").mkdir()

    last = back_up(store, folder, keep=2, quick=True)

    assert last.removed == (made[1].folder.name,)
    kept = [made[0].folder.name, made[2].folder.name, last.folder.name]
    assert [each.folder.name for each in Backup.all_in(folder)] == kept
    assert names(folder) == {*kept, "sentgen-20200101T000000", ".sentgen-lock"}


def test_a_backup_comes_back_as_a_new_store(store: Path, desk: Desk, beside: Path, tmp_path: Path) -> None:
    """A backup is restored as a new store, with line sets under names of the new store."""
    made = back_up(store, tmp_path / "backups")
    (new := tmp_path / "elsewhere").mkdir()

    done = Backup.at(tmp_path / "backups").restore(new / "b.duckdb")

    assert names(new) == {"b.duckdb", "b.desk", "b-texts.desk"}
    assert (new / "b.duckdb").read_bytes() == store.read_bytes()
    assert (done.backup, done.kept, done.left) == (made, None, ())
    add(new / "b.duckdb", "more", "one more .\n")  # it can be written to
    assert Desk(new / "b.desk")


@pytest.mark.parametrize("keep_old", [True, False])
def test_a_backup_takes_the_place_of_a_damaged_store(
    store: Path, desk: Desk, tmp_path: Path, keep_old: bool
) -> None:
    """Files of the damaged store are kept or removed with it; labels that were given since stay."""
    made = back_up(store, tmp_path / "backups")
    GivenLabel(name="make", lines="1", label="light", labeler="ann").give(desk)
    labeled = desk.path.read_bytes()
    store.write_bytes(b"damaged")
    store.with_name("a.duckdb.wal").write_bytes(b"log of it")

    done = made.restore(store, keep_old=keep_old)

    assert content(store) == made.files["store.duckdb"]
    assert desk.path.read_bytes() == labeled
    assert done.left == (desk.path,)
    assert not store.with_name("a.duckdb.wal").exists()
    if keep_old:
        assert done.kept is not None
        assert done.kept.read_bytes() == b"damaged"
        assert done.kept.with_name(f"{done.kept.name}.wal").read_bytes() == b"log of it"
    others = {"a.duckdb", "a.desk", "texts.conllu", "backups"}
    assert len(names(tmp_path) - others) == (2 if keep_old else 0)


def test_a_log_without_a_store_is_kept(store: Path, tmp_path: Path) -> None:
    """A log without a store is kept, as it may be all that is left, but not used by the restored store."""
    made = back_up(store, tmp_path / "backups", quick=True)
    (log := tmp_path / "new.duckdb.wal").write_bytes(b"what is left")

    made.restore(tmp_path / "new.duckdb")

    assert not log.exists()
    (kept,) = tmp_path.glob("new.duckdb.backup-restore-*.wal")
    assert kept.read_bytes() == b"what is left"


def test_a_backup_that_has_changed_is_not_put_back(store: Path, desk: Desk, tmp_path: Path) -> None:
    """A changed backup of store or line sets is not restored, and the store stays unchanged."""
    made = back_up(store, tmp_path / "backups", quick=True)
    before = store.read_bytes()
    for name in made.files:
        path = made.folder / name
        kept = path.read_bytes()
        path.chmod(0o644)
        path.write_bytes(kept[:-1] + b"?")
        with pytest.raises(StoreError, match=f"{name}: changed since the backup was made"):
            made.restore(store)
        with pytest.raises(StoreError, match="changed since the backup was made"):
            made.restore(store.with_name("new.duckdb"))
        path.write_bytes(kept)
        store.with_name("new.desk").unlink(missing_ok=True)

    assert store.read_bytes() == before
    assert names(tmp_path) == {"a.duckdb", "a.desk", "texts.conllu", "backups"}


def test_what_is_put_back_is_for_nobody_else_to_change(store: Path, tmp_path: Path) -> None:
    """Restored files are writable by the owner only, whatever their modes in the backup."""
    made = back_up(store, tmp_path / "backups", quick=True)
    (made.folder / "store.duckdb").chmod(0o4777)
    made.restore(store.with_name("new.duckdb"))

    assert stat.S_IMODE(store.with_name("new.duckdb").stat().st_mode) == 0o644


def test_a_link_is_not_replaced(store: Path, tmp_path: Path) -> None:
    """A link is not replaced, since the store behind it would stay unchanged."""
    made = back_up(store, tmp_path / "backups", quick=True)
    (link := tmp_path / "link.duckdb").symlink_to(store)

    with pytest.raises(StoreError, match=f"link.duckdb: a link; put the backup back with `path` {store}"):
        made.restore(link)
    assert link.is_symlink()


#: Forged values of a manifest by key; `more` adds a file.
MADE_UP: list[dict[str, object]] = [
    {"versions": ["x"]},
    {"versions": {"schema": 3}},
    {"files": ["store.duckdb"]},
    {"files": {"store.duckdb": 3}},
    {"corpora": [5]},
    {"corpora": [{"name": "a", "tokens": "many"}]},
    {"models": [None]},
    {"made_at": 5},
    *(
        {"more": name}
        for name in ("../a.duckdb", "/etc/passwd", "a.desk", "storea.desk", "backup.json", "..")
    ),
]


def test_a_backup_that_somebody_made_up_is_none(store: Path, tmp_path: Path) -> None:
    """A forged manifest is refused in one line; it can name only files of the backup."""
    made = back_up(store, tmp_path / "backups", quick=True)
    manifest = made.folder / "backup.json"
    manifest.chmod(0o644)
    values = json.loads(manifest.read_text())
    for name in ("a.desk", "storea.desk"):
        (made.folder / name).touch()
    for change in MADE_UP:
        files = {"files": {**values["files"], change["more"]: "0"}} if "more" in change else change
        manifest.write_text(json.dumps(values | files))
        with pytest.raises(NotFoundError, match="no whole backup here"):
            Backup.at(made.folder)
    manifest.write_text("[" * 100_000)
    assert Backup.all_in(made.folder.parent) == []
    manifest.write_text(json.dumps(values))
    assert Backup.at(made.folder) == made


def test_what_cannot_be_put_back(store: Path, tmp_path: Path) -> None:
    """A backup that is missing or cannot be restored is refused."""
    made = back_up(store, tmp_path / "backups", quick=True)
    with pytest.raises(NotFoundError, match="no folder of backups"):
        Backup.at(store)
    with pytest.raises(NotFoundError, match="no whole backup here"):
        Backup.at(tmp_path)
    with pytest.raises(StoreError, match="this is a folder"):
        made.restore(tmp_path)
    with pytest.raises(NotFoundError, match="there is no folder"):
        made.restore(tmp_path / "none" / "a.duckdb")
    with Store(store, read_only=True), pytest.raises(InUseError):
        subprocess_restore(made, store)
    manifest = made.folder / "backup.json"
    values = json.loads(manifest.read_text())
    for changed in (
        {"versions": {"schema": "0042_other", "sentgen": "9.9"}},
        {"files": {"store.duckdb": "", "../a.duckdb": ""}},
        {"files": {}},
        {"more": 1},
    ):
        manifest.chmod(0o644)
        manifest.write_text(json.dumps({**values, **changed}))
        with pytest.raises((StoreError, NotFoundError), match=r"made by another version|no whole backup"):
            Backup.at(made.folder).restore(tmp_path / "new.duckdb")


def test_lakes_and_snapshots_are_not_replaced(store: Path, tmp_path: Path) -> None:
    """They are told from folders that are neither, by their name or that of the folder of snapshots."""
    made = back_up(store, tmp_path / "backups", quick=True)
    snapshot = snapshots.publish(store, tmp_path / "snapshots").snapshot
    with Store(store, read_only=True) as opened:
        export(opened, Place(tmp_path / "lake"))

    for path in (snapshot.path, snapshot.path.parent):
        with pytest.raises(StoreError, match="a snapshot is never changed; choose another"):
            made.restore(path)
    with pytest.raises(StoreError, match=r"a lake is only read; .* names a file"):
        made.restore(tmp_path / "lake")
    with pytest.raises(StoreError, match="lakes and snapshots never change; copy the files"):
        back_up(tmp_path / "lake", tmp_path / "backups")


def subprocess_restore(made: Backup, store: Path) -> None:
    """Put a backup back in another process."""
    command = [sys.executable, "-m", "sentgen", "db", "restore", str(made.folder), "--yes", "--wait", "0"]
    done = subprocess.run([*command, "--db", str(store)], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    if "in use by another process" in done.stderr:
        raise InUseError(done.stderr)
    raise AssertionError(done.stderr)


def test_the_command_asks_before_it_replaces_a_store(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a terminal, replacing is refused with what it would do; the answer no changes nothing."""
    made = back_up(store, tmp_path / "backups", quick=True)
    store.write_bytes(b"old")
    command = ["db", "restore", str(made.folder.parent), "--db", str(store)]
    with pytest.raises(InputError, match=r"this would replace .*1 corpus .*; give --yes, or another --db"):
        build()(command, standalone_mode=False)
    monkeypatch.setattr("sys.stdin", Terminal("n\n"))
    with pytest.raises(typer.Abort):
        build()(command, standalone_mode=False)
    assert store.read_bytes() == b"old"
    capsys.readouterr()

    build()([*command, "--yes"], standalone_mode=False)
    assert content(store) == made.files["store.duckdb"]
    assert capsys.readouterr().out == f"{store}\n"


class Terminal(io.StringIO):
    """A terminal with typed input."""

    def isatty(self) -> bool:
        """Say that it is a terminal."""
        return True


def test_python_backs_up_the_store_that_it_has_open(store: Path, desk: Desk, tmp_path: Path) -> None:
    """Python backs up a store that it has open, and continues to use it."""
    with sentgen.open(store) as db:
        made = db.backup(tmp_path / "backups", quick=True, keep=1)

        assert set(made.files) == {"store.duckdb", "store.desk"}
        assert made.store == str(store)
        assert len(db.corpora()) == 1


# ---- kills


@pytest.fixture(scope="module")
def zygote() -> Iterator[Zygote]:
    """A process that forks commands."""
    with Zygote() as one:
        yield one


def test_killed_while_it_is_backed_up(
    store: Path, desk: Desk, tmp_path: Path, zygote: Zygote, nightly: bool
) -> None:
    """After a kill there is a whole backup or none, and the next backup removes the rest."""
    folder = tmp_path / "backups"
    command = ["db", "backup", "--to", folder, "--keep", "2", "--db", store]
    course = zygote.run(command)
    assert course.code == 0
    for commit, after in moments(course, 100 if nightly else 3, random.Random(1)):
        zygote.run(command, commit=commit, after=after)
        assert all(map(whole, Backup.all_in(folder)))
    assert zygote.run(command).code == 0

    assert len(Backup.all_in(folder)) == 2
    assert names(folder) == {".sentgen-lock", *(each.folder.name for each in Backup.all_in(folder))}


def test_killed_while_it_is_put_back(
    store: Path, desk: Desk, tmp_path: Path, zygote: Zygote, nightly: bool
) -> None:
    """After a kill the store is the old one or that of the backup; a second restore ends with the latter."""
    made = back_up(store, tmp_path / "backups", quick=True)
    with Store(store) as opened:
        remove(opened, "texts")
    old = store.read_bytes()
    command = ["db", "restore", made.folder, "--yes", "--no-backup", "--db", store]
    course = zygote.run(command)
    assert course.code == 0
    seen = set()
    for commit, after in moments(course, 200 if nightly else 5, random.Random(2)):
        store.write_bytes(old)
        zygote.run(command, commit=commit, after=after)
        seen.add(content(store))
    assert seen <= {hashlib.sha256(old).hexdigest(), made.files["store.duckdb"]}

    assert zygote.run(command).code == 0
    assert content(store) == made.files["store.duckdb"]
    assert names(tmp_path) == {"a.duckdb", "a.desk", "texts.conllu", "backups"}
    assert os.access(store, os.W_OK)
