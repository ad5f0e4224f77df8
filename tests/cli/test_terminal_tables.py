"""In a terminal no cell is cut and no column silently gone, whatever the command and the width."""

from __future__ import annotations

import fcntl
import io
import json
import os
import pty
import re
import shlex
import shutil
import struct
import subprocess
import termios
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from conftest import command
from rich.cells import cell_len
from rich.console import Console
from test_reading_commands import READERS, WRITERS, named

from sentgen.cli import build
from sentgen.cli.commands import HELP
from sentgen.cli.console import output
from sentgen.cli.console.line_table import show_lines
from sentgen.cli.console.output import Output
from sentgen.cli.console.terminal_table import TableColumn, _widths_of, print_table
from sentgen.output.tabular import Rows
from sentgen.server import running, tools

WIDTHS = (40, 60, 80)
#: Tables besides those of each reading command with its shortest command line.
MORE = (
    "formats",
    "algorithms",
    "aligners",
    "check {folder}/clusters.conllu --against {folder}/clusters.conllu --all",
    "corpora show pets --rejected",
    "freq --query '\"dog\"' --by match.doc_genre",
    "kwic dog --show meta.topic,length",
    "kwic '[] [] [] []' --show length",
    "pairs list pairs",
    "pairs list --statistics",
    "schema v_corpora",
    "score --model kn 'the dog' --totals",
    "regenerate --model kn -a lmo 'dog the chased' --explain",
    "regenerate --model kn 'dog the chased' --explain --tree",
    "generate --corpus clusters --lengths 5 --trace",
    "sql 'select * from v_sentences'",
    "sql 'select * from v_tokens'",
    "align text --document {folder}/notes.txt --abstract {folder}/notes.txt --explain",
)
#: Evaluations print tables, and keep what they found.
EVALUATIONS = tuple(line.replace("/pets.", "/clusters.") for line in WRITERS if line.startswith("evaluate"))
#: Lines whose `--json` is another table, or refused for two.
WITHOUT_JSON = ("args", "regenerate --model kn 'dog the chased' --explain --tree")
#: Commands whose lines are cut to the width before they are a table.
CUT_BEFORE = ("kwic", "match", "saved run")


def has_json(line: str) -> bool:
    """Return whether a command line can print its rows as JSON."""
    options = json.loads(HELP.read_text("utf-8"))[named(line)]["options"]
    return any(option["name"] == "json" for option in options) and not line.startswith(WITHOUT_JSON)


Printed = tuple[Sequence[TableColumn], Sequence[str]]


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch) -> list[Printed]:
    """The tables that were printed, each with the columns that are essential."""
    tables: list[Printed] = []

    def kept(
        columns: Sequence[TableColumn], essential: Sequence[str], console: Console, styles: Sequence[str]
    ) -> list[str]:
        tables.append((columns, essential))
        return print_table(columns, essential, console, styles)

    monkeypatch.setattr(output, "print_table", kept)
    return tables


def look_at(columns: Sequence[TableColumn], essential: Sequence[str], width: int) -> None:
    """Check a table in a terminal of a width, as it is printed."""
    console = Console(file=io.StringIO(), width=width)
    left_out = print_table(columns, essential, console)
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()
    places = _widths_of(columns, essential, width)
    if not places:
        assert left_out == []
        assert letters("".join(lines)) == letters(
            "".join(
                f"{column.name}:{cell}"
                for row in zip(*(c.cells for c in columns), strict=True)
                for column, cell in zip(columns, row, strict=True)
            )
        )
        return
    assert {*left_out} == {column.name for column in columns} - {columns[place].name for place in places}
    assert 0 in places
    assert all(cell_len(line) <= width for line in lines)
    rule = next(number for number, line in enumerate(lines) if line.startswith("─"))
    start = 0
    for place, size in places.items():
        column, shown = columns[place], [cut(line, start, size) for line in lines]
        start += size + 2
        assert letters("".join(shown[:rule])) == letters(column.name)
        assert letters("".join(shown[rule + 1 :])) == letters("".join(column.cells))
        # A number stands on one line, and a text on lines that can be read.
        assert size >= (column.widest if column.number else min(column.widest, 12))


def cut(line: str, start: int, size: int) -> str:
    """Return what stands in some cells of a line."""
    ends, found = 0, ""
    for character in line:
        # An accent goes with the letter before it.
        if start <= ends < start + size or (start < ends == start + size and not cell_len(character)):
            found += character
        ends += cell_len(character)
    return found


def letters(text: str) -> str:
    """Return a text without blanks, which change where it wraps, and isolates, of which each line has its own."""
    return "".join(character for character in text if not character.isspace() and character not in "⁦⁧⁩")


