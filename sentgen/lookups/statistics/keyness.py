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

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated

from sqlalchemy import Connection

from sentgen.errors import InputError
from sentgen.lookups import counted_anew
from sentgen.lookups.attributes import COLUMNS
from sentgen.lookups.question import IgnoreCaseOption, LimitOption, MinCountOption
from sentgen.lookups.selection import Selection, select_corpora
from sentgen.lookups.statement import Answer, Bindings, Statement, at_least, limit_clause, limited, where
from sentgen.lookups.statistics.frequencies import By, count_items
from sentgen.options import Option
from sentgen.output.wording import quantity


class Keyness(StrEnum):
    """What keywords are ranked by."""

    LOG_LIKELIHOOD = "log-likelihood"
    LOG_RATIO = "log-ratio"
    PERCENT_DIFF = "percent-diff"


_STATEMENT = """\
with focus as (
{focus}
),
reference as (
{reference}
),
size as (
  select ({focus_size}) as c, ({reference_size}) as d
),
named as (
  select {item} as item, coalesce(sum(focus.count), 0)::bigint as a,
    coalesce(sum(reference.count), 0)::bigint as b
  from focus
  full join reference using (id)
  join {table} using (id)
  group by item
  having sum(coalesce(focus.count, 0) + coalesce(reference.count, 0)) >= $min_count
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

#: What capital letters may be ignored in.
_OF_WORDS = (By.WORD, By.LEMMA)
_HAS_ITEM = "select 1 from token{conditions} limit 1"
_SHARED = "select count(*) from sentence{conditions}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Keywords:
    """What is more frequent in some corpora than in others."""

    corpus: Annotated[
        list[str],
        Option(
            "The corpora or subcorpora whose keywords are asked for.",
            argument=True,
            given=True,
            metavar="CORPUS",
            api={"min_length": 1, "max_length": 100},
        ),
    ]
    against: Annotated[
        list[str],
        Option(
            "The corpora or subcorpora to compare them with.",
            shell="Corpus or subcorpus to compare them with; may be repeated.",
            given=True,
            metavar="NAME",
            api={"min_length": 1, "max_length": 100},
        ),
    ]
    where: Annotated[
        str | None,
        Option(
            "Only sentences of these corpora whose metadata meet this: `genre = academic`.",
            metavar="EXPR",
            api={"max_length": 10_000},
        ),
    ] = None
    against_where: Annotated[
        str | None,
        Option(
            "Only sentences of the others whose metadata meet this: `genre = fiction`.",
            metavar="EXPR",
            api={"max_length": 10_000},
        ),
    ] = None
    by: Annotated[By, Option("What to compare.")] = By.WORD
    measure: Annotated[Keyness, Option("What to rank by.")] = Keyness.LOG_LIKELIHOOD
    negative: Annotated[bool, Option("Begin with what is rarer in these corpora than in the others.")] = False
    min_count: MinCountOption = 1
    ignore_case: IgnoreCaseOption = False
    limit: LimitOption = 20

    def ask(self, connection: Connection) -> Answer:
        """Return what is more frequent in some corpora than in others, by a measure of the module.

        The columns are the item; ``count`` and ``per_million`` tokens in the corpora; ``reference_count`` and
        ``reference_per_million`` in those that they are compared with; and the measures: ``log_likelihood``,
        ``log_ratio``, and ``percent_diff``, which is null where the reference has none. Equals come by
        falling count, then alphabetically; ``min_count`` is that of both sides together. One scan of the
        counts of words on each side; of `token` for anything else, and where sentences are chosen, by a
        subcorpus or a condition. Tokens that lack what is compared are tokens, but no item.

        Raises:
            InputError: both sides have the same sentences, one has none, or lacks what is compared, or only
                one of them was lower-cased.
            NotFoundError: no such corpus.
        """
        named = [list(dict.fromkeys(names)) for names in (self.corpus, self.against)]
        _check_names(named, alike=self.where == self.against_where)
        fold, by = self.ignore_case and self.by in _OF_WORDS, self.by
        focus, reference = (
            select_corpora(connection, names, condition=one, ignore_case=fold, sentences=by is not By.WORD)
            for names, one in zip(named, (self.where, self.against_where), strict=True)
        )
        if by in _OF_WORDS and focus.lowercase is not reference.lowercase and not self.ignore_case:
            raise InputError(
                "only one of the sides was lower-cased, so that their words differ in"
                " capitals; compare them with --ignore-case"
            )
        for side, names in zip((focus, reference), named, strict=True):
            _check_side(connection, side, ", ".join(names), by)
        shared = _shared(connection, focus, reference)
        bindings = Bindings(min_count=max(self.min_count, 1))
        order = _order(self.measure, self.negative)
        query = _compared(focus, reference, by, order, self.limit, bindings)
        often = at_least(self.min_count)
        missing = f"{by}{often}{' in both together' if often else ''}"
        return replace(limited(connection, query, self.limit, missing), remarks=shared)


def _compared(
    focus: Selection, reference: Selection, by: By, order: str, limit: int, bindings: Bindings
) -> Statement:
    """Return the statement that counts and measures the items of both sides."""
    _, table, name = COLUMNS[by]
    item = f"{table}.{name}"
    text = _STATEMENT.format(
        by=by,
        focus=count_items(by, focus, bindings),
        reference=count_items(by, reference, bindings),
        focus_size=counted_anew.size(focus, bindings),
        reference_size=counted_anew.size(reference, bindings),
        item=f"lower({item})" if focus.ignore_case or reference.ignore_case else item,
        table=table,
        order=order,
        limit=limit_clause(limit, bindings),
    )
    return Statement(text, bindings)


def _check_names(sides: Sequence[Sequence[str]], *, alike: bool) -> None:
    """Refuse a side without a name, and a name on both of them; ``alike``: of the same sentences of it."""
    if not all(sides):
        raise InputError("keywords come of a comparison; name corpora, and others to compare them with")
    if alike and (both := [name for name in sides[0] if name in sides[1]]):
        raise InputError(
            f"compared with itself: {', '.join(both)}; name each corpus on one side only, or choose"
            " sentences with --where and --against-where"
        )


def _check_side(connection: Connection, side: Selection, names: str, by: By) -> None:
    """Refuse a side without tokens, or without what is compared: all of the other one would be key."""
    bindings = Bindings()
    if not Statement(counted_anew.size(side, bindings), bindings).value(connection):
        hints = side.condition.hints(connection) if side.condition else []
        raise InputError(
            f"{names} has no tokens to compare; {'; '.join(hints) or 'name corpora with sentences'}"
        )
    if by is By.WORD:
        return
    bindings = Bindings()
    conditions = [f"{COLUMNS[by][0]} is not null", *side.of_tokens(bindings)]
    if Statement(_HAS_ITEM.format(conditions=where(conditions)), bindings).value(connection) is None:
        raise InputError(f"{names} has no {by} to compare; compare by word")


def _shared(connection: Connection, focus: Selection, reference: Selection) -> tuple[str, ...]:
    """Say how many sentences are on both sides, which makes these more alike; nothing if none is.

    Raises:
        InputError: all sentences are on both sides.
    """
    if focus.condition is None and reference.condition is None:
        return ()
    bindings = Bindings()
    sides = [side.of_sentences(bindings) for side in (focus, reference)]
    all_of = [Statement(_SHARED.format(conditions=where(side)), bindings).value(connection) for side in sides]
    both = Statement(_SHARED.format(conditions=where([*sides[0], *sides[1]])), bindings).value(connection)
    if both == all_of[0] == all_of[1]:
        raise InputError("both sides have the same sentences; compare different ones")
    if not both:
        return ()
    return (f"{quantity(both, 'sentence is', 'sentences are')} on both sides, and counted on each",)


def _order(measure: Keyness, negative: bool) -> str:
    column = measure.replace("-", "_")
    if negative:
        return f"{column} nulls last, b desc, item"
    return f"{column} desc nulls first, a desc, item"
