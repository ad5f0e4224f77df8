"""CQL: errors, attributes, metadata, matching strategies, and lookups that read CQL."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import InputError, QueryError
from sentgen.lookups.base.selection import Selection
from sentgen.lookups.base.statement import Answer
from sentgen.lookups.concordances import line_search as line_search_module
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.cql.dialects import Strategy
from sentgen.lookups.cql.grammar import read
from sentgen.lookups.cql.search import Cql, is_cql
from sentgen.lookups.statistics.collocations import Collocations
from sentgen.lookups.statistics.frequencies import Frequencies
from sentgen.lookups.statistics.sketch import Sketch
from sentgen.schema import Store
from sentgen.schema.store import raw

#: From the manual of CQP (section on matching strategies), which shows the hits of each strategy.
AROUND = {"window": "2,1"}
BOOK = "the/DET old/ADJ book/NOUN on/ADP the/DET table/NOUN in/ADP the/DET room/NOUN"
PHRASE = '[upos="DET"]? [upos="ADJ"]* [upos="NOUN"] ([upos="ADP"] [upos="DET"]? [upos="ADJ"]* [upos="NOUN"])*'
#: Queries for tokens from the same manual, which must be read.
MANUAL = (
    '"interesting" %c;', '[pos = "JJ"]', '[lemma = "go"]', "\"'em\"", "'12\"-screen'", '"12""-screen"', '"\\?"',
    '[pos != "N.*"]', '[word = "?" %l]', '[(lemma="go") & !(word="went"%c | word="gone"%c)];',
    '[lemma="under.+" & word!=lemma];', '[pos="JJ.*"]* [pos="N.*"]+', '"right" []? "left";', '"no" "sooner" []* "than";',
    '"as" []{1,3} "as";', '"left" "to" "right" | "right" "to" "left";',
    '[pos="IN"] [pos="DT"]? ([pos="RB"]? [pos="JJ.*"])* [pos="N.*"]+;', '<s> [pos="VBG"];',
    '[pos="NN"] []* [pos="NN"] within s;', '"in" @[pos="DT"] [lemma="case"];', 'a:[] "and" b:[] :: a.word = b.word;',
    'a:[pos="PP"] []{0,5} b:[pos="VB.*"] :: b.pos = "VBZ" -> a.lemma = "he|she|it";', '"a"{,2} # a comment',
)  # fmt: skip


@pytest.fixture(scope="module")
def books(tmp_path_factory: pytest.TempPathFactory, empty_store: Path) -> Iterator[Store]:
    """The example of the manual, and a sentence with features, MISC and metadata."""
    folder = tmp_path_factory.mktemp("cql")
    rows = "".join(
        f"{i}\t{form}\t{form}\t{tag}\t_\t_\t{i - 1}\tdep\t_\t_\n"
        for i, (form, tag) in enumerate((one.split("/") for one in BOOK.split()), 1)
    ).replace("\t0\tdep", "\t0\troot")
    (folder / "b.conllu").write_text(f"# newdoc id = book\n{rows}\n", "utf-8")
    with Store(folder / "s.duckdb", create=True) as made:
        ingest(made, [str(folder / "b.conllu")], Settings("books"))
        with made.begin() as connection:
            duck = raw(connection)
            duck.execute("insert into document_meta values (1, 1, 'genre', 'fiction')")
            duck.execute("insert into sentence_meta values (1, 1, 'speaker', 'Ann')")
            duck.execute("insert into token_misc values (1, 1, 3, 'Gloss=Buch|X=1|NP-B:x=1')")
            duck.execute("update document_meta set document_id = (select id from document)")
            duck.execute("update sentence_meta set sentence_id = (select id from sentence)")
            duck.execute("update token_misc set sentence_id = (select id from sentence)")
        yield made


@pytest.fixture
def store(books: Store) -> Iterator[Connection]:
    """A connection of its own: an error ends its transaction."""
    with books.connect() as connection:
        yield connection


def nodes(answer: Answer) -> list[str]:
    """Return the texts of the hits."""
    return list(answer.table["node"].to_pylist())


@pytest.mark.parametrize("query", MANUAL)
def test_the_manual_of_cqp_is_read(query: str) -> None:
    """The manual's examples of queries for tokens are read."""
    assert read(query)
    assert is_cql(query) or query.startswith(('"no"', "'12"))


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        (Strategy.SHORTEST, ["book", "table", "room"]),
        (Strategy.STANDARD, ["the old book", "the table", "the room"]),
        (Strategy.LONGEST, ["the old book on the table in the room"]),
    ],
)
def test_strategies_find_what_the_manual_of_cqp_shows(
    store: Connection, strategy: Strategy, expected: list[str]
) -> None:
    """And all: 3 begins before the first noun with 3 ends, 2 before the second with 2, 2 with 1."""
    assert nodes(Kwic(cql=PHRASE, strategy=strategy, context=0).ask(store)) == expected
    assert Kwic(pattern=PHRASE, count=True).ask(store).total == 3 * 3 + 2 * 2 + 2


