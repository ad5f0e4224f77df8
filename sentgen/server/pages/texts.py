"""Functions that make patterns, queries and links from words and rows of counts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any
from urllib.parse import quote_plus

from markupsafe import Markup, escape

from sentgen.lookups.base.metadata import in_quotes
from sentgen.lookups.cql.search import is_cql
from sentgen.output import display

_SPECIAL = re.compile(r"[\\*?/]")
_REGEX = re.compile(r'[\\.?*+|()\[\]{}^$"]')


def link(path: str, **query: object) -> str:
    """Return a URL with a query string, without empty parameters.

    >>> link("/word", word="R&D", corpus="", page=2)
    '/word?word=R%26D&page=2'
    """
    pairs = [
        f"{_quoted(key)}={_quoted(str(item))}"
        for key, value in query.items()
        if value not in (None, "", [])
        for item in (value if isinstance(value, (list, tuple)) else (value,))
    ]
    return f"{path}?{'&'.join(pairs)}" if pairs else path


def _quoted(text: str) -> str:
    # A shortcut for most of the hundreds of texts of a page.
    return text if text.isascii() and text.isalnum() else quote_plus(text)


def cell(value: object, url: str = "") -> Markup:
    """Return the HTML of a value in a table, as a link if there is a URL.

    >>> print(cell("R&D", "/word?word=R%26D&page=2"))
    <a href="/word?word=R%26D&amp;page=2"><bdi>R&amp;D</bdi></a>
    """
    text = display.shown(value)
    kind = ' class="long"' if display.is_long(text) else ""
    written = f"<bdi{kind}>{escape(text)}</bdi>"
    return Markup(f'<a href="{escape(url)}">{written}</a>' if url else written)


def literal_pattern(word: str) -> str:
    """Return the word pattern that only this word matches.

    >>> literal_pattern("5*/2")
    '5\\\\*\\\\/2'
    """
    return _SPECIAL.sub(r"\\\g<0>", word)


def token_pattern(value: str, attribute: str = "word") -> str:
    """Return the token pattern for a word, lemma or tag; empty if it contains a blank, which no pattern can.

    >>> token_pattern("camp"), token_pattern("NOUN", "upos"), token_pattern("lemma:x"), token_pattern("a b")
    ('camp', 'upos:NOUN', 'word:lemma:x', '')
    >>> token_pattern("[sic]")
    'word:[sic]'
    """
    if not value or len(value.split()) != 1:
        return ""
    bare = attribute == "word" and ":" not in value and not is_cql(value)
    prefix = "" if bare else f"{attribute}:"
    return prefix + literal_pattern(value)


def cql_value(text: str) -> str:
    """Return the string of CQL that only this text matches.

    >>> print(cql_value('camp'), cql_value('5"?'))
    "camp" "5\\"\\?"
    """
    escaped = _REGEX.sub(r"\\\g<0>", text)
    return f'"{escaped}"'


def phrase_pattern(words: Sequence[str], attribute: str = "word") -> str:
    """Return the pattern for a sequence of words, lemmas or tags; empty if one of them has no pattern.

    >>> phrase_pattern(["the", "camp"]), phrase_pattern(["DET", "NOUN"], "upos"), phrase_pattern(["<s>", "a"])
    ('the camp', 'upos:DET upos:NOUN', '')
    """
    patterns = ["" if word in ("<s>", "</s>") else token_pattern(word, attribute) for word in words]
    pattern = " ".join(patterns) if all(patterns) else ""
    return f"word:{pattern}" if is_cql(pattern) else pattern


def ngram_pattern(row: Mapping[str, Any], attribute: str) -> str:
    """Return the pattern for ``w1`` to ``w5`` of a row; see `phrase_pattern`."""
    return phrase_pattern([row[name] for name in ("w1", "w2", "w3", "w4", "w5") if name in row], attribute)


#: Values of counts for a missing value, which no query can search.
_NO_VALUE = ("__undefined__", "__0__", "_")
_BLOCKS = {"yes": "with", "no": "without"}
_DISTANCE = re.compile(r"(delta|length)\s*\(")
_ORDER = " << "
#: Prefixes of keys that denote metadata or the hit.
_LABELS = ("meta.", "match.", "matchend.")
_OF_REQUEST = re.compile(r"[.#(]")


def period_condition(key: str, value: str) -> str:
    """Return the condition that a number in the metadata is in a period; empty if the value is no period.

    >>> period_condition("meta.year/10", "1990"), period_condition("year/10", "_")
    ('meta.year/10 = 1990', '')
    """
    # Not for attributes of regions, which are those of the region around a hit, not of its sentence.
    known = re.fullmatch(r"-?\d+", value) and ("." not in key or key.startswith(_LABELS))
    return f"{key} = {value}" if known else ""


def narrowed_grew(
    request: str, row: Mapping[str, object], keys: Sequence[str], whether: Sequence[str]
) -> str:
    """Return a Grew request for the hits of a row of counts; empty if no request can select them.

    ``keys`` and ``whether`` are what hits were counted by, and columns of the row.
    """
    clauses = [_clause(request, key, str(row.get(key, ""))) for key in keys]
    # The column of a condition has its text as name, unless blanks were changed in it.
    if not all(clauses) or not all(condition in row for condition in whether):
        return ""
    # On lines of their own, as a request may end with a comment.
    blocks = [f"{_BLOCKS[str(row[condition])]} {{ {condition}\n}}" for condition in whether]
    return "\n".join([request, *clauses, *blocks])


def _clause(request: str, key: str, value: str) -> str:
    """Return the block for a value of a key; a key without a dot that names no edge is one of metadata."""
    if not value or value in _NO_VALUE:
        return ""
    quoted = in_quotes(value)
    if key.startswith(_LABELS) or not (_OF_REQUEST.search(key) or re.search(rf"\b{key}\s*:", request)):
        return f"global {{ {key.rpartition('.')[2]} = {quoted} }}"
    if not _OF_REQUEST.search(key):
        return f"pattern {{ {key}.label = {quoted} }}"
    if "#" in key:
        return "pattern { " + "; ".join(f"{a} << {b}" for a, b in pairwise(value.split(_ORDER))) + " }"
    return f"pattern {{ {key} = {value if _DISTANCE.match(key) else quoted} }}"


def narrowed_cql(query: str, value: str, by: str) -> str:
    """Return a query in CQL for hits where ``by``, an attribute of a label or of all tokens, is ``value``."""
    label, _, attribute = by.rpartition(".")
    if not value or value in _NO_VALUE or _NO_VALUE[-1] in value.split():
        return ""
    if label:
        return f"({query}) :: {label}.{attribute} = {cql_value(value)}"
    return f"({query}) & ({' '.join(f'[{attribute}={cql_value(part)}]' for part in value.split())})"


def in_document(query: str, row: Mapping[str, object], link_values: Mapping[str, object]) -> str:
    """Return the link to the hits of a query in CQL in one document, with the other parameters."""
    within = narrowed_cql(query, str(row["document"]), "meta.document")
    return link("/query", **{**link_values, "query": within, "corpus": row["corpus"]})
