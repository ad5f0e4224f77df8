"""The two texts of a page: elements that say by look, tip and label what became of their words."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from markupsafe import Markup, escape

from sentgen.alignment.alignment import Span
from sentgen.alignment.states.word_states import State
from sentgen.alignment.view.matrix import COLORS
from sentgen.alignment.view.phrases import why
from sentgen.alignment.view.view import APART, PairView, Segment, Side

#: Shades of P(null), as many as the style sheet has, from u0 on.
_SHADES = 5


class Panes:
    """What stands in the elements of the segments of both texts.

    Args:
        shown: what is shown.
        prefix: tells the ids of several on a page apart.
    """

    def __init__(self, shown: PairView, prefix: str) -> None:
        self._shown, self._prefix = shown, prefix
        self._told_by, self._linked = shown.told_by, shown.linked
        weighed = shown.alignment.weighed
        self._weighed = weighed is not None
        self._candidates = set() if weighed is None else {link.document for link in weighed.links}

    def attributes(self, segment: Segment, side: Side) -> Markup | None:
        """Return the attributes of the element of a segment, ``None`` if it has none: it is text alone."""
        if side == "document" and not segment.blocks and segment.span[0] not in self._told_by:
            return None
        found = Markup(' class="{}" data-b="{}" title="{}"').format(
            " ".join(self._looks(segment, side)),
            " ".join(self._together(segment, side)),
            "; ".join(self._told(segment, side)),
        )
        if side == "abstract" and segment.state in APART:
            found += Markup(' role="note" aria-label="{}"').format(self._spoken(segment.span[0]))
            found += self._id(segment.span[0])
        return found

    def words(self, segment: Segment, side: Side) -> Markup:
        """Return the words of a segment as they were written.

        Those that the script puts together anew are elements, and those in a state that the element of the
        segment does not show.
        """
        marks = self._abstract_marks if side == "abstract" else self._document_marks
        places = range(*segment.span)
        marked = {place: found for place in places if (found := marks(place))}
        if not marked:  # as most of a document is
            return escape(segment.text)
        words, spaces = self._shown.side(side)
        found = Markup("")
        for place in places:
            word = escape(words[place])
            found += Markup("<span{}>{}</span>").format(marked[place], word) if place in marked else word
            found += " " * (spaces[place] and place + 1 < segment.span[1])
        return found

    @cached_property
    def _ids(self) -> dict[int, str]:
        """The ids of the first words in their states, to which the legend leads."""
        first: dict[State, int] = {}
        for place, one in enumerate(self._shown.states):
            first.setdefault(one.state, place)
        return {place: f"{self._prefix}first-{state}" for state, place in first.items()}

    def _id(self, place: int) -> Markup:
        return Markup(' id="{}"').format(self._ids[place]) if place in self._ids else Markup("")

    def _abstract_marks(self, place: int) -> Markup:
        marks, state = Markup(""), self._shown.states[place].state
        if state in ("variant", "related"):
            marks += Markup(' class="{}"').format(state) + self._id(place)
        if self._weighed:
            null = self._shown.alignment.null
            marks += Markup(' data-s="{}"').format(place)
            marks += "" if null is None else Markup(' data-null="{:.2f}"').format(null[place])
        return marks

    def _document_marks(self, place: int) -> Markup:
        return Markup(' data-d="{}"').format(place) if place in self._candidates else Markup("")

    def _looks(self, segment: Segment, side: Side) -> Iterator[str]:
        if segment.blocks:
            yield f"p c{segment.blocks[0] % COLORS}"
        if segment.state in APART:
            yield segment.state
        if side == "abstract" and self._weighed and not segment.blocks and segment.null is not None:
            yield f"u{min(int(_SHADES * segment.null), _SHADES - 1)}"

    def _together(self, segment: Segment, side: Side) -> Iterator[str]:
        """Yield what lights up with a segment: its blocks, or an unlinked word and what it contradicts."""
        yield from map(str, segment.blocks)
        place = segment.span[0]
        against = self._told_by.get(place, []) if side == "document" else [place]
        yield from (
            f"w{word}" for word in against if word not in self._linked and self._shown.states[word].source
        )

    def _told(self, segment: Segment, side: Side) -> Iterator[str]:
        """Yield what the tip of a segment says."""
        return self._told_of_abstract(segment) if side == "abstract" else self._told_of_document(segment)

    def _told_of_abstract(self, segment: Segment) -> Iterator[str]:
        of = self._shown
        yield from filter(None, map(self._side_by_side, range(*segment.span)))
        for number in segment.blocks:
            block = of.blocks[number - 1]
            place = _beside(segment.span[0], block.abstract, block.document)
            yield f"from sentence {of.sentence('document', place)}{_sure(block.posterior)}"
        if not segment.blocks and (source := of.states[segment.span[0]].source):
            told = "against" if of.states[segment.span[0]].state == "changed" else "from"
            yield f"{told} sentence {of.sentence('document', source[0])}"
        if segment.null is not None:
            yield f"P(null) {segment.null:.2f}"

    def _told_of_document(self, segment: Segment) -> Iterator[str]:
        of = self._shown
        against = (word for place in range(*segment.span) for word in self._told_by.get(place, ()))
        for word in dict.fromkeys(against):
            yield f"{segment.text} → summary: {of.pair.abstract[word]} ({of.states[word].state})"
        for number in segment.blocks:
            block = of.blocks[number - 1]
            place = _beside(segment.span[0], block.document, block.abstract)
            sentence = of.sentence("abstract", place)
            yield f"in sentence {sentence} of the summary{_sure(block.posterior)}"

    def _side_by_side(self, place: int) -> str:
        """Return a word with what stands in the document, its state, and why; nothing if it is the same."""
        of = self._shown.states[place]
        if of.state == "same":
            return ""
        told = ", ".join(filter(None, (of.state, why([of]))))
        return f"{of.word} ← document: {self._source(place)} ({told})" if of.source else told

    def _spoken(self, place: int) -> str:
        """Return what is read aloud of a word that the document does not support."""
        of = self._shown.states[place]
        source = f"the document has {self._source(place)}" if of.source else ""
        return ", ".join(filter(None, (of.word, of.state, source, why([of]))))

    def _source(self, place: int) -> str:
        return " ".join(self._shown.pair.document[word] for word in self._shown.states[place].source)


def _beside(place: int, side: Span, other: Span) -> int:
    """Return the word of the other side of a block that stands beside one; its first if they do not pair up.

    A block may go over the end of a sentence.
    """
    return other[0] + place - side[0] if side[1] - side[0] == other[1] - other[0] else other[0]


def _sure(posterior: float | None) -> str:
    return "" if posterior is None else f", posterior {posterior:.2f}"
