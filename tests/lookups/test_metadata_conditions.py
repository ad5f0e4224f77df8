"""Conditions on metadata select the sentences of a reference in Python, and lookups read only these."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import meta_treebank
import pytest
from hypothesis import given
from hypothesis import strategies as st
from meta_treebank import Sentence
from sqlalchemy import Connection

from sentgen.errors import NotFoundError, QueryError
from sentgen.lookups.base.languages import MOST_NESTED, MOST_WORDS, MetadataComparison
from sentgen.lookups.base.metadata import Condition, in_quotes
from sentgen.lookups.base.metadata_reading import read
from sentgen.lookups.base.question import Question
from sentgen.lookups.base.statement import Answer, Bindings, Statement
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.dependency_search import Arguments, Dependencies, Layer
from sentgen.lookups.grew.matches import Match
from sentgen.lookups.ngram_search import Ngrams
from sentgen.lookups.pair_lines import PairLines
from sentgen.lookups.statistics.collocations import Collocations
from sentgen.lookups.statistics.frequencies import Frequencies
from sentgen.lookups.statistics.sketch import Sketch
from sentgen.output.tabular import Rows
from sentgen.schema import Store

ROWS = meta_treebank.sentences()
Test = tuple[str, Callable[[Sentence], bool]]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of all sentences."""
    return meta_treebank.store_of(tmp_path_factory.mktemp("metadata") / "all.duckdb", ROWS)


@pytest.fixture(scope="module")
def everything(path: Path) -> Iterator[Connection]:
    """The store, opened as commands open it."""
    with Store(path, read_only=True) as store, store.connect() as opened:
        yield opened


def chosen(connection: Connection, text: str) -> list[str]:
    """Return the names of the sentences that meet a condition."""
    bindings = Bindings()
    inner = Condition.read(connection, text).sentences(bindings)
    query = Statement(f"select sent_id from sentence where id in ({inner}) order by id", bindings)
    # The statement with bound values and the shown one have the same rows.
    assert query.run(connection).equals(Statement(query.with_values()).run(connection))
    return [str(name) for name in query.run(connection)["sent_id"].to_pylist()]


def number(text: str | None) -> float | None:
    """Return a value as a number, ``None`` if it is none; enough for the values here."""
    try:
        return None if text in (None, "nan") else float(text)
    except ValueError:
        return None


COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda one, two: one == two,
    "!=": lambda one, two: one != two,
    "<": lambda one, two: one < two,
    "<=": lambda one, two: one <= two,
    ">": lambda one, two: one > two,
    ">=": lambda one, two: one >= two,
}


@st.composite
def comparison(draw: st.DrawFn) -> Test:
    """Draw a comparison, and a function that tests a row for it."""
    key = draw(st.sampled_from(("genre", "year", "speaker")))
    among = {
        "genre": (*meta_treebank.GENRES[:3], "speech"),
        "year": meta_treebank.YEARS[:4],
        "speaker": meta_treebank.SPEAKERS[:3],
    }
    text = draw(st.sampled_from(among[key]))
    match draw(st.sampled_from(("compared", "number", "in", "like", "~", "exists"))):
        case "compared":
            sign = draw(st.sampled_from(list(COMPARED)))
            told = f'{key} {sign} "{text}"'
            return told, lambda row: holds(row.value(key), sign, lambda value: (value, text))
        case "number":
            sign, wanted = (
                draw(st.sampled_from(list(COMPARED))),
                draw(st.sampled_from((12, 1999, 2010, 2010.5))),
            )
            told = f"{key} {sign} {wanted}"
            return told, lambda row: holds(row.value(key), sign, lambda value: (number(value), wanted))
        case "in":
            no = draw(st.booleans())
            told = f"{key} {'not ' if no else ''}in (2010, '{text}')"
            return (
                told,
                lambda row: (
                    no
                    != (
                        row.value(key) is not None
                        and (row.value(key) == text or number(row.value(key)) == 2010)
                    )
                ),
            )
        case "like":
            return f"{key} like '%n%'", lambda row: "n" in (row.value(key) or "")
        case "~":
            told = rf'{key} ~ "[A-Z0-9]\w+|{text[0]}.*"'
            pattern = rf"[A-Z0-9]\w+|{text[0]}.*"
            return told, lambda row: bool(re.fullmatch(pattern, row.value(key) or "", re.ASCII))
    return f"exists {key}", lambda row: row.value(key) is not None


def holds(value: str | None, sign: str, sides: Callable[[str], tuple[Any, Any]]) -> bool:
    """Compare as documented: for a missing value, only `!=` holds."""
    left, right = sides(value) if value is not None else (None, None)
    return sign == "!=" if left is None else COMPARED[sign](left, right)


