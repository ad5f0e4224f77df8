"""The tests themselves: what stops pytest before it has run any."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

TESTS = Path(__file__).parents[1]


def test_files_have_names_of_their_own() -> None:
    """In folders that are no packages, two of one name are one module to pytest."""
    files = (file for file in TESTS.rglob("test_*.py") if not (file.parent / "__init__.py").exists())

    assert {name: count for name, count in Counter(file.name for file in files).items() if count > 1} == {}
