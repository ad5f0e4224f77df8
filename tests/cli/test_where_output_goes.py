"""What a command prints is the same in a terminal, a pipe and a file."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import shlex
import shutil
import sys
import termios
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from functools import cache
from pathlib import Path
from typing import Any

import full_store
import pyarrow.parquet as pq
import pytest
import toy_pairs
from test_reading_commands import READERS, commands, named
from typer.main import get_command

from sentgen.cli import build
from sentgen.cli.console.output import Output
from sentgen.demo import TREEBANK

#: Commands with a table that are not among those that read a store; ``{folder}`` is as there.
OTHERS = (
    "formats",
    "algorithms",
    "aligners",
    "check {folder}/clusters.conllu --against {folder}/clusters.conllu",
    "lines report dogs --desk {folder}/pets.desk",
    "cluster status {lake}",
    "db repair",
    "tune {treebank} --model kn --rounds 1 --sentences 8 --candidates 2",
    "evaluate regeneration --model kn --test {folder}/clusters.conllu -a lmo",
    "evaluate generation --clusters {folder}/clusters.conllu --parser udpipe:{model} --lengths 5",
    "evaluate judgments {folder}/sheet.tsv",
    "evaluate alignment --gold {folder}/gold.txt --format pharaoh --systems lcs",
    "evaluate extraction --pairs pairs --of held --model aligner --size 1",
)
#: Those that go to standard output.
FORMATS = ("--csv", "--tsv", "--json", "--jsonl")
#: Figures of this run: what was used, and when; milliseconds, which stand at the end of a row, too.
_OF_THE_RUN = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d[\d:.+]*|\bseconds\b.*|[0-9a-f]{8,}|\b\d+\.\d{3,}\b(?= s)"
    r"|\b[\d.]+ ms\b|-ms\b.*|(?<=  )\d+\.\d\d(?=\n)"
)


@cache
def program() -> Any:
    """All commands."""
    return get_command(build())


@cache
def options(name: str) -> set[str]:
    """Return the names of the options of a command."""
    command = program()
    for word in name.split():
        command = command.load(word)
    return {str(one.name) for one in command.params}


@cache
def with_a_table() -> set[str]:
    """Return the commands that print a table."""
    return {name for name in commands() if options(name) >= {*Output.LAST}}


LINES = tuple(
    line
    for line in (*READERS, *OTHERS)
    if named(line.format(folder="", lake="", model="", to="", treebank="")) in with_a_table()
)


@contextmanager
def _terminal() -> Iterator[tuple[int, Callable[[], str]]]:
    reader, writer = pty.openpty()
    modes = termios.tcgetattr(writer)
    modes[1] &= ~termios.OPOST  # lines end as they are written
    termios.tcsetattr(writer, termios.TCSANOW, modes)
    with _read(reader) as text:
        yield writer, text


@contextmanager
def _pipe() -> Iterator[tuple[int, Callable[[], str]]]:
    reader, writer = os.pipe()
    with _read(reader) as text:
        yield writer, text


@contextmanager
def _read(reader: int) -> Iterator[Callable[[], str]]:
    """Read until the other end is closed: a terminal and a pipe hold some thousand bytes only."""
    written = bytearray()

    def read() -> None:
        try:
            while some := os.read(reader, 2**16):
                written.extend(some)
        except OSError:  # as Linux says that a terminal was closed
            pass

    thread = threading.Thread(target=read)
    thread.start()

    def text() -> str:
        thread.join()
        return written.decode()

    yield text
    os.close(reader)


@contextmanager
def _file(path: Path) -> Iterator[tuple[int, Callable[[], str]]]:
    yield os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), lambda: path.read_text("utf-8")


def three_ways(path: Path, run: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Run something with its output in a terminal, a pipe and a file; return what it printed, figures of the run, too."""
    found = []
    for place in (_terminal(), _pipe(), _file(path)):
        with place as (descriptor, text):
            with open(descriptor, "w", encoding="utf-8", newline="\n") as out, monkeypatch.context() as patch:
                patch.setattr(sys, "stdout", out)
                assert out.isatty() == (not found)
                run()
            found.append(text())
    return found


def ran(*words: object) -> None:
    """Run a command; a no is an answer, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NO_COLOR", "1")
        with suppress(SystemExit):
            full_store.run(*words)


@pytest.fixture(scope="module")
def copy(full: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that experiments may write to."""
    return Path(shutil.copy(full, tmp_path_factory.mktemp("copied") / "store.duckdb"))


@pytest.fixture(scope="module")
def lake(copy: Path) -> Path:
    """A lake of it."""
    full_store.run("cluster", "export", "--to", copy.with_name("lake"), "--db", copy)
    return copy.with_name("lake")


def test_every_command_with_a_table_is_tried() -> None:
    """But what needs a large treebank, a plug-in, a parser, or two systems of recorded runs."""
    needy = {"reproduce", "scorers", "evaluate fusion", "evaluate compare", "parser train"}
    assert {named(line) for line in LINES} == with_a_table() - needy


