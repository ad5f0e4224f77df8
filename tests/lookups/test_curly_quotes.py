"""Curly quotation marks, as text processors write them, in all query languages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentgen.errors import QueryError
from sentgen.lookups.base import metadata_reading as metadata
from sentgen.lookups.base.languages import straight_quotes
from sentgen.lookups.cql import grammar as cql
from sentgen.lookups.grew.reading import read_request

PAIRS = ("“”", "„“", "”“", "””", "„”")


@pytest.mark.parametrize("marks", PAIRS)
@pytest.mark.parametrize(
    ("read", "query"),
    [
        (cql.read, '[lemma="dog" & word != "a|b"] []{0,3} "it\'s"'),
        (cql.read, '"a" \'b\' :: match.genre = "news"'),
        (read_request, 'pattern { N [lemma="dog"|"cat", form=/a"b/]; N -["nsubj"]-> M }'),
        (metadata.read, 'genre = "news" and not (title in ("a b", "it\'s"))'),
    ],
)
def test_they_are_read_as_straight_ones(read: object, query: str, marks: str) -> None:
    """Quotation marks of any language are read as straight ones; regular expressions between slashes stay."""
    opening = True
    curly = ""
    for number, character in enumerate(query):
        if character == '"' and query[max(number - 2, 0) : number] != "/a":
            curly += marks[not opening]
            opening = not opening
        else:
            curly += character

    assert curly != query
    assert repr(read(curly)) == repr(read(query))  # type: ignore[operator]


@given(st.text(alphabet="ab \\\"'“”„‟[]=|/", max_size=12))
def test_what_is_in_straight_quotes_stays(text: str) -> None:
    """No character is added, moved or lost, and none in straight quotes changes."""
    quoted = '"' + text.replace("\\", "").replace('"', "") + '"'

    assert straight_quotes(quoted) == quoted
    changed = straight_quotes(text)
    assert len(changed) == len(text)
    assert all(
        now == before or (now == '"' and before in "“”„‟") for now, before in zip(changed, text, strict=True)
    )
    assert straight_quotes(changed) == changed


def test_a_mark_that_is_not_closed_is_pointed_at() -> None:
    """A query with an open quotation mark is refused, as its end is unknown."""
    with pytest.raises(QueryError, match="column 8: unexpected '“'"):
        cql.read("[lemma=“dog]")


def test_the_other_language_is_named() -> None:
    """A query in another language than expected, as pasted into the wrong page, is named as such."""
    for grew in (
        "pattern { N [lemma=“dog”] }",
        "  % remark\n match{ V }",
        "without { A -> B }",
        "global { x }",
    ):
        with pytest.raises(QueryError, match="this is a request of Grew, and no CQL"):
            cql.read(grew)
    for query in ('[lemma="dog"]', '"dog"', "<s/>", 'a:[] "b"', "('a' | 'b')"):
        with pytest.raises(QueryError, match="this is CQL, and no request of Grew"):
            read_request(query)
