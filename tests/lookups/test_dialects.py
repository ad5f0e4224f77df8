"""Dialects of CQL: what CWB and BlackLab read differently, and features of theirs that sentgen lacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from occurrences import COUNT, FILL
from sqlalchemy import Connection

from sentgen.errors import InputError, NotFoundError, QueryError
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.cql.dialects import Dialect, Strategy
from sentgen.lookups.statistics.collocations import Collocations
from sentgen.lookups.statistics.frequencies import Frequencies
from sentgen.schema import Store
from sentgen.schema.store import raw

#: The example of the manual of CQP (section 6.1), and two further sentences.
TEXT = (
    "the/DET old/ADJ book/NN on/PREP the/DET table/NN in/PREP the/DET room/NN",
    "The/DET end/NN ./X",
    "End/NN of/PREP the/DET café/NN",
)
QUERY = '[xpos="DET"]? [xpos="ADJ"]* [xpos="NN"] ([xpos="PREP"] [xpos="DET"]? [xpos="ADJ"]* [xpos="NN"])*'


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, empty_store: Path) -> Iterator[Connection]:
    """The text above, as one document."""
    with Store(tmp_path_factory.mktemp("dialects") / "s.duckdb", create=True) as made, made.begin() as opened:
        duck = raw(opened)
        duck.execute("insert into corpus values (1, 'c', 'corpus', null, false, 5, 'xpos', false, now())")
        duck.execute("insert into document values (1, 1, 1, 'd', 1, ?)", [len(TEXT)])
        words, tags, token = dict[str, int](), dict[str, int](), 1
        for number, sentence in enumerate(TEXT, 1):
            tokens = [token.split("/") for token in sentence.split()]
            duck.execute(
                "insert into sentence(id, corpus_id, document_id, length, first_token, line)"
                " values (?, 1, 1, ?, ?, 1)",
                [number, len(tokens), token],
            )
            token += len(tokens)
            for position, (form, tag) in enumerate(tokens, 1):
                ids = [words.setdefault(form, len(words) + 10), tags.setdefault(tag, len(tags) + 10)]
                duck.execute(
                    "insert into token(corpus_id, sentence_id, position, word_id, xpos_id)"
                    " values (1, ?, ?, ?, ?)",
                    [number, position, *ids],
                )
        duck.execute(FILL)
        duck.execute(COUNT)
        duck.execute("insert into word select unnest($1), unnest($2)", [list(words.values()), list(words)])
        duck.execute("insert into tag select unnest($1), unnest($2)", [list(tags.values()), list(tags)])
        yield opened


def nodes(connection: Connection, query: str, dialect: Dialect = Dialect.CQP, **options: object) -> list[str]:
    """Return the texts of a query's hits."""
    asked = Kwic(cql=query, dialect=dialect, limit=0, **options)  # type: ignore[arg-type]
    return list(asked.ask(connection).table["node"].to_pylist())


FOUND = {
    "shortest": ["book", "table", "room"],
    "longest": ["the old book on the table in the room"],
    "standard": ["the old book", "the table", "the room"],
    "traditional": ["the old book", "old book", "book", "the table", "table", "the room", "room"],
}


@pytest.mark.parametrize("strategy", FOUND)
def test_the_matching_strategies_of_the_manual(store: Connection, strategy: str) -> None:
    """The option names the dialect, or the query, which takes precedence; the default is standard."""
    first = f"{QUERY} within s"
    wanted = FOUND[strategy]

    assert nodes(store, first, strategy=Strategy(strategy))[: len(wanted)] == wanted
    assert nodes(store, f"(?{strategy}) {first};", strategy=Strategy.ALL)[: len(wanted)] == wanted
    assert nodes(store, first) == [*FOUND["standard"], "The end", "End", "the café"]


