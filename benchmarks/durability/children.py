"""Commands in processes of their own, forked from one that has everything imported and compiled.

A child notes in shared memory when a commit (or a renaming, which is what commits a file) begins and ends, so
that it can be killed in the middle of one, and so that one knows afterwards where it was.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import pickle
import resource
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

import sentgen.cli
from durability.digests import Digest, digest
from sentgen.corpus import parsers
from sentgen.counts import batch
from sentgen.schema.engine import DuckDialect, duck_of

#: Tokens of a batch: a source or two, so that an ingestion has several transactions.
BATCH_TOKENS = 100_000
#: Seconds after which a command is said to hang, unless it waits for the disk.
PATIENCE = 300.0
_POLL = 0.0003
_MARKS = 4096


class Marks:
    """Times at which commits began and ended, in memory that parent and child share."""

    def __init__(self) -> None:
        self._times = memoryview(mmap.mmap(-1, 8 * _MARKS)).cast("d")

    def clear(self) -> None:
        """Forget all."""
        self._times[0] = 0.0

    def add(self, *, end: bool) -> None:
        """Note that a commit begins or ends."""
        place = int(self._times[0]) + 1
        if place < _MARKS:
            self._times[place] = -time.monotonic() if end else time.monotonic()
            self._times[0] = place

    def all(self) -> list[float]:
        """Return the times in order, those of ends negative."""
        return list(self._times[1 : int(self._times[0]) + 1])


@dataclass(slots=True)
class Ended:
    """How a process ended: its exit code or minus its signal, what it said, its marks, and how long it took."""

    code: int
    said: str
    began: float
    seconds: float
    marks: list[float]
    recorded: list[Digest | None] = field(default_factory=list)

    @property
    def commits(self) -> tuple[int, int]:
        """How many commits were begun and ended."""
        ended = sum(mark < 0 for mark in self.marks)
        return len(self.marks) - ended, ended


class Child:
    """A process that runs a command of sentgen, which ends with its store, or a function."""

    def __init__(
        self,
        run: Sequence[str] | Callable[[], Any],
        *,
        marks: Marks | None = None,
        record: bool = False,
        file_size: int | None = None,
    ) -> None:
        self.marks = marks or Marks()
        self.marks.clear()
        read, write = os.pipe()
        fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, 1 << 20)
        self.began = time.monotonic()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of forking with threads
            self.pid = os.fork()
        if not self.pid:
            os.close(read)
            _run(run, self.marks, write, record, file_size)
        os.close(write)
        self._said = read
        self._status: int | None = None

    def has_ended(self) -> bool:
        """Say whether the process is gone."""
        if self._status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._status = status
        return self._status is not None

    def sleep_until(self, reached: Callable[[], bool]) -> bool:
        """Wait for a condition, and say whether it came before the end of the process."""
        while not self.has_ended():
            if reached():
                return True
            time.sleep(_POLL)
            if time.monotonic() - self.began > PATIENCE and not self._waits_for_disk():
                return False
        return False

    def _waits_for_disk(self) -> bool:
        """Say whether a thread waits in the kernel: a busy machine held up a write for five minutes once."""
        with suppress(OSError):
            stats = Path(f"/proc/{self.pid}/task").glob("*/stat")
            return any(stat.read_text().rpartition(") ")[2].startswith("D") for stat in stats)
        return False

    def send(self, number: signal.Signals) -> None:
        """Send a signal, unless the process has ended."""
        if not self.has_ended():
            os.kill(self.pid, number)

    def fail_writes(self) -> None:
        """From now on, let every write to a file fail."""
        with suppress(ProcessLookupError):
            _, hard = resource.prlimit(self.pid, resource.RLIMIT_FSIZE)
            resource.prlimit(self.pid, resource.RLIMIT_FSIZE, (0, hard))

    def end(self) -> Ended:
        """Wait for the end; a process that hangs is killed and has the code 0 - SIGABRT."""
        hung = not self.sleep_until(lambda: False) and not self.has_ended()
        if hung:
            self.send(signal.SIGKILL)
            while not self.has_ended():
                time.sleep(_POLL)
        seconds = time.monotonic() - self.began
        with os.fdopen(self._said, "rb") as pipe:
            text, _, recorded = pipe.read().partition(b"\0")
        code = -signal.SIGABRT if hung else os.waitstatus_to_exitcode(self._status or 0)
        said = text.decode(errors="replace") + ("\nhangs" if hung else "")
        digests = pickle.loads(recorded) if recorded else []
        return Ended(code, said, self.began, seconds, self.marks.all(), digests)


def _run(
    run: Sequence[str] | Callable[[], Any], marks: Marks, pipe: int, record: bool, file_size: int | None
) -> None:
    """Be the child: run, say what came of it, and never return."""
    code = 70
    try:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream, target in ((0, nowhere), (1, nowhere), (2, pipe)):
            os.dup2(target, stream)
        sys.stdout, sys.stderr = os.fdopen(1, "w", closefd=False), os.fdopen(2, "w", closefd=False)
        if file_size is not None:
            _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, hard))
        if callable(run):
            found = run()
            os.write(pipe, b"\0" + pickle.dumps([found]))
            code = 0
        else:
            code = _command(run, marks, pipe, record)
    except BaseException:
        traceback.print_exc()
        code = 70
    finally:
        with suppress(Exception):
            sys.stderr.flush()
        os._exit(code)


def _command(arguments: Sequence[str], marks: Marks, pipe: int, record: bool) -> int:
    sys.argv = ["sentgen", *arguments]
    recorded: list[Digest | None] = []
    code = 0
    with _marked(marks, Path(arguments[-1]), recorded if record else None), bounded_batches():
        try:
            sentgen.cli.main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
    if record:
        os.write(pipe, b"\0" + pickle.dumps(recorded))
    return code


@contextmanager
def bounded_batches() -> Iterator[None]:
    """Let batches depend on the tokens only, not on the time they take."""
    before = batch.BATCH_TOKENS, batch.BATCH_SECONDS
    batch.BATCH_TOKENS, batch.BATCH_SECONDS = BATCH_TOKENS, PATIENCE
    try:
        yield
    finally:
        batch.BATCH_TOKENS, batch.BATCH_SECONDS = before


@contextmanager
def _marked(marks: Marks, store: Path, recorded: list[Digest | None] | None) -> Iterator[None]:
    """Note commits and renamings; with a list, keep a digest of the store after each commit."""
    patched: Any = parsers  # which only imports `keep_parses`
    dialect: Any = DuckDialect
    commit, rename, keep = dialect.do_commit, os.replace, patched.keep_parses

    def note(duck: duckdb.DuckDBPyConnection | None) -> None:
        marks.add(end=True)
        if recorded is not None:
            recorded.append(digest(duck) if duck is not None and _is_of(duck, store) else None)

    def do_commit(self: Any, connection: Any) -> None:
        marks.add(end=False)
        commit(self, connection)
        note(duck_of(connection))

    def replace(draft: Any, place: Any) -> None:
        if not Path(place).is_relative_to(store.parent):  # what numba keeps of its work, say
            rename(draft, place)
            return
        marks.add(end=False)
        rename(draft, place)
        note(None)

    def keep_parses(duck: duckdb.DuckDBPyConnection, rows: Any) -> None:
        marks.add(end=False)
        keep(duck, rows)
        note(duck)

    dialect.do_commit, os.replace, patched.keep_parses = do_commit, replace, keep_parses  # type: ignore[assignment]
    try:
        yield
    finally:
        dialect.do_commit, os.replace, patched.keep_parses = commit, rename, keep


def _is_of(duck: duckdb.DuckDBPyConnection, store: Path) -> bool:
    """Say whether a connection is one to the store, and not to a draft of it."""
    query = "select path from duckdb_databases() where database_name = current_database()"
    return duck.execute(query).fetchone() == (str(store),)


def free_of_traceback(ended: Ended) -> bool:
    """Say whether a command ended by itself and spoke as it should."""
    return ended.code in (0, 1, 130) and "Traceback" not in ended.said


def files_beside(store: Path) -> list[str]:
    """Return what stands in the folder of a store and is not the store, its backups or snapshots."""
    return sorted(
        str(path.relative_to(store.parent))
        for path in store.parent.rglob("*")
        if path != store and not path.name.startswith(f"{store.name}.backup-") and not _published(path)
    )


def _published(path: Path) -> bool:
    return path.name in ("snapshots", ".publish.lock") or (
        path.parent.name == "snapshots" and path.name.startswith("sentgen-")
    )
