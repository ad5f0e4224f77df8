"""Offsets, and sorting by columns: rows are those of the whole answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sentgen.counts.ingestion import Settings, ingest
from sentgen.demo import TREEBANK
from sentgen.errors import InputError
from sentgen.lookups.base.question import Question, in_pages
from sentgen.lookups.base.statement import Answer, Statement
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.grew.matches import Match
from sentgen.lookups.ngram_search import Ngrams
from sentgen.lookups.statistics.collocations import Collocations
from sentgen.lookups.statistics.frequencies import Frequencies
from sentgen.lookups.statistics.keywords import Keywords
from sentgen.models.vector_building import VectorRequest
from sentgen.models.vectors import Near
from sentgen.output.tabular import Rows
from sentgen.schema import Store

REQUEST = "pattern { V -[nsubj]-> S }"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """The demo treebank with vectors."""
    with Store(tmp_path_factory.mktemp("paging") / "store.duckdb", create=True) as made:
        ingest(made, [str(TREEBANK)], Settings("relief"))
        VectorRequest(name="company", corpus=["relief"], dimensions=4, min_count=1).build(made)
        yield made


QUESTIONS = {
    "frequencies": Frequencies(),
    "lemmas of chosen sentences": Frequencies(by=["lemma"], where="length < 18", ignore_case=True),
    "frequencies of hits": Frequencies(query='[xpos="NN.*"]', by=["word"]),
    "n-grams": Ngrams(pattern="the *"),
    "collocations": Collocations(word="the"),
    "keywords": Keywords(
        corpus=["relief"], where="length < 18", against=["relief"], against_where="length >= 18"
    ),
    "near": Near(word="camp"),
    "counts of trees": Match(request=REQUEST, key=["V.lemma"]),
    "lines": Kwic(pattern="the"),
    "sorted lines": Kwic(pattern="the", sort="1L,1R"),
    "trees": Match(request=REQUEST),
}
LINES = ("lines", "sorted lines", "trees")


def rows(answer: Answer) -> list[dict[str, object]]:
    """Return the rows of an answer."""
    return _rounded(answer.rows.to_pylist())


def as_sql(store: Store, answer: Answer) -> list[dict[str, object]]:
    """Return the rows of an answer's statement."""
    with store.connect() as connection:
        return _rounded(answer.query.run(connection).to_pylist())


def _rounded(listed: list[dict[str, object]]) -> list[dict[str, object]]:
    """Return rows with rounded floats, as sums are added up in another order each time."""
    return [
        {name: round(value, 9) if isinstance(value, float) else value for name, value in row.items()}
        for row in listed
    ]


@pytest.mark.parametrize("name", QUESTIONS)
def test_rows_behind_others_are_those_of_the_whole_answer(name: str, store: Store) -> None:
    """An answer from an offset has the rows of its statement, and the last page has the total."""
    question: Question = QUESTIONS[name]
    with store.connect() as connection:
        whole = rows(replace(question, limit=0).ask(connection))
        middle = replace(question, limit=3, offset=2).ask(connection)
        last = replace(question, limit=50, offset=len(whole) - 1).ask(connection)

    assert rows(middle) == as_sql(store, middle) == whole[2:5]
    assert (middle.truncated, middle.offset) == (len(whole) > 5, 2)
    assert rows(last) == as_sql(store, last) == whole[-1:]
    assert (last.truncated, last.total) == (False, len(whole))


