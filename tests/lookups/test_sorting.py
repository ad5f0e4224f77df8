"""Sorted concordances, against the same hits sorted in Python."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from meta_treebank import Sentence, sentences, store_of
from sqlalchemy import Connection

from sentgen.errors import InputError
from sentgen.lookups.concordances import line_search
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.grew.matches import Match
from sentgen.schema import Store
from sentgen.schema.engine import raw
from sentgen.schema.guard import require_harmless

ROWS = sentences()
BY_NAME = {one.sent_id: one for one in ROWS}
CONTEXT = 3
QUERIES = ('[upos="NOUN"]', '[upos="DET"] []?', "[]{1,2}", '[upos="VERB" | word="old"]')
PLACES = ("1L", "2l", "3R", "1r", "2R%c")
KEYS = st.tuples(
    st.booleans(),
    st.sampled_from((*PLACES, "node", "node%c", "left", "right", "document", "corpus", "length"))
    | st.sampled_from(("genre", "meta.year", "match.doc_genre", "speaker", "year%c")),
)


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    path = store_of(tmp_path_factory.mktemp("sorting") / "s.duckdb", ROWS)
    with Store(path, read_only=True) as store, store.connect() as opened:
        yield opened


class Hit:
    """A hit, by its positions in the words of its sentence or document, by which it may be sorted."""

    def __init__(self, words: list[str], first: int, last: int, of: Sentence) -> None:
        self.words, self.first, self.last, self.of = words, first, last, of

    def word(self, place: int) -> str:
        return self.words[place] if 0 <= place < len(self.words) else ""

    def key(self, name: str) -> Any:
        """Return the value of a key for Python's sorting."""
        stem = name.removesuffix("%c")
        fold = str.lower if stem != name else str
        if stem[0].isdigit():
            size = int(stem[:-1])
            place = self.first - size if stem[-1] in "lL" else self.last + size
            return fold(self.word(place))
        if stem == "node":
            # A node of a request may be the artificial root, before all words.
            return [fold(one) for one in self.words[max(self.first, 0) : self.last + 1]]
        if stem == "left":
            begin, end = max(self.first - CONTEXT, 0), max(self.first, 0)
            return [one.lower() for one in self.words[begin:end]][::-1]
        if stem == "right":
            return [one.lower() for one in self.words[self.last + 1 :][:CONTEXT]]
        found = {
            "document": self.of.document,
            "corpus": self.of.corpus,
            "length": str(len(self.of.tokens)),
            "match.doc_genre": self.of.of_document.get("genre"),
        }
        value = found[stem] if stem in found else self.of.value(stem.removeprefix("meta."))
        return value is not None, *numbered(value or "")


def numbered(text: str) -> tuple[float, str]:
    """Return a sort key by which numbers are sorted by size, before other texts."""
    try:
        number = float(text)
    except ValueError:
        number = math.inf
    return (math.inf if math.isnan(number) else number), text


def hits_of(connection: Connection, query: str, *, across: bool) -> list[tuple[tuple[str, ...], Hit]]:
    """Return the lines of all hits in the order of the corpus, each with its hit among the words."""
    asked = Kwic(cql=query, context=CONTEXT, limit=0, across=across)
    found = []
    for row in asked.lines(connection, placed=True).table.to_pylist():
        number = row["sentence_id"] - 1
        among = [ROWS[number]]
        before = 0
        if across:
            document = (ROWS[number].corpus, ROWS[number].document)
            among = [one for one in ROWS if (one.corpus, one.document) == document]
            start = ROWS.index(among[0])
            before = sum(len(one.tokens) for one in ROWS[start:number])
        words = [form for one in among for form, _, _ in one.tokens]
        shift = before - 1
        line = tuple(str(row[name]) for name in ("sent_id", "left", "node", "right"))
        found.append((line, Hit(words, row["first"] + shift, row["last"] + shift, ROWS[number])))
    return found


