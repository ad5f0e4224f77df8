"""A plain walk over treebanks in numpy, with every word of every tree in memory: the peer of look-ups of trees.

The formulas are those of Wan et al. 2007 as `sentgen.models.dependency.dependencies` writes them down.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
#: Stands for probability zero.
FLOOR = 1e-12


class PlainTrees:
    """A treebank in CoNLL-U as arrays over its words: number of the word and of the tag, head, and sentence."""

    def __init__(self, path: Path) -> None:
        rows = [line.split("\t", 7) for line in path.read_text("utf-8").split("\n")]
        ends = np.array([len(row) == 1 for row in rows])
        nodes = [row for row in rows if len(row) > 1]
        self._sentence = np.cumsum(ends)[~ends]
        self._sentences = int(self._sentence[-1]) + 1
        self._words, self._word = _numbered([row[1] for row in nodes])
        self._tags, self._tag = _numbered([row[3] if row[4] == "_" else row[4] for row in nodes])
        heads = np.array([int(row[6]) for row in nodes])
        positions = np.array([int(row[0]) for row in nodes])
        self._side = (positions > heads).astype(np.int64)
        #: -1 below the root.
        self._head = np.where(heads > 0, np.arange(len(nodes)) + heads - positions, -1)

    def probabilities(self, bag: Sequence[tuple[str, str | None]]) -> Floats:
        """Return (n + 1, n, 2) log prob of head (0 is the root), modifier and side."""
        kinds = sorted(set(bag), key=str)
        tags = sorted({str(tag) for _, tag in bag})
        kind = self._marks([(self._words.get(word, -1), self._tags.get(str(tag), -1)) for word, tag in kinds])
        tag_of = np.array([0, *(tags.index(str(tag)) + 1 for _, tag in kinds)])
        tag = np.zeros(len(self._tags) + 1, np.int64)
        tag[[self._tags.get(name, -1) for name in tags]] = range(1, len(tags) + 1)
        tag[-1] = 0
        counts = _Counts(self, kind, tag[self._tag], len(kinds) + 1, len(tags) + 1)
        nodes = np.array([0, *(kinds.index(unit) + 1 for unit in bag)])
        return counts.probabilities(nodes, tag_of[nodes])

    def _marks(self, kinds: Sequence[tuple[int, int]]) -> Integers:
        """Return for each word which of some kinds it is, from 1, else 0."""
        found = np.zeros(len(self._word), np.int64)
        for number, (word, tag) in enumerate(kinds, 1):
            found[(self._word == word) & (self._tag == tag)] = number
        return found

    def together(self, one: Integers, other: Integers, sizes: tuple[int, int]) -> Integers:
        """Return the sums over the sentences of the products of counts; number 0 is the root, once in each."""
        left, right = (
            np.bincount(self._sentence * size + marks, minlength=self._sentences * size).reshape(-1, size)
            for marks, size in zip((one, other), sizes, strict=True)
        )
        left[:, 0] = right[:, 0] = 1
        # As floats, which are multiplied by BLAS.
        return (left.T.astype(np.float64) @ right).astype(np.int64)

    def events(self, heads: Integers, modifiers: Integers, sizes: tuple[int, int]) -> Integers:
        """Return how often each kind stands below another, on either side."""
        head = np.where(self._head < 0, 0, heads[self._head])
        wanted = (modifiers > 0) & ((head > 0) | (self._head < 0))
        cells = ((head * sizes[1] + modifiers) * 2 + self._side)[wanted]
        return np.bincount(cells, minlength=sizes[0] * sizes[1] * 2).reshape(*sizes, 2)


class _Counts:
    """What the formulas need, counted for all kinds of a bag at once."""

    def __init__(self, trees: PlainTrees, kind: Integers, tag: Integers, kinds: int, tags: int) -> None:
        pairs = {"kk": (kind, kind, (kinds, kinds)), "tk": (tag, kind, (tags, kinds))}
        pairs |= {"kt": (kind, tag, (kinds, tags)), "tt": (tag, tag, (tags, tags))}
        self._rel = {name: trees.events(*asked) for name, asked in pairs.items()}
        self._co = {name: trees.together(*asked) for name, asked in pairs.items()}
        self._kinds, self._tags = np.bincount(kind, minlength=kinds), np.bincount(tag, minlength=tags)

    def probabilities(self, nodes: Integers, tags: Integers) -> Floats:
        """Return log prob of all pairs of the nodes of a bag, the root first."""
        a, b, a_tag, b_tag = nodes[:, None], nodes[None, 1:], tags[:, None], tags[None, 1:]
        same, same_tag = a == b, a_tag == b_tag
        co0 = self._co["kk"][a, b] - same * self._kinds[a]
        co1 = self._co["tk"][a_tag, b] - same_tag * self._kinds[b]
        co1 += self._co["kt"][a, b_tag] - same_tag * self._kinds[a]
        co2 = self._co["tt"][a_tag, b_tag] - same_tag * self._tags[a_tag]
        rel = (
            self._rel["kk"][a, b],
            self._rel["tk"][a_tag, b] + self._rel["kt"][a, b_tag],
            self._rel["tt"][a_tag, b_tag],
        )
        p, p1, p2 = (
            events / np.maximum(co, 1)[..., None] for events, co in zip(rel, (co0, co1, co2), strict=True)
        )
        l1, l2 = (co0 / (co0 + 1))[..., None], (co1 / (co1 + 1))[..., None]
        prob = np.log(np.maximum(l1 * p + (1 - l1) * (l2 * p1 + (1 - l2) * p2), FLOOR))
        prob[np.arange(1, len(nodes)), np.arange(len(nodes) - 1)] = -np.inf
        return np.asarray(prob)


def _numbered(names: Sequence[str]) -> tuple[dict[str, int], Integers]:
    """Number the different names, and return the number of each."""
    numbers: dict[str, int] = {}
    return numbers, np.array([numbers.setdefault(name, len(numbers)) for name in names])
