"""Look up head-modifier events and the numbers of arguments."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy import Connection

from sentgen.lookups.absence import COUNTED, QuestionValue, explained
from sentgen.lookups.counted_anew import trees
from sentgen.lookups.patterns import ANY, conjunction, tag_among, word_among
from sentgen.lookups.selection import select_corpora
from sentgen.lookups.statement import Answer, Bindings, Statement, limit_clause, limited, where


class Layer(StrEnum):
    """Which tree was counted."""

    WORD = "word"
    UNIT = "unit"


class Level(StrEnum):
    """Back-off level: what is known of the head, then of the modifier."""

    WORD_WORD = "word-word"
    TAG_WORD = "tag-word"
    WORD_TAG = "word-tag"
    TAG_TAG = "tag-tag"


_EVENTS = """\
with event as (
  select head_word_id, head_tag_id, modifier_word_id, modifier_tag_id, direction, distance,
    sum(count)::bigint as count
  from {table}{conditions}
  group by all
)
select {head} as head, head_tag.name as head_tag,
  {modifier} as modifier, modifier_tag.name as modifier_tag,
  direction, distance, {count} as count
from event
left join word as head on head.id = head_word_id
left join word as modifier on modifier.id = modifier_word_id
join tag as head_tag on head_tag.id = head_tag_id
join tag as modifier_tag on modifier_tag.id = modifier_tag_id{group}
order by count desc, head, head_tag, modifier, modifier_tag, direction, distance{limit}"""

_ARGUMENTS = """\
with histogram as (
  select tag_id, direction, arguments, sum(count)::bigint as count
  from {table}{conditions}
  group by tag_id, direction, arguments
)
select tag.name as tag, direction, arguments, count,
  count / sum(count) over (partition by tag_id, direction) as share
from histogram
join tag on tag.id = tag_id
order by sum(count) over (partition by tag_id) desc, tag, direction, arguments{limit}"""


@dataclass(frozen=True, slots=True)
class End:
    """One end of a dependency: a word pattern, or one of tags where the level knows only its tag; its tag."""

    pattern: str = ANY
    tag: str = ANY


#: Any head, and any modifier.
ANYTHING = End()


def find_dependencies(
    connection: Connection,
    head: End = ANYTHING,
    modifier: End = ANYTHING,
    *,
    layer: Layer = Layer.WORD,
    level: Level = Level.WORD_WORD,
    corpora: Iterable[str] = (),
    condition: str | None = None,
    ignore_case: bool = False,
    limit: int = 20,
) -> Answer:
    """Return dependency events, most frequent first, then by their words.

    Args:
        connection: the store.
        head: what the head is.
        modifier: what the modifier is.
        layer: the tree of words or the tree of units.
        level: back-off level.
        corpora: their names; none for all.
        condition: what the metadata of their sentences meet; none for all sentences.
        ignore_case: take words that differ in capital letters only for one, and add up their events.
        limit: rows at most, 0 for all.
    """
    selection = select_corpora(connection, corpora, condition=condition, ignore_case=ignore_case)
    bindings = Bindings()
    conditions = [
        f"layer = {bindings.bind('layer', str(layer))}",
        f"level = {bindings.bind('level', str(level))}",
    ]
    values = []
    for side, known, end in zip(("head", "modifier"), level.split("-"), (head, modifier), strict=True):
        if known == "word":
            word = selection.fold(end.pattern)
            among = word_among(f"{side}_word_id", word, bindings, ignore_case=selection.ignore_case)
            conditions.append(among)
            values.append(QuestionValue("word", word))
        else:
            conditions.append(tag_among(f"{side}_tag_id", end.pattern, bindings))
            values.append(QuestionValue(COUNTED, end.pattern))
        conditions.append(tag_among(f"{side}_tag_id", end.tag, bindings))
        values.append(QuestionValue(COUNTED, end.tag))
    table, chosen = trees("dependency_event", selection, bindings)
    conditions += chosen
    text = _EVENTS.format(
        table=table,
        conditions=where(conjunction(conditions), "  "),
        head=selection.spelled("head.form"),
        modifier=selection.spelled("modifier.form"),
        count="sum(count)::bigint" if selection.ignore_case else "count",
        group="\ngroup by all" if selection.ignore_case else "",
        limit=limit_clause(limit, bindings),
    )
    query = Statement(text, bindings)
    ends = f"head {head.pattern!r} and modifier {modifier.pattern!r}"
    missing = f"dependencies of {ends} in layer {layer}, level {level}"
    return explained(connection, limited(connection, query, limit, missing), selection, values)


def count_arguments(
    connection: Connection,
    word: str,
    *,
    tag: str = ANY,
    layer: Layer = Layer.WORD,
    corpora: Iterable[str] = (),
    condition: str | None = None,
    ignore_case: bool = False,
    limit: int = 0,
) -> Answer:
    """Return how often a head has 0, 1, 2, ... modifiers on each side; 7 stands for seven and more.

    ``share`` is the part of all occurrences of that tag of the word: one histogram per tag and side, the most
    frequent tag first. For the word ``*`` the counts of the tags as a whole are returned.
    """
    selection = select_corpora(connection, corpora, condition=condition, ignore_case=ignore_case)
    bindings = Bindings()
    level = "tag" if word == ANY else "word"
    table, chosen = trees("argument_count", selection, bindings)
    conditions = [
        f"layer = {bindings.bind('layer', str(layer))}",
        f"level = {bindings.bind('level', level)}",
        word_among("word_id", selection.fold(word), bindings, ignore_case=selection.ignore_case),
        tag_among("tag_id", tag, bindings),
        *chosen,
    ]
    text = _ARGUMENTS.format(
        table=table,
        conditions=where(conjunction(conditions), "  "),
        limit=limit_clause(limit, bindings),
    )
    query = Statement(text, bindings)
    with_tag = f" with tag {tag!r}" if tag != ANY else ""
    answer = limited(connection, query, limit, f"head {word!r}{with_tag} in layer {layer}")
    values = [QuestionValue("word", selection.fold(word)), QuestionValue(COUNTED, tag)]
    return explained(connection, answer, selection, values)