@settings(max_examples=settings.default.max_examples // 5)
@given(
    query=st.sampled_from(QUERIES),
    keys=st.lists(KEYS, min_size=1, max_size=4, unique_by=lambda one: one[1].removesuffix("%c").upper()),
    limit=st.sampled_from((0, 3, 50)),
    across=st.booleans(),
    large=st.booleans(),
)
def test_lines_come_as_python_sorts_them(
    connection: Connection,
    query: str,
    keys: list[tuple[bool, str]],
    limit: int,
    across: bool,
    large: bool,
) -> None:
    expected = hits_of(connection, query, across=across)
    # From the last key to the first, as sorting is stable.
    for descending, name in reversed(keys):
        expected.sort(key=lambda one: one[1].key(name), reverse=descending)
    asked = ",".join(f"{'-' if descending else ''}{name}" for descending, name in keys)

    with pytest.MonkeyPatch.context() as patch:
        if large:
            patch.setattr("sentgen.lookups.base.tokens.SIZE", 9)
            patch.setattr(line_search, "LINES", 7)
            patch.setattr(line_search, "TOKENS", 20)
        answer = Kwic(cql=query, context=CONTEXT, sort=asked, limit=limit, across=across).ask(connection)

    table = answer.table
    columns = (table[name].to_pylist() for name in ("sent_id", "left", "node", "right"))
    lines = [line for line, _ in expected]
    assert list(zip(*columns, strict=True)) == (lines[:limit] if limit else lines)
    assert answer.total == len(lines)
    # The shown statement gives the same rows.
    assert answer.query.run(connection).to_pylist() == table.to_pylist()
    require_harmless(raw(connection), answer.query.with_values())  # as `sentgen sql` does


REQUESTS = (
    "pattern { D [upos=DET]; N [upos=NOUN]; D << N }",
    "pattern { H -> M }",
    "pattern { e: H -> M } without { X [form=old] }",
)


@given(
    request=st.sampled_from(REQUESTS),
    keys=st.lists(KEYS, min_size=1, max_size=3, unique_by=lambda one: one[1].removesuffix("%c").upper()),
    limit=st.sampled_from((0, 3, 50)),
    large=st.booleans(),
)
def test_hits_of_trees_come_as_python_sorts_them(
    connection: Connection, request: str, keys: list[tuple[bool, str]], limit: int, large: bool
) -> None:
    """The node of a hit of a request is the text from its first token to its last."""
    rows = Match(request=request, limit=0, context=CONTEXT).ask(connection).table.to_pylist()
    expected = []
    for row in rows:
        of = BY_NAME[row["sent_id"]]
        places = [int(one) - 1 for one in re.findall(r"@(\d+)", row["nodes"])]
        expected.append((row, Hit([form for form, _, _ in of.tokens], min(places), max(places), of)))
    for descending, name in reversed(keys):
        expected.sort(key=lambda one: one[1].key(name), reverse=descending)
    asked = ",".join(f"{'-' if descending else ''}{name}" for descending, name in keys)

    with pytest.MonkeyPatch.context() as patch:
        if large:
            patch.setattr("sentgen.lookups.grew.matches.SENTENCES", 9)
        question = Match(request=request, limit=limit, context=CONTEXT, sort=asked)
        answer, numbers = question.ask(connection), question.sentences(connection)

    shown = [row for row, _ in expected][: limit or None]
    assert answer.table.to_pylist() == shown
    assert answer.query.run(connection).to_pylist() == shown
    assert numbers == sorted({ROWS.index(BY_NAME[row["sent_id"]]) + 1 for row in shown})


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ("gnre", "no sort key 'gnre'; did you mean genre?"),
        ("1L,,2L", "'1L,,2L' has an empty sort key, or one twice; write keys as in 1L,2L%c,-year"),
        ("1L,1l", "'1L,1l' has an empty sort key, or one twice; write keys as in 1L,2L%c,-year"),
        ("none,1L", "'none,1L' has an empty sort key, or one twice; write keys as in 1L,2L%c,-year"),
        ("", "'' has an empty sort key, or one twice; write keys as in 1L,2L%c,-year"),
        (",".join(f"{n}L" for n in range(1, 22)), "lines are sorted by 20 keys at most; there are 21"),
        ("nod", "no sort key 'nod'; did you mean node?"),
    ],
)
def test_what_is_no_key_is_refused(connection: Connection, keys: str, problem: str) -> None:
    with pytest.raises(InputError) as refused:
        Kwic(pattern="the", sort=keys).ask(connection)

    assert str(refused.value) == problem
