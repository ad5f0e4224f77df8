"""Measures, each by its formula in SQL: how strongly two words are associated, and how two counts differ.

Measures of association are computed from the table of frequencies that
`sentgen.lookups.statistics.collocations` describes: o11, r1, c1, n, and f, the frequency of the node;
docs/measures.md has the formulas in usual notation. Measures of keywords, and of parts of a corpus, compare
two counts: a in c tokens, and b in d other tokens.
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

    def shown(self, *, every: bool = False) -> str:
        """Return the columns of measures in an answer: the usual ones and the ranking one, or all."""
        if every:
            return ", ".join(COLUMN.values())
        ranking = [] if self is Measure.COUNT else [self]
        return ", ".join(dict.fromkeys(COLUMN[each] for each in (*_USUAL, *ranking)))


def measure_column(measure: StrEnum) -> str:
    """Return the column of a measure in an answer."""
    return measure.replace("-", "_")


#: Measure to its column; not the count, whose column has another name within the statement.
COLUMN: dict[Measure, str] = {
    measure: measure_column(measure) for measure in Measure if measure is not Measure.COUNT
}
#: The measures that are always shown.
_USUAL = (Measure.LOGDICE, Measure.PMI, Measure.LOG_LIKELIHOOD)


def scores(columns: str) -> str:
    """Return the common table expression ``scored``: the rows of ``pair`` with these columns of measures."""
    formulas = (f"\n    {FORMULAS[column]} as {column}" for column in columns.split(", "))
    return _SCORES.format(scores=",".join(formulas))


def _cell(observed: str, expected: str) -> str:
    return f"case when {observed} > 0 then ({observed}) * ln(({observed}) / ({expected})) else 0 end"


def _log_factorial(number: str) -> str:
    return f"lgamma({number} + 1)"


_LARGER = "o11 * n >= r1 * c1"
#: The logarithms of the factorials that differ between tables with the same margins; ``k`` is their o11.
_CHANGING = " + ".join(map(_log_factorial, ("k", "r1 - k", "c1 - k", "n - r1 - c1 + k")))
_OBSERVED = _CHANGING.replace("k", "o11")
_MARGINS = " + ".join(map(_log_factorial, ("r1", "n - r1", "c1", "n - c1"))) + f" - {_log_factorial('n')}"
#: Sums end at tables so far from o11, more than twelve standard deviations: further ones change no digit.
_FAR = "40 + 12 * sqrt(r1 * c1 / n)"

#: Column to formula; counts are floating point numbers, and o ln o is 0 at 0, its limit.
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
    # Null if all tokens are near the node, or all are the collocate: there is no rate elsewhere to subtract.
    "delta_p_collocate": "o11 / r1 - (c1 - o11) / nullif(n - r1, 0)",
    "delta_p_node": "o11 / c1 - (r1 - o11) / nullif(n - c1, 0)",
    # In logarithms, as factorials of large counts exceed the range of floating point numbers.
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


class KeywordMeasure(StrEnum):
    """What keywords are ranked by."""

    LOG_LIKELIHOOD = "log-likelihood"
    LOG_RATIO = "log-ratio"
    PERCENT_DIFF = "percent-diff"
    ODDS_RATIO = "odds-ratio"
    SIMPLE_MATHS = "simple-maths"


#: Measure to formula; a ln a is 0 at 0, its limit. Ratios are null where the reference lacks the item.
KEYWORD_FORMULAS = {
    KeywordMeasure.LOG_LIKELIHOOD: """\
case when a * d < b * c then -2 else 2 end * (
      case when a > 0 then a * ln(a * (c + d) / (c * (a + b))) else 0 end
      + case when b > 0 then b * ln(b * (c + d) / (d * (a + b))) else 0 end
    )""",
    KeywordMeasure.LOG_RATIO: "log2(greatest(a, 0.5) / c / (greatest(b, 0.5) / d))",
    KeywordMeasure.PERCENT_DIFF: "100 * (a / c - b / d) / nullif(b / d, 0)",
    KeywordMeasure.ODDS_RATIO: "a * (d - b) / nullif(b * (c - a), 0)",
    KeywordMeasure.SIMPLE_MATHS: "(1e6 * a / c + $constant) / (1e6 * b / d + $constant)",
}
#: Coefficients of a polynomial in t = 1 / (1 + x / 2) for ln(erfc(x) / t) + x^2, fitted by least squares at
#: Chebyshev points; the relative error of erfc is below 1e-8 for every x.
_ERFC = (
    *(-1.265512118, 0.9999980469, 0.3751098299, 0.08091932384, -0.05860063941, -0.3254898924, 0.6665116899),
    *(-2.011027766, 3.642604507, -3.505887399, 1.853980057, -0.5073753239, 0.05476968002),
)
POLYNOMIAL = " + t * (".join(map(str, _ERFC)) + ")" * (len(_ERFC) - 1)
#: The interval of 95 % of a normal distribution reaches so many standard deviations to each side.
DEVIATIONS = 1.959964
