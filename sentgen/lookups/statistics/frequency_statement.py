"""Frequency lists as statements, which say what they mean: `frequency_rows` has the same in arrays."""

from __future__ import annotations

from functools import partial

from sentgen.lookups.base.attributes import COLUMNS
from sentgen.lookups.base.numbers import as_number
from sentgen.lookups.base.regions import innermost, pieces_of
from sentgen.lookups.base.statement import Bindings, Statement, limit_clause, where
from sentgen.lookups.concordances.hits import Query
from sentgen.lookups.cql.tokens import ENDS
from sentgen.lookups.statistics.breakdown import Breakdown
from sentgen.lookups.statistics.intervals import MEANS
from sentgen.lookups.statistics.listed import ListedTokens
from sentgen.schema.base import quoted

#: Items are what hits, or listed tokens, are counted by. Juilland's D is of V^2 = n sum p^2 / (sum p)^2 - 1;
#: rounding may take that below 0, and D as well.
_STATEMENT = """\
with {found}item as (
{items}
),
counted as (
  select {keys}, {part_id}, count(*) as count{sums}
  from item{join_documents}
  group by all
),
part as (
  select {of_piece} as part_id, sum(length) as size
  from {pieces}
  group by all
),
total as (
  select sum(size) as tokens, count(*) as parts from part
){kinds}{means}
select {shown}, sum(count)::bigint as count, {share}1e6 * sum(count) / any_value(tokens) as per_million,
  count(*) as {parts},
  case when any_value(total.parts) > 1 then greatest(
    0.5 * (
      sum(abs(count / of_item - size / tokens) order by part_id) + 1 - sum(size) / any_value(tokens)
    ), 0
  ) end as dp,{coverage}
  case when any_value(total.parts) > 1 then greatest(
    1 - sqrt(greatest(
      any_value(total.parts) * sum((count / size) ** 2 order by part_id)
        / sum(count / size order by part_id) ** 2 - 1, 0
    ) / (any_value(total.parts) - 1)), 0
  ) end as juilland_d,
  count(*) / any_value(total.parts) as {part_share}{within}{mean}
from (select *, sum(count) over (partition by {keys}) as of_item from counted)
join part using (part_id){join_kinds}{join_means}
cross join total
group by {keys}
order by count desc, {keys}{limit}"""
_SHARE = "sum(count) / (select sum(count) from counted) as share,\n  "
_COVERAGE = """
  (sum(sum(count)) over (order by sum(count) desc, {keys}) / any_value(tokens))::double as coverage,"""
_JOIN_DOCUMENTS = "\n  join sentence on sentence.id = item.sentence_id"

#: How many tokens have the same around them.
_KINDS = """\
select {strings}, sum(length)::bigint as kind_size
  from ({pieces}) as h
  group by all"""
_SENTENCES = "select s.id as sentence_id, s.length from sentence as s{chosen}"
_WITHIN = ",\n  1e6 * sum(count) / any_value(kind_size) as per_million_in_part"
#: Means of numbers of the hits, beside their counts.
_SUMS = ", sum(value) as value, count(value) as valued"
_MEAN = ",\n  any_value(mean) as mean, any_value(mean_low) as mean_low, any_value(mean_high) as mean_high"

_LISTED = """\
  select t.sentence_id, {item} as key_1
  from token as t
  join {table} as i on i.id = t.{column}{conditions}"""
_ITEMS = "  select h.sentence_id, {strings}\n  from {hits} as h{joins}"
_JOIN = """
  join {tokens} as t_{place} on t_{place}.{sentence} = h.sentence_id and t_{place}.{position} = h.{place}"""
#: By each place of a hit: documents are too long to look for it in all of one.
_WHOLE = """\
(
      select string_agg({string}, ' ' order by p.place)
      from (select unnest(range(h.first, h.last + 1)) as place) as p
      join {tokens} as t on t.{sentence} = h.sentence_id and t.{position} = p.place
    )"""
_LABELLED = """\
(
    select distinct sentence_id, first, last, {places}
    from {match}
    join {hits} using (sentence_id, first, last)
  )"""


