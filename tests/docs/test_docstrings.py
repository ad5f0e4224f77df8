"""The examples in docstrings are right, and the names in docstrings exist."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import sentgen
from sentgen import schema

PACKAGE = Path(sentgen.__file__).parent
FOLDERS = sorted({path.relative_to(PACKAGE).parts[0] for path in PACKAGE.rglob("*.py")})


@pytest.mark.parametrize("folder", FOLDERS)
def test_examples_hold(folder: str) -> None:
    """The examples of a folder, or module, of the package are right."""
    inside = PACKAGE / folder
    paths = [inside] if inside.is_file() else sorted(inside.rglob("*.py"))
    for path in paths:
        if ">>> " in path.read_text("utf-8"):
            parts = path.relative_to(PACKAGE).with_suffix("").parts
            names = parts[:-1] if parts[-1] == "__init__" else parts
            found = doctest.testmod(importlib.import_module(".".join(("sentgen", *names))))

            assert found.failed == 0, path


def test_names_lead_somewhere() -> None:
    """Dotted names in docstrings exist, so that none is left of a moved function; loggers are quoted otherwise."""
    paths = [path for folder in (PACKAGE, *schema.__path__) for path in Path(folder).rglob("*.py")]
    names = {name for path in paths for name in re.findall(r"`(sentgen(?:\.\w+)+)`", path.read_text("utf-8"))}
    assert "sentgen.schema.readonly" in names
    lost = []
    for name in sorted(names):
        try:
            pkgutil.resolve_name(name)
        except (ImportError, AttributeError):
            lost.append(name)

    assert lost == []
