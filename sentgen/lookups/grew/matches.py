"""Ask a request: `match` is what `sentgen match`, the API and Python call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import duckdb
from sqlalchemy import Connection

from sentgen.errors import InputError
from sentgen.lookups.absence import Value as Named
from sentgen.lookups.absence import explained
from sentgen.lookups.attributes import Value
from sentgen.lookups.grew.compiler import Compiler
from sentgen.lookups.grew.features import TOKEN_KEYS, is_feats_key
from sentgen.lookups.grew.reading import read_key, read_request, read_whether
from sentgen.lookups.grew.statements import Statements
from sentgen.lookups.grew.syntax import (
    Clause,
    Comparison,
    Edge,
    Feature,
    Filter,
    Key,
    Node,
    Relation,
    Request,
)
from sentgen.lookups.queries import Answer, Bindings, Query, Selection, limited, select_corpora
from sentgen.lookups.surface import surface_of
from sentgen.schema.engine import raw
from sentgen.tabular import column_of

_MATCHES = "select regexp_full_match('', $pattern)"


def match(
    connection: Connection,
    request: str,
    *,
    context: int = 15,
    seed: int | None = None,
    corpora: Iterable[str] = (),
    condition: str | None = None,
    ignore_case: bool = False,
    limit: int = 20,
) -> Answer:
    """Return the hits of a Grew request in context, in the order of the corpus.

    The columns are ``corpus``, ``document``, ``sent_id``, ``left``, ``node``, ``right``, where the node
    reaches from the first token to the last one of the hit, and ``nodes`` (``V=fell@4 S=prices@3``, and the
    relations of edges with names).

    Args:
        connection: the store.
        request: the request, as https://grew.fr/doc/request/ describes it.
        context: words on each side at most.
        seed: draw the hits at random instead of the first ones: the same for the same seed and store.
        corpora: their names; none for all.
        condition: what the metadata of their sentences meet; none for all sentences.
        ignore_case: compare forms and lemmas in capital and small letters alike.
        limit: hits at most, 0 for all.

    Raises:
        InputError: the request does not parse, or names what it does not have.
        NotFoundError: no such corpus.
    """
    selection = select_corpora(connection, corpora, condition=condition, ignore_case=ignore_case)
    read = read_request(request)
    statements = _compiled(connection, read, selection, [], [])
    answer = _hits(connection, statements, limit, context, seed, _missing(request))
    return _with_hints(connection, answer, selection, read)


def count_matches(
    connection: Connection,
    request: str,
    *,
    keys: Sequence[str] = (),
    whether: Sequence[str] = (),
    corpora: Iterable[str] = (),
    condition: str | None = None,
    ignore_case: bool = False,
    limit: int = 20,
) -> Answer:
    """Return how many hits a Grew request has: one row, or one for each of the values of keys.

    The columns are those of the keys and conditions, ``count``, and with them ``frequency``, the share in
    all hits; the most frequent come first. With metadata among the keys (but for ``text`` and ``sent_id``),
    ``per_million_in_part`` is the count per million tokens of the sentences that have the same metadata.

    Args:
        connection: the store.
        request: the request.
        keys: what to count hits by: ``V.lemma``, ``e.label``, ``S#V#O``, ``delta(V,S)``, ``meta.genre``.
        whether: conditions to count hits by: ``S [upos=PRON]``.
        corpora: their names; none for all.
        condition: what the metadata of their sentences meet; none for all sentences.
        ignore_case: compare forms and lemmas in capital and small letters alike.
        limit: rows at most, 0 for all.

    Raises:
        InputError: something does not parse, or names what the request does not have.
        NotFoundError: no such corpus.
    """
    selection = select_corpora(connection, corpora, condition=condition, ignore_case=ignore_case)
    read = read_request(request)
    asked = [read_key(text) for text in keys]
    conditions = [(text, read_whether(text)) for text in whether]
    statements = _compiled(connection, read, selection, asked, conditions)
    if not (keys or whether):
        query = statements.count()
        found = query.fetch(connection, 1)
        (total,) = column_of(found, "count")
        answer = Answer(found, query, _missing(request), total=total)
        return _with_hints(connection, answer, selection, read)
    answer = limited(connection, statements.keyed(asked, conditions, limit), limit, _missing(request))
    return _with_hints(connection, answer, selection, read)


def _missing(request: str) -> str:
    return f"match of {' '.join(request.split())!r}"


def matched_sentences(
    connection: Connection,
    request: str,
    *,
    seed: int | None = None,
    corpora: Iterable[str] = (),
    condition: str | None = None,
    ignore_case: bool = False,
    limit: int = 20,
) -> list[int]:
    """Return the numbers of the sentences of the hits that `match` returns, in the order of the corpus."""
    selection = select_corpora(connection, corpora, condition=condition, ignore_case=ignore_case)
    statements = _compiled(connection, read_request(request), selection, [], [])
    found = statements.sentences(limit, seed).run(connection)
    return [int(number) for number in found["sentence_id"].to_pylist()]


def _compiled(
    connection: Connection,
    request: Request,
    selection: Selection,
    keys: Sequence[Key],
    whether: Sequence[tuple[str, Filter]],
) -> Statements:
    bindings = Bindings()
    compiler = Compiler(bindings, selection, is_feats_key(connection))
    source = compiler.source(request, keys, [condition for _, condition in whether])
    for value in _values(request, [condition for _, condition in whether]):
        _check_regex(connection, value)
    return Statements(compiler, source, bindings)


def _hits(
    connection: Connection, statements: Statements, limit: int, context: int, seed: int | None, missing: str
) -> Answer:
    query = statements.lines(limit, context, seed, surface_of(connection))
    found = query.fetch(connection, limit)
    total = found.num_rows
    if limit and total == limit:
        total = int(statements.count().value(connection))
    return Answer(found, query, missing, truncated=total > found.num_rows, total=total)


def _check_regex(connection: Connection, value: Value) -> None:
    for text in value.texts if value.regex else ():
        try:
            raw(connection).execute(_MATCHES, {"pattern": text}).fetchall()
        except duckdb.Error as error:
            told = str(error).partition(":")[2].strip() or str(error)
            raise InputError(f"{text!r} is no regular expression: {told.splitlines()[0]}") from error


def _values(request: Request, others: Iterable[Filter]) -> Iterator[Value]:
    """Yield all values of a request."""
    blocks = [request.clauses, *(one.clauses for one in (*request.filters, *others))]
    for clause in (clause for block in blocks for clause in block):
        if isinstance(clause, Edge):
            yield from clause.label.values
        elif isinstance(clause, Comparison) and isinstance(clause.right, tuple):
            yield from clause.right
        for one in _features(clause):
            yield from one.values
    for one in request.metadata:
        yield from one.values


def _features(clause: Clause) -> Iterator[Feature]:
    if isinstance(clause, Node):
        yield from (one for every in clause.descriptions for one in every)
    elif isinstance(clause, Edge):
        yield from clause.label.parts


def _with_hints(connection: Connection, answer: Answer, selection: Selection, request: Request) -> Answer:
    """Say of an answer that found nothing what of the pattern never occurs."""
    if not answer.nothing:
        return answer
    named: list[Named] = []
    unknown: dict[str, None] = {}
    for clause in request.clauses:
        if isinstance(clause, Edge) and not (clause.label.negated or clause.label.enhanced):
            named += _named("deprel", "", clause.label.values)
        for one in _features(clause) if isinstance(clause, Node) else ():
            if one.key in TOKEN_KEYS and one.relation is Relation.IS:
                attribute = "word" if one.key == "form" else one.key
                named += _named(attribute, f"{one.key}=", one.values)
            elif one.relation is not Relation.ABSENT and not _known(connection, one.key):
                unknown[f"no token has {one.key}"] = None
    explained_ = explained(connection, answer, selection, named)
    return replace(explained_, hints=(*explained_.hints, *unknown))


def _named(attribute: str, prefix: str, values: Iterable[Value]) -> list[Named]:
    """Return what values name, as word patterns, in which a star would be any characters."""
    texts = [text for value in values if not value.regex for text in value.texts]
    escaped = [text.replace("\\", "\\\\").replace("*", "\\*") for text in texts]
    return [Named(attribute, text if text == "?" else text.replace("?", "\\?"), prefix) for text in escaped]


def _known(connection: Connection, key: str) -> bool:
    """Return whether some token has a value under a key."""
    if key in (*TOKEN_KEYS, "textform", "wordform") or is_feats_key(connection)(key):
        return True
    query = Query(
        "select 1 from token_misc where starts_with(misc, $start) or contains(misc, $within) limit 1",
        Bindings(start=f"{key}=", within=f"|{key}="),
    )
    return query.value(connection) is not None