def run(line: str, store: Path, **places: object) -> None:
    """Run a command line."""
    without = line.split()[0] in ("formats", "algorithms", "aligners", "check")
    words = shlex.split(line.format(**places))
    build()([*words, *([] if without else ["--db", str(store)])], standalone_mode=False)


@pytest.mark.nightly(by_day=16)
@pytest.mark.parametrize("line", [*READERS, *MORE])
def test_each_cell_of_each_table_is_whole(
    full: Path,
    tmp_path: Path,
    printed: list[Printed],
    terminal: Callable[[int], None],
    monkeypatch: pytest.MonkeyPatch,
    line: str,
) -> None:
    """What a command prints at 80 columns, and what the same table is at 40 and 60."""
    monkeypatch.setattr(running, "serve", lambda *_, **__: None)
    monkeypatch.setattr(tools, "speak", lambda *_, **__: None)
    cut_before = line.startswith(CUT_BEFORE)
    for width in WIDTHS if cut_before else (80,):
        printed.clear()
        terminal(width)
        run(line, full, folder=full.parent, to=tmp_path)
        for columns, essential in printed:
            for at in (width,) if cut_before else WIDTHS:
                look_at(columns, essential, at)


@pytest.mark.nightly(by_day=6)
@pytest.mark.parametrize(
    "line",
    [
        # Which checks a whole store, twice.
        pytest.param(line, marks=pytest.mark.nightly if line == "db check" else ())
        for line in (*READERS, *MORE)
        if has_json(line)
    ],
)
def test_each_number_is_that_of_json(
    full: Path,
    tmp_path: Path,
    printed: list[Printed],
    terminal: Callable[[int], None],
    capsys: pytest.CaptureFixture[str],
    line: str,
) -> None:
    """What stands in a terminal of 60 columns are the whole numbers of `--json`, or their columns are named.

    Of more tables than one, `--json` is one. A table for reading that has only the first rows says so.
    """
    command, behind, more = line.partition(" -- ")
    run(f"{command} --json{behind}{more}", full, folder=full.parent, to=tmp_path)
    rows = json.loads(capsys.readouterr().out)
    terminal(60)
    run(line, full, folder=full.parent, to=tmp_path)
    cut = "--limit 0 for all" in capsys.readouterr().err
    # Parts of one table have the same columns.
    tables: dict[tuple[str, ...], dict[str, list[str]]] = {}
    for columns, _ in printed:
        table = tables.setdefault(tuple(column.name for column in columns), {})
        for column in columns:
            table.setdefault(column.name, []).extend(column.cells)

    for name in {name for row in rows for name in row}:
        whole = [str(row[name]) if type(row.get(name)) is int else "" for row in rows]
        shown = [table[name] for table in tables.values() if name in table]
        assert not any(whole) or not shown or any(_are_numbers(cells, whole, cut) for cells in shown), name


def _are_numbers(cells: Sequence[str], whole: Sequence[str], cut: bool) -> bool:
    """Return whether the numbers in cells are those of rows, or of the first ones."""
    size = len(cells) if cut else len(whole)
    return [cell for cell in cells if cell.isdigit()] == [number for number in whole[:size] if number]


@pytest.mark.parametrize("line", EVALUATIONS)
def test_so_are_those_of_evaluations(
    full: Path,
    tmp_path: Path,
    tiny_model: Path,
    printed: list[Printed],
    terminal: Callable[[int], None],
    line: str,
) -> None:
    """They write, and so each has a store of its own."""
    store = Path(shutil.copy(full, tmp_path / "store.duckdb"))
    (tmp_path / "gold").write_text("the dog ||| a dog ||| 1-1\n")
    terminal(80)

    run(line, store, folder=full.parent, to=tmp_path, model=tiny_model)

    assert printed
    for columns, essential in printed:
        for width in WIDTHS:
            look_at(columns, essential, width)


def table(rows: Sequence[Sequence[object]], *names: str, **look: Any) -> None:
    """Print a table."""
    Output().rows(names, rows, **look)


