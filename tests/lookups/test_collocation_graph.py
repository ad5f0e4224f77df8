"""Graphs of collocates, against windows counted one by one in Python."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from sqlalchemy import Connection
from test_collocation_measures import by_hand
from typer.testing import CliRunner

from sentgen.cli import build
from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import InputError
from sentgen.lookups.statistics.collocations import Collocations
from sentgen.lookups.statistics.measures import Measure
from sentgen.schema import Store

LETTERS = ["a", "b", "B", "c", "d", "e"]


@pytest.fixture(scope="module")
def sentences() -> list[list[str]]:
    """Sentences of few words, so that their windows overlap."""
    random = Random(3)
    return [random.choices(LETTERS, [9, 4, 2, 3, 2, 1], k=random.randint(1, 9)) for _ in range(60)]


@pytest.fixture(scope="module")
def letters(sentences: list[list[str]], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A store of the sentences."""
    folder = tmp_path_factory.mktemp("graph")
    (folder / "letters.txt").write_text("\n".join(map(" ".join, sentences)) + "\n")
    with Store(folder / "store.duckdb", create=True) as store:
        ingest(store, [str(folder / "letters.txt")], Settings("letters", format="lines"))
        with store.connect() as connection:
            yield connection


def spots(sentences: list[list[str]], node: str, left: int, right: int) -> Counter[str]:
    """The tokens in the windows of a word, each once."""
    near = Counter[str]()
    for sentence in sentences:
        nodes = [place for place, form in enumerate(sentence) if form == node]
        for place, form in enumerate(sentence):
            near[form] += any(at != place and at - left <= place <= at + right for at in nodes)
    return near


@pytest.mark.nightly(by_day=5)
@pytest.mark.parametrize(("window", "left", "right"), [("2", 2, 2), ("L1-R3", 1, 3), ("R2", 0, 2)])
@pytest.mark.parametrize("fold", [False, True])
@pytest.mark.parametrize("limit", [2, 9])
def test_the_edges_of_a_graph(
    sentences: list[list[str]],
    window: str,
    left: int,
    right: int,
    fold: bool,
    limit: int,
    letters: Connection,
) -> None:
    """The edges are those of the node, then pairs of collocates that occur together more often than chance."""
    if fold:
        sentences = [[form.lower() for form in sentence] for sentence in sentences]
    asked: dict[str, Any] = {"word": "a", "window": window, "min_count": 1, "ignore_case": fold}
    asked |= {"measure": Measure.MI3, "limit": limit}
    first = Collocations(**asked).ask(letters).table.to_pylist()
    rows = Collocations(**asked, graph=True).ask(letters).table.to_pylist()
    frequency = Counter(form for sentence in sentences for form in sentence)
    expected = []
    names = [row["collocate"] for row in first]
    for i, node in enumerate(names):
        near = spots(sentences, node, left, right)
        for other in names[i + 1 :]:
            table = near[other], near.total(), frequency[other], frequency.total()
            if table[0] * table[3] > table[1] * table[2]:
                expected.append((node, other, table, frequency[node]))

    assert [row for row in rows if row["node"] == "a" and row["collocate"] in names][: len(first)] == [
        {"node": "a", **row} for row in first
    ]
    pairs = rows[len(first) :]
    assert [(row["node"], row["collocate"]) for row in pairs] == [edge[:2] for edge in expected]
    for row, (_, _, table, f) in zip(pairs, expected, strict=True):
        assert (row["count"], row["frequency"]) == (table[0], table[2])
        for name, value in by_hand(*table, f).items():
            if name in row:
                assert row[name] == pytest.approx(value, abs=1e-9), (row["node"], row["collocate"], name)
    assert limit == 2 or expected


@pytest.mark.parametrize(
    "asked",
    [
        {"ignore_case": True, "measure": Measure.LOG_LIKELIHOOD},
        {"window": "R2", "where": "length > 4"},
        {"by": "lemma", "pos": "content", "all_measures": True},
    ],
)
def test_the_statement_that_is_shown_has_the_same_rows(asked: dict[str, Any], relief: Path) -> None:
    """The shown statement gives the rows that were counted in arrays."""
    with Store(relief, read_only=True) as store, store.connect() as connection:
        answer = Collocations(word="the", min_count=1, limit=20, graph=True, **asked).ask(connection)
        shown = answer.query.run(connection).to_pylist()

    assert answer.table.to_pylist() == shown
    assert {row["node"] for row in answer.table.to_pylist()} > {"the"}


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"dependency": "nsubj"}, "without relation and `across`"),
        ({"across": True}, "without relation and `across`"),
        ({"limit": 0}, "1 to 100 collocates, not all"),
        ({"limit": 101}, "1 to 100 collocates, not 101"),
    ],
)
def test_what_is_no_graph_is_refused(asked: dict[str, Any], told: str, connection: Connection) -> None:
    """Graphs by relation, across sentences or of too many collocates are refused with the cure."""
    with pytest.raises(InputError, match=told):
        Collocations(word="dow", graph=True, **asked).ask(connection)


def test_a_graph_of_nothing(connection: Connection) -> None:
    """A graph without edges has the note of an answer without collocates."""
    answer = Collocations(word="zebra", graph=True).ask(connection)

    assert answer.notes[0].startswith("no collocate of 'zebra'")


def test_the_command_draws_edges(path: Path) -> None:
    """A row an edge, the node that was asked for first."""
    words = ["collocations", "dow", "--graph", "--min-count", "1", "--csv", "--db", str(path)]
    told = CliRunner().invoke(build(), words)

    header, first, *_ = told.stdout.splitlines()
    assert header == "node,collocate,count,frequency,logdice,pmi,log_likelihood"
    assert first.startswith("dow,")
