"""Backups: copies of a store and its line sets, checked when they are made and when they are put back.

A backup is a folder ``sentgen-TIME`` (UTC) with the store as ``store.duckdb``, its desk and those of users as
``store.desk`` and ``store-CORPORA.desk``, and ``backup.json``, the list of its contents with the SHA-256 of
each file. The folder gets its name after all files are written and checked: an interrupted backup leaves no
folder of this name.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from sentgen.desk.desk import Desk, desk_beside, desks_like
from sentgen.errors import InputError, NotFoundError, StoreError, spell
from sentgen.models.checks import model_checks
from sentgen.output.wording import quantity
from sentgen.schema import Store, folders, maintenance, snapshots
from sentgen.schema.durability import block_journal, block_restore, write_lock
from sentgen.schema.durability.duckdb_faults import logs_of
from sentgen.schema.engine import translated_errors
from sentgen.schema.manifests import PublishedCorpus, PublishedModel, Snapshot, place_of, refuse_snapshot
from sentgen.schema.migrate import REVISIONS, backup_name, drafts_of
from sentgen.schema.places import lake_at
from sentgen.system import files

#: The file names of the manifest and the store in a backup; line sets are named after the store, as
#: elsewhere.
_MANIFEST, _STORE = "backup.json", "store.duckdb"
_NAME = re.compile(r"sentgen-\d{8}T\d{6}")
#: Bytes that are copied at a time.
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup.

    Attributes:
        folder: the folder of the backup.
        made_at: when it was made, in ISO 8601 and UTC.
        store: the path of the store that was backed up.
        files: the SHA-256 of each file.
        corpora: description of each corpus.
        models: description of each model.
        versions: versions of sentgen, DuckDB and the schema.
        removed: older ones that were removed when it was made.
    """

    folder: Path
    made_at: str
    store: str
    files: Mapping[str, str]
    corpora: tuple[PublishedCorpus, ...]
    models: tuple[PublishedModel, ...]
    versions: Mapping[str, str]
    removed: tuple[str, ...] = ()

    def __str__(self) -> str:
        tokens = quantity(sum(corpus["tokens"] for corpus in self.corpora), "token")
        desks = quantity(len(self.files) - 1, "file")
        return (
            f"{quantity(len(self.corpora), 'corpus', 'corpora')} ({tokens}),"
            f" {quantity(len(self.models), 'model')}, {desks} of line sets; made {self.made_at}"
        )

    @classmethod
    def all_in(cls, folder: Path) -> list[Backup]:
        """Return the backups of a folder, oldest first."""
        named = (path for path in sorted(folder.iterdir()) if _NAME.fullmatch(path.name))
        return [backup for path in named if (backup := _read(path))]

    @classmethod
    def at(cls, path: Path) -> Backup:
        """Return the backup in a folder, or the newest in a folder of backups.

        Raises:
            NotFoundError: there is no backup.
        """
        if not path.is_dir():
            raise NotFoundError(f"{path}: no folder of backups; make one with: sentgen db backup --to DIR")
        if backup := _read(path):
            return backup
        if made := cls.all_in(path):
            return made[-1]
        raise NotFoundError(f"{path}: no whole backup here; make one with: sentgen db backup --to DIR")

    def restore(self, store: Path, *, desk: Path | None = None, keep_old: bool = True) -> Restoration:
        """Restore a backup as a new store, or in place of a store that no process is writing.

        All files are written beside their places and compared with the hashes of the backup before any gets
        its name: if the process is killed, the store is either the old one or that of the backup. Existing
        line sets stay, as labels that were given since would be lost.

        Args:
            store: path of the store.
            desk: path of its line sets; beside the store if ``None``.
            keep_old: whether a store that is there is kept under another name.

        Raises:
            NotFoundError: there is no folder for it.
            StoreError: the backup has changed, or is of another version; the store is in use, or is a lake or
                a snapshot; or something cannot be written. All is as it was.
        """
        if (revision := self.versions.get("schema")) not in REVISIONS:
            raise StoreError(
                f"{self.folder}: made by another version of sentgen (tables of revision {revision}); put it"
                f" back with that version: {self.versions.get('sentgen')}"
            )
        if lake_at(store):
            raise StoreError(f"{store}: a lake is only read; {spell('db')} names a file")
        refuse_snapshot(place_of(store), f"choose another {spell('db')}")
        _refuse_folder(store)
        if store.is_symlink():  # renaming would replace the link, not its target
            raise StoreError(
                f"{store}: a link; put the backup back with {spell('db')} {os.path.realpath(store)}"
            )
        desk = desk or desk_beside(store)
        for path in (store, desk):
            if not path.parent.is_dir():
                raise NotFoundError(
                    f"{path}: there is no folder {path.parent}; make it, or choose another name"
                )
        with translated_errors(store):
            lock = write_lock.wait_for(store, lambda: write_lock.WriteLock.take(store))
            try:
                write_lock.wait_for(store, lambda: _require_alone(store))
                put, left = _put_back_desks(self, desk)
                return Restoration(self, _put_back_store(self, store, keep_old=keep_old), put, left)
            finally:
                lock.release()


