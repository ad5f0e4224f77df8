"""The keys that a request names, and those that hits are counted by: all of them are keys of the store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sentgen.errors import InputError
from sentgen.lookups.grew.features import TEXT, TOKEN_KEYS, WRITTEN, refuse_regions, require
from sentgen.lookups.grew.scopes import own_nodes
from sentgen.lookups.grew.syntax import (
    POSITION,
    Clause,
    CountKey,
    Filter,
    GrewComparison,
    GrewEdge,
    GrewRequest,
    Node,
    Reference,
)
from sentgen.lookups.keys import StoreKeys, bare
from sentgen.output.wording import instead, near


def check_request(keys: StoreKeys, request: GrewRequest, others: Iterable[Filter]) -> None:
    """Refuse a request that names keys which no token has; of metadata, `Conditions` does.

    Args:
        keys: those of the store.
        request: the request.
        others: conditions that hits are counted by.

    Raises:
        InputError: there is no such key.
    """
    clauses = request.every_clause(others)
    edges = _edges(clauses)
    for clause in clauses:
        if isinstance(clause, Node):
            for one in (feature for every in clause.descriptions for feature in every):
                _check_token(keys, one.key, one.key)
        elif isinstance(clause, GrewComparison):
            for side in (clause.left, clause.right):
                if isinstance(side, Reference) and side.name not in edges:
                    _check_token(keys, f"{side.name}.{side.key}", side.key)


def read_keys(keys: StoreKeys, request: GrewRequest, asked: Sequence[CountKey]) -> list[CountKey]:
    """Return keys with those of metadata told from those of nodes, under whichever name they have.

    Raises:
        InputError: there is no such key.
    """
    edges = _edges(request.clauses)
    nodes = [name for name in own_nodes(request.clauses, {}) if name not in edges]
    return [_read_key(keys, one, nodes, edges) for one in asked]


def _read_key(keys: StoreKeys, one: CountKey, nodes: Sequence[str], edges: Sequence[str]) -> CountKey:
    if not isinstance(one.of, Reference) or one.of.name in edges:
        return one
    if one.of.name in nodes:
        _check_token(keys, one.text, one.of.key)
        return one
    if bare(one.text) == TEXT:
        meant = replace(one.of, key=TEXT)
    elif one.meta or bare(one.text) != one.text or keys.find_metadata(one.text):
        require(keys, one.text)
        meant = replace(one.of, name="meta", key=one.text)
    else:
        refuse_regions(keys, one.text)
        close = [f"did you mean {found}?" for found in near(one.text, keys.of_sentences, 1)]
        there = ", ".join([*nodes, *edges])
        told = f"no node or edge {one.of.name!r} in the request{f'; it has {there}' if there else ''}"
        raise InputError("; ".join([told, *close]))
    return replace(one, of=meant, meta=True)


def _edges(clauses: Iterable[Clause]) -> list[str]:
    return [clause.name for clause in clauses if isinstance(clause, GrewEdge) and clause.name is not None]


def _check_token(keys: StoreKeys, text: str, key: str) -> None:
    if key in (*TOKEN_KEYS, *WRITTEN, POSITION) or keys.find_surprisal(key):
        return
    if key in keys.features or keys.is_misc(key):
        return
    known = [name for name in keys.of_tokens if name not in ("word", "feats", "deprel")]
    refuse_regions(keys, key)
    where = "" if text == key else f"{text}: "
    raise InputError(f"{where}no token has {key!r}; {instead(key, [*known, *WRITTEN])}")
