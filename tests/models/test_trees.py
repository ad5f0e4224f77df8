"""The walk over trees, which is the oracle for look-ups, against a readable reference."""

from __future__ import annotations

from itertools import pairwise, product
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import tree_walk
from hypothesis import given
from hypothesis import strategies as st
from toy_treebank import Tree, any_tree, store_of
from tree_walk import Trees, count_trees, places_of_heads, read_trees

from sentgen.counts.ingestion import Settings, ingest
from sentgen.models.dependency.tree_counts import DISTANCES, MAX_ARGUMENTS, TreeCounts, TreeNumbering
from sentgen.schema import Store
from sentgen.schema.store import raw


def count_trees_plainly(trees: Trees, numbering: TreeNumbering, counts: TreeCounts) -> None:
    """Return the counts of `count_trees` by definition, pair by pair, as a readable reference."""
    for start, end in pairwise(trees.starts.tolist()):
        heads = [-1, *(trees.heads[start:end] + 1).tolist()] if end > start else []
        nodes = [(0, 0)] * min(1, end - start)
        nodes += [
            _numbers(numbering, *ids)
            for ids in zip(trees.words[start:end], trees.tags[start:end], strict=True)
        ]
        for (kind, tag), (other_kind, other_tag) in product(nodes, nodes):
            _add(counts.together, kind, other_kind)
            _add(counts.with_tags, kind, other_tag)
            _add(counts.tags_together, tag, other_tag)
        for i, (kind, tag) in enumerate(nodes):
            _add(counts.kinds, kind)
            _add(counts.tags, tag)
            for side in (0, 1):
                taken = [j for j, head in enumerate(heads) if head == i and side == int(j > i)]
                _add(counts.arguments, kind, side, min(len(taken), MAX_ARGUMENTS))
                _add(counts.tag_arguments, tag, side, min(len(taken), MAX_ARGUMENTS))
                if len(counts.siblings):
                    count_siblings_plainly(i, side, taken, [found for _, found in nodes], counts)
                for j in taken:
                    near = min(abs(i - j), DISTANCES)
                    b = side if counts.tag_tag.shape[-1] == 2 else DISTANCES * side + near - 1
                    counts.events[b] += 1
                    _add(counts.word_word, kind, nodes[j][0], b)
                    _add(counts.tag_word, tag, nodes[j][0], b)
                    _add(counts.word_tag, kind, nodes[j][1], b)
                    _add(counts.tag_tag, tag, nodes[j][1], b)


def count_siblings_plainly(
    head: int, side: int, taken: list[int], tags: list[int], counts: TreeCounts
) -> None:
    """Count the modifiers of one head on one side after those before them, nearest first, then the end."""
    none = end = len(counts.siblings)
    other = none + 1
    outward = [tags[j] if tags[j] >= 0 else other for j in sorted(taken, key=lambda j: abs(j - head))]
    for before, after in pairwise([none, *outward, end]):
        _add(counts.siblings, tags[head], before, after, side)


def _numbers(numbering: TreeNumbering, word: int, tag: int) -> tuple[int, int]:
    """Return the numbers of kind and tag, -1 for what the batch does not ask for."""
    row = int(numbering.words[word]) if word < len(numbering.words) else -1
    column = int(numbering.tags[tag]) if tag < len(numbering.tags) else -1
    return int(numbering.kinds[row, column]) if min(row, column) >= 0 else -1, column


def _add(table: npt.NDArray[np.int64], *place: int) -> None:
    """Count one, unless the batch does not ask for it."""
    if min(place) >= 0:
        table[place] += 1


CHAIN: Tree = [("a", "X", 2), ("b", "Y", 3), ("c", "X", 0)]


def arrays(found: list[Tree]) -> Trees:
    """Number words and tags by their letters: a is 0, X is 1 (0 is the root's)."""
    nodes = [node for tree in found for node in tree]
    return Trees(
        np.array(["abc".index(form) for form, _, _ in nodes], np.int32),
        np.array([" XYZ".index(tag) for _, tag, _ in nodes], np.int32),
        np.array([head - 1 for _, _, head in nodes], np.int32),
        np.cumsum([0, *map(len, found)], dtype=np.int64),
    )


