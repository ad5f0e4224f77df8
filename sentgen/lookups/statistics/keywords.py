"""Keywords: items that are more frequent in some corpora than in others, by measures computed in SQL.

Here a and b are the occurrences of an item in the focus and in the reference, and c and d the items there in
all; docs/measures.md has the formulas in usual notation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from sqlalchemy import Connection

from sentgen.case_folding import fold, fold_sql
from sentgen.errors import InputError, spell
from sentgen.lookups.base.attributes import COLUMNS
from sentgen.lookups.base.patterns import PosOption, has_pos, read_pos
from sentgen.lookups.base.question import (
    IgnoreCaseOption,
    LimitOption,
    MinCountOption,
    OffsetOption,
    RowSortOption,
    in_pages,
)
from sentgen.lookups.base.selection import Selection
from sentgen.lookups.base.statement import (
    Answer,
    Bindings,
    Statement,
    any_row,
    at_least,
    limit_clause,
    limited_answer,
    where,
)
from sentgen.lookups.statistics.collocation_statements import SPELLING
from sentgen.lookups.statistics.frequencies import OF_WORDS, By
from sentgen.lookups.statistics.measures import (
    DEVIATIONS,
    KEYWORD_FORMULAS,
    POLYNOMIAL,
    KeywordMeasure,
    measure_column,
)
from sentgen.options import Option
from sentgen.output.wording import quantity
from sentgen.schema.tables.corpus import BOS, EOS
from sentgen.schema.tables.counts import MAX_ORDER

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
#: Few of many items are shown: strings are looked up only for these, and for those that tie with the last.
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


@dataclass(frozen=True, slots=True)
class _Items:
    """The items to compare: words, lemmas or tags, or n-grams of them.

    Args:
        by: the attribute of tokens.
        length: tokens of an item.
        stop: words that are left out, in small letters.
        pos: patterns of parts of speech, one of which every token of an item has; none for all.
        folded: whether words that differ in capital letters only are counted as one.
    """

    by: By
    length: int = 1
    stop: Sequence[str] = ()
    pos: Sequence[str] = ()
    folded: bool = False

    @property
    def keys(self) -> list[str]:
        return [f"w{i}" for i in range(1, self.length + 1)]

    def counted_already(self, selection: Selection) -> bool:
        """Return whether the store has counts of the items: n-grams of words, of whole corpora."""
        return self.by is By.WORD and not self.pos and selection.condition is None

    def size(self, selection: Selection, bindings: Bindings) -> str:
        """Return the query for the number of all items, with those that are left out of the comparison."""
        if self.length == 1:
            return selection.size(bindings)
        if self.counted_already(selection):
            conditions = where(self._ngram_conditions(selection, bindings), "    ")
            return f"select sum(count) from ngram_{self.length}{conditions}"
        longer = [f"length >= {self.length}", *selection.of_sentences(bindings)]
        return f"select sum(length - {self.length - 1}) from sentence{where(longer, '    ')}"

    def of_tokens(self, alias: str, bindings: Bindings) -> list[str]:
        column = f"{alias}.{COLUMNS[self.by][0]}"
        conditions = [f"{column} is not null", *self._without_stop_words(column, bindings)]
        return [*conditions, *has_pos(alias, self.pos, bindings)]

    def statement(self, selection: Selection, bindings: Bindings) -> str:
        numbers = range(1, self.length + 1)
        if self.counted_already(selection):
            keys = {i: f"n.w{i}" for i in numbers}
            # Not grouped: `_STATEMENT` sums the rows of both sides.
            source, count = f"ngram_{self.length} as n", "count"
            conditions = self._ngram_conditions(selection, bindings)
            conditions += [text for key in keys.values() for text in self._without_stop_words(key, bindings)]
        elif self.length == 1:
            keys, source, count = {1: f"t.{COLUMNS[self.by][0]}"}, "token as t", "count(*)"
            conditions = [*self.of_tokens("t", bindings), *selection.of_tokens(bindings, "t")]
        else:
            table = f"ngram_{self.length}"
            keys, count, conditions = {i: f"{table}.w{i}" for i in numbers}, "count(*)", []
            source = selection.token_ngrams(
                self.length,
                bindings,
                column=COLUMNS[self.by][0],
                conditions=self.of_tokens("token", bindings),
                ends=None,
            )
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

    def _ngram_conditions(self, selection: Selection, bindings: Bindings) -> list[str]:
        # <s> and </s> can only be the first and the last word of an n-gram.
        return [f"w1 <> {BOS}", f"w{self.length} <> {EOS}", *selection.of_segments(bindings)]

    def _without_stop_words(self, column: str, bindings: Bindings) -> Iterator[str]:
        if self.stop:
            words = bindings.bind("stop", list(self.stop))
            yield f"{column} not in (select id from word where {fold_sql('form')} in {words})"


def _keyword_statement(
    items: _Items,
    sides: tuple[Selection, Selection],
    measure: KeywordMeasure,
    limit: int,
    bindings: Bindings,
    *,
    negative: bool,
) -> Statement:
    """Return the statement that counts and measures the items of both sides, the focus and the reference.

    ``negative``: items that are rarer in the focus come first.
    """
    side, (_, table, name) = "b" if negative else "a", COLUMNS[items.by]
    strings = [f"n{i}.{name}" for i in range(1, items.length + 1)]
    joins = [f"\n  join {table} as n{i} on n{i}.id = valued.w{i}" for i in range(1, items.length + 1)]
    text = _STATEMENT.format(
        by=items.by,
        spelling=SPELLING if items.folded else "",
        focus=items.statement(sides[0], bindings),
        reference=items.statement(sides[1], bindings),
        focus_size=items.size(sides[0], bindings),
        reference_size=items.size(sides[1], bindings),
        keys=", ".join(items.keys),
        item=" || ' ' || ".join(map(fold_sql, strings) if items.folded else strings),
        named="".join(joins),
        ranking=KEYWORD_FORMULAS[measure],
        measures=",\n    ".join(
            f"{formula} as {measure_column(key)}" for key, formula in KEYWORD_FORMULAS.items()
        ),
        columns=", ".join(map(measure_column, KEYWORD_FORMULAS)),
        polynomial=POLYNOMIAL,
        deviations=DEVIATIONS,
        sign="-" if negative else "",
        side=side,
        last=_LAST.format(side=side) if limit else "",
        beyond=_BEYOND.format(side=side) if limit else "",
        limit=limit_clause(limit, bindings, "  "),
    )
    return Statement(text, bindings)


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
    n: Annotated[
        int, Option("Compare sequences of so many tokens, inside a sentence.", least=1, most=MAX_ORDER)
    ] = 1
    pos: PosOption = None
    stop: Annotated[
        str | None,
        Option(
            "Leave out these words, a list with blanks or ends of lines between them; case is ignored.",
            shell="Leave out the words of this file, one a line; case is ignored.",
            metavar="FILE",
            file="stop",
            api={"max_length": 20_000},
        ),
    ] = None
    measure: Annotated[KeywordMeasure, Option("What to rank by.")] = KeywordMeasure.LOG_LIKELIHOOD
    constant: Annotated[
        float,
        Option("What `simple-maths` adds to rates per million: more for more frequent words.", api={"gt": 0}),
    ] = 1
    negative: Annotated[bool, Option("Begin with what is rarer in these corpora than in the others.")] = False
    min_count: MinCountOption = 1
    sort: RowSortOption = ""
    offset: OffsetOption = 0
    ignore_case: IgnoreCaseOption = False
    limit: LimitOption = 20

    @in_pages
    def ask(self, connection: Connection) -> Answer:
        """Return the items that are more frequent in the focus than in the reference, by a measure.

        The columns are the item; ``count`` and ``per_million`` tokens in the corpora; ``reference_count`` and
        ``reference_per_million`` in those that they are compared with; and the measures, each as
        docs/measures.md defines it: ``log_likelihood``, ``log_ratio``, ``percent_diff`` and ``odds_ratio``
        (null where the reference has none), ``simple_maths``; ``p_bonferroni``, ``bic``, and the interval of
        the log ratio. Ties are sorted by falling count, then alphabetically; ``min_count`` is that of both
        sides together. Words and n-grams of whole corpora are counted already; others take one scan of
        `token` for each side. Tokens without the compared attribute count as tokens, but are no items.

        Raises:
            InputError: both sides have the same sentences, one has no sentences or no items, or only
                one of them was lower-cased.
            NotFoundError: no such corpus.
        """
        named = [list(dict.fromkeys(names)) for names in (self.corpus, self.against)]
        _check_names(named, alike=self.where == self.against_where)
        items = self._items()
        options = {"ignore_case": items.folded, "sentences": items.by is not By.WORD or bool(items.pos)}
        order = self.n if items.by is By.WORD and not items.pos else 0
        focus, reference = (
            Selection.named(connection, names, condition=condition, min_order=order, **options)
            for names, condition in zip(named, (self.where, self.against_where), strict=True)
        )
        if left_out := [*focus.left_out, *reference.left_out]:
            raise InputError(
                f"not counted to order {self.n}, and not to be compared by it: {', '.join(left_out)}"
            )
        if items.by in OF_WORDS and focus.lowercase is not reference.lowercase and not self.ignore_case:
            raise InputError(
                "only one of the sides was lower-cased, so that their words differ in"
                f" capitals; compare them with {spell('ignore_case')}"
            )
        for side, names in zip((focus, reference), named, strict=True):
            _check_side(connection, side, ", ".join(names), items)
        shared = _shared_sentences(connection, focus, reference)
        # If both sides were lower-cased, `Selection` has dropped ``ignore_case``: there are no capitals.
        items = replace(items, folded=focus.ignore_case or reference.ignore_case)
        bindings = Bindings(min_count=max(self.min_count, 1), constant=float(self.constant))
        query = _keyword_statement(
            items, (focus, reference), self.measure, self.limit, bindings, negative=self.negative
        )
        often = at_least(self.min_count)
        missing = f"{self.by}{often}{' in both together' if often else ''}"
        return replace(limited_answer(connection, query, self.limit, missing), remarks=shared)

    def _items(self) -> _Items:
        of_words = self.by in OF_WORDS
        stop = (
            () if self.stop is None else tuple(dict.fromkeys(fold(self.stop.removeprefix("\ufeff")).split()))
        )
        if self.stop is not None and not of_words:
            raise InputError(f"a list of words to leave out goes with words or lemmas, not with {self.by}")
        if self.stop is not None and not stop:
            raise InputError("the list of words to leave out is empty")
        if self.constant <= 0:
            raise InputError(f"the constant of simple-maths is more than 0, not {self.constant:g}")
        return _Items(self.by, self.n, stop, read_pos(self.pos), self.ignore_case and of_words)


def _check_names(sides: Sequence[Sequence[str]], *, alike: bool) -> None:
    """Refuse a side without a corpus, and a corpus on both sides if their conditions are ``alike``."""
    if not all(sides):
        raise InputError("keywords come of a comparison; name corpora, and others to compare them with")
    if alike and (both := [name for name in sides[0] if name in sides[1]]):
        raise InputError(
            f"compared with itself: {', '.join(both)}; name each corpus on one side only, or choose"
            f" sentences with {spell('where')} and {spell('against_where')}"
        )


def _check_side(connection: Connection, side: Selection, names: str, items: _Items) -> None:
    """Refuse a side without tokens or items: every item of the other side would be a keyword."""
    bindings, hints = Bindings(), list[str]()
    if not Statement(items.size(side, bindings), bindings).value(connection):
        what = "tokens" if items.length == 1 else f"sequences of {items.length} tokens"
        if side.condition:
            hints = side.condition.hints(connection)
        raise InputError(
            f"{names} has no {what} to compare; {'; '.join(hints) or 'name corpora with sentences'}"
        )
    for checked, what, cure in (
        (replace(items, stop=(), pos=()), str(items.by), "compare by word"),
        (
            replace(items, stop=()),
            f"{items.by} with a part of speech {' or '.join(items.pos)}",
            "name others",
        ),
    ):
        if checked.counted_already(side):
            continue
        bindings = Bindings()
        conditions = [*checked.of_tokens("t", bindings), *side.of_tokens(bindings, "t")]
        if not any_row(connection, "token as t", conditions, bindings):
            raise InputError(f"{names} has no {what} to compare; {cure}")


def _shared_sentences(connection: Connection, focus: Selection, reference: Selection) -> tuple[str, ...]:
    """Return a remark on how many sentences are on both sides, which makes these more alike; none for 0."""
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
