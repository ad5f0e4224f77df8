"""The counts of some kinds, tagged words, and of their tags: numbered, looked up, and put together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from sentgen.arrays import Ints
from sentgen.models.dependency.tree_counts import TreeCounts, TreeNumbering, add_root, add_rows, no_counts
from sentgen.models.dependency.tree_lookups import UNKNOWN, CountedTrees
from sentgen.schema.tables.corpus import NO_TAG, RESERVED_TAGS, ROOT, ROOT_TAG

#: Ids of a word and of its tag, -1 for what the store does not know.
Kind = tuple[int, int]
TaggedWord = tuple[str, str | None]


class CountedKinds(NamedTuple):
    """What was counted: kind 0 is the root, and tag 0 its tag."""

    counts: TreeCounts
    number: dict[Kind, int]
    tag_of: Ints  # (K,) number of the tag of each kind


def count_kinds(trees: CountedTrees, kinds: Iterable[Kind], *, distances: bool = False) -> CountedKinds:
    """Look up what was counted of some kinds in trees.

    Args:
        trees: what is looked up.
        kinds: what is asked for.
        distances: count events by distance, and siblings, too.
    """
    listed = sorted(set(kinds) - {(ROOT, ROOT_TAG)})
    numbering, tag_of = number_kinds(listed)
    counts = no_counts(len(tag_of), int(tag_of.max()) + 1, distances=distances)
    for rows in trees.rows({ROOT, *(word for word, _ in listed if word != UNKNOWN)}):
        add_rows(rows, numbering, counts)
    add_root(counts, tag_of)
    number = {(ROOT, ROOT_TAG): 0} | {kind: k for k, kind in enumerate(listed, 1)}
    return CountedKinds(counts, number, tag_of)


def kinds_of(trees: CountedTrees, lists: Iterable[Sequence[TaggedWord]]) -> list[list[Kind]]:
    """Return the kinds of some lists of words, each with its tag; none is the tag `_`."""
    tagged = [[(word, tag or RESERVED_TAGS[NO_TAG]) for word, tag in one] for one in lists]
    words = trees.ids("word", {word for one in tagged for word, _ in one})
    tags = trees.ids("tag", {tag for one in tagged for _, tag in one})
    # What the store does not know is a kind of its own, which no row counts.
    return [[(words[word], tags[tag]) for word, tag in one] for one in tagged]


def number_kinds(kinds: Sequence[Kind]) -> tuple[TreeNumbering, Ints]:
    """Number kinds from 1 on, and return the number of each one's tag; the root is 0."""
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
    """Return the numbers as an array over ids, -1 where there is none; the id -1 is none, too."""
    found = np.full(max(numbers, default=-1) + 1, -1, np.int32)
    for key, number in numbers.items():
        # -1 would be the last place of the array.
        if key >= 0:
            found[key] = number
    return found
