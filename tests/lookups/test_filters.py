"""Filters of hits by their context, against lists of positions; and samples of the filtered hits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from meta_treebank import Sentence, sentences, store_of
from sqlalchemy import Connection

from sentgen.errors import InputError, QueryError
from sentgen.lookups.base.question import Question
from sentgen.lookups.concordances import line_search
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.search.hits import BlockHits
from sentgen.lookups.search.search import QuerySearch
from sentgen.lookups.statistics.collocations import Collocations
from sentgen.lookups.statistics.frequencies import Frequencies
from sentgen.schema import Store

ROWS = sentences()
#: A hit: its document with its first and last token there if hits may cross sentences, else its sentence.
Hit = tuple[int, int, int]
QUERIES = ('[upos="NOUN"]', '[upos="DET"] []?', "[]{1,2}", "the", "old *")
NEAR = ('[upos="ADJ"]', '"the" [upos="NOUN"]', "[]{2,3}", "cat", '[upos="VERB"]+', "none")
WINDOWS = {"5": (5, 5), "1L": (1, 0), "3R": (0, 3), "2,1": (2, 1), "L1-R2": (1, 2), "100": (100, 100)}
STEPS = st.tuples(st.sampled_from(NEAR), st.sampled_from(sorted(WINDOWS)), st.booleans())


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    path = store_of(tmp_path_factory.mktemp("filters") / "s.duckdb", ROWS)
    with Store(path, read_only=True) as store, store.connect() as opened:
        yield opened


def start_of(row: Sentence) -> int:
    return next(n for n, one in enumerate(ROWS) if (one.corpus, one.document) == (row.corpus, row.document))


def found(connection: Connection, asked: Kwic) -> list[Hit]:
    """Return the positions of hits."""
    return [place(row, across=asked.across) for row in asked.lines(connection, placed=True).table.to_pylist()]


def place(row: dict[str, Any], *, across: bool) -> Hit:
    number = row["sentence_id"] - 1
    if not across:
        return number, row["first"], row["last"]
    start = start_of(ROWS[number])
    before = sum(len(one.tokens) for one in ROWS[start:number])
    return start, before + row["first"], before + row["last"]


def is_near(hit: Hit, other: Hit, window: str) -> bool:
    left, right = WINDOWS[window]
    of, first, last = hit
    before = first - left <= other[1] and other[2] < first
    behind = last < other[1] and other[2] <= last + right
    return of == other[0] and (before or behind)


@settings(max_examples=settings.default.max_examples // 12)
@given(
    query=st.sampled_from(QUERIES),
    steps=st.lists(STEPS, min_size=1, max_size=3),
    where=st.sampled_from((None, "genre = news")),
    across=st.booleans(),
    large=st.booleans(),
)
def test_what_is_left(
    connection: Connection,
    query: str,
    steps: list[tuple[str, str, bool]],
    where: str | None,
    across: bool,
    large: bool,
) -> None:
    common: dict[str, Any] = {"across": across, "where": where}
    hits, told = found(connection, Kwic(pattern=query, limit=0, **common)), list[str]()
    for near, window, keeps in steps:
        others = found(connection, Kwic(pattern=near, limit=0, **common))
        left = [hit for hit in hits if any(is_near(hit, one, window) for one in others) == keeps]
        word = "within" if keeps else "without"
        told.append(f"{near} {word} {window} leaves {len(left)} of {len(hits)} hit{'s' * (len(hits) != 1)}")
        hits = left
    chain = {
        "filter": [near for near, _, _ in steps],
        "within": [window if keeps else f"not {window}" for _, window, keeps in steps],
    }

    with pytest.MonkeyPatch.context() as patch:
        if large:
            patch.setattr("sentgen.lookups.base.tokens.SIZE", 7)
            patch.setattr(line_search, "LINES", 7)
        assert found(connection, Kwic(pattern=query, limit=0, **common, **chain)) == hits
        counted = Kwic(pattern=query, count=True, **common, **chain).ask(connection)
        assert (counted.total, list(counted.remarks)) == (len(hits), told)
        assert counted.query.value(connection) == len(hits)
        by = Frequencies(query=query, by=["document"], limit=0, **common, **chain).ask(connection)
        first = Kwic(pattern=query, limit=0, **common, **chain).ask(connection).table
    documents = Counter(first["document"].to_pylist())
    assert (
        dict(zip(by.table["document"].to_pylist(), by.table["count"].to_pylist(), strict=True)) == documents
    )
    assert list(by.remarks) == told


@pytest.mark.parametrize("across", [False, True])
def test_collocates_of_what_is_left(connection: Connection, across: bool) -> None:
    """Collocates are counted in the windows of filtered nodes, each token once."""
    chain: dict[str, Any] = {"filter": ['[upos="ADJ"]'], "within": ["1L"], "across": across}
    nodes = found(connection, Kwic(cql='[upos="NOUN"]', limit=0, **chain))
    spots = set()
    for of, first, last in nodes:
        words = [form for form, _, _ in ROWS[of].tokens]
        if across:
            document = [one for one in ROWS if start_of(one) == of]
            words = [form for one in document for form, _, _ in one.tokens]
        near = {*range(first - 2, first), *range(last + 1, last + 3)}
        spots |= {(of, at, words[at - 1]) for at in near if 0 < at <= len(words)}
    expected = Counter(word for _, _, word in spots)

    asked = Collocations(cql='[upos="NOUN"]', window="2", min_count=1, limit=0, **chain).ask(connection)

    assert nodes
    rows = zip(asked.table["collocate"].to_pylist(), asked.table["count"].to_pylist(), strict=True)
    assert dict(rows) == expected


def test_labels_are_those_of_what_is_left(connection: Connection) -> None:
    chain: dict[str, Any] = {"filter": ['[upos="VERB"]'], "within": ["4"]}
    counted = Frequencies(query='a:[upos="ADJ"] [upos="NOUN"]', by=["a.word"], **chain).ask(connection)
    hits = Kwic(cql='[upos="ADJ"] [upos="NOUN"]', count=True, **chain).ask(connection)

    assert hits.total
    assert counted.table["count"].to_pylist() == [hits.total]


@pytest.mark.parametrize("sort", ["none", "-1L,node"])
@pytest.mark.parametrize("large", [False, True])
def test_a_sample_is_of_what_is_left(
    connection: Connection, sort: str, large: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, Any] = {"pattern": '[upos="NOUN"]', "filter": ["the"], "within": ["2"], "sort": sort}
    every = found(connection, Kwic(**asked, limit=0))
    if large:
        monkeypatch.setattr("sentgen.lookups.base.tokens.SIZE", 40)
    drawn = [found(connection, Kwic(**asked, sample=6, seed=seed, limit=0)) for seed in (1, 1, 2)]
    shown = Kwic(**asked, sample=6, limit=4).ask(connection)

    assert drawn[0] == drawn[1] != drawn[2]
    for one in drawn:
        assert len(one) == 6
        assert one == [hit for hit in every if hit in one]
    assert found(connection, Kwic(**asked, sample=6, limit=4)) == drawn[0][:4]
    assert (shown.total, shown.truncated) == (6, True)
    assert shown.remarks[-1] == f"6 of {len(every)} hits, drawn at random (seed 1)"
    assert shown.query.run(connection).to_pylist() == shown.table.to_pylist()
    # The older option `random` draws the lines that are shown from all hits.
    of_old = Kwic(**asked, random=2, limit=6)
    assert found(connection, of_old) == drawn[2]
    assert of_old.ask(connection).total == len(every)
    count = Kwic(**asked, sample=6, count=True).ask(connection)
    assert (count.total, count.query.value(connection)) == (6, 6)


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        ({"within": ["3L"]}, "`within` says how near a filter matches; give `filter` QUERY, too"),
        ({"filter": ["a"], "within": ["x"]}, "'x' is no window; write 5, or L5-R2 (or 5,2) for five words"),
        ({"filter": ["a"], "within": ["not"]}, "'not' is no window"),
        ({"filter": ["a"], "within": ["0"]}, "a window of no words holds nothing; write 5, or L5-R2"),
        ({"filter": ["a"], "within": ["101R"]}, "a filter looks 100 tokens far at most; '101R' is more"),
        ({"filter": ["a"], "within": ["1", "2"]}, "1 filter and 2 windows; give `within` once for all"),
        ({"filter": ["a", " "]}, "a filter is empty; write a pattern, or a query in CQL"),
        ({"filter": ["a"] * 21}, "hits go through 20 filters at most; there are 21"),
        (
            {"filter": ['[word != "a"' + ' & word != "b"' * 59 + "]"] * 2},
            "a query and its filters have 100 conditions at most, all together; write values as",
        ),
        ({"filter": ["*"]}, "a pattern of stars alone matches everywhere"),
        ({"seed": 1}, "`seed` is that of a sample; give `sample` N, too"),
        ({"sample": 3, "random": 1}, "`random` is a `sample` of as many lines as are shown; give one"),
    ],
)
def test_what_cannot_be_asked_is_refused(connection: Connection, asked: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError) as refused:
        Kwic(pattern="the", **asked).ask(connection)

    assert str(refused.value).startswith(problem)


@pytest.mark.parametrize(
    "ask",
    [
        lambda filters: Kwic(pattern="the", filter=filters),
        lambda filters: Frequencies(query="the", filter=filters),
        lambda filters: Collocations(word="the", filter=filters),
    ],
)
def test_a_slip_in_a_filter_is_shown(connection: Connection, ask: Any) -> None:
    question: Question = ask(['[upos="ADJ"'])
    with pytest.raises(QueryError, match="the query ends too early"):
        question.ask(connection)


def test_a_filter_needs_hits() -> None:
    with pytest.raises(InputError, match="a filter is one of hits; give `query` QUERY, too"):
        Frequencies(filter=["the"])


@pytest.mark.parametrize(
    "question",
    [
        Kwic(pattern="the"),
        Kwic(pattern="the", count=True),
        Kwic(pattern="the", places=True),
        Collocations(word="the"),
    ],
    ids=["lines", "count", "places", "collocations"],
)
def test_hits_are_looked_for_once(
    connection: Connection, question: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hits that each filter leaves are counted in the same search that finds them."""
    asked = replace(question, filter=["old"], within=["3"])
    expected, searched = asked.ask(connection), list[QuerySearch]()
    find = QuerySearch.find

    def counted(search: QuerySearch) -> Iterator[BlockHits]:
        searched.append(search)
        return find(search)

    monkeypatch.setattr(QuerySearch, "find", counted)

    assert asked.ask(connection).remarks == expected.remarks
    assert len(searched) == 1
    assert expected.remarks[0].startswith("old within 3 leaves ")
