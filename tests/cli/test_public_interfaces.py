"""No module imports what another package keeps for itself: it goes, or moves, in any version."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
#: What has no other name.
_NAMED_SO = {"lxml.etree._Element"}


def private_imports(text: str) -> Iterator[str]:
    """Yield the modules and names that begin with an underscore; those of sentgen are its own."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Import(aliases):
                names = [one.name for one in aliases]
            case ast.ImportFrom(str(module), aliases, 0):
                names = [f"{module}.{one.name}" for one in aliases]
            case _:
                continue
        for name in names:
            package, *parts = name.split(".")
            private = any(part.startswith("_") and not part.endswith("__") for part in parts)
            if private and package not in ("sentgen", "_typeshed") and name not in _NAMED_SO:
                yield name


@pytest.mark.parametrize("room", ["sentgen", "schema", "migrations"])
def test_all_that_is_imported_is_public(room: str) -> None:
    found = {
        str(path.relative_to(ROOT)): names
        for path in (ROOT / room).rglob("*.py")
        if (names := list(private_imports(path.read_text("utf-8"))))
    }

    assert not found


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("from typer._click import Context", ["typer._click.Context"]),
        ("import numpy._core as core, os", ["numpy._core"]),
        ("from duckdb import _duckdb", ["duckdb._duckdb"]),
        ("from sentgen.corpus import _pieces", []),
        ("from importlib.metadata import version", []),
    ],
)
def test_what_is_private(line: str, found: list[str]) -> None:
    assert list(private_imports(line)) == found
