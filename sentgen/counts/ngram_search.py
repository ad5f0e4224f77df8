"""Look up n-grams by a pattern of words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sqlalchemy import Connection

from sentgen.counts.patterns import conjunction, split_pattern, word_among
from sentgen.counts.queries import (
    Answer,
    Bindings,
    Query,
    Selection,
    at_least,
    limit_clause,
    limited,
    select_corpora,
    where,
)
from sentgen.schema.corpus import BOS
from sentgen.schema.counts import MAX_ORDER

_STATEMENT = """\
with found as (
  select {ids}, sum(count)::bigint as count
  from ngram_{order}{conditions}
  group by {ids}
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
  1e6 * best.count / (select sum(tokens) from segment{segments}) as per_million,
  {probability} as probability
from best
{joins}
order by best.count desc, {order_by}{limit}"""

#: Only the n-grams as frequent as the last one shown need their words for the order of ties.
_CUT = """
  where count >= (select min(count) from (select count from found order by count desc limit $limit))"""

_CONTEXT = """\
  select {ids}, sum(count)::bigint as count
  from ngram_{order}{conditions}
  group by {ids}"""

_ALL_WORDS = """\
  select sum(count)::bigint as count
  from ngram_1{conditions}"""


def find_ngrams(
    connection: Connection, pattern: str, *, corpora: Iterable[str] = (), min_count: int = 1, limit: int = 20
) -> Answer:
    """Return the n-grams that match a pattern of 1 to 5 words, most frequent first, then by their words.

    The columns are ``w1`` to ``wn``; ``count``; ``per_million``, the count per million tokens; and
    ``probability``, the maximum likelihood estimate c(w1..wn) / c(w1..wn-1) of the last word after the
    others, over all corpora asked for. A single word is compared with all words and ``</s>``; nothing
    precedes ``<s>``, which has no probability. Corpora that are not counted to that order are left out.
    Linear in the n-grams of that order, a column scan.

    Raises:
        InputError: the pattern is empty or too long.
        NotFoundError: no such corpus, or none counted to that order.
    """
    words = split_pattern(pattern, most=MAX_ORDER)
    selection = select_corpora(connection, corpora, min_order=len(words))
    query = _statement([selection.fold(word) for word in words], selection, min_count, limit)
    missing = f"n-gram {pattern!r}{at_least(min_count)}"
    return replace(limited(connection, query, limit, missing), left_out=selection.left_out)


def _statement(words: Sequence[str], selection: Selection, min_count: int, limit: int) -> Query:
    bindings = Bindings(min_count=min_count)
    order = len(words)
    names = [f"w{i}" for i in range(1, order + 1)]
    segments = selection.of_segments(bindings)
    matches = conjunction([word_among(name, word, bindings) for name, word in zip(names, words, strict=True)])
    joins = [f"join word as word_{name} on word_{name}.id = best.{name}" for name in names]
    # <s> is counted as a unigram, but follows nothing, so that it is no share of the words.
    if order == 1:
        context = _ALL_WORDS.format(conditions=where([f"w1 <> {BOS}", *segments], "  "))
        probability = f"case when best.w1 <> {BOS} then best.count / context.count end"
        joins.append("cross join context")
    else:
        shorter = [word_among(name, word, bindings) for name, word in zip(names[:-1], words, strict=False)]
        context = _CONTEXT.format(
            ids=", ".join(names[:-1]),
            order=order - 1,
            conditions=where([*conjunction(shorter), *segments], "  "),
        )
        probability = "best.count / context.count"
        joins.append(f"left join context using ({', '.join(names[:-1])})")
    forms = [f"word_{name}.form as {name}" for name in names]
    text = _STATEMENT.format(
        ids=", ".join(names),
        order=order,
        conditions=where([*matches, *segments], "  "),
        cut=_CUT if limit else "",
        context=context,
        forms=", ".join(forms),
        segments=where(selection.of_tokens(bindings), "    "),
        probability=probability,
        joins="\n".join(joins),
        order_by=", ".join(f"word_{name}.form" for name in names),
        limit=limit_clause(limit, bindings),
    )
    return Query(text, bindings)
