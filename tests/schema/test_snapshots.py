"""A snapshot is complete, is named by its content, and never changes."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest
from sqlalchemy import func, insert, select

from sentgen.errors import InputError, NotFoundError, StoreError
from sentgen.schema import Store
from sentgen.schema.manifests import Snapshot
from sentgen.schema.snapshots import publish, verify
from sentgen.schema.store import scalar
from sentgen.schema.tables.corpus import corpus


def change(path: Path, name: str) -> None:
    """Add an empty corpus to a store."""
    with Store(path) as store, store.begin() as connection:
        number = scalar(connection, select(func.count()).select_from(corpus)) + 1
        settings = {"lowercase": False, "max_order": 1, "tags": "xpos", "function_heads": False}
        values = {"id": number, "name": name, "kind": "corpus", "created_at": datetime(2026, 1, 2)}
        connection.execute(insert(corpus).values({**values, **settings}))


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """An empty store."""
    path = tmp_path / "store.duckdb"
    Store(path, create=True).close()
    return path


def test_a_snapshot_is_named_by_its_content(store: Path, tmp_path: Path) -> None:
    """The name is the hash of the bytes, which are those of the store, and the file is read-only."""
    done = publish(store, tmp_path / "to")

    data = done.snapshot.path.read_bytes()
    assert data == store.read_bytes()
    assert done.snapshot.sha256 == hashlib.sha256(data).hexdigest()
    assert done.snapshot.path.name == f"sentgen-{done.snapshot.sha256[:16]}.duckdb"
    assert stat.S_IMODE(done.snapshot.path.stat().st_mode) == 0o444
    assert stat.S_IMODE(done.snapshot.manifest.stat().st_mode) == 0o444


def test_the_manifest_says_what_is_inside(store: Path, tmp_path: Path) -> None:
    """The manifest lists corpora with licences, models, versions, the hash, the size and the time."""
    change(store, "news")

    done = publish(store, tmp_path / "to")

    told = json.loads(done.snapshot.manifest.read_text())
    assert [one["name"] for one in told["corpora"]] == ["news"]
    assert set(told["corpora"][0]) == {"name", "licence", "sentences", "tokens"}
    assert told["models"] == []
    assert set(told["versions"]) == {"sentgen", "duckdb", "schema"}
    assert told["sha256"] == done.snapshot.sha256
    assert told["bytes"] == done.snapshot.path.stat().st_size
    assert Snapshot.newest(tmp_path / "to") == done.snapshot


def test_publishing_twice_publishes_nothing_new(store: Path, tmp_path: Path) -> None:
    """The file of the first publication stays as it is."""
    first = publish(store, tmp_path / "to")
    before = first.snapshot.path.stat()

    second = publish(store, tmp_path / "to")

    assert (first.new, second.new) == (True, False)
    assert second.snapshot.path.stat().st_ino == before.st_ino
    assert len(Snapshot.all_in(tmp_path / "to")) == 1


def test_what_is_published_last_is_the_newest(store: Path, tmp_path: Path) -> None:
    """A snapshot published again is the newest, also if it has an earlier state of the store."""
    first = publish(store, tmp_path / "to")
    copy = tmp_path / "copy.duckdb"
    shutil.copy(store, copy)
    change(store, "news")
    second = publish(store, tmp_path / "to")

    publish(copy, tmp_path / "to")

    names = [one.name for one in Snapshot.all_in(tmp_path / "to")]
    assert names == [second.snapshot.name, first.snapshot.name]


def test_keep_removes_the_oldest(store: Path, tmp_path: Path) -> None:
    """The N newest snapshots stay; the others are removed, with their manifests."""
    names = []
    for number in range(4):
        change(store, f"corpus{number}")
        names.append(publish(store, tmp_path / "to").snapshot.name)

    done = publish(store, tmp_path / "to", keep=2)

    assert list(done.removed) == names[:2]
    assert [one.name for one in Snapshot.all_in(tmp_path / "to")] == names[2:]
    assert len(list((tmp_path / "to").glob("sentgen-*"))) == 4


def test_what_may_not_be_removed_is_told(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A snapshot that may not be removed, as one of another user, is an error of one line."""
    first = publish(store, tmp_path / "to").snapshot
    change(store, "news")
    unlink = os.unlink

    def refuse(path: str | Path) -> None:
        if Path(path) == first.path:
            raise PermissionError(1, "Operation not permitted", str(path))
        unlink(path)

    monkeypatch.setattr(os, "unlink", refuse)
    with pytest.raises(StoreError, match=r"(?i)^\S+to: .*permi"):
        publish(store, tmp_path / "to", keep=1)
    assert first.path.exists()
    assert first.manifest.exists()