@dataclass(frozen=True, slots=True)
class Restoration:
    """The files of a restored backup.

    Attributes:
        backup: the backup that was restored.
        kept: the store that was there before, under another name.
        desks: files of line sets that were restored.
        left: files of line sets that were there already, and were not changed.
    """

    backup: Backup
    kept: Path | None
    desks: tuple[Path, ...]
    left: tuple[Path, ...]


def back_up(
    store: Path,
    folder: Path,
    *,
    desk: Path | None = None,
    keep: int | None = None,
    quick: bool = False,
    memory_limit: int | None = None,
) -> Backup:
    """Copy a store and its line sets into a new folder of backups, and check the copy as `db check` does.

    The store may be in use: it is copied between two transactions of a writer, which waits meanwhile.

    Args:
        store: the store.
        folder: folder of the backups; made if it is not there, but not the folders above it.
        desk: the line sets; those beside the store, if there are any, unless given.
        keep: remove all but so many of the newest backups.
        quick: leave out the checks that count all tokens again.
        memory_limit: bytes that DuckDB may use, a quarter of the machine's memory if ``None``.

    Raises:
        NotFoundError: there is no store, or no such desk, or no folder above that of the backups.
        InputError: ``keep`` is less than 1.
        StoreError: the store is a lake or a snapshot, does not pass the checks, or is not let go of; or the
            copy cannot be written.
    """
    if keep is not None and keep < 1:
        raise InputError(f"{spell('keep')} {keep} would remove all backups; give 1 or more")
    if lake_at(store) or Snapshot.at(place_of(store)):
        raise StoreError(f"{store}: lakes and snapshots never change; copy the files, with any tool")
    _refuse_folder(store)
    if not store.exists():
        raise write_lock.no_store(store)
    if desk is not None and not desk.exists():
        raise NotFoundError(f"{desk}: no line sets here; choose another {spell('desk')}")
    with snapshots.drafts_in(folder) as drafts:
        draft = drafts / "backup"
        draft.mkdir(0o700)  # until its files have the permissions of the store
        made = _fill(draft, store, desk or desk_beside(store), quick=quick, memory_limit=memory_limit)
        made = _name(made, folder)
        return replace(made, removed=_prune(folder, drafts, keep) if keep else ())


def _refuse_folder(store: Path) -> None:
    if store.is_dir():
        raise StoreError(f"{store}: this is a folder; {spell('db')} names a file")


def _fill(draft: Path, store: Path, desk: Path, *, quick: bool, memory_limit: int | None) -> Backup:
    copy = draft / _STORE
    snapshots.copy_file(store, copy, memory_limit)
    _check(store, copy, quick=quick, memory_limit=memory_limit)
    sources = {copy: store}
    for each in desks_like(desk):
        path = draft / f"{copy.stem}{each.stem.removeprefix(desk.stem)}.desk"
        Desk(each).copy_to(path)
        sources[path] = each
    for path, source in sources.items():
        with path.open("rb+") as file:
            # Read-only, against changes by mistake; readable only for those who may read the store.
            os.chmod(path, source.stat().st_mode & 0o444)
            os.fsync(file.fileno())
    digests = {path.name: snapshots.digest_of(path) for path in sources}
    about = snapshots.describe(copy, copy, digests[_STORE], memory_limit)
    made = Backup(
        folder=draft,
        made_at=datetime.now(UTC).isoformat(timespec="seconds"),
        store=str(store.absolute()),
        files=digests,
        corpora=about.corpora,
        models=about.models,
        versions=about.versions,
    )
    values = asdict(made)
    for key in ("folder", "removed"):
        del values[key]
    with (draft / _MANIFEST).open("wb") as file:
        file.write(f"{json.dumps(values, ensure_ascii=False, indent=2)}\n".encode())
        file.flush()
        os.fsync(file.fileno())
    readers = store.stat().st_mode & 0o444
    os.chmod(draft / _MANIFEST, readers)
    os.chmod(draft, 0o700 | readers | readers >> 2)
    files.sync_folder(draft)
    return made


def _check(store: Path, copy: Path, *, quick: bool, memory_limit: int | None) -> None:
    """Check the copy as `db check` does, so that no damaged store becomes a backup."""
    with Store(copy, read_only=True, memory_limit=memory_limit) as opened:
        for result in maintenance.check(opened, model_checks(opened, quick=quick), quick=quick):
            if result.status == "failed":
                raise StoreError(
                    f"{store}: not backed up, as it does not pass a check ({result.check.name}:"
                    f" {result.example}); see: sentgen db check --db {store}"
                )


def _name(made: Backup, folder: Path) -> Backup:
    """Rename the folder of a complete backup to its final name."""
    while True:
        path = folder / f"sentgen-{datetime.now(UTC):%Y%m%dT%H%M%S}"
        if not path.exists():
            break
        time.sleep(0.1)
    with translated_errors(folder):
        files.replace(made.folder, path)
        files.sync_folder(folder)
    return replace(made, folder=path)


