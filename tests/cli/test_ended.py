"""SIGTERM and SIGHUP end a command as Ctrl-C does, and what SIGKILL leaves goes when the next one needs such a file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sentgen.temporary import Spool


def begin(folder: Path) -> subprocess.Popen[bytes]:
    """Ingest what comes through a pipe, until it waits for more."""
    command = [sys.executable, "-c", "from sentgen.cli import program; program()"]
    command += ["ingest", "-", "--corpus", "c", "--db", str(folder / "s.duckdb")]
    environment = {**os.environ, "TMPDIR": str(folder)}
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
    until = time.monotonic() + 60
    while not list(folder.glob("*.spool")):
        assert time.monotonic() < until
        time.sleep(0.02)
    return child


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_nothing_temporary_is_left(tmp_path: Path, number: signal.Signals) -> None:
    """One line tells the signal, and the exit code is that of a shell."""
    with begin(tmp_path) as child:
        child.send_signal(number)
        _, told = child.communicate()

    assert told.decode() == f"sentgen: ended by {number.name}; what was finished is kept\n"
    assert child.returncode == 128 + number
    assert [path.name for path in tmp_path.iterdir() if "spool" in path.name] == []


def test_what_a_kill_has_left_is_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that are in use, files with other names, and links are not removed."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with begin(tmp_path) as child:
        (left,) = tmp_path.glob("*.spool")
        ours = Spool()
        assert left.exists()
        assert Path(ours.path).stat().st_mode & 0o777 == 0o600
        child.kill()
    for name in ("notes.spool", "sentgen-notes.spool"):
        (tmp_path / name).touch()
    (tmp_path / "sentgen-0123456789abcdef.spool").symlink_to(tmp_path / "notes.spool")
    assert left.exists()
    other = Spool()

    assert not left.exists()
    assert Path(ours.path).exists()
    assert Path(other.path).exists()
    assert {path.name for path in tmp_path.glob("*notes.spool")} == {"notes.spool", "sentgen-notes.spool"}
    assert (tmp_path / "sentgen-0123456789abcdef.spool").is_symlink()
    path = ours.path
    del ours
    assert not Path(path).exists()


def test_what_is_ignored_stays_so(tmp_path: Path) -> None:
    """A signal that is ignored at the start, as under `nohup`, stays ignored."""
    code = (
        "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "from sentgen.cli.console.interrupts import end_on_interrupt\n"
        "end_on_interrupt(); signal.raise_signal(signal.SIGHUP); print('goes on')"
    )

    assert subprocess.check_output([sys.executable, "-c", code]) == b"goes on\n"
