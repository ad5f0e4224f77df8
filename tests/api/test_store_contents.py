"""Contents of a store beside its counts: methods do what commands do, on the same data."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Iterator
from contextlib import redirect_stdout, suppress
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

import sentgen
from sentgen.api import contents
from sentgen.cli import build
from sentgen.demo import TREEBANK
from sentgen.errors import InputError, NotFoundError, QueryRejected, SentgenError, StoreError
from sentgen.lookups.questions import QUESTIONS
from sentgen.options import parameters_of

PAIRS = [
    {
        "id": "a",
        "document": "Heavy rain flooded the camp. Trucks came.",
        "abstract": "Rain flooded the camp.",
    },
    {"id": "b", "document": "The dog chased the cat. It ran.", "abstract": "A dog chased a cat."},
]


@pytest.fixture
def own(relief: Path, tmp_path: Path) -> Iterator[sentgen.Database]:
    """A database that a test changes."""
    with sentgen.open(shutil.copy(relief, tmp_path / "own.duckdb")) as found:
        yield found


def printed(path: Path, *words: str) -> list[dict[str, Any]]:
    """Return the rows that a command prints."""
    told = io.StringIO()
    with redirect_stdout(told), suppress(SystemExit):
        build()([*words, "--json", "--db", str(path)])
    rows: list[dict[str, Any]] = json.loads(told.getvalue())
    return rows


def rows(table: sentgen.Table) -> list[dict[str, Any]]:
    """Return the rows of an answer as JSON has them."""
    found = [dict(zip(table.columns, row, strict=True)) for row in table]
    plain: list[dict[str, Any]] = json.loads(
        json.dumps(
            found, default=lambda value: value.isoformat() if hasattr(value, "isoformat") else str(value)
        )
    )
    return plain


def test_subcorpora(own: sentgen.Database) -> None:
    """Subcorpora that Python defines can be used by commands, and removed."""
    assert own.define_subcorpus("short", "length < 15", corpus="relief") == 13
    listed, shown = own.subcorpora(), own.subcorpus("short")
    assert own.kwic("camp", corpus="short").total == 2
    with pytest.raises(InputError, match="there is a subcorpus 'short'"):
        own.define_subcorpus("short", "length < 9")
    own.close()

    assert rows(listed) == printed(own.path, "subcorpora", "list")
    assert rows(shown) == printed(own.path, "subcorpora", "show", "short")
    with sentgen.open(own.path) as again:
        again.remove_subcorpus("short")
        assert len(again.subcorpora()) == 0
        with pytest.raises(NotFoundError, match="no subcorpus 'short'"):
            again.remove_subcorpus("short")


def test_saved_queries(own: sentgen.Database) -> None:
    """A command runs a query that Python saved, with the same answer; given options replace saved ones."""
    own.save_query("camps", "kwic camp --sort left -n 2 --wide")
    own.save_query("often", ["sql", "select w1 from v_ngrams_1 where count > ?", "--param", "1=100"])
    first, every = own.run_query("camps"), own.run_query("camps", limit=0)

    assert list(first) == list(own.kwic("camp", sort="left", limit=2))
    assert (len(first), len(every)) == (2, every.total)
    assert sorted(own.run_query("often")["w1"]) == [".", "</s>", "<s>", "the"]
    with pytest.raises(InputError, match="there is a saved query 'camps'"):
        own.save_query("camps", "kwic camp")
    own.save_query("camps", "sentgen kwic camp --sort left -n 2", replace=True)
    listed = own.saved_queries()
    own.close()

    assert rows(listed) == printed(own.path, "saved", "list")
    told = io.StringIO()
    with redirect_stdout(told), suppress(SystemExit):
        build()(["saved", "run", "camps", "--db", str(own.path), "--", "--json"])
    assert json.loads(told.getvalue()) == rows(first)
    with sentgen.open(own.path) as again:
        again.remove_query("camps")
        assert again.saved_queries()["name"] == ["often"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "'' cannot be saved; these commands can: ngrams"),
        ("serve", "'serve' cannot be saved"),
        ("kwic 'camp", "is no command line: No closing quotation; close each quote"),
        ("kwic camp --limit x", "--limit is a number; 'x' is none"),
        ("kwic camp --sort", "--sort needs a value"),
        ("kwic camp --xlsx camp.xlsx", "a saved kwic has no option --xlsx"),
        ("kwic the camp", "kwic has no place for 'camp'; put several words into quotes"),
        ("kwic camp --sort up", "no sort key 'up'"),
        ("kwic camp --corpus no", "no corpus 'no'"),
        ("keyness relief --against relief --stop stop.txt", "a saved query names no files; leave out --stop"),
        ("sql", "sql takes one query"),
        ("sql 'select 1' --file x", "a saved sql has no option --file"),
    ],
)
def test_what_cannot_be_saved(own: sentgen.Database, line: str, message: str) -> None:
    """One line says why, and nothing is saved."""
    with pytest.raises(SentgenError) as found:
        own.save_query("no", line)

    assert message in str(found.value)
    assert len(own.saved_queries()) == 0


def test_saved_sql_only_reads(own: sentgen.Database) -> None:
    with pytest.raises(QueryRejected):
        own.save_query("no", "sql 'delete from token'")


@pytest.mark.parametrize(
    "line",
    [
        [
            "kwic",
            "lemma:go",
            "--sort=left",
            "-n5",
            "--filter",
            "a",
            "--without",
            "3L",
            "--ignore-case",
            "--csv",
        ],
        [
            "kwic",
            "--cql",
            '"a"',
            "--corpus",
            "x",
            "--corpus",
            "y",
            "--across",
            "--context",
            "1s",
            "--width",
            "3",
        ],
        ["freq", "--by", "lemma", "--by", "upos", "--query", '"a"'],
        ["collocations", "--measure", "t-score", "--min-count", "2", "a", "--window", "L2-R4", "--graph"],
        ["match", "pattern { X [] }", "--key", "X.form", "--whether", "X [upos=NOUN]", "--count"],
        ["keyness", "a", "b", "--against", "c", "-n", "0", "--negative", "--pos", "NOUN"],
        ["deps", "--reverse", "--layer", "unit", "--", "-a", "b"],
    ],
    ids=lambda line: line[0],
)
def test_lines_are_read_as_commands_read_them(line: list[str]) -> None:
    """Command lines are read with the same options as by Typer, which the commands use."""
    root = get_command(build())
    command = root.load(line[0])  # type: ignore[attr-defined]
    # With the settings of the program: a command keeps the help option that it is first asked for.
    theirs = command.make_context(line[0], line[1:], **root.context_settings).params
    ours = contents._read_query(line[0], line[1:]).given

    for one in parameters_of(QUESTIONS[line[0]]):
        if one.option.rows and theirs[one.name] is None:
            continue  # a command decides it when it knows whether a person reads
        assert plain(ours.get(one.name, one.default)) == plain(theirs[one.name]), one.name


@pytest.mark.parametrize("name", [*QUESTIONS, "sql"])
def test_options_for_printing_are_left_out(name: str) -> None:
    """All that the command has may stand in a saved query; files may not."""
    command = get_command(build()).load(name)  # type: ignore[attr-defined]
    asked = {one.name for one in parameters_of(QUESTIONS[name])} if name in QUESTIONS else {"limit"}
    printing = [one for one in command.params if getattr(one, "is_flag", False) and one.name not in asked]
    line = ["select 1"] if name == "sql" else []
    without = contents._read_query(name, line).given

    assert {"csv", "tsv", "json", "jsonl", "latex", "bom", "wide"} <= {one.name for one in printing}
    for one in printing:
        assert contents._read_query(name, [*line, one.opts[0]]).given == without


def plain(value: Any) -> Any:
    """Return a value that compares: numbers are numbers, and none is an empty list."""
    value = getattr(value, "value", value)
    with suppress(TypeError, ValueError):
        return float(value)
    return list(value or []) if value is None or isinstance(value, (list, tuple)) else value


def test_a_corpus_goes_out_as_it_came(own: sentgen.Database, tmp_path: Path) -> None:
    assert own.export_corpus("relief", tmp_path / "out.conllu") == ()
    assert (tmp_path / "out.conllu").read_bytes() == TREEBANK.read_bytes()
    (lost,) = own.export_corpus("relief", tmp_path / "out.vert", format="vertical")
    assert "have no place in a vertical file" in lost
    with pytest.raises(InputError, match="`format` 'odt' is none of: conllu, docbin, tei, vertical"):
        own.export_corpus("relief", tmp_path / "out.odt", format="odt")
    assert not (tmp_path / "out.odt").exists()
    assert own.verify_corpus("relief")["status"] == ["same"]


@pytest.mark.nightly
def test_the_store_is_looked_after(own: sentgen.Database) -> None:
    """A store is checked, repaired and compacted, and then opened again."""
    assert {*own.check_store(quick=True)["status"]} == {"ok"}
    assert own.repair().sound
    assert own.compact().packed
    assert own.corpora()["corpus"] == ["relief"]


def test_the_store_is_looked_at(own: sentgen.Database) -> None:
    assert len(own.parses()) == 0
    with pytest.raises(NotFoundError):
        own.forget_parses("udpipe")
    info, schema, view = own.info(), own.schema(), own.schema("v_corpora")
    own.close()

    assert rows(info) == printed(own.path, "db", "info")
    assert "segments: 1" in info.notes
    assert rows(schema) == printed(own.path, "schema")
    assert rows(view) == printed(own.path, "schema", "v_corpora")


@pytest.mark.parametrize("change", ["compact", "repair"])
def test_what_is_only_read_is_not_changed(db: sentgen.Database, change: str) -> None:
    with pytest.raises(StoreError, match="read_only=True"):
        getattr(db, change)()


def test_a_model_goes_out_and_comes_back(own: sentgen.Database, tmp_path: Path) -> None:
    model = own.model("relief")
    model.export(tmp_path / "relief.arpa.gz")
    other = own.import_model("other", tmp_path / "relief.arpa.gz")

    assert other.score("the camp is full .").log10 == pytest.approx(
        model.score("the camp is full .").log10, abs=1e-4
    )
    shown = model.properties()
    own.close()
    assert rows(shown) == printed(own.path, "models", "show", "relief")


@pytest.mark.nightly
def test_pairs_are_aligned_in_the_store(own: sentgen.Database, tmp_path: Path) -> None:
    """Pairs are ingested, trained on, aligned, listed and removed."""
    (tmp_path / "pairs.jsonl").write_text("".join(f"{json.dumps(pair)}\n" for pair in PAIRS), "utf-8")

    assert own.ingest_pairs(tmp_path / "pairs.jsonl", "pairs").pairs == 2
    assert own.ingest_pairs([tmp_path / "pairs.jsonl"], "pairs", order=1).unchanged == 2
    assert own.pairs()["pairs"] == [2]
    assert own.pairs(statistics=True)["texts"] == [2, 2, 4]
    assert (own.pairs("pairs", limit=1)["name"], own.pairs("pairs", limit=1).truncated) == (["a"], True)
    assert own.pair("pairs", "b").abstract[:2] == ("A", "dog")
    assert len(own.train_alignment("pairs", "m", iterations=2, setting="p0=0.2")) == 4
    assert "camp" in own.alignment_model("m", "camp")["target"]
    assert own.alignment_models()["model"] == ["m"]
    assert own.align_pairs("pairs", "m", threshold=0.1).pairs == 2
    assert own.alignment_figures("pairs", "m")["pair"] == ["a", "b"]
    assert {*own.alignment_links("pairs", "m", limit=1)["pair"]} == {"a"}
    words = own.alignment_links("pairs", "m", words=True)
    assert own.alignment_links("pairs", "m", sentences=True)["rank"][0] == 1
    assert [row.word for row in words if row.pair == "b"] == list(own.pair("pairs", "b").abstract)
    (tmp_path / "gold").write_text("a b ||| b ||| 1-0\nc d ||| d ||| 1-0\n", "utf-8")
    assert own.tune_alignment("tuned", tmp_path / "gold", iterations=2)["direction"] == ["forward", "reverse"]
    assert own.remove_alignment_model("m") == 4
    assert own.alignment_models()["model"] == ["tuned"]
