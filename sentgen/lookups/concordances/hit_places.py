"""Where in their documents the hits of a pattern are: a row a document, as in a concordance plot.

A place is the thousandth of the document in which a hit begins, counted from 0 in tokens: as much as can be
drawn, and bounded however many hits there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np
from sqlalchemy import Connection

from sentgen.arrays import Longs
from sentgen.lookups.concordances.hits import HitSource
from sentgen.lookups.search.hits import BlockHits
from sentgen.lookups.search.tokens import Tokens
from sentgen.lookups.statement import Answer, Bindings, Statement, limit_clause
from sentgen.output.plots.places import PARTS
from sentgen.output.tabular import column_of, without_columns
from sentgen.output.wording import quantity
from sentgen.schema.engine import raw, registered

if TYPE_CHECKING:
    import pyarrow as pa

_DOCUMENTS = """\
select document_id, min(first_token) as begin, sum(length)::bigint as tokens
  from sentence
  group by document_id"""
#: How many hits begin at each place: what hits in arrays are counted to, too.
_SPREAD = f"""\
{{beginning}}located as (
  {_DOCUMENTS}
),
spread as (
  select document_id, tokens, {PARTS} * (first_token - begin + hit.first - 1) // tokens as place,
    count(*) as count
  from (select {{sentence}} as sentence_id, {{first}} as first from {{source}}) as hit
  join sentence on sentence.id = hit.sentence_id
  join located using (document_id)
  group by all
)"""
_SHOWN = """\
shown as (
  select document_id, count, corpus.name as corpus, document.name as document,
    count(*) over () as documents, (sum(count) over ())::bigint as hits
  from (select document_id, sum(count)::bigint as count from spread group by document_id)
  join document on document.id = document_id
  join corpus on corpus.id = document.corpus_id
  order by count desc, corpus, document, document_id{limit}
)
select corpus, document, shown.count, any_value(tokens) as tokens,
  (1e6 * shown.count / any_value(tokens))::double as per_million,
  string_agg(place::integer, ' ' order by place) as places{totals}
from shown
join (select distinct document_id, tokens, place from spread) using (document_id)
group by document_id, shown.count, corpus, document{totals}
order by count desc, corpus, document, document_id"""
_TOTALS = ("documents", "hits")


def hit_places(
    connection: Connection,
    source: HitSource,
    bindings: Bindings,
    spread: Iterable[pa.Table],
    limit: int,
    missing: str,
) -> Answer:
    """Return the documents with hits, those with most first, then by corpus and name.

    The columns are ``corpus``, ``document``, ``count``, ``tokens`` (of the whole document), ``per_million``,
    and ``places`` in ascending order, each once, with blanks between them.

    Args:
        connection: the store.
        source: where the hits come from in the statement that is shown, with its ``bindings``.
        bindings: of that statement.
        spread: what `spread_of` or `spread_statement` say of all hits.
        limit: documents at most, 0 for all.
        missing: what there is none of where nothing was found.
    """
    import pyarrow as pa

    limited = limit_clause(limit, bindings, "  ")
    shown = f"{_spread(source)},\n{_SHOWN.format(limit=limited, totals='')}"
    totals = "".join(f", {name}" for name in _TOTALS)
    counted = Statement(f"with {_SHOWN.format(limit=limited, totals=totals)}", bindings)
    with registered(raw(connection), spread=pa.concat_tables(spread)):
        found = counted.fetch(connection, limit)
    documents, number = (int(next(iter(column_of(found, name)), 0)) for name in _TOTALS)
    remarks = [f"{quantity(number, 'hit')} in {quantity(documents, 'document')}"] if number else []
    more, found = documents > found.num_rows, without_columns(found, _TOTALS)
    query = Statement(shown, bindings)
    return Answer(found, query, missing, truncated=more, total=documents, remarks=tuple(remarks))


def spread_statement(source: HitSource, bindings: Bindings) -> Statement:
    """Return what says of hits how many begin at each place of each document."""
    return Statement(f"{_spread(source)}\nselect * from spread", bindings)


def spread_of(connection: Connection, found: Iterable[BlockHits]) -> Iterator[pa.Table]:
    """Yield the same of hits in arrays, those of a block at a time; once at least."""
    import pyarrow as pa

    documents, begins, tokens = Tokens(connection).array(f"{_DOCUMENTS}\n  order by document_id", {})

    def counted(rows: Longs, first: Longs) -> pa.Table:
        places = PARTS * (first - begins[rows]) // tokens[rows]
        keys, counts = np.unique(rows * PARTS + places, return_counts=True)
        rows, places = np.divmod(keys, PARTS)
        columns = {"document_id": documents[rows], "tokens": tokens[rows], "place": places, "count": counts}
        return pa.table(columns)

    nothing = np.zeros(0, np.int64)
    yield counted(nothing, nothing)
    for hits in found:
        of_hits = hits.block.sentences()[3][hits.block.sentence_of(hits.first)]
        yield counted(np.searchsorted(documents, of_hits), hits.block.numbers(hits.first))


def _spread(source: HitSource) -> str:
    return _SPREAD.format(
        beginning=source.beginning, sentence=source.sentence, first=source.first, source=source.table
    )
