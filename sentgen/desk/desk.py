"""The file of a desk: SQLite, so that several processes write to it, and a label is on the disk at once."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Connection, create_engine, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool, StaticPool

from sentgen import temporary
from sentgen.desk import tables
from sentgen.desk.allowance import Allowance
from sentgen.errors import NotFoundError, StoreError, spell
from sentgen.schema.lakes.places import lake_at
from sentgen.schema.manifests import snapshot_at
from sentgen.system import files

#: What SQLite keeps for us in the head of the file: whose it is ("sgds"), and the version of its tables.
_OURS, _VERSION = 0x73676473, 2
_MAGIC, _HEAD = b"SQLite format 3\0", 100
#: Seconds that a process waits for another one, which writes for some milliseconds.
_PATIENCE = 10.0
#: Other desks that are named where one is new.
_OTHERS = 5


def desk_beside(store: Path) -> Path:
    """Return where the desk of a store is, if nobody says otherwise.

    Raises:
        StoreError: it is a lake or a snapshot, whose folders are written by others.
    """
    if lake_at(store) or snapshot_at(store) or store.is_dir():
        raise StoreError(
            f"{store}: line sets live beside a store; name a file for them with {spell('desk')} FILE"
        )
    return store.with_name(f"{store.stem}.desk")


def note_of_new_desk(path: Path) -> str:
    """Say that a desk was not there and is new, and which lie beside it: a slip in its name hides labels."""
    others = sorted(other.name for other in path.absolute().parent.glob("*.desk") if other.name != path.name)
    beside = f"; those of other files are not in it: {', '.join(others[:_OTHERS])}" if others else ""
    return f"{path}: no such file, so a new one is made, without line sets{beside}"


class Desk:
    """A desk, open while it is asked or written to.

    Args:
        path: the file.
        create: make it with the first thing that is written.
        allowance: how much whoever writes may add; anything if not given.

    Raises:
        NotFoundError: there is none, and none is made.
        StoreError: the file is not that of a desk, or is one of another version of sentgen.
    """

    def __init__(self, path: Path, *, create: bool = False, allowance: Allowance | None = None) -> None:
        self.path, self.allowance = path, allowance
        if not path.exists():
            if not create:
                raise NotFoundError(f"{path}: no line sets yet; make one with: sentgen lines new SET QUERY")
            _make(path)
        _examine(path)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Give a connection that sees the desk as it is now."""
        with self._connected("begin") as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Give a connection whose changes are on the disk at the end of the block, or none of them is."""
        with self._connected("begin immediate") as connection:
            yield connection

    @contextmanager
    def _connected(self, begin: str) -> Iterator[Connection]:
        engine = create_engine("sqlite://", creator=self._connect, poolclass=NullPool)
        event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(begin))
        try:
            with engine.begin() as connection:
                yield connection
        except DBAPIError as error:
            raise StoreError(f"{self.path}: {error.orig}; nothing was changed") from error

    def _connect(self) -> sqlite3.Connection:
        # Never made here: a desk that was removed meanwhile is not begun anew without its sets.
        uri = f"{self.path.absolute().as_uri()}?mode=rw"
        opened = sqlite3.connect(uri, uri=True, timeout=_PATIENCE, isolation_level=None)
        # What is committed outlives a power cut, too.
        opened.execute("pragma synchronous = extra")
        opened.execute("pragma foreign_keys = on")
        return opened


def now() -> str:
    """Return the time (UTC), to the second."""
    return datetime.now(UTC).isoformat(sep=" ", timespec="seconds").removesuffix("+00:00")


def _make(path: Path) -> None:
    """Make an empty desk, whole or not at all, and leave one that another process makes meanwhile."""
    draft = path.with_name(f".{path.name}.{os.urandom(8).hex()}.tmp")
    try:
        with temporary.held(draft, os.unlink):
            draft.write_bytes(_empty())
            with suppress(FileExistsError):
                _name(draft, path)
    except OSError as error:
        raise StoreError(
            f"{path}: cannot be made ({error.strerror or error}); choose another {spell('desk')}"
        ) from error


def _empty() -> bytes:
    """Return the file of a desk without sets."""
    with closing(sqlite3.connect(":memory:")) as memory:
        tables.metadata.create_all(create_engine("sqlite://", creator=lambda: memory, poolclass=StaticPool))
        memory.execute(f"pragma application_id = {_OURS}")
        memory.execute(f"pragma user_version = {_VERSION}")
        return memory.serialize()


def _name(draft: Path, path: Path) -> None:
    """Give a file a name that no other file has."""
    try:
        os.link(draft, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if path.exists():
            raise FileExistsError(path) from None
        files.replace(draft, path)


def _examine(path: Path) -> None:
    """Look at the head of a file, before SQLite does, which would write to an empty one."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError as error:
        raise StoreError(f"{path}: cannot be read ({error.strerror or error})") from error
    if not head.startswith(_MAGIC) or int.from_bytes(head[68:72]) != _OURS:
        raise StoreError(
            f"{path}: no desk of sentgen; it is left as it is: name another file with {spell('desk')}"
        )
    if (version := int.from_bytes(head[60:64])) != _VERSION:
        raise StoreError(
            f"{path}: a desk of another version of sentgen (version {version}); use that version, or name "
            f"another file with {spell('desk')}"
        )
