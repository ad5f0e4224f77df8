"""The dependency side of the sub-model: relation and argument probabilities of the units of some sentences.

Wan et al. 2007, section 3, after Collins 1996. For a head A, a modifier B and the side D of the head on which
the modifier stands:

    p        = rel(A, B, D) / co(A, B)
    p1       = (rel(A_tag, B, D) + rel(A, B_tag, D)) / (co(A_tag, B) + co(A, B_tag))
    p2       = rel(A_tag, B_tag, D) / co(A_tag, B_tag)
    backoff2 = l2 * p1 + (1 - l2) * p2          l2 = c1 / (c1 + 1), c1 the denominator of p1
    prob     = l1 * p + (1 - l1) * backoff2     l1 = c0 / (c0 + 1), c0 = co(A, B)

co(A, B) is the sum over the sentences of n(A) * n(B), less n(A) where A and B are the same: the number of
pairs of different tokens. The root is in every sentence once. A ratio whose denominator is 0 is 0.

Three factors are not in these papers: siblings, words below their heads, and distances. A head generates its
modifiers on a side one by one, nearest first, and then stops (Eisner 1996, model C; Collins 1997, model 1).
With t for tags, w for words, h for the head and m for the modifier:

    sibling  = log P(t_m | t_h, side, tag of the modifier before), which may be none, and t_m the end
    word     = log P(w_m | t_m, w_h, t_h, side) - log P(w_m | t_m)
    distance = log P(distance | t_h, t_m, side), for 1, 2, 3 and more

Each is smoothed by the next coarser distribution, which counts as a few observations: P(w_m | t_m, t_h, side)
and P(w_m | t_m); P(t_m | t_h, side) and P(t_m); P(distance | side).

`explain_attachments` returns the counts and weights behind the probability of an attachment, by level.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np

from sentgen.arrays import Floats, Ints, compiled
from sentgen.models.dependency.tree_counts import (
    DISTANCES,
    MAX_ARGUMENTS,
    UNKNOWN,
    CountedTrees,
    Layer,
    TreeCounts,
    TreeLookups,
    TreeNumbering,
    add_rows,
)
from sentgen.schema import Store
from sentgen.schema.connections import cursor
from sentgen.schema.store import raw, translated_errors
from sentgen.schema.tables.corpus import NO_TAG, RESERVED_TAGS, RESERVED_WORDS, ROOT, ROOT_TAG

#: Ids of a word and of its tag, -1 if the store does not know it.
Kind = tuple[int, int]
TaggedWord = tuple[str, str | None]
LEFT, RIGHT = 0, 1
#: Used in place of a probability of zero, so that logarithms are finite.
FLOOR = 1e-12
#: Kinds of units that are counted together: their matrices of pairs take 64 MB.
_MAX_KINDS = 2_000
_Units = list[Kind]
#: As how many observations a coarser distribution counts.
STRENGTH = 4.0


class _CountedKinds(NamedTuple):
    """The counts of K kinds; kind 0 is the root, and tag 0 its tag."""

    counts: TreeCounts
    number: dict[Kind, int]
    tag_of: Ints  # (K,) number of the tag of each kind


def count_kinds(trees: CountedTrees, kinds: Iterable[Kind], *, distances: bool = False) -> _CountedKinds:
    """Look up the counts of some kinds in trees.

    Args:
        distances: whether to count events by distance, and siblings.
    """
    listed = sorted(set(kinds) - {(ROOT, ROOT_TAG)})
    numbering, tag_of = number_kinds(listed)
    counts = TreeCounts.zeros(len(tag_of), int(tag_of.max()) + 1, distances=distances)
    for rows in trees.rows({ROOT, *(word for word, _ in listed if word != UNKNOWN)}):
        add_rows(rows, numbering, counts)
    counts.add_root(tag_of)
    number = {(ROOT, ROOT_TAG): 0} | {kind: k for k, kind in enumerate(listed, 1)}
    return _CountedKinds(counts, number, tag_of)


def kinds_of(trees: CountedTrees, lists: Iterable[Sequence[TaggedWord]]) -> list[list[Kind]]:
    """Return the kinds of some lists of words, each with its tag; none is the tag `_`."""
    tagged = [[(word, tag or RESERVED_TAGS[NO_TAG]) for word, tag in tagged_words] for tagged_words in lists]
    words = trees.ids("word", {word for tagged_words in tagged for word, _ in tagged_words})
    tags = trees.ids("tag", {tag for tagged_words in tagged for _, tag in tagged_words})
    # A word that the store does not know is a kind of its own, with no counts.
    return [[(words[word], tags[tag]) for word, tag in tagged_words] for tagged_words in tagged]


def number_kinds(kinds: Sequence[Kind]) -> tuple[TreeNumbering, Ints]:
    """Number kinds from 1 on, after the root, which is 0; also return the tag number of each kind."""
    rows = {word: row for row, word in enumerate(sorted({ROOT, *(word for word, _ in kinds)}))}
    columns = {tag: t for t, tag in enumerate(sorted({tag for _, tag in kinds} - {ROOT_TAG}), 1)}
    columns[ROOT_TAG] = 0
    table = np.full((len(rows), len(columns)), -1, np.int32)
    table[rows[ROOT], 0] = 0
    for k, (word, tag) in enumerate(kinds, 1):
        table[rows[word], columns[tag]] = k
    tag_of = np.array([0, *(columns[tag] for _, tag in kinds)], np.int32)
    return TreeNumbering(_by_id(rows), _by_id(columns), table), tag_of


def _by_id(numbers: dict[int, int]) -> Ints:
    """Return the numbers as an array over ids, -1 for ids without a number; the id -1 is left out."""
    by_id = np.full(max(numbers, default=-1) + 1, -1, np.int32)
    for key, number in numbers.items():
        # -1 would index the last element of the array.
        if key >= 0:
            by_id[key] = number
    return by_id


@dataclass(frozen=True, slots=True)
class UnitDependencies:
    """The model of one sentence of n units: row 0 is the root, row i + 1 unit i, column j unit j.

    ``prob`` and ``distance`` are natural logarithms, ``arguments`` are probabilities. The side is 0 for left,
    1 for right of the head. A unit as its own modifier is -inf. With distances, the factors of head automata
    are present, too.
    """

    prob: Floats  # (n + 1, n, 2) log prob(head, modifier, side)
    arguments: Floats  # (n + 1, 2, 8) p_arg(head, side, number of modifiers); 7 stands for seven and more
    distance: Floats | None = None  # (n + 1, n, 2, 3) prob by distance 1, 2, 3 and more, where asked for
    automata: Automata | None = None


def prefetch_dependencies(
    store: Store,
    corpora: Sequence[int],
    layer: Layer,
    bags: Sequence[Sequence[TaggedWord]],
    *,
    floor: float = FLOOR,
    distances: bool = False,
    lookups: TreeLookups | None = None,
) -> list[UnitDependencies]:
    """Return the dependency model of each sentence of a batch, from the counts of some corpora.

    Takes a few queries; a single one if all words were looked up before (see
    `sentgen.models.dependency.tree_counts`). A batch of more than `_MAX_KINDS` different units is looked up
    in parts.

    Args:
        corpora: ids of the corpora whose counts are summed.
        layer: `word` for the tree over all tokens, `unit` for that over base noun phrases and other words.
        bags: the units of each sentence as (head word, tag); no tag is the tag `_`.
        floor: the probability that replaces zero.
        distances: whether to return the probabilities by distance, too.
        lookups: cached look-ups to use; the store's own if ``None``.
    """
    lookups = lookups or TreeLookups.of_store(store)
    with store.connect() as connection, translated_errors(store.path), cursor(raw(connection)) as duck:
        trees = lookups.trees(duck, corpora, layer)
        return [
            model
            for part in _parts(kinds_of(trees, bags), _MAX_KINDS)
            for model in _models(count_kinds(trees, chain(*part), distances=distances), part, floor)
        ]


def _parts(bags: Iterable[_Units], limit: int) -> Iterator[list[_Units]]:
    """Divide a batch into parts of at most ``limit`` different units; a bag with more is a part by itself."""
    part: list[_Units] = []
    kinds: set[Kind] = set()
    for bag in bags:
        if part and len(kinds.union(bag)) > limit:
            yield part
            part, kinds = [], set()
        part.append(bag)
        kinds.update(bag)
    if part:
        yield part


def _models(counted: _CountedKinds, bags: Sequence[_Units], floor: float) -> list[UnitDependencies]:
    """Return the dependency model of each bag, from the counts of its units."""
    counts, number, tag_of = counted
    distances = len(counts.siblings) > 0
    arguments = _argument_probabilities(counts, tag_of)
    nodes = [np.array([0, *(number[unit] for unit in bag)], np.int32) for bag in bags]
    relations = [_relations(counts, of_bag, tag_of[of_bag], floor) for of_bag in nodes]
    return [
        UnitDependencies(
            prob,
            arguments[of_bag],
            distance if distances else None,
            _automata(counts, of_bag, tag_of[of_bag]) if distances else None,
        )
        for of_bag, (prob, distance) in zip(nodes, relations, strict=True)
    ]


def backed_off(rel: tuple[float, float, float], co: tuple[float, float, float]) -> float:
    """Return prob as the module's docstring defines it; 0 / 0 is 0.

    Args:
        rel: events at the levels word-word, tag-word and word-tag together, tag-tag.
        co: co-occurrences at the same levels.
    """
    p = rel[0] / co[0] if co[0] > 0 else 0.0
    p1 = rel[1] / co[1] if co[1] > 0 else 0.0
    p2 = rel[2] / co[2] if co[2] > 0 else 0.0
    l1, l2 = co[0] / (co[0] + 1), co[1] / (co[1] + 1)
    return l1 * p + (1 - l1) * (l2 * p1 + (1 - l2) * p2)


_backed_off = compiled(backed_off)


@compiled
def _relations(counts: TreeCounts, kinds: Ints, tags: Ints, floor: float) -> tuple[Floats, Floats]:
    """Return log prob of one sentence, and the same by distance if it was counted, from kinds and tags."""
    n = len(kinds) - 1
    buckets = counts.tag_tag.shape[2] // 2
    prob, distance = np.empty((n + 1, n, 2)), np.empty((n + 1, n, 2, buckets))
    for i, j in np.ndindex(n + 1, n):
        # Row 0 is the root, so that unit j has row j + 1.
        if i == j + 1:
            prob[i, j], distance[i, j] = -np.inf, -np.inf
            continue
        a, b, a_tag, b_tag = int(kinds[i]), int(kinds[j + 1]), int(tags[i]), int(tags[j + 1])
        co = _co_occurrences(counts, a, b, a_tag, b_tag)
        for side in range(2):
            total = 0.0
            for d in range(buckets):
                z = side * buckets + d
                rel1 = counts.tag_word[a_tag, b, z] + counts.word_tag[a, b_tag, z]
                # Only events have a distance; their denominator is the same for all distances.
                rel = (counts.word_word[a, b, z], rel1, counts.tag_tag[a_tag, b_tag, z])
                value = _backed_off(rel, co)
                total += value
                distance[i, j, side, d] = math.log(max(value, floor))
            prob[i, j, side] = math.log(max(total, floor))
    return prob, distance


@compiled
def _co_occurrences(counts: TreeCounts, a: int, b: int, a_tag: int, b_tag: int) -> tuple[int, int, int]:
    """Return the pairs of different tokens at the three levels; a token is no pair with itself."""
    same, same_tag = int(a == b), int(a_tag == b_tag)
    c0 = counts.together[a, b] - same * counts.kinds[a]
    tag_word = counts.with_tags[b, a_tag] - same_tag * counts.kinds[b]
    word_tag = counts.with_tags[a, b_tag] - same_tag * counts.kinds[a]
    c2 = counts.tags_together[a_tag, b_tag] - same_tag * counts.tags[a_tag]
    return c0, tag_word + word_tag, c2


def _argument_probabilities(counts: TreeCounts, tag_of: Ints) -> Floats:
    """Return (K, 2, 8) p_arg: the word's share weighs cnt(W) / (cnt(W) + 1), and its tag's share the rest."""
    # The weights are those of events: a kind that was never seen has the probabilities of its tag.
    weight = (counts.kinds / (counts.kinds + 1))[:, None, None]
    by_kind = counts.arguments / np.maximum(counts.kinds, 1)[:, None, None]
    by_tag = counts.tag_arguments / np.maximum(counts.tags, 1)[:, None, None]
    return np.asarray(weight * by_kind + (1 - weight) * by_tag[tag_of])


class Automata(NamedTuple):
    """The factors of one sentence of n units that have K different tags, natural logarithms."""

    siblings: (
        Floats  # (K + 1, K + 1, K + 1, 2) head, before (K: none), modifier (K: the end), side; head K: root
    )
    tags: Ints  # (n,) number of the tag of each unit among the K
    words: Floats  # (n + 1, n, 2) head (0: the root), modifier, side
    distances: Floats  # (n + 1, n, 2, 3)


def _automata(counts: TreeCounts, kinds: Ints, tags: Ints) -> Automata:
    """Return the factors of one sentence, from the kinds and tags of the root and the units."""
    # The root's tag, 0, comes first; the root is no modifier.
    different, numbers = np.unique(tags, return_inverse=True)
    return Automata(
        _siblings(counts, different),
        np.asarray(numbers[1:] - 1, np.int32),
        _words(counts, kinds, tags),
        _distances(counts, tags),
    )


def _siblings(counts: TreeCounts, tags: Ints) -> Floats:
    """Return the log-probabilities of tags after siblings; the root's tag comes last as a head."""
    size = len(counts.tags)
    heads = np.append(tags[1:], tags[0])
    before, after = np.append(tags[1:], size), np.append(tags[1:], size)
    seen = counts.siblings[heads].astype(float)
    totals = seen.sum(axis=2, keepdims=True)
    of_head = seen.sum(axis=1, keepdims=True)
    # The prior of each tag is its frequency, and of the end the sum of these, so that an unseen head stops
    # with probability 1/2. An unseen tag counts 1/2. The other tags of the batch have no influence.
    nodes = counts.events.sum()
    prior = np.append(np.maximum(counts.tags, 0.5), [nodes + 0.5, nodes - counts.tags[1:].sum()])
    # The root modifies nothing.
    prior[0] = 0.0
    prior = (prior / (2 * nodes + 1))[None, None, :, None]
    coarse = (of_head + STRENGTH * prior) / (of_head.sum(axis=2, keepdims=True) + STRENGTH)
    smoothed = (seen + STRENGTH * coarse) / (totals + STRENGTH)
    return np.ascontiguousarray(np.log(smoothed[:, before][:, :, after]))


