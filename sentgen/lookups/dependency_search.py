"""Look up head-modifier events, and how many arguments heads have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated

from sqlalchemy import Connection

from sentgen.errors import InputError, spell
from sentgen.lookups.base.patterns import ANY, glob, tag_among, word_among
from sentgen.lookups.base.question import LimitOption, Lookup
from sentgen.lookups.base.selection import Selection
from sentgen.lookups.base.statement import (
    Answer,
    Bindings,
    Statement,
    any_row,
    limit_clause,
    limited_answer,
    where,
)
from sentgen.lookups.search.absence import COUNTED, QuestionValue, explain_absence
from sentgen.options import Option
from sentgen.schema.engine import connection_cache


class Layer(StrEnum):
    """Which tree was counted."""

    WORD = "word"
    UNIT = "unit"


class Level(StrEnum):
    """Back-off level: whether the word or only the tag of the head is given, then of the modifier."""

    WORD_WORD = "word-word"
    TAG_WORD = "tag-word"
    WORD_TAG = "word-tag"
    TAG_TAG = "tag-tag"


#: Patterns of a word and of its tag.
_End = tuple[str, str]

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


#: Counts of several corpora are added before they are divided, as the generators do. A head and its modifier
#: are in one sentence, so that their pairs are at least 1, and nothing is divided by 0.
_ATTACHMENT = """\
with counted as (
  select head, head_tag, modifier, modifier_tag, direction,
    sum(word_events)::bigint as word_events, sum(word_pairs)::bigint as word_pairs,
    sum(mixed_events)::bigint as mixed_events, sum(mixed_pairs)::bigint as mixed_pairs,
    sum(tag_events)::bigint as tag_events, sum(tag_pairs)::bigint as tag_pairs
  from v_attachment{conditions}
  group by all
),
divided as (
  select *,
    word_events / word_pairs as word_ratio, word_pairs / (word_pairs + 1) as word_weight,
    mixed_events / mixed_pairs as mixed_ratio, mixed_pairs / (mixed_pairs + 1) as mixed_weight,
    tag_events / tag_pairs as tag_ratio
  from counted
  qualify sum(word_events) over (partition by head_tag, modifier_tag) > 0
)
select head, head_tag, modifier, modifier_tag, direction,
  unnest(['word-word', 'tag-word + word-tag', 'tag-tag']) as level,
  unnest([word_events, mixed_events, tag_events]) as events,
  unnest([word_pairs, mixed_pairs, tag_pairs]) as pairs,
  unnest([word_ratio, mixed_ratio, tag_ratio]) as ratio,
  unnest([word_weight, mixed_weight, 1]) as weight,
  word_weight * word_ratio
    + (1 - word_weight) * (mixed_weight * mixed_ratio + (1 - mixed_weight) * tag_ratio) as prob
from divided
order by sum(word_events) over (partition by head_tag, modifier_tag) desc, head_tag, modifier_tag, direction,
  unnest([1, 2, 3]){limit}"""

_PROBABILITIES = """\
with counted as (
  select head_tag as tag, direction, arguments,
    sum(count)::bigint as count, sum(tag_count)::bigint as tag_count
  from v_argument_probabilities{conditions}
  group by all
),
divided as (
  select *,
    count / sum(count) over side as share,
    tag_count / sum(tag_count) over side as tag_share,
    sum(count) over side / (sum(count) over side + 1) as weight
  from counted
  window side as (partition by tag, direction)
  qualify sum(count) over (partition by tag) > 0
)
select tag, direction, arguments, count, share, tag_count, tag_share, weight,
  weight * share + (1 - weight) * tag_share as prob
