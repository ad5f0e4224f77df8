"""From a count to its hits: the query that matches what one row of a list of counts has counted."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from sentgen.server.pages.texts import cql_value, link

#: What stands for a value that there is not; no query asks for it.
_MISSING = ("__undefined__", "__0__", "_")
_BLOCKS = {"yes": "with", "no": "without"}
_DISTANCE = re.compile(r"(delta|length)\s*\(")
_ORDER = " << "
#: What stands before metadata, and what only keys of nodes and edges have.
_LABELS = ("meta.", "match.", "matchend.")
_OF_REQUEST = re.compile(r"[.#(]")


def narrowed_grew(
    request: str, row: Mapping[str, object], keys: Sequence[str], whether: Sequence[str]
) -> str:
    """Return a Grew request for the hits of one row; empty if there is none.

    Args:
        request: what was counted.
        row: of the counts.
        keys: what they were counted by, and ``whether``: the conditions; columns of the row.
    """
    clauses = [_clause(request, key, str(row.get(key, ""))) for key in keys]
    # A column has the name of its condition, unless that has blanks that names cannot have.
    if not all(clauses) or not all(condition in row for condition in whether):
        return ""
    # On lines of their own: what is asked may end with a comment.
    blocks = [f"{_BLOCKS[str(row[condition])]} {{ {condition}\n}}" for condition in whether]
    return "\n".join([request, *clauses, *blocks])


def _clause(request: str, key: str, value: str) -> str:
    """Return the block that asks for a value of a key; of a name alone, that is no edge, of metadata."""
    if not value or value in _MISSING:
        return ""
    quoted = '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if key.startswith(_LABELS) or not (_OF_REQUEST.search(key) or re.search(rf"\b{key}\s*:", request)):
        return f"global {{ {key.rpartition('.')[2]} = {quoted} }}"
    if not _OF_REQUEST.search(key):
        return f"pattern {{ {key}.label = {quoted} }}"
    if "#" in key:
        return "pattern { " + "; ".join(f"{a} << {b}" for a, b in pairwise(value.split(_ORDER))) + " }"
    return f"pattern {{ {key} = {value if _DISTANCE.match(key) else quoted} }}"


def narrowed_cql(query: str, value: str, by: str) -> str:
    """Return a query in CQL for the hits whose attribute ``by``, of a label or of all tokens, is a value."""
    label, _, attribute = by.rpartition(".")
    if not value or value in _MISSING or _MISSING[-1] in value.split():
        return ""
    if label:
        return f"({query}) :: {label}.{attribute} = {cql_value(value)}"
    return f"({query}) & ({' '.join(f'[{attribute}={cql_value(one)}]' for one in value.split())})"


def in_document(query: str, row: Mapping[str, object], kept: Mapping[str, object]) -> str:
    """Return the page with the hits of a query in CQL in one document, with other parameters that stay."""
    within = narrowed_cql(query, str(row["document"]), "meta.document")
    return link("/query", **{**kept, "query": within, "corpus": row["corpus"]})