def _words(counts: TreeCounts, kinds: Ints, tags: Ints) -> Floats:
    """Return (n + 1, n, 2) word factors: the log-ratio of a modifier's word with and without its head."""
    mods, mod_tags = kinds[1:], tags[1:]
    # Words never seen are as likely below any head.
    prior = (np.maximum(counts.kinds[mods], 0.5) / np.maximum(counts.tags[mod_tags], 1.0))[None, :, None]
    of_tag = _by_side(counts.tag_word[np.ix_(tags, mods)])
    tag_tag = _by_side(counts.tag_tag[np.ix_(tags, mod_tags)])
    coarse = (of_tag + STRENGTH * prior) / (tag_tag + STRENGTH)
    together = _by_side(counts.word_word[np.ix_(kinds, mods)])
    of_word = _by_side(counts.word_tag[np.ix_(kinds, mod_tags)])
    smoothed = (together + STRENGTH * coarse) / (of_word + STRENGTH)
    return np.ascontiguousarray(np.log(smoothed / prior))


def _distances(counts: TreeCounts, tags: Ints) -> Floats:
    """Return the logarithms of the probabilities of distances."""
    seen = counts.tag_tag.reshape(*counts.tag_tag.shape[:2], 2, DISTANCES).astype(float)
    alone = counts.events.reshape(2, DISTANCES) + 1.0
    alone /= alone.sum(axis=1, keepdims=True)
    seen = seen[np.ix_(tags, tags[1:])]
    smoothed = (seen + STRENGTH * alone) / (seen.sum(axis=3, keepdims=True) + STRENGTH)
    return np.ascontiguousarray(np.log(smoothed))


