"""A console shows characters that it lacks as escapes; files and pipes get UTF-8 on every system."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from sentgen.schema import Store

PROGRAM = "import sys; sys.argv[0] = 'sentgen'; from sentgen.cli import program; program()"
WITHOUT_UTF8 = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
QUERY = "select '₁ 日 ─ é' as \"₁\""


@pytest.fixture(autouse=True)
def _store(store: Path) -> None:
    """Make a store with nothing in it."""
    Store(store, create=True).close()


def run(*words: object, stdin: bytes = b"", **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run a command whose streams are pipes."""
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, *map(str, words)],
        input=stdin,
        capture_output=True,
        env=os.environ | environment,
        check=False,
    )


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        (WITHOUT_UTF8, "₁\n₁ 日 ─ é\n".encode()),
        ({"PYTHONIOENCODING": "utf-8"}, "₁\n₁ 日 ─ é\n".encode()),
        ({"PYTHONIOENCODING": "cp1252"}, b"\\u2081\n\\u2081 \\u65e5 \\u2500 \xe9\n"),
        ({"PYTHONIOENCODING": "ascii"}, b"\\u2081\n\\u2081 \\u65e5 \\u2500 \\xe9\n"),
    ],
    ids=["no UTF-8", "utf-8", "cp1252", "ascii"],
)
def test_a_pipe(store: Path, environment: dict[str, str], expected: bytes) -> None:
    """A query from a pipe is read as UTF-8, too."""
    told = run("sql", "-", "--db", store, stdin=QUERY.encode(), **environment)

    assert (told.returncode, told.stderr, told.stdout) == (0, b"", expected)


def test_an_alignment(tmp_path: Path) -> None:
    """The numbers of its blocks are characters that few encodings have."""
    (tmp_path / "a").write_text("A cat 日 sat .\n", "utf-8")

    words = ("--document", tmp_path / "a", "--abstract", "-")
    told = run("align", "text", *words, stdin="A cat 日".encode(), PYTHONIOENCODING="cp1252")

    assert told.returncode == 0, told.stderr.decode()
    assert b"[A cat \\u65e5]\\u2081" in told.stdout


def test_a_terminal(store: Path) -> None:
    """The encoding of a terminal is used, and tables have lines that it can draw."""
    terminal, end = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "sql", QUERY.replace("₁", "'||chr(8321)||'", 1), "--db", str(store)],
        stdout=end,
        stderr=end,
        env=os.environ | {"PYTHONIOENCODING": "cp1252", "NO_COLOR": "1"},
        check=False,
    )
    os.close(end)
    told = os.read(terminal, 65536)
    os.close(terminal)

    assert done.returncode == 0, told
    assert b"\\u2081 \\u65e5 \\u2500 \xe9" in told
    assert told.isascii() or told.replace(b"\xe9", b"").isascii()


@pytest.mark.parametrize("errors", ["strict", "surrogateescape"])
def test_a_query_that_is_no_utf8(store: Path, errors: str) -> None:
    """It is refused in a line, whatever the locale does with such bytes."""
    told = run("sql", "-", "--db", store, stdin=b"select '\xe9'", PYTHONIOENCODING=f"utf-8:{errors}")

    assert told.returncode == 1
    assert told.stderr.startswith(b"sentgen: ")
    assert told.stderr.count(b"\n") == 1
