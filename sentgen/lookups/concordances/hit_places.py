"""Where in their documents the hits of a pattern are: a row a document, as in a concordance plot.

A place is the thousandth of the document in which a hit begins, counted from 0 in tokens: as much as can be
drawn, and bounded however many hits there are.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Connection

from sentgen.lookups.concordances.hits import ReadPattern
from sentgen.lookups.concordances.places import SentenceRange, sentences_of
from sentgen.lookups.statement import Answer, Bindings, Statement, gathered, limit_clause
from sentgen.output.plots.places import PARTS
from sentgen.output.wording import quantity

#: Sentences are placed in whole documents, of which others may be searched with other parts of the store.
_COUNTED = f"""\
{{beginning}}hit as (
  select {{sentence}} as sentence_id, {{first}} as first
  from {{source}}
),
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
_STATEMENT = """\
select corpus.name as corpus, document.name as document, sum(count)::bigint as count,
  any_value(tokens)::bigint as tokens, (1e6 * sum(count) / any_value(tokens))::double as per_million,
  string_agg(place::integer, ' ' order by place) as places
from (
  select document_id, tokens, place, sum(count) as count
  from {found}
  group by all
)
join document on document.id = document_id
join corpus on corpus.id = document.corpus_id
group by document.id, corpus.name, document.name
order by count desc, corpus, document, document.id{limit}"""
_TOTAL = "select count(distinct document_id), coalesce(sum(count), 0)::bigint from gathered"


def hit_places(connection: Connection, pattern: ReadPattern, limit: int, missing: str) -> Answer:
    """Return the documents with hits, those with most first, then by corpus and name.

    The columns are ``corpus``, ``document``, ``count``, ``tokens`` (of the whole document), ``per_million``,
    and ``places`` in ascending order, each once, with blanks between them.

    Args:
        connection: the store.
        pattern: what is looked for.
        limit: documents at most, 0 for all.
        missing: what there is none of where nothing was found.
    """
    bindings = Bindings()
    rest = _STATEMENT.format(found="{found}", limit=limit_clause(limit, bindings))
    sentences = sentences_of(connection)
    with gathered(connection, "gathered", _parts(connection, pattern, sentences)):
        found = Statement(rest.format(found="gathered"), bindings).fetch(connection, limit)
        [total] = Statement(_TOTAL).run(connection).to_pylist()
    documents, hits = total.values()
    whole = Statement(f"{_counted(pattern, bindings)}\n{rest.format(found='spread')}", bindings)
    remarks = [f"{quantity(hits, 'hit')} in {quantity(documents, 'document')}"] if hits else []
    more = documents > found.num_rows
    return Answer(found, whole, missing, truncated=more, total=documents, remarks=tuple(remarks))


def _parts(connection: Connection, pattern: ReadPattern, sentences: int) -> Iterator[Statement]:
    """Yield the statements that count in parts of the store, or in all of it."""
    ranges = [None] if pattern.at_once(sentences) else pattern.parts(connection, sentences)
    for within in ranges:
        bindings = Bindings()
        yield Statement(f"{_counted(pattern, bindings, within)}\nselect * from spread", bindings)


def _counted(pattern: ReadPattern, bindings: Bindings, within: SentenceRange | None = None) -> str:
    source = pattern.source(bindings, within)
    return _COUNTED.format(
        beginning=source.beginning,
        sentence=source.sentence,
        first=source.first,
        source=source.table,
        documents=_OF_PART.format(part=within.part) if within else "",
    )
