"""The output options that every command shares."""

from __future__ import annotations

import json
import math
import stat
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Annotated

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner

from sentgen.cli.console.options import with_options
from sentgen.cli.console.output import Output, printable
from sentgen.errors import InputError
from sentgen.output.tabular import Rows

COLUMNS = ["form", "count", "share"]
ROWS: list[tuple[object, ...]] = [
    ("the", 12, 0.25),
    ("[bold]\x1b[31mred", 3, math.nan),
    ("日本", None, math.inf),
]


def app() -> typer.Typer:
    """A command line with one command that prints its argument."""
    made = typer.Typer()

    def show(word: Annotated[str, typer.Argument()], *, times: int = 1, out: Output) -> None:
        """Show a word."""
        out.rows(["word", "times"], [(word, times)])

    made.command("show")(with_options(show))

    return made


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], "word  times\nthe       2\n"),
        (["--csv"], "word,times\nthe,2\n"),
        (["--tsv"], "word\ttimes\nthe\t2\n"),
        (["--json"], '[{"word": "the", "times": 2}]\n'),
        (["--jsonl"], '{"word": "the", "times": 2}\n'),
    ],
)
def test_command_takes_every_format(options: list[str], expected: str) -> None:
    result = CliRunner().invoke(app(), ["the", "--times", "2", *options])

    assert result.stdout == expected
    assert result.exit_code == 0


def test_formats_exclude_each_other() -> None:
    result = CliRunner().invoke(app(), ["the", "--csv", "--json"])

    assert result.exit_code == 2
    assert "--csv and --json exclude each other" in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize("name", ["-", "."])
def test_parquet_needs_a_file(name: str) -> None:
    with pytest.raises(typer.BadParameter, match="needs the name of a file"):
        Output(parquet=Path(name))


def test_help_lists_the_options() -> None:
    text = CliRunner().invoke(app(), ["--help"]).stdout

    assert all(f"--{name}" in text for name in ("csv", "tsv", "json", "jsonl", "parquet", "times"))


