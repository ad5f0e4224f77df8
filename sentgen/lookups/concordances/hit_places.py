"""Where in their documents the hits of a pattern are: a row a document, as in a concordance plot.

A place is the thousandth of the document in which a hit begins, counted from 0 in tokens: as much as can be
drawn, and bounded however many hits there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from sqlalchemy import Connection

from sentgen.lookups.concordances.hits import HitSource
from sentgen.lookups.concordances.places import SentenceRange
from sentgen.lookups.statement import Answer, Bindings, Statement, gathered, limit_clause
from sentgen.output.plots.places import PARTS
from sentgen.output.tabular import column_of, without_columns
from sentgen.output.wording import quantity

#: Where hits come from in a statement with such bindings, of a range of sentences or of all.
Sources = Callable[[Bindings, SentenceRange | None], HitSource]
_HIT = """\
{beginning}hit as (
  select {sentence} as sentence_id, {first} as first
  from {source}
)"""
#: Sentences are placed in whole documents, of which others may be searched with other parts of the store.
_SPREAD = f"""\
located as (
  select id, document_id, sum(length) over (partition by document_id) as tokens,
    sum(length) over (partition by document_id order by id) - length as before
  from sentence{{documents}}
),
spread as (
  select document_id, tokens, {PARTS} * (before + first - 1) // tokens as place, count(*) as count
  from hit
  join located on located.id = hit.sentence_id
  group by all
)"""
_OF_PART = """
  where document_id in (select document_id from sentence where id {part})"""
#: To place sentences takes longer than to find hits: only in documents that are shown.
_OF_SHOWN = """
  where document_id in (select document_id from shown)"""
_COUNTED = "count(*) as count from hit join sentence on sentence.id = hit.sentence_id"
_SUMMED = "sum(count) as count from gathered"
_SHOWN = """\
shown as (
  select document_id, count, corpus.name as corpus, document.name as document,
    count(*) over () as documents, (sum(count) over ())::bigint as hits
  from (
    select document_id, {counted}
    group by document_id
  )
  join document on document.id = document_id
  join corpus on corpus.id = document.corpus_id
  order by count desc, corpus, document, document_id{limit}
)"""
_TOTALS = ("documents", "hits")
_STATEMENT = """\
select corpus, document, shown.count::bigint as count, any_value(tokens)::bigint as tokens,
  (1e6 * shown.count / any_value(tokens))::double as per_million,
  string_agg(place::integer, ' ' order by place) as places{totals}
from shown
join (select distinct document_id, tokens, place from {spread}) using (document_id)
group by document_id, shown.count, corpus, document{totals}
order by count desc, corpus, document, document_id"""


def hit_places(
    connection: Connection, hits: Sources, parts: Iterable[SentenceRange] | None, limit: int, missing: str
) -> Answer:
    """Return the documents with hits, those with most first, then by corpus and name.

    The columns are ``corpus``, ``document``, ``count``, ``tokens`` (of the whole document), ``per_million``,
    and ``places`` in ascending order, each once, with blanks between them.

    Args:
        connection: the store.
        hits: where the hits come from, of a range of sentences or of all.
        parts: of the store, if they are searched one after the other.
        limit: documents at most, 0 for all.
        missing: what there is none of where nothing was found.
    """
    bindings = Bindings()
    hit = _hit(hits, bindings)
    shown = _SHOWN.format(counted="{counted}", limit=limit_clause(limit, bindings, "  "))
    of_hits, spread = shown.format(counted=_COUNTED), _SPREAD.format(documents=_OF_SHOWN)
    text = f"{hit},\n{of_hits},\n{spread}\n{_STATEMENT}"
    whole = Statement(text.format(totals="", spread="spread"), bindings)
    totals = "".join(f", {name}" for name in _TOTALS)
    if parts is None:
        found = Statement(text.format(totals=totals, spread="spread"), bindings).fetch(connection, limit)
    else:
        with gathered(connection, "gathered", _of_parts(hits, parts)):
            text = f"with {shown.format(counted=_SUMMED)}\n{_STATEMENT}"
            of_parts = Statement(text.format(totals=totals, spread="gathered"), bindings)
            found = of_parts.fetch(connection, limit)
    documents, number = (int(next(iter(column_of(found, name)), 0)) for name in _TOTALS)
    remarks = [f"{quantity(number, 'hit')} in {quantity(documents, 'document')}"] if number else []
    more, found = documents > found.num_rows, without_columns(found, _TOTALS)
    return Answer(found, whole, missing, truncated=more, total=documents, remarks=tuple(remarks))


def _of_parts(hits: Sources, parts: Iterable[SentenceRange]) -> Iterator[Statement]:
    """Yield the statements that count in parts of the store."""
    for within in parts:
        bindings = Bindings()
        spread = _SPREAD.format(documents=_OF_PART.format(part=within.part))
        yield Statement(f"{_hit(hits, bindings, within)},\n{spread}\nselect * from spread", bindings)


def _hit(hits: Sources, bindings: Bindings, within: SentenceRange | None = None) -> str:
    source = hits(bindings, within)
    return _HIT.format(
        beginning=source.beginning, sentence=source.sentence, first=source.first, source=source.table
    )
