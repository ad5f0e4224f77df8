"""Spans of tokens that match the patterns of a query, on the arrays of a block.

Each kind of pattern is one function of arrays; those that are regular are `sequences`, of a bounded number of
tokens, or `walks`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from sentgen.arrays import Bools, Longs
from sentgen.lookups.base.tokens import NONE


@dataclass(frozen=True, slots=True)
class Spans:
    """Matches by their first and last tokens in a block, each with each way to place its labels once.

    Args:
        first, last: the tokens.
        labels: label to its tokens, `NONE` where it stands for nothing.
    """

    first: Longs
    last: Longs
    labels: Mapping[str, Longs]

    def __len__(self) -> int:
        return len(self.first)

    def take(self, rows: Longs | Bools) -> Spans:
        """Return some of them."""
        return Spans(
            self.first[rows], self.last[rows], {name: one[rows] for name, one in self.labels.items()}
        )

    def ordered(self) -> Spans:
        """Return them by first token, last token and labels, each once."""
        columns = (self.first, self.last, *self.labels.values())
        if len(self) < 2:
            return self
        found = self
        if not _ascending(columns[:2]) or len(columns) > 2:
            found = self.take(np.lexsort(columns[::-1]))
        columns = (found.first, found.last, *found.labels.values())
        new = np.append(True, np.logical_or.reduce([one[1:] != one[:-1] for one in columns]))
        return found if new.all() else found.take(new)

    def with_labels(self, other: Spans, names: Iterable[str]) -> Spans:
        """Return these with labels of others, where they have none of their own."""
        labels = {
            name: np.where(self.label(name) == NONE, other.label(name), self.label(name)) for name in names
        }
        return Spans(self.first, self.last, labels)

    def label(self, name: str) -> Longs:
        """Return the tokens of a label; nothing stands for one of another part of the query."""
        found = self.labels.get(name)
        return np.full(len(self), NONE) if found is None else found


NO_SPANS = Spans(np.zeros(0, np.int64), np.zeros(0, np.int64), {})


def together(parts: list[Spans], names: tuple[str, ...]) -> Spans:
    """Return the spans of several parts as one, each once; with all labels of the query."""
    if not parts:
        parts = [NO_SPANS]
    return Spans(
        np.concatenate([one.first for one in parts]),
        np.concatenate([one.last for one in parts]),
        {name: np.concatenate([one.label(name) for one in parts]) for name in names},
    ).ordered()


def _ascending(columns: tuple[Longs, ...]) -> bool:
    first, last = columns
    return bool(((first[1:] > first[:-1]) | ((first[1:] == first[:-1]) & (last[1:] >= last[:-1]))).all())
