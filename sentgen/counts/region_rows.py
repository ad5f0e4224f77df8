"""Regions as rows of `region` and `region_meta`: from marks in sentences to stretches of tokens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from sentgen.arrays import Ints, Longs
from sentgen.corpus.comments import SPEAKER, regions_said
from sentgen.corpus.sentence import Mark, Region, Sentence
from sentgen.corpus.treebank_blocks import RegionSpans

#: A row without its corpus.
Row = tuple[object, ...]


class _Begun(NamedTuple):
    """Where a region begins, and its number in that sentence."""

    sentence: int
    place: int
    position: int


@dataclass(slots=True)
class RegionRows:
    """Follows the marks of sentences, and holds the rows of regions that have ended.

    A region that spans documents is one in each. One without a token is none.

    Attributes:
        regions: rows of `region`.
        attributes: rows of `region_meta`.
        begun: how many have begun with a token of a sentence; asked of the last ones only.
    """

    regions: list[Row] = field(default_factory=list)
    attributes: list[Row] = field(default_factory=list)
    begun: Counter[int] = field(default_factory=Counter)
    _open: dict[Region, _Begun] = field(default_factory=dict)
    #: Regions that begin with the next sentence.
    _waiting: list[Region] = field(default_factory=list)
    #: What comments said last of a kind, which holds until they say something else.
    _said: dict[str, Region] = field(default_factory=dict)
    #: The last token, by sentence and position.
    _last: tuple[int, int] = (0, 0)

    def add(self, number: int, length: int, sentence: Sentence, *, first: bool) -> None:
        """Take the marks of a sentence.

        Args:
            number: that of the sentence; one comes after the other.
            length: its tokens.
            sentence: the sentence, whose columns may be elsewhere.
            first: whether it is the first one of its document.
        """
        if first:
            self._begin_document()
        self._begin_waiting(number)
        for mark in (*self._of_comments(sentence.metadata), *sentence.marks):
            if not mark.begins:
                self._end(mark.region, (number, mark.place) if mark.place else self._last)
            elif mark.place < length:
                self._begin(mark.region, number, mark.place + 1)
            else:
                self._waiting.append(mark.region)
        self._last = number, length

    def pass_by(self, first: int, last: int, length: int) -> None:
        """Take sentences that say nothing, the last of which has so many tokens."""
        self._begin_waiting(first)
        self._last = last, length

    def end_source(self) -> None:
        """End all regions with the last token."""
        for region in tuple(self._open):
            self._end(region, self._last)
        self._waiting, self._said = [], {}

    def add_block(self, first: int, lengths: Ints, marks: Sequence[Mark], spans: RegionSpans | None) -> None:
        """Take what a block says of its sentences, after the marks that its first one has itself.

        Args:
            first: number of the first sentence.
            lengths: tokens of each.
            marks: those of regions, behind so many of all tokens, at least one.
            spans: regions that have no marks.
        """
        ends = np.cumsum(lengths, dtype=np.int64)
        places = np.array([mark.place for mark in marks], np.int64)
        at = np.searchsorted(ends, places)
        within = places - (ends - lengths)[at]
        last, whole = first + lengths.size - 1, (within == lengths[at]).tolist()
        begun = iter(list[_Begun]())
        if spans is not None:
            begins = places[np.array([mark.begins for mark in marks], bool)]
            begun = iter(self._add_spans(first, ends, lengths, begins, spans))
            # What begins behind the token that is the last of a sentence is known to begin with the next.
            whole = (places == ends[-1]).tolist()
        # Those that wait since they were marked behind the last token of a sentence.
        since = last
        for mark, number, place, behind in zip(
            marks, (first + at).tolist(), within.tolist(), whole, strict=True
        ):
            if number > since:
                self._begin_waiting(since + 1)
                since = last
            if not mark.begins:
                self._end(mark.region, (number, place))
            elif behind:
                self._waiting.append(mark.region)
                since = number
            elif spans is not None:
                self._open[mark.region] = next(begun)
            else:
                self._begin(mark.region, number, place + 1)
        if last > since:
            self._begin_waiting(since + 1)

    def _add_spans(
        self, first: int, ends: Longs, lengths: Ints, places: Longs, spans: RegionSpans
    ) -> list[_Begun]:
        """Add the rows of spans; return where the other regions begin, which begin behind so many tokens."""
        total = spans.order.size + places.size
        others = np.setdiff1d(np.arange(total), spans.order, assume_unique=True)
        all_places = np.empty(total, np.int64)
        all_places[spans.order], all_places[others] = spans.begins, places
        # The sentence of the next token, and how many of its regions have begun before.
        at = np.searchsorted(ends, all_places, "right")
        numbers = np.arange(total) - np.searchsorted(at, at) + np.where(at == 0, self.begun[first], 0) + 1
        starts = np.concatenate((ends - lengths, ends[-1:]))
        begun = [
            _Begun(*values)
            for values in zip(
                (first + at).tolist(), numbers.tolist(), (all_places - starts[at] + 1).tolist(), strict=True
            )
        ]
        last = np.searchsorted(ends, spans.ends)
        for which, number, sentence, position in zip(
            spans.which.tolist(),
            spans.order.tolist(),
            (first + last).tolist(),
            (spans.ends - starts[last]).tolist(),
            strict=True,
        ):
            self._add(spans.regions[which], begun[number], (sentence, position))
        return [begun[number] for number in others.tolist()]

    def _begin_waiting(self, number: int) -> None:
        """Begin what waits with a sentence."""
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            for region in waiting:
                self._begin(region, number, 1)

    def _begin_document(self) -> None:
        """End all regions, and begin those again that may go on."""
        still = [region for region in self._open if region not in self._said.values()] + self._waiting
        self.end_source()
        self._waiting = still

    def _of_comments(self, comments: Sequence[str]) -> Iterator[Mark]:
        """Yield the marks of what comments say: it ends what they said before of its kind."""
        for region in regions_said(comments):
            before = self._said.get(region.kind)
            if before is not None:
                if region.kind == SPEAKER and before.attributes == region.attributes:
                    continue  # who goes on
                yield Mark(0, before, begins=False)
            self._said[region.kind] = region
            yield Mark(0, region, begins=True)

    def _begin(self, region: Region, sentence: int, position: int) -> None:
        self.begun[sentence] += 1
        self._open[region] = _Begun(sentence, self.begun[sentence], position)

    def _end(self, region: Region, last: tuple[int, int]) -> None:
        if region in self._waiting:
            self._waiting.remove(region)
        begun = self._open.pop(region, None)
        if begun is not None and last >= (begun.sentence, begun.position):
            self._add(region, begun, last)

    def _add(self, region: Region, begun: _Begun, last: tuple[int, int]) -> None:
        self.regions.append((begun.sentence, begun.place, region.kind, begun.position, *last))
        if region.attributes:
            self.attributes += [(begun.sentence, begun.place, *attribute) for attribute in region.attributes]
