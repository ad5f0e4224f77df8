"""The examples in docstrings hold."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import sentgen

PACKAGE = Path(sentgen.__file__).parent
FOLDERS = sorted({path.relative_to(PACKAGE).parts[0] for path in PACKAGE.rglob("*.py")})


@pytest.mark.parametrize("folder", FOLDERS)
def test_examples_hold(folder: str) -> None:
    """A folder, or module, of the package at a time."""
    inside = PACKAGE / folder
    paths = [inside] if inside.is_file() else sorted(inside.rglob("*.py"))
    for path in paths:
        if ">>> " in path.read_text("utf-8"):
            parts = path.relative_to(PACKAGE).with_suffix("").parts
            names = parts[:-1] if parts[-1] == "__init__" else parts
            found = doctest.testmod(importlib.import_module(".".join(("sentgen", *names))))

            assert found.failed == 0, path