@pytest.mark.nightly(by_day=4)
@pytest.mark.parametrize("name", [name for name in QUESTIONS if name not in LINES])
def test_all_rows_are_sorted_by_any_column(name: str, store: Store) -> None:
    """Rows are sorted up and down, in the answer and its statement; missing values come last."""
    with store.connect() as connection:
        whole = rows(replace(QUESTIONS[name], limit=0).ask(connection))
        # If there are many columns, every third one is tested.
        for column in [*whole[0]][:: 3 if len(whole[0]) > 8 else 1]:
            told = [row for row in whole if row[column] is not None]
            untold = [row for row in whole if row[column] is None]
            for sort, down in ((column, False), (f"-{column}", True)):
                answer = replace(QUESTIONS[name], sort=sort, limit=4, offset=1).ask(connection)
                expected = [*_sorted(told, column, down=down), *untold]
                assert rows(answer) == expected[1:5]
                assert (answer.total, answer.truncated) == (len(whole), len(whole) > 5)
        assert as_sql(store, answer) == expected[1:5]


def _sorted(told: list[dict[str, object]], column: str, *, down: bool) -> list[dict[str, object]]:
    """Sort rows, stable in both directions, as `reverse` is."""
    return sorted(told, key=lambda row: row[column], reverse=down)  # type: ignore[arg-type, return-value]


@given(
    values=st.lists(st.one_of(st.none(), st.integers(0, 3)), max_size=8),
    down=st.booleans(),
    offset=st.integers(0, 9),
    limit=st.integers(0, 9),
)
@settings(max_examples=settings.default.max_examples // 5)
def test_any_part_of_any_order(
    values: list[int | None], down: bool, offset: int, limit: int, store: Store
) -> None:
    """Any page of any order agrees with Python's stable sorting; an offset beyond the end is refused."""
    table = [(value, place) for place, value in enumerate(values)]
    listed = ", ".join(f"({'null' if one is None else one}, {place})" for one, place in table) or "(1, 1)"
    query = Statement(f"select * from (values {listed}) as t (x, place)")

    class Asked(Frequencies):
        @in_pages
        def ask(self, connection: object) -> Answer:
            return Answer(Rows(("x", "place"), table, ("INTEGER", "INTEGER")), query, "row")

    asked = Asked(sort="-x" if down else "x", offset=offset, limit=limit)
    with store.connect() as connection:
        if table and offset >= len(table):
            with pytest.raises(InputError, match="leaves out all there is"):
                asked.ask(connection)
            return
        answer = asked.ask(connection)
    told = sorted((row for row in table if row[0] is not None), key=lambda row: row[0], reverse=down)
    expected = [*told, *(row for row in table if row[0] is None)][offset:][: limit or None]
    assert [tuple(row.values()) for row in rows(answer)] == expected
    if table:
        assert [tuple(row.values()) for row in as_sql(store, answer)] == expected


@pytest.mark.parametrize(
    ("question", "told"),
    [
        (Frequencies(sort="cuont"), "no column 'cuont' to sort by; did you mean count"),
        (Frequencies(sort="count desc"), "no column 'count desc'"),
        (Frequencies(offset=10**9), "leaves out all there is"),
        (Kwic(pattern="camp", offset=13), "`offset` 13 leaves out all there is, 13 rows"),
        (Match(request=REQUEST, offset=10**9), "leaves out all there is"),
    ],
)
def test_what_is_not_there_is_refused(question: Question, told: str, store: Store) -> None:
    """An offset beyond the last row is refused in one line."""
    with store.connect() as connection, pytest.raises(InputError, match=told):
        question.ask(connection)


def test_what_excludes_each_other_is_refused() -> None:
    """An offset excludes `random`, whose lines are all that are drawn, and sorting excludes a graph."""
    with pytest.raises(InputError, match="`random`"):
        Kwic(pattern="camp", random=1, offset=1)
    with pytest.raises(InputError, match="`random`"):
        Match(request=REQUEST, random=1, offset=1)
    with pytest.raises(InputError, match="graph"):
        Collocations(word="camp", graph=True, sort="count")


def test_nothing_is_said_to_be_missing_as_before(store: Store) -> None:
    """For a word that never occurs, the note is the same with an offset."""
    with store.connect() as connection:
        answer = Frequencies(pattern="campp", offset=3, sort="count").ask(connection)
    assert "no word 'campp'" in answer.notes[0]
