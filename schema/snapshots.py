"""Snapshots: immutable copies of a store, named by their content, that servers open.

A snapshot is a file ``sentgen-HASH.duckdb`` of mode 0444 with its manifest ``sentgen-HASH.json`` beside it;
HASH is the beginning of the SHA-256 of the file. Files that the store was made from are named without the
folders in which they lie (`sentgen.schema.public_names`); the rest is the store as it is. The manifest is
renamed into place last, and a file without one is no snapshot: whenever publishing stops, there is a whole
snapshot or none.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import duckdb
from sqlalchemy import text

from sentgen.errors import InputError, NotFoundError, StoreError
from sentgen.schema import folders
from sentgen.schema.durability import write_lock
from sentgen.schema.durability.write_ahead_log import log_of
from sentgen.schema.engine import translated_errors
from sentgen.schema.lakes.loading import load
from sentgen.schema.lakes.places import lake_at
from sentgen.schema.manifests import Snapshot, place_of, snapshot_of, snapshots
from sentgen.schema.public_names import make_public
from sentgen.schema.store import Store, fetch_arrow
from sentgen.system import files

_DIGITS = 16
_LOCK = ".publish.lock"
#: Folder of the file that becomes a snapshot, and of all that DuckDB makes beside it.
_DRAFTS = ".sentgen-draft"
#: DuckDB writes the name of the file into its catalog: another one would make another snapshot.
_DRAFT = ".sentgen-draft.tmp"
#: What manifests and citations say of corpora.
CORPORA = "select corpus as name, licence, sentences, tokens from v_corpora order by corpus"
_MODELS = 'select name, version, max_order as "order", smoothing from model order by name, version'


@dataclass(frozen=True, slots=True)
class Publication:
    """What publishing did: the snapshot, whether it is new, and those that were removed."""

    snapshot: Snapshot
    new: bool
    removed: tuple[str, ...] = ()


def publish(
    store: Path, folder: Path, *, keep: int | None = None, memory_limit: int | None = None
) -> Publication:
    """Copy a store into a folder of snapshots; nothing is copied if its content is there already.

    Whatever is published last is the newest, also when it had been published before. The store is only read.
    A lake becomes one file, another one each time; its files are compared with their hashes before. Linear
    in the file.

    Args:
        store: the store, to which nobody may be writing, or a lake.
        folder: where the snapshots are; made if it is not there, but not the folders above it.
        keep: remove all but so many of the newest.
        memory_limit: bytes that DuckDB may use, a quarter of the machine's memory if ``None``.

    Raises:
        NotFoundError: there is no store, or no folder above that of the snapshots.
        InputError: ``keep`` is less than 1.
        StoreError: the store is in use, damaged or of another version, or the copy cannot be written.
    """
    if keep is not None and keep < 1:
        raise InputError(f"--keep {keep} would remove what is published; give 1 or more")
    store = place_of(store)
    if not (lake_at(store) or store.exists()):
        raise write_lock.no_store(store)
    with _publishing(folder):
        draft, digest = _copy(store, folder / _DRAFTS / _DRAFT, memory_limit)
        path = folder / f"{_name(digest)}.duckdb"
        existing = snapshot_of(path.with_suffix(".json"))
        snapshot = _described(draft, path, digest, memory_limit)
        # A file without a manifest is what a kill has left: it is replaced.
        if existing is None:
            files.replace(draft, path)
        # Also for an old snapshot: the time in it makes it the newest.
        _write_manifest(snapshot, draft.parent)
        removed = _prune(folder, keep) if keep else ()
    return Publication(snapshot, existing is None, removed)


def verify(snapshot: Snapshot) -> None:
    """Compare a snapshot with its hash.

    Raises:
        StoreError: it is not what was published.
    """
    with translated_errors(snapshot.path):
        digest = _digest(snapshot.path)
    if digest != snapshot.sha256:
        raise StoreError(f"{snapshot.path}: changed since it was published; publish the store again")


@contextmanager
def _publishing(folder: Path) -> Iterator[None]:
    """Be the only one that publishes here; remove what one that was killed left behind."""
    with translated_errors(folder):
        if not folder.parent.exists():  # mistyped, more likely than not
            raise NotFoundError(
                f"{folder}: there is no folder {folder.parent}; make it, or choose another --to"
            )
        folder.mkdir(exist_ok=True)
        with (folder / _LOCK).open("ab") as lock:
            # It ends with the process, however that ends; the file stays, as removing it would let two in.
            files.lock(lock.fileno(), wait=True)
            drafts = folder / _DRAFTS
            folders.remove(drafts)
            folders.make(drafts)
            try:
                yield
            finally:
                folders.remove(drafts)


def _copy(store: Path, draft: Path, memory_limit: int | None) -> tuple[Path, str]:
    """Copy the file while nobody can write to it, for the public; return the copy and its hash.

    What a killed writer left in the log of the store is put into the copy; the store stays as it is.
    """
    if lake := lake_at(store):
        load(lake, draft, memory_limit=memory_limit)
    else:
        _copy_file(store, draft, memory_limit)
    make_public(draft, memory_limit=memory_limit)
    with draft.open("rb+") as copy:  # Windows syncs only what can be written
        os.chmod(draft, 0o444)
        os.fsync(copy.fileno())
    return draft, _digest(draft)


def _copy_file(store: Path, draft: Path, memory_limit: int | None) -> None:
    log = log_of(store)
    with Store(store, read_only=True, memory_limit=memory_limit):
        if log.exists():
            shutil.copyfile(log, log_of(draft))
        shutil.copyfile(store, draft)  # last: closing a file gives up the lock that holds off writers
    if log_of(draft).exists():
        _checkpoint(draft, memory_limit)


def _checkpoint(path: Path, memory_limit: int | None) -> None:
    with Store(path, memory_limit=memory_limit) as store, store.connect() as connection:
        connection.rollback()
        connection.execution_options(isolation_level="AUTOCOMMIT").execute(text("checkpoint"))


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _name(digest: str) -> str:
    return f"sentgen-{digest[:_DIGITS]}"


def _described(draft: Path, path: Path, digest: str, memory_limit: int | None) -> Snapshot:
    """Open the copy, which proves that it is a store, and say what is in it."""
    with Store(draft, read_only=True, memory_limit=memory_limit) as store, store.connect() as connection:
        revision = connection.execute(text("select version_num from alembic_version")).scalar()
        corpora = fetch_arrow(connection, CORPORA).to_pylist()
        models = fetch_arrow(connection, _MODELS).to_pylist()
    return Snapshot(
        path=path,
        sha256=digest,
        bytes=draft.stat().st_size,
        published_at=datetime.now(UTC).isoformat(timespec="microseconds"),
        corpora=tuple(corpora),
        models=tuple(models),
        versions={"sentgen": version("sentgen"), "duckdb": duckdb.__version__, "schema": str(revision)},
    )


def _write_manifest(snapshot: Snapshot, drafts: Path) -> None:
    """Write the manifest whole, in the place of an old one; with it the snapshot is there."""
    values = {"file": snapshot.path.name, **asdict(snapshot)}
    del values["path"]
    with folders.draft(drafts) as (file, name):
        file.write(f"{json.dumps(values, ensure_ascii=False, indent=2)}\n".encode())
        file.flush()
        os.chmod(name, 0o444)
        os.fsync(file.fileno())
        files.sync_folder(snapshot.path.parent)  # the snapshot first, so that no manifest is without one
        file.close()  # Windows renames nothing that is open
        files.replace(name, snapshot.manifest)
    files.sync_folder(snapshot.path.parent)


def _prune(folder: Path, keep: int) -> tuple[str, ...]:
    """Remove the oldest snapshots; servers that have one open keep what they opened."""
    # Renamed by hand, a snapshot is its owner's.
    old = [one for one in snapshots(folder) if one.name == _name(one.sha256)][:-keep]
    removed = []
    for one in old:
        # A manifest without its file is no snapshot: killed in between, nobody opens half of a pair.
        if not files.remove_unless_open(one.path):
            continue  # it is whole, and goes with one that is published later
        files.remove(one.manifest)
        removed.append(one.name)
    return tuple(removed)
