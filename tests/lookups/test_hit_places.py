"""Positions of hits in their documents, against positions counted token by token."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from meta_treebank import sentences, store_of
from sqlalchemy import Connection

from sentgen.errors import InputError
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.grew.matches import Match
from sentgen.schema import Store

ROWS = sentences()
QUERIES = ('[upos="NOUN"]', "the", "old *", "[]{1,2}", '"the" [upos="NOUN"]', "[]", '"dog" []? "cat"')


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    path = store_of(tmp_path_factory.mktemp("places") / "s.duckdb", ROWS)
    with Store(path, read_only=True) as store, store.connect() as opened:
        yield opened


def counted(connection: Connection, asked: dict[str, Any]) -> list[tuple[object, ...]]:
    """Return the expected rows, from the positions of nodes in concordance lines."""
    found = dict[tuple[str, str], list[int]]()
    for line in Kwic(**asked, limit=0).lines(connection, placed=True).table.to_pylist():
        row = ROWS[line["sentence_id"] - 1]
        key = (row.corpus, row.document)
        before = sum(
            len(one.tokens) for one in ROWS[: line["sentence_id"] - 1] if (one.corpus, one.document) == key
        )
        found.setdefault(key, []).append(before + line["first"] - 1)
    rows = []
    for (corpus, document), begins in found.items():
        tokens = sum(len(one.tokens) for one in ROWS if (one.corpus, one.document) == (corpus, document))
        thousandths = sorted({1000 * begin // tokens for begin in begins})
        rate = pytest.approx(1e6 * len(begins) / tokens)
        rows.append((corpus, document, len(begins), tokens, rate, " ".join(map(str, thousandths))))
    return sorted(rows, key=lambda row: (-row[2], *row[:2]))


@settings(max_examples=settings.default.max_examples // 5)
@given(
    query=st.sampled_from(QUERIES),
    where=st.sampled_from((None, "genre = news")),
    across=st.booleans(),
    chain=st.sampled_from(({}, {"filter": ['[upos="DET"]'], "within": ["2L"]})),
    large=st.booleans(),
    limit=st.sampled_from((0, 3)),
)
def test_places_are_those_of_the_lines(
    connection: Connection,
    query: str,
    where: str | None,
    across: bool,
    chain: dict[str, Any],
    large: bool,
    limit: int,
) -> None:
    asked: dict[str, Any] = {"pattern": query, "where": where, "across": across, **chain}
    expected = counted(connection, asked)

    with pytest.MonkeyPatch.context() as patch:
        if large:
            patch.setattr("sentgen.lookups.base.tokens.SIZE", 7)
        answer = Kwic(**asked, places=True, limit=limit).ask(connection)
    rows = [tuple(row.values()) for row in answer.rows.to_pylist()]

    assert rows == expected[: limit or None]
    assert (answer.total, answer.truncated) == (len(expected), len(rows) < len(expected))
    assert [tuple(row.values()) for row in answer.query.run(connection).to_pylist()] == rows
    if expected:
        hits, documents = sum(row[2] for row in expected), len(expected)  # type: ignore[misc]
        assert answer.remarks[-1].startswith(f"{hits} hit")
        assert f"in {documents} document" in answer.remarks[-1]


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize(
    ("request_", "query"),
    [
        ("pattern { X [upos=NOUN] }", '[upos="NOUN"]'),
        ("pattern { X [upos=DET]; Y [upos=NOUN]; X < Y }", '[upos="DET"] [upos="NOUN"]'),
    ],
)
def test_places_of_requests_are_those_of_the_same_query(
    connection: Connection, request_: str, query: str, large: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request has the positions of the same query, at once and in parts; a hit begins with its first node."""
    if large:
        monkeypatch.setattr("sentgen.lookups.grew.matches.SENTENCES", 9)
    answer = Match(request=request_, where="genre = news").places(connection, 3)
    expected = counted(connection, {"pattern": query, "where": "genre = news"})

    rows = [tuple(row.values()) for row in answer.rows.to_pylist()]
    assert rows == expected[:3]
    assert (answer.total, answer.remarks[-1].split()[0]) == (
        len(expected),
        str(sum(row[2] for row in expected)),
    )
    assert [tuple(row.values()) for row in answer.query.run(connection).to_pylist()] == rows


def test_nothing_found_says_what_lines_say(connection: Connection) -> None:
    answer = Kwic(pattern="dgo", places=True).ask(connection)

    assert answer.rows.num_rows == 0
    assert answer.notes == Kwic(pattern="dgo").ask(connection).notes


@pytest.mark.parametrize("other", [{"count": True}, {"dedupe": True}, {"sample": 3}, {"random": 1}])
def test_places_are_of_all_hits(other: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="places are those of all hits; leave out"):
        Kwic(pattern="dog", places=True, **other)
