"""The commands for counts and concordances, as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from ten_sentences import fill
from typer.testing import CliRunner, Result

from sentgen.cli import build
from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import NotFoundError, SentgenError
from sentgen.output.text_table import cut_end, cut_front
from sentgen.schema import Store

COMMANDS = {
    "ngrams": ["the dow *"],
    "deps": ["fell"],
    "args": ["fell"],
    "kwic": ["the dow"],
    "freq": [],
    "collocations": ["fell"],
}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store small enough to be counted by hand."""
    return fill(tmp_path_factory.mktemp("inspect") / "toy.duckdb")


def invoke(path: Path, *arguments: str) -> Result:
    return CliRunner().invoke(build(), [*arguments, "--db", str(path)])


@pytest.mark.nightly(by_day=2)
@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_takes_every_format(name: str, path: Path, tmp_path: Path) -> None:
    call = [name, *COMMANDS[name]]
    file = tmp_path / "x.parquet"
    items = json.loads(invoke(path, *call, "--json").stdout)
    lines = invoke(path, *call, "--jsonl").stdout.splitlines()
    header, *data = invoke(path, *call, "--csv").stdout.splitlines()
    assert invoke(path, *call, "--parquet", str(file)).stdout == ""

    assert [json.loads(line) for line in lines] == items == pq.read_table(file).to_pylist()
    assert header.split(",") == list(items[0])
    assert len(data) == len(items) > 0
    assert invoke(path, *call, "--tsv").stdout.startswith("\t".join(items[0]))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_shows_its_sql(name: str, path: Path) -> None:
    result = invoke(path, name, *COMMANDS[name], "--show-sql", "--json")

    assert "select" in result.stderr
    assert "$" not in result.stderr
    assert json.loads(result.stdout)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(name: str, path: Path) -> None:
    text = invoke(path, name, "--help").stdout

    assert f"sentgen {name}" in text


@pytest.mark.parametrize("name", COMMANDS)
def test_unknown_corpus(name: str, path: Path) -> None:
    result = invoke(path, name, *COMMANDS[name], "--corpus", "nope")

    assert isinstance(result.exception, NotFoundError)
    assert "other, toy" in str(result.exception)


@pytest.mark.nightly(by_day=3)
@pytest.mark.parametrize(
    ("call", "note"),
    [
        (["ngrams", "zebra", "--min-count", "2"], "no n-gram 'zebra' that occurs at least 2 times"),
        (["deps", "zebra"], "no dependencies of head 'zebra'"),
        (["deps", "fell", "--layer", "unit"], "in layer unit"),
        (["args", "fell", "--tag", "NN"], "no head 'fell' with tag 'NN'"),
        (["kwic", "zebra"], "no occurrence of 'zebra'"),
        (["freq", "--pattern", "zebra"], "no word 'zebra'"),
        (["collocations", "zebra"], "no collocate of 'zebra'"),
    ],
)
def test_no_is_an_answer(call: list[str], note: str, path: Path) -> None:
    """Nothing found: a note, an empty table, exit code 1."""
    for option, expected in ((["--json"], "[]\n"), ([], "")):
        result = invoke(path, *call, *option)
        assert note in result.stderr
        assert result.exit_code == 1
        assert result.stdout == expected


def test_all_lines_of_nothing_say_why(path: Path) -> None:
    """Without a limit, too, where lines are written part by part."""
    result = invoke(path, "kwic", "upos:noun", "--limit", "0")

    assert result.exit_code == 1
    assert result.stderr == "no occurrence of 'upos:noun'; did you mean upos:NOUN?\n"


@pytest.mark.parametrize("query", ["upos:noun", '[upos="noun"]', "zebra"])
def test_a_count_of_nothing_says_why(query: str, path: Path) -> None:
    """What the lines say; the number is an answer, so that the exit code is 0."""
    lines, counted = invoke(path, "kwic", query), invoke(path, "kwic", query, "--count", "--json")

    assert (counted.exit_code, counted.stdout) == (0, '[{"hits": 0}]\n')
    assert counted.stderr == lines.stderr != ""
    assert invoke(path, "kwic", "fell", "--count").stderr == ""


def test_an_unknown_attribute_is_an_error(path: Path) -> None:
    """An unknown attribute is an error, unlike a word that does not occur."""
    error = invoke(path, "kwic", "foo:bar").exception

    assert isinstance(error, SentgenError)
    assert "word, lemma, upos, xpos, deprel" in str(error)


def test_missing_store(tmp_path: Path) -> None:
    assert isinstance(invoke(tmp_path / "none.duckdb", "freq").exception, SentgenError)