def test_keeping_nothing_is_refused(store: Path, tmp_path: Path) -> None:
    """A number below 1 would remove the new snapshot, too, and is refused."""
    with pytest.raises(InputError, match="give 1 or more"):
        publish(store, tmp_path / "to", keep=0)


def test_what_a_killed_writer_logged_is_published(store: Path, tmp_path: Path) -> None:
    """A snapshot has all commits, also those that are only in the log of the store."""
    script = (
        "import sys, os, duckdb; connection = duckdb.connect(sys.argv[1]);"
        "connection.execute(\"comment on table word is 'logged'\"); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", script, str(store)], check=False)
    assert store.with_name("store.duckdb.wal").exists()

    done = publish(store, tmp_path / "to")

    with Store(done.snapshot.path, read_only=True) as opened, opened.connect() as connection:
        query = "select comment from duckdb_tables() where table_name = 'word'"
        assert connection.exec_driver_sql(query).scalar() == "logged"
    assert not list((tmp_path / "to").glob("*.wal"))


@pytest.mark.parametrize("moment", ["os.fsync", "os.replace"])
def test_killed_while_it_publishes(store: Path, tmp_path: Path, moment: str) -> None:
    """After a kill there is a complete snapshot or none; the next publication removes partial files."""
    script = (
        "import os, sys, signal; from pathlib import Path; from sentgen.schema import snapshots\n"
        f"{moment} = lambda *given: os.kill(os.getpid(), signal.SIGKILL)\n"
        "snapshots.publish(Path(sys.argv[1]), Path(sys.argv[2]))"
    )
    killed = subprocess.run([sys.executable, "-c", script, str(store), str(tmp_path / "to")], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert Snapshot.all_in(tmp_path / "to") == []

    done = publish(store, tmp_path / "to")

    left = {path.name for path in (tmp_path / "to").iterdir()} - {".sentgen-lock"}
    assert left == {done.snapshot.path.name, done.snapshot.manifest.name}


def test_killed_between_file_and_manifest(store: Path, tmp_path: Path) -> None:
    """A file without its manifest is no snapshot, and does not hinder the next publication."""
    first = publish(store, tmp_path / "to")
    first.snapshot.manifest.unlink()
    assert Snapshot.all_in(tmp_path / "to") == []

    assert publish(store, tmp_path / "to").new
    assert len(Snapshot.all_in(tmp_path / "to")) == 1


def test_a_store_in_use_is_not_published(store: Path, tmp_path: Path) -> None:
    """A store that another process writes is refused, and the folder stays empty."""
    script = (
        "import duckdb, sys; held = duckdb.connect(sys.argv[1]); print('open', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(store)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "open\n"

        with pytest.raises(StoreError, match="in use by another process"):
            publish(store, tmp_path / "to")

        holder.communicate()
    assert {path.name for path in (tmp_path / "to").iterdir()} == {".sentgen-lock"}


def test_what_is_no_store_is_not_published(tmp_path: Path) -> None:
    """A file that is no store is refused, and the folder stays empty."""
    (tmp_path / "no.duckdb").write_bytes(b"nothing" * 1000)

    with pytest.raises(StoreError):
        publish(tmp_path / "no.duckdb", tmp_path / "to")

    assert Snapshot.all_in(tmp_path / "to") == []


def test_a_changed_snapshot_is_found_out(store: Path, tmp_path: Path) -> None:
    """A snapshot with one changed byte is refused."""
    snapshot = publish(store, tmp_path / "to").snapshot
    verify(snapshot)
    data = bytearray(snapshot.path.read_bytes())
    data[-1] ^= 1
    os.chmod(snapshot.path, 0o644)
    snapshot.path.write_bytes(data)

    with pytest.raises(StoreError, match="changed since it was published"):
        verify(snapshot)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"file": "sentgen-0.duckdb", "bytes": "many"}'])
def test_broken_manifests_are_no_snapshots(tmp_path: Path, text: str) -> None:
    """Wrong manifests in the folder are skipped, and listing it works."""
    (tmp_path / "sentgen-0.json").write_text(text)
    (tmp_path / "sentgen-0.duckdb").write_text("")

    assert Snapshot.all_in(tmp_path) == []
    with pytest.raises(NotFoundError, match="no snapshot here"):
        Snapshot.newest(tmp_path)


def test_no_folder(tmp_path: Path) -> None:
    """A missing folder is named in the error."""
    with pytest.raises(NotFoundError, match="sentgen publish --to"):
        Snapshot.newest(tmp_path / "none")
