"""The size of an installation, so that a new package is a deliberate decision."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SIZES = Path(__file__).parents[2] / "benchmarks" / "sizes.py"


def test_an_installation_grows_no_larger_unseen() -> None:
    """Without byte code: 654 MB and, but for WordNet, which tests do not need, 796 (2026-11-28)."""
    told = subprocess.run([sys.executable, SIZES], capture_output=True, text=True, check=True).stdout
    found = {words[2]: float(words[0]) for words in map(str.split, told.splitlines())}

    assert found["plain:"] < 700
    assert found["[all]:"] - found.get("wn", 0) < 850
