"""Measures of how strongly two words are associated, each by its formula in SQL.

They are of the table of frequencies that `sentgen.lookups.statistics.collocations` describes: o11, r1, c1, n,
and f, the frequency of the node; docs/measures.md has the formulas as people write them.
"""

from __future__ import annotations

from enum import StrEnum


class Measure(StrEnum):
    """What collocates are ranked by."""

    LOGDICE = "logdice"
    PMI = "pmi"
    LOG_LIKELIHOOD = "log-likelihood"
    COUNT = "count"
    MI2 = "mi2"
    MI3 = "mi3"
    T_SCORE = "t-score"
    Z_SCORE = "z-score"
    DICE = "dice"
    DELTA_P_COLLOCATE = "delta-p-collocate"
    DELTA_P_NODE = "delta-p-node"
    FISHER = "fisher"
    MIN_SENSITIVITY = "min-sensitivity"


#: Measure to its column in the answer; that of the count has another name within the statement.
COLUMN: dict[Measure, str] = {
    measure: measure.replace("-", "_") for measure in Measure if measure is not Measure.COUNT
}
#: What is always shown.
_USUAL = (Measure.LOGDICE, Measure.PMI, Measure.LOG_LIKELIHOOD)


def shown(measure: Measure, *, every: bool = False) -> str:
    """Return the columns of measures in an answer: the usual ones, that which ranks, or ``every`` one."""
    if every:
        return ", ".join(COLUMN.values())
    ranking = [] if measure is Measure.COUNT else [measure]
    return ", ".join(dict.fromkeys(COLUMN[each] for each in (*_USUAL, *ranking)))


def scores(columns: str) -> str:
    """Return the common table expression ``scored``: the rows of ``pair`` with these columns of measures."""
    formulas = (f"\n    {FORMULAS[column]} as {column}" for column in columns.split(", "))
    return _SCORES.format(scores=",".join(formulas))


def _cell(observed: str, expected: str) -> str:
    return f"case when {observed} > 0 then ({observed}) * ln(({observed}) / ({expected})) else 0 end"


def _log_factorial(number: str) -> str:
    return f"lgamma({number} + 1)"


_LARGER = "o11 * n >= r1 * c1"
#: The logarithms of the factorials that change from one table with the same margins to the next.
_CHANGING = " + ".join(map(_log_factorial, ("k", "r1 - k", "c1 - k", "n - r1 - c1 + k")))
_OBSERVED = _CHANGING.replace("k", "o11")
_MARGINS = " + ".join(map(_log_factorial, ("r1", "n - r1", "c1", "n - c1"))) + f" - {_log_factorial('n')}"
#: Tables further off add less than the last digit: they are more than twelve standard deviations away.
_FAR = "40 + 12 * sqrt(r1 * c1 / n)"

#: Of counts as floating point numbers; the limit of o ln o at 0 is 0.
FORMULAS = {
    "logdice": "14 + log2(2 * o11 / (f + c1))",
    "pmi": "log2(o11 * n / (r1 * c1))",
    "log_likelihood": f"""\
case when o11 * n < r1 * c1 then -2 else 2 end * (
      {_cell("o11", "r1 * c1 / n")}
      + {_cell("r1 - o11", "r1 * (n - c1) / n")}
      + {_cell("c1 - o11", "(n - r1) * c1 / n")}
      + {_cell("n - r1 - c1 + o11", "(n - r1) * (n - c1) / n")}
    )""",
    "mi2": "log2(o11 ** 2 * n / (r1 * c1))",
    "mi3": "log2(o11 ** 3 * n / (r1 * c1))",
    "t_score": "(o11 - r1 * c1 / n) / sqrt(o11)",
    "z_score": "(o11 - r1 * c1 / n) / sqrt(r1 * c1 / n)",
    "dice": "2 * o11 / (f + c1)",
    # Where there is nothing but the node, or nothing but the collocate, there is no difference.
    "delta_p_collocate": "o11 / r1 - (c1 - o11) / nullif(n - r1, 0)",
    "delta_p_node": "o11 / c1 - (r1 - o11) / nullif(n - c1, 0)",
    # In logarithms, as neither factorials nor the probabilities of large counts are numbers of a machine.
    "fisher": f"""\
case when {_LARGER} then -1 else 1 end / ln(10) * (
      {_MARGINS} - ({_OBSERVED})
      + ln(list_sum(list_transform(
        case when {_LARGER} then range(o11::bigint, least(r1, c1, o11 + {_FAR})::bigint + 1)
        else range(greatest(0, r1 + c1 - n, o11 - ({_FAR}))::bigint, o11::bigint + 1) end,
        lambda k: exp({_OBSERVED} - ({_CHANGING}))
      )))
    )""",
    "min_sensitivity": "o11 / greatest(r1, c1)",
}
_SCORES = """\
scored as (
  select *,{scores}
  from pair
)"""
