"""Conditions on GUM, whose documents have genres and dates, and whose sentences have speakers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection

from sentgen.counts.ingestion import Settings, ingest
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.ngram_search import Ngrams
from sentgen.lookups.statistics.frequencies import Frequencies
from sentgen.schema import Store

pytestmark = pytest.mark.data

Sentence = tuple[dict[str, str], list[str]]


@pytest.fixture(scope="module")
def sentences(data_dir: Path) -> list[Sentence]:
    """The sentences, each with its metadata, those of its document, and its words."""
    found, document = list[Sentence](), dict[str, str]()
    for block in (data_dir / "ud" / "en_gum-ud-dev.conllu").read_text("utf-8").split("\n\n"):
        lines = block.splitlines()
        told = dict(line[2:].split(" = ", 1) for line in lines if line[0] == "#" and " = " in line)
        if "newdoc id" in told:
            document = {key[6:]: value for key, value in told.items() if key.startswith("meta::")}
        words = [line.split("\t")[1] for line in lines if line.split("\t")[0].isdecimal()]
        if words:
            found.append((document | told, words))
    return found


@pytest.fixture(scope="module")
def gum(data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """The store."""
    path = tmp_path_factory.mktemp("gum") / "gum.duckdb"
    with Store(path, create=True) as made:
        ingest(made, [str(data_dir / "ud" / "en_gum-ud-dev.conllu")], Settings("gum", order=2))
    with Store(path, read_only=True) as store, store.connect() as opened:
        yield opened


def test_look_ups_read_the_sentences_of_a_genre(gum: Connection, sentences: list[Sentence]) -> None:
    """Counts agree with those of the file, also of n-grams of an order that the store has not counted."""
    cases = {
        "genre = academic": lambda told: told["genre"] == "academic",
        'genre in (academic, news) and dateCreated >= "2010"': lambda told: (
            told["genre"] in ("academic", "news") and told["dateCreated"] >= "2010"
        ),
        "speakerCount > 1 and not s_type = decl": lambda told: (
            float(told["speakerCount"]) > 1 and told["s_type"] != "decl"
        ),
        "exists speaker": lambda told: "speaker" in told,
    }
    for condition, meets in cases.items():
        among = [words for told, words in sentences if meets(told)]
        assert among
        counted = Counter(word for words in among for word in words)
        rows = Frequencies(where=condition, limit=0).ask(gum).rows.to_pylist()
        assert {row["word"]: row["count"] for row in rows} == counted, condition
        hits = Kwic(pattern="the", where=condition, count=True).ask(gum).rows.to_pylist()
        assert hits == [{"hits": counted["the"]}]
        grams = Counter(
            tuple(words[i : i + 3])
            for words in (["<s>", *words, "</s>"] for words in among)
            for i in range(len(words) - 2)
        )
        rows = Ngrams(pattern="* * *", where=condition, limit=0).ask(gum).rows.to_pylist()
        assert {(row["w1"], row["w2"], row["w3"]): row["count"] for row in rows} == grams, condition
