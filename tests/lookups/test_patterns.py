"""Patterns of words and tokens, and statements with their values."""

from __future__ import annotations

import re

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection

from sentgen.errors import InputError, NotFoundError
from sentgen.lookups.base.patterns import TokenPattern, glob, split_pattern
from sentgen.lookups.base.selection import Selection
from sentgen.lookups.base.statement import Bindings, Statement, literal


@pytest.mark.parametrize(
    ("pattern", "matches", "others"),
    [
        ("dow", ["dow"], ["Dow", "down"]),
        ("d*", ["d", "dow"], ["ad", ""]),
        ("*", ["", "x", "%"], []),
        ("d?w", ["dow", "d%w"], ["dw", "doow"]),
        ("?", ["?"], ["a"]),
        ("50%*", ["50%", "50%x"], ["500"]),
        ("a_*", ["a_b"], ["axb"]),
        (r"\*", ["*"], ["x", "\\*"]),
        (r"\*\*x*", ["**xy"], ["abx"]),
        ("it's*", ["it's"], ["its"]),
        ("\\", ["\\"], [""]),
        ("x\\\\*", ["x\\y"], ["xy"]),
    ],
)
def test_glob(pattern: str, matches: list[str], others: list[str]) -> None:
    bindings = Bindings()
    statement = f"select {glob(pattern).condition('x', bindings)} from (select unnest($texts) as x)"
    bindings["texts"] = matches + others
    found = duckdb.execute(statement, dict(bindings)).fetchall()

    assert [row[0] for row in found] == [True] * len(matches) + [False] * len(others)
    assert [glob(pattern).matches(text) for text in bindings["texts"]] == [row[0] for row in found]


@given(st.text(st.characters(blacklist_characters="*?\\", blacklist_categories=["Cs", "Cc"])))
def test_plain_text_matches_itself(text: str) -> None:
    assert glob(text).text == text
    assert not glob(text).wild


@given(st.text(st.characters(blacklist_categories=["Cs", "Cc"])))
def test_literals_come_back(text: str) -> None:
    """Any text comes back from its literal in SQL."""
    assert duckdb.execute(f"select {literal(text)}").fetchall() == [(text,)]


def test_filled_replaces_once() -> None:
    """A value that looks like a parameter is not replaced again."""
    query = Statement("select $a, $b, $a_2", {"a": "$b", "b": 1.5, "a_2": [None, True, "x"]})

    assert query.with_values() == "select '$b', 1.5, (null, true, 'x')"


def test_bindings_number_second_values() -> None:
    bindings = Bindings()

    assert [bindings.bind("w", "a"), bindings.bind("w", "b"), bindings.bind("w", "a")] == ["$w", "$w_2", "$w"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("dow", TokenPattern("word", "dow")),
        ("lemma:go", TokenPattern("lemma", "go")),
        ("lemma:go/VBD", TokenPattern("lemma", "go", "VBD")),
        ("upos:VERB", TokenPattern("upos", "VERB")),
        ("stock/NN", TokenPattern("word", "stock", "NN")),
        ("1/2", TokenPattern("word", "1/2")),
        ("1/2/NN", TokenPattern("word", "1/2", "NN")),
        ("a\\/NN", TokenPattern("word", "a\\/NN")),
        ("word:lemma:x", TokenPattern("word", "lemma:x")),
        ("12:30", TokenPattern("word", "12:30")),
        ("http://x.y", TokenPattern("word", "http://x.y")),
        ("http://x.y/NN", TokenPattern("word", "http://x.y", "NN")),
        ("word:foo:bar", TokenPattern("word", "foo:bar")),
        (":", TokenPattern("word", ":")),
        ("lemma:", TokenPattern("word", "lemma:")),
        ("/", TokenPattern("word", "/")),
        ("*/NN", TokenPattern("word", "*", "NN")),
    ],
)
def test_token_pattern(text: str, expected: TokenPattern) -> None:
    is_tag, is_word = {"NN", "VBD", "VERB"}.__contains__, {"http://x.y"}.__contains__

    assert TokenPattern.read(text, Selection(()), is_tag, is_word) == expected


def test_words_are_folded_and_tags_are_not() -> None:
    selection = Selection((), lowercase=True)

    def yes(text: str) -> bool:
        return True

    assert TokenPattern.read("The/DT", selection, yes, yes) == TokenPattern("word", "the", "DT")
    assert TokenPattern.read("xpos:DT", selection, yes, yes) == TokenPattern("xpos", "DT")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("foo:bar", "there are word, lemma, upos, xpos, deprel"),
        ("foo:bar/NN", "there are word, lemma, upos, xpos, deprel"),
        ("pos:NOUN", "did you mean xpos or upos?"),
        ("UPOS:NOUN", "did you mean upos?"),
    ],
)
def test_an_unknown_attribute_is_told_with_those_that_there_are(text: str, told: str) -> None:
    """A missing word with a colon counts as a slip in the name of an attribute, and the names are listed."""
    with pytest.raises(InputError, match=rf"no attribute '\w+' \(.*'word:{text}'\); {re.escape(told)}"):
        TokenPattern.read(text, Selection(()), {"NN"}.__contains__, set[str]().__contains__)


@pytest.mark.parametrize(("text", "message"), [("  ", "empty"), ("a b c", "3 words")])
def test_split_pattern_refuses(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        split_pattern(text, most=2)


def test_unknown_corpus_lists_the_others(connection: Connection) -> None:
    with pytest.raises(NotFoundError, match="no corpus 'nope'; the store has: other, toy"):
        Selection.named(connection, ["toy", "nope"])


def test_corpora_are_selected(connection: Connection) -> None:
    assert Selection.named(connection, []) == Selection(())
    assert Selection.named(connection, ["toy", "toy"]) == Selection(("toy",))
    assert Selection.named(connection, [], min_order=3) == Selection(("toy",), left_out=("other",))


def test_order_that_no_corpus_has(connection: Connection) -> None:
    with pytest.raises(NotFoundError, match="counted up to 2"):
        Selection.named(connection, ["other"], min_order=3)
