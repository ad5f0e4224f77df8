"""Commands by the rules of Windows: each a process, with a console of cp1252, and other files that are open."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
import windows_rules
from large_texts import write_lines

from sentgen.counts.ingestion import Settings, ingest
from sentgen.schema import Store

PROGRAM = "import sys; sys.argv[0] = 'sentgen'; from sentgen.cli import program; program()"
#: Ends by SIGKILL where a commit begins: the one whose number is the first word.
KILLED = f"""
import os, signal, sys
from sqlalchemy import Engine, event

left = [int(sys.argv.pop(1))]

def end(_):
    left[0] -= 1
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)

event.listen(Engine, "commit", end)
{PROGRAM}
"""
#: Has a file open until its input ends.
HOLD = (
    "import duckdb, sys; c = duckdb.connect(sys.argv[1], read_only=True); print(flush=True); sys.stdin.read()"
)


class Windows:
    """Runs commands in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "folder"
        self.folder.mkdir()
        (folder / "temporary").mkdir()
        variables = {"SENTGEN_DB": "store.duckdb", "TMPDIR": str(folder / "temporary"), "NO_COLOR": "1"}
        self._environment = os.environ | variables | windows_rules.environment(folder / "rules")

    def start(self, program: str, *words: object, **streams: int) -> subprocess.Popen[bytes]:
        """Start a program."""
        return subprocess.Popen(
            [sys.executable, "-c", program, *map(str, words)],
            cwd=self.folder,
            env=self._environment,
            **streams,  # type: ignore[call-overload]
        )

    def run(self, line: str, *, code: int = 0, program: str = PROGRAM) -> str:
        """Run a command; return what it prints."""
        with self.start(program, *line.split(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
            told = process.communicate()[0].decode("cp1252", "replace")
        assert process.returncode == code, told
        assert "Traceback" not in told
        return told.replace("\r\n", "\n")

    @property
    def left(self) -> list[str]:
        """What lies in the folder, and among temporary files."""
        places = self.folder, self.folder.parent / "temporary"
        return sorted(path.relative_to(place).as_posix() for place in places for path in place.rglob("*"))


@pytest.fixture
def windows(tmp_path: Path) -> Windows:
    """A folder with a text whose lines end in CR LF."""
    made = Windows(tmp_path)
    (made.folder / "a.lines").write_bytes("Das große Haus .\r\nEin € .\r\n".encode())
    return made


@pytest.mark.nightly
def test_a_corpus_is_replaced_and_the_store_compacted(windows: Windows) -> None:
    """No word has a CR, and nothing is left beside the store."""
    place = windows.folder / "store.duckdb"
    with Store(place, create=True) as store:
        ingest(store, [str(windows.folder / "a.lines")], Settings("a"))
    (windows.folder / "a.lines").write_bytes("Ein großes Haus .\r\n".encode())
    windows.run("ingest a.lines --corpus a --replace")
    windows.run("db compact")

    with duckdb.connect(place, read_only=True) as store:
        words = store.execute("select form from v_tokens order by all").fetchall()
    assert words == [(".",), ("Ein",), ("Haus",), ("großes",)]
    assert windows.left == ["a.lines", "store.duckdb"]


@pytest.mark.nightly
@pytest.mark.parametrize("commit", [1, 2])
def test_what_a_kill_leaves_is_put_back(windows: Windows, commit: int) -> None:
    """The next command that writes finds the store as it was, and takes away what lies beside it."""
    windows.run("ingest a.lines --corpus a")
    windows.run(f"{commit} ingest a.lines --corpus b", program=KILLED, code=-9)
    windows.run("db check")
    windows.run("ingest a.lines --corpus b")

    assert windows.run("corpora list --csv").count("\n") == 3
    assert windows.left == ["a.lines", "store.duckdb"]


@pytest.mark.nightly
def test_a_snapshot_that_another_process_reads_goes_with_a_later_one(windows: Windows) -> None:
    """It stays whole until then, and a store that is written is told in one line."""
    windows.run("ingest a.lines --corpus a")
    windows.run("publish --to to --keep 1")
    (old,) = (windows.folder / "to").glob("*.duckdb")
    windows.run("ingest a.lines --corpus b")
    with windows.start(HOLD, old, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as reader:
        assert reader.stdout is not None
        reader.stdout.readline()
        assert "removed" not in windows.run("publish --to to --keep 1")
        assert old.exists()
        assert old.with_suffix(".json").exists()
        reader.communicate()
    windows.run("publish --to to --keep 1")

    assert not old.exists()
    assert not old.with_suffix(".json").exists()
    assert len(windows.left) == 6


@pytest.mark.nightly
def test_what_waits_on_the_disk_is_removed(windows: Windows) -> None:
    """With little memory, rows spill into folders of the process."""
    write_lines(windows.folder / "b.lines", 30_000)
    windows.run("ingest b.lines --corpus b --memory-limit 400MB")
    windows.run("models build b --corpus b --order 3 --memory-limit 400MB")

    assert windows.left == ["a.lines", "b.lines", "store.duckdb"]


@pytest.mark.nightly
def test_the_demo(windows: Windows) -> None:
    """Its trees have lines that cp1252 has not."""
    assert "\\u2500" in windows.run("demo")
    assert windows.left == ["a.lines", "sentgen-demo.duckdb"]


def test_progress_on_a_console(windows: Windows) -> None:
    """Bars are drawn with what it can show."""
    terminal, end = pty.openpty()
    with windows.start(PROGRAM, "ingest", "a.lines", "--corpus", "a", stdout=end, stderr=end) as process:
        process.wait()
    os.close(end)
    told = os.read(terminal, 65536)
    os.close(terminal)

    assert process.returncode == 0, told
    assert b"Traceback" not in told
    assert b"sentences" in told
