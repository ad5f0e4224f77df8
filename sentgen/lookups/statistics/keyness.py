"""Keywords: what is more frequent in some corpora than in others.

With a and b the occurrences of an item, and c and d all tokens, of the focus corpora and of the reference
corpora, and its expected occurrences e1 = c (a + b) / (c + d) and e2 = d (a + b) / (c + d):

* Log-likelihood G2 = 2 (a ln(a / e1) + b ln(b / e2)), where 0 ln 0 is 0 (Rayson and Garside 2000, "Comparing
  corpora using frequency profiling", WCC); here it is negative where the item is rarer in the focus corpora.
  It says how sure it is that there is a difference: 3.84 is p < 0.05 with one degree of freedom, 15.13 is
  p < 0.0001.
* Log ratio = log2((a / c) / (b / d)), with 0.5 in place of a or b if it is 0 (Hardie 2014, "Log Ratio: an
  informal introduction", CASS). It says how large the difference is: 1 is twice as frequent.
* %DIFF = 100 (a / c - b / d) / (b / d) (Gabrielatos and Marchi 2012, "Keyness: appropriate metrics and
  practical issues", CADS). Where b is 0 there is none; Gabrielatos and Marchi put 1e-18 for b, so that it is
  greater than all others, and it is ranked so here.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from sqlalchemy import Connection

from sentgen.errors import InputError
from sentgen.lookups.patterns import ATTRIBUTES
from sentgen.lookups.queries import Answer, Bindings, Query, limit_clause, limited, select_corpora
from sentgen.lookups.statistics.frequencies import By
from sentgen.schema.tables.corpus import BOS, EOS


class Keyness(StrEnum):
    """What keywords are ranked by."""

    LOG_LIKELIHOOD = "log-likelihood"
    LOG_RATIO = "log-ratio"
    PERCENT_DIFF = "percent-diff"


_STATEMENT = """\
with side as (
  select id, name in $focus as focus
  from corpus
  where name in $focus or name in $reference
),
size as (
  select nullif(sum(tokens) filter (focus), 0) as c, nullif(sum(tokens) filter (not focus), 0) as d
  from segment
  join side on side.id = segment.corpus_id
),
counted as (
{counted}
),
named as (
  select {item} as item, coalesce(sum(a), 0)::bigint as a, coalesce(sum(b), 0)::bigint as b
  from counted
  join {table} on {table}.id = counted.id
  group by item
  having sum(coalesce(a, 0) + coalesce(b, 0)) >= $min_count
),
expected as (
  select *, a / c as share, b / d as other_share, c * (a + b) / (c + d) as e1, d * (a + b) / (c + d) as e2
  from named
  cross join size
)
select item as "{by}", a as count, 1e6 * share as per_million, b as reference_count,
  1e6 * other_share as reference_per_million,
  case when share < other_share then -2 else 2 end
    * (case when a > 0 then a * ln(a / e1) else 0 end + case when b > 0 then b * ln(b / e2) else 0 end)
    as log_likelihood,
  log2((greatest(a, 0.5) / c) / (greatest(b, 0.5) / d)) as log_ratio,
  case when b > 0 then 100 * (share - other_share) / other_share end as percent_diff
from expected
order by {order}{limit}"""

_WORDS = f"""\
  select w1 as id, sum(count) filter (focus) as a, sum(count) filter (not focus) as b
  from ngram_1
  join segment on segment.id = ngram_1.segment_id
  join side on side.id = segment.corpus_id
  where w1 not in ({BOS}, {EOS})
  group by w1"""

_TOKENS = """\
  select {column} as id, count(*) filter (focus) as a, count(*) filter (not focus) as b
  from token
  join side on side.id = token.corpus_id
  where {column} is not null
  group by {column}"""


def find_keywords(
    connection: Connection,
    corpora: Iterable[str],
    against: Iterable[str],
    *,
    by: By = By.WORD,
    measure: Keyness = Keyness.LOG_LIKELIHOOD,
    negative: bool = False,
    min_count: int = 1,
    ignore_case: bool = False,
    limit: int = 20,
) -> Answer:
    """Return what is more frequent in some corpora than in others, by a measure of the module.

    The columns are the item; ``count`` and ``per_million`` tokens in the corpora; ``reference_count`` and
    ``reference_per_million`` in those that they are compared with; and the measures: ``log_likelihood``,
    ``log_ratio``, and ``percent_diff``, which is null where the reference has none. Equals come by falling
    count, then alphabetically. One scan of the counts of words, of `token` for anything else.

    Args:
        connection: the store.
        corpora: names of the focus corpora; at least one.
        against: names of the reference corpora; at least one, and none of the others.
        by: what is compared; tokens that lack it are tokens, but no item.
        measure: what to rank by.
        negative: begin with what is rarer in the focus corpora.
        min_count: leave out what occurs less often in all of these corpora together.
        ignore_case: take words and lemmas that differ in capital letters only for one.
        limit: rows at most, 0 for all.

    Raises:
        InputError: a corpus is on both sides, one side has none, or only one of them was lower-cased.
        NotFoundError: no such corpus.
    """
    focus, reference = list(dict.fromkeys(corpora)), list(dict.fromkeys(against))
    _check_sides(focus, reference)
    of_words = by in (By.WORD, By.LEMMA)
    selection = select_corpora(connection, [*focus, *reference], ignore_case=ignore_case and of_words)
    cased = [select_corpora(connection, side).lowercase for side in (focus, reference)]
    if of_words and cased[0] is not cased[1] and not ignore_case:
        raise InputError(
            "only one of the sides was lower-cased, so that their words differ in"
            " capitals; compare them with --ignore-case"
        )
    column, table, name = ATTRIBUTES[by]
    bindings = Bindings(focus=focus, reference=reference, min_count=max(min_count, 1))
    text = _STATEMENT.format(
        by=by,
        counted=_WORDS if by is By.WORD else _TOKENS.format(column=column),
        item=selection.spelled(f"{table}.{name}"),
        table=table,
        order=_order(measure, negative),
        limit=limit_clause(limit, bindings),
    )
    often = f" that occurs at least {min_count} times in both together" if min_count > 1 else ""
    return limited(connection, Query(text, bindings), limit, f"{by}{often}")


def _check_sides(focus: list[str], reference: list[str]) -> None:
    if not (focus and reference):
        raise InputError("keywords come of a comparison; name corpora, and others to compare them with")
    if both := [name for name in focus if name in reference]:
        raise InputError(f"compared with itself: {', '.join(both)}; name each corpus on one side only")


def _order(measure: Keyness, negative: bool) -> str:
    column = measure.replace("-", "_")
    if negative:
        return f"{column} nulls last, b desc, item"
    return f"{column} desc nulls first, a desc, item"
