"""Is the difference between parts sure? Tests and effect sizes of rates, a part against all others.

With a and b the hits in a part and in all others, and c and d the tokens there, the measures are those of
keywords (`sentgen.lookups.statistics.keywords`); docs/measures.md has the formulas as people write them.
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from sentgen.errors import InputError, spell
from sentgen.lookups.base.statement import Bindings, ResultBudget, Statement, limit_clause
from sentgen.lookups.statistics.frequency_rows import kind_sizes
from sentgen.lookups.statistics.keyword_measures import DEVIATIONS, FORMULAS, POLYNOMIAL
from sentgen.output.tabular import Rows
from sentgen.schema.base import quote_identifier
from sentgen.schema.engine import arrow_table, raw, register_arrow

if TYPE_CHECKING:
    from sentgen.lookups.statistics.breakdown import Breakdown

#: Rates are of all tokens of a part, so that these come of them. Where hits are more than tokens, as they may
#: overlap, they are no share of these.
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
    """Compare each part with all others.

    Args:
        connection: the store.
        rows: all rows of a frequency list.
        query: its statement.
        by: what it is counted by.
        limit: rows to return; 0 for all.

    Returns:
        The rows, whether there are more, their statement, and what is to be said of all parts together.

    Raises:
        InputError: no key is metadata or an attribute of regions, or there is but one part.
    """
    if not by.around:
        raise InputError(
            f"{spell('compare')} compares parts of the texts; name metadata or regions that make parts with"
            f" {spell('by')}, such as {spell('by')} genre"
        )
    sizes = kind_sizes(connection, by)
    if len(sizes) < 2:
        named = ", ".join(by.around)
        raise InputError(
            f"by {named} there is one part alone, and nothing to compare it with; name another key or corpus"
        )
    if not rows.num_rows:
        return rows, False, query, ()
    with register_arrow(raw(connection), frequency_row=rows.arrow()):
        table = arrow_table(raw(connection), _statement(by, "frequency_row", Statement(""), 0).text)
    ResultBudget(connection).add(table)
    compared, more = Rows.from_arrow(table).first(limit)
    remarks = (_together(rows, sizes),) if len(by.around) == len(by.keys) else ()
    return compared, more, _statement(by, f"(\n{query.text}\n        )", query, limit), remarks


def _statement(by: Breakdown, rows: str, query: Statement, limit: int) -> Statement:
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
        **{measure.replace("-", "_"): formula for measure, formula in FORMULAS.items()},
    )
    return Statement(text, bindings)


def _together(rows: Rows, sizes: dict[tuple[str, ...], int]) -> str:
    """Say how sure it is that the rates of all parts are not the same, those without a hit included."""
    from scipy.special import chdtrc

    keys = [rows.column(name) for name in rows.columns[: rows.columns.index("count")]]
    found = dict(zip(zip(*keys, strict=True), rows.column("count"), strict=True))
    hits, tokens, freedom = sum(found.values()), sum(sizes.values()), len(sizes) - 1
    share = hits / tokens
    counts = [(found.get(part, 0), size) for part, size in sizes.items()]
    likelihood = 2 * sum(count * log(count / (size * share)) for count, size in counts if count)
    text = f"{len(sizes)} parts: log-likelihood {likelihood:.2f} (p = {chdtrc(freedom, likelihood):.2g})"
    if share < 1 and all(count <= size for count, size in counts):
        square = sum((count - size * share) ** 2 / (size * share * (1 - share)) for count, size in counts)
        text += f", chi-square {square:.2f} (p = {chdtrc(freedom, square):.2g})"
    return f"{text}, {freedom} df, BIC {likelihood - freedom * log(tokens):.2f}"
