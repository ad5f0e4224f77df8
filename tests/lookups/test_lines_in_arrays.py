"""Random concordances: lines made in arrays are the rows of the shown statement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from occurrences import FILL
from sqlalchemy import Connection

from sentgen.lookups.concordances import line_search
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.concordances.line_query import random_keys
from sentgen.schema import Store
from sentgen.schema.engine import raw

TABLES = ("occurrence", "token", "multiword", "region", "sentence", "document")
#: The last form ends with a no-break space.
FORMS = ("a", "b", "A", "ab", "É", "é", "b\u00a0")
#: Sentences: whether a document begins, and tokens: a form, whether a blank follows, and whether the token is
#: written as one word with the next.
CORPORA = st.lists(
    st.tuples(
        st.booleans(),
        st.lists(
            st.tuples(st.integers(0, len(FORMS) - 1), st.booleans(), st.sampled_from((False, False, True))),
            min_size=1,
            max_size=7,
        ),
    ),
    min_size=1,
    max_size=5,
)
KEYS = (
    "none", "1L", "-1R%c", "2L,1R", "node", "-node%c", "left", "-right", "node,left,-document", "document",
    "lemma", "1L,-upos", "-corpus,right",
)  # fmt: skip
ASKED = st.fixed_dictionaries(
    {
        "cql": st.sampled_from(('"a"', "[]", "[]{1,3}", '"a" []* "b"', '[word="a.*"%c] []?', '"nothing"')),
        "context": st.sampled_from((0, 1, 2, 15, "1s", "2s", "1p", "2p")),
        "sort": st.sampled_from(KEYS),
        "sample": st.sampled_from((None, None, 1, 4)),
        "limit": st.sampled_from((0, 1, 3, 50)),
        "show": st.sampled_from(([], ["lemma"], ["document", "upos", "lemma"])),
        "dedupe": st.sampled_from((False, False, True)),
        "across": st.booleans(),
    }
)


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """A store, of which each example replaces the few rows."""
    with Store(tmp_path_factory.mktemp("arrays") / "s.duckdb", create=True) as store, store.begin() as opened:
        duck = raw(opened)
        duck.execute(
            "insert into corpus by name select 1 as id, 'c' as name, 'corpus' as kind, false as lowercase,"
            " 1 as max_order, 'upos' as tags, false as function_heads, now() as created_at"
        )
        duck.execute("delete from word")
        duck.execute("delete from tag")
        duck.execute("insert into word select unnest(range(7)), unnest($1)", [list(FORMS)])
        duck.execute("insert into tag values (0, 'N')")
        yield opened


def fill(connection: Connection, corpus: Sequence[Any]) -> None:
    """Write documents, where every other sentence begins a paragraph."""
    duck, token, document = raw(connection), 0, -1
    for name in TABLES:
        duck.execute(f"delete from {name}")
    for number, (first, tokens) in enumerate(corpus, 1):
        if first or document < 0:
            # Gaps in the numbers, as after the removal of other documents.
            token, document = token + 5, document + 1
            duck.execute("insert into document values (?, 1, 1, ?, ?, 0)", [document, f"d{document}", number])
        duck.execute("update document set sentences = sentences + 1 where id = ?", [document])
        duck.execute(
            "insert into sentence(id, corpus_id, document_id, length, first_token, line) values (?, 1, ?, ?, ?, 1)",
            [number, document, len(tokens), token],
        )
        token += len(tokens)
        for position, (form, spaced, _) in enumerate(tokens, 1):
            duck.execute(
                "insert into token(corpus_id, sentence_id, position, word_id, lemma_id, upos_id, space_after)"
                " values (1, ?, ?, ?, ?, ?, ?)",
                [number, position, form, form // 2 or None, 0 if form else None, None if spaced else False],
            )
        for begin, end in written_as_one([joined for *_, joined in tokens]):
            duck.execute("insert into multiword values (1, ?, ?, ?, 'du')", [number, begin, end])
        if number % 2:
            duck.execute("insert into region values (1, ?, 1, 'p', 1, ?, ?)", [number, number, len(tokens)])
    duck.execute(FILL)


def written_as_one(joined: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last position of tokens that are written as one word."""
    begin = 1
    for position, with_next in enumerate([*joined[:-1], False], 1):
        if not with_next:
            if position > begin:
                yield begin, position
            begin = position + 1


@settings(max_examples=settings.default.max_examples // 5, suppress_health_check=list(HealthCheck))
@given(CORPORA, ASKED, st.booleans())
@example(
    [(True, [(0, True, True), (1, False, True), (0, True, False), (1, True, False)])],
    {"cql": '"b"', "context": 1, "sort": "node", "limit": 0},
    True,
)
def test_lines_are_the_rows_of_the_statement(
    connection: Connection, corpus: Sequence[Any], asked: dict[str, Any], small: bool
) -> None:
    fill(connection, corpus)
    with pytest.MonkeyPatch.context() as patched:
        if small:
            patched.setattr("sentgen.lookups.base.tokens.SIZE", 1)
            patched.setattr(line_search, "LINES", 2)
            patched.setattr(line_search, "TOKENS", 5)
        answer = Kwic(**asked).ask(connection)
        _, parts = Kwic(**{**asked, "limit": 20}).parts(connection)
        every = [row for part in parts for row in part.to_pylist()]

    expected = answer.query.run(connection)
    assert answer.table.schema == expected.schema
    assert answer.table.to_pylist() == expected.to_pylist()
    assert every == Kwic(**{**asked, "limit": 0}).ask(connection).query.run(connection).to_pylist()


def test_each_hit_is_drawn_about_as_often() -> None:
    """Thirty adjacent hits are drawn about equally often: chi square is 29 on average, and rarely 60."""
    places, one = np.arange(1, 31), np.full(30, 3)
    first = [int(np.argmin(random_keys(seed, places, one, one))) for seed in range(1500)]

    assert (((np.bincount(first, minlength=30) - 50) ** 2) / 50).sum() < 60
