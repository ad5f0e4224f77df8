"""The file of a desk: SQLite, to which several processes can write, and which has each label on disk at once.

Where several clients write to a desk, each has an allowance, and is warned before it is used up.
"""

from __future__ import annotations

import glob
import hashlib
import os
import re
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import Connection, create_engine, event, func, select
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool, StaticPool

from sentgen import temporary
from sentgen.desk import tables
from sentgen.desk.tables import share
from sentgen.errors import InputError, NotFoundError, StoreError, spell
from sentgen.output.wording import quantity
from sentgen.schema.manifests import Snapshot
from sentgen.schema.places import lake_at
from sentgen.system import files

#: The share of a limit from which there is a warning.
_NEAR = 0.8


@dataclass(frozen=True, slots=True)
class Allowance:
    """The limits of one writer on the desk; removed sets do not count.

    Attributes:
        writer: address of the writer, since labelers choose their names themselves.
        sets: maximal number of the writer's sets.
        bytes: maximal bytes of these sets, and of the writer's labels.
        room: bytes of the whole file up to which sets are made; the rest is reserved for labels.
    """

    writer: str
    sets: int
    bytes: int
    room: int

    def take(self, connection: Connection, set_id: int, *, sets: int = 0, size: int) -> None:
        """Record what the writer adds to a set, in the same transaction.

        Raises:
            InputError: the writer exceeds a limit; roll the transaction back.
        """
        made, used = self._used(connection)
        ask = "ask whoever runs the server to remove some, or to allow more"
        if sets and made + sets > self.sets:
            raise InputError(f"you have made {quantity(made, 'line set')} here, which is the most; {ask}")
        if used + size > self.bytes:
            raise InputError(
                f"this is more than the {_megabytes(self.bytes)} of line sets and labels that you may have"
                f" here; make smaller sets, or {ask}"
            )
        if sets and _size(connection) + size > self.room:
            raise InputError(f"there is no room for more line sets here, but for labels; {ask}")
        row = {"set_id": set_id, "writer": self.writer, "sets": sets, "bytes": size}
        adding = insert(share).values(row)
        more = {name: share.c[name] + adding.excluded[name] for name in ("sets", "bytes")}
        connection.execute(adding.on_conflict_do_update(index_elements=["set_id", "writer"], set_=more))

    def warnings(self, connection: Connection) -> Sequence[str]:
        """Return a warning for each limit that the writer has nearly reached."""
        made, used = self._used(connection)
        warnings = []
        if made >= _NEAR * self.sets:
            warnings.append(
                f"you have made {made:,} of the {quantity(self.sets, 'line set')} that you may make here"
            )
        if used >= _NEAR * self.bytes:
            warnings.append(
                f"your line sets and labels take {_megabytes(used)} of the {_megabytes(self.bytes)} that they"
                " may take here"
            )
        return warnings

    def _used(self, connection: Connection) -> tuple[int, int]:
        sums = [func.coalesce(func.sum(share.c[name]), 0) for name in ("sets", "bytes")]
        made, used = connection.execute(select(*sums).where(share.c.writer == self.writer)).one()
        return int(made), int(used)


