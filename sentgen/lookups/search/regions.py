"""Regions of a block as arrays: their first and last tokens, and their parts in each sentence."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from sentgen.arrays import Bools, Longs
from sentgen.lookups.base.statement import Bindings, where
from sentgen.lookups.base.tokens import NONE, Block, places
from sentgen.lookups.cql import syntax
from sentgen.lookups.cql.conditions import RegionConditions, TokenConditions
from sentgen.lookups.search.hits import Spans

_REGIONS = """\
select b.first_token + r.position - 1 as first, e.first_token + r.last_position - 1 as last
from region as r
join sentence as b on b.id = r.sentence_id
join sentence as e on e.id = r.last_sentence_id
where r.sentence_id <= $high and r.last_sentence_id >= $low and {meets}
order by r.sentence_id, r.position, r.place"""
_DOCUMENTS = """\
select first_sentence as first, first_sentence + sentences - 1 as last
from document
where sentences > 0 and first_sentence <= $high and first_sentence + sentences > $low"""


def region_numbers(block: Block, meets: str, bindings: Bindings) -> tuple[Longs, Longs]:
    """Return the numbers of the first and the last tokens of regions ``r`` that meet a condition.

    The regions are those of the block, of which ``block`` may be a part, in the order of the store.
    """
    bindings.update(low=block.low, high=block.high)
    first, last = block.tokens.array(_REGIONS.format(meets=meets), bindings)
    return first, last


@dataclass(slots=True)
class Regions:
    """Finds the regions of a block; ``chosen``: the tokens that the question is about, None for all."""

    written: TokenConditions
    block: Block
    chosen: Bools | None
    _found: dict[syntax.RegionPattern, tuple[Longs, Longs]] = field(default_factory=dict)
    _edges: dict[syntax.CqlEdge, Bools] = field(default_factory=dict)

    @property
    def _across(self) -> bool:
        return self.block.tokens.across

    def at(self, edge: syntax.CqlEdge, behind: Longs, *, first: bool) -> Bools:
        """Return before which tokens a region begins or ends.

        Args:
            edge: the begin or the end of regions.
            behind: the tokens, or the place behind the last token of the block.
            first: whether matches begin at these tokens: else they include the tokens before.
        """
        if edge not in self._edges:
            self._edges[edge] = self._edge(edge.region, edge.end)
        size, begins = self.block.size, self.block.unit_begins()
        at = behind - 1 if edge.end else behind
        inside = np.clip(at, 0, size - 1)
        met: Bools = (at >= 0) & (at < size) & self._edges[edge][inside]
        if first and edge.end:
            # The region must end in the sentence, or document, of the token before.
            met &= ~begins[np.clip(behind, 0, size - 1)]
        elif not first and not edge.end:
            met &= ~begins[inside]
        return met

    def _edge(self, region: syntax.RegionPattern, end: bool) -> Bools:
        if region.built_in:
            first, last = self._built_in(region)
            at = last if end else first
            if region.kind == "doc" and not self._across:
                at = at[self._of_document(at, end)]
        else:
            at = self.block.find(np.sort(self._numbers(region)[1 if end else 0]))
        met = np.zeros(self.block.size, bool)
        met[at] = True
        return met

    def parts(self, region: syntax.RegionPattern) -> tuple[Longs, Longs]:
        """Return the first and the last tokens of regions, an inner region behind the outer one.

        Unless hits may cross the ends of sentences, regions are cut into their parts in sentences.
        """
        if region not in self._found:
            if region.built_in:
                parts = self._built_in(region)
            else:
                parts = self.block.cut(*self._numbers(region))
                if not self._across:
                    parts = self._in_sentences(*parts)
                order = np.argsort(parts[0], kind="stable")
                parts = parts[0][order], parts[1][order]
            self._found[region] = parts
        return self._found[region]

    def whole(self, region: syntax.RegionPattern) -> Spans:
        """Return as spans the regions, or their parts in sentences, all of whose tokens are chosen."""
        first, last = self.parts(region)
        if region.kind == "doc" and not self._across:
            # A document lies within a sentence only if it has no other.
            alone = self._of_document(first, False) & self._of_document(last, True)
            first, last = first[alone], last[alone]
        if self.chosen is not None:
            left_out = np.concatenate([[0], np.cumsum(~self.chosen)])
            every = left_out[last + 1] == left_out[first]
            first, last = first[every], last[every]
        return Spans(first, last, {}).sorted_once()

    def within(self, region: syntax.RegionPattern, spans: Spans) -> Bools:
        """Return which spans lie in a region of a pattern."""
        first, last = self.parts(region)
        return spans.lie_within(first, last)

    def expand(self, region: syntax.RegionPattern, spans: Spans) -> Spans:
        """Return spans extended to the innermost region around them, if there is one.

        With ``across``, if no region is around the whole span, each end is extended by itself.
        """
        first, last = self.parts(region)
        around = _innermost(first, last, spans.first, spans.last)
        begins, ends = around, around
        if self._across:
            begins = np.where(around == NONE, _innermost(first, last, spans.first, spans.first), around)
            ends = np.where(around == NONE, _innermost(first, last, spans.last, spans.last), around)
        return Spans(_move(spans.first, first, begins), _move(spans.last, last, ends), spans.labels)

    def _built_in(self, region: syntax.RegionPattern) -> tuple[Longs, Longs]:
        """Return the first and last tokens of sentences, or of documents, as built-in regions."""
        ids, begins, lengths, _ = self.block.sentences()
        ends = begins + lengths - 1
        if region.kind == "doc" and self._across:
            begins, ends = self.block.bounds()
            ids = ids[self.block.sentence_of(begins)]
        if not region.tests:
            return begins, ends
        some = np.isin(ids, self._sentences_of(region))
        return begins[some], ends[some]

    def _sentences_of(self, region: syntax.RegionPattern) -> Longs:
        """Return the ids of the sentences that pass the tests, or whose documents do."""
        bindings = Bindings(low=self.block.low, high=self.block.high)
        tests = self._region_conditions(bindings).in_sentences(region, "s.id")
        text = f"select s.id from sentence as s{where(['s.id between $low and $high', *tests])}"
        return self.block.tokens.array(text, bindings)[0]

    def _of_document(self, at: Longs, end: bool) -> Bools:
        """Return which of the first, or last, tokens of sentences are the first, or last, of documents."""
        bounds: dict[str, object] = {"low": self.block.low, "high": self.block.high}
        sentences = self.block.tokens.array(_DOCUMENTS, bounds)[int(end)]
        return np.isin(self.block.sentences()[0][self.block.sentence_of(at)], sentences)

    def _numbers(self, region: syntax.RegionPattern) -> tuple[Longs, Longs]:
        bindings = Bindings()
        return region_numbers(self.block, self._region_conditions(bindings).meets(region), bindings)

    def _region_conditions(self, bindings: Bindings) -> RegionConditions:
        return RegionConditions(replace(self.written, bindings=bindings))

    def _in_sentences(self, first: Longs, last: Longs) -> tuple[Longs, Longs]:
        _, begins, lengths, _ = self.block.sentences()
        low, high = self.block.sentence_of(first), self.block.sentence_of(last)
        sentences = places(low, high - low + 1)
        regions = np.repeat(np.arange(len(first)), high - low + 1)
        ends = begins + lengths - 1
        return np.maximum(first[regions], begins[sentences]), np.minimum(last[regions], ends[sentences])


def _innermost(first: Longs, last: Longs, begin: Longs, end: Longs) -> Longs:
    """Return for each span the index of the last region around it; `NONE` if there is none."""
    if not len(first):
        return np.full(len(begin), NONE)
    furthest = np.maximum.accumulate(last)
    row = np.searchsorted(first, begin, "right") - 1
    row[(row >= 0) & (furthest[row] < end)] = NONE
    # Regions that begin at or before the span but end before its end are passed over, backwards.
    while len(outside := np.flatnonzero((row >= 0) & (last[row] < end))):
        row[outside] -= 1
    return row


def _move(at: Longs, to: Longs, rows: Longs) -> Longs:
    return np.where(rows == NONE, at, to[rows]) if len(to) else at
