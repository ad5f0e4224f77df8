"""Matches of a query as arrays: spans of tokens in a block, with labels, and the hits among them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sentgen.arrays import Bools, Longs
from sentgen.lookups.base.statement import DOCUMENT, Extent
from sentgen.lookups.base.tokens import NONE, Block, Tokens
from sentgen.lookups.cql.dialects import Strategy

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Spans:
    """Spans of tokens in a block, with a row for each assignment of tokens to labels.

    Args:
        first, last: places of the first and the last token of each span.
        labels: for each label, the place of its token in each row, `NONE` where it has no token.
    """

    first: Longs
    last: Longs
    labels: Mapping[str, Longs]

    def __len__(self) -> int:
        return len(self.first)

    def take(self, rows: Longs | Bools) -> Spans:
        """Return some rows."""
        return Spans(
            self.first[rows], self.last[rows], {name: label[rows] for name, label in self.labels.items()}
        )

    def sorted_once(self) -> Spans:
        """Return the distinct rows, sorted by first token, last token and labels."""
        columns = (self.first, self.last, *self.labels.values())
        if len(self) < 2:
            return self
        ordered, next_first, next_last = self, self.first[1:], self.last[1:]
        same = next_first == self.first[:-1]
        ascending = (next_first > self.first[:-1]) | (same & (next_last >= self.last[:-1]))
        if len(columns) > 2 or not ascending.all():
            ordered = self.take(np.lexsort(columns[::-1]))
        columns = (ordered.first, ordered.last, *ordered.labels.values())
        new = np.append(True, np.logical_or.reduce([column[1:] != column[:-1] for column in columns]))
        return ordered if new.all() else ordered.take(new)

    def with_labels(self, other: Spans, names: Iterable[str]) -> Spans:
        """Return the spans with labels of other spans, row by row, where they have no token of their own."""
        labels = {
            name: np.where(self.label(name) == NONE, other.label(name), self.label(name)) for name in names
        }
        return Spans(self.first, self.last, labels)

    def label(self, name: str) -> Longs:
        """Return the tokens of a label; `NONE` for a label of another part of the query."""
        tokens = self.labels.get(name)
        return np.full(len(self), NONE) if tokens is None else tokens

    @classmethod
    def together(cls, parts: list[Spans], names: tuple[str, ...]) -> Spans:
        """Return the spans of several parts as one, each once; with all labels of the query."""
        if not parts:
            parts = [NO_SPANS]
        return cls(
            np.concatenate([part.first for part in parts]),
            np.concatenate([part.last for part in parts]),
            {name: np.concatenate([part.label(name) for part in parts]) for name in names},
        ).sorted_once()

    def chosen_by(self, strategy: Strategy) -> Spans:
        """Return which of all spans are hits, each once and without labels, in their order."""
        ordered = Spans(self.first, self.last, {}).sorted_once()
        return _CHOOSE[strategy](ordered)

    def lie_within(self, first: Longs, last: Longs) -> Bools:
        """Return which spans lie in one of some stretches, which are ascending by their first tokens."""
        if not len(first):
            return np.zeros(len(self), bool)
        furthest = np.maximum.accumulate(last)
        before = np.searchsorted(first, self.first, "right") - 1
        met: Bools = (before >= 0) & (furthest[before] >= self.last)
        return met


NO_SPANS = Spans(np.zeros(0, np.int64), np.zeros(0, np.int64), {})


@dataclass(frozen=True, slots=True)
class BlockHits:
    """Hits in a block of tokens.

    Args:
        first, last: places of the first and the last token of each hit; the hits are distinct.
        ways: the same hits, with a row for each assignment of tokens to labels.
    """

    block: Block
    first: Longs
    last: Longs
    ways: Spans

    def __len__(self) -> int:
        return len(self.first)

    def take(self, some: Bools) -> BlockHits:
        """Return some of the hits, with their rows in ``ways``."""
        first, last = self.first[some], self.last[some]
        ways = self.ways
        if ways.labels:
            width = self.block.size + 1
            ways = ways.take(np.isin(ways.first * width + ways.last, first * width + last))
        return BlockHits(self.block, first, last, ways)

    def rows(self, extent: Extent) -> pa.Table:
        """Return a table of the hits: the sentence from which they count, first and last position."""
        import pyarrow as pa

        ids, begins, *_ = self.block.sentences()
        if extent is DOCUMENT:
            units = self.block.units()
            ids, begins = ids[np.searchsorted(begins, units)], units
        at = np.searchsorted(begins, self.first, "right") - 1
        first, last = (np.stack([self.first, self.last]) - begins[at] + 1).astype(np.int32)
        return pa.table({"sentence_id": ids[at], "first": first, "last": last})

    def token_numbers(self) -> Spans:
        """Return hits by the numbers of their tokens, which never change."""
        return Spans(self.block.numbers(self.first), self.block.numbers(self.last), {})

    @staticmethod
    def located(tokens: Tokens, numbers: Spans) -> Iterator[BlockHits]:
        """Yield hits in blocks, given by ascending numbers of their tokens."""
        for block in tokens.blocks():
            low, high = np.searchsorted(numbers.first, [block.first, block.first + block.size])
            if low < high:
                first, last = numbers.first[low:high], numbers.last[low:high]
                yield BlockHits(block, first - block.first, last - block.first, NO_SPANS)


def _longest(spans: Spans) -> Spans:
    """Return the spans that lie in no other span."""
    order = np.lexsort((-spans.last, spans.first))
    furthest = np.maximum.accumulate(spans.last[order])
    # Spans with the same begin are sorted by descending length; spans of earlier sentences end before.
    is_chosen = np.append(True, furthest[:-1] < spans.last[order][1:])[: len(order)]
    return spans.take(np.sort(order[is_chosen]))


def _shortest(spans: Spans) -> Spans:
    order = np.lexsort((spans.last, -spans.first))
    nearest = np.minimum.accumulate(spans.last[order])
    is_chosen = np.append(True, nearest[:-1] > spans.last[order][1:])[: len(order)]
    return spans.take(np.sort(order[is_chosen]))


def _traditional(spans: Spans) -> Spans:
    """Return the shortest span for each first token."""
    return spans.take(np.append(True, spans.first[1:] != spans.first[:-1])[: len(spans)])


def _standard(spans: Spans) -> Spans:
    """Return the shortest span for each first token, and of these the longest for each last token."""
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