from divided
order by sum(count) over (partition by tag) desc, tag, direction, arguments{limit}"""

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
    explain: Annotated[
        bool, Option("Of two words: how probable it is that they are head and modifier, level by level.")
    ] = False

    def ask(self, connection: Connection) -> Answer:
        """Return dependency events, most frequent first, then by their words.

        With ``ignore_case``, events of words that differ in capital letters only are added up. With
        ``explain``, each pair of tags that the two words have as head and modifier has three rows for each
        side, the levels of the back-off; the formula is in `sentgen.models.dependency.dependencies`.

        Raises:
            InputError: ``explain`` with a pattern, or with an option that it excludes.
        """
        first, second = (self.head, self.tag), (self.modifier, ANY)
        ends = (second, first) if self.reverse else (first, second)
        selection = self.select(connection)
        explanation = self._attachment(selection, *ends) if self.explain else None
        both = f"head {ends[0][0]!r} and modifier {ends[1][0]!r}"
        missing = f"dependencies of {both} in layer {self.layer}, level {self.level}"
        query = self._events(selection, *ends)
        answer = _ask_counts(connection, "dependency_event", query, self.limit, missing)
        # Words that are never head and modifier have no probability to explain.
        if explanation and not answer.is_empty:
            answer = limited_answer(connection, explanation, self.limit, missing)
        values = []
        for known, (pattern, tag) in zip(self.level.split("-"), ends, strict=True):
            word = known == "word"
            values.append(
                QuestionValue("word", selection.fold(pattern)) if word else QuestionValue(COUNTED, pattern)
            )
            values.append(QuestionValue(COUNTED, tag))
        return explain_absence(connection, answer, selection, values, trees=True, of_tokens=True)

    def _events(self, selection: Selection, head: _End, modifier: _End) -> Statement:
        bindings = Bindings()
        conditions = [
            f"layer = {bindings.bind('layer', str(self.layer))}",
            f"level = {bindings.bind('level', str(self.level))}",
        ]
        ends = zip(("head", "modifier"), self.level.split("-"), (head, modifier), strict=True)
        for side, known, (pattern, tag) in ends:
            if known == "word":
                word = selection.fold(pattern)
                conditions.append(word_among(f"{side}_word_id", word, bindings, selection))
            else:
                conditions.append(tag_among(f"{side}_tag_id", pattern, bindings))
            conditions.append(tag_among(f"{side}_tag_id", tag, bindings))
        table, chosen = selection.trees("dependency_event", bindings)
        text = _EVENTS.format(
            table=table,
            conditions=where([*conditions, *chosen], "  "),
            head=selection.word_key("head.form"),
            modifier=selection.word_key("modifier.form"),
            count="sum(count)::bigint" if selection.ignore_case else "count",
            group="\ngroup by all" if selection.ignore_case else "",
            limit=limit_clause(self.limit, bindings),
        )
        return Statement(text, bindings)

    def _attachment(self, selection: Selection, head: _End, modifier: _End) -> Statement:
        if self.level != Level.WORD_WORD:
            raise InputError(f"{spell('explain')} shows all levels; leave out {spell('level')}")
        ends = {"head": head, "modifier": modifier}
        return _explanation(_ATTACHMENT, selection, ends, self.layer, self.limit)


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments(Lookup):
    """How many modifiers a word takes on each side."""

    word: Annotated[str, Option("The head: a word, or `*` for all words of a tag.", argument=True)]
    tag: Annotated[str, Option("Its tag, such as VBD.", metavar="TAG")] = "*"
    layer: LayerOption = Layer.WORD
    explain: Annotated[
        bool, Option("Of a word: how probable each number is, from the counts of the word and of its tag.")
    ] = False
    limit: LimitOption = 0

    def ask(self, connection: Connection) -> Answer:
        """Return how often a head has 0, 1, 2, ... modifiers on each side; 7 means seven and more.

        ``share`` is the share of all occurrences of the word with that tag: one histogram per tag and side,
        the most frequent tag first. For the word ``*`` the counts of the tags as a whole are returned.

        With ``explain`` there is a row for each number that occurs with the tag. ``tag_share`` is the share
        of all occurrences of the tag; ``prob`` is ``weight`` * ``share`` + (1 - ``weight``) * ``tag_share``.

        Raises:
            InputError: ``explain`` with a pattern, or with an option that it excludes.
        """
        selection = self.select(connection)
        word = selection.fold(self.word)
        ends = {"head": (self.word, self.tag)}
        query = (
            _explanation(_PROBABILITIES, selection, ends, self.layer, self.limit)
            if self.explain
            else self._counts(selection, word)
        )
        with_tag = f" with tag {self.tag!r}" if self.tag != ANY else ""
        missing = f"head {self.word!r}{with_tag} in layer {self.layer}"
        table = "v_argument_probabilities" if self.explain else "argument_count"
        answer = _ask_counts(connection, table, query, self.limit, missing)
        values = [QuestionValue("word", word), QuestionValue(COUNTED, self.tag)]
        return explain_absence(connection, answer, selection, values, trees=True, of_tokens=True)

    def _counts(self, selection: Selection, word: str) -> Statement:
        bindings = Bindings()
        level = "tag" if self.word == ANY else "word"
        table, chosen = selection.trees("argument_count", bindings)
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
        return Statement(text, bindings)


def _ask_counts(connection: Connection, table: str, query: Statement, limit: int, missing: str) -> Answer:
    """Run a query over counted trees; in a store without any, the empty answer is cached."""
    known: dict[str, Answer] = connection_cache(connection).setdefault(_ask_counts, {})
    if table in known:
        return replace(known[table], query=query, missing=missing)
    answer = limited_answer(connection, query, limit, missing)
    if answer.is_empty and not any_row(connection, table):
        known[table] = answer
    return answer


def _explanation(
    text: str, selection: Selection, ends: Mapping[str, _End], layer: Layer, limit: int
) -> Statement:
    """Return the query for the counts and weights behind the probabilities of words.

    Refused are patterns, conditions and ignored case: the generators use counts of whole corpora with words
    as written. ``ends`` are patterns of the head, and of the modifier if the query has one.
    """
    if patterns := [word for word, _ in ends.values() if glob(word).wild]:
        raise InputError(
            f"{spell('explain')} is about words, and {patterns[0]!r} is a pattern;"
            f" name {' and '.join(f'one {end}' for end in ends)}"
        )
    if selection.condition is not None or selection.ignore_case:
        raise InputError(
            f"{spell('explain')} is about words of whole corpora as they are written;"
            f" leave out {spell('where')}, subcorpora and {spell('ignore_case')}"
        )
    bindings = Bindings()
    conditions = [f"layer = {bindings.bind('layer', str(layer))}"]
    if selection.names:
        conditions.append(f"corpus in {bindings.bind('corpora', list(selection.names))}")
    for end, (word, tag) in ends.items():
        conditions.append(glob(selection.fold(word)).condition(end, bindings))
        conditions.append("" if tag == ANY else glob(tag).condition(f"{end}_tag", bindings, "tag"))
    return Statement(
        text.format(conditions=where(conditions, "  "), limit=limit_clause(limit, bindings)), bindings
    )
