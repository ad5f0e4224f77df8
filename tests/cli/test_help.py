"""The help of all commands, and what it costs."""

from __future__ import annotations

import subprocess
import sys

HEAVY = {"fastapi", "starlette", "uvicorn", "pydantic", "nltk", "scipy.stats"}


def test_help_imports_nothing_heavy() -> None:
    """All commands are built, as for `sentgen --help`, and nothing is imported that takes a second."""
    code = f"""
import sys
from sentgen.cli import build
print(len(build().registered_commands), *sorted({HEAVY!r} & set(sys.modules)))
"""
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    commands, *imported = told.stdout.split()

    assert int(commands) > 10
    assert imported == []
