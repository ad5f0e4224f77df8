"""Access to an open store, for reading or writing by one thread at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakSet

from sentgen.desk.lending import lend_labels
from sentgen.errors import InputError, SentgenError, StoreError
from sentgen.lookups.base.question import Question
from sentgen.lookups.base.statement import Answer
from sentgen.lookups.questions import FIGURES, figure_of
from sentgen.schema import Store
from sentgen.schema.engine import DATABASE_SHARE
from sentgen.schema.manifests import Snapshot, place_of
from sentgen.schema.places import lake_at
from sentgen.schema.store import default_memory_limit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sentgen.api.hits import Hits


class StoreSession:
    """An open store, lake or snapshot.

    DuckDB keeps one result for each connection, and the store has one connection: threads come in turn.

    Args:
        path: the store, a lake, a snapshot, or a folder of snapshots, of which the newest is opened.
        create: make a new store if there is none.
        read_only: do not write, and let others write or read beside.
        memory: bytes that this process may use.
        desk: the file of the line sets, if it is another one than that beside the store.
    """

    def __init__(
        self, path: Path, *, create: bool, read_only: bool, memory: int | None, desk: Path | None = None
    ) -> None:
        self._turn, self.desk = threading.RLock(), desk
        self.memory = memory or default_memory_limit()
        self.path, self.why_read_only = _opened_for(path, create=create, read_only=read_only)
        self._store: Store | None = self._open(create=create)
        #: Answers that were not read yet, which have to be read before the store changes.
        self.unread: WeakSet[Hits] = WeakSet()

    def _open(self, *, create: bool = False) -> Store:
        store = Store(
            self.path,
            create=create,
            read_only=bool(self.why_read_only),
            memory_limit=int(self.memory * DATABASE_SHARE),
        )
        store.downgrade_to_read()
        return lend_labels(store, self.desk)

    @property
    def is_open(self) -> bool:
        """Whether the store was not closed yet."""
        return self._store is not None

    @contextmanager
    def read(self) -> Iterator[Store]:
        """Wait for the turn of this thread, and give it the store.

        Raises:
            StoreError: the store was closed.
        """
        with self._turn:
            if self._store is None:
                raise StoreError(f"{self.path}: closed; open it again with: sentgen.open({str(self.path)!r})")
            yield self._store

    @contextmanager
    def write(self) -> Iterator[Store]:
        """The same for what changes the store; others can read it again at the end.

        Raises:
            StoreError: the store was closed, or is only read.
        """
        with self.read() as store:
            if self.why_read_only:
                raise StoreError(f"{self.path}: {self.why_read_only}")
            self._read_answers()
            try:
                yield store
            finally:
                store.downgrade_to_read()

    @contextmanager
    def release(self) -> Iterator[None]:
        """Close the store for what opens it by itself, and open it again."""
        with self.read() as store:
            store.close()
            self._store = None
            try:
                yield
            finally:
                self._store = self._open()

    def drawer(self, question: Question, answer: Answer) -> Callable[[], Figure] | None:
        """Return what draws an answer, which may ask the store once more; none if nothing does."""

        def draw() -> Figure:
            with self.read() as store, store.connect() as connection:
                return figure_of(connection, question, answer)

        return draw if type(question) in FIGURES else None

    @contextmanager
    def exclusive(self) -> Iterator[Path]:
        """Do the same for what changes the store, and give its path."""
        with self._turn:
            with self.write():  # refuses a read-only store, and reads answers that were not read yet
                pass
            with self.release():
                yield self.path

    def close(self) -> None:
        """Close the store when no other thread uses it; a second time, nothing happens."""
        with self._turn:
            if self._store is not None:
                try:
                    self._read_answers()
                finally:
                    self._store.close()
                    self._store = None

    def _read_answers(self) -> None:
        while self.unread:
            # An error is raised when the answer is used.
            with suppress(SentgenError):
                self.unread.pop().read()


def _opened_for(path: Path, *, create: bool, read_only: bool) -> tuple[Path, str]:
    """Return the path of the store, and the reason why it is read-only; empty if it may be written."""
    if create and read_only:
        raise InputError("a store that is made is written; leave out `create` or `read_only`")
    path = place_of(path)
    why = ""
    if lake_at(path):
        why = "a lake is only read; this writes, and needs a store: a file"
    elif Snapshot.at(path):
        why = "a snapshot is never changed; open the store that it was made from"
    if why and create:
        raise InputError(f"{path}: {why}; leave out `create`")
    if not why and read_only:
        why = "opened with `read_only=True`, and this writes; open it without"
    return path, why


def session_of(given: object, made_by: str) -> StoreSession:
    """Return a session, which is what makes objects of a store.

    Raises:
        TypeError: something else was given, such as the path of the store.
    """
    if not isinstance(given, StoreSession):
        raise TypeError(f"{made_by} gives one; it cannot be made of a {type(given).__name__}")
    return given
