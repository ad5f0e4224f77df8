"""Frequency lists of the hits of a CQL query: what was matched, or the token of one of its labels."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection

from sentgen.lookups.absence import Value, explained
from sentgen.lookups.cql.search import Cql, Found, Strategy, parse_cql
from sentgen.lookups.cql.syntax import Term
from sentgen.lookups.cql.tokens import ENDS
from sentgen.lookups.frequencies import JUILLAND_D
from sentgen.lookups.queries import Answer, Bindings, Query, limit_clause, limited, select_corpora, where

_STATEMENT = """\
with recursive {parts}item as (
{items}
),
counted as (
  select item, document_id, count(*) as count
  from item
  join sentence on sentence.id = item.sentence_id
  group by item, document_id
),
part as (
  select document_id, sum(length) as size
  from sentence{corpora}
  group by document_id
),
total as (
  select sum(size) as tokens, count(*) as documents, (select sum(count) from counted) as hits from part
)
select item as "{by}", sum(count)::bigint as count, sum(count) / any_value(hits) as share,
  1e6 * sum(count) / any_value(tokens) as per_million, count(*) as documents,
  case when any_value(total.documents) > 1 then greatest(
    0.5 * (
      sum(abs(count / of_item - size / tokens) order by document_id) + 1 - sum(size) / any_value(tokens)
    ), 0
  ) end as dp,
  {juilland} as juilland_d, count(*) / any_value(documents) as document_share
from (select *, sum(count) over (partition by item) as of_item from counted)
join part using (document_id)
cross join total
group by item
order by count desc, item{limit}"""

_JUILLAND = JUILLAND_D.format(
    documents="any_value(total.documents)",
    squares="sum((count / size) ** 2 order by document_id)",
    rates="sum(count / size order by document_id)",
)

_WHOLE = """\
  select h.sentence_id, string_agg(coalesce({string}, '_'), ' ' order by t.position) as item
  from {hits} as h
  join token as t on t.sentence_id = h.sentence_id and t.position between h.first and h.last
  group by h.sentence_id, h.first, h.last"""

_LABELLED = """\
  select h.sentence_id, coalesce({string}, '_') as item
  from (
    select distinct sentence_id, first, last, {place} as place
    from {match}
    join {hits} using (sentence_id, first, last)
  ) as h
  join token as t on t.sentence_id = h.sentence_id and t.position = h.place"""


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

    The columns are the item; ``count``; ``share`` of all hits; ``per_million`` tokens; ``documents`` with
    it; and ``dp``, ``juilland_d`` and ``document_share``, its dispersion (see `sentgen.lookups.frequencies`).
    A token that lacks the attribute counts as ``_``.

    Args:
        connection: the store.
        query: in CQL.
        by: an attribute of the tokens that were matched, or of that of a label: ``lemma``, ``a.lemma``. A hit
            in which a label can stand for several tokens counts once for each; where it stands for none, not.
        strategy: which of the spans that match are hits.
        corpora: their names; none for all.
        condition: what the metadata of their sentences meet; none for all sentences.
        ignore_case: take words and lemmas that differ in capital letters only for one.
        limit: rows at most, 0 for all.

    Raises:
        QueryError: the query cannot be read, or has no such attribute or label.
        NotFoundError: no such corpus.
    """
    selection = select_corpora(connection, corpora, condition=condition, ignore_case=ignore_case)
    label, _, attribute = by.rpartition(".")
    term = Term(attribute, label)
    cql = parse_cql(connection, query, selection, strategy, term)
    bindings = Bindings()
    found = cql.find(bindings)
    text = _STATEMENT.format(
        parts=found.parts,
        items=_items(cql, found, term, bindings),
        corpora=where(selection.of_sentences(bindings), "  "),
        by=by.replace('"', '""'),
        juilland=_JUILLAND,
        limit=limit_clause(limit, bindings),
    )
    answer = limited(connection, Query(text, bindings), limit, f"occurrence of {query!r}")
    return explained(connection, answer, selection, [Value(*one) for one in cql.values])


def _items(cql: Cql, found: Found, term: Term, bindings: Bindings) -> str:
    string = cql.conditions(bindings).string(term.attribute, "t")
    if cql.selection.ignore_case and term.attribute in ("word", "form", "lemma"):
        string = f"lower({string})"
    if not term.label:
        return _WHOLE.format(string=string, hits=found.hits)
    place = (ENDS | found.labels)[term.label]
    return _LABELLED.format(string=string, place=place, match=found.match, hits=found.hits)
