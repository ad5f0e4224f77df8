"""Frequency lists: rows counted in arrays, and the SQL statement that defines the same rows.

A part can be compared with all others by tests and effect sizes for the difference of their rates. With a and
b the hits in the part and in all others, and c and d the tokens there, the measures are those of keywords
(`sentgen.lookups.statistics.keywords`); docs/measures.md has the formulas in usual notation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import log
from typing import TYPE_CHECKING

import numpy as np
from sqlalchemy import Connection

from sentgen.arrays import Floats
from sentgen.errors import InputError, spell
from sentgen.lookups.base.attributes import COLUMNS, TokenKey, as_number
from sentgen.lookups.base.keys import MetadataKey
from sentgen.lookups.base.regions import innermost, pieces_of
from sentgen.lookups.base.selection import Selection
from sentgen.lookups.base.statement import Bindings, ResultBudget, Statement, limit_clause, where
from sentgen.lookups.concordances.hits import Query
from sentgen.lookups.cql.conditions import ENDS
from sentgen.lookups.cql.syntax import Term
from sentgen.lookups.search.attributes import Attribute, ComputedAttribute, of_key
from sentgen.lookups.statistics.breakdown import Breakdown
from sentgen.lookups.statistics.hit_counts import HitKey, Parts, count_hits
from sentgen.lookups.statistics.intervals import MEANS
from sentgen.lookups.statistics.listed_tokens import ListedTokens, LookedUp
from sentgen.lookups.statistics.measures import DEVIATIONS, KEYWORD_FORMULAS, POLYNOMIAL, measure_column
from sentgen.output.rates import PartSizes, time_key
from sentgen.output.tabular import Rows
from sentgen.schema.base import quote_identifier
from sentgen.schema.engine import arrow_table, raw, register_arrow

if TYPE_CHECKING:
    import pyarrow as pa

#: Each hit, or listed token, has a row in ``item``, with its keys. Juilland's D is 1 - V / sqrt(n - 1) with
#: V^2 = n sum p^2 / (sum p)^2 - 1, where p is the rate in each of n parts, divided here by the largest rate:
#: equal rates then give exactly 1, and hits in one part alone exactly 0. `greatest` is for rounding below 0.
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

#: The tokens of each combination of metadata and region attributes, such as those of a genre.
_KINDS = """\
select {strings}, sum(length)::bigint as kind_size
  from ({pieces}) as h
  group by all"""
_SENTENCES = "select s.id as sentence_id, s.length from sentence as s{chosen}"
_WITHIN = ",\n  1e6 * sum(count) / any_value(kind_size) as per_million_in_part"
#: The sum of the numbers of the hits, and how many have one.
_SUMS = ", sum(value) as value, count(value) as valued"
_MEAN = ",\n  any_value(mean) as mean, any_value(mean_low) as mean_low, any_value(mean_high) as mean_high"

_LISTED = """\
  select t.sentence_id, {item} as key_1
  from token as t
  join {table} as i on i.id = t.{column}{conditions}"""
_ITEMS = "  select h.sentence_id, {strings}\n  from {hits} as h{joins}"
_JOIN = """
  join {tokens} as t_{place} on t_{place}.{sentence} = h.sentence_id and t_{place}.{position} = h.{place}"""
#: Joined position by position: for a range, DuckDB would compare each hit with all tokens of its document.
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


def _frequency_statement(tokens: Query | ListedTokens, by: Breakdown, limit: int) -> Statement:
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
        of_piece=innermost(by.parts, "h", bindings) if by.parts else "document_id",
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
    """Return the query for the tokens of each combination of metadata and region attributes."""
    columns = _columns(by)
    strings = [f"{by.string(term, 'h', bindings)} as {columns[name]}" for name, term in by.around.items()]
    chosen = where(by.selection.of_sentences(bindings, "s"), "    ")
    pieces = pieces_of(by.regions, bindings, chosen) if by.regions else _SENTENCES.format(chosen=chosen)
    return _KINDS.format(strings=", ".join(strings), pieces=pieces)


def _columns(by: Breakdown) -> dict[str, str]:
    """Return the column of each key: ``key_1``, ``key_2`` and so on."""
    return {name: f"key_{number}" for number, name in enumerate(by.keys, 1)}


def _listed_items(tokens: ListedTokens, by: Breakdown, bindings: Bindings) -> str:
    (term,) = by.keys.values()
    column, table, string = COLUMNS[tokens.by]
    return _LISTED.format(
        item=by.string_of(term, f"i.{string}"),
        table=table,
        column=column,
        conditions=where([tokens.matches(bindings), *tokens.selection.of_tokens(bindings, "t")], "  "),
    )


def _hit_items(query: Query, by: Breakdown, bindings: Bindings) -> tuple[str, str]:
    """Return the common table expressions that find the hits, and the query for the hits with their keys."""
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
        strings.append(f"{innermost(by.parts, 't_first', bindings)} as part_id")
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
) -> tuple[Rows, bool, Statement]:
    """Return the rows of a frequency list, whether there are more, and the statement that defines them.

    Counted are the hits of a query, or listed tokens.
    """
    import pyarrow as pa

    parts = Parts.of_regions(by) if by.parts else Parts.of_documents(connection, by.selection)
    keys = [HitKey(_attribute(by, term), term.label) for term in by.keys.values()]
    if isinstance(tokens, ListedTokens):
        key = LookedUp(keys[0].attribute)
        keys = [replace(keys[0], attribute=key)]
        find = partial(tokens.find, connection, key)
    else:
        find = partial(tokens.find, connection)

    mean = None
    if by.mean is not None:
        conditions = by.conditions(Bindings())
        number = conditions.key(by.mean.attribute)
        mean = HitKey(of_key(connection, number, conditions.bindings, as_number), by.mean.label)
    groups, hits, more = count_hits(find, keys, parts, limit, mean)
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
    ResultBudget(connection).add(table.nbytes)
    return Rows.from_arrow(table), more, _frequency_statement(tokens, by, limit)


def _attribute(by: Breakdown, term: Term) -> Attribute:
    connection, key, bindings = by.store_keys.connection, by.store_keys.find(term.attribute), Bindings()
    if isinstance(key, MetadataKey | TokenKey):
        return of_key(connection, key, bindings, partial(by.string_of, term))
    return ComputedAttribute(connection, by.string(term, "t", bindings), bindings)


def _tokens_around(connection: Connection, by: Breakdown, parts: Parts, names: list[pa.Array]) -> Floats:
    """Return how many tokens of the corpora have the metadata and regions of each group.

    It is NaN where no token has them: two labels of a hit may be in different sentences, so that a group
    combines metadata or regions that no single token has.
    """
    keys = [_attribute(by, term) for term in by.around.values()]
    if parts.documents is not None and all(attribute.of_documents for attribute in keys):
        known = Counter[tuple[str, ...]]()
        columns = [attribute.of_numbers(parts.documents).to_pylist() for attribute in keys]
        for *key, size in zip(*columns, parts.sizes.tolist(), strict=True):
            known[tuple(key)] += size
    else:
        known = Counter(_kind_sizes(connection, by))
    rows = zip(*(strings.to_pylist() for strings in names), strict=True)
    return np.array([known.get(key, np.nan) for key in rows], float)


def _kind_sizes(connection: Connection, by: Breakdown) -> dict[tuple[str, ...], int]:
    """Return how many tokens have each combination of metadata and region attributes."""
    bindings = Bindings()
    rows = Statement(_kind_sizes_query(by, bindings), bindings).run(connection).to_pylist()
    return {tuple(row.values())[:-1]: row["kind_size"] for row in rows}


def part_sizes(
    connection: Connection, table: Rows, corpora: Sequence[str], condition: str | None
) -> PartSizes:
    """Return the tokens of each part of a corpus by which hits were counted, also of parts without a hit.

    They are empty if no key is a time. The counted sentences meet ``condition``.
    """
    keys = table.columns[: table.columns.index("count")]
    if time_key(keys, table.to_pylist()) is None:
        return PartSizes()
    by = Breakdown.of_parts(
        connection, keys, Selection.named(connection, corpora, condition=condition, sentences=True)
    )
    return PartSizes(list(by.keys), _kind_sizes(connection, by)) if by.keys else PartSizes()


#: The tokens of a part, c, follow from a count and its rate per million. Hits may overlap and so outnumber
#: the tokens; measures that need a share of tokens are null then.
_DIFFERENCES = """\
select {keys}, * exclude (row_of_answer, {key_columns}, a, b, c, d, error, odds_error, t)
  replace (
    least(1, p_bonferroni * t * exp(
      {polynomial}
      - abs(log_likelihood) / 2
    )) as p_bonferroni
  )