def _read(folder: Path) -> Backup | None:
    """Return the backup in a folder; None if it is incomplete."""
    try:
        values = json.loads((folder / _MANIFEST).read_text("utf-8"))
        values["corpora"], values["models"] = tuple(values["corpora"]), tuple(values["models"])
        backup = Backup(folder=folder, **values)
        there = all(_is_of_backup(name) and (folder / name).is_file() for name in backup.files)
        return backup if there and _STORE in backup.files and _is_readable(backup) else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _is_of_backup(name: str) -> bool:
    """Return whether a backup may contain, and restore beside the store, a file of this name."""
    stem, _, suffix = name.rpartition(".")
    desk = suffix == "desk" and (stem == "store" or stem.startswith("store-"))
    return Path(name).name == name and (name == _STORE or desk)


def _is_readable(found: Backup) -> bool:
    """Return whether all fields of a manifest are valid; the file may come from anyone."""
    texts = [found.made_at, found.store, *found.files.values(), *found.versions.values()]
    texts += [each["name"] for each in (*found.corpora, *found.models)]
    numbers = [each["tokens"] for each in found.corpora]
    return all(isinstance(text, str) for text in texts) and all(type(number) is int for number in numbers)


def _prune(folder: Path, drafts: Path, keep: int) -> tuple[str, ...]:
    """Remove the oldest backups, except those with files that no backup has."""
    removed = []
    for old in Backup.all_in(folder)[:-keep]:
        if {path.name for path in old.folder.iterdir()} == {_MANIFEST, *old.files}:
            # Renamed first, since a folder is removed file by file and must not look like a backup meanwhile.
            files.replace(old.folder, drafts / old.folder.name)
            removed.append(old.folder.name)
    files.sync_folder(folder)
    return tuple(removed)


def _require_alone(store: Path) -> None:
    """Refuse to replace a store that another process reads, as it would go on reading the old file."""
    if store.exists():
        if (descriptor := files.open_alone(str(store), writable=True)) is None:
            raise write_lock.in_use(store)
        os.close(descriptor)


def _put_back_desks(backup: Backup, desk: Path) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """Restore the line sets that do not exist; return the restored files, and the existing ones."""
    put: list[Path] = []
    left: list[Path] = []
    for name in sorted(set(backup.files) - {_STORE}):
        path = desk.with_stem(f"{desk.stem}{Path(name).stem.removeprefix(Path(_STORE).stem)}")
        Desk(backup.folder / name)  # refuses one of another version
        with folders.for_drafts(drafts_of(path)) as folder:
            _copy(backup, name, draft := folder / name)
            try:
                files.give_name(draft, path)
                put.append(path)
            except FileExistsError:
                left.append(path)
    files.sync_folder(desk.parent)
    return tuple(put), tuple(left)


def _put_back_store(backup: Backup, store: Path, *, keep_old: bool) -> Path | None:
    """Restore the store; return the new name of the store that it replaced, if that was kept."""
    with folders.for_drafts(drafts_of(store)) as folder:
        _copy(backup, _STORE, draft := folder / _STORE)
        if store.exists():
            with draft.open("rb") as file:
                files.take_over(file.fileno(), store.stat())
        if backup.versions["schema"] == REVISIONS[-1]:  # else an upgrade will read it
            Store(draft, read_only=True).close()
        old = _make_way(store, keep_old=keep_old)
        files.replace(draft, store)
        files.sync_folder(store.parent)
        return old


def _copy(backup: Backup, name: str, draft: Path) -> None:
    """Copy a file of a backup, and compare its hash with the manifest.

    Raises:
        StoreError: the file was changed.
    """
    digest, source = hashlib.sha256(), backup.folder / name
    with source.open("rb") as file, draft.open("xb") as copy:
        # Not writable for others nor executable, whatever mode the file has in the backup.
        os.chmod(draft, os.fstat(file.fileno()).st_mode & 0o444 | stat.S_IWUSR)
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            copy.write(chunk)
        copy.flush()
        os.fsync(copy.fileno())
    if digest.hexdigest() != backup.files[name]:
        raise StoreError(f"{source}: changed since the backup was made; put another backup back")


def _make_way(store: Path, *, keep_old: bool) -> Path | None:
    """Rename an existing store with its files, which must not be read as those of the new store."""
    journal = block_journal.journal_of(store)
    if journal.exists() and not block_restore.is_ours(str(journal)):
        raise folders.in_the_way(journal)
    was = store.exists()
    there = [path for path in (store, *logs_of(store), journal) if path.exists()]
    old = backup_name(store, "restore") if keep_old and there else None
    if old:
        for path in there:
            files.give_name(path, old.with_name(f"{old.name}{path.name.removeprefix(store.name)}"))
        # All files have their new names on the disk before any is removed under the old name.
        files.sync_folder(store.parent)
    for path in there:
        if path != store:
            with suppress(FileNotFoundError):  # without hard links, it was renamed above
                files.remove(path)
    # Synchronized before the new store gets the name, so that no old log is beside it after a power cut.
    files.sync_folder(store.parent)
    return old if was else None