def test_cqp_and_blacklab_go_over_the_ends_of_sentences(store: Connection) -> None:
    """In both dialects, hits cross the ends of sentences; standard CQL needs the option for that."""
    query = '"\\." "End"'

    assert nodes(store, query) == [". End"]
    assert nodes(store, query, Dialect.BLACKLAB) == [". End"]
    assert nodes(store, query, Dialect.SENTGEN) == []
    assert nodes(store, query, Dialect.SENTGEN, across=True) == [". End"]
    assert nodes(store, f"{query} within s") == nodes(store, f"{query} within <s/>") == []
    assert nodes(store, '"\\." </s> <s> []') == [". End"]
    assert nodes(store, '"The" <s> []') == []


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ('MU(union "book" "room")', ["book", "room"]),
        ('MU(meet "the" "old" 1 1)', ["the"]),
        ('MU(meet "the" not "old" 1 1)', ["the", "the", "the"]),
        ('MU(meet [xpos="NN"] "of" -2 2)', ["End", "café"]),
        ('MU(meet "book" "table" s);', ["book"]),
    ],
)
def test_meets_and_unions_of_the_manual(store: Connection, query: str, found: list[str]) -> None:
    """The hits of `meet` are its first tokens only."""
    assert nodes(store, query) == found


def test_nested_meets(store: Connection) -> None:
    """As in CWB, the hit is the token that meets another, in a window or a region; never the other token."""
    assert nodes(store, 'MU(meet (meet "book" "old" -1 -1) "room" s)') == ["book"]
    assert nodes(store, 'MU(meet "book" "End" s)') == []
    assert nodes(store, 'MU(meet "book" "End" doc)') == ["book"]
    assert nodes(store, 'MU(meet "\\." "End" 1 1)') == ["."]
    assert nodes(store, 'MU(meet "\\." "End" 1 1)', Dialect.SENTGEN) == []
    assert nodes(store, 'MU(union (meet "on" "book" -1 0) (meet "in" "room" 0 2)) expand to s') == [
        "the old book on the table in the room"
    ]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ('"END"', ["end", "End"]),
        ('"cafe"', ["café"]),
        ('"(?-i)End"', ["End"]),
        ("l'.'", ["."]),
        ('[word = l"."]', ["."]),
        ('"old" !"the" "on"', ["old book on"]),
        ('"room" _ "end"', ["room The end", "room The end . End"]),
        ('[xpos="NN" | xpos="X" & word="end"]', ["end", "End"]),
        ('"book" | "old" & "old"', ["old"]),
        ('"book" within <s/> containing "old"', ["book"]),
    ],
)
def test_blacklab(store: Connection, query: str, found: list[str]) -> None:
    """Letters of both cases are one, ``_`` is anything, and operators bind as they do there."""
    assert nodes(store, query, Dialect.BLACKLAB) == found


@pytest.mark.parametrize(
    ("constraint", "holds"),
    [
        ("distance(a, b) > 1", lambda a, b, n: b - a > 1),
        ("dist(b, a) = -2", lambda a, b, n: a - b == -2),
        ("distabs(b, a) != 2", lambda a, b, n: abs(a - b) != 2),
        ("f(a) = 1", lambda a, b, n: n[a] == 1),
        ("f(b.word) >= 2 & !(distance(a, b) = 1)", lambda a, b, n: n[b] >= 2 and b - a != 1),
        ("f(matchend) < 2 | distance(match, matchend) <= 0", lambda a, b, n: n[b] < 2 or b <= a),
    ],
)
def test_functions_in_constraints(
    store: Connection, constraint: str, holds: Callable[[int, int, list[int]], bool]
) -> None:
    """Functions of distances between labels, and of frequencies of words, agree with counts by hand."""
    sentences = [[token.split("/")[0] for token in sentence.split()] for sentence in TEXT]
    counts = Counter(word for words in sentences for word in words)
    found = []
    for words in sentences:
        frequencies = [counts[word] for word in words]
        found += [
            " ".join(words[a : b + 1])
            for a in range(len(words))
            for b in range(a + 1, min(a + 4, len(words)))
            if holds(a, b, frequencies)
        ]

    asked = Kwic(cql=f"a:[] []{{0,2}} b:[] :: {constraint}", limit=0, context=0)
    rows = asked.ask(store).table.to_pylist()
    shown = asked.ask(store).query.run(store).to_pylist()

    assert sorted(row["node"].replace(" ", "") for row in rows) == sorted(
        one.replace(" ", "") for one in found
    )
    assert rows == shown


