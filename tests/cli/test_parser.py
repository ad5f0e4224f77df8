"""Sessions with a parser: run, ingest, and what the store keeps."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Sentgen, refused

from sentgen.corpus.formats import READERS

TEXT = "Heavy rains flooded the villages. Officials sent food to the families.\n"
TREES = "select count(*) as tokens, count(head) as heads, count(np) as nps, count(deprel) as deprels from v_tokens"


@pytest.fixture
def parser(tiny_model: Path) -> str:
    return f"udpipe:{tiny_model}"


@pytest.fixture
def text(tmp_path: Path) -> Path:
    """Plain text."""
    path = tmp_path / "news.txt"
    path.write_text(TEXT)
    return path


def rows(sentgen: Sentgen, query: str) -> list[dict[str, object]]:
    """Ask the store."""
    found: list[dict[str, object]] = json.loads(sentgen("sql", query, "--json").out)
    return found


def test_ingested_text_has_trees(sentgen: Sentgen, parser: str, text: Path) -> None:
    """Heads, relations, base noun phrases and dependency events, as a treebank has them."""
    assert sentgen("ingest", text, "--corpus", "news", "--parser", parser).code == 0

    # Heavy rains flooded the villages . | Officials sent food to the families .
    assert rows(sentgen, TREES) == [{"tokens": 13, "heads": 13, "nps": 13, "deprels": 13}]
    assert rows(sentgen, "select text from sentence order by id") == [
        {"text": part}
        for part in ("Heavy rains flooded the villages.", "Officials sent food to the families.")
    ]
    # Each token has a head, the two roots in <root>.
    assert rows(
        sentgen,
        "select sum(count)::int as n from v_dependencies where layer = 'word' and level = 'word-word'",
    ) == [{"n": 13}]
    assert sentgen("db", "check").code == 0


def test_text_through_a_parser_is_the_treebank_of_its_parses(
    sentgen: Sentgen, parser: str, text: Path
) -> None:
    """Ingesting what `parser run` prints gives the same tokens and trees."""
    printed = sentgen("parser", "run", text, "--parser", parser)
    Path("news.conllu").write_text(printed.out)
    sentgen("ingest", "news.conllu", "--corpus", "treebank")
    sentgen("ingest", text, "--corpus", "text", "--parser", parser)
    query = (
        "select form, lemma, upos, xpos, feats, head, deprel, np, unit_head, space_after from v_tokens "
        "where corpus = '{}' order by sentence_id, position"
    )

    assert printed.code == 0
    assert rows(sentgen, query.format("text")) == rows(sentgen, query.format("treebank"))


def test_tokenized_lines_are_parsed_as_they_are(sentgen: Sentgen, parser: str) -> None:
    """The tokens of the format `lines` stay."""
    Path("news.lines").write_text("officials can't send food .\n")
    sentgen("ingest", "news.lines", "--corpus", "news", "--parser", parser)

    assert rows(
        sentgen, "select string_agg(form, ' ' order by position) as forms, count(head) as heads from v_tokens"
    ) == [{"forms": "officials can't send food .", "heads": 5}]


def test_parses_are_kept_listed_and_forgotten(sentgen: Sentgen, parser: str, text: Path) -> None:
    """A second corpus of the same text takes them from the store."""
    sentgen("ingest", text, "--corpus", "one", "--parser", parser)
    first = json.loads(sentgen("parser", "list", "--json").out)
    sentgen("ingest", text, "--corpus", "two", "--parser", parser)
    second = json.loads(sentgen("parser", "list", "--json").out)

    # One paragraph with two sentences and 13 tokens.
    assert first == second
    assert [(row["parser"], row["texts"], row["sentences"], row["tokens"]) for row in first] == [
        ("udpipe", 1, 2, 13)
    ]
    assert "would remove 1 parsed text" in sentgen("parser", "forget", "udpipe", "--dry-run").err
    assert "removed 1 parsed text" in sentgen("parser", "forget", "udpipe").err
    refused(sentgen("parser", "forget", "udpipe"), "no parses of 'udpipe'; the store has no parses")


def test_the_same_text_parsed_otherwise_is_another_source(
    sentgen: Sentgen, parser: str, text: Path, pets: Path
) -> None:
    """The version of the source names the parser; a treebank is the same source with and without one."""
    for arguments in ((), ("--parser", parser), ("--parser", parser)):
        sentgen("ingest", text, "--corpus", "news", *arguments)
    for arguments in ((), ("--parser", parser)):
        sentgen("ingest", pets, "--corpus", "pets", *arguments)
    found = [row["reader_version"] for row in rows(sentgen, "select reader_version from source order by id")]

    assert len(found) == 3
    assert found[0] == READERS["text"].version
    assert found[2] == READERS["conllu"].version
    assert str(found[1]).startswith(f"{READERS['text'].version}+udpipe@1-")


def test_gold_refuses_text(sentgen: Sentgen, text: Path, pets: Path) -> None:
    """With its place, and nothing is stored."""
    refused(
        sentgen("ingest", text, "--corpus", "news", "--parser", "gold"),
        "news.txt:1: no tree here; --parser gold needs a treebank",
    )
    assert sentgen("ingest", pets, "--corpus", "pets", "--parser", "gold").code == 0


def test_parser_that_is_not_there(sentgen: Sentgen, text: Path, store: Path) -> None:
    """The error comes before a store is made."""
    refused(
        sentgen("ingest", text, "--corpus", "news", "--parser", "udpipe:no.udpipe"),
        "no.udpipe: no model here; get one from https://",
    )
    assert not store.exists()


def test_bad_sentences_of_a_parsed_text(sentgen: Sentgen, parser: str) -> None:
    """The policies for bad sentences hold for what a parser made."""
    Path("bad.lines").write_text("a </s> b\nofficials left .\n")

    told = sentgen("ingest", "bad.lines", "--corpus", "bad", "--parser", parser, "--on-error", "collect")
    assert (told.code, "rejected: bad.lines:1: token 2 is </s>" in told.err) == (1, True)
    told = sentgen("ingest", "bad.lines", "--corpus", "bad", "--parser", parser, "--on-error", "skip")
    assert (told.code, "sentences       1\n" in told.out) == (0, True)
    told = sentgen("parser", "run", "bad.lines", "--parser", parser)
    assert (told.code, told.out.count("\n\n"), told.out.split("\t")[1]) == (1, 1, "officials")
    assert "rejected: bad.lines:1" in told.err


def test_unknown_format(sentgen: Sentgen, parser: str, text: Path) -> None:
    """A mistake in the usage, with the formats that there are."""
    told = sentgen("parser", "run", text, "--parser", parser, "--format", "word")

    assert told.code == 2
    assert "conllu" in told.err


@pytest.mark.data
@pytest.mark.nightly
def test_clusters_get_trees(sentgen: Sentgen, parser: str, data_dir: Path) -> None:
    """Every sentence of 846 clusters stays one sentence and gets a tree that passes all checks."""
    told = sentgen(
        "ingest", data_dir / "clusters/mtref_clusters.jsonl", "--corpus", "mtref", "--parser", parser
    )

    assert told.code == 0
    assert "sentences       3,577\n" in told.out  # members of `sentences`, counted with the json module
    assert rows(sentgen, "select count(*) as n from document") == [{"n": 846}]
    assert rows(sentgen, "select count(*) as n from v_tokens where head is null or deprel is null") == [
        {"n": 0}
    ]
    assert sentgen("db", "check", "--quick").code == 0