def frequency_statement(of: Query | ListedTokens, by: Breakdown, limit: int) -> Statement:
    """Return the statement of a frequency list.

    Args:
        of: what is counted: hits, or tokens that are listed.
        by: what it is counted by.
        limit: rows at most, 0 for all.
    """
    bindings = Bindings()
    columns = _columns(by)
    keys = ", ".join(columns.values())
    around = ", ".join(columns[name] for name in by.around)
    if listed := isinstance(of, ListedTokens):
        found, items = "", _listed(of, by, bindings)
    else:
        found, items = _found(of, by, bindings)
    chosen = where(by.selection.of_sentences(bindings, "s"), "    ")
    kinds = f",\nkind as (\n  {kind_sizes(by, bindings)}\n)"
    text = _STATEMENT.format(
        found=found,
        items=items,
        keys=keys,
        shown=", ".join(f"{column} as {quoted(name)}" for name, column in columns.items()),
        part_id="part_id" if by.parts else "document_id as part_id",
        join_documents="" if by.parts else _JOIN_DOCUMENTS,
        of_piece=innermost(by.parts, "h", "position", bindings) if by.parts else "document_id",
        pieces=f"({pieces_of(by.parts, bindings, chosen)}) as h" if by.parts else f"sentence as s{chosen}",
        parts=by.names.get("parts", "parts"),
        part_share=by.names.get("part_share", "part_share"),
        share="" if listed else _SHARE,
        coverage=_COVERAGE.format(keys=keys) if listed else "",
        kinds=kinds if around else "",
        join_kinds=f"\nleft join kind using ({around})" if around else "",
        within=_WITHIN if around else "",
        sums=_SUMS if by.mean else "",
        means=f",\nmeans as (\n{MEANS.format(keys=keys)}\n)" if by.mean else "",
        join_means=f"\nleft join means using ({keys})" if by.mean else "",
        mean=_MEAN if by.mean else "",
        limit=limit_clause(limit, bindings),
    )
    return Statement(text, bindings)


def kind_sizes(by: Breakdown, bindings: Bindings) -> str:
    """Return the query for how many tokens have the same around them, in the order of these keys."""
    columns = _columns(by)
    strings = [f"{by.string(term, 'h', bindings)} as {columns[name]}" for name, term in by.around.items()]
    chosen = where(by.selection.of_sentences(bindings, "s"), "    ")
    pieces = pieces_of(by.regions, bindings, chosen) if by.regions else _SENTENCES.format(chosen=chosen)
    return _KINDS.format(strings=", ".join(strings), pieces=pieces)


def _columns(by: Breakdown) -> dict[str, str]:
    """Return the column of each key."""
    return {name: f"key_{number}" for number, name in enumerate(by.keys, 1)}


def _listed(of: ListedTokens, by: Breakdown, bindings: Bindings) -> str:
    """Return the query for the items of tokens that are listed."""
    (term,) = by.keys.values()
    column, table, string = COLUMNS[of.by]
    return _LISTED.format(
        item=by.named(term, f"i.{string}"),
        table=table,
        column=column,
        conditions=where([of.matches(bindings), *of.selection.of_tokens(bindings, "t")], "  "),
    )


def _found(of: Query, by: Breakdown, bindings: Bindings) -> tuple[str, str]:
    """Return what finds hits, and the query for their items."""
    found, extent = of.found(bindings), of.extent
    places = ENDS | found.labels
    whole = partial(_WHOLE.format, tokens=extent.tokens, sentence=extent.sentence, position=extent.position)
    strings, labels = list[str](), dict[str, None]()
    for name, column in _columns(by).items():
        term = by.keys[name]
        string = by.string(term, f"t_{places[term.label]}" if term.label else "t", bindings)
        strings.append(f"{string if term.label else whole(string=string)} as {column}")
        labels |= {term.label: None} if term.label else {}
    if by.mean:
        string = by.conditions(bindings).string(by.mean.attribute, f"t_{places[by.mean.label]}")
        strings.append(f"{as_number(string)} as value")
        labels[by.mean.label] = None
    if by.parts:
        strings.append(f"{innermost(by.parts, 't_first', 'position', bindings)} as part_id")
        labels["match"] = None
    joins = [
        _JOIN.format(
            tokens=extent.tokens, sentence=extent.sentence, position=extent.position, place=places[one]
        )
        for one in labels
    ]
    hits, placed = found.hits, [places[one] for one in labels if one in found.labels]
    if placed:
        hits = _LABELLED.format(places=", ".join(placed), match=found.match, hits=hits)
    items = _ITEMS.format(strings=", ".join(strings), hits=hits, joins="".join(joins))
    return f"recursive {found.parts}", items
