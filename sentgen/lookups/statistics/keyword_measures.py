"""How two counts, a of c tokens and b of d others, are compared: formulas of keywords and parts, in SQL."""

from __future__ import annotations

from enum import StrEnum


class KeywordMeasure(StrEnum):
    """What keywords are ranked by."""

    LOG_LIKELIHOOD = "log-likelihood"
    LOG_RATIO = "log-ratio"
    PERCENT_DIFF = "percent-diff"
    ODDS_RATIO = "odds-ratio"
    SIMPLE_MATHS = "simple-maths"


#: The limit of a ln a at 0 is 0; where there is no division, the reference has none of the item.
FORMULAS = {
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
#: Of a polynomial in t = 1 / (1 + x / 2) for ln(erfc(x) / t) + x^2, fitted by least squares at the points of
#: Chebyshev; the error of erfc is below 1e-8 of its value, for every x.
_ERFC = (
    *(-1.265512118, 0.9999980469, 0.3751098299, 0.08091932384, -0.05860063941, -0.3254898924, 0.6665116899),
    *(-2.011027766, 3.642604507, -3.505887399, 1.853980057, -0.5073753239, 0.05476968002),
)
POLYNOMIAL = " + t * (".join(map(str, _ERFC)) + ")" * (len(_ERFC) - 1)
#: Of a normal distribution: 95 per cent are less far from its middle.
DEVIATIONS = 1.959964
