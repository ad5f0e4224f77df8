"""Output that goes to a full disk ends in one line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is a device of Linux")
@pytest.mark.parametrize("words", [("--version",), ("demo", "--help")])
def test_it_is_told_in_a_line(words: tuple[str, ...]) -> None:
    """Whether it is found at the end, or while a command prints; the exit code says so, too."""
    code = "import sys; sys.argv[0] = 'sentgen'; from sentgen.cli import program; program()"
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", code, *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )

    assert (done.returncode, done.stderr) == (
        1,
        "sentgen: standard output: no space left on device; output is incomplete: "
        "free some space, and run it again\n",
    )
