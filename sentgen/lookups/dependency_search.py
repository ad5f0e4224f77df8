"""Look up head-modifier events and the numbers of arguments."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated

from sqlalchemy import Connection

from sentgen.lookups.absence import COUNTED, QuestionValue, explained
from sentgen.lookups.counted_anew import trees
from sentgen.lookups.patterns import ANY, tag_among, word_among
from sentgen.lookups.question import LimitOption, Lookup
from sentgen.lookups.statement import Answer, Bindings, Statement, limit_clause, limited, where
from sentgen.options import Option
from sentgen.schema.counting import COUNTED as COUNTED_TREES
from sentgen.schema.engine import kept


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


LayerOption = Annotated[Layer, Option("Tree of words, or of units (base noun phrases as one).")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependencies(Lookup):
    """The dependencies between a head and its modifiers."""

    head: Annotated[
        str,
        Option(
            "The head: a word, or `*`. With `reverse` the modifier.",
            argument=True,
            shell="The head: a word, or `*`. With --reverse the modifier.",
        ),
    ]
    modifier: Annotated[
        str,
        Option(
            "The modifier: a word, or `*`. With `reverse` the head.",
            argument=True,
            shell="The modifier: a word, or `*`. With --reverse the head.",
        ),
    ] = "*"
    reverse: Annotated[bool, Option("Ask for the heads of a word instead of its modifiers.")] = False
    tag: Annotated[str, Option("Tag of the first word, such as VBD.", metavar="TAG")] = "*"
    layer: LayerOption = Layer.WORD
    level: Annotated[
        Level,
        Option(
            "Word or tag, of head and modifier.",
            shell="Word or tag, of head and modifier; a tag is asked for by its name.",
        ),
    ] = Level.WORD_WORD

    def ask(self, connection: Connection) -> Answer:
        """Return dependency events, most frequent first, then by their words.

        With ``ignore_case``, events of words that differ in capital letters only are added up.
        """
        asked, other = (self.head, self.tag), (self.modifier, ANY)
        head, modifier = (other, asked) if self.reverse else (asked, other)
        selection, bindings = self.select(connection), Bindings()
        conditions = [
            f"layer = {bindings.bind('layer', str(self.layer))}",
            f"level = {bindings.bind('level', str(self.level))}",
        ]
        values = []
        ends = zip(("head", "modifier"), self.level.split("-"), (head, modifier), strict=True)
        for side, known, (pattern, tag) in ends:
            if known == "word":
                word = selection.fold(pattern)
                conditions.append(word_among(f"{side}_word_id", word, bindings, selection))
                values.append(QuestionValue("word", word))
            else:
                conditions.append(tag_among(f"{side}_tag_id", pattern, bindings))
                values.append(QuestionValue(COUNTED, pattern))
            conditions.append(tag_among(f"{side}_tag_id", tag, bindings))
            values.append(QuestionValue(COUNTED, tag))
        table, chosen = trees("dependency_event", selection, bindings)
        text = _EVENTS.format(
            table=table,
            conditions=where([*conditions, *chosen], "  "),
            head=selection.spelled("head.form"),
            modifier=selection.spelled("modifier.form"),
            count="sum(count)::bigint" if selection.ignore_case else "count",
            group="\ngroup by all" if selection.ignore_case else "",
            limit=limit_clause(self.limit, bindings),
        )
        both = f"head {head[0]!r} and modifier {modifier[0]!r}"
        missing = f"dependencies of {both} in layer {self.layer}, level {self.level}"
        answer = _counted(connection, table, Statement(text, bindings), self.limit, missing)
        return explained(connection, answer, selection, values, trees=True, of_tokens=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments(Lookup):
    """How many modifiers a word takes on each side."""

    word: Annotated[str, Option("The head: a word, or `*` for all words of a tag.", argument=True)]
    tag: Annotated[str, Option("Its tag, such as VBD.", metavar="TAG")] = "*"
    layer: LayerOption = Layer.WORD
    limit: LimitOption = 0

    def ask(self, connection: Connection) -> Answer:
        """Return how often a head has 0, 1, 2, ... modifiers on each side; 7 stands for seven and more.

        ``share`` is the part of all occurrences of that tag of the word: one histogram per tag and side, the
        most frequent tag first. For the word ``*`` the counts of the tags as a whole are returned.
        """
        selection, bindings = self.select(connection), Bindings()
        level = "tag" if self.word == ANY else "word"
        word = selection.fold(self.word)
        table, chosen = trees("argument_count", selection, bindings)
        conditions = [
            f"layer = {bindings.bind('layer', str(self.layer))}",
            f"level = {bindings.bind('level', level)}",
            word_among("word_id", word, bindings, selection),
            tag_among("tag_id", self.tag, bindings),
            *chosen,
        ]
        text = _ARGUMENTS.format(
            table=table,
            conditions=where(conditions, "  "),
            limit=limit_clause(self.limit, bindings),
        )
        with_tag = f" with tag {self.tag!r}" if self.tag != ANY else ""
        missing = f"head {self.word!r}{with_tag} in layer {self.layer}"
        answer = _counted(connection, table, Statement(text, bindings), self.limit, missing)
        values = [QuestionValue("word", word), QuestionValue(COUNTED, self.tag)]
        return explained(connection, answer, selection, values, trees=True, of_tokens=True)


def _counted(connection: Connection, table: str, query: Statement, limit: int, missing: str) -> Answer:
    """Ask a query of counted trees; where there are none, and nobody can change that, it is asked once."""
    known: dict[str, Answer] = kept(connection).setdefault(_counted, {})
    if table in known:
        return replace(known[table], query=query, missing=missing)
    answer = limited(connection, query, limit, missing)
    if table in COUNTED_TREES and answer.nothing and not _has_rows(connection, table):
        known[table] = answer
    return answer


def _has_rows(connection: Connection, table: str) -> bool:
    return Statement(f"select 1 from {table} limit 1").value(connection) is not None
