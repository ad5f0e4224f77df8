"""Queries in CQL, Grew requests and conditions on metadata may have any content, up to a size."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection

from sentgen.cli.console.options import StoreOptions
from sentgen.errors import InputError, NotFoundError, QueryError
from sentgen.lookups.base import languages
from sentgen.lookups.base.metadata_reading import read as read_condition
from sentgen.lookups.base.question import Lookup
from sentgen.lookups.base.selection import Selection
from sentgen.lookups.base.statement import Bindings
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.cql.grammar import read
from sentgen.lookups.cql.search import Cql
from sentgen.lookups.grew.matches import Match
from sentgen.lookups.grew.reading import read_request
from sentgen.lookups.ngram_search import Ngrams
from sentgen.lookups.statistics.frequencies import Frequencies
from sentgen.schema import Store


@pytest.fixture(scope="module")
def store(path: Path) -> Iterator[Store]:
    """The store itself, for new connections: a failed statement ends the transaction of its connection."""
    with StoreOptions(db=path).store(read_only=True) as opened:
        yield opened


@pytest.fixture
def connection(store: Store) -> Iterator[Connection]:
    """A connection of its own for each test."""
    with store.connect() as opened:
        yield opened


_DEEP, _MANY, _LONG = "nested more than 50 deep", "more than 100 conditions", "longer than 100,000 characters"


@pytest.mark.parametrize(
    ("query", "told"),
    [
        (f"[{'!' * 3000}word='a']", _DEEP),
        (f"[{'->'.join(['word=lemma'] * 60)}]", _DEEP),
        (f"{'@' * 500}'a'", _DEEP),
        (f"{'x:' * 500}'a'", _DEEP),
        ("'a'" + " within 'a'" * 60, _DEEP),
        ("[" + "&".join(["word!='a'"] * 101) + "]", _MANY),
        ("[" + "&".join(["word!='a'"] * 3001) + "]", _MANY),
        (f"[word='{'a|' * 50000}']", _LONG),
        ("'a' " * 101, _MANY),
        ("[]" * 401, "more than 400 tokens"),
        ("(((<s>){100}){100}){100}", "more than 400 tokens"),
        ("((('a' within 'b'){50}) within 'c'){50}", "more than 400 tokens"),
        ("'a'{1000000000000000000000}", "at most 100 times"),
        ("[word='\ud800']", "this character is no text"),
    ],
)
def test_a_query_in_cql_is_bounded(query: str, told: str) -> None:
    """One line names the limit, before anything is planned."""
    with pytest.raises(QueryError, match=told) as caught:
        read(query)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("request_", "told"),
    [
        (f"pattern {{ X -[{'1' * 5000}=a]-> Y }}", "a relation has no part"),
        ("pattern { X -[1234=a]-> Y }", "a relation has no part"),
        ("pattern { e: X -> Y; e.9999999999 = a }", "an edge has label"),
        ("pattern { X []; Y []; delta(X, Y) = 1e400 }", "is compared with a number"),
        ("pattern { X []; Y []; X.form > inf }", "is compared with a number"),
        ("pattern { X []; Y []; X.form > nan }", "is compared with a number"),
        ("pattern { X [" + "lemma<>a," * 100 + "lemma<>a] }", _MANY),
        ("pattern { X [] } " + "without { X -> Y }" * 101, _MANY),
        (f"pattern {{ X [lemma={'a' * 100000}] }}", _LONG),
        ("pattern { X [lemma='\ud800'] }", "this character is no text"),
    ],
)
def test_a_request_is_bounded(connection: Connection, request_: str, told: str) -> None:
    """One line says which limit is exceeded."""
    with pytest.raises(InputError, match=told) as caught:
        Match(request=request_, count=True).ask(connection)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("condition", "told"), [(f"a = {'b' * 100000}", _LONG), ("a = \ud800", "this character is no text")]
)
def test_a_condition_is_bounded(condition: str, told: str) -> None:
    """Long conditions are refused; `test_metadata_conditions` tests their depth and words."""
    with pytest.raises(QueryError, match=told):
        read_condition(condition)


def test_what_is_at_the_bounds_is_read() -> None:
    """Queries at the limits are read; one more is refused, as above."""
    assert read("[" + "!" * 48 + "word='the']")
    assert read("[" + "|".join(["word='the'"] * languages.MOST_CONDITIONS) + "]")
    assert read("[]" * languages.MOST_TOKENS)
    assert read_request("pattern { X [" + ",".join(["lemma<>a"] * languages.MOST_CONDITIONS) + "] }")


def test_thousands_of_alternatives_are_one_condition(connection: Connection) -> None:
    """Thousands of alternatives take no longer than one, as they are not a parameter each."""
    query = f"[word='the|{'|'.join(f'w{number}' for number in range(2500))}'%c]"

    assert (
        Kwic(cql=query, count=True).ask(connection).total
        == Kwic(cql="'the'%c", count=True).ask(connection).total
    )


def test_of_many_values_that_never_occur_the_first_are_named(connection: Connection) -> None:
    """Only the first 20 values are named, as each is looked up by itself: thousands took minutes."""
    many = [f"w{number}" for number in range(60)]
    asked = (
        Match(request=f"pattern {{ X [lemma={'|'.join(many)}] }}"),
        Ngrams(pattern="the *", where=" or ".join(f"corpus = {one}" for one in many)),
    )
    for one in asked:
        (note,) = one.ask(connection).notes
        assert note.count(" never ") == 20


@pytest.mark.parametrize(
    ("one", "other"),
    [("a", "A"), ("a[b]", "c"), ("select", "from"), ("É", "é"), ("first", "label_1"), ("t_first", "m")],
)
def test_a_label_may_be_any_name(connection: Connection, one: str, other: str) -> None:
    """The name of a label is not in the statement, as SQL has reserved names, and ignores their case."""
    query = "{0}:[] {1}:[] :: {0}.lemma != {1}.lemma & {0}"
    plain = Kwic(cql=query.format("x", "y"), count=True).ask(connection).total

    assert plain
    assert Kwic(cql=query.format(one, other), count=True).ask(connection).total == plain


def test_a_node_may_have_any_name(connection: Connection) -> None:
    """Nodes of a request may have any names, as labels may."""
    request, names = "pattern {{ {0} [xpos=DT]; {1} []; {0} < {1} }}", (("v", "V"), ("select", "É"))
    plain = Match(request=request.format("x", "y"), count=True).ask(connection).total

    assert plain
    assert {Match(request=request.format(*two), count=True).ask(connection).total for two in names} == {plain}


def test_no_word_of_a_query_stands_in_its_statement(connection: Connection) -> None:
    """No text of a question is in the statement, except quoted names of columns; values are bound."""
    cql = Cql.read(connection, 'zzl:"zzv" zzm:[] :: zzl.lemma != zzm.lemma', Selection(()))
    statement = cql.find(Bindings()).parts
    statement += (
        Match(request="pattern { zzn [xpos=zzv]; zze: zzn -> zzo }", count=True).ask(connection).query.text
    )
    statement += Ngrams(pattern="zzv *", where="length > 3 and not sent_id = zzv").ask(connection).query.text

    assert "zz" not in statement


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        ("(?=a)", "no such group; there are (...), (?:...) and (?i): (?="),
        ("a**", "what is repeated cannot be repeated again; write parentheses: **"),
        ("+", "nothing stands before this to be repeated; any characters are .*: +"),
        ("a{1001}", "this is repeated more than 1000 times: {1001}"),
        ("[z-a]", "no such range or class of characters: z-a"),
        ("\\y", "no such escape; write two backslashes for one"),
    ],
)
def test_what_is_wrong_with_a_regular_expression(store: Store, expression: str, told: str) -> None:
    """The message has sentgen's own words, not the engine's, the same in all three languages."""
    for asked in (
        Kwic(cql=f'[word="{expression}"]'),
        Match(request=f'pattern {{ X [form=re"{expression}"] }}'),
        Ngrams(pattern="the *", where=f'sent_id ~ "{expression}"'),
    ):
        with pytest.raises(InputError) as caught, store.connect() as connection:
            asked.ask(connection)
        assert told in str(caught.value)


#: Pieces of queries, from which some valid ones result, and pieces that no query has.
_PIECES = st.sampled_from(
    [
        *'[]()<>{}&|!=.:;,@"*?+-#%$^~/\\ \n\0',
        *("a", "A", "x", "1", "0", "99999999999999999999", "é", "\ud800", "’", "²", "٣", "nan", "1e999"),
        *(
            '"a"',
            "'a",
            "->",
            "-[",
            "]->",
            "->>",
            "<<",
            "><",
            "<>",
            "!=",
            "<=",
            "::",
            "%c",
            "[]",
            "<s>",
            "</s>",
        ),
        *(
            "word",
            "lemma",
            "upos",
            "feats",
            "Number",
            "match",
            "matchend",
            "meta",
            "doc_genre",
            "length",
            "deep",
        ),
        *(
            'word="a"',
            '[lemma="t.*"]',
            "x:",
            "x.lemma",
            "within",
            "containing",
            "{2,}",
            "{0,3}",
            're"("',
            "/(/i",
        ),
        *("pattern {", "without {", "with {", "global {", "}", "X", "Y", "X []", "X -> Y", "e: X -> Y", "e."),
        *(
            "X.lemma",
            "__id__",
            "delta(X,Y)",
            "E:",
            "1=a",
            "is_tree",
            "=",
            "and",
            "or",
            "not",
            "in (",
            "like",
            "exists",
        ),
        *("genre", "corpus", "sent_id", "select", "t_x", "null", "$value", "?", "--", "/*"),
    ]
)
_TEXTS = st.one_of(st.lists(_PIECES, max_size=12).map("".join), st.lists(_PIECES, max_size=12).map(" ".join))
_ANY = st.one_of(
    _TEXTS, st.text(max_size=40), st.tuples(_PIECES, st.integers(1, 3000)).map(lambda one: one[0] * one[1])
)


def answered(store: Store, asked: Lookup) -> bool:
    """Return whether a question is answered; otherwise check that its error is one line without the engine's words."""
    try:
        with store.connect() as connection:
            asked.ask(connection)
    except (InputError, NotFoundError) as error:
        told = str(error)
        assert "\n" not in told
        assert not any(
            f" {kind} Error: " in f" {told}" for kind in ("Binder", "Parser", "Invalid Input", "Catalog")
        )
        return False
    return True


@settings(suppress_health_check=list(HealthCheck), deadline=None)
@given(_ANY)
@example('a:[] A:[] :: a.lemma != A.lemma & "')
@example('select:"a" from:[] :: select.x')
@example("\ud800")
def test_any_text_is_a_query_or_refused(store: Store, text: str) -> None:
    """Random text is answered or refused in each language, as a whole, as a part, and as a key."""
    answered(store, Kwic(cql=text, limit=1))
    answered(store, Kwic(cql=f"[{text}]", limit=1))
    answered(store, Match(request=text, limit=1))
    answered(store, Match(request=f"pattern {{ X []; {text} }}", limit=1))
    answered(store, Match(request="pattern { e: X -> Y }", key=[text], limit=1))
    answered(store, Match(request="pattern { e: X -> Y }", whether=[text], limit=1))
    answered(store, Ngrams(pattern="the *", where=text, limit=1))
    answered(store, Frequencies(query='x:[xpos="DT"] X:[]', by=[text], limit=1))
