"""A question that ignores case is answered as if the corpus had been lower-cased when it was read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import Connection

from sentgen.counts.ingestion import Settings, ingest
from sentgen.demo import TREEBANK
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.dependency_search import Arguments, Dependencies, Layer, Level
from sentgen.lookups.ngram_search import Ngrams
from sentgen.lookups.statistics.collocations import CollocateUnit, Collocations
from sentgen.lookups.statistics.frequencies import Frequencies
from sentgen.schema import Store

ORDERS = ("none", "left", "right", "1R,-node%c")


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """The demo treebank twice, as it is and lower-cased."""
    path = tmp_path_factory.mktemp("case") / "both.duckdb"
    with Store(path, create=True) as store:
        ingest(store, [str(TREEBANK)], Settings("cased"))
        ingest(store, [str(TREEBANK)], Settings("lower", lowercase=True))
    with Store(path, read_only=True) as store, store.connect() as connection:
        yield connection


def rows(question: Any, connection: Connection) -> list[list[Any]]:
    """Return all rows of an answer, with rounded floats."""
    found = replace(question, limit=0).ask(connection).table.to_pylist()
    return [
        [round(value, 9) if isinstance(value, float) else value for value in row.values()] for row in found
    ]


@pytest.mark.parametrize(
    "question",
    [
        Ngrams(pattern="The *"),
        Ngrams(pattern="THE"),
        Ngrams(pattern="*"),
        Ngrams(pattern="* *", min_count=2),
        Ngrams(pattern="<s> T* *"),
        Dependencies(head="Camp", layer=Layer.UNIT),
        Dependencies(head="*", modifier="The"),
        Dependencies(head="NN", modifier="THE", level=Level.TAG_WORD),
        Dependencies(head="NN", modifier="DT", level=Level.TAG_TAG),
        Arguments(word="Camp"),
        Arguments(word="*", tag="NN"),
        Frequencies(),
        Frequencies(by=["lemma"], pattern="C*"),
        Frequencies(by=["xpos"], pattern="N*"),
        Collocations(word="The", window="2,1", min_count=1),
        Collocations(word="lemma:Camp", by=CollocateUnit.LEMMA, min_count=1),
        Collocations(word="The/DT", dependency="*", min_count=1),
    ],
    ids=str,
)
def test_counts_are_those_of_a_lower_cased_corpus(question: Any, both: Connection) -> None:
    """Forms that differ in capital letters only are one word: counts, shares and scores are those of the sum."""
    ignoring = rows(replace(question, corpus=["cased"], ignore_case=True), both)

    assert ignoring == rows(replace(question, corpus=["lower"]), both)
    assert ignoring


@pytest.mark.parametrize("order", ORDERS)
def test_a_concordance_finds_all_and_shows_them_as_they_are(order: str, both: Connection) -> None:
    """`the` finds `The`, at the places where the lower-cased corpus has it, and shows its capital."""
    asked = Kwic(pattern="THE lemma:Camp", corpus=["cased"], sort=order, ignore_case=True)
    lines = asked.ask(both).table.to_pylist()
    lower = replace(asked, corpus=["lower"]).ask(both).table.to_pylist()

    assert [(line["sent_id"], line["node"].lower()) for line in lines] == [
        (line["sent_id"], line["node"]) for line in lower
    ]
    assert {line["node"] for line in lines} >= {"the camp", "The camp"}


def test_all_lines_are_found_as_well(both: Connection) -> None:
    """The search for answers larger than memory finds the same."""
    _, parts = Kwic(pattern="THE", corpus=["cased"], ignore_case=True).parts(both)
    asked = Kwic(pattern="THE", corpus=["cased"], ignore_case=True, limit=0)

    assert [line for part in parts for line in part.to_pylist()] == asked.ask(both).table.to_pylist()


def test_tags_keep_their_case(both: Connection) -> None:
    """Case is ignored in words and lemmas only: `nn` is no tag."""
    assert not Kwic(pattern="xpos:nn", ignore_case=True).ask(both).rows.num_rows
    assert not Dependencies(head="The", tag="dt", ignore_case=True).ask(both).rows.num_rows


def test_nothing_is_folded_where_nothing_has_capitals(both: Connection) -> None:
    """In a lower-cased corpus, the option changes nothing."""
    asked = Ngrams(pattern="The *", corpus=["lower"])

    assert replace(asked, ignore_case=True).ask(both).query == asked.ask(both).query
