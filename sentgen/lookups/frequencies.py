"""Frequency lists with dispersion and coverage."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from sqlalchemy import Connection

from sentgen.lookups.absence import Value, explained
from sentgen.lookups.patterns import ANY, ATTRIBUTES, glob
from sentgen.lookups.queries import Answer, Bindings, Query, limit_clause, limited, select_corpora, where


class By(StrEnum):
    """What of a token is counted."""

    WORD = "word"
    LEMMA = "lemma"
    UPOS = "upos"
    XPOS = "xpos"
    DEPREL = "deprel"


_STATEMENT = """\
with counted as (
  select {column} as id, count(*) as count
  from token{tokens}
  group by id
),
{best},
part as (
  select document_id, sum(length) as size
  from sentence{sentences}
  group by document_id
),
total as (
  select sum(size) as tokens, count(*) as documents from part
),
inside as (
  select {id} as id, document_id, count(*) as count
  from token
  join sentence on sentence.id = token.sentence_id{inside}
  group by {id}, document_id
),
spread as (
  select best.id, count(*) as documents,
    0.5 * (sum(abs(inside.count / best.count - part.size / total.tokens))
      + 1 - sum(part.size) / any_value(total.tokens)) as dp,
    sum(inside.count / part.size) as rates, sum((inside.count / part.size) ** 2) as squares
  from best
  join inside on inside.id = best.id
  join part using (document_id)
  cross join total
  group by best.id
)
select item as "{by}", best.count::bigint as count, 1e6 * best.count / total.tokens as per_million,
  spread.documents, case when total.documents > 1 then greatest(dp, 0) end as dp,
  (running / total.tokens)::double as coverage,
  {juilland} as juilland_d, spread.documents / total.documents as document_share
from best
join spread using (id)
cross join total
order by best.count desc, item"""

#: Juilland's D, from the sums of the rates of an item in all documents and of their squares.
# With V^2 = n sum p^2 / (sum p)^2 - 1: rounding may take it below 0, and D as well.
JUILLAND_D = """case when {documents} > 1 then greatest(
    1 - sqrt(greatest({documents} * {squares} / {rates} ** 2 - 1, 0) / ({documents} - 1)), 0
  ) end"""

#: The items, where each has a number of its own.
_BEST = """\
best as (
  select counted.id, {item} as item, count, sum(count) over (order by count desc, {item}) as running
  from counted
  join {table} on {table}.id = counted.id{matching}
  order by count desc, item{limit}
)"""

#: The same where words that differ in capital letters only are one, with the number of one of them.
_BEST_FOLDED = """\
named as (
  select counted.id, lower({item}) as item, count
  from counted
  join {table} on {table}.id = counted.id{matching}
),
best as (
  select min(id) as id, item, sum(count) as count,
    sum(sum(count)) over (order by sum(count) desc, item) as running
  from named
  group by item
  order by count desc, item{limit}
),
chosen as (
  select named.id, best.id as best_id
  from named
  join best using (item)
)"""


def frequency_list(
    connection: Connection,
    *,
    by: By = By.WORD,
    pattern: str = ANY,
    corpora: Iterable[str] = (),
    condition: str | None = None,
    ignore_case: bool = False,
    limit: int = 20,
) -> Answer:
    """Return the words, lemmas or labels of the tokens, most frequent first, then alphabetically.

    The columns are the item; ``count``; ``per_million`` tokens; ``documents``, the number of documents that
    have it (its range); ``dp``; ``coverage``, the share of all tokens that this row and those above it make
    up; ``juilland_d``; and ``document_share``, the share of all documents that have it.

    ``dp`` is Gries's deviation of proportions, DP = 1/2 sum over documents of |v - s|, where s is the share
    of the document in the tokens and v its share in the occurrences of the item (Gries 2008, "Dispersions and
    adjusted frequencies in corpora", IJCL 13(4)): near 0 for an item spread evenly, near 1 for one that
    clumps.
    Documents without the item add up to 1 minus the shares of the others. With a single document it is null.

    ``juilland_d`` is Juilland's D = 1 - V / sqrt(n - 1) over n documents (Juilland, Brodin and Davidovitch
    1970, "Frequency dictionary of French words"), where V is the coefficient of variation (the standard
    deviation by the mean) of its rates, occurrences by tokens of each document, as documents differ in size:
    1 for an item as frequent in all of them, 0 for one that a single document has. It is null where ``dp``
    is.

    Tokens without the attribute count in the number of tokens, not as an item. With ``ignore_case``, words
    and lemmas that differ in capital letters only are one. Two scans of `token`.
    """
    # Only words and lemmas are lower-cased on the way in, or taken for one; tags keep their case.
    of_words = by in (By.WORD, By.LEMMA)
    selection = select_corpora(connection, corpora, condition=condition, ignore_case=ignore_case and of_words)
    bindings = Bindings()
    column, table, name = ATTRIBUTES[by]
    missing = f"{by} {pattern!r}"
    item = f"{table}.{name}"
    pattern = selection.fold(pattern) if of_words else pattern
    matching = []
    if pattern != ANY:
        matching.append(glob(pattern).condition(item, bindings, ignore_case=selection.ignore_case))
    in_corpora = selection.of_tokens(bindings)
    best = (_BEST_FOLDED if selection.ignore_case else _BEST).format(
        table=table,
        item=item,
        matching=where(matching, "  "),
        limit=limit_clause(limit, bindings).replace("\n", "\n  "),
    )
    in_documents = selection.of_tokens(bindings, "token.corpus_id")
    if selection.ignore_case:
        inside = f"\n  join chosen on chosen.id = token.{column}{where(in_documents, '  ')}"
    else:
        inside = where([f"{column} in (select id from best)", *in_documents], "  ")
    text = _STATEMENT.format(
        by=by,
        column=column,
        best=best,
        id="chosen.best_id" if selection.ignore_case else column,
        tokens=where([f"{column} is not null", *in_corpora], "  "),
        sentences=where(selection.of_sentences(bindings), "  "),
        inside=inside,
        juilland=JUILLAND_D.format(documents="total.documents", squares="squares", rates="rates"),
    )
    query = Query(text, bindings)
    answer = limited(connection, query, limit, missing)
    return explained(connection, answer, selection, [Value(by, pattern)])