@pytest.mark.parametrize(
    ("query", "hits"),
    [
        ('"book" :: match.doc_genre = "fic.*"', 1),
        ('"book" :: match.text_genre != "fiction"', 0),
        ('a:"book" :: a.s_speaker = "ann"%c', 1),
        ('[Gloss="Buch"]', 1),
        ('[NP_B_x="1"]', 1),
        ('[Gloss!="Buch"]', 8),
        ('[Gloss=""]', 8),
        ('a:[X="1"] []* b:[upos="NOUN"] :: a.Gloss != b.Gloss', 2),
        ('"BOOK"', 0),
        ('"bóok"%d', 1),
        ('"b.*"%l', 0),
    ],
)
def test_metadata_misc_and_flags(store: Connection, query: str, hits: int) -> None:
    """Each of them by what it names."""
    assert Kwic(cql=query, count=True).ask(store).total == hits


@pytest.mark.parametrize(
    ("query", "column", "message"),
    [
        ('[lemma="go"', 12, "the query ends too early; expected ]"),
        ('[lemma="go" upos="x"]', 13, "unexpected 'upos'; is & or | missing?"),
        ('"a" "b', 5, "this quote is not closed"),
        ('the "house"', 1, 'a word stands in quotes: "the"'),
        ('meet "a" "b"', 1, 'meet stands in MU(meet "a" "b" -2 2)'),
        ('MU(meet "a" "b" 2 -2)', 17, "no token is from 2 to -2 away"),
        ('MU(meet "a" "b" 1 1000)', 19, "1000 is more than 100 away; write s for the same sentence"),
        ('TAB "a" "b"', 1, "TAB is not known here"),
        ('a:cafe\u0301 "x"', 3, 'a word stands in quotes: "cafe\u0301"'),
        ("\u0939\u093f\u0928\u094d\u0926\u0940", 1, 'a word stands in quotes: "\u0939\u093f\u0928\u094d\u0926\u0940"'),
        ("can\u2019t", 1, 'a word stands in quotes: "can\u2019t"'),
        ("can't", 1, 'a word stands in quotes: "can\'t"'),
        ('can "t', 5, "this quote is not closed"),
        ("well-known", 1, 'a word stands in quotes: "well-known"'),
        ("[upos=NOUN]", 7, 'a value stands in quotes: "NOUN"'),
        ("[word = can't]", 9, 'a value stands in quotes: "can\'t"'),
        ("[lemma=cafe\u0301]", 8, 'a value stands in quotes: "cafe\u0301"'),
        ('[] [foo="x"]', 5, "no attribute 'foo'; there are form, word, lemma, upos, xpos, deprel, feats, "),
        ('[word="[a"]', 8, "no regular expression: missing ]: [a"),
        ('"a" :: b.word = "x"', 8, "no label 'b'; there are match, matchend"),
        ('[a.word="x"]', 2, "a label is compared behind the pattern"),
        ("[word]", 2, 'write what it is: word = "..."'),
        ('a:[] :: a.word', 9, 'write what it is: a.word = "..."'),
        ('<np> "a"', 2, "no region 'np'; there are s, doc"),
        ('"a"{3,1}', 5, "nothing is repeated 3 to 1 times"),
        ('"a"{101}', 5, "at most 100 times; write * or + for any number"),
        ('"a"%x', 4, "no flag '%x'; there are %c (case), %d (accents), %l (literal)"),
        ('a:("x" "y")', 1, "a label stands before one token"),
        ('match:"x"', 1, "match is the name of the match itself"),
        ('[] [lema="x"]', 5, "no attribute 'lema'; did you mean lemma?"),
        ('meta:"x"', 1, "meta stands for the metadata"),
        ('[] [genre="x"]', 5, "genre is metadata: write :: match.genre behind the pattern, or `where`"),
        ('"a" :: match.doc_gnre = "1"', 8, "no metadata 'doc_gnre'; did you mean genre?"),
        ('"a" :: meta.gnre = "1"', 8, "no metadata 'meta.gnre'; did you mean genre?"),
        ('"a" :: match.doc_year = "1"', 8, "no metadata 'doc_year'; there are corpus, document, source, sent_id, length, text, genre"),
    ],
)  # fmt: skip
def test_an_error_points_at_its_place(store: Connection, query: str, column: int, message: str) -> None:
    """A wrong query is shown with a caret below the character."""
    with pytest.raises(QueryError) as caught:
        Cql.read(store, query, Selection(()))

    assert str(caught.value).startswith(f"column {column}: {message}")
    line, caret = caught.value.picture.splitlines()
    assert line == f"  {query}"
    assert caret == " " * (column + 1) + "^"


