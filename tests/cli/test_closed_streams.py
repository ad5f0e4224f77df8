"""Standard streams that are closed, terminals that nobody sits at, and files that are not there: one line each."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ENTER = "import sys; sys.argv[0] = 'sentgen'; from sentgen.cli import program; program()"


def run(words: str, redirections: str = "", *, session: bool = False) -> subprocess.CompletedProcess[str]:
    line = f"{shlex.join([sys.executable, '-c', ENTER])} {words} {redirections}"
    return subprocess.run(
        ["sh", "-c", line], capture_output=True, text=True, check=False, start_new_session=session, timeout=60
    )


@pytest.mark.nightly(by_day=3)
@pytest.mark.parametrize("redirections", [">&-", "<&- >&-", "<&-"])
@pytest.mark.parametrize(
    "words",
    ["--version", "formats", "formats --json", "corpora export notes --db {full}", "sql - --db {full}"],
)
def test_a_closed_stream_is_one_line(full: Path, words: str, redirections: str) -> None:
    """The exit code is that of a failure if the command prints or reads something."""
    done = run(words.format(full=full), redirections)

    needed = ">&-" in redirections or "-" in words.split()
    assert "Traceback" not in done.stderr
    assert (done.returncode, sum(line.startswith("sentgen: ") for line in done.stderr.splitlines())) == (
        (1, 1) if needed else (0, 0)
    ), done.stderr


def test_messages_that_nobody_hears_change_nothing() -> None:
    heard, unheard = run("formats"), run("formats", "2>&-")

    assert (unheard.returncode, unheard.stdout) == (0, heard.stdout)


@pytest.mark.nightly(by_day=3)
@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("ingest /dev/tty --corpus c --db {to}/new.duckdb", "/dev/tty: cannot be read: "),
        ("corpora metadata pets {to}/none.csv --key name --db {full}", "none.csv: cannot be read: "),
        ("corpora metadata pets {to} --key name --db {full}", ": cannot be read: Is a directory"),
        ("lines import dogs {to}/none.csv --desk {folder}/pets.desk", "none.csv: cannot be read: "),
        ("freq --xlsx /dev/full --db {full}", "/dev/full: cannot be written (No space left on device)"),
        ("freq --parquet /dev/full --db {full}", "/dev/full: cannot be written (No space left on device)"),
        ("freq --xlsx /dev/tty --db {full}", "/dev/tty: cannot be written ("),
    ],
)
def test_what_cannot_be_opened_is_one_line(full: Path, tmp_path: Path, words: str, told: str) -> None:
    """Without a terminal, as under cron."""
    store = tmp_path / "store.duckdb"
    store.write_bytes(full.read_bytes())
    done = run(words.format(full=store, folder=full.parent, to=tmp_path), session=True)

    lines = [line for line in done.stderr.splitlines() if not line.endswith(" rows")]
    assert (done.returncode, len(lines)) == (1, 1), done.stderr
    assert told in lines[0]