@pytest.mark.nightly(by_day=12)
@pytest.mark.parametrize(
    "line",
    # Six times 240 checks take too long by day.
    [pytest.param(line, marks=pytest.mark.nightly if line == "db check" else ()) for line in LINES],
)
def test_the_rows_are_the_same(
    request: pytest.FixtureRequest,
    copy: Path,
    full: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    nightly: bool,
    line: str,
) -> None:
    """In every format that standard output gets, and of a table for reading with `--wide`."""
    lake = request.getfixturevalue("lake") if "{lake}" in line else None
    model = request.getfixturevalue("tiny_model") if "{model}" in line else None
    places = {"folder": full.parent, "to": tmp_path, "lake": lake, "model": model, "treebank": TREEBANK}
    words = shlex.split(line.format(**places))
    at = ["--db", copy] if "db" in options(named(line)) else []
    printed = {}
    for form in ("--wide", *(FORMATS if nightly else FORMATS[:1])):
        found = three_ways(tmp_path / "out", lambda form=form: ran(*words, form, *at), monkeypatch)
        assert len({_OF_THE_RUN.sub("", text) for text in found}) == 1, form
        printed[form] = found[-1]

    # A table for reading without rows is nothing, and so are lines of JSON without rows.
    table = printed.pop("--wide")
    (rows,) = {_rows_of(text, form) for form, text in printed.items()}
    assert rows >= 0
    assert table or not rows


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in which every question has more than 20 answers."""
    path = tmp_path_factory.mktemp("many") / "store.duckdb"
    pairs = [(f"p{number}", "a dog came .", "a dog .") for number in range(25)]
    toy_pairs.fill(path, pairs)
    full_store.run("ingest", TREEBANK, "--corpus", "relief", "--db", path)
    full_store.run("lines", "new", "some", "the", "--db", path)
    return path


@pytest.mark.nightly(by_day=3)
@pytest.mark.parametrize(
    "line",
    [
        "ngrams '* *'",
        "kwic the",
        "match 'pattern {{ X [] }}' --key X.lemma",
        "freq",
        "collocations the --min-count 1",
        "deps '*'",
        "pairs list toy",
        "lines list some",
    ],
)
def test_programs_have_all_rows_and_readers_some(many: Path, tmp_path: Path, line: str) -> None:
    """Unless `--limit` says how many, which holds for all."""
    words = [*shlex.split(line.format()), "--db", many]
    rows = {form: _rows([*words, form], tmp_path / "out") for form in (*FORMATS, "--parquet", "--xlsx")}
    (every,) = set(rows.values())

    assert every == _rows([*words, "--csv", "--limit", 0], tmp_path / "out") > 20
    assert {_rows([*words, form, "--limit", 20], tmp_path / "out") for form in ("--csv", "--parquet")} == {20}
    assert _lines_of([*words, "--wide"]) == _lines_of([*words, "--wide", "--limit", 20])


def _lines_of(words: list[object]) -> list[str]:
    printed = io.StringIO()
    with redirect_stdout(printed):
        full_store.run(*words)
    return printed.getvalue().splitlines()


def _rows(words: list[object], path: Path) -> int:
    """Return how many rows a command gives in the format that it is asked for, among its last words."""
    if "--parquet" in words or "--xlsx" in words:
        path.unlink(missing_ok=True)
        place = words.index("--parquet" if "--parquet" in words else "--xlsx") + 1
        full_store.run(*words[:place], path, *words[place:])
        if "--parquet" in words:
            return pq.read_metadata(path).num_rows
        with zipfile.ZipFile(path) as book:
            return book.read("xl/worksheets/sheet1.xml").count(b"<row ") - 1
    return _rows_of("\n".join(_lines_of(words)), next(form for form in FORMATS if form in words))


def _rows_of(text: str, form: str) -> int:
    """Return how many rows a text has; it begins with a head in CSV and TSV."""
    if form == "--json":
        return len(json.loads(text))
    if form == "--jsonl":
        return len([json.loads(line) for line in text.split("\n") if line])
    return len(list(csv.reader(io.StringIO(text), delimiter="\t" if form == "--tsv" else ","))) - 1


def test_a_limit_that_is_no_limit_of_rows_is_left_alone(full: Path, tmp_path: Path) -> None:
    """That of an experiment is the number of pairs, wherever its table goes."""
    line = ["evaluate", "alignment", "--gold", full.parent / "gold.txt", "--format", "pharaoh", "--json"]
    at = ["--systems", "lcs", "--db", shutil.copy(full, tmp_path / "store.duckdb")]
    one, both = json.loads("\n".join(_lines_of([*line, "--limit", 1, *at]))), None
    both = json.loads("\n".join(_lines_of([*line, *at])))

    assert one != both
