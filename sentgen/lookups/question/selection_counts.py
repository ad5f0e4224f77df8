"""The counts of a selection: those of the store for whole corpora, else counted as they are asked for."""

from __future__ import annotations

from sentgen.lookups.base.statement import Bindings, where
from sentgen.lookups.question.selection import Selection
from sentgen.schema import counting
from sentgen.schema.tables.corpus import BOS, EOS

#: As `sentgen.schema.integrity.sum_checks`: in one <s> and one </s>, which an n-gram does not cross.
_NGRAMS = """\
(
    select {words}, 1 as count
    from (
      select {following}
      from (
        select sentence_id, position, word_id from token{tokens}
        union all
        select id, 0, {bos} from sentence{sentences}
        union all
        select id, length + 1, {eos} from sentence{sentences}
      )
      window sentence_order as (partition by sentence_id order by position)
    )
    where w{order} is not null
  ) as ngram_{order}"""


def ngrams(order: int, selection: Selection, bindings: Bindings) -> tuple[str, list[str]]:
    """Return what has the n-grams of the selection, called as their table, and the conditions on its rows."""
    if selection.condition is None:
        return f"ngram_{order}", selection.of_segments(bindings)
    names = [f"w{i}" for i in range(1, order + 1)]
    following = [f"lead(word_id, {i}) over sentence_order as {name}" for i, name in enumerate(names)]
    text = _NGRAMS.format(
        order=order,
        words=", ".join(names),
        following=", ".join(["word_id as w1", *following[1:]]),
        tokens=where(selection.of_tokens(bindings), " " * 8),
        sentences=where(selection.of_sentences(bindings), " " * 8),
        bos=BOS,
        eos=EOS,
    )
    return text, []


def size(selection: Selection, bindings: Bindings) -> str:
    """Return the query for the number of tokens of the selection."""
    if selection.condition is None:
        return f"select sum(tokens) from segment{where(selection.of_corpora(bindings), '    ')}"
    return f"select sum(length) from sentence{where(selection.of_sentences(bindings), '    ')}"


def trees(table: str, selection: Selection, bindings: Bindings) -> tuple[str, list[str]]:
    """Return what has the counts of one of `counting.COUNTED`, as `ngrams` does."""
    if selection.condition is None:
        return table, selection.of_segments(bindings)
    chosen = " and ".join(selection.of_tokens(bindings, "token"))
    return f"(\n{counting.counting_query(table, chosen)}\n  ) as {table}", []
