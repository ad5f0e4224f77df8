"""Unusual files: links in a circle, pipes without a writer, names that are not UTF-8."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest
from conftest import Sentgen

from sentgen.system import files

#: Each command that reads a file, which `FILE` stands for.
COMMANDS = [
    "ingest FILE --corpus c",
    "pairs ingest FILE --corpus c",
    "corpora metadata pets FILE --key id",
    "corpora sync pets FILE --yes",
    "parser run FILE --parser gold",
    "match --file FILE",
    "keyness pets --against pets --stop FILE",
    "lines import set FILE",
    "sql --file FILE",
    "models mix m --of pets,pets@1 --tune FILE",
    "models compare pets --test FILE",
    "models import-arpa m FILE",
    "regenerate --model pets --input FILE",
    "generate FILE",
    "fuse FILE --with FILE --model pets",
    "check FILE --against FILE",
    "align text --document FILE --abstract FILE",
    "align tune m --gold FILE",
    "evaluate generation --clusters FILE --parser gold --report new",
    "evaluate alignment --gold FILE --format rte",
    "evaluate regeneration --test FILE --model pets",
    "tune FILE --model pets",
    "cluster count FILE --to lake --corpus c --local 1",
    "kwic dog --db FILE",
    "models build m --corpus pets --db FILE",
    "publish --to new --db FILE",
    "db upgrade --db FILE",
    "db repair --db FILE",
    "db compact --db FILE",
]


def _circle(folder: Path) -> str:
    (folder / "one").symlink_to(folder / "two")
    (folder / "two").symlink_to(folder / "one")
    return "one"


def _silent_pipe(folder: Path) -> str:
    os.mkfifo(folder / "pipe")
    return "pipe"


def _garbled(folder: Path) -> str:
    name = os.fsdecode(b"n\xffme")
    (folder / name).write_text("Some text.\n")
    return name


@pytest.mark.nightly(by_day=30)
@pytest.mark.parametrize("make", [_circle, _silent_pipe, _garbled])
@pytest.mark.parametrize("line", COMMANDS)
def test_told_in_one_line(
    filled: Sentgen,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    line: str,
    make: Callable[[Path], str],
) -> None:
    """The error has one line; no command waits forever or prints a traceback."""
    monkeypatch.setattr(files, "FIRST_BYTE", 0.05)
    name = make(tmp_path)
    arguments = [name if word == "FILE" else word for word in line.split()]

    def hangs(_number: int, _frame: FrameType | None) -> None:
        raise AssertionError("it waits")

    before = signal.signal(signal.SIGALRM, hangs)
    signal.alarm(10)
    try:
        done = filled(*arguments)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    if done.code:
        assert done.code == 1
        assert sum(row.startswith("sentgen: ") for row in done.err.splitlines()) == 1
    else:
        assert make is _garbled  # which can be read, where nothing stores its name
