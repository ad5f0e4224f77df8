"""A walk over all trees of corpora: the oracle for the look-ups of `sentgen.models.dependency`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import duckdb
import numpy as np
import pyarrow as pa

from sentgen.arrays import Ints, Longs, compiled
from sentgen.models.dependency.dependencies import Kind, number_kinds
from sentgen.models.dependency.tree_counts import Layer, TreeCounts, TreeNumbering
from sentgen.schema import Store
from sentgen.schema.engine import arrow_reader
from sentgen.schema.store import raw

_BLOCK_ROWS = 100_000
_COLUMNS = {
    "sentence_id": pa.int64(),
    "position": pa.int32(),
    "word_id": pa.int32(),
    "tag_id": pa.int32(),
    "head": pa.int32(),
}
_NODES = """
select sentence_id, position, word_id, coalesce({tag}_id, {other_tag}_id, 1) as tag_id, {head} as head
from token
where corpus_id = $1 and {head} is not null
order by sentence_id, position
"""


class Trees(NamedTuple):
    """Some trees, one after the other; S sentences, N nodes."""

    words: Ints  # (N,) word ids
    tags: Ints  # (N,) tag ids
    heads: Ints  # (N,) place of the head among the nodes of its sentence, from 0; -1 below the root
    starts: Longs  # (S + 1,) first node of each sentence


def walked(
    store: Store, corpora: Sequence[int], layer: Layer, kinds: Iterable[Kind], *, distances: bool = False
) -> TreeCounts:
    """Return the counts of `count_kinds` by a walk over the trees."""
    numbering, tag_of = number_kinds(sorted(set(kinds)))
    counts = TreeCounts.zeros(len(tag_of), int(tag_of.max()) + 1, distances=distances)
    with store.connect() as connection:
        duck = raw(connection)
        for corpus in sorted(set(corpora)):
            for block in read_trees(duck, corpus, layer):
                count_trees(block, numbering, counts)
    return counts


def read_trees(duck: duckdb.DuckDBPyConnection, corpus: int, layer: Layer) -> Iterator[Trees]:
    """Read the trees of a corpus in blocks of whole sentences, with the tags that its counts use."""
    rows = duck.execute("select tags from corpus where id = $1", [corpus]).fetchall()
    tags = rows[0][0] if rows else "upos"
    query = _NODES.format(
        tag=tags,
        other_tag="xpos" if tags == "upos" else "upos",
        head="head" if layer == "word" else "unit_head",
    )
    rest = pa.table({name: pa.array([], kind) for name, kind in _COLUMNS.items()})
    for batch in arrow_reader(duck, query, [corpus], rows=_BLOCK_ROWS):
        rows = pa.concat_tables([rest, pa.Table.from_batches([batch]).cast(rest.schema)])
        sentences = rows["sentence_id"].to_numpy()
        # The last sentence may go on in the next block.
        complete = int(np.searchsorted(sentences, sentences[-1])) if len(sentences) else 0
        rest = rows.slice(complete)
        yield from _trees(rows.slice(0, complete))
    yield from _trees(rest)


def _trees(rows: pa.Table) -> Iterator[Trees]:
    """Yield the trees of whole sentences, if there are any."""
    if rows.num_rows:
        sentences, positions, words, tags, heads = (rows[name].to_numpy() for name in _COLUMNS)
        # Ids are never negative: both ends are cuts.
        starts = np.flatnonzero(np.diff(sentences, prepend=-1, append=-1)).astype(np.int64)
        yield Trees(words, tags, places_of_heads(positions, heads, starts), starts)


@compiled
def places_of_heads(positions: Ints, heads: Ints, starts: Longs) -> Ints:
    """Return the place of each node's head among the nodes of its sentence, from 0, and -1 for the root.

    Args:
        positions: (N,) of the nodes in their sentences, from 1.
        heads: (N,) positions of the heads, 0 for the root.
        starts: (S + 1,) first node of each sentence.
    """
    highest = 0
    for position in positions:
        highest = max(highest, position)
    # Never cleared: a sentence sets all positions that it asks for, and 0, the root's head, stays -1.
    places = np.full(highest + 1, -1, np.int32)
    found = np.empty(len(heads), np.int32)
    for s in range(len(starts) - 1):
        for i in range(starts[s], starts[s + 1]):
            places[positions[i]] = i - starts[s]
        for i in range(starts[s], starts[s + 1]):
            found[i] = places[heads[i]]
    return found


@compiled
def count_trees(trees: Trees, numbering: TreeNumbering, counts: TreeCounts) -> None:
    """Add the counts of some trees; linear in the nodes and in the pairs asked for within each sentence."""
    longest = 0
    for s in range(len(trees.starts) - 1):
        longest = max(longest, trees.starts[s + 1] - trees.starts[s])
    # The root and the nodes of one sentence: numbers of kind and tag, and of modifiers on each side.
    kinds, tags = np.zeros(longest + 1, np.int32), np.zeros(longest + 1, np.int32)
    modifiers = np.zeros((longest + 1, 2), np.int32)
    # Which kinds and tags occur in the sentence, and how often.
    of_kind, of_tag = np.zeros(len(counts.kinds), np.int64), np.zeros(len(counts.tags), np.int64)
    which_kinds, which_tags = np.zeros(longest + 1, np.int32), np.zeros(longest + 1, np.int32)
    for s in range(len(trees.starts) - 1):
        start, end = trees.starts[s], trees.starts[s + 1]
        size = end - start + 1
        # The root is in every sentence that has a tree, and in no other.
        if size > 1:
            _number(trees, start, end, numbering, kinds, tags)
            _count_events(trees.heads[start:end], kinds, tags, modifiers, counts)
            _count_arguments(kinds[:size], tags[:size], modifiers, counts)
            if len(counts.siblings):
                _count_siblings(trees.heads[start:end], tags, modifiers, counts.siblings)
            k, t = _distinct(kinds[:size], of_kind, which_kinds), _distinct(tags[:size], of_tag, which_tags)
            _count_pairs(which_kinds[:k], which_tags[:t], of_kind, of_tag, counts)


@compiled
def _number(trees: Trees, start: int, end: int, numbering: TreeNumbering, kinds: Ints, tags: Ints) -> None:
    """Set the numbers of the nodes of one sentence; those of the root are 0."""
    for i in range(start, end):
        word, tag = trees.words[i], trees.tags[i]
        row = numbering.words[word] if word < len(numbering.words) else -1
        column = numbering.tags[tag] if tag < len(numbering.tags) else -1
        kinds[i - start + 1] = numbering.kinds[row, column] if row >= 0 and column >= 0 else -1
        tags[i - start + 1] = column


@compiled
def _count_events(heads: Ints, kinds: Ints, tags: Ints, modifiers: Ints, counts: TreeCounts) -> None:
    """Count the events of one sentence at four levels, and how many modifiers each node has on each side."""
    by_distance = counts.tag_tag.shape[2] > 2
    modifiers[: len(heads) + 1] = 0
    for i in range(1, len(heads) + 1):
        # -1 is the root, which has place 0 here.
        h = heads[i - 1] + 1
        side = 1 if i > h else 0
        modifiers[h, side] += 1
        # Distances count nodes of the layer: in that of units, a noun phrase is one.
        b = 3 * side + min(abs(i - h), 3) - 1 if by_distance else side
        counts.events[b] += 1
        if kinds[i] >= 0:
            if kinds[h] >= 0:
                counts.word_word[kinds[h], kinds[i], b] += 1
            if tags[h] >= 0:
                counts.tag_word[tags[h], kinds[i], b] += 1
        if tags[i] >= 0:
            if kinds[h] >= 0:
                counts.word_tag[kinds[h], tags[i], b] += 1
            if tags[h] >= 0:
                counts.tag_tag[tags[h], tags[i], b] += 1


@compiled
def _count_arguments(kinds: Ints, tags: Ints, modifiers: Ints, counts: TreeCounts) -> None:
    """Count how many modifiers the nodes of one sentence have on each side."""
    for i in range(len(kinds)):
        for side in range(2):
            number = min(modifiers[i, side], 7)
            if kinds[i] >= 0:
                counts.arguments[kinds[i], side, number] += 1
            if tags[i] >= 0:
                counts.tag_arguments[tags[i], side, number] += 1


@compiled
def _count_siblings(heads: Ints, tags: Ints, before: Ints, siblings: Ints) -> None:
    """Count the modifiers of one sentence after those before them on the same side, and the ends of sides.

    ``before`` is room for the tags of the last modifiers of each node.
    """
    none, other = len(siblings), len(siblings) + 1
    before[: len(heads) + 1] = none
    for k in range(2 * len(heads)):
        # Left modifiers from right to left, then right ones from left to right: nearest first.
        side = k // len(heads)
        i = k - len(heads) + 1 if side else len(heads) - k
        h = heads[i - 1] + 1
        if (i > h) == (side == 1):
            mine = tags[i] if tags[i] >= 0 else other
            if tags[h] >= 0:
                siblings[tags[h], before[h, side], mine, side] += 1
            before[h, side] = mine
    for h in range(len(heads) + 1):
        for side in range(2):
            if tags[h] >= 0:
                siblings[tags[h], before[h, side], none, side] += 1


@compiled
def _distinct(numbers: Ints, occurrences: Longs, which: Ints) -> int:
    """List the different numbers of one sentence, count their occurrences, and return how many there are."""
    found = 0
    for number in numbers:
        if number >= 0:
            if occurrences[number] == 0:
                which[found] = number
                found += 1
            occurrences[number] += 1
    return found


@compiled
def _count_pairs(kinds: Ints, tags: Ints, of_kind: Longs, of_tag: Longs, counts: TreeCounts) -> None:
    """Count the occurrences of one sentence and their products, and reset the former to 0."""
    for kind in kinds:
        counts.kinds[kind] += of_kind[kind]
        for other in kinds:
            counts.together[kind, other] += of_kind[kind] * of_kind[other]
        for tag in tags:
            counts.with_tags[kind, tag] += of_kind[kind] * of_tag[tag]
    for tag in tags:
        counts.tags[tag] += of_tag[tag]
        for other in tags:
            counts.tags_together[tag, other] += of_tag[tag] * of_tag[other]
    for kind in kinds:
        of_kind[kind] = 0
    for tag in tags:
        of_tag[tag] = 0
