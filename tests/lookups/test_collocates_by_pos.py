"""Collocates by part of speech, against windows and relations counted in Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from sqlalchemy import Connection
from typer.testing import CliRunner

from sentgen.cli import build
from sentgen.demo import TREEBANK
from sentgen.errors import InputError
from sentgen.lookups.base.patterns import CONTENT
from sentgen.lookups.statistics.collocations import Collocations
from sentgen.schema import Store

#: Sentences: form, lemma, universal part of speech, head and relation of each token.
READ = [
    [
        (cells[1], cells[2], cells[3], int(cells[6]), cells[7])
        for cells in map(str.split, block)
        if cells[0].isdigit()
    ]
    for block in (
        [line for line in part.split("\n") if line and line[0] != "#"]
        for part in TREEBANK.read_text("utf-8").split("\n\n")
    )
    if block
]


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """The demo treebank."""
    path = tmp_path_factory.mktemp("pos") / "store.duckdb"
    done = CliRunner().invoke(build(), ["ingest", str(TREEBANK), "--corpus", "relief", "--db", str(path)])
    assert not done.exception, done.output
    with Store(path, read_only=True) as store, store.connect() as connection:
        yield connection


@pytest.mark.parametrize("pos", ["NOUN", "VERB,PROPN", "content"])
def test_windows(asked: Connection, pos: str) -> None:
    """Only tokens of these parts of speech count as collocates, in windows and in all; r1 counts all tokens."""
    kept = [tag for one in pos.split(",") for tag in CONTENT.get(one, (one,))]
    together: Counter[str] = Counter()
    for tokens in READ:
        nodes = [place for place, token in enumerate(tokens) if token[1] == "camp"]
        spots = {place + step for place in nodes for step in (-3, -2, -1, 1, 2, 3)} - {*nodes}
        together.update(tokens[i][0] for i in spots if 0 <= i < len(tokens) and tokens[i][2] in kept)
    alone = Counter(token[0] for tokens in READ for token in tokens if token[2] in kept)

    for case in (False, True):
        question = Collocations(
            word="lemma:camp", window="3", pos=pos, min_count=1, limit=0, ignore_case=case
        )
        found = {row["collocate"]: row for row in question.ask(asked).rows.to_pylist()}
        if not case:
            assert {word: row["count"] for word, row in found.items()} == dict(together)
            assert all(row["frequency"] == alone[word] for word, row in found.items())
    usual = Collocations(word="lemma:camp", window="3", min_count=1, limit=0).ask(asked).rows.to_pylist()
    assert len(found) < len(usual)


def test_relations(asked: Connection) -> None:
    """By relation, the collocate has the part of speech, not the node."""
    expected = Counter(
        ("modifier", form)
        for tokens in READ
        for form, _, tag, head, relation in tokens
        if relation == "nsubj" and tag == "NOUN" and tokens[head - 1][1] == "reach"
    )
    question = Collocations(word="lemma:reach", dependency="nsubj", pos="NOUN", min_count=1, limit=0)
    found = question.ask(asked).rows.to_pylist()

    assert {(row["role"], row["collocate"]): row["count"] for row in found} == dict(expected)


def test_a_graph_has_the_same(asked: Connection) -> None:
    """The collocates of the node are those without a graph, and no edge leads to others."""
    plain = Collocations(word="lemma:camp", pos="content", limit=8).ask(asked).rows.to_pylist()
    edges = Collocations(word="lemma:camp", pos="content", limit=8, graph=True).ask(asked).rows.to_pylist()

    assert [row["collocate"] for row in edges if row["node"] == "lemma:camp"] == [
        row["collocate"] for row in plain
    ]
    assert {row["collocate"] for row in edges} <= {row["collocate"] for row in plain}


def test_what_no_word_is(asked: Connection) -> None:
    """An unknown part of speech is refused, not answered without rows."""
    with pytest.raises(InputError, match="no word has a part of speech NUON; name others"):
        Collocations(word="lemma:camp", pos="NUON").ask(asked)
    with pytest.raises(InputError, match="no part of speech was given"):
        Collocations(word="lemma:camp", pos=" , ").ask(asked)
    assert not Collocations(word="lemma:camp", pos="INTJ,NOUN", min_count=99).ask(asked).rows.num_rows