def test_an_error_in_a_later_line_shows_that_line(store: Connection) -> None:
    """And counts its columns."""
    with pytest.raises(QueryError, match="line 2, column 3") as caught:
        Cql.read(store, '"a"\n  ) "b"', Selection(()))

    assert caught.value.picture == '    ) "b"\n    ^'


def test_too_many_tokens_are_refused(store: Connection) -> None:
    """Before anything is asked."""
    with pytest.raises(InputError, match="more than 400 tokens"):
        Kwic(pattern='("a"{50} "b"{50}){5}', count=True).ask(store)


@pytest.mark.parametrize(
    ("pattern", "cql"),
    [
        ('[word="x"]', True), ("[", False), ("[ the", False), ('[ word = "x"]', True), ("[sic]", True), ('"go" "home"', True),
        ('"', False), ('" yes "', False), ("'tis", False), ("(", False), ("( the )", False), ('("a" | "b")', True),
        ("word:[sic]", False), ("a:[]", True), ("<s> []", True), ("the *", False), ("lemma:go", False), ("meet", False),
        ("@[]", True), ("@", False), ("''", False),
        ("<b>", False),
        ("<script>alert(1)</script>", False),
        ('<b> "x"', True),
        ("<speaker/>", True),
        ('<speaker name != "A"> []', True),
    ],
)  # fmt: skip
def test_what_is_cql_by_itself(pattern: str, cql: bool) -> None:
    """No pattern of words that could be meant as one."""
    assert is_cql(pattern) is cql


def test_nothing_found_is_explained(connection: Connection) -> None:
    """As for other patterns."""
    assert Kwic(pattern='[upos="noun"]').ask(connection).hints == ("did you mean upos=NOUN?",)


@pytest.mark.nightly(by_day=4)
@pytest.mark.parametrize("order", ["none", "left", "right", "2R,-1L%c"])
@pytest.mark.parametrize("seed", [None, 3])
@pytest.mark.parametrize("query", ['[xpos="DT"] []?', "the"])
def test_ranges_change_nothing(
    connection: Connection, monkeypatch: pytest.MonkeyPatch, order: str, seed: int | None, query: str
) -> None:
    """Nor how many lines are made at once; sorted, the first of all lines come first."""
    whole = Kwic(pattern=query, sort=order, random=seed, limit=3).ask(connection)
    everything = Kwic(pattern=query, sort=order, limit=0).ask(connection).table.to_pylist()
    monkeypatch.setattr(line_search_module, "LINES", 2)
    monkeypatch.setattr("sentgen.lookups.base.tokens.SIZE", 3)
    parts = Kwic(pattern=query, sort=order, random=seed, limit=3).ask(connection)

    assert parts.table.to_pylist() == whole.table.to_pylist()
    assert parts.total == len(everything)
    if seed is None:
        assert whole.table.to_pylist() == everything[:3]