def joined(parts: st.SearchStrategy[Test]) -> st.SearchStrategy[Test]:
    """Join tests by `and`, `or` and `not`."""

    def every(found: list[Test]) -> Test:
        return f"({' and '.join(one for one, _ in found)})", lambda row: all(test(row) for _, test in found)

    def either(found: list[Test]) -> Test:
        return f"({' OR '.join(one for one, _ in found)})", lambda row: any(test(row) for _, test in found)

    def negated(one: Test) -> Test:
        return f"not {one[0]}", lambda row: not one[1](row)

    several = st.lists(parts, min_size=2, max_size=3)
    return several.map(every) | several.map(either) | parts.map(negated)


@given(asked=st.recursive(comparison(), joined, max_leaves=5))
def test_sentences_are_those_that_python_chooses(everything: Connection, asked: Test) -> None:
    """Random conditions select the rows of the reference."""
    text, meets = asked
    assert chosen(everything, text) == [row.sent_id for row in ROWS if meets(row)]


@pytest.mark.parametrize(
    ("text", "meets"),
    [
        ("a = 1 or b = 2 and c = 3", "Either"),
        ("not a = 1 and b = 2", "Every"),
        ("not (a = 1 and b = 2)", "Negation"),
    ],
)
def test_not_binds_closest_and_or_least(text: str, meets: str) -> None:
    """`not` binds closest and `or` least."""
    assert type(read(text)).__name__ == meets


def test_what_every_sentence_has(everything: Connection) -> None:
    """Each sentence has some keys besides its metadata; in quotes, a key means metadata only."""
    for text, meets in (
        ("corpus = second", lambda row: row.corpus == "second"),
        ("document in (first-0, second-1)", lambda row: row.document in ("first-0", "second-1")),
        ("source = all-first.conllu", lambda row: row.corpus == "first"),
        ("sent_id like 'first-1.%'", lambda row: row.document == "first-1"),
        ("not sent_id = 7", lambda row: True),
        ("length >= 3 and length < 5", lambda row: 3 <= len(row.tokens) < 5),
        ("length ~ '[12]'", lambda row: len(row.tokens) < 3),
        ("exists length", lambda row: True),
    ):
        assert chosen(everything, text) == [row.sent_id for row in ROWS if meets(row)], text
    with pytest.raises(QueryError, match="no metadata 'corpus'; there are genre, speaker, year"):
        Condition.read(everything, '"corpus" = second')


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("", "the condition is empty", None),
        ("genre", "expected =, !=, <, <=, >, >=, in, like, ~ or not", 5),
        ("genre =", "expected a value", 7),
        ("genre = fine print", "expected and, or or the end; a value of several words stands in quotes", 13),
        ("genre = news)", "expected and, or or the end", 12),
        ("(genre = news", r"expected and, or or \)", 13),
        ('genre = "news', "this quote is not closed", 8),
        ("genre in (news fiction)", r"expected a comma or \)", 15),
        ("genre = news or\nyeer > 1", "line 2, column 1: no metadata 'yeer'; did you mean year", 16),
        ("genre ~ 'a('", "no regular expression", 8),
        ("length < many", "length is a number, and 'many' is none", 9),
        ("(" * (MOST_NESTED + 1) + "a=b" + ")" * (MOST_NESTED + 1), "nested 50 deep", MOST_NESTED),
        (f"genre in ({', '.join('a' * MOST_WORDS)})", "more than 500 keys and values", 1507),
        ("not " * 4000 + "yeer = 1", "no metadata", 16000),
    ],
)
def test_a_mistake_is_shown_with_its_place(
    everything: Connection, text: str, message: str, place: int | None
) -> None:
    """Any mistake in a condition is shown with its place."""
    with pytest.raises(QueryError, match=message) as found:
        Condition.read(everything, text)
    assert found.value.offset == place


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("genre = nwes", "genre is never 'nwes', did you mean news?"),
        ("genre = News", "genre is never 'News', did you mean news?"),
        ("speaker = Zoe", "speaker is never 'Zoe'; there are "),
        ("corpus = frist", "corpus is never 'frist', did you mean first?"),
        ("genre > 2010", 'genre is never a number; in quotes, texts are compared: genre > "2010"'),
        ("length > 100", "no sentence meets the condition"),
    ],
)
def test_an_empty_answer_says_why(everything: Connection, text: str, hint: str) -> None:
    """For a value that never occurs, similar ones are proposed, as for words."""
    (note,) = Kwic(pattern="dog", where=text).ask(everything).notes
    assert note.startswith(f"no occurrence of 'dog'; {hint}")


def pairs(connection: Connection, condition: str | None) -> list[Answer]:
    """Return the concordance lines of counted pairs."""
    given: dict[str, Any] = {"other": "the", "where": condition, "limit": 0}
    return [
        PairLines(word="*", role="modifier", **given).ask(connection),
        PairLines(word="dog", role="collocate", window="2", **given).ask(connection),
    ]


