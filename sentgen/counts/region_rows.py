"""Regions as rows of `region` and `region_meta`: from marks in sentences to stretches of tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sentgen.corpus.comments import SPEAKER, regions_said
from sentgen.corpus.sentence import Mark, Region, Sentence

#: A row without its corpus.
Row = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class _Begun:
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
    """

    regions: list[Row] = field(default_factory=list)
    attributes: list[Row] = field(default_factory=list)
    _open: dict[Region, _Begun] = field(default_factory=dict)
    #: Regions that begin with the next sentence.
    _waiting: list[Region] = field(default_factory=list)
    #: What comments said last of a kind, which holds until they say something else.
    _said: dict[str, Region] = field(default_factory=dict)
    #: The last token, by sentence and position.
    _last: tuple[int, int] = (0, 0)
    _sentence: int = 0
    _places: int = 0

    def add(self, number: int, length: int, sentence: Sentence, *, first: bool) -> None:
        """Take the marks of a sentence.

        Args:
            number: that of the sentence; one comes after the other.
            length: its tokens.
            sentence: the sentence, whose columns may be elsewhere.
            first: whether it is the first one of its document.
        """
        self._sentence, self._places = number, 0
        if first:
            self._begin_document()
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            for region in waiting:
                self._begin(region, 1)
        for mark in (*self._of_comments(sentence.metadata), *sentence.marks):
            if not mark.begins:
                self._end(mark.region, (number, mark.place) if mark.place else self._last)
            elif mark.place < length:
                self._begin(mark.region, mark.place + 1)
            else:
                self._waiting.append(mark.region)
        self._last = number, length

    def end_source(self) -> None:
        """End all regions with the last token."""
        for region in tuple(self._open):
            self._end(region, self._last)
        self._waiting, self._said = [], {}

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

    def _begin(self, region: Region, position: int) -> None:
        self._places += 1
        self._open[region] = _Begun(self._sentence, self._places, position)

    def _end(self, region: Region, last: tuple[int, int]) -> None:
        if region in self._waiting:
            self._waiting.remove(region)
        begun = self._open.pop(region, None)
        if begun is None or last < (begun.sentence, begun.position):
            return
        self.regions.append((begun.sentence, begun.place, region.kind, begun.position, *last))
        self.attributes += [(begun.sentence, begun.place, *attribute) for attribute in region.attributes]