def test_concordance_is_aligned_on_the_node(path: Path) -> None:
    result = invoke(path, "kwic", "fell", "--corpus", "toy")

    assert result.stdout.splitlines() == [
        "document  sent_id             left  node  right",
        "d1        s1         the dow jones  fell  .",
        "d1        s3               the dow  fell  sharply .",
        "d1        s4                prices  fell  .",
        "d2        s7       he said the dow  fell  .",
    ]
    assert result.stderr == "corpus toy\n"


def test_quotes_are_printed_where_people_read(tmp_path: Path) -> None:
    """Tables for reading have the quotes of a book, other formats the forms of the Penn Treebank."""
    path = tmp_path / "quotes.duckdb"
    (tmp_path / "quotes.txt").write_text("`` Yes , '' he said .\n", "utf-8")
    with Store(path, create=True) as store:
        ingest(store, [str(tmp_path / "quotes.txt")], Settings("quotes", format="lines"))

    assert "“ Yes , ”  he    said ." in invoke(path, "kwic", "he").stdout
    assert json.loads(invoke(path, "kwic", "he", "--json").stdout)[0]["left"] == "`` Yes , ''"
    assert "``" in invoke(path, "freq").stdout


def test_metadata_stand_before_the_words(tmp_path: Path) -> None:
    """What has none is empty; the end of a long value is cut, and none of it in CSV."""
    texts = ({"text": "a dog barks", "genre": "a letter to the editor, unsigned"}, {"text": "the dog sleeps"})
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(text) + "\n" for text in texts))
    with Store(tmp_path / "t.duckdb", create=True) as store:
        ingest(store, [str(tmp_path / "t.jsonl")], Settings("t"))

    call = ("kwic", "dog", "--show", "genre", "--sort", "-genre")
    header, *lines = invoke(tmp_path / "t.duckdb", *call).stdout.splitlines()
    rows = invoke(tmp_path / "t.duckdb", *call, "--csv").stdout.splitlines()

    assert header.split()[-4:] == ["genre", "left", "node", "right"]
    assert "  a letter to the editor,…  " in lines[0]
    assert lines[1].split()[-3:] == ["the", "dog", "sleeps"]
    assert rows[1].endswith(',"a letter to the editor, unsigned",a,dog,barks')
    assert rows[2].endswith(",,the,dog,sleeps")


def test_concordance_is_cut(path: Path) -> None:
    """8 cells on each side, the ellipsis included."""
    left, right = "…the dow", "sharply…"
    lines = invoke(path, "kwic", "fell", "--width", "8").stdout.splitlines()

    assert f"{left}  fell" in lines[4]
    assert f"fell  {right}" in lines[2]
    items = json.loads(invoke(path, "kwic", "fell", "--width", "8", "--json").stdout)
    assert items[3]["left"] == left
    assert "he said the dow" in invoke(path, "kwic", "fell", "--json").stdout


def test_concordance_says_how_many(path: Path) -> None:
    assert "3 of 8 lines" in invoke(path, "kwic", ".", "-n", "3").stderr


def test_deps_reverse(path: Path) -> None:
    items = json.loads(invoke(path, "deps", "dow", "--reverse", "--tag", "NNP", "--json").stdout)

    assert [(item["head"], item["count"]) for item in items] == [("fell", 2), ("jones", 2)]


def test_deps_leaves_out_empty_columns_for_reading(path: Path) -> None:
    header = invoke(path, "deps", "VBD", "--level", "tag-tag").stdout.splitlines()[0]

    assert header.split() == ["head_tag", "modifier_tag", "direction", "distance", "count"]


def test_args_has_bars_for_reading_only(path: Path) -> None:
    """Half of 24 cells for the half that takes one modifier on the right."""
    call = ["args", "fell"]

    assert "█" * 12 + "\n" in invoke(path, *call).stdout
    assert "histogram" not in invoke(path, *call, "--csv").stdout
    assert invoke(path, *call, "-n", "2").stdout == "".join(
        f"{line}\n" for line in invoke(path, *call).stdout.splitlines()[:3]
    )


def test_corpus_without_the_order_is_named(path: Path) -> None:
    assert "left out: other" in invoke(path, "ngrams", "the dow *").stderr


@pytest.mark.parametrize("window", ["x", "0"])
def test_window_is_checked(window: str, path: Path) -> None:
    assert invoke(path, "collocations", "fell", "--window", window).exit_code == 2


def test_wide_characters_are_cut_by_cells() -> None:
    assert cut_front("日本語", 5) == "…本語"
    assert cut_front("日本語", 4) == "…語"
    assert cut_end("日本語", 4) == "日…"
    assert cut_end("ab", 2) == cut_front("ab", 2) == "ab"
