"""The stand-in for Windows refuses what Windows does, in all processes that play by its rules."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import windows_rules

HOLD = "import sys, time; held = open('a', 'rb'); print(flush=True); sys.stdin.read()"
REFUSED = """
import duckdb, os
from sentgen.system import files

open("b", "w").write("é\\n")
os.mkdir("folder")
duck = duckdb.connect("c.duckdb")
for act in (
    lambda: os.unlink("a"), lambda: os.replace("b", "a"), lambda: os.rename("a", "d"),
    lambda: os.rename("b", "folder"), lambda: os.open("folder", 0), lambda: open("c.duckdb", "rb"),
    lambda: os.fork(), lambda: os.fsync(os.open("b", os.O_RDONLY)),
):
    try:
        act()
    except (OSError, AttributeError) as error:
        print(type(error).__name__)
print("é", files.descriptors_of("a"))
"""


def test_what_is_refused_in_commands(tmp_path: Path) -> None:
    """What another of them has open, too."""
    (tmp_path / "a").touch()
    command = (sys.executable, "-c")
    rules = os.environ | windows_rules.environment(tmp_path / "rules")
    where = {"cwd": tmp_path, "env": rules, "stdout": subprocess.PIPE}
    with subprocess.Popen([*command, HOLD], stdin=subprocess.PIPE, **where) as other:  # type: ignore[call-overload]
        other.stdout.readline()
        done = subprocess.run([*command, REFUSED], check=True, **where)  # type: ignore[call-overload]
        other.communicate()

    refusals = ["PermissionError"] * 3 + ["FileExistsError"] + ["PermissionError"] * 2
    assert done.stdout.decode("cp1252").split("\r\n") == [
        *refusals,
        *("AttributeError", "OSError", "é None", ""),
    ]
    assert (tmp_path / "b").read_bytes() == b"\xe9\r\n"


def test_a_folder_with_an_open_file_keeps_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until it is closed."""
    windows_rules.play(monkeypatch)
    folder = tmp_path / "a"
    folder.mkdir()
    with (folder / "b").open("wb"), pytest.raises(PermissionError):
        folder.rename(tmp_path / "c")
    folder.rename(tmp_path / "c")
