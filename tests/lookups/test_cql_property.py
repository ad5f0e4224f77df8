"""Random queries over random corpora: the hits are those of a reference by the definition."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from statistics import mean, pstdev
from typing import Any, cast

import pytest
from cql_reference import Document, Multiword, Part, Sentence
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from occurrences import COUNT, FILL
from random_queries import QUERIES, TAGS, WORDS
from sqlalchemy import Connection

from sentgen.lookups.base.metadata import Condition
from sentgen.lookups.base.selection import Selection
from sentgen.lookups.base.statement import DOCUMENT, SENTENCE, Bindings, Statement
from sentgen.lookups.concordances.hits import Query
from sentgen.lookups.cql.dialects import Reading, Strategy
from sentgen.lookups.cql.search import Cql
from sentgen.lookups.search.hits import Spans
from sentgen.lookups.search.search import WalkSearch
from sentgen.lookups.statistics.frequencies import Frequencies
from sentgen.schema import Store
from sentgen.schema.store import raw

COLUMNS = ("word", "lemma", "upos", "feats")
REGIONS = st.lists(
    st.tuples(
        st.integers(0, 12),
        st.integers(1, 8),
        st.sampled_from("pq"),
        st.dictionaries(st.sampled_from("xy"), st.sampled_from(("a", "b", "A", "")), max_size=2),
    ),
    max_size=6,
)
CORPORA = st.lists(
    st.tuples(
        st.booleans(),
        st.lists(
            st.tuples(
                st.sampled_from(WORDS),
                st.sampled_from((*WORDS, None)),
                st.sampled_from((*TAGS[:2], None)),
                st.sampled_from((*TAGS[2:], None)),
                # Whether a space follows, and the multiword token that begins here: its tokens and its form.
                st.sampled_from((None, True, False, False)),
                st.none() | st.tuples(st.integers(1, 3), st.sampled_from(("a", "ab", "ba", "Aab"))),
            ),
            min_size=1,
            max_size=6,
        ),
    ),
    min_size=1,
    max_size=4,
)


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory, empty_store: Path) -> Iterator[Connection]:
    """An empty store, into which each example writes a few rows."""
    with Store(tmp_path_factory.mktemp("cql") / "s.duckdb", create=True) as store, store.begin() as opened:
        raw(opened).execute(
            "insert into corpus(id, name, kind, lowercase, max_order, tags, function_heads, created_at)"
            " select n, name, 'corpus', false, 1, 'xpos', false, now() from (values (1, 'a'), (2, 'b')) t(n, name)"
        )
        # Each example rolls back its rows.
        raw(opened).execute("commit")
        raw(opened).execute("begin transaction")
        yield opened


def fill(
    connection: Connection, corpus: list[Any], regions: list[Any] = (), *, corpora: int = 2
) -> list[Sentence]:
    """Write sentences, where the first of each document is marked, and return them.

    Documents belong to the corpora in turn, as if files had been added to each.
    """
    duck = raw(connection)
    # Rows deleted in the same transaction would still be scanned by every statement.
    duck.execute("rollback")
    duck.execute("begin transaction")
    for name in ("word", "tag"):
        duck.execute(f"delete from {name}")
    duck.execute("insert into word select unnest(range(10, 14)), unnest($1)", [list(WORDS)])
    duck.execute("insert into tag select unnest(range(4)), unnest($1)", [list(TAGS)])
    begins = [not number or first for number, (first, _) in enumerate(corpus)]
    made, token = list[Sentence](), 0
    for number, (_, rows) in enumerate(corpus):
        if begins[number]:
            # A gap in the numbers, as after the removal of other documents.
            token += 7
            size = next((i for i, new in enumerate(begins[number + 1 :], 1) if new), len(begins) - number)
            document, owner = number, 1 + sum(begins[:number]) % corpora
            key = [document, owner, number + 1, size]
            duck.execute("insert into document values (?, ?, 1, 'd', ?, ?)", key)
        duck.execute(
            "insert into sentence(id, corpus_id, document_id, length, first_token, line) values (?, ?, ?, ?, ?, 1)",
            [number + 1, owner, document, len(rows), token],
        )
        token += len(rows)
        tokens = list[list[Any]]()
        for position, row in enumerate(rows, 1):
            ids = [
                None if one is None else (10 + WORDS.index(one) if i < 2 else TAGS.index(one))
                for i, one in enumerate(row[:4])
            ]
            tokens.append([owner, number + 1, position, *ids, row[4] if len(row) > 4 else None])
        duck.execute(
            "insert into token(corpus_id, sentence_id, position, word_id, lemma_id, upos_id, feats_id,"
            f" space_after) values {', '.join(['(?, ?, ?, ?, ?, ?, ?, ?)'] * len(tokens))}",
            list(chain.from_iterable(tokens)),
        )
        words = [attributes(row[:4]) for row in rows]
        multiwords = list[Multiword]()
        for i, row in enumerate(rows):
            if len(row) > 5 and row[5] and (not multiwords or multiwords[-1].end <= i):
                multiwords.append(Multiword(i, min(i + row[5][0], len(rows)), row[5][1]))
        for one in multiwords:
            key = [owner, number + 1, one.begin + 1, one.end, one.form]
            duck.execute("insert into multiword values (?, ?, ?, ?, ?)", key)
        unspaced = [i for i, row in enumerate(rows) if len(row) > 4 and row[4] is False]
        last = number + 1 == len(begins) or begins[number + 1]
        made.append(
            Sentence(
                words,
                first=begins[number],
                last=last,
                parts=[],
                multiwords=multiwords,
                unspaced=unspaced,
            )
        )
    duck.execute(FILL)
    duck.execute(COUNT)
    mark(connection, made, regions, corpora)
    return made


def mark(connection: Connection, sentences: list[Sentence], regions: list[Any], corpora: int) -> None:
    """Write regions by the numbers of tokens over all sentences; each ends with its document at the latest."""
    duck = raw(connection)
    places = [(i, position) for i, one in enumerate(sentences) for position in range(len(one.words))]
    # Kinds and attributes that queries name exist, if only in another corpus.
    duck.execute(
        "insert into region select 1, 1000, n, k, n, 1000, n from (values (1, 'p'), (2, 'q')) t(n, k)"
    )
    duck.execute(
        "insert into region_meta select 1, 1000, n, k, 'a' from range(1, 3) r(n), (values ('x'), ('y')) t(k)"
    )
    numbers = Counter[int]()
    for begin, size, kind, told in sorted(regions, key=lambda one: one[0]):
        if begin >= len(places):
            continue
        inside = [places[begin]]
        for place in places[begin + 1 : begin + size]:
            if place[0] != inside[-1][0] and sentences[inside[-1][0]].last:
                break
            inside.append(place)
        (first, start), (last, end) = inside[0], inside[-1]
        numbers[first] += 1
        key = [1 + sum(one.first for one in sentences[1 : first + 1]) % corpora, first + 1, numbers[first]]
        duck.execute(
            "insert into region values (?, ?, ?, ?, ?, ?, ?)", [*key, kind, start + 1, last + 1, end + 1]
        )
        for one in told.items():
            duck.execute("insert into region_meta values (?, ?, ?, ?, ?)", [*key, *one])
        for i in range(first, last + 1):
            here = [position for number, position in inside if number == i]
            part = Part(here[0], here[-1] + 1, kind, told, i == first, i == last)
            cast(list[Part], sentences[i].parts).append(part)


def attributes(row: tuple[str | None, ...]) -> dict[str, str]:
    """Return the attributes of a token by name; its one part of speech serves as both."""
    told = {name: one for name, one in zip(COLUMNS, row, strict=True) if one is not None}
    features = dict(part.split("=") for part in told.get("feats", "").split("|") if part)
    return {**told, **features, "pos": told.get("upos", "")}


def found(connection: Connection, cql: Cql) -> list[tuple[int, int, int]]:
    """Return the hits of a query."""
    bindings = Bindings()
    parts = cql.find(bindings)
    text = f"with recursive {parts.parts.rstrip().rstrip(',')}\nselect * from {parts.table} order by all"
    return raw(connection).execute(text, dict(bindings)).fetchall()


def searched(connection: Connection, cql: Cql) -> list[tuple[int, int, int]]:
    """Return the hits of a query by the search in arrays."""
    query = Query(cql, [], cql.extent is DOCUMENT)
    rows = list[tuple[int, int, int]]()
    for hits in query.find(connection):
        rows += zip(*hits.rows(cql.extent).to_pydict().values(), strict=True)
    return rows


#: Tokens of a block, and tokens that are searched together: all in one block; all in one, whose sentences are
#: searched one by one, as if memory held no more; and one sentence in a block.
ROOMS = (1 << 20, 1 << 60), (1 << 20, 1), (1, 1)


def check_hits(
    connection: Connection, cql: Cql, expected: list[tuple[int, int, int]], rooms: Sequence[tuple[int, int]]
) -> None:
    """Find hits by the statement, and in arrays."""
    assert found(connection, cql) == expected
    for size, span in rooms:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("sentgen.lookups.base.tokens.SIZE", size)
            patched.setattr("sentgen.lookups.search.search._SPAN", span)
            assert searched(connection, cql) == expected


@settings(suppress_health_check=list(HealthCheck))
@given(
    CORPORA,
    REGIONS,
    QUERIES,
    st.sampled_from(("", "", " expand to p", " expand to s")),
    st.sampled_from(Strategy),
    st.sampled_from(ROOMS),
)
def test_the_statement_finds_what_the_definition_says(
    connection: Connection,
    corpus: list[Any],
    regions: list[Any],
    query: str,
    expanded: str,
    strategy: Strategy,
    room: tuple[int, int],
) -> None:
    """The hits are right in whatever order conditions are looked up."""
    says_the_same(connection, corpus, regions, query, expanded, strategy, [room])


@pytest.mark.parametrize(
    ("corpus", "regions", "query", "expanded", "strategy"),
    [
        ([(True, [("a", "a", "N", None)] * 6)], [], '("a" "b"? | []){2,}', "", Strategy.STANDARD),
        (
            [(True, [("a", "a", "N", None)] * 6)],
            [(1, 3, "p", {"x": "a"}), (2, 1, "p", {"x": "b"}), (3, 2, "q", {})],
            '("a"? <p x="a"> [] </p>? <q>? []){1,2} :: matchend.p_x = ""',
            " expand to p",
            Strategy.ALL,
        ),
        (
            [(True, [("a", None, "N", None), ("b", None, None, None)] * 3)],
            [],
            '[]{0,3} "b" []* </s>',
            "",
            Strategy.ALL,
        ),
        (
            [(True, [("a", None, "N", None), ("b", None, None, None)] * 3)],
            [],
            '((x:"a" | "b") "a"* y:[]) :: !(x.word = y.word)',
            "",
            Strategy.ALL,
        ),
        (
            # A gap in the numbers of tokens between the documents.
            [(True, [("a", "a", "N", None)]), (True, [("a", "a", "N", None)])],
            [],
            "[]",
            "",
            Strategy.ALL,
        ),
        (
            [(True, [("a", "a", "N", None)]), (False, [("a", "a", "N", None)])],
            [],
            "(([]) within (<doc/>))",
            "",
            Strategy.ALL,
        ),
    ],
)
def test_the_statement_found_something_else(
    connection: Connection,
    corpus: list[Any],
    regions: list[Any],
    query: str,
    expanded: str,
    strategy: Strategy,
) -> None:
    """Once."""
    says_the_same(connection, corpus, regions, query, expanded, strategy)


def says_the_same(
    connection: Connection,
    corpus: list[Any],
    regions: list[Any],
    query: str,
    expanded: str,
    strategy: Strategy,
    rooms: Sequence[tuple[int, int]] = ROOMS,
) -> None:
    """Compare the hits in sentences."""
    sentences = fill(connection, corpus, regions)
    cql = Cql.read(connection, f"{query}{expanded}", Selection(()), Reading(strategy=strategy))
    expected = [
        (number, *one)
        for number, each in enumerate(sentences, 1)
        for one in each.hits(cql.original, strategy)
    ]

    check_hits(connection, cql, expected, rooms)


@settings(max_examples=settings.default.max_examples // 2, suppress_health_check=list(HealthCheck))
@given(
    CORPORA,
    REGIONS,
    QUERIES,
    st.sampled_from(("", "", " expand to p", " expand to s")),
    st.sampled_from(Strategy),
    st.sampled_from(ROOMS),
)
def test_over_the_ends_of_sentences_too(
    connection: Connection,
    corpus: list[Any],
    regions: list[Any],
    query: str,
    expanded: str,
    strategy: Strategy,
    room: tuple[int, int],
) -> None:
    """A document is one list of tokens with complete regions; positions count from its first sentence."""
    says_the_same_across(connection, corpus, regions, query, expanded, strategy, [room])


@pytest.mark.parametrize(
    ("corpus", "regions", "query", "expanded", "strategy"),
    [
        (
            [(True, [("a", "a", "N", None)]), (False, [("b", "a", "N", None)])],
            [],
            '"a" </s> <s> "b"',
            "",
            Strategy.ALL,
        ),
        (
            [(True, [("a", None, None, None)]), (False, [("b", None, None, None)])],
            [(0, 2, "p", {"x": "a"})],
            '<p> "a" []* </doc> :: matchend.p_x = "a"',
            "",
            Strategy.ALL,
        ),
        (
            [(True, [("a", None, None, None)] * 2), (False, [("a", None, None, None)] * 2)],
            [(1, 2, "p", {})],
            '(("a" "a"+) within (<s/>)) | ("a" "a" & ("a" <s> "a")) | ("a"+ within <p/>)',
            " expand to s",
            Strategy.LONGEST,
        ),
    ],
)
def test_over_the_ends_of_sentences_it_found_something_else(
    connection: Connection,
    corpus: list[Any],
    regions: list[Any],
    query: str,
    expanded: str,
    strategy: Strategy,
) -> None:
    """Once."""
    says_the_same_across(connection, corpus, regions, query, expanded, strategy)


def says_the_same_across(
    connection: Connection,
    corpus: list[Any],
    regions: list[Any],
    query: str,
    expanded: str,
    strategy: Strategy,
    rooms: Sequence[tuple[int, int]] = ROOMS,
) -> None:
    """Compare the hits in documents."""
    sentences = fill(connection, corpus, regions)
    firsts = [number for number, one in enumerate(sentences) if one.first]
    reading = Reading(strategy=strategy, across=True)
    cql = Cql.read(connection, f"{query}{expanded}", Selection(()), reading)
    expected = [
        (begin + 1, *one)
        for begin, end in zip(firsts, [*firsts[1:], len(sentences)], strict=True)
        for one in Document(sentences[begin:end]).hits(cql.original, strategy)
    ]
    if cql.extent is SENTENCE:
        cql = replace(cql, extent=DOCUMENT)

    check_hits(connection, cql, expected, rooms)


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ('[]* "b"', 59),
        ('[]* "b" []*', 59 * 42),
        ('"b" [word="a"]*', 42),
        ('[word="a"]* "b"', 59),
        ('(x:[])* "b" y:[]*', 59 * 42),
    ],
)
def test_a_stretch_of_tokens_is_one_step(
    connection: Connection, monkeypatch: pytest.MonkeyPatch, query: str, count: int
) -> None:
    """A repeated token is one step of the search, however long the stretch is."""
    words = ["a"] * 100
    words[58] = "b"
    fill(
        connection,
        [
            (not begin, [(word, None, None, None) for word in words[begin : begin + 10]])
            for begin in range(0, 100, 10)
        ],
    )
    cql, steps = Cql.read(connection, query, Selection(()), Reading(across=True)), list[int]()
    step = WalkSearch._step

    def counted(search: WalkSearch, one: int, walks: Spans, two: int) -> Spans:
        steps.append(one)
        return step(search, one, walks, two)

    monkeypatch.setattr(WalkSearch, "_step", counted)

    assert len(searched(connection, cql)) == count
    assert len(steps) < 10


def around(sentence: Sentence, place: int, kind: str) -> list[dict[str, str]]:
    """Return the attributes of the regions of a kind around a token, the innermost last."""
    parts = (one for one in sentence.parts if one.kind == kind and one.begin <= place < one.end)
    return [dict(one.attributes) for one in parts]


CONDITIONS_ON_REGIONS = {
    "p.x = a": lambda p, _: any(one.get("x") == "a" for one in p),
    "p_x != a": lambda p, _: all(one.get("x") != "a" for one in p),
    "exists q": lambda _, q: bool(q),
    "exists q.y and not q.x in (a, b)": lambda _, q: (
        any("y" in one for one in q) and all(one.get("x") not in ("a", "b") for one in q)
    ),
    'p.y ~ "[aA]" or q.x = b': lambda p, q: (
        any(one.get("y") in ("a", "A") for one in p) or any(one.get("x") == "b" for one in q)
    ),
}


@settings(max_examples=settings.default.max_examples // 2, suppress_health_check=list(HealthCheck))
@given(CORPORA, REGIONS)
def test_conditions_and_breakdowns_by_regions(
    connection: Connection, corpus: list[Any], regions: list[Any]
) -> None:
    """A sentence is chosen by its first token, a hit is counted by its first token; both agree with the reference."""
    sentences = fill(connection, corpus, regions)
    for text, meets in CONDITIONS_ON_REGIONS.items():
        bindings = Bindings()
        query = Statement(Condition.read(connection, text).sentences(bindings), bindings)
        chosen = query.run(connection).column(0).to_pylist()
        firsts = {i: [around(one, 0, kind) for kind in "pq"] for i, one in enumerate(sentences, 1)}
        assert sorted(chosen) == [i for i, (p, q) in firsts.items() if meets(p, q)], text

    sizes, hits = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for one in sentences:
        for place, word in enumerate(one.words):
            inner = (around(one, place, "p") or [{}])[-1], (around(one, place, "q") or [{}])[-1]
            key = inner[0].get("x") or "_", inner[1].get("y") or "_"
            sizes[key] += 1
            hits[key] += word["word"] == "a"
    found = Frequencies(query='[word="[a]"]', by=["p.x,match.q_y"], limit=0).ask(connection)
    rows = {(row["p.x"], row["match.q_y"]): row for row in found.table.to_pylist()}
    assert {key: row["count"] for key, row in rows.items()} == +hits
    for key, row in rows.items():
        assert row["per_million_in_part"] == pytest.approx(1e6 * hits[key] / sizes[key])


@settings(max_examples=settings.default.max_examples // 2, suppress_health_check=list(HealthCheck))
@given(CORPORA, REGIONS)
def test_dispersion_over_regions(connection: Connection, corpus: list[Any], regions: list[Any]) -> None:
    """Gries's DP and Juilland's D agree with their formulas, over the innermost regions and the text outside."""
    sentences = fill(connection, corpus, regions)
    sizes, hits = Counter[int](), Counter[int]()
    for one in sentences:
        for place, word in enumerate(one.words):
            inside = [0, *(id(p.attributes) for p in one.parts if p.kind == "p" and p.begin <= place < p.end)]
            sizes[inside[-1]] += 1
            hits[inside[-1]] += word["word"] == "a"
    found = Frequencies(query='"[a]"', parts="p", limit=0).ask(connection).table.to_pylist()
    total, count = sizes.total(), hits.total()
    assert len(found) == bool(count)
    for row in found:
        rates = [hits[part] / size for part, size in sizes.items()]
        assert (row["count"], row["parts"]) == (count, len(+hits))
        assert row["part_share"] == pytest.approx(len(+hits) / len(sizes))
        if len(sizes) == 1:
            assert row["dp"] is row["juilland_d"] is None
            continue
        shares = (abs(hits[part] / count - size / total) for part, size in sizes.items())
        assert row["dp"] == pytest.approx(sum(shares) / 2, abs=1e-9)
        variation = pstdev(rates) / mean(rates)
        expected = max(1 - variation / math.sqrt(len(rates) - 1), 0)
        assert row["juilland_d"] == pytest.approx(expected, abs=1e-6)
