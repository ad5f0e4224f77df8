"""Frequency lists: rows counted in arrays, and the statement with the same rows as their definition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from sqlalchemy import Connection

from sentgen.arrays import Floats
from sentgen.lookups.base.attributes import COLUMNS
from sentgen.lookups.base.numbers import as_number
from sentgen.lookups.base.regions import innermost, pieces_of
from sentgen.lookups.base.statement import Bindings, ResultBudget, Statement, limit_clause, where
from sentgen.lookups.concordances.hits import Query
from sentgen.lookups.cql.conditions import ENDS
from sentgen.lookups.cql.syntax import Term
from sentgen.lookups.question.selection import select_corpora
from sentgen.lookups.search.attributes import Attribute, attribute_of
from sentgen.lookups.statistics.breakdown import Breakdown, breakdown_of_parts
from sentgen.lookups.statistics.hit_counts import HitKey, Parts, count_hits, documents_of, regions_of
from sentgen.lookups.statistics.intervals import MEANS
from sentgen.lookups.statistics.listed_tokens import ListedTokens, LookedUp
from sentgen.output.rates import PartSizes, time_key
from sentgen.output.tabular import Rows
from sentgen.schema.base import quote_identifier

if TYPE_CHECKING:
    import pyarrow as pa

#: Items are what hits, or listed tokens, are counted by. Juilland's D is of V^2 = n sum p^2 / (sum p)^2 - 1,
#: where p is a rate, here a share of the largest one: D is then 1 of equal rates, and 0 of one part, without
#: rounding, which may take others below 0.
_FREQUENCIES = """\
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
      any_value(total.parts) * sum(rate ** 2 order by part_id) - sum(rate order by part_id) ** 2, 0
    ) / ((any_value(total.parts) - 1) * sum(rate order by part_id) ** 2)), 0
  ) end as juilland_d,
  count(*) / any_value(total.parts) as {part_share}{within}{mean}
from (
  select *, sum(count) over items as of_item, count / size / max(count / size) over items as rate
  from counted
  join part using (part_id)
  window items as (partition by {keys})
){join_kinds}{join_means}
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


