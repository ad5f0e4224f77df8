"""The statement for keywords: the counts of both sides, and the measures by their formulas in SQL.

With a and b the occurrences of an item, and c and d all of its kind, in the focus and in the reference;
docs/measures.md has the formulas as people write them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sentgen.case_folding import folded
from sentgen.lookups.base.attributes import COLUMNS
from sentgen.lookups.base.statement import Bindings, Statement, limit_clause, where
from sentgen.lookups.question import selection_counts
from sentgen.lookups.question.patterns import has_pos
from sentgen.lookups.question.selection import Selection
from sentgen.lookups.statistics.collocation_statements import SPELLING
from sentgen.lookups.statistics.frequencies import By
from sentgen.schema.tables.corpus import BOS, EOS


class Keyness(StrEnum):
    """What keywords are ranked by."""

    LOG_LIKELIHOOD = "log-likelihood"
    LOG_RATIO = "log-ratio"
    PERCENT_DIFF = "percent-diff"
    ODDS_RATIO = "odds-ratio"
    SIMPLE_MATHS = "simple-maths"


#: The limit of a ln a at 0 is 0; where there is no division, the reference has none of the item.
FORMULAS = {
    Keyness.LOG_LIKELIHOOD: """\
case when a * d < b * c then -2 else 2 end * (
      case when a > 0 then a * ln(a * (c + d) / (c * (a + b))) else 0 end
      + case when b > 0 then b * ln(b * (c + d) / (d * (a + b))) else 0 end
    )""",
    Keyness.LOG_RATIO: "log2(greatest(a, 0.5) / c / (greatest(b, 0.5) / d))",
    Keyness.PERCENT_DIFF: "100 * (a / c - b / d) / nullif(b / d, 0)",
    Keyness.ODDS_RATIO: "a * (d - b) / nullif(b * (c - a), 0)",
    Keyness.SIMPLE_MATHS: "(1e6 * a / c + $constant) / (1e6 * b / d + $constant)",
}
#: Of a polynomial in t = 1 / (1 + x / 2) for ln(erfc(x) / t) + x^2, fitted by least squares at the points of
#: Chebyshev; the error of erfc is below 1e-8 of its value, for every x.
_ERFC = (
    *(-1.265512118, 0.9999980469, 0.3751098299, 0.08091932384, -0.05860063941, -0.3254898924, 0.6665116899),
    *(-2.011027766, 3.642604507, -3.505887399, 1.853980057, -0.5073753239, 0.05476968002),
)
POLYNOMIAL = " + t * (".join(map(str, _ERFC)) + ")" * (len(_ERFC) - 1)
#: Of a normal distribution: 95 per cent are less far from its middle.
_DEVIATIONS = 1.959964

_STATEMENT = """\
with {spelling}focus as (
{focus}
),
reference as (
{reference}
),
size as (
  select ({focus_size})::double as c, ({reference_size})::double as d
),
compared as (
  select {keys}, sum(a) as a, sum(b) as b
  from (
    -- floating point numbers add up faster, and are exact for counts
    select {keys}, count::double as a, 0::double as b from focus
    union all
    select {keys}, 0, count from reference
  )
  group by {keys}
  having sum(a) + sum(b) >= $min_count
),
valued as (
  select *, {sign}coalesce({ranking}, 'infinity'::double) as value
  from compared
  cross join size
),
{last}ranked as (
  select {item} as item, a, b, c, d, value
  from valued{named}{beyond}
  order by value desc, {side} desc, item{limit}
),
measured as (
  select *,
    {measures},
    sqrt(1 / greatest(a, 0.5) - 1 / c + 1 / greatest(b, 0.5) - 1 / d) / ln(2) as error
  from ranked
),
tested as (
  select *, 1 / (1 + sqrt(abs(log_likelihood) / 2) / 2) as t
  from measured
)
select item as "{by}", a::bigint as count, 1e6 * a / c as per_million, b::bigint as reference_count,
  1e6 * b / d as reference_per_million,
  {columns},
  least(1, (select count(*) from compared) * t * exp(
    {polynomial}
    - abs(log_likelihood) / 2
  )) as p_bonferroni,
  abs(log_likelihood) - ln(c + d) as bic,
  log_ratio - {deviations} * error as log_ratio_low, log_ratio + {deviations} * error as log_ratio_high
