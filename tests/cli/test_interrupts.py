"""Ctrl-C ends a command at any point, with one line and exit code 130, and leaves no temporary files."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from textwrap import indent

import duckdb
import pytest
from ten_sentences import fill

import sentgen
from sentgen.cli.console.interrupts import INTERRUPTED
from sentgen.schema.durability.duckdb_faults import WITHOUT_LOG
from sentgen.schema.engine import translated_errors

#: What a process does before its work.
PREPARED = """
import ctypes, os, signal, subprocess, sys, threading, time
from pathlib import Path
from sentgen.cli.console.interrupts import deadline, end_on_interrupt
end_on_interrupt()

def press():
    signal.raise_signal(signal.SIGINT)

def press_soon():
    threading.Timer(0.2, os.kill, [os.getpid(), signal.SIGINT]).start()
"""
#: Work that would lose a KeyboardInterrupt, or hear of it late.
WORK = {
    "waiting": "press_soon(); time.sleep(60)",
    "a callback, as llvmlite has": "ctypes.CFUNCTYPE(None)(press)(); time.sleep(60)",
    "whatever catches all, as DuckDB does": """
try:
    press()
except BaseException:
    pass
print("went on", file=sys.stderr)
""",
    "a finaliser": """
class Finalised:
    def __del__(self):
        press()
Finalised()
print("went on", file=sys.stderr)
""",
    "one call of a function in DuckDB, which it cannot interrupt": """
import duckdb
press_soon()
duckdb.sql("select max(levenshtein(repeat('ab', 300000), repeat('ba', 300000))) from range(10)").fetchall()
""",
    "machine code": """
import numba
@numba.njit(nogil=True)
def kernel(steps):
    total = 0.0
    for step in range(steps):
        total += step % 7.5
    return total
kernel(1)
press_soon()
kernel(10**12)
""",
    "more than one Ctrl-C": "press_soon(); press_soon(); time.sleep(60)",
    "Ctrl-C while it is told of": """
written = os.write
def write(file, data):
    length = written(file, data)
    if file == 2:
        press()
    return length
os.write = write
press(); time.sleep(60)
""",
    "cleaning up": """
try:
    press_soon(); time.sleep(60)
finally:
    print("went on", file=sys.stderr)
""",
}


def run(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run code in a process of its own, with a folder for temporary files."""
    environment = os.environ | {"TMPDIR": str(folder)}
    command = [sys.executable, "-c", PREPARED + code]
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder, timeout=50)


@pytest.mark.nightly(by_day=4)
@pytest.mark.parametrize("work", WORK)
def test_whatever_runs(work: str, tmp_path: Path) -> None:
    done = run(WORK[work], tmp_path)

    assert (done.returncode, done.stdout, done.stderr) == (130, "", f"{INTERRUPTED}\n")


def test_nothing_temporary_is_left(tmp_path: Path) -> None:
    """Folders and files that only this process needs are removed, those of a store too, and its children end."""
    made = """
from sentgen import temporary
from sentgen.output.files import whole_file
from sentgen.schema import Store, folders

store = Store(Path("store.duckdb"), create=True)
spilled = Path("store.duckdb.tmp")
spilled.mkdir()
(spilled / "duckdb_temp_storage_DEFAULT-0.tmp").touch()
folders.make(Path("marked"))
folders.make(Path("work"), lasting=True)
child = subprocess.Popen(["sleep", "60"])
Path("child").write_text(str(child.pid))
with temporary.folder() as folder, whole_file(Path("output")) as file, folders.draft("."):
    (folder / "a").touch()
    file.write(b"half")
    press()
"""
    done = run(made, tmp_path)

    assert (done.returncode, done.stderr) == (130, f"{INTERRUPTED}\n")
    child = Path("/proc") / (tmp_path / "child").read_text()
    ended = time.monotonic() + 10
    while child.exists() and time.monotonic() < ended:
        time.sleep(0.01)
    assert not child.exists()
    assert _names(tmp_path) == {"child", "store.duckdb", "work"}


