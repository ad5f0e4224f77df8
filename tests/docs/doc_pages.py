"""The commands of a page, with the output that it shows, and running them."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from typer.testing import CliRunner

from sentgen.cli import build
from sentgen.errors import SentgenError

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"

_SQL_BLOCK = re.compile(r"^```sql\n(.*?)^```", re.DOTALL | re.MULTILINE)
_SQL_COMMAND = re.compile(r'^(?:\$ )?sentgen sql "(.*?)"', re.MULTILINE)
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
#: Parts of outputs that differ by run or by machine.
_VOLATILE = (
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"), "TIME"),
    (re.compile(r"^(seconds|tokens/s) .*", re.MULTILINE), r"\1 N"),
    (re.compile(r"[\d.]+ ms\b"), "N ms"),
    (re.compile(r"^(run \d+: seed \d+), [\d.]+ s", re.MULTILINE), r"\1, N s"),
    (re.compile(r"\|version:[\d.]+"), "|version:N"),
    (re.compile(r"bytes: [\d,]+ before, [\d,]+ after"), "bytes: N"),
    (re.compile(r"^/\S+/", re.MULTILINE), "FOLDER/"),
    (re.compile(r" +"), " "),
)


def _load_generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_reference", DOCS / "generate_reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    # As for a script, whose folder comes first in the path.
    sys.path.insert(0, str(DOCS))
    spec.loader.exec_module(module)
    return module


generator = _load_generator()
#: Pages that are generated from the code, whether or not their files exist.
GENERATED = generator.pages()
HAND_WRITTEN = sorted({*DOCS.rglob("*.md"), *ROOT.glob("*.md")} - GENERATED.keys())
PAGES = sorted({*HAND_WRITTEN, *(path for path in GENERATED if path.suffix == ".md")})


@cache
def text(page: Path) -> str:
    """Return the text of a page, generated if it is, with the files that it includes."""
    return str(GENERATED[page]() if page in GENERATED else generator.with_files(page.read_text("utf-8")))


def by_day(pages: list[Path]) -> list[Any]:
    """Return pages as cases of a test; that of messages, for which all of the code is read, at night."""
    return [
        pytest.param(page, marks=pytest.mark.nightly if page.name == "messages.md" else ()) for page in pages
    ]


@dataclass(frozen=True, slots=True)
class Command:
    """One line after a dollar sign, and what the page shows below it."""

    line: str
    output: str


def commands(page: str) -> list[Command]:
    """Return the commands of all console blocks, in order."""
    found = []
    for block in _BLOCK.findall(page):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, _, output = part.partition("\n")
            found.append(Command(line, output))
    return found


def queries(page: str) -> list[str]:
    """Return the SQL of a page: its blocks, and the queries of its commands."""
    return [*_SQL_BLOCK.findall(page), *_SQL_COMMAND.findall(page)]


def run(line: str) -> tuple[int, str]:
    """Run one sentgen command line in this process; return exit code and output, both streams as one."""
    result = CliRunner().invoke(build(), shlex.split(line)[1:])
    if isinstance(result.exception, SentgenError):
        picture = getattr(result.exception, "picture", "")
        return 1, f"{result.output}sentgen: {result.exception}\n{picture}\n"
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.output


def checkout(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Go to a folder as the first command of the README leaves it, with an inactive environment."""
    if not Path(sys.prefix, "bin", "activate").exists():
        pytest.skip("these tests run in no virtual environment")
    (folder / ".venv").symlink_to(sys.prefix)
    path = os.environ["PATH"].split(os.pathsep)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PATH", os.pathsep.join(one for one in path if not Path(one, "sentgen").exists()))
    monkeypatch.delenv("SENTGEN_DB", raising=False)
    # The folder for trained parsers.
    monkeypatch.setenv("XDG_DATA_HOME", str(folder / "data"))
    monkeypatch.setenv("NO_COLOR", "1")


def follow(
    page: str, monkeypatch: pytest.MonkeyPatch, run: Callable[[str], tuple[int, str]] = run
) -> Iterator[tuple[Command, int, str]]:
    """Run all commands of a page in one shell, from its first line on; yield exit codes and outputs."""
    for command in commands(page):
        if not command.line.startswith("sentgen "):
            yield command, *_in_shell(command.line, monkeypatch)
        elif shutil.which("sentgen"):
            yield command, *run(command.line)
        else:
            yield command, 127, "sentgen: command not found"


def _in_shell(line: str, monkeypatch: pytest.MonkeyPatch) -> tuple[int, str]:
    """Run a line in bash, and keep its working directory and variables for the next one."""
    script = f'{line}\ncode=$?; printf "\\0%s\\0" "$PWD"; env -0; exit $code'
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    output, folder, *variables = done.stdout.split("\0")
    monkeypatch.chdir(folder)
    for name, _, value in (one.partition("=") for one in variables if one):
        if name not in ("_", "SHLVL") and os.environ.get(name) != value:
            monkeypatch.setenv(name, value)
    return done.returncode, output + done.stderr


def plain(output: str) -> list[str]:
    """Return the lines of an output without the parts that may differ."""
    for pattern, name in _VOLATILE:
        output = pattern.sub(name, output)
    return [line.strip() for line in output.splitlines() if line.strip()]


def comparable(output: str) -> list[str]:
    """Return the lines of an output in an order that does not depend on the two streams."""
    return sorted(plain(output))


def shows(page: str, output: str) -> bool:
    """Return whether an output is that on the page, where ``...`` stands for lines left out."""
    shown, found = comparable(page), comparable(output)
    if "..." not in shown:
        return shown == found
    return set(shown) - {"..."} <= set(found)