def questions(**given: Any) -> list[Question]:
    """Return questions of all kinds, with all ways to ask them."""
    every: dict[str, Any] = {"limit": 0, **given}
    relation = "pattern { V [upos=VERB]; V -> X }"
    return [
        *(Ngrams(pattern=one, **every) for one in ("*", "the *", "* * *", "<s> * * * *")),
        Ngrams(pattern="the *", ignore_case=True, **every),
        *(Dependencies(head="*", level=level, **every) for level in ("word-word", "tag-tag")),
        Dependencies(head="*", layer=Layer.UNIT, **every),
        *(Arguments(word=word, **every) for word in ("*", "dog")),
        *(Kwic(pattern=one, **every) for one in ("the", "* dog", '[upos="ADJ"]* [upos="NOUN"]')),
        Kwic(pattern="the", sort="right", **{**every, "limit": 3}),
        Kwic(pattern="dog", count=True, **every),
        *(Frequencies(by=[by], **every) for by in ("word", "upos")),
        Frequencies(ignore_case=True, **every),
        Frequencies(query='a:[upos="DET"] []', by=["a.word"], **every),
        Collocations(word="dog", min_count=1, **every),
        Collocations(cql='"the" []', min_count=1, **every),
        Collocations(word="dog", dependency="*", min_count=1, **every),
        Sketch(word="dog", min_count=1, **every),
        Match(request=relation, **every),
        Match(request=relation, key=["X.form", "meta.genre"], **every),
        Match(request="pattern { V [upos=VERB]; V ->> X }", count=True, **every),
        Match(request="global { is_not_projective }", count=True, **every),
        Match(request="global { is_tree }", count=True, **every),
    ]


@pytest.mark.nightly(by_day=1)
@pytest.mark.parametrize(
    ("text", "meets"),
    [
        ("genre = news or genre = 'fine print'", lambda row: row.value("genre") in ("news", "fine print")),
        ("not speaker = Ann", lambda row: row.value("speaker") != "Ann"),
    ],
)
def test_answers_are_those_of_a_store_of_the_chosen_sentences(
    everything: Connection, tmp_path: Path, text: str, meets: Callable[[Sentence], bool], nightly: bool
) -> None:
    """All lookups, also those of counts, answer as on a store of the selected sentences only.

    The shown statement gives the same rows. By day, every fourth question is asked.
    """
    chosen = slice(None, None, 1 if nightly else 4)
    alone = meta_treebank.store_of(tmp_path / "alone.duckdb", filter(meets, ROWS))
    with Store(alone, read_only=True) as store, store.connect() as opened:
        expected = [one.ask(opened) for one in questions()[chosen]] + pairs(opened, None)
    asked = questions(where=text)[chosen]
    found = [one.ask(everything) for one in asked] + pairs(everything, text)
    names = [*questions()[chosen], "dependency lines", "collocation lines"]
    for name, one, other in zip(names, found, expected, strict=True):
        assert rounded(one) == rounded(other), name
        assert rounded(one) == rounded(
            Answer(Rows.from_arrow(Statement(one.query.with_values()).run(everything)), one.query, "")
        ), name
    assert [str(name) for name, one in zip(names, expected, strict=True) if not one.rows.num_rows] == []
    assert [one.total for name, one in zip(names, found, strict=True) if isinstance(name, Kwic)] == [
        one.total for name, one in zip(names, expected, strict=True) if isinstance(name, Kwic)
    ]


def rounded(answer: Answer) -> list[tuple[Any, ...]]:
    """Return the rows with rounded floats, as their sums depend on the order."""
    rows = answer.table.to_pylist()
    return [
        tuple(float(f"{one:.9g}") if isinstance(one, float) else one for one in row.values()) for row in rows
    ]


def test_corpora_and_a_condition_both_hold(everything: Connection) -> None:
    """With corpora and a condition, hits are in sentences of these corpora that meet the condition."""
    answer = Kwic(pattern="upos:DET", corpus=["second"], where="exists speaker", limit=0).ask(everything)
    among = {row.sent_id for row in ROWS if row.corpus == "second" and row.value("speaker")}
    found = {row["sent_id"] for row in answer.rows.to_pylist()}
    assert found
    assert found <= among


def test_a_store_without_sentences_has_none_to_choose_from(tmp_path: Path) -> None:
    """A store without sentences, as a counted lake, refuses conditions, as it has only counts of all sentences."""
    with (
        Store(tmp_path / "empty.duckdb", create=True) as store,
        store.connect() as connection,
        pytest.raises(NotFoundError, match="there are no sentences to choose from"),
    ):
        Condition.read(connection, "length > 1")


#: Texts of the characters with a meaning in conditions.
ODD = st.text(st.sampled_from("a1 \\\"'“”=().:%é"), max_size=6)


@given(key=ODD, value=ODD)
def test_what_stands_in_quotes_is_read_as_it_was(key: str, value: str) -> None:
    """Any text in quotes comes back, also one that ends with a backslash; expressions keep backslashes."""
    comparison = read(f"{in_quotes(key)} = {in_quotes(value)}")
    expression = read(r'a ~ "\d\\"')

    assert isinstance(comparison, MetadataComparison)
    assert isinstance(expression, MetadataComparison)
    assert (comparison.key.text, comparison.key.quoted) == (key, True)
    assert [each.text for each in comparison.values] == [value]
    assert [each.text for each in expression.values] == [r"\d\\"]
