"""What stands in the store behind the probability of an attachment: counts and weights, level by level.

Slow on purpose, and for people: the counts come from the tables `dependency_event`, `argument_count` and
`posting`, with the formulas of `sentgen.models.dependency.dependencies`; programs use that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from sqlalchemy import (
    CTE,
    Column,
    ColumnElement,
    Connection,
    Select,
    Table,
    and_,
    case,
    func,
    literal,
    null,
    or_,
    select,
)

from sentgen.counts import segments
from sentgen.models.dependency.dependencies import LEFT, RIGHT, TaggedWord, backed_off
from sentgen.models.dependency.tree_counts import MAX_ARGUMENTS
from sentgen.models.dependency.trees import Layer
from sentgen.schema import Store
from sentgen.schema.tables.corpus import NO_TAG, RESERVED_TAGS, RESERVED_WORDS, ROOT, ROOT_TAG, tag, word
from sentgen.schema.tables.counts import argument_count, dependency_event, posting

#: The artificial root as a head.
ROOT_UNIT = (RESERVED_WORDS[ROOT], RESERVED_TAGS[ROOT_TAG])

_SIDES = {LEFT: "left", RIGHT: "right"}
_NOTHING = (0,) * (MAX_ARGUMENTS + 1)


class Attachment(NamedTuple):
    """A modifier below a head, on one side of it, after some earlier modifiers on that side."""

    head: TaggedWord
    modifier: TaggedWord
    side: int
    earlier: int = 0


@dataclass(frozen=True, slots=True)
class LevelEvidence:
    """One back-off level; ``weight`` is the share of its ratio against the levels below it, 1 at the last."""

    name: str
    events: int
    together: int
    ratio: float
    weight: float


@dataclass(frozen=True, slots=True)
class ArgumentEvidence:
    """How often head word and head tag were seen with 0 to 7 (and more) modifiers on the side.

    ``exactly`` is p_arg of one modifier more than the earlier ones, ``at_least`` that of as many or more.
    """

    word: tuple[int, ...]
    tag: tuple[int, ...]
    weight: float
    exactly: float
    at_least: float


@dataclass(frozen=True, slots=True)
class AttachmentEvidence:
    """Where the probability of an attachment comes from."""

    attachment: Attachment
    levels: tuple[LevelEvidence, ...]
    prob: float
    arguments: ArgumentEvidence


def explain_attachments(
    store: Store, corpora: Sequence[int], layer: Layer, attachments: Iterable[Attachment]
) -> list[AttachmentEvidence]:
    """Return the evidence for some attachments, with the probabilities of `prefetch_dependencies`.

    Args:
        store: where the counts are.
        corpora: ids of the corpora whose counts are summed.
        layer: `word` or `unit`.
        attachments: heads (`ROOT_UNIT` for the root) and modifiers as word and tag; no tag is the tag `_`.
    """
    attachments = list(attachments)
    with store.connect() as connection:
        counts = _fetch(connection, corpora, layer, attachments)
    return [_evidence(counts, attachment) for attachment in attachments]


#: Head and modifier as ids of word and tag; no word where it is backed off, -1 for what is unknown.
_Pair = tuple[int | None, int, int | None, int]
_MISSING = -1


@dataclass(frozen=True, slots=True)
class _Counts:
    """What the store holds about the words and tags of some attachments."""

    words: dict[str, int]
    tags: dict[str, int]
    events: dict[tuple[_Pair, str], int]
    together: dict[_Pair, int]
    arguments: dict[tuple[int | None, int, str, int], int]

    def ids(self, unit: TaggedWord) -> tuple[int, int]:
        """Return the ids of a word and its tag."""
        return self.words.get(unit[0], _MISSING), self.tags.get(_tag_name(unit), _MISSING)


def _tag_name(unit: TaggedWord) -> str:
    return unit[1] or RESERVED_TAGS[NO_TAG]


def _evidence(counts: _Counts, attachment: Attachment) -> AttachmentEvidence:
    """Put the evidence for one attachment together."""
    (head, head_tag), (modifier, modifier_tag) = map(counts.ids, attachment[:2])
    side = _SIDES[attachment.side]
    levels: dict[str, list[_Pair]] = {
        "word-word": [(head, head_tag, modifier, modifier_tag)],
        "tag-word + word-tag": [
            (None, head_tag, modifier, modifier_tag),
            (head, head_tag, None, modifier_tag),
        ],
        "tag-tag": [(None, head_tag, None, modifier_tag)],
    }
    rel = [sum(counts.events.get((pair, side), 0) for pair in pairs) for pairs in levels.values()]
    co = [sum(counts.together.get(pair, 0) for pair in pairs) for pairs in levels.values()]
    # l1 and l2 of the formulas: the more often seen together, the more a level counts.
    weights = co[0] / (co[0] + 1), co[1] / (co[1] + 1), 1.0
    of_word, of_tag = (
        tuple(counts.arguments.get((form, head_tag, side, n), 0) for n in range(MAX_ARGUMENTS + 1))
        # In the store, the level of tags has no word.
        for form in (head, None)
    )
    return AttachmentEvidence(
        attachment,
        tuple(
            LevelEvidence(name, events, together, events / together if together else 0.0, weight)
            for name, events, together, weight in zip(levels, rel, co, weights, strict=True)
        ),
        backed_off((rel[0], rel[1], rel[2]), (co[0], co[1], co[2])),
        _argument_evidence(of_word, of_tag, min(attachment.earlier + 1, MAX_ARGUMENTS)),
    )


def _argument_evidence(of_word: tuple[int, ...], of_tag: tuple[int, ...], number: int) -> ArgumentEvidence:
    """Put the evidence for one number of modifiers together."""
    weight = sum(of_word) / (sum(of_word) + 1)
    p_arg = [
        weight * mine / max(1, sum(of_word)) + (1 - weight) * others / max(1, sum(of_tag))
        for mine, others in zip(of_word, of_tag, strict=True)
    ]
    return ArgumentEvidence(of_word, of_tag, weight, p_arg[number], sum(p_arg[number:]))


def _fetch(
    connection: Connection, corpora: Sequence[int], layer: Layer, attachments: Sequence[Attachment]
) -> _Counts:
    """Run the queries; how many does not depend on the attachments."""
    units = [unit for attachment in attachments for unit in attachment[:2]]
    words = _ids(connection, word.c.form, word.c.id, {form for form, _ in units})
    tags = _ids(connection, tag.c.name, tag.c.id, {_tag_name(unit) for unit in units})
    scope = _Scope(segments.of_corpora(connection, corpora), layer, [*words.values()], [*tags.values()])
    together: dict[_Pair, int] = {}
    # Word and tag of either: the four levels.
    for head, modifier in product(_occurrences(scope), repeat=2):
        for a, b, c, d, count in connection.execute(_co_occurrences(head, modifier)):
            together[a, b, c, d] = int(count)
    events = {((a, b, c, d), side): int(n) for a, b, c, d, side, n in connection.execute(_events(scope))}
    arguments = {(a, b, side, k): int(n) for a, b, side, k, n in connection.execute(_arguments(scope))}
    return _Counts(words, tags, events, together, arguments)


def _ids(connection: Connection, name: Column[str], number: Column[int], names: set[str]) -> dict[str, int]:
    """Return the ids of those names that the store knows."""
    query = select(name, func.min(number)).where(name.in_(sorted(names))).group_by(name)
    return {form: int(found) for form, found in connection.execute(query)}


@dataclass(frozen=True, slots=True)
class _Scope:
    """Which counts: segments, layer, words and tags."""

    segments: list[int]
    layer: Layer
    words: list[int]
    tags: list[int]

    def of(self, table: Table) -> ColumnElement[bool]:
        """Return the condition for the rows of the segments and the layer."""
        return and_(table.c.segment_id.in_(self.segments), table.c.layer == self.layer)

    def known(self, words: Column[int], tags: Column[int]) -> ColumnElement[bool]:
        """Return the condition for the words, or none, with the tags."""
        return and_(or_(words.is_(None), words.in_(self.words)), tags.in_(self.tags))


def _occurrences(scope: _Scope) -> tuple[CTE, CTE]:
    """Return how often the tagged words, and the tags, occur in each sentence; the root is in all, once."""
    columns = posting.c
    # Of the sentences that have a posting at all: others have no tree in this layer.
    root = select(columns.sentence_id, literal(ROOT), literal(ROOT_TAG), literal(1)).distinct()
    tokens = select(columns.sentence_id, columns.word_id, columns.tag_id, columns.count)
    node = tokens.where(scope.of(posting)).union_all(root.where(scope.of(posting))).cte("node")
    total = func.sum(node.c.count).label("times")
    by_word = select(node.c.sentence_id, node.c.word_id, node.c.tag_id, total).where(
        node.c.word_id.in_(scope.words), node.c.tag_id.in_(scope.tags)
    )
    by_tag = select(node.c.sentence_id, null().label("word_id"), node.c.tag_id, total).where(
        node.c.tag_id.in_(scope.tags)
    )
    return (
        by_word.group_by(node.c.sentence_id, node.c.word_id, node.c.tag_id).cte("by_word"),
        by_tag.group_by(node.c.sentence_id, node.c.tag_id).cte("by_tag"),
    )


def _co_occurrences(heads: CTE, modifiers: CTE) -> Select[int | None, int, int | None, int, int]:
    """Return co(head, modifier): pairs of different tokens of a sentence, over all sentences."""
    a, b = heads.alias("a").c, modifiers.alias("b").c
    # A token that is both, by its word or its tag, is no pair with itself.
    both = and_(
        a.tag_id == b.tag_id, func.coalesce(a.word_id, b.word_id, 0) == func.coalesce(b.word_id, a.word_id, 0)
    )
    pairs = func.sum(a.times * b.times - case((both, func.least(a.times, b.times)), else_=0))
    keys = (a.word_id, a.tag_id, b.word_id, b.tag_id)
    return select(*keys, pairs).where(a.sentence_id == b.sentence_id).group_by(*keys)


def _events(scope: _Scope) -> Select[int | None, int, int | None, int, str, int]:
    """Return how often each pair, at each level, was head and modifier."""
    c = dependency_event.c
    keys = (c.head_word_id, c.head_tag_id, c.modifier_word_id, c.modifier_tag_id, c.direction)
    return (
        select(*keys, func.sum(c.count))
        .where(
            scope.of(dependency_event),
            scope.known(c.head_word_id, c.head_tag_id),
            scope.known(c.modifier_word_id, c.modifier_tag_id),
        )
        .group_by(*keys)
    )


def _arguments(scope: _Scope) -> Select[int | None, int, str, int, int]:
    """Return how often each word and tag had each number of modifiers on each side."""
    c = argument_count.c
    keys = (c.word_id, c.tag_id, c.direction, c.arguments)
    counted = select(*keys, func.sum(c.count)).where(
        scope.of(argument_count), scope.known(c.word_id, c.tag_id)
    )
    return counted.group_by(*keys)
