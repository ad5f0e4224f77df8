"""Look up n-grams by a pattern of words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from sqlalchemy import Connection

from sentgen.lookups.base.statement import (
    Answer,
    Bindings,
    Statement,
    at_least,
    limit_clause,
    limited_answer,
    literal,
    where,
)
from sentgen.lookups.question.lookup import Lookup, MinCountOption, OffsetOption, RowSortOption, in_pages
from sentgen.lookups.question.patterns import split_pattern, word_among
from sentgen.lookups.question.selection import Selection
from sentgen.lookups.question.selection_counts import ngrams, size
from sentgen.lookups.search.absence import QuestionValue, explain_absence
from sentgen.options import Option
from sentgen.schema.tables.corpus import BOS, RESERVED_WORDS
from sentgen.schema.tables.counts import MAX_ORDER

_STATEMENT = """\
with found as (
  select {keys}, sum(count)::bigint as count
  from {table}{spelling}{conditions}
  group by all
  having sum(count) >= $min_count
),
best as (
  select * from found{cut}
),
context as (
{context}
)
select {forms},
  best.count,
  1e6 * best.count / ({size}) as per_million,
  {probability} as probability
from best
{joins}
order by best.count desc, {order_by}{limit}"""

#: Only the n-grams as frequent as the last one shown need their words for the order of ties.
_CUT = """
  where count >= (select min(count) from (select count from found order by count desc limit $limit))"""

_CONTEXT = """\
  select {keys}, sum(count)::bigint as count
  from {table}{spelling}{needed}{conditions}
  group by all"""

_ALL_WORDS = """\
  select sum(count)::bigint as count
  from {table}{conditions}"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ngrams(Lookup):
    """The n-grams that match a pattern."""

    pattern: Annotated[
        str, Option("1 to 5 words; `*` is any word, `down*` a word that begins with down.", argument=True)
    ]
    min_count: MinCountOption = 1
    sort: RowSortOption = ""
    offset: OffsetOption = 0

    @in_pages
    def ask(self, connection: Connection) -> Answer:
        """Return the n-grams of 1 to 5 words, most frequent first, then by their words.

        The columns are ``w1`` to ``wn``; ``count``; ``per_million``, the count per million tokens; and
        ``probability``, the maximum likelihood estimate c(w1..wn) / c(w1..wn-1) of the last word after the
        others, over all corpora asked for. A single word is compared with all words and ``</s>``; nothing
        precedes ``<s>``, which has no probability. Corpora that are not counted to that order are left out.
        With ``ignore_case``, everything is counted as if all words were lower-cased.
        Linear in the n-grams of that order, a column scan; with a condition, those of its sentences are
        counted from their tokens first, of any order.

        Raises:
            InputError: the pattern is empty or too long.
            NotFoundError: no such corpus, or none counted to that order.
        """
        given = split_pattern(self.pattern, most=MAX_ORDER)
        selection = self.select(connection, min_order=len(given))
        words = [selection.fold(word) for word in given]
        query = _statement(words, selection, self.min_count, self.limit)
        missing = f"n-gram {self.pattern!r}{at_least(self.min_count)}"
        answer = replace(limited_answer(connection, query, self.limit, missing), left_out=selection.left_out)
        values = [QuestionValue("word", word) for word in words]
        return explain_absence(connection, answer, selection, values, of_tokens=True)


def _statement(words: Sequence[str], selection: Selection, min_count: int, limit: int) -> Statement:
    bindings = Bindings(min_count=min_count)
    order = len(words)
    names = [f"w{i}" for i in range(1, order + 1)]
    # <s> is counted as a unigram, but follows nothing, so that it is no share of the words.
    if order == 1:
        table, chosen = ngrams(1, selection, bindings)
        context = _ALL_WORDS.format(table=table, conditions=where([f"w1 <> {BOS}", *chosen], "  "))
        start = literal(RESERVED_WORDS[BOS]) if selection.ignore_case else BOS
        probability = f"case when best.w1 <> {start} then best.count / context.count end"
        joined = "cross join context"
    else:
        # As numbers, the words before are found among all there are without counting these.
        needed = "" if selection.ignore_case else f"\n  semi join best using ({', '.join(names[:-1])})"
        context = _CONTEXT.format(**_count_parts(words[:-1], selection, bindings), needed=needed)
        probability = "best.count / context.count"
        joined = f"left join context using ({', '.join(names[:-1])})"
    forms = [f"best.{name}" if selection.ignore_case else f"word_{name}.form as {name}" for name in names]
    text = _STATEMENT.format(
        **_count_parts(words, selection, bindings),
        cut=_CUT if limit else "",
        context=context,
        forms=", ".join(forms),
        size=size(selection, bindings),
        probability=probability,
        joins="\n".join([*([] if selection.ignore_case else _spelling_joins(names, "best")), joined]),
        order_by=", ".join(form.partition(" as ")[0] for form in forms),
        limit=limit_clause(limit, bindings),
    )
    return Statement(text, bindings)


def _count_parts(words: Sequence[str], selection: Selection, bindings: Bindings) -> dict[str, str]:
    """Return where the n-grams that match are, what they are counted by with what it joins, and conditions.

    As numbers, unless several words are one.
    """
    table = f"ngram_{len(words)}"
    source, chosen = ngrams(len(words), selection, bindings)
    names = [f"w{i}" for i in range(1, len(words) + 1)]
    matches = [
        word_among(f"{table}.{name}", word, bindings, selection)
        for name, word in zip(names, words, strict=True)
    ]
    keys = [f"{selection.word_key(f'word_{name}.form')} as {name}" for name in names]
    joins = _spelling_joins(names, table) if selection.ignore_case else []
    return {
        "table": source,
        "keys": ", ".join(keys if selection.ignore_case else names),
        "spelling": "".join(f"\n  {join}" for join in joins),
        "conditions": where([*matches, *chosen], "  "),
    }


def _spelling_joins(names: Sequence[str], table: str) -> list[str]:
    """Return the joins that give the forms of words."""
    return [f"join word as word_{name} on word_{name}.id = {table}.{name}" for name in names]
