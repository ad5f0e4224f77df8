"""The statements for a graph of collocates: which of them are collocates of each other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection

from sentgen.lookups.base.statement import Bindings, Statement, where
from sentgen.lookups.question.patterns import has_pos
from sentgen.lookups.statistics.collocation_measures import scores
from sentgen.lookups.statistics.collocation_statements import WindowStatements
from sentgen.schema.engine import raw, register_arrow

#: Collocates of a graph at most: their pairs are as many as their square.
MOST_COLLOCATES = 100

_GRAPH = """\
with first_order as (
{first}
),
chosen as (
  select *, row_number() over (order by {measure} desc nulls last, count desc, collocate) as place
  from first_order
),
{pairs}{scores},
edge as (
  select {asked} as node, collocate, count, frequency, {shown}, 0 as node_place, place
  from chosen
  union all
  select a.collocate, b.collocate, o11::bigint, c1::bigint, {scored}, a.place, b.place
  from scored
  join chosen as a on a.place = scored.node
  join chosen as b on b.place = scored.other
  where o11 * n > r1 * c1
)
select node, collocate, count, frequency, {shown}
from edge
order by node_place, place"""
#: The stronger collocate of a pair is the node, and the other one stands in its window. Windows of one word
#: may overlap: what they cover is counted once, and the word itself where another one of it is near.
_PAIRS = """\
item as (
  select word.id, chosen.place
  from chosen
  join word on {form} = chosen.collocate
),
node as (
  select item.place, t.sentence_id, t.position, greatest(t.position - $left, 1) as first,
    least(t.position + $right, s.length) as last
  from token as t
  join item on item.id = t.{column}
  join sentence as s on s.id = t.sentence_id{corpora_t}
),
beside as (
  select *, lag(last) over in_order as last_before, lead(first) over in_order as first_after
  from node
  window in_order as (partition by place, sentence_id order by position)
),
margin as (
  select place, count(*) as f,
    sum(last - greatest(first, coalesce(last_before + 1, 1)) + 1)
      - count(*) filter (
        coalesce(last_before < position, true) and coalesce(first_after > position, true)
      ) as r1
  from beside
  group by place
),
spot as (
  select distinct a.place as node, b.place as other, b.sentence_id, b.position
  from node as a
  join node as b on b.sentence_id = a.sentence_id and b.position between a.first and a.last
    and b.place > a.place
),
together as (
  select node, other, count(*) as o11
  from spot
  group by node, other
  having count(*) >= $min_count
),
pair as (
  select node, other, o11::double as o11, m.r1::double as r1, c.f::double as c1,
    (select count(*) from token{corpora})::double as n, m.f::double as f
  from together
  join margin as m on m.place = together.node
  join margin as c on c.place = together.other
),
"""

#: The collocates that were counted, with their ids, in their order.
_CHOSEN = """\
with first_order as (
{first}
)
select counted_pairs.id, first_order.*
from first_order
join counted_pairs on {form} = first_order.collocate
order by {measure} desc nulls last, count desc, collocate"""


@contextmanager
def graph_statements(
    connection: Connection,
    collocates: tuple[str, str],
    word: str,
    statements: WindowStatements,
    measure: str,
    bindings: Bindings,
) -> Iterator[tuple[str, str]]:
    """Yield the statement for the edges of a graph, and one with the same rows over what arrays have counted.

    First come the edges of the node, then those between its collocates.

    Args:
        connection: the store.
        collocates: the two statements for the collocates of the node.
        word: the node, as it was written.
        statements: those for the collocates.
        measure: column that the collocates are ranked by.
        bindings: of the statement, with those of ``collocates``.
    """
    # Arrays, whose import takes longer than what other questions ask.
    from sentgen.lookups.statistics.collocate_counts import graph_counts

    definition, counted = collocates
    selection, asked = statements.selection, bindings.bind("asked", word)
    form = selection.word_key("counted_pairs.form")
    query = Statement(_CHOSEN.format(first=counted, form=form, measure=measure), bindings)
    chosen = query.run(connection)
    counts = graph_counts(connection, statements, chosen["id"].to_numpy(), int(str(bindings["min_count"])))
    of_tokens = [*has_pos("t", statements.pos, bindings), *selection.of_tokens(bindings, "t")]
    pairs = _PAIRS.format(
        form=selection.word_key("word.form"),
        column=statements.column,
        corpora=where(selection.of_tokens(bindings), "      "),
        corpora_t=where(of_tokens, "  "),
    )
    with register_arrow(raw(connection), counted_collocates=chosen, counted_edges=counts):
        yield (
            _graph(statements, measure, asked, definition, pairs),
            _graph(
                statements,
                measure,
                asked,
                "select * exclude (id) from counted_collocates",
                "pair as (select * from counted_edges),\n",
            ),
        )


def _graph(statements: WindowStatements, measure: str, asked: str, first: str, pairs: str) -> str:
    """Return the statement for the edges, of the collocates and of their pairs."""
    columns = statements.shown
    return _GRAPH.format(
        first=first,
        measure=measure,
        pairs=pairs,
        scores=scores(columns),
        asked=asked,
        shown=columns,
        scored=", ".join(f"scored.{column}" for column in columns.split(", ")),
    )