def frequency_statement(tokens: Query | ListedTokens, by: Breakdown, limit: int) -> Statement:
    """Return the statement of a frequency list.

    Args:
        tokens: what is counted: hits, or tokens that are listed.
        by: what it is counted by.
        limit: rows at most, 0 for all.
    """
    bindings = Bindings()
    columns = _columns(by)
    keys = ", ".join(columns.values())
    around = ", ".join(columns[name] for name in by.around)
    if is_list := isinstance(tokens, ListedTokens):
        tables, items = "", _listed_items(tokens, by, bindings)
    else:
        tables, items = _hit_items(tokens, by, bindings)
    chosen = where(by.selection.of_sentences(bindings, "s"), "    ")
    kinds = f",\nkind as (\n  {_kind_sizes_query(by, bindings)}\n)"
    text = _FREQUENCIES.format(
        found=tables,
        items=items,
        keys=keys,
        shown=", ".join(f"{column} as {quote_identifier(name)}" for name, column in columns.items()),
        part_id="part_id" if by.parts else "document_id as part_id",
        join_documents="" if by.parts else _JOIN_DOCUMENTS,
        of_piece=innermost(by.parts, "h", "position", bindings) if by.parts else "document_id",
        pieces=f"({pieces_of(by.parts, bindings, chosen)}) as h" if by.parts else f"sentence as s{chosen}",
        parts=by.names.get("parts", "parts"),
        part_share=by.names.get("part_share", "part_share"),
        share="" if is_list else _SHARE,
        coverage=_COVERAGE.format(keys=keys) if is_list else "",
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


def _kind_sizes_query(by: Breakdown, bindings: Bindings) -> str:
    """Return the query for how many tokens have the same around them, in the order of these keys."""
    columns = _columns(by)
    strings = [f"{by.string(term, 'h', bindings)} as {columns[name]}" for name, term in by.around.items()]
    chosen = where(by.selection.of_sentences(bindings, "s"), "    ")
    pieces = pieces_of(by.regions, bindings, chosen) if by.regions else _SENTENCES.format(chosen=chosen)
    return _KINDS.format(strings=", ".join(strings), pieces=pieces)


def _columns(by: Breakdown) -> dict[str, str]:
    """Return the column of each key."""
    return {name: f"key_{number}" for number, name in enumerate(by.keys, 1)}


def _listed_items(tokens: ListedTokens, by: Breakdown, bindings: Bindings) -> str:
    """Return the query for the items of tokens that are listed."""
    (term,) = by.keys.values()
    column, table, string = COLUMNS[tokens.by]
    return _LISTED.format(
        item=by.string_of(term, f"i.{string}"),
        table=table,
        column=column,
        conditions=where([tokens.matches(bindings), *tokens.selection.of_tokens(bindings, "t")], "  "),
    )


def _hit_items(query: Query, by: Breakdown, bindings: Bindings) -> tuple[str, str]:
    """Return what finds hits, and the query for their items."""
    source, extent = query.source(bindings), query.extent
    positions = {**ENDS, **source.labels}
    names = {"tokens": extent.tokens, "sentence": extent.sentence, "position": extent.position}
    strings, labels = list[str](), dict[str, None]()
    for name, column in _columns(by).items():
        term = by.keys[name]
        string = by.string(term, f"t_{positions[term.label]}" if term.label else "t", bindings)
        strings.append(f"{string if term.label else _WHOLE.format(string=string, **names)} as {column}")
        labels |= {term.label: None} if term.label else {}
    if by.mean:
        string = by.conditions(bindings).string(by.mean.attribute, f"t_{positions[by.mean.label]}")
        strings.append(f"{as_number(string)} as value")
        labels[by.mean.label] = None
    if by.parts:
        strings.append(f"{innermost(by.parts, 't_first', 'position', bindings)} as part_id")
        labels["match"] = None
    joins = "".join(_JOIN.format(place=positions[label], **names) for label in labels)
    hits = source.table
    if places := [positions[label] for label in labels if label in source.labels]:
        hits = _LABELLED.format(places=", ".join(places), match=source.match, hits=hits)
    return f"recursive {source.parts}", _ITEMS.format(strings=", ".join(strings), hits=hits, joins=joins)


#: The columns behind the keys.
_OF_HITS = ("count", "share", "per_million", "parts", "dp", "juilland_d", "part_share")
_OF_TOKENS = ("count", "per_million", "parts", "dp", "coverage", "juilland_d", "part_share")
_MEANS = ("mean", "mean_low", "mean_high")


def frequency_rows(
    connection: Connection, tokens: Query | ListedTokens, by: Breakdown, limit: int
) -> tuple[Rows, bool]:
    """Return the rows of a frequency list, and whether there are more than ``limit``; see its statement."""
    import pyarrow as pa

    parts = regions_of(by) if by.parts else documents_of(connection, by.selection)
    keys = [HitKey(_attribute(by, term), term.label) for term in by.keys.values()]
    if isinstance(tokens, ListedTokens):
        key = LookedUp(keys[0].attribute)
        keys = [replace(keys[0], attribute=key)]
        find = partial(tokens.find, connection, key)
    else:
        find = partial(tokens.find, connection)

    groups, hits, more = count_hits(find, keys, parts, limit, _number(by))
    measures = groups.measures(parts, hits)
    columns = {name: groups.strings(index) for index, name in enumerate(by.keys)}
    for name in _OF_TOKENS if isinstance(tokens, ListedTokens) else _OF_HITS:
        columns[by.names.get(name, name)] = pa.array(measures[name], from_pandas=True)
    if by.around:
        size = _tokens_around(connection, by, parts, [columns[name] for name in by.around])
        columns["per_million_in_part"] = pa.array(1e6 * measures["count"] / size, from_pandas=True)
    for name in _MEANS if by.mean else ():
        columns[name] = pa.array(measures[name], from_pandas=True)
    table = pa.table(columns)
    ResultBudget(connection).add(table)
    return Rows.from_arrow(table), more


def _attribute(by: Breakdown, term: Term) -> Attribute:
    bindings = Bindings()
    of_token = by.string(term, "t", bindings)
    return attribute_of(term.attribute, by.conditions(bindings), partial(by.string_of, term), of_token)


def _number(by: Breakdown) -> HitKey | None:
    """Return the number of which there is a mean."""
    if by.mean is None:
        return None
    conditions = by.conditions(Bindings())
    of_token = as_number(conditions.string(by.mean.attribute, "t"))
    return HitKey(attribute_of(by.mean.attribute, conditions, as_number, of_token), by.mean.label)


def _tokens_around(connection: Connection, by: Breakdown, parts: Parts, names: list[pa.Array]) -> Floats:
    """Return how many tokens have the same around them as the tokens of groups; NaN for none.

    Labels of one hit may be in different sentences, and no token in what is around both.
    """
    keys = [_attribute(by, term) for term in by.around.values()]
    if parts.documents is not None and all(attribute.of_documents for attribute in keys):
        known = Counter[tuple[str, ...]]()
        columns = [attribute.of_numbers(parts.documents).to_pylist() for attribute in keys]
        for *key, size in zip(*columns, parts.sizes.tolist(), strict=True):
            known[tuple(key)] += size
    else:
        known = Counter(kind_sizes(connection, by))
    rows = zip(*(strings.to_pylist() for strings in names), strict=True)
    return np.array([known.get(key, np.nan) for key in rows], float)


def kind_sizes(connection: Connection, by: Breakdown) -> dict[tuple[str, ...], int]:
    """Return how many tokens have the same around them, by what that is."""
    bindings = Bindings()
    rows = Statement(_kind_sizes_query(by, bindings), bindings).run(connection).to_pylist()
    return {tuple(row.values())[:-1]: row["kind_size"] for row in rows}


def part_sizes(
    connection: Connection, table: Rows, corpora: Sequence[str], condition: str | None
) -> PartSizes:
    """Return how many tokens the parts of a corpus have that hits were counted by, those without a hit, too.

    There are none where no key is a time.

    Args:
        connection: the store.
        table: the counts.
        corpora: the corpora that they are of.
        condition: what the metadata of their sentences meet.
    """
    keys = table.columns[: table.columns.index("count")]
    if time_key(keys, table.to_pylist()) is None:
        return PartSizes()
    by = breakdown_of_parts(
        connection, keys, select_corpora(connection, corpora, condition=condition, sentences=True)
    )
    return PartSizes(list(by.keys), kind_sizes(connection, by)) if by.keys else PartSizes()