@st.composite
def numberings(draw: st.DrawFn) -> TreeNumbering:
    """A batch that asks for some of the words a, b and c with some of the tags; its arrays may end early."""
    asked = draw(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 3)), unique=True))
    words, tags = (
        {key: n for n, key in enumerate(sorted(set(part)))}
        for part in ([w for w, _ in asked], [0, *(t for _, t in asked)])
    )
    kinds = np.full((len(words), len(tags)), -1, np.int32)
    for number, (word, tag) in enumerate(asked, 1):
        kinds[words[word], tags[tag]] = number

    def by_id(numbers: dict[int, int]) -> np.ndarray:
        return np.array([numbers.get(i, -1) for i in range(max(numbers, default=-1) + 1)], np.int32)

    return TreeNumbering(by_id(words), by_id(tags), kinds)


@given(st.lists(any_tree(), max_size=5), numberings(), st.booleans())
def test_counts_as_the_reference_counts(found: list[Tree], numbering: TreeNumbering, distances: bool) -> None:
    """Counts equal those of the reference for any trees and any batch."""
    size = int(numbering.kinds.max(initial=0)) + 1, int(numbering.tags.max(initial=0)) + 1
    compiled, plain = (TreeCounts.zeros(*size, distances=distances) for _ in range(2))
    count_trees(arrays(found), numbering, compiled)
    count_trees_plainly(arrays(found), numbering, plain)

    for name, mine, expected in zip(compiled._fields, compiled, plain, strict=True):
        assert mine.tolist() == expected.tolist(), name


def test_more_than_seven_arguments() -> None:
    """A head with nine modifiers on its right counts as one with seven."""
    flat: Tree = [("a", "X", 0), *[("b", "Y", 1)] * 9]
    counts = TreeCounts.zeros(3, 3, distances=False)
    number = np.array([0, 1, 2], np.int32)
    kinds = np.array([[-1, 1, -1], [-1, -1, 2]], np.int32)
    count_trees(arrays([flat]), TreeNumbering(number[:2], number, kinds), counts)

    assert counts.arguments[1].tolist() == [[1, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 1]]
    assert counts.kinds.tolist() == [1, 1, 9]
    # Two different tokens of nine, in both orders, and each with itself.
    assert counts.together[2, 2] == 81


def test_places_of_heads() -> None:
    """Positions of units skip what is inside of base noun phrases; places do not."""
    positions, heads = np.array([2, 3, 6, 1], np.int32), np.array([3, 0, 3, 0], np.int32)

    assert places_of_heads(positions, heads, np.array([0, 3, 4])).tolist() == [1, -1, 1, -1]


def read(store: Store) -> list[Trees]:
    with store.connect() as connection:
        duck = raw(connection)
        return list(read_trees(duck, 1, "word"))


def test_blocks_end_with_sentences(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of rows of any size give the same trees."""
    monkeypatch.setattr(tree_walk, "_BLOCK_ROWS", 2048)
    with store_of([CHAIN, [("c", "X", 0)]] * 1500, tmp_path) as store:
        blocks = read(store)

    assert len(blocks) > 2
    assert sum(len(block.starts) - 1 for block in blocks) == 3000
    heads = [block.heads[start] for block in blocks for start in block.starts[:-1]]
    assert heads == [1, -1] * 1500
    assert {int(size) for block in blocks for size in np.diff(block.starts)} == {1, 3}


def test_corpus_without_trees(tmp_path: Path) -> None:
    """Plain text has none."""
    with Store(tmp_path / "toy.duckdb", create=True) as store:
        path = tmp_path / "plain.txt"
        path.write_text("a b c\n")
        ingest(store, [str(path)], Settings("plain", format="lines", order=2))

        assert read(store) == []
