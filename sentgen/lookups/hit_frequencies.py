"""Frequency lists of the hits of a query: what was matched, by attributes of it and of its labels.

A breakdown by metadata compares parts of different sizes, so that it also has the relative frequency within
the part: per million tokens of the sentences that have the same metadata.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from sentgen.errors import InputError
from sentgen.lookups.absence import Value, explained
from sentgen.lookups.cql.search import Strategy, is_cql, known_terms, parse_cql
from sentgen.lookups.cql.syntax import Term
from sentgen.lookups.cql.tokens import ENDS, Conditions, metadata_key
from sentgen.lookups.frequencies import JUILLAND_D
from sentgen.lookups.hits import read_hits
from sentgen.lookups.queries import (
    Answer,
    Bindings,
    Query,
    Selection,
    limit_clause,
    limited,
    select_corpora,
    where,
)

_STATEMENT = """\
with recursive {parts}item as (
{items}
),
counted as (
  select {keys}, document_id, count(*) as count
  from item
  join sentence on sentence.id = item.sentence_id
  group by {keys}, document_id
),
part as (
  select document_id, sum(length) as size
  from sentence{corpora}
  group by document_id
),
{kinds}total as (
  select sum(size) as tokens, count(*) as documents, (select sum(count) from counted) as hits from part
)
select {shown}, sum(count)::bigint as count, sum(count) / any_value(hits) as share,
  1e6 * sum(count) / any_value(tokens) as per_million, count(*) as documents,
  case when any_value(total.documents) > 1 then greatest(
    0.5 * (
      sum(abs(count / of_item - size / tokens) order by document_id) + 1 - sum(size) / any_value(tokens)
    ), 0
  ) end as dp,
  {juilland} as juilland_d, count(*) / any_value(documents) as document_share{within}
