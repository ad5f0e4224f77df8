"""Stretches of tokens that lines show: a hit and what is around it, on the arrays of a block."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from sentgen.arrays import Longs
from sentgen.lookups.base.statement import Bindings
from sentgen.lookups.base.tokens import NONE, Block, Tokens
from sentgen.lookups.concordances.contexts import PARAGRAPH, LineContext
from sentgen.lookups.search.hits import BlockHits
from sentgen.lookups.search.regions import region_numbers
from sentgen.lookups.search.spans import NO_SPANS, Spans

_IS_PARAGRAPH = f"r.kind = '{PARAGRAPH}'"


@dataclass(frozen=True, slots=True)
class Stretches:
    """Hits in a block with the first and the last token that is shown of each, ascending by hits."""

    block: Block
    low: Longs
    first: Longs
    last: Longs
    high: Longs

    def __len__(self) -> int:
        return len(self.low)

    @property
    def tokens(self) -> int:
        """How many tokens are shown."""
        return int((self.high - self.low + 1).sum())

    def cut(self, lines: int, tokens: int) -> Iterator[Stretches]:
        """Yield parts of at most so many lines and tokens; what is longer is alone."""
        behind = np.cumsum(self.high - self.low + 1)
        begin = 0
        while begin < len(self):
            before = behind[begin - 1] if begin else 0
            end = min(int(np.searchsorted(behind, before + tokens, "right")), begin + lines)
            end = max(end, begin + 1)
            some = slice(begin, end)
            yield Stretches(self.block, self.low[some], self.first[some], self.last[some], self.high[some])
            begin = end


def stretches_of(hits: BlockHits, context: LineContext) -> Stretches:
    """Return what is shown of the tokens around hits."""
    low, high = hits.block.unit_ends(hits.first)
    if context.unit:
        low, high = _around(hits, context, low, high)
    else:
        low, high = np.maximum(hits.first - context.size, low), np.minimum(hits.last + context.size, high)
    return Stretches(hits.block, low, hits.first, hits.last, high)


def _around(hits: BlockHits, context: LineContext, low: Longs, high: Longs) -> tuple[Longs, Longs]:
    """Return where the sentences or paragraphs around hits begin and end; ``low``, ``high``: their documents.

    Of a hit outside of all paragraphs, it is its sentence.
    """
    block, further = hits.block, context.size - 1
    _, begins, lengths, documents = block.sentences()
    ends = begins + lengths - 1
    first, last = begins, ends
    if context.unit == PARAGRAPH:
        first, last = block.cut(*region_numbers(block, _IS_PARAGRAPH, Bindings()))
    # Behind the last one, and before the first one, is one of no document.
    of_stretch = np.append(documents[block.sentence_of(first)], NONE)
    last_token = np.append(last, NONE)

    def bound(at: Longs, alone: Longs, to: Longs, step: int, furthest: Longs) -> Longs:
        sentence = block.sentence_of(at)
        own = np.searchsorted(first, at, "right") - 1
        inside = (of_stretch[own] == documents[sentence]) & (last_token[own] >= at)
        other = np.clip(own + step, -1, len(first))
        there = of_stretch[other] == documents[sentence]
        return np.where(inside, np.where(there, np.append(to, NONE)[other], furthest), alone[sentence])

    return bound(hits.first, begins, first, -further, low), bound(hits.last, ends, last, further, high)


def in_batches(every: Iterable[Stretches], lines: int, tokens: int) -> Iterator[list[Stretches]]:
    """Yield stretches of several blocks together, so many lines and tokens at most; none at all once."""
    held, size, length, begun = list[Stretches](), 0, 0, False
    for one in every:
        for part in one.cut(lines, tokens):
            if held and (size + len(part) > lines or length + part.tokens > tokens):
                yield held
                held, size, length, begun = [], 0, 0, True
            held.append(part)
            size, length = size + len(part), length + part.tokens
    if held or not begun:
        yield held


def located(tokens: Tokens, numbers: Spans) -> Iterator[BlockHits]:
    """Yield hits that are known by the numbers of their tokens, ascending, in blocks."""
    for block in tokens.blocks():
        low, high = np.searchsorted(numbers.first, [block.first, block.first + block.size])
        if low < high:
            first, last = numbers.first[low:high], numbers.last[low:high]
            yield BlockHits(block, first - block.first, last - block.first, NO_SPANS)


def by_numbers(hits: BlockHits) -> Spans:
    """Return hits by the numbers of their tokens, which never change."""
    return Spans(hits.block.numbers(hits.first), hits.block.numbers(hits.last), {})
