"""Errors of files become one clear line, and never cost data."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from sentgen.errors import DamagedError, NotFoundError, StoreError
from sentgen.schema import Store, maintenance
from sentgen.schema.engine import explain

HOLD = """
import sys
from sentgen.schema import Store
store = Store(sys.argv[1], read_only=sys.argv[2] == "reader")
print("open", flush=True)
sys.stdin.read()
"""
KILLED = """
import os, signal, sys
from sqlalchemy import text
from sentgen.schema import Store
store = Store(sys.argv[1])
with store.begin() as connection:
    connection.execute(text("insert into word values (100, 'kept')"))
connection = store.engine.connect()
connection.execute(text("insert into word values (101, 'lost')"))
os.kill(os.getpid(), signal.SIGKILL)
"""
FILL_DISK = """
import resource, sys
from pathlib import Path
from sqlalchemy import text
from sentgen.errors import StoreError
from sentgen.schema import Store
path = Path(sys.argv[1])
size = path.stat().st_size
store = Store(path)
size = min(size, int(sys.argv[3]))
resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
try:
    with store.begin(in_order=True) as connection:
        rows = f"select range + 100, md5(range::varchar) from range({sys.argv[2]})"
        connection.execute(text(f"insert into word {rows}"))
except StoreError as error:
    print(error)
"""


@pytest.mark.nightly(by_day=1)
@pytest.mark.parametrize(
    ("other", "mine"), [("writer", "writer"), ("writer", "reader"), ("reader", "writer")]
)
def test_store_in_use(path: Path, other: str, mine: str) -> None:
    """A writer shuts out everybody, a reader shuts out writers."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path), other],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdin is not None
        assert holder.stdout.readline() == "open\n"
        with pytest.raises(
            StoreError, match=r"the store is in use by another process, .*; wait until it ends"
        ):
            Store(path, read_only=mine == "reader")
        holder.stdin.close()

    Store(path).close()


@pytest.mark.nightly(by_day=6)
@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("text", lambda data: b"this is no database\n" * 400),
        ("short text", lambda data: b"hello\n"),
        ("cut after the header", lambda data: data[:12_288]),
        ("cut in the header", lambda data: data[:5000]),
        ("cut in the middle", lambda data: data[: len(data) // 2]),
        ("cut at the end", lambda data: data[:-300_000]),
        ("zeros in the header", lambda data: data[:4096] + bytes(8192) + data[12_288:]),
        ("zeros in the body", lambda data: data[:12_288] + bytes(len(data) - 12_288)),
        ("noise in the body", lambda data: data[:12_288] + bytes(b ^ 0x55 for b in data[12_288:])),
    ],
)
@pytest.mark.parametrize("read_only", [False, True])
def test_damaged_file(path: Path, name: str, damage: object, read_only: bool) -> None:
    """Whatever is broken, the message is one line that says what to do."""
    assert callable(damage)
    path.write_bytes(damage(path.read_bytes()))

    try:
        with Store(path, read_only=read_only) as store:
            maintenance.sizes(store)
    except StoreError as error:
        told = str(error)
    else:  # DuckDB notices a cut only when it reads what is missing
        told = "damaged" if name in ("cut in the middle", "cut at the end") else "nothing"

    assert "damaged" in told
    assert "\n" not in told


def test_missing_store(tmp_path: Path) -> None:
    """Reading never makes a file."""
    with pytest.raises(NotFoundError, match="no store here; make one with: sentgen ingest"):
        Store(tmp_path / "none.duckdb")

    assert list(tmp_path.iterdir()) == []