from tested
order by value desc, {side} desc, item"""
#: Of many items few are shown: strings are looked up for these, and for equals of the last one.
_LAST = """\
last as (
  select value, {side}
  from valued
  order by value desc, {side} desc
  limit 1 offset $limit - 1
),
"""
_BEYOND = "\n  where coalesce((value, {side}) >= (select (value, {side}) from last), true)"

_COUNTED = """\
  select {listed}, {count} as count
  from {source}{conditions}{grouped}"""

#: Neighbors are those of the sentence, also where one of them is left out.
_FOLLOWING = """\
(
    select w1{following}
    from (
      select t.sentence_id, t.position, case when {kept} then t.{column} end as w1
      from token as t{conditions}
    )
    window sentence_order as (partition by sentence_id order by position)
  ) as n"""


@dataclass(frozen=True, slots=True)
class Items:
    """What is compared.

    Args:
        by: the attribute of tokens.
        length: tokens of an item.
        stop: words that are left out, in small letters.
        pos: patterns of parts of speech, one of which every token of an item has; none for all.
        folded: whether words that differ in capital letters only are one.
    """

    by: By
    length: int = 1
    stop: Sequence[str] = ()
    pos: Sequence[str] = ()
    folded: bool = False

    @property
    def keys(self) -> list[str]:
        """The columns with the numbers of the tokens of an item."""
        return [f"w{i}" for i in range(1, self.length + 1)]

    def counted_already(self, selection: Selection) -> bool:
        """Return whether the counts of the store have them: n-grams of words of whole corpora."""
        return self.by is By.WORD and not self.pos and selection.condition is None

    def size(self, selection: Selection, bindings: Bindings) -> str:
        """Return the query for the number of all items, those that are left out as well."""
        if self.length == 1:
            return selection_counts.size(selection, bindings)
        if self.counted_already(selection):
            conditions = where(self._of_ngrams(selection, bindings), "    ")
            return f"select sum(count) from ngram_{self.length}{conditions}"
        longer = [f"length >= {self.length}", *selection.of_sentences(bindings)]
        return f"select sum(length - {self.length - 1}) from sentence{where(longer, '    ')}"

    def of_tokens(self, alias: str, bindings: Bindings) -> list[str]:
        """Return the conditions on a token of an item."""
        column = COLUMNS[self.by][0]
        found = [f"{alias}.{column} is not null", *self._others(f"{alias}.{column}", bindings)]
        return [*found, *has_pos(alias, self.pos, bindings)]

    def counted(self, selection: Selection, bindings: Bindings) -> str:
        """Return the statement that counts the items of a selection."""
        numbers = range(1, self.length + 1)
        if self.counted_already(selection):
            keys = {i: f"n.w{i}" for i in numbers}
            # Both sides are summed up together.
            source, count = f"ngram_{self.length} as n", "count"
            conditions = self._of_ngrams(selection, bindings)
            conditions += [each for key in keys.values() for each in self._others(key, bindings)]
        elif self.length == 1:
            keys, source, count = {1: f"t.{COLUMNS[self.by][0]}"}, "token as t", "count(*)"
            conditions = [*self.of_tokens("t", bindings), *selection.of_tokens(bindings, "t")]
        else:
            keys, count = {i: f"n.w{i}" for i in numbers}, "count(*)"
            leads = [f",\n      lead(w1, {i - 1}) over sentence_order as w{i}" for i in numbers[1:]]
            source = _FOLLOWING.format(
                following="".join(leads),
                kept="\n          and ".join(self.of_tokens("t", bindings)),
                column=COLUMNS[self.by][0],
                conditions=where(selection.of_tokens(bindings, "t"), "      "),
            )
            conditions = [f"{key} is not null" for key in keys.values()]
        if self.folded:
            for i, key in keys.items():
                source += f"\n  join spelling as s{i} on s{i}.id = {key}"
            keys = {i: f"s{i}.folded" for i in numbers}
        return _COUNTED.format(
            listed=", ".join(f"{key} as w{i}" for i, key in keys.items()),
            count=count,
            source=source,
            conditions=where(conditions, "  "),
            grouped="" if count == "count" else f"\n  group by {', '.join(keys.values())}",
        )

    def _of_ngrams(self, selection: Selection, bindings: Bindings) -> list[str]:
        # The ends of sentences are at the ends of an n-gram only.
        return [f"w1 <> {BOS}", f"w{self.length} <> {EOS}", *selection.of_segments(bindings)]

    def _others(self, column: str, bindings: Bindings) -> Iterator[str]:
        if self.stop:
            words = bindings.bind("stop", list(self.stop))
            yield f"{column} not in (select id from word where {folded('form')} in {words})"


def compared(
    items: Items,
    sides: tuple[Selection, Selection],
    measure: Keyness,
    limit: int,
    bindings: Bindings,
    *,
    negative: bool,
) -> Statement:
    """Return the statement that counts and measures the items of both sides.

    Args:
        items: what is compared.
        sides: the focus, and the reference.
        measure: what to rank by.
        limit: rows, 0 for all.
        bindings: with ``min_count`` and ``constant``.
        negative: whether what is rarer in the focus comes first.
    """
    side, (_, table, name) = "b" if negative else "a", COLUMNS[items.by]
    strings = [f"n{i}.{name}" for i in range(1, items.length + 1)]
    joins = [f"\n  join {table} as n{i} on n{i}.id = valued.w{i}" for i in range(1, items.length + 1)]
    text = _STATEMENT.format(
        by=items.by,
        spelling=SPELLING if items.folded else "",
        focus=items.counted(sides[0], bindings),
        reference=items.counted(sides[1], bindings),
        focus_size=items.size(sides[0], bindings),
        reference_size=items.size(sides[1], bindings),
        keys=", ".join(items.keys),
        item=" || ' ' || ".join(map(folded, strings) if items.folded else strings),
        named="".join(joins),
        ranking=FORMULAS[measure],
        measures=",\n    ".join(f"{formula} as {_column(one)}" for one, formula in FORMULAS.items()),
        columns=", ".join(map(_column, FORMULAS)),
        polynomial=POLYNOMIAL,
        deviations=_DEVIATIONS,
        sign="-" if negative else "",
        side=side,
        last=_LAST.format(side=side) if limit else "",
        beyond=_BEYOND.format(side=side) if limit else "",
        limit=limit_clause(limit, bindings, "  "),
    )
    return Statement(text, bindings)


def _column(measure: Keyness) -> str:
    return measure.replace("-", "_")
