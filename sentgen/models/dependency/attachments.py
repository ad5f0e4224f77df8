"""What stands in the store behind the probability of an attachment: counts and weights, level by level.

The counts are those that `sentgen.models.dependency.dependencies` looks up, and the formulas its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sentgen.models.dependency.dependencies import (
    CountedKinds,
    TaggedWord,
    backed_off,
    co_occurrences,
    count_kinds,
    kinds_of,
)
from sentgen.models.dependency.tree_counts import MAX_ARGUMENTS, Layer, lookups_of
from sentgen.schema import Store
from sentgen.schema.connections import cursor
from sentgen.schema.store import raw, translated_errors
from sentgen.schema.tables.corpus import RESERVED_TAGS, RESERVED_WORDS, ROOT, ROOT_TAG

#: The artificial root as a head.
ROOT_UNIT = (RESERVED_WORDS[ROOT], RESERVED_TAGS[ROOT_TAG])

_LEVELS = ("word-word", "tag-word + word-tag", "tag-tag")


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
class _ArgumentEvidence:
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
    arguments: _ArgumentEvidence


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
    lookups = lookups_of(store)
    with store.connect() as connection, translated_errors(store.path), cursor(raw(connection)) as duck:
        trees = lookups.trees(duck, corpora, layer)
        heads, modifiers = kinds_of(
            trees, ([one.head for one in attachments], [one.modifier for one in attachments])
        )
        counted = count_kinds(trees, {*heads, *modifiers})
    number = counted.number
    return [
        _evidence(counted, one, number[head], number[modifier])
        for one, head, modifier in zip(attachments, heads, modifiers, strict=True)
    ]


def _evidence(counted: CountedKinds, attachment: Attachment, head: int, modifier: int) -> AttachmentEvidence:
    """Put the evidence for one attachment together, from the numbers of its kinds."""
    counts, side = counted.counts, attachment.side
    head_tag, modifier_tag = int(counted.tag_of[head]), int(counted.tag_of[modifier])
    rel = (
        int(counts.word_word[head, modifier, side]),
        int(counts.tag_word[head_tag, modifier, side] + counts.word_tag[head, modifier_tag, side]),
        int(counts.tag_tag[head_tag, modifier_tag, side]),
    )
    co = tuple(map(int, co_occurrences(counts, head, modifier, head_tag, modifier_tag)))
    # l1 and l2 of the formulas: the more often seen together, the more a level counts.
    weights = co[0] / (co[0] + 1), co[1] / (co[1] + 1), 1.0
    of_word, of_tag = counts.arguments[head, side].tolist(), counts.tag_arguments[head_tag, side].tolist()
    return AttachmentEvidence(
        attachment,
        tuple(
            LevelEvidence(name, events, together, events / together if together else 0.0, weight)
            for name, events, together, weight in zip(_LEVELS, rel, co, weights, strict=True)
        ),
        backed_off(rel, (co[0], co[1], co[2])),
        _argument_evidence(tuple(of_word), tuple(of_tag), min(attachment.earlier + 1, MAX_ARGUMENTS)),
    )


def _argument_evidence(of_word: tuple[int, ...], of_tag: tuple[int, ...], number: int) -> _ArgumentEvidence:
    """Put the evidence for one number of modifiers together."""
    weight = sum(of_word) / (sum(of_word) + 1)
    p_arg = [
        weight * (mine / max(1, sum(of_word))) + (1 - weight) * (others / max(1, sum(of_tag)))
        for mine, others in zip(of_word, of_tag, strict=True)
    ]
    return _ArgumentEvidence(of_word, of_tag, weight, p_arg[number], sum(p_arg[number:]))
