"""Stretches of tokens that lines show: a hit and what is around it, on the arrays of a block."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from sentgen.arrays import Longs
from sentgen.lookups.concordances.contexts import PARAGRAPH, LineContext
from sentgen.lookups.search.hits import BlockHits
from sentgen.lookups.search.spans import NO_SPANS, Spans
from sentgen.lookups.search.tokens import NONE, Block, Tokens

_PARAGRAPHS = f"""\
select b.first_token + region.position - 1 as first, e.first_token + region.last_position - 1 as last
from region
join sentence as b on b.id = region.sentence_id
join sentence as e on e.id = region.last_sentence_id
where region.kind = '{PARAGRAPH}' and region.sentence_id between $low and $high
order by region.sentence_id, region.position, place"""


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
        before, behind = (_sentences if context.unit == "s" else _paragraphs)(hits, context.size - 1)
        low, high = np.where(before == NONE, low, before), np.where(behind == NONE, high, behind)
    else:
        low, high = np.maximum(hits.first - context.size, low), np.minimum(hits.last + context.size, high)
    return Stretches(hits.block, low, hits.first, hits.last, high)


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


def numbers_of(hits: BlockHits) -> Spans:
    """Return hits by the numbers of their tokens, which never change."""
    return Spans(hits.block.numbers(hits.first), hits.block.numbers(hits.last), {})


def _sentences(hits: BlockHits, more: int) -> tuple[Longs, Longs]:
    """Return where the sentences of hits begin and end, with so many more; `NONE` where a document does."""
    ids, begins, lengths, documents = hits.block.sentences()
    low, high = hits.block.sentence_of(hits.first), hits.block.sentence_of(hits.last)
    first = np.searchsorted(ids, ids[low] - more)
    last = np.searchsorted(ids, ids[high] + more, "right") - 1
    before = np.where(documents[first] == documents[low], begins[first], NONE)
    return before, np.where(documents[last] == documents[high], (begins + lengths - 1)[last], NONE)


def _paragraphs(hits: BlockHits, more: int) -> tuple[Longs, Longs]:
    """Return where the paragraphs of hits begin and end, with so many more; `NONE` where a document does.

    Of a hit outside of all paragraphs, it is its sentence.
    """
    block = hits.block
    bounds: dict[str, object] = {"low": block.low, "high": block.high}
    first, last = block.cut(*block.tokens.array(_PARAGRAPHS, bounds))
    begin, end = _sentences(hits, 0)
    if not len(first):
        return begin, end
    documents = block.sentences()[3]
    of_paragraph = documents[block.sentence_of(first)]

    def bound(at: Longs, sentence: Longs, ends: Longs, step: int) -> Longs:
        document = documents[block.sentence_of(at)]
        own = np.searchsorted(first, at, "right") - 1
        inside = (own >= 0) & (of_paragraph[own] == document) & (last[own] >= at)
        other = np.clip(own + step, 0, len(first) - 1)
        there = (other == own + step) & (of_paragraph[other] == document)
        return np.where(inside, np.where(there, ends[other], NONE), sentence)

    return bound(hits.first, begin, first, -more), bound(hits.last, end, last, more)
