"""Who waits while something is compiled is told, on a terminal and in a log; others are not."""

from __future__ import annotations

import importlib.util
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest

from sentgen.cli.console import waiting
from sentgen.cli.console.waiting import COMPILING, say_when_compiling

MODULE = """
from sentgen.arrays import compiled

@compiled
def one_more(number):
    return number + 1

@compiled
def one_less(number):
    return number - 1
"""


@pytest.fixture
def functions(tmp_path: Path) -> ModuleType:
    """Functions that nobody has compiled yet; their machine code is kept beside them."""
    path = tmp_path / "functions_to_compile.py"
    path.write_text(MODULE)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def work(functions: ModuleType) -> None:
    """Compile, and go on until what is to be said must have been said."""
    functions.one_more(1)
    functions.one_less(1)
    time.sleep(0.2)


@pytest.mark.parametrize("terminal", [True, False])
def test_slow_work_that_compiles(
    functions: ModuleType,
    terminal: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One line for all functions, and none when their machine code is there."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    monkeypatch.setattr(waiting, "SECONDS", 0.0)
    with say_when_compiling():
        work(functions)
    assert capsys.readouterr() == ("", f"{COMPILING}\n")

    with say_when_compiling():
        work(functions)

    assert capsys.readouterr() == ("", "")


def test_quick_work(
    functions: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is said when the work ends first, nor when other work follows."""
    monkeypatch.setattr(waiting, "SECONDS", 30.0)
    with say_when_compiling():
        functions.one_more(1.5)
        monkeypatch.setattr(waiting, "SECONDS", 0.0)
    time.sleep(0.2)
    functions.one_less(1.5)

    assert capsys.readouterr().err == ""