def test_folder_in_place_of_a_file(tmp_path: Path) -> None:
    """`--db` names a folder by mistake, which is refused."""
    with pytest.raises(StoreError, match="this is a folder; `path` names a file"):
        Store(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_read_only_folder(tmp_path: Path) -> None:
    """A store in a folder without the right to write is refused in one line."""
    tmp_path.chmod(0o555)
    with pytest.raises(StoreError, match="permission denied; check the rights"):
        Store(tmp_path / "new.duckdb", create=True)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (PermissionError(13, "Permission denied"), "permission denied; check the rights"),
        (duckdb.IOException('IO Error: Cannot open file "/x": Permission denied'), "permission denied"),
        (OSError(30, "Read-only file system"), "permission denied"),
        (OSError(28, "No space left on device"), "the disk is full; nothing of this step was stored"),
        (OSError(27, "File too large"), "the disk is full"),
        (duckdb.OutOfMemoryException("Out of Memory Error: failed to allocate"), "raise `memory_limit`"),
        (
            duckdb.IOException(
                "IO Error: Trying to read a database file with version number 99, but we can only ..."
            ),
            "made by another version of DuckDB",
        ),
        (duckdb.ConnectionException("... with a different configuration than ..."), "close it there first"),
        (
            duckdb.FatalException(
                "FATAL Error: Failed: database has been invalidated because of a previous fatal error.\n"
                'Original error: "Failed to create checkpoint: Could not write file "/x": File too large"'
            ),
            "the disk is full",
        ),
        (
            duckdb.InternalException("INTERNAL Error: Memory allocation failure"),
            "the memory limit was reached",
        ),
        (
            duckdb.InternalException("INTERNAL Error: Attempted to x\n\nStack Trace:\n/y"),
            "DuckDB failed, which is a mistake of its own (internal error: attempted to x); run it again",
        ),
        (duckdb.Error("Odd Error: first line\nsecond line"), "store: Odd Error: first line"),
        (duckdb.Error(""), "store: Error"),
    ],
)
def test_every_failure_has_its_line(error: Exception, message: str) -> None:
    """Errors that are hard to provoke become one line, too."""
    told = str(explain(Path("store"), error))

    assert message in told
    assert "\n" not in told


@pytest.mark.parametrize(
    "name", ["corrupt", "No space left", "out of memory", "permission denied", "checksum"]
)
@pytest.mark.parametrize("read_only", [False, True])
def test_names_of_files_say_nothing_of_what_is_wrong(tmp_path: Path, name: str, read_only: bool) -> None:
    """A folder, or a file that is no store, gets its message whatever words its name has."""
    folder = tmp_path / name / "corrupt could not set lock"
    folder.mkdir(parents=True)
    with pytest.raises(StoreError, match="this is a folder; `path` names a file") as caught:
        Store(folder, read_only=read_only)
    assert not isinstance(caught.value, DamagedError)
    (folder / "different configuration").write_text("no database\n" * 400)
    with pytest.raises(DamagedError, match="not a sentgen store, or damaged"):
        Store(folder / "different configuration", read_only=read_only)


@pytest.mark.parametrize(
    "error",
    [
        duckdb.ConversionException(
            "Conversion Error: Could not convert string 'checksum, no space left' to INT32"
        ),
        duckdb.BinderException('Binder Error: Referenced column "corrupt" not found: out of memory'),
        duckdb.IOException('IO Error: Cannot open file "/corrupt/no space left": No such file or directory'),
        duckdb.IOException("IO Error: Cannot open /corrupt checksum/store: Too many open files"),
        FileNotFoundError(2, "No such file or directory", "/permission denied/corrupt"),
        OSError("Failed to open local file '/disk quota exceeded/x'. Detail: [errno 24] Too many open files"),
    ],
)
def test_what_a_message_quotes_says_nothing_of_what_is_wrong(error: Exception) -> None:
    """Values, columns and paths may have any words: they do not change how an error is classified."""
    told = explain(Path("/corrupt checksum/store"), error)

    assert str(told) == f"/corrupt checksum/store: {error}"
    assert type(told) is StoreError


@pytest.mark.parametrize(
    ("rows", "room"), [(500_000, 2**30), (50_000, 2**20)], ids=["before the commit", "within it"]
)
def test_full_disk_stores_nothing(path: Path, rows: int, room: int) -> None:
    """A limit on the size of files stands for a full disk; the store stays usable."""
    done = subprocess.run(
        [sys.executable, "-c", FILL_DISK, str(path), str(rows), str(room)],
        capture_output=True,
        text=True,
        check=False,
    )

    assert "the disk is full; nothing of this step was stored. Free space and run it again" in done.stdout
    with Store(path) as store, store.connect() as connection:
        assert connection.exec_driver_sql("select count(*) from word where id >= 100").scalar() == 0


def test_killed_writer_loses_only_what_was_not_committed(path: Path) -> None:
    """A commit is in the file itself, where a log could be torn and come back."""
    done = subprocess.run([sys.executable, "-c", KILLED, str(path)], capture_output=True, check=False)

    assert done.returncode == -signal.SIGKILL
    with Store(path) as store, store.connect() as connection:
        found = connection.exec_driver_sql("select form from word where id >= 100").fetchall()
        assert [tuple(row) for row in found] == [("kept",)]


def test_log_of_garbage_is_ignored(path: Path) -> None:
    """A log with garbage after a kill is ignored."""
    Path(f"{path}.wal").write_bytes(b"\x00garbage" * 100)

    with Store(path) as store, store.connect() as connection:
        assert connection.exec_driver_sql("select count(*) from token").scalar() == 8