def _by_side(events: Ints) -> Floats:
    """Sum events over distances."""
    # The length is explicit, since -1 cannot be inferred for a sentence without units.
    return np.asarray(events.reshape(*events.shape[:-1], 2, events.shape[-1] // 2).sum(axis=-1), float)


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
    """One back-off level; ``weight`` is the weight of its ratio, and the next levels have the rest."""

    name: str
    events: int
    together: int
    ratio: float
    weight: float


@dataclass(frozen=True, slots=True)
class _ArgumentEvidence:
    """How often the head word and the head tag were seen with 0 to 7 or more modifiers on the side.

    ``exactly`` is p_arg of one modifier more than the earlier ones, ``at_least`` that of this number or more.
    """

    word: tuple[int, ...]
    tag: tuple[int, ...]
    weight: float
    exactly: float
    at_least: float


@dataclass(frozen=True, slots=True)
class AttachmentEvidence:
    """The counts and weights from which the probability of an attachment is computed."""

    attachment: Attachment
    levels: tuple[LevelEvidence, ...]
    prob: float
    arguments: _ArgumentEvidence


def explain_attachments(
    store: Store, corpora: Sequence[int], layer: Layer, attachments: Iterable[Attachment]
) -> list[AttachmentEvidence]:
    """Return the evidence for some attachments, with the probabilities of `prefetch_dependencies`.

    Args:
        corpora: ids of the corpora whose counts are summed.
        layer: `word` or `unit`.
        attachments: heads (`ROOT_UNIT` for the root) and modifiers as word and tag; no tag is the tag `_`.
    """
    attachments = list(attachments)
    lookups = TreeLookups.of_store(store)
    with store.connect() as connection, translated_errors(store.path), cursor(raw(connection)) as duck:
        trees = lookups.trees(duck, corpora, layer)
        heads, modifiers = kinds_of(
            trees, ([each.head for each in attachments], [each.modifier for each in attachments])
        )
        counted = count_kinds(trees, {*heads, *modifiers})
    number = counted.number
    return [
        _evidence(counted, each, number[head], number[modifier])
        for each, head, modifier in zip(attachments, heads, modifiers, strict=True)
    ]


def _evidence(counted: _CountedKinds, attachment: Attachment, head: int, modifier: int) -> AttachmentEvidence:
    """Return the evidence for one attachment, given the kinds of its head and modifier."""
    counts, side = counted.counts, attachment.side
    head_tag, modifier_tag = int(counted.tag_of[head]), int(counted.tag_of[modifier])
    rel = (
        int(counts.word_word[head, modifier, side]),
        int(counts.tag_word[head_tag, modifier, side] + counts.word_tag[head, modifier_tag, side]),
        int(counts.tag_tag[head_tag, modifier_tag, side]),
    )
    co = tuple(map(int, _co_occurrences(counts, head, modifier, head_tag, modifier_tag)))
    # l1 and l2 of the formulas: the weight of a level grows with its co-occurrences.
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
    """Return the evidence for one number of modifiers."""
    weight = sum(of_word) / (sum(of_word) + 1)
    p_arg = [
        weight * (mine / max(1, sum(of_word))) + (1 - weight) * (others / max(1, sum(of_tag)))
        for mine, others in zip(of_word, of_tag, strict=True)
    ]
    return _ArgumentEvidence(of_word, of_tag, weight, p_arg[number], sum(p_arg[number:]))