from (
  select *, log_ratio - {deviations} * error as log_ratio_low,
    log_ratio + {deviations} * error as log_ratio_high, {percent_diff} as percent_diff,
    (a / c) / nullif(b / d, 0) as relative_risk,
    case when b > 0 then 2 ** (log_ratio - {deviations} * error) end as relative_risk_low,
    case when b > 0 then 2 ** (log_ratio + {deviations} * error) end as relative_risk_high,
    case when a < c and b < d then {odds_ratio} end as odds_ratio,
    odds_ratio * exp(-{deviations} * odds_error) as odds_ratio_low,
    odds_ratio * exp({deviations} * odds_error) as odds_ratio_high,
    1 / (1 + sqrt(abs(log_likelihood) / 2) / 2) as t
  from (
    select *, {log_likelihood} as log_likelihood, count(*) over () as p_bonferroni,
      case when a <= c and b <= d then
        (c + d) * (a * (d - b) - b * (c - a)) ** 2 / nullif(c * d * (a + b) * (c + d - a - b), 0)
      end as chi_square,
      abs(log_likelihood) - ln(c + d) as bic, {log_ratio} as log_ratio,
      case when a <= c and b <= d then
        sqrt(1 / a - 1 / c + 1 / greatest(b, 0.5) - 1 / d) / ln(2)
      end as error,
      case when a < c and 0 < b and b < d then
        sqrt(1 / a + 1 / b + 1 / (c - a) + 1 / (d - b))
      end as odds_error
    from (
      select *, count::double as a, (sum(count) over ({others}) - count)::double as b,
        round(1e6 * count / per_million_in_part) as c, round(1e6 * count / per_million) - c as d
      from (
        select {named}, * exclude ({given}), row_number() over () as row_of_answer
        from {rows}
      )
    )
  )
)
order by row_of_answer{limit}"""


def differences(
    connection: Connection, rows: Rows, query: Statement, by: Breakdown, limit: int
) -> tuple[Rows, bool, Statement, tuple[str, ...]]:
    """Compare each part with all others, in all rows of a frequency list; a ``limit`` of 0 returns all.

    Returns:
        The rows, whether there are more, their statement, and a remark with the tests of all parts together.

    Raises:
        InputError: no key is metadata or an attribute of regions, or there is only one part.
    """
    if not by.around:
        raise InputError(
            f"{spell('compare')} compares parts of the texts; name metadata or regions that make parts with"
            f" {spell('by')}, such as {spell('by')} genre"
        )
    sizes = _kind_sizes(connection, by)
    if len(sizes) < 2:
        named = ", ".join(by.around)
        raise InputError(
            f"by {named} there is one part alone, and nothing to compare it with; name another key or corpus"
        )
    if not rows.num_rows:
        return rows, False, query, ()
    with register_arrow(raw(connection), frequency_row=rows.arrow()):
        table = arrow_table(
            raw(connection), _differences_statement(by, "frequency_row", Statement(""), 0).text
        )
    ResultBudget(connection).add(table.nbytes)
    compared, more = Rows.from_arrow(table).first(limit)
    remarks = (_together(rows, sizes),) if len(by.around) == len(by.keys) else ()
    return compared, more, _differences_statement(by, f"(\n{query.text}\n        )", query, limit), remarks


def _differences_statement(by: Breakdown, rows: str, query: Statement, limit: int) -> Statement:
    bindings = Bindings(**query.parameters)
    names = {quote_identifier(name): f"key_{number}" for number, name in enumerate(by.keys, 1)}
    others = [column for key, column in zip(by.keys, names.values(), strict=True) if key not in by.around]
    text = _DIFFERENCES.format(
        keys=", ".join(f"{column} as {name}" for name, column in names.items()),
        key_columns=", ".join(names.values()),
        named=", ".join(f"{name} as {column}" for name, column in names.items()),
        given=", ".join(names),
        others=f"partition by {', '.join(others)}" if others else "",
        rows=rows,
        polynomial=POLYNOMIAL,
        deviations=DEVIATIONS,
        limit=limit_clause(limit, bindings),
        **{measure_column(measure): formula for measure, formula in KEYWORD_FORMULAS.items()},
    )
    return Statement(text, bindings)


def _together(rows: Rows, sizes: dict[tuple[str, ...], int]) -> str:
    """Describe tests of whether the rates of all parts are the same; parts without a hit are included."""
    from scipy.special import chdtrc

    keys = [rows.column(name) for name in rows.columns[: rows.columns.index("count")]]
    hits_of = dict(zip(zip(*keys, strict=True), rows.column("count"), strict=True))
    hits, tokens, freedom = sum(hits_of.values()), sum(sizes.values()), len(sizes) - 1
    share = hits / tokens
    counts = [(hits_of.get(part, 0), size) for part, size in sizes.items()]
    likelihood = 2 * sum(count * log(count / (size * share)) for count, size in counts if count)
    text = f"{len(sizes)} parts: log-likelihood {likelihood:.2f} (p = {chdtrc(freedom, likelihood):.2g})"
    if share < 1 and all(count <= size for count, size in counts):
        square = sum((count - size * share) ** 2 / (size * share * (1 - share)) for count, size in counts)
        text += f", chi-square {square:.2f} (p = {chdtrc(freedom, square):.2g})"
    return f"{text}, {freedom} df, BIC {likelihood - freedom * log(tokens):.2f}"
