r"""Regular expressions know the letters and digits of all scripts; the package ``regex`` is the reference."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection

from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import SentgenError
from sentgen.lookups.base.regular_expressions import to_re2
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.grew.matches import Match
from sentgen.schema import Store

#: Classes of regular expressions, and the same sets in the notation of `regex`.
_WORD, _SPACE = r"[\p{L}\p{M}\p{N}_]", r"[\s\p{Z}]"
_OUTSIDE = {
    r"\w": _WORD,
    r"\W": f"[^{_WORD}]",
    r"\d": r"\p{Nd}",
    r"\D": r"\P{Nd}",
    r"\s": _SPACE,
    r"\S": f"[^{_SPACE}]",
    ".": ".",
    "a": "a",
    r"\.": r"\.",
    r"\p{Lu}": r"\p{Lu}",
}
_INSIDE = {
    r"\w": _WORD,
    r"\d": r"\p{Nd}",
    r"\s": _SPACE,
    "[:alpha:]": r"[\p{L}\p{M}]",
    "[:upper:]": r"\p{Lu}",
    "[:lower:]": r"\p{Ll}",
    "[:digit:]": r"\p{Nd}",
    "[:punct:]": r"[\p{P}\p{S}]",
    "a-f": "[a-f]",
    "_": "_",
    r"\]": r"\]",
    r"\p{Greek}": r"\p{Greek}",
}
_REST = {r"\W": f"[^{_WORD}]", r"\D": r"\P{Nd}", r"\S": f"[^{_SPACE}]", "[:^alpha:]": r"[^\p{L}\p{M}]"}
_WORDS = [
    "über",
    "Straße",
    "naïve",
    "nai\u0308ve",
    "haus",
    "5",
    "٣",
    "a_b",
    "о",
    "हिन्दी",
    "漢字",
    "½",
    "a.b",
    "A]",
    "…",
    "\u00a0",
    "$",
    "_",
]


def _written(items: list[tuple[str, str]], negated: str = "") -> tuple[str, str]:
    return (
        f"[{negated}{''.join(one for one, _ in items)}]",
        f"[{negated}{''.join(other for _, other in items)}]",
    )


_within = st.lists(st.sampled_from(sorted(_INSIDE.items())), min_size=1, max_size=3)
_any = st.lists(st.sampled_from(sorted((_INSIDE | _REST).items())), min_size=1, max_size=3)
_piece = st.one_of(
    st.sampled_from(sorted(_OUTSIDE.items())),
    st.builds(_written, _any),
    st.builds(_written, _within, st.just("^")),
)
_repeated = st.tuples(_piece, st.sampled_from(["", "+", "*", "?"]))


@given(st.lists(_repeated, min_size=1, max_size=4))
def test_classes_are_those_of_unicode(pieces: list[tuple[tuple[str, str], str]]) -> None:
    """Classes match as in `regex`, inside of brackets and outside, negated or not."""
    asked = "".join(one + sign for (one, _), sign in pieces)
    meant = regex.compile("".join(other + sign for (_, other), sign in pieces), regex.V1 | regex.DOTALL)
    query = "select regexp_full_match(one, $2) from (select unnest($1) as one)"
    found = [bool(one) for (one,) in duckdb.execute(query, [_WORDS, to_re2(asked)]).fetchall()]

    assert found == [meant.fullmatch(word) is not None for word in _WORDS]


@pytest.mark.parametrize(
    "text", ["a.*", r"\\w", r"\Q\w\E", "[", "a]", "(?i)x", r"\pL", r"[\x{61}-\x{7a}]", "[]a]", "[^]a]", "\\"]
)
def test_what_else_there_is_stays(text: str) -> None:
    """Other expressions are not changed, nor are wrong ones, whose errors RE2 reports."""
    assert to_re2(text) == text


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """A store with a word of each alphabet, also as a value of metadata."""
    folder = tmp_path_factory.mktemp("regular")
    path = folder / "a.conllu"
    row = "# as = {0}\n1\t{0}\t{0}\t_\t_\t_\t0\troot\t_\tAs={0}\n\n"
    path.write_text("".join(row.format(word) for word in ("über", "naïve", "дом", "٣", "-")))
    with Store(folder / "store.duckdb", create=True) as made:
        ingest(made, [str(path)], Settings("c"))
        with made.connect() as connection:
            yield connection


@pytest.mark.parametrize(
    ("text", "hits"), [(r"\w+", 4), (r"\d", 1), ("[[:alpha:]]+", 3), (r"[^\W\d_]+", 3), (r"\W", 1)]
)
def test_all_languages_read_them_alike(store: Connection, text: str, hits: int) -> None:
    """CQL, Grew in both notations, MISC and conditions on metadata read expressions in the same way."""
    for question in (
        Kwic(cql=f'"{text}"'),
        Kwic(cql=f'[As="{text}"]'),
        Kwic(cql=f'[] :: match.as="{text}"'),
        Kwic(cql="[]", where=f'as ~ "{text}"'),
        Match(request=f'pattern {{ X [lemma=re"{text}"] }}'),
        Match(request=f"pattern {{ X [lemma=/{text}/] }}"),
    ):
        assert question.ask(store).total == hits, question


@pytest.mark.parametrize("text", [r"a.*\bx", r"x\B", r".*\b.", r"[^\Wa]"])
def test_what_has_no_meaning_in_all_scripts_is_refused(store: Connection, text: str) -> None:
    """Expressions without a meaning in all scripts are refused, with a replacement."""
    for question in (
        Kwic(cql=f'"{text}"'),
        Kwic(cql="[]", where=f'as ~ "{text}"'),
        Match(request=f'pattern {{ X [lemma=re"{text}"] }}'),
    ):
        with pytest.raises(SentgenError, match=r"\\p\{L\}|\\P\{L\}"):
            question.ask(store)


@pytest.mark.parametrize(
    ("cql", "told"),
    [('"do*"', True), ('[lemma="дом*"]', True), ('"do.*"', False), ('"a*"', False), ('"do*"%l', False)],
)
def test_a_star_after_letters_is_told_from_a_wildcard(store: Connection, cql: str, told: bool) -> None:
    """A star after letters gets a note on wildcards, for counts and lines, filtered or not."""
    for question in (Kwic(cql=cql), Kwic(cql=cql, count=True), Kwic(cql=cql, filter=["1R x"])):
        assert ("what begins with" in "".join(question.ask(store).notes)) is told


@pytest.mark.parametrize(
    "text", [r".*\bдом\b.*", r"\bдом.*", r".*дом\b", r"(?i).*\b(?:дом|a)\b.*", r".*\b\w+", r".*\bдомы?\b.*"]
)
def test_bounds_of_words_are_known_at_the_ends(text: str) -> None:
    """Word boundaries at the ends of an expression match as in `regex`, for words of all scripts."""
    words = ["дом", "дома", "мой дом", "домы!", "бдом", "дом-2", "Дом a", "a", ".", "", "на-дом", "дом\u0301"]
    meant = regex.compile(text.replace(r"\w", _WORD), regex.V1)
    query = "select regexp_full_match(one, $2) from (select unnest($1) as one)"
    found = [bool(one) for (one,) in duckdb.execute(query, [words, to_re2(text)]).fetchall()]

    assert found == [meant.fullmatch(word) is not None for word in words]