def _size(connection: Connection) -> int:
    """Return the bytes of the file that are in use."""
    pages, free, each = (
        int(connection.exec_driver_sql(f"pragma {name}").scalar_one())
        for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * each


def _megabytes(size: int) -> str:
    return f"{size / 2**20:,.0f} MB"


#: Fields in the header of the SQLite file: the application id ("sgds"), and the version of the tables.
_OURS, _VERSION = 0x73676473, 5
_MAGIC, _HEAD = b"SQLite format 3\0", 100
#: Suffix of a draft's name, after that of the desk, as of `temporary.aside`.
_DRAFT = re.compile(r"[0-9a-f]{16}\.tmp")
#: Seconds that a process waits for another one, whose writes take some milliseconds.
_PATIENCE = 10.0
#: Number of other desks that the note on a new desk names.
_OTHERS = 5
#: Maximal length of the suffix in the name of a file; a longer one is replaced by a hash.
_LONGEST_NAME = 100


def desk_beside(store: Path) -> Path:
    """Return the default path of the desk of a store.

    Raises:
        StoreError: the store is a lake or a snapshot, in whose folder no desk is written.
    """
    if lake_at(store) or Snapshot.at(store) or store.is_dir():
        raise StoreError(
            f"{store}: line sets live beside a store; name a file for them with {spell('desk')} FILE"
        )
    return store.with_name(f"{store.stem}.desk")


def desk_of(desk: Path | None, names: Collection[str]) -> Path | None:
    """Return the desk of only those users who may see some corpora, or have some name.

    >>> str(desk_of(Path("class.desk"), ["gum", "ewt"]))
    'class-ewt+gum.desk'
    >>> desk_of(Path("1b.desk"), ["a-Tom"]) == desk_of(Path("1b-a.desk"), ["Tom"])
    False
    """
    if desk is None:
        return None
    # A user's name must not give the file of others: that of a desk with a longer name, or one with a hash.
    name = "+".join(quote(each, safe="").replace("-", "%2D") for each in sorted(names))
    if len(name) > _LONGEST_NAME:
        name = f"={hashlib.sha256(name.encode()).hexdigest()[:32]}"
    return desk.with_stem(f"{desk.stem}-{name}")


def desks_like(desk: Path) -> list[Path]:
    """Return the existing files of a desk and of the desks that `desk_of` names after it."""
    others = desk.parent.glob(f"{glob.escape(desk.stem)}-*{glob.escape(desk.suffix)}")
    return [each for each in (desk, *sorted(others)) if each.is_file()]


def note_of_new_desk(path: Path) -> str:
    """Return the note that a desk is new, with other desks in its folder, in case its name is mistyped."""
    others = sorted(other.name for other in path.absolute().parent.glob("*.desk") if other.name != path.name)
    beside = f"; those of other files are not in it: {', '.join(others[:_OTHERS])}" if others else ""
    return f"{path}: no such file, so a new one is made, without line sets{beside}"


class Desk:
    """A desk, whose file is open only while it is read or written.

    Args:
        path: the file.
        create: whether the first write makes the file.
        allowance: how much the writer may add; no limit if ``None``.

    Raises:
        NotFoundError: there is no such file, and ``create`` is not set.
        StoreError: the file is no desk, or the desk of another version of sentgen.
    """

    def __init__(self, path: Path, *, create: bool = False, allowance: Allowance | None = None) -> None:
        self.path, self.allowance = path, allowance
        self._new = not path.exists()
        if not self._new:
            _examine(path)
        elif not create:
            raise NotFoundError(f"{path}: no line sets yet; make one with: sentgen lines new SET QUERY")
        if create:
            _remove_drafts(path)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Give a connection that sees the desk as it is now."""
        with self._connected("begin") as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Give a connection whose changes are on the disk at the end of the block, or none of them is."""
        if self._new:
            _make(self.path)
            _examine(self.path)
            self._new = False
        with self._connected("begin immediate") as connection:
            yield connection

    def copy_to(self, path: Path) -> None:
        """Copy the desk, as it is now, into a new file; what others write meanwhile is in it or not."""
        try:
            with closing(self._connect()) as desk, closing(sqlite3.connect(path)) as copy:
                desk.backup(copy)
                ((verdict,),) = copy.execute("pragma integrity_check").fetchmany(1)
        except sqlite3.Error as error:
            raise StoreError(f"{self.path}: cannot be copied: {error}") from error
        if verdict != "ok":
            raise StoreError(f"{self.path}: damaged ({verdict}); put back a desk that was kept")

    @classmethod
    def begin(cls, path: Path) -> Desk:
        """Return the desk of a server, made now, so that a place where it cannot be made is reported."""
        desk = cls(path, create=True)
        with desk.writing():
            return desk

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
        if self._new:  # only read so far
            nothing = sqlite3.connect(":memory:", isolation_level=None)
            nothing.deserialize(_empty())
            return nothing
        # Never created here: a desk that was removed must not reappear without its sets.
        uri = f"{self.path.absolute().as_uri()}?mode=rw"
        opened = sqlite3.connect(uri, uri=True, timeout=_PATIENCE, isolation_level=None)
        # Committed data survive a power cut, too.
        opened.execute("pragma synchronous = extra")
        opened.execute("pragma foreign_keys = on")
        return opened


def now() -> str:
    """Return the time (UTC), to the second."""
    return datetime.now(UTC).isoformat(sep=" ", timespec="seconds").removesuffix("+00:00")


def _make(path: Path) -> None:
    """Make an empty desk, whole or not at all; one that another process has just made is kept."""
    draft = path.with_name(f".{path.name}.{os.urandom(8).hex()}.tmp")
    try:
        with temporary.held(draft, os.unlink):
            with draft.open("xb") as file:
                file.write(_empty())
                file.flush()
                os.fsync(file.fileno())
            try:
                files.give_name(draft, path)
            except (FileExistsError, FileNotFoundError):
                if not path.exists():  # else another process made it, and may have removed this draft
                    raise
    except OSError as error:
        raise StoreError(
            f"{path}: cannot be made ({error.strerror or error}); choose another {spell('desk')}"
        ) from error


def _remove_drafts(path: Path) -> None:
    """Remove the drafts of an existing desk, which are no longer needed, even by a running process."""
    for draft in path.parent.glob(f".{glob.escape(path.name)}.*.tmp"):
        if _DRAFT.fullmatch(draft.name.removeprefix(f".{path.name}.")):
            with suppress(OSError):  # another process removed it, or has it open on Windows
                draft.unlink()


def _empty() -> bytes:
    """Return the file of a desk without sets."""
    with closing(sqlite3.connect(":memory:")) as memory:
        tables.metadata.create_all(create_engine("sqlite://", creator=lambda: memory, poolclass=StaticPool))
        memory.execute(f"pragma application_id = {_OURS}")
        memory.execute(f"pragma user_version = {_VERSION}")
        return memory.serialize()


def _examine(path: Path) -> None:
    """Check the header of a file before SQLite opens it, which would write to an empty file."""
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
