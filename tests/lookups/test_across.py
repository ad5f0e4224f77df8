"""Matches, contexts and windows across the ends of sentences, against lists of a document's tokens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import log2
from pathlib import Path
from typing import Any

import pytest
from cql_reference import Document
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_queries import LABELLED, TIMES
from sqlalchemy import Connection
from test_cql_property import CORPORA, fill

from sentgen.errors import MemoryLimitError
from sentgen.lookups.concordances import line_search
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.cql.dialects import Strategy
from sentgen.lookups.cql.grammar import read
from sentgen.lookups.statistics.collocations import Collocations
from sentgen.lookups.statistics.frequencies import Frequencies
from sentgen.schema import Store
from sentgen.schema.engine import MEMORY_LIMIT
from sentgen.schema.store import raw

#: Texts with a space behind each token, as the expected lines of these tests have them.
APART = CORPORA.map(lambda corpus: [(first, [row[:4] for row in rows]) for first, rows in corpus])
ORDERS = ("none", "left", "right")

#: Sentences of a paragraph in these stores.
PARAGRAPH = 2
SETTINGS = settings(suppress_health_check=list(HealthCheck))
PARTS = st.one_of(
    LABELLED,
    st.sampled_from(("<s>", "</s>")),
    st.tuples(LABELLED, TIMES).map(lambda one: f"({one[0]}){one[1]}"),
)
QUERIES = st.lists(PARTS, min_size=1, max_size=3).map(" ".join)
PATTERNS = st.lists(st.sampled_from(("a", "b", "A", "*", "?*")), min_size=1, max_size=3).filter(
    lambda words: set(words) != {"*"}
)


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory, empty_store: Path) -> Iterator[Connection]:
    """A store of a corpus whose few rows each example writes."""
    with Store(tmp_path_factory.mktemp("across") / "s.duckdb", create=True) as store:
        with store.begin() as opened:
            raw(opened).execute(
                "insert into corpus values (1, 'c', 'corpus', null, false, 5, 'upos', false, now())"
            )
        with store.begin() as opened:
            yield opened


class Text:
    """A document as a list of words, with the ends of its sentences and paragraphs."""

    def __init__(self, reference: Document, number: int) -> None:
        self.reference, self.number = reference, number
        self.words = [one["word"] for one in reference.words]
        ends = reference.ends
        self.sentences = list(zip([0, *ends], ends, strict=False))
        self.paragraphs = [
            (self.sentences[one][0], self.sentences[min(one + PARAGRAPH, len(ends)) - 1][1])
            for one in range(0, len(ends), PARAGRAPH)
        ]

    def around(self, first: int, last: int, context: str) -> tuple[int, int]:
        """Return the begin and the end of the context of tokens, as for a slice."""
        if context.isdigit():
            return max(first - int(context), 0), min(last + int(context) + 1, len(self.words))
        regions, more = (self.sentences if context[-1] == "s" else self.paragraphs), int(context[:-1]) - 1
        begin, end = (
            next(i for i, one in enumerate(regions) if one[0] <= at < one[1]) for at in (first, last)
        )
        return regions[max(begin - more, 0)][0], regions[min(end + more, len(regions) - 1)][1]

    def line(self, first: int, last: int, context: str) -> tuple[str, str, str, str]:
        """Return the columns of a concordance line."""
        low, high = self.around(first, last, context)
        sentence = next(i for i, (begin, end) in enumerate(self.sentences) if begin <= first < end)
        parts = self.words[low:first], self.words[first : last + 1], self.words[last + 1 : high]
        return (str(self.number + sentence), *map(" ".join, parts))

    def beside(self, first: int, last: int, context: str, order: str) -> list[str]:
        """Return the words that lines are sorted by."""
        size = int(context) if context.isdigit() else 15
        if order == "left":
            return [one.lower() for one in self.words[max(first - size, 0) : first][::-1]]
        return [one.lower() for one in self.words[last + 1 : last + 1 + size]]


def texts(connection: Connection, corpus: list[Any]) -> list[Text]:
    """Fill the store with documents whose paragraphs are of two sentences."""
    sentences = fill(connection, corpus, corpora=1)
    duck = raw(connection)
    firsts = [number for number, one in enumerate(sentences) if one.first]
    made = []
    for begin, end in zip(firsts, [*firsts[1:], len(sentences)], strict=True):
        made.append(Text(Document(sentences[begin:end]), begin + 1))
        for one in range(begin, end, PARAGRAPH):
            last = min(one + PARAGRAPH, end) - 1
            row = [one + 1, last + 1, len(sentences[last].words)]
            duck.execute("insert into region values (1, $1, 1, 'p', 1, $2, $3)", row)
    return made


def lines(asked: Kwic, connection: Connection) -> list[tuple[str, ...]]:
    """Return the lines without corpus and document."""
    table = asked.ask(connection).table
    columns = (table[name].to_pylist() for name in ("sent_id", "left", "node", "right"))
    return list(zip(*columns, strict=True))


@SETTINGS
@given(
    APART,
    QUERIES,
    st.sampled_from(("0", "2", "15", "1s", "2s", "1p", "2p")),
    st.sampled_from(ORDERS),
    st.sampled_from((0, 3, 1000)),
    st.booleans(),
)
def test_lines_and_their_contexts(
    connection: Connection, corpus: list[Any], query: str, context: str, order: str, limit: int, large: bool
) -> None:
    """Lines and contexts are those of the lists, also if the store is searched in ranges of documents."""
    expected = []
    for text in texts(connection, corpus):
        for first, last in text.reference.hits(read(query)):
            line = text.line(first - 1, last - 1, context)
            words = text.beside(first - 1, last - 1, context, order) if order != "none" else []
            expected.append((words, text.number, first, last, line))
    expected.sort(key=lambda one: one[:4])
    with pytest.MonkeyPatch.context() as patched:
        if large:
            patched.setattr("sentgen.lookups.base.tokens.SIZE", 1)
            patched.setattr(line_search, "LINES", 2)
            patched.setattr(line_search, "TOKENS", 9)
        asked = Kwic(cql=query, context=context, sort=order, limit=limit, across=True)

        assert lines(asked, connection) == [one[-1] for one in expected][: limit or None]
        assert Kwic(cql=query, across=True, count=True).ask(connection).total == len(expected)


@SETTINGS
@given(APART, PATTERNS, st.sampled_from(("1", "15", "1s")), st.booleans())
def test_patterns_of_words(
    connection: Connection, corpus: list[Any], pattern: list[str], context: str, large: bool
) -> None:
    """A star matches any word of the document, across sentences."""
    expected = []
    for text in texts(connection, corpus):
        for first in range(len(text.words) - len(pattern) + 1):
            window = text.words[first : first + len(pattern)]
            if all(asked in (word, "*", "?*") for asked, word in zip(pattern, window, strict=True)):
                expected.append(text.line(first, first + len(pattern) - 1, context))
    with pytest.MonkeyPatch.context() as patched:
        if large:
            patched.setattr("sentgen.lookups.base.tokens.SIZE", 8)
        asked = Kwic(pattern=" ".join(pattern), context=context, limit=0, across=True)

        assert lines(asked, connection) == expected


@SETTINGS
@given(APART, QUERIES, st.sampled_from(Strategy))
def test_frequencies(connection: Connection, corpus: list[Any], query: str, strategy: Strategy) -> None:
    """Hits are counted by their words and by the tag of the last token."""
    expected = Counter[tuple[str, str]]()
    for text in texts(connection, corpus):
        for first, last in text.reference.hits(read(query), strategy):
            tag = text.reference.words[last - 1].get("upos", "_")
            expected[" ".join(text.words[first - 1 : last]), tag] += 1
    asked = Frequencies(query=query, by=["word", "matchend.upos"], strategy=strategy, across=True, limit=0)
    table = asked.ask(connection).table
    columns = (table[name].to_pylist() for name in ("word", "matchend.upos", "count"))

    # A hit of one token is counted by the string of that token.
    assert {one[:2]: one[2] for one in zip(*columns, strict=True)} == dict(expected)


@SETTINGS
@given(APART, QUERIES, st.sampled_from(("1", "0,3", "5")), st.booleans())
def test_windows(connection: Connection, corpus: list[Any], query: str, window: str, large: bool) -> None:
    """Each token in a window counts once; the number of these tokens is r1."""
    together, alone, near, hits = Counter[str](), Counter[str](), 0, 0
    left, right = (int(one) for one in (window.split(",") * 2)[:2])
    for text in texts(connection, corpus):
        beside = set[int]()
        for first, last in text.reference.hits(read(query)):
            hits += 1
            beside |= set(range(first - 1 - left, last + right)) - set(range(first - 1, last))
        inside = [text.words[at] for at in sorted(beside) if 0 <= at < len(text.words)]
        together.update(inside)
        alone.update(text.words)
        near += len(inside)
    with pytest.MonkeyPatch.context() as patched:
        if large:
            patched.setattr("sentgen.lookups.base.tokens.SIZE", 1)
        asked = Collocations(cql=query, window=window, min_count=1, limit=0, across=True)
        found = asked.ask(connection).table.to_pylist()

    assert {one["collocate"]: one["count"] for one in found} == dict(together)
    for one in found:
        word, count = one["collocate"], one["count"]
        assert one["frequency"] == alone[word]
        assert one["logdice"] == pytest.approx(14 + log2(2 * count / (hits + alone[word])))
        assert one["pmi"] == pytest.approx(log2(count * alone.total() / (near * alone[word])))


def test_more_matches_than_memory_holds_are_refused(connection: Connection) -> None:
    """Matches beyond the memory limit are refused as soon as there are so many, with the cure."""
    texts(connection, [(number == 0, [("a", None, None, None)] * 6) for number in range(20)])
    usual = connection.get_execution_options().get(MEMORY_LIMIT)
    connection.execution_options(**{MEMORY_LIMIT: 80_000})
    try:
        with pytest.raises(MemoryLimitError, match=r"matches within one text.*raise `memory_limit`"):
            Kwic(cql="[]*", across=True, count=True).ask(connection)
        few = Kwic(cql="[]{1,3}", across=True, count=True).ask(connection)
    finally:
        connection.execution_options(**{MEMORY_LIMIT: usual})
    assert few.total == 120 + 119 + 118


MEETS = st.recursive(
    st.sampled_from(('"a"', '"b"', '[upos="N"]', '[word!="a"]')),
    lambda inner: st.one_of(
        st.tuples(
            inner, st.sampled_from(("", "not ")), inner, st.sampled_from(("-2 2", "1 1", "-3 -1", "0 0", "s"))
        ).map(lambda one: f"(meet {one[0]} {one[1]}{one[2]} {one[3]})"),
        st.tuples(inner, inner).map(lambda one: f"(union {one[0]} {one[1]})"),
    ),
    max_leaves=4,
).filter(lambda one: one.startswith("("))


@SETTINGS
@given(APART, MEETS, st.booleans())
def test_meets_and_unions(connection: Connection, corpus: list[Any], meets: str, across: bool) -> None:
    """With `meet`, hits are the first tokens; without ``across``, the tokens that they meet are in their sentence."""
    query = f"MU{meets}"
    found = texts(connection, corpus)
    expected = sum(len(text.reference.hits(read(query))) for text in found)
    if not across:
        expected = sum(len(one.hits(read(query))) for one in fill(connection, corpus, corpora=1))

    assert Kwic(cql=query, across=across, count=True).ask(connection).total == expected
