"""The commands of a page, with the output that it shows, and running them."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

from typer.testing import CliRunner

from sentgen.cli import build
from sentgen.errors import SentgenError

_SQL_BLOCK = re.compile(r"^```sql\n(.*?)^```", re.DOTALL | re.MULTILINE)
_SQL_COMMAND = re.compile(r'^(?:\$ )?sentgen sql "(.*?)"', re.MULTILINE)
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
#: What differs from run to run or from machine to machine.
_VOLATILE = (
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"), "TIME"),
    (re.compile(r"^(seconds|tokens/s) .*", re.MULTILINE), r"\1 N"),
    (re.compile(r"[\d.]+ ms\b"), "N ms"),
    (re.compile(r"^(run \d+: seed \d+), [\d.]+ s", re.MULTILINE), r"\1, N s"),
    (re.compile(r"\|version:[\d.]+"), "|version:N"),
    (re.compile(r"bytes: [\d,]+ before, [\d,]+ after"), "bytes: N"),
    (re.compile(r"^\d+ checks", re.MULTILINE), "N checks"),
    (re.compile(r"^/\S+/", re.MULTILINE), "FOLDER/"),
    (re.compile(r" +"), " "),
)


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
    """Return the SQL of a page: its blocks, and what its commands ask."""
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


def comparable(output: str) -> list[str]:
    """Return the lines of an output without what may differ, and without the order of the two streams."""
    for pattern, name in _VOLATILE:
        output = pattern.sub(name, output)
    return sorted(line.strip() for line in output.splitlines() if line.strip())


def shows(page: str, output: str) -> bool:
    """Whether an output is what the page shows, where ``...`` stands for lines left out."""
    shown, found = comparable(page), comparable(output)
    if "..." not in shown:
        return shown == found
    return set(shown) - {"..."} <= set(found)