def test_json_numbers_stay_numbers_and_what_is_none_becomes_null(capsys: pytest.CaptureFixture[str]) -> None:
    Output(json=True).rows(COLUMNS, ROWS)

    items = json.loads(capsys.readouterr().out)
    assert items[0] == {"form": "the", "count": 12, "share": 0.25}
    assert items[1] == {"form": "[bold]\x1b[31mred", "count": 3, "share": None}
    assert items[2]["share"] is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Decimal(10) ** 20, 10**20),
        (Decimal("0.5"), 0.5),
        (Decimal("nan"), None),
        (True, True),
        ([1, math.nan], [1, None]),
        ({"a": b"\xff"}, {"a": "ff"}),
        (datetime(2026, 1, 2, 3, 4), "2026-01-02T03:04:00"),
        (pa.scalar(1), "1"),
    ],
)
def test_every_value_has_a_json_form(
    value: object, expected: object, capsys: pytest.CaptureFixture[str]
) -> None:
    Output(jsonl=True).rows(["x"], [(value,)])

    assert json.loads(capsys.readouterr().out) == {"x": expected}


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ({"json": True}, "[]\n"),
        ({"jsonl": True}, ""),
        ({"csv": True}, "a,b\n"),
        ({"tsv": True}, "a\tb\n"),
        ({}, ""),
    ],
)
def test_no_rows(form: dict[str, bool], expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    Output(**form).rows(["a", "b"], [])

    assert capsys.readouterr().out == expected


def test_csv_quotes_and_leaves_the_text_alone(capsys: pytest.CaptureFixture[str]) -> None:
    Output(csv=True).rows(["a", "b", "c", "d"], [('x,"y"\n', None, math.nan, True), ("\x1b", [1], 0.1, 2)])

    assert capsys.readouterr().out == 'a,b,c,d\n"x,""y""\n",,,true\n\x1b,[1],0.1,2\n'


def test_rows_are_written_as_they_come(capsys: pytest.CaptureFixture[str]) -> None:
    """An interrupted query leaves the rows that came before."""

    def rows() -> object:
        yield (1,)
        raise InputError("broken")

    for form, expected in (({"jsonl": True}, '{"a": 1}\n'), ({"csv": True}, "a\n1\n")):
        with pytest.raises(InputError):
            Output(**form).rows(["a"], rows())  # type: ignore[arg-type]
        assert capsys.readouterr().out == expected


def test_piped_table_is_plain_and_aligned(capsys: pytest.CaptureFixture[str]) -> None:
    """Numbers right, wide characters count two cells, no markup is read, no escape gets through."""
    Output().rows(COLUMNS, ROWS)

    assert capsys.readouterr().out.splitlines() == [
        "form               count   share",
        "the                   12  0.2500",
        r"[bold]\x1b[31mred      3",
        "日本",
    ]


def test_floats_of_a_column_share_their_decimals(capsys: pytest.CaptureFixture[str]) -> None:
    Output().rows(["x"], [(12.5,), (0.0,), (1e-9,), (-3.14159,)])

    assert capsys.readouterr().out.splitlines() == ["      x", "  12.50", "   0.00", "1.0e-09", "  -3.14"]


def test_center_and_date(capsys: pytest.CaptureFixture[str]) -> None:
    Output().rows(["wide", "at"], [("a", datetime(2026, 1, 2, 3, 4, 5, 6))], align={"wide": "center"})

    assert capsys.readouterr().out == "wide  at\n a    2026-01-02 03:04:05\n"


@pytest.mark.parametrize("width", [40, 80])
def test_table_fits_the_terminal(
    width: int, terminal: Callable[[int], None], capsys: pytest.CaptureFixture[str]
) -> None:
    """Long text is folded, numbers never are."""
    terminal(width)
    Output().rows(["text", "count"], [("word " * 30, 1234567)])

    out = capsys.readouterr().out
    plain = [line for line in Console().render_str(out).plain.splitlines() if line]
    assert "1234567" in out
    assert max(len(line.replace("\x1b[0m", "").replace("\x1b[1m", "")) for line in plain) <= width


def test_no_color_is_respected(
    terminal: Callable[[int], None], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal(80)
    for expected in (True, False):
        Output().rows(["text"], [("word",)], styles={"text": "red"})
        assert ("\x1b[31m" in capsys.readouterr().out) is expected
        monkeypatch.setenv("NO_COLOR", "1")


def test_terminal_reads_no_markup_and_no_escapes(
    terminal: Callable[[int], None], capsys: pytest.CaptureFixture[str]
) -> None:
    terminal(80)
    Output().rows(["[red]x"], [("[bold]a\x1b]0;title\x07 :smile:",)])

    out = capsys.readouterr().out
    assert r"[bold]a\x1b]0;title\x07 :smile:" in out
    assert "[red]x" in out


@pytest.mark.parametrize(
    "character", ["\x00", "\n", "\x1b", "\x7f", "\x9b", "\u202e", "\u2066", "\u2028", "\ud800"]
)
def test_printable_shows_what_steers_a_terminal(character: str) -> None:
    shown = printable(f"a{character}b")

    assert shown.isascii()
    assert shown.isprintable()
    assert "\\" in shown


def test_printable_keeps_the_scripts_of_the_world() -> None:
    text = "naïve 日本語 کتاب‌ها 👩‍👩‍👧"

    assert printable(text) == text


def test_columns_of_one_name_are_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    Output(jsonl=True).rows(["a", "a", "a_2"], [(1, 2, 3)])

    assert json.loads(capsys.readouterr().out) == {"a": 1, "a_2": 2, "a_2_2": 3}


def test_arrow_says_when_there_is_more(capsys: pytest.CaptureFixture[str]) -> None:
    Output(csv=True).table(Rows.from_arrow(pa.table({"a": [1, 2]})), truncated=True)

    captured = capsys.readouterr()
    assert captured.out == "a\n1\n2\n"
    assert captured.err == "first 2 rows; there are more (--limit 0 for all)\n"


def test_parquet_keeps_types(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.parquet"
    table = pa.table({"a": pa.array([1, None], pa.int16()), "b": ["x", "\x1b"]})
    Output(parquet=path).table(Rows.from_arrow(table))

    assert pq.read_table(path).equals(table)
    assert "2 rows" in capsys.readouterr().err
    assert stat.S_IMODE(path.stat().st_mode) & 0o400


def test_parquet_of_rows(tmp_path: Path) -> None:
    """A column of mixed types becomes text, one without rows stays."""
    path = tmp_path / "x.parquet"
    Output(parquet=path).rows(["a", "b"], [(1, "x"), (None, 2)])
    assert pq.read_table(path).to_pydict() == {"a": [1, None], "b": ["x", "2"]}
    Output(parquet=path).rows(["a"], [])
    assert pq.read_table(path).column_names == ["a"]


_ONE = Rows.from_arrow(pa.table({"a": [1]}))


def test_failed_parquet_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.parquet"
    path.write_bytes(b"old")

    def fail(table: object, sink: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pq.ParquetWriter, "write_table", fail)
    with pytest.raises(InputError, match="No space left"):
        Output(parquet=path).table(_ONE)

    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_parquet_without_a_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        Output(parquet=tmp_path / "none" / "x.parquet").table(_ONE)


@pytest.mark.parametrize("sizes", [[], [0], [0, 2], [2, 0, 3], [0, 0]])
def test_no_row_group_is_empty(sizes: list[int], tmp_path: Path) -> None:
    """Readers look for values in the first one; a table without rows has none, and its columns."""
    none = _ONE.slice(0, 0)
    parts = [Rows(["a"], [(1,)] * size, ["BIGINT"]) if size else none for size in sizes]
    Output(parquet=tmp_path / "x.parquet").parts(iter(parts or [none]))

    written = pq.ParquetFile(tmp_path / "x.parquet")
    groups = [written.metadata.row_group(number).num_rows for number in range(written.num_row_groups)]
    assert groups == [size for size in sizes if size]
    assert written.schema_arrow.names == ["a"]


def test_latex_is_text_for_booktabs() -> None:
    """Numbers to the right and rounded, nothing in a cell is a command; a table without rows has its head."""
    out = Output(latex=True)
    with CliRunner().isolation() as (stdout, _, _):
        out.rows(["form", "n_1"], [("50% of $x_1$ & \\dog{}\x1b", 0.123456), ("b", None)])
        out.rows(["form"], [])
        written = stdout.getvalue().decode()

    assert written == (
        "\\begin{tabular}{lr}\n\\toprule\nform & n\\_1 \\\\\n\\midrule\n"
        "50\\% of \\$x\\_1\\$ \\& \\textbackslash{}dog\\{\\}\\textbackslash{}x1b & 0.1235 \\\\\nb &  \\\\\n"
        "\\bottomrule\n\\end{tabular}\n"
        "\\begin{tabular}{l}\n\\toprule\nform \\\\\n\\midrule\n\\bottomrule\n\\end{tabular}\n"
    )