from (select *, sum(count) over (partition by {keys}) as of_item from counted)
join part using (document_id){join_kinds}
cross join total
group by {keys}
order by count desc, {keys}{limit}"""

_JUILLAND = JUILLAND_D.format(
    documents="any_value(total.documents)",
    squares="sum((count / size) ** 2 order by document_id)",
    rates="sum(count / size order by document_id)",
)

#: How many tokens the sentences have that agree in their metadata.
_KINDS = """\
kind as (
  select {strings}, sum(length) as kind_size
  from (select id as sentence_id, length from sentence{corpora}) as h
  group by all
),
"""
_WITHIN = ",\n  1e6 * sum(count) / any_value(kind_size) as per_million_in_part"

_WHOLE = """\
(
    select h.sentence_id, h.first, h.last, {strings}
    from {hits} as h
    join token as t on t.sentence_id = h.sentence_id and t.position between h.first and h.last
    group by h.sentence_id, h.first, h.last
  )"""

_PLACES = """\
(
    select distinct sentence_id, first, last, {places}
    from {match}
    join {hits} using (sentence_id, first, last)
  )"""


@dataclass(frozen=True, slots=True)
class _Asked:
    """A query in a statement.

    Args:
        parts: common table expressions, each with a comma and a line feed behind it.
        hits: the name of that with the hits.
        match: the name of that with the places of labels.
        labels: label to its column there.
        conditions: what writes attributes of tokens.
        values: what the query names.
    """

    parts: str
    hits: str
    match: str
    labels: dict[str, str]
    conditions: Conditions
    values: Sequence[Value]


def hit_frequencies(
    connection: Connection,
    query: str,
    *,
    by: str = "word",
    strategy: Strategy = Strategy.ALL,
    corpora: Iterable[str] = (),
    condition: str | None = None,
    ignore_case: bool = False,
    limit: int = 20,
) -> Answer:
    """Return what a query matched, most frequent first, then alphabetically.

    The columns are the keys; ``count``; ``share`` of all hits; ``per_million`` tokens; ``documents`` with
    it; and ``dp``, ``juilland_d`` and ``document_share``, its dispersion over all documents (see
    `sentgen.lookups.frequencies`). With metadata among the keys, ``per_million_in_part`` is the count per
    million tokens of those sentences that have the same metadata. What lacks a key counts as ``_``.

    Args:
        connection: the store.
        query: in CQL, or a pattern of tokens.
        by: keys, with commas between them: attributes of the tokens that were matched, or of that of a label,
            metadata among them: ``lemma``, ``a.lemma``, ``a.lemma,match.doc_genre``. A hit in which a label
            can stand for several tokens counts once for each; where it stands for none, not.
        strategy: which of the spans that match are hits.
        corpora: their names; none for all.
        condition: what the metadata of their sentences meet; none for all sentences.
        ignore_case: take words and lemmas that differ in capital letters only for one.
        limit: rows at most, 0 for all.

    Raises:
        QueryError: the query cannot be read, or has no such attribute or label.
        InputError: a pattern matches everywhere, or a key is empty or given twice.
        NotFoundError: no such corpus.
    """
    selection = select_corpora(connection, corpora, condition=condition, ignore_case=ignore_case)
    keys, bindings = _read_keys(by), Bindings()
    asked = _asked(connection, query, selection, strategy, list(keys.values()), bindings)
    columns = {name: f"key_{number}" for number, name in enumerate(keys, 1)}
    metadata = {
        columns[name]: f"coalesce({asked.conditions.string(term.attribute, 'h')}, '_')"
        for name, term in keys.items()
        if _of_metadata(term)
    }
    corpora_only = where(selection.of_sentences(bindings), "  ")
    strings = ", ".join(f"{string} as {column}" for column, string in metadata.items())
    text = _STATEMENT.format(
        parts=asked.parts,
        items=_items(asked, keys, selection),
        keys=", ".join(columns.values()),
        shown=", ".join(f'{column} as "{_quoted(name)}"' for name, column in columns.items()),
        corpora=corpora_only,
        juilland=_JUILLAND,
        kinds=_KINDS.format(strings=strings, corpora=corpora_only.replace("\n  ", " ")) if metadata else "",
        join_kinds=f"\njoin kind using ({', '.join(metadata)})" if metadata else "",
        within=_WITHIN if metadata else "",
        limit=limit_clause(limit, bindings),
    )
    answer = limited(connection, Query(text, bindings), limit, f"occurrence of {query!r}")
    return explained(connection, answer, selection, asked.values)


def _read_keys(by: str) -> dict[str, Term]:
    """Return the attributes to count by, each with the label of its token."""
    names = [name.strip() for name in by.split(",")]
    if not all(names) or len(set(names)) < len(names):
        raise InputError(f"{by!r} has an empty key, or one twice; write keys as in a.lemma,match.doc_genre")
    found = {}
    for name in names:
        label, _, attribute = name.rpartition(".")
        found[name] = Term(attribute, label)
    return found


def _of_metadata(term: Term) -> bool:
    return bool(term.label and metadata_key(term.attribute)[0])


def _asked(
    connection: Connection,
    query: str,
    selection: Selection,
    strategy: Strategy,
    by: Sequence[Term],
    bindings: Bindings,
) -> _Asked:
    """Read the query, in CQL unless nothing of it looks so."""
    if is_cql(query) or "[" in query or '"' in query:
        cql = parse_cql(connection, query, selection, strategy, by)
        found = cql.find(bindings)
        values = [Value(*one) for one in cql.values]
        return _Asked(found.parts, found.hits, found.match, found.labels, cql.conditions(bindings), values)
    read = read_hits(connection, query, selection, written=True)
    source = read.source(bindings)
    parts = (
        f"found as (\n  select {source.sentence} as sentence_id, {source.first} as first,"
        f" {source.last} as last\n  from {source.table}\n),\n"
    )
    misc = known_terms(connection, query, by)
    conditions = Conditions(query, selection, bindings, frozenset(), misc)
    return _Asked(parts, "found", "found", {}, conditions, read.values)


def _items(asked: _Asked, keys: dict[str, Term], selection: Selection) -> str:
    """Return the statement for the keys of each hit."""
    strings, whole, joins, conditions = list[str](), list[str](), list[str](), list[str]()
    places = {term.label: asked.labels[term.label] for term in keys.values() if term.label in asked.labels}
    for number, term in enumerate(keys.values(), 1):
        column, alias = f"key_{number}", "h" if _of_metadata(term) else "t"
        if term.label and alias == "t":
            alias = f"t_{number}"
            place = f"h.{(ENDS | places)[term.label]}"
            joins.append(f"\n  join token as {alias} on {alias}.sentence_id = h.sentence_id")
            joins.append(f" and {alias}.position = {place}")
        elif term.label in places:
            conditions.append(f"h.{places[term.label]} is not null")
        string = asked.conditions.string(term.attribute, alias)
        if selection.ignore_case and term.attribute in ("word", "form", "lemma"):
            string = f"lower({string})"
        string = f"coalesce({string}, '_')"
        if not term.label:
            whole.append(f"string_agg({string}, ' ' order by t.position) as {column}")
            string = column
        strings.append(f"{string} as {column}")
    source = asked.hits
    if whole:
        source = _WHOLE.format(strings=", ".join(whole), hits=asked.hits)
    if places:
        placed = _PLACES.format(places=", ".join(places.values()), match=asked.match, hits=asked.hits)
        if whole:
            joins.insert(0, f"\n  join {source} as w using (sentence_id, first, last)")
        source = placed
    return f"  select h.sentence_id, {', '.join(strings)}\n  from {source} as h{''.join(joins)}" + where(
        conditions, "  "
    )


def _quoted(name: str) -> str:
    return name.replace('"', '""')
