"""Matches of a query as arrays: the spans of its parts in a block of tokens, and the hits among them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sentgen.arrays import Bools, Longs
from sentgen.lookups.base.statement import DOCUMENT, Extent
from sentgen.lookups.base.tokens import NONE, Block
from sentgen.lookups.cql.dialects import Strategy

if TYPE_CHECKING:
    import pyarrow as pa


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
            self.first[rows], self.last[rows], {name: label[rows] for name, label in self.labels.items()}
        )

    def sorted_once(self) -> Spans:
        """Return the spans sorted by first token, last token and labels, each once."""
        columns = (self.first, self.last, *self.labels.values())
        if len(self) < 2:
            return self
        ordered = self
        if not _is_ascending(columns[:2]) or len(columns) > 2:
            ordered = self.take(np.lexsort(columns[::-1]))
        columns = (ordered.first, ordered.last, *ordered.labels.values())
        new = np.append(True, np.logical_or.reduce([column[1:] != column[:-1] for column in columns]))
        return ordered if new.all() else ordered.take(new)

    def with_labels(self, other: Spans, names: Iterable[str]) -> Spans:
        """Return these with labels of others, where they have none of their own."""
        labels = {
            name: np.where(self.label(name) == NONE, other.label(name), self.label(name)) for name in names
        }
        return Spans(self.first, self.last, labels)

    def label(self, name: str) -> Longs:
        """Return the tokens of a label; nothing stands for one of another part of the query."""
        tokens = self.labels.get(name)
        return np.full(len(self), NONE) if tokens is None else tokens


NO_SPANS = Spans(np.zeros(0, np.int64), np.zeros(0, np.int64), {})


def together(parts: list[Spans], names: tuple[str, ...]) -> Spans:
    """Return the spans of several parts as one, each once; with all labels of the query."""
    if not parts:
        parts = [NO_SPANS]
    return Spans(
        np.concatenate([part.first for part in parts]),
        np.concatenate([part.last for part in parts]),
        {name: np.concatenate([part.label(name) for part in parts]) for name in names},
    ).sorted_once()


def _is_ascending(columns: tuple[Longs, ...]) -> bool:
    first, last = columns
    return bool(((first[1:] > first[:-1]) | ((first[1:] == first[:-1]) & (last[1:] >= last[:-1]))).all())


@dataclass(frozen=True, slots=True)
class BlockHits:
    """Hits in a block of tokens.

    Args:
        block: the tokens.
        first, last: the first and the last token of each hit in the block; by these, each hit once.
        ways: the same hits, once for each way to place the labels of the query.
    """

    block: Block
    first: Longs
    last: Longs
    ways: Spans

    def __len__(self) -> int:
        return len(self.first)

    def take(self, some: Bools) -> BlockHits:
        """Return some of the hits, and the ways of these."""
        first, last = self.first[some], self.last[some]
        ways = self.ways
        if ways.labels:
            width = self.block.size + 1
            ways = ways.take(np.isin(ways.first * width + ways.last, first * width + last))
        return BlockHits(self.block, first, last, ways)

    def rows(self, extent: Extent) -> pa.Table:
        """Return the hits as rows: the sentence or document that they are counted from, first and last."""
        import pyarrow as pa

        ids, begins, *_ = self.block.sentences()
        if extent is DOCUMENT:
            units = self.block.units()
            ids, begins = ids[np.searchsorted(begins, units)], units
        at = np.searchsorted(begins, self.first, "right") - 1
        first, last = (np.stack([self.first, self.last]) - begins[at] + 1).astype(np.int32)
        return pa.table({"sentence_id": ids[at], "first": first, "last": last})


def chosen_by(strategy: Strategy, spans: Spans) -> Spans:
    """Return which of all spans are hits, each once and without labels, in their order."""
    ordered = Spans(spans.first, spans.last, {}).sorted_once()
    return _CHOOSE[strategy](ordered)


def _longest(spans: Spans) -> Spans:
    """Return those that no other span goes around, as it begins before and ends behind."""
    order = np.lexsort((-spans.last, spans.first))
    furthest = np.maximum.accumulate(spans.last[order])
    # Those of one begin are the longest first; spans of earlier sentences end before.
    is_chosen = np.append(True, furthest[:-1] < spans.last[order][1:])[: len(order)]
    return spans.take(np.sort(order[is_chosen]))


def _shortest(spans: Spans) -> Spans:
    order = np.lexsort((spans.last, -spans.first))
    nearest = np.minimum.accumulate(spans.last[order])
    is_chosen = np.append(True, nearest[:-1] > spans.last[order][1:])[: len(order)]
    return spans.take(np.sort(order[is_chosen]))


def _traditional(spans: Spans) -> Spans:
    """Return the shortest of those that begin at a token."""
    return spans.take(np.append(True, spans.first[1:] != spans.first[:-1])[: len(spans)])


def _standard(spans: Spans) -> Spans:
    """Return of those that begin at a token the shortest, of these that end at a token the longest."""
    shortest = _traditional(spans)
    order = np.lexsort((shortest.first, shortest.last))
    last = shortest.last[order]
    is_chosen = np.append(True, last[1:] != last[:-1])[: len(order)]
    return shortest.take(np.sort(order[is_chosen]))


_CHOOSE: dict[Strategy, Callable[[Spans], Spans]] = {
    Strategy.ALL: lambda spans: spans,
    Strategy.LONGEST: _longest,
    Strategy.SHORTEST: _shortest,
    Strategy.STANDARD: _standard,
    Strategy.TRADITIONAL: _traditional,
}