def test_what_does_not_fit_is_named(
    terminal: Callable[[int], None], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last columns go first, and what matters less does not take the place of what matters more."""
    monkeypatch.setenv("NO_COLOR", "1")
    terminal(22)
    rows = [("the", 123456, 123456789, 1)]
    table(rows, "word", "count", "frequency", "n")
    Output(wide=True).rows(("word", "count", "frequency", "n"), rows)

    told = capsys.readouterr()
    fitted, wide = told.out.splitlines()[2::3][0], told.out.splitlines()[-1]
    assert fitted.split() == ["the", "123456"]
    assert wide.split() == ["the", "123456", "123456789", "1"]
    assert told.err == "2 columns more: frequency, n (--wide shows all)\n"


def test_what_is_essential_stays(terminal: Callable[[int], None], capsys: pytest.CaptureFixture[str]) -> None:
    terminal(24)
    table([("the", 123456, 123456789, 1)], "word", "count", "frequency", "n", essential=["n", "frequency"])

    told = capsys.readouterr()
    assert "123456789  1" in told.out
    assert told.err == "1 column more: count (--wide shows all)\n"


def test_a_row_is_a_record_where_what_is_essential_does_not_fit(
    terminal: Callable[[int], None], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    terminal(12)
    table([("the", 123456789), ("a", 1)], "word", "count")

    told = capsys.readouterr()
    lines = [line.rstrip() for line in re.sub(r"\x1b\[[0-9;]*m", "", told.out).splitlines()]
    assert lines == ["word:   the", "count:  123456789", "", "word:   a", "count:  1"]
    assert told.err == ""


@pytest.mark.parametrize(
    "word",
    ["日本語の長い言葉" * 4, "e\u0301" * 40, "🙂" * 30, "وقال " * 12, "a" * 50, "some words " * 8],
    ids=["Chinese", "combining", "emoji", "right to left", "long", "words"],
)
def test_widths_are_those_of_cells(word: str) -> None:
    """A letter may be two cells wide, or none; also a head."""
    text = TableColumn(word[:20], [word, "x"], "left", number=False)
    number = TableColumn("count", ["123,456", "7"], "right", number=True)

    for width in range(20, 110, 7):
        look_at([number, text], ["count", text.name], width)


def test_a_short_head_is_not_broken() -> None:
    """Rather, a column that matters less is left out."""
    names, cells = ("name", "min_count", "log_likelihood", "unknown"), ("relief", "1,1,1", "1.5", "word")
    columns = [
        TableColumn(name, [cell], "right", number=True) for name, cell in zip(names, cells, strict=True)
    ]

    assert _widths_of(columns, ["name"], 30) == {0: 6, 1: 9, 2: 10}
    look_at(columns, ["name"], 30)


def test_a_pipe_gets_all(capsys: pytest.CaptureFixture[str]) -> None:
    table([["x" * 100] * 5], *"abcde")

    told = capsys.readouterr()
    assert told.out.splitlines()[1].split() == ["x" * 100] * 5
    assert told.err == ""


LONG = "Ein ausgesprochen langer Name eines Verlages"
LINES = [
    ("wsj", f"document-{n}", "s1", LONG, 123456789, "left " * 9, "日本語", "right " * 9) for n in range(2)
]


@pytest.mark.parametrize("width", WIDTHS)
def test_lines_of_words_are_not_wrapped(
    terminal: Callable[[int], None],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    width: int,
) -> None:
    """Words have room first: places go, metadata are cut, or a line is a record; numbers stay whole."""
    monkeypatch.setenv("NO_COLOR", "1")
    terminal(width)
    names = ["corpus", "document", "sent_id", "publisher", "n", "left", "node", "right"]
    show_lines(Rows(names, LINES), Output())

    told = capsys.readouterr()
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in told.out.splitlines()]
    assert all(cell_len(line) <= width for line in lines)
    assert told.out.count("123456789") == 2
    if width == 40:
        assert told.out.count("right:") == 2
    else:
        assert len(lines) == 4
        assert re.search(r"columns? more: (document, )?sent_id \(--wide", told.err)


def test_it_is_so_in_a_terminal(full: Path) -> None:
    """A pseudo-terminal of 80 columns and 24 lines, in which a user types."""
    here, there = pty.openpty()
    fcntl.ioctl(there, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    done = subprocess.run(
        command("corpora", "list", "--db", full),
        stdin=there,
        stdout=there,
        stderr=subprocess.PIPE,
        env={**environment, "NO_COLOR": "1"},
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    # While both ends are open: what was written is gone with the other one.
    shown = os.read(here, 2**16).decode()
    os.close(there)
    os.close(here)

    assert all(word in shown for word in ("corpus", "clusters", "tokens", "rejected"))
    assert "columns more: segments" in done.stderr


@pytest.mark.parametrize("colors", [True, False])
def test_rows_have_the_color_of_what_they_belong_to(colors: bool) -> None:
    """Where the terminal has colors, and nobody has asked for none."""
    words = ("camp", "both", "truck")
    column = TableColumn("word", words, "left", number=False)
    console = Console(
        file=io.StringIO(), width=80, force_terminal=True, color_system="standard", no_color=not colors
    )
    print_table([column], (), console, ("cyan", "", "magenta"))
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()[-len(words) :]

    assert ["\x1b[36m" in line for line in lines] == [colors, False, False]
    assert ["\x1b[35m" in line for line in lines] == [False, False, colors]
