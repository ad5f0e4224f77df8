"""Imported packages are required ones: a package that only another one requires may vanish with it."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
#: Packages by the names of their modules, where these differ; `ufal` is shared by several.
PACKAGES = {"Stemmer": "pystemmer", "markdown_it": "markdown-it-py", "ufal": "ufal-udpipe"}
#: Modules of the type checker.
NONE = {"_typeshed", "sentgen"}
#: Extras for users; the others are for developers.
OURS = {"test", "docs", "release", "bench", "all"}


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def asked_for(lines: list[str]) -> set[str]:
    return {canonical(re.split(r"[^\w.-]", line)[0]) for line in lines}


def sources() -> Iterator[Path]:
    for folder in ("sentgen", "schema", "migrations"):
        yield from (ROOT / folder).rglob("*.py")


def imported(path: Path) -> Iterator[str]:
    """Yield the other packages that a file imports, at its top or within a function."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        for name in names:
            top = name.partition(".")[0]
            if top not in sys.stdlib_module_names and top not in NONE:
                yield PACKAGES.get(top, canonical(top))


@pytest.fixture(scope="module")
def importing() -> dict[str, set[str]]:
    """The files that import each package."""
    found: dict[str, set[str]] = {}
    for path in sources():
        for package in imported(path):
            found.setdefault(package, set()).add(path.relative_to(ROOT).as_posix())
    return found


def test_what_is_imported_is_asked_for(importing: dict[str, set[str]]) -> None:
    """Each imported package is required by sentgen itself or by an extra."""
    extras = {name: asked_for(lines) for name, lines in PROJECT["optional-dependencies"].items()}
    optional = set().union(*(needed for name, needed in extras.items() if name not in OURS))
    always = asked_for(PROJECT["dependencies"])

    assert {
        package: sorted(paths) for package, paths in importing.items() if package not in always | optional
    } == {}


def test_what_is_asked_for_is_imported(importing: dict[str, set[str]]) -> None:
    """Each required package is imported."""
    assert asked_for(PROJECT["dependencies"]) - importing.keys() == set()