def _names(folder: Path) -> set[str]:
    """Return what is in a folder, without the log of a store, which DuckDB commits to."""
    return {path.name for path in folder.iterdir()} - (set() if WITHOUT_LOG else {"store.duckdb.wal"})


def test_what_is_somebodys_stays(tmp_path: Path) -> None:
    """A child of `os.fork` has nothing to remove; what was let go, or lies in a folder of ours, is not ours."""
    made = """
import warnings
from sentgen import temporary
from sentgen.schema import Store

store = Store(Path("store.duckdb"), create=True)
Path("store.duckdb.tmp").mkdir()
Path("store.duckdb.tmp/notes").touch()
Path("a").touch()
temporary.hold("a", os.unlink)
temporary.let_go("a")
Path("b").touch()
temporary.hold("b", os.unlink)
warnings.simplefilter("ignore", DeprecationWarning)  # DuckDB has threads, which the child does not use
if not (child := os.fork()):
    temporary.remove_all()
    os._exit(0)
os.waitpid(child, 0)
print(Path("b").exists())
press()
"""
    done = run(made, tmp_path)

    assert (done.returncode, done.stderr) == (130, f"{INTERRUPTED}\n")
    assert _names(tmp_path) == {"a", "store.duckdb", "store.duckdb.tmp"}
    assert (tmp_path / "store.duckdb.tmp" / "notes").exists()


def test_while_modules_are_imported(tmp_path: Path) -> None:
    """It takes seconds on a cold disk, and is no traceback."""
    code = """
import sys
from sentgen.cli import application, program
application.import_module = lambda name: press()
sys.argv = ["sentgen", "pairs", "list"]
program()
"""
    done = run(code, tmp_path)

    assert (done.returncode, done.stdout, done.stderr) == (130, "", f"{INTERRUPTED}\n")


def test_interrupted_statement_is_no_error_of_the_store(tmp_path: Path) -> None:
    """In Python, who catches what is wrong with a store does not catch Ctrl-C."""
    with pytest.raises(KeyboardInterrupt), translated_errors(tmp_path):
        raise duckdb.InterruptException("Interrupted!")


@pytest.mark.parametrize("work", ["waiting", "one call of a function in DuckDB, which it cannot interrupt"])
def test_deadline(work: str, tmp_path: Path) -> None:
    """When the time is up, a command ends as by Ctrl-C, with words and a code of its own."""
    code = f"press_soon = lambda: None\nwith deadline(0.3, 'too slow'):\n{indent(WORK[work], '    ')}"
    done = run(code, tmp_path)

    assert (done.returncode, done.stdout, done.stderr) == (1, "", "sentgen: too slow\n")


def test_deadline_kept(tmp_path: Path) -> None:
    """What ends in time is let go, and so is what comes later."""
    done = run("with deadline(0.1, 'too slow'):\n    pass\ntime.sleep(0.3); print('done')", tmp_path)

    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


@pytest.mark.parametrize(
    "first", ["atexit.register(print, 'done')", "threading.Timer(0.2, print, ['done']).start()"]
)
def test_program_ends_when_all_is_done(first: str) -> None:
    """It does without the interpreter's tidying up, not without what is registered or still runs."""
    code = (
        f"import atexit, sys, threading; sys.argv = ['sentgen', '--version']; {first};"
        " from sentgen.cli import program; program()"
    )

    buffered = os.environ | {"PYTHONUNBUFFERED": ""}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=buffered)

    assert done.stdout.split("\n")[1:] == ["done", ""]


def test_in_python(tmp_path: Path) -> None:
    """There, between two statements, it is a KeyboardInterrupt, and the program goes on as it likes."""
    with sentgen.open(fill(tmp_path / "toy.duckdb")) as db:
        db.sql("select 1 as one")
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)

        assert len(db.sql("select 1 as one")) == 1