@pytest.mark.parametrize(
    ("dialect", "query", "column", "message"),
    [
        (
            "cqp",
            "set MatchingStrategy longest;",
            1,
            "set MatchingStrategy is not known here; write `strategy`",
        ),
        ("cqp", "set Context 3 s;", 1, "set Context is not known here; write a context"),
        ("cqp", 'undump A < "x.tbl";', 1, "undump is not known here; write one query"),
        ("cqp", 'A = "x";', 1, "A = is not known here; keep a question with"),
        ("cqp", '"a" /np[] "b"', 5, "/np[ is not known here; write out what the macro"),
        ("cqp", 'TAB "a" "b"', 1, "TAB is not known here"),
        ("cqp", '"a" <<np>>', 5, "<< is not known here; write <s/>"),
        ("cqp", '"a" [: pos != "N" :]', 5, "[: is not known here"),
        ("cqp", "[lemma = $week]", 10, "$week is not known here; write words as alternatives"),
        ("cqp", "a:[] b:[] :: strlen(a.word) > 2", 14, "strlen( is not known here"),
        ("cqp", '[x contains "y"]', 4, "contains is not known here; write a regular expression"),
        ("cqp", '@1"a"', 1, "@1 is not known here; write a label"),
        ("cqp", '"a" cut 5', 5, "cut 5 is not known here; write `limit`"),
        ("cqp", '"a" within 5', 5, "within 5 is not known here"),
        ("cqp", '"a" :EUROPARL-DE "b"', 5, ":EUROPARL-DE is not known here"),
        ("blacklab", '_ -nsubj-> "a"', 3, "-nsubj-> is not known here; ask for relations"),
        ("blacklab", "rspan(_, 'x')", 1, "rspan( is not known here"),
        ("blacklab", '"a" (?= "b")', 5, "(?= is not known here"),
        ("blacklab", '!("a" "b")', 1, "! stands before one token"),
    ],
)
def test_what_is_not_known_is_named(
    store: Connection, dialect: str, query: str, column: int, message: str
) -> None:
    """An unknown feature is named with its place and a replacement; text in quotes is not searched for it."""
    with pytest.raises(QueryError) as caught:
        nodes(store, query, Dialect(dialect))

    assert str(caught.value).startswith(f"column {column}: {message}")
    quoted = query.replace('"', "").replace("'", "").replace("\\", "")
    assert nodes(store, f"[word = '{quoted}'%l]", Dialect(dialect)) == []


def test_a_query_of_another_dialect_is_one_wherever_it_may_be(store: Connection) -> None:
    """With the option, the dialect holds whatever a query begins with."""
    found = Frequencies(query="(?longest) [xpos='NN']", dialect=Dialect.CQP).ask(store).table
    assert found["word"].to_pylist()[0] == "End"
    assert Collocations(word='_ "of"', dialect=Dialect.BLACKLAB, min_count=1).ask(store).table.num_rows
    assert Kwic(pattern='(?longest) "a"?"End"', dialect=Dialect.CQP, count=True).ask(store).total == 1


def test_contexts_that_are_none(store: Connection) -> None:
    """Wrong contexts, paragraphs in a store without any, and relations across sentences are refused."""
    for wrong in ("x", "0s", "-1", "2q", "", "1001", "101s"):
        with pytest.raises(InputError, match="context"):
            Kwic(pattern="end", context=wrong)
    with pytest.raises(NotFoundError, match="no paragraphs here"):
        Kwic(pattern="end", context="1p").ask(store)
    with pytest.raises(InputError, match="does not leave its sentence"):
        Collocations(word="end", dependency="nsubj", across=True).ask(store)
