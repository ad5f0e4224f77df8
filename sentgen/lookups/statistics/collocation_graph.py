"""A graph of collocates: those of a node, and which of them are collocates of each other."""

from __future__ import annotations

from sentgen.lookups.base.statement import Bindings, where
from sentgen.lookups.question.patterns import has_pos
from sentgen.lookups.statistics.collocation_measures import scores
from sentgen.lookups.statistics.collocation_statements import CollocationStatements

#: Collocates of a graph at most: their pairs are as many as their square.
MOST = 100

#: The stronger collocate of a pair is the node, and the other one stands in its window. Windows of one word
#: may overlap: what they cover is counted once, and the word itself where another one of it is near.
_GRAPH = """\
with first_order as (
{first}
),
chosen as (
  select *, row_number() over (order by {measure} desc nulls last, count desc, collocate) as place
  from first_order
),
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
{scores},
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


def graph(first: str, asked: str, statements: CollocationStatements, measure: str, bindings: Bindings) -> str:
    """Return the statement for the edges of a graph: of the node, then those between its collocates.

    Args:
        first: the statement for the collocates of the node.
        asked: the node, as it was written.
        statements: those for the collocates.
        measure: column that the collocates are ranked by.
        bindings: of the statement, with those of ``first``.
    """
    selection, columns = statements.selection, statements.shown
    of_tokens = [*has_pos("t", statements.pos, bindings), *selection.of_tokens(bindings, "t")]
    return _GRAPH.format(
        first=first,
        asked=bindings.bind("asked", asked),
        column=statements.column,
        measure=measure,
        shown=columns,
        scored=", ".join(f"scored.{one}" for one in columns.split(", ")),
        scores=scores(columns),
        form=selection.word_key("word.form"),
        corpora=where(selection.of_tokens(bindings), "      "),
        corpora_t=where(of_tokens, "  "),
    )
