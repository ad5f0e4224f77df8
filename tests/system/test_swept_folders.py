"""Folders of processes that were killed: removed by the next server, and no others."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from sentgen import temporary

MAKE = """
import sys
from sentgen import temporary
folder = temporary.folder_of_process("sentgen-worker-")
(folder / "spilled").write_text("x")
print(folder, flush=True)
sys.stdin.read()
"""


def started() -> tuple[subprocess.Popen[str], Path]:
    """A process with a folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", MAKE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    return process, Path(process.stdout.readline().strip())


def test_what_a_killed_process_left_is_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its mark: not that of a process that lives, nor what has no mark, or lies behind a link."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (killed, left), (living, used) = started(), started()
    killed.kill()
    killed.communicate()
    own = temporary.folder_of_process("sentgen-serve-")
    for name in ("sentgen-notes", "sentgen-empty-mark", "mine"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "kept").write_text("x")
    (tmp_path / "sentgen-empty-mark" / temporary.MARK).touch()
    (tmp_path / "mine" / temporary.MARK).write_text("x")
    (tmp_path / "sentgen-link").symlink_to(tmp_path / "mine")
    before = {path.name for path in tmp_path.iterdir()}
    assert {left.name, used.name, own.name} < before

    temporary.sweep()

    assert {path.name for path in tmp_path.iterdir()} == before - {left.name}
    assert (used / "spilled").exists()
    assert (tmp_path / "mine" / "kept").exists()
    living.communicate("")
    temporary.remove_held(str(own))
    assert {path.name for path in tmp_path.iterdir()} == before - {left.name, used.name, own.name}