@pytest.fixture
def in_ranges(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Make every query search in blocks of one sentence."""
    monkeypatch.setattr("sentgen.lookups.base.tokens.SIZE", 3)
    return monkeypatch


#: Queries, each with what is counted by: some that are walked over arrays, and one that is not.
COUNTED = (
    ('[xpos="DT"] []*', "word"),
    ('[xpos="DT"] a:[]', "a.xpos,match.word"),
    ('a:[]? [xpos="NN.*"]', "a.word,lemma"),
    ('[xpos="DT"] ([] containing "dow")', "word"),
    ("[]", "lemma"),
    ("the *", "word"),
    ("none", "word"),
)


@pytest.mark.nightly(by_day=4)
@pytest.mark.parametrize("strategy", [Strategy.ALL, Strategy.LONGEST])
@pytest.mark.parametrize(("query", "by"), COUNTED)
@pytest.mark.parametrize("limit", [0, 2])
def test_frequencies_of_ranges_are_added(
    connection: Connection,
    in_ranges: pytest.MonkeyPatch,
    query: str,
    by: str,
    strategy: Strategy,
    limit: int,
) -> None:
    """To the same rows, in the same order, and of the same documents."""
    asked: dict[str, Any] = {"by": [by], "strategy": strategy, "limit": limit}
    parts = Frequencies(query=query, **asked).ask(connection)
    in_ranges.undo()
    whole = Frequencies(query=query, **asked).ask(connection)

    assert told(parts) == told(whole)


@pytest.mark.nightly(by_day=11)
@pytest.mark.parametrize(
    ("node", "within"),
    [
        *product(
            ("lemma:fall", "none", '[xpos="NN.*"]'), (AROUND, {"dependency": "*"}, {"dependency": "nsubj"})
        ),
        ('[xpos="DT"] []*', {"window": "0,3"}),
        ('"the" []', AROUND),
    ],
)
@pytest.mark.parametrize("ignore_case", [True, False])
@pytest.mark.parametrize("min_count", [1, 3])
def test_collocations_of_ranges_are_added(
    connection: Connection,
    in_ranges: pytest.MonkeyPatch,
    node: str,
    within: dict[str, str],
    ignore_case: bool,
    min_count: int,
) -> None:
    """Collocates that are rare in each range are counted, too; by relation, counts are those of the store."""
    asked: dict[str, Any] = {**within, "ignore_case": ignore_case, "min_count": min_count}
    parts = Collocations(word=node, **asked).ask(connection)
    in_ranges.undo()

    assert told(parts) == told(Collocations(word=node, **asked).ask(connection))


def test_a_sketch_of_ranges_is_the_same(connection: Connection, in_ranges: pytest.MonkeyPatch) -> None:
    """A sketch of ranges of sentences is that of the whole store, as collocations are."""
    parts = Sketch(word="lemma:fall", min_count=1).ask(connection)
    in_ranges.undo()

    assert told(parts) == told(Sketch(word="lemma:fall", min_count=1).ask(connection))


def told(answer: Answer) -> tuple[Any, ...]:
    """Return all parts of an answer that a user sees."""
    return answer.table.to_pylist(), answer.total, answer.truncated, answer.notes, answer.query.with_values()


def test_frequencies_of_hits(connection: Connection) -> None:
    """Seven determiners *the*, one of them *The*; "the dow" is the most frequent of what begins with one."""
    whole = Frequencies(query='[xpos="DT"] []').ask(connection).table.to_pylist()
    labelled = Frequencies(query='[xpos="DT"] a:[]', by=["a.xpos"], limit=1).ask(connection).table.to_pylist()
    alike = Frequencies(query='[xpos="DT"]', ignore_case=True).ask(connection).table.to_pylist()

    assert [(row["word"], row["count"]) for row in whole[:2]] == [("the dow", 4), ("the stock", 2)]
    assert whole[0]["share"] == pytest.approx(4 / sum(row["count"] for row in whole))
    assert labelled[0]["a.xpos"] == "NNP"
    assert [row["word"] for row in alike] == ["the"]
    with pytest.raises(QueryError, match="no label 'b' in the query; there are a, match, matchend"):
        Frequencies(query="a:[]", by=["b.word"]).ask(connection)


def test_collocates_of_a_query(connection: Connection) -> None:
    """A node of one token is what the pattern is; a longer one is no collocate of itself."""
    asked: dict[str, Any] = {**AROUND, "min_count": 1, "limit": 0}
    one = Collocations(word="lemma:fall", **asked).ask(connection)
    same = Collocations(cql='[lemma="fall"]', **asked).ask(connection)
    longer = Collocations(word='"the" "dow"', **asked).ask(connection)
    related = Collocations(cql='[lemma="fall"]', dependency="nsubj", min_count=1).ask(connection)

    assert same.table.to_pylist() == one.table.to_pylist()
    assert not {"the", "dow"} & set(longer.table["collocate"].to_pylist())
    expected = Collocations(word="lemma:fall", dependency="nsubj", min_count=1).ask(connection)
    assert related.table.to_pylist() == expected.table.to_pylist()
    with pytest.raises(InputError, match="by relation a node is one token"):
        Collocations(word='"the" "dow"', dependency="nsubj").ask(connection)
