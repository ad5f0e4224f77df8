"""Concordances: the places where a pattern occurs, with their context (KWIC)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum

from sqlalchemy import Connection

from sentgen.counts.patterns import TokenPattern, split_pattern, tag_query, token_pattern
from sentgen.counts.queries import Answer, Bindings, Query, Selection, select_corpora, where
from sentgen.errors import InputError


class Order(StrEnum):
    """How concordance lines are sorted."""

    NONE = "none"
    LEFT = "left"
    RIGHT = "right"


_COUNT = """\
select count(*) as hits
from {source}"""

_LINES = """\
with hit as materialized (
  select {sentence} as sentence_id, {first} as first
  from {source}
  order by {order}{limit}
),
line as (
  select hit.sentence_id, hit.first,
    string_agg({text}, '' order by c.position) filter (where c.position < hit.first) as "left",
    string_agg({text}, '' order by c.position) filter (where {in_node}) as node,
    string_agg({text}, '' order by c.position) filter (where c.position > hit.first + {rest}) as "right",
    list(lower(word.form) order by c.position desc) filter (where c.position < hit.first) as before,
    list(lower(word.form) order by c.position) filter (where c.position > hit.first + {rest}) as after
  from hit
  join token as c on c.sentence_id = hit.sentence_id
    and c.position between hit.first - $context and hit.first + {rest} + $context
  join word on word.id = c.word_id
  group by hit.sentence_id, hit.first
)
select corpus.name as corpus, document.name as document,
  coalesce(sentence.sent_id, sentence.id::varchar) as sent_id,
  rtrim(coalesce("left", '')) as "left", rtrim(node) as node, rtrim(coalesce("right", '')) as "right"
from line
join sentence on sentence.id = line.sentence_id
join corpus on corpus.id = sentence.corpus_id
join document on document.id = sentence.document_id
order by {sort}"""

_TEXT = "word.form || case when c.space_after = false then '' else ' ' end"
_SORT = {
    Order.NONE: "line.sentence_id, first",
    Order.LEFT: "coalesce(before, []), line.sentence_id, first",
    Order.RIGHT: "coalesce(after, []), line.sentence_id, first",
}


def concordance(
    connection: Connection,
    pattern: str,
    *,
    context: int = 15,
    order: Order = Order.NONE,
    seed: int | None = None,
    corpora: Iterable[str] = (),
    limit: int = 20,
) -> Answer:
    """Return the places where a pattern of tokens occurs within a sentence, in the order of the corpus.

    The columns are ``corpus``, ``document``, ``sent_id`` (its number where the source gives no name),
    ``left``, ``node`` and ``right``. The words are matched as numbers in one scan of `token`; only the
    sentences of the lines returned are read as text. Contexts end at the sentence.

    Args:
        connection: the store.
        pattern: one or more token patterns (see `sentgen.counts.patterns`).
        context: words on each side at most.
        order: ``left`` sorts the lines returned by the words before the node, nearest first;
            ``right`` by those after it.
        seed: draw the lines at random instead of the first ones: the same for the same seed and store.
        corpora: their names; none for all.
        limit: lines at most, 0 for all.

    Raises:
        InputError: the pattern is empty or all stars.
        NotFoundError: no such corpus.
    """
    selection = select_corpora(connection, corpora)
    tokens = read_pattern(connection, pattern, selection)
    bindings = Bindings(context=context)
    source, sentence, first = _source(tokens, selection, bindings)
    rest = len(tokens) - 1
    chosen = f"{sentence}, {first}"
    if seed is not None:
        chosen = f"md5(concat_ws(':', {bindings.bind('seed', seed)}, {sentence}, {first})), {chosen}"
    lines = Query(
        _LINES.format(
            sentence=sentence,
            first=first,
            source=source,
            order=chosen,
            limit=f"\n  limit {bindings.bind('limit', limit)}" if limit else "",
            text=_TEXT,
            in_node=f"c.position between hit.first and hit.first + {rest}",
            rest=rest,
            sort=_SORT[order],
        ),
        bindings,
    )
    table = lines.run(connection)
    missing = f"occurrence of {pattern!r}"
    if not limit or table.num_rows < limit:
        return Answer(table, (lines,), missing, total=table.num_rows)
    count = Query(_COUNT.format(source=source), bindings)
    total = int(count.run(connection)["hits"][0].as_py())
    return Answer(table, (lines, count), missing, truncated=total > limit, total=total)


def read_pattern(connection: Connection, pattern: str, selection: Selection) -> list[TokenPattern]:
    """Read a pattern of tokens.

    Raises:
        InputError: it is empty, or every token matches it.
    """

    def is_tag(text: str) -> bool:
        return bool(tag_query(text).run(connection).num_rows)

    tokens = [token_pattern(text, selection, is_tag) for text in split_pattern(pattern)]
    if all(token.free for token in tokens):
        raise InputError("a pattern of stars alone matches everywhere; give at least one word, tag or lemma")
    return tokens


def _source(tokens: Sequence[TokenPattern], selection: Selection, bindings: Bindings) -> tuple[str, str, str]:
    """Return what follows ``from``, and what yields the sentence and the position of the first token."""
    fixed = [i for i, token in enumerate(tokens) if not token.free]
    base = f"t{fixed[0]}"
    joins = [f"token as {base}"]
    conditions = tokens[fixed[0]].conditions(base, bindings) + selection.of_tokens(
        bindings, f"{base}.corpus_id"
    )
    for i in fixed[1:]:
        on = [f"t{i}.sentence_id = {base}.sentence_id", f"t{i}.position = {base}.position + {i - fixed[0]}"]
        joins.append(f"  join token as t{i} on {' and '.join(on)}")
        conditions += tokens[i].conditions(f"t{i}", bindings)
    if fixed[0]:
        conditions.append(f"{base}.position > {fixed[0]}")
    if fixed[-1] < len(tokens) - 1:
        joins.append(f"  join sentence as s on s.id = {base}.sentence_id")
        conditions.append(f"{base}.position + {len(tokens) - 1 - fixed[0]} <= s.length")
    first = f"{base}.position - {fixed[0]}" if fixed[0] else f"{base}.position"
    return "\n".join(joins) + where(conditions, "  "), f"{base}.sentence_id", first
