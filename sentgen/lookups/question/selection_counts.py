"""The counts of a selection: those of the store for whole corpora, else counted as they are asked for."""

from __future__ import annotations

from collections.abc import Sequence

from sentgen.lookups.base.statement import Bindings, where
from sentgen.lookups.question.selection import Selection
from sentgen.schema import counting
from sentgen.schema.tables.corpus import BOS, EOS

#: As `sentgen.schema.integrity.sum_checks`: in one <s> and one </s>, which an n-gram does not cross. What is
#: left out is null, so that neighbors are those of the sentence.
_NGRAMS = """\
(
    select {words}, 1 as count{document}
    from (
      select {following}
      from (
        select sentence_id, position, {value} as w1 from token{tokens}{ends}
      )
      window sentence_order as (partition by sentence_id order by position)
    ){document_of}
    where {complete}
  ) as ngram_{order}"""
_ENDS = """
        union all
        select id, 0, {bos} from sentence{sentences}
        union all
        select id, length + 1, {eos} from sentence{sentences}"""
_DOCUMENT_OF = "\n    join (select id as sentence_id, document_id from sentence) using (sentence_id)"
#: The ends of sentences in a column of tags, whose numbers are none of these.
TAG_ENDS = (-BOS, -EOS)


def ngrams(order: int, selection: Selection, bindings: Bindings) -> tuple[str, list[str]]:
    """Return what has the n-grams of the selection, called as their table, and the conditions on its rows."""
    if selection.condition is None:
        return f"ngram_{order}", selection.of_segments(bindings)
    return token_ngrams(order, selection, bindings), []


def token_ngrams(
    order: int,
    selection: Selection,
    bindings: Bindings,
    *,
    column: str = "word_id",
    conditions: Sequence[str] = (),
    ends: tuple[int, int] | None = (BOS, EOS),
    documents: bool = False,
) -> str:
    """Return the query for the n-grams of the tokens of a selection, each as often as it occurs.

    Args:
        order: tokens of an n-gram.
        selection: the sentences.
        bindings: of the statement.
        column: what of a token stands in them.
        conditions: those on a row of `token`; a token that does not meet them is in no n-gram.
        ends: what stands for the ends of a sentence; none where these are in no n-gram.
        documents: whether each has the document that it is in.
    """
    names = [f"w{i}" for i in range(1, order + 1)]
    following = [f"lead(w1, {i}) over sentence_order as {name}" for i, name in enumerate(names)]
    chosen = where(selection.of_sentences(bindings), " " * 8)
    return _NGRAMS.format(
        order=order,
        words=", ".join(names),
        document=", document_id" if documents else "",
        following=", ".join([*(["sentence_id"] if documents else []), "w1", *following[1:]]),
        value=f"case when {' and '.join(conditions)} then {column} end" if conditions else column,
        tokens=where(selection.of_tokens(bindings), " " * 8),
        ends="" if ends is None else _ENDS.format(bos=ends[0], eos=ends[1], sentences=chosen),
        document_of=_DOCUMENT_OF if documents else "",
        complete=" and ".join(f"{name} is not null" for name in names),
    )


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
