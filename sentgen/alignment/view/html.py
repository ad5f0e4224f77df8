"""An alignment as HTML: two panes whose linked words are highlighted together, a matrix, and a table.

`fragment` is an element for other pages, which also need `style()` and `script()`; `page` is a whole page
that loads nothing, and whose content security policy lets only its own script run. Every text is escaped, and
no attribute has style, so that both conform to a strict policy.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from importlib import resources

from markupsafe import Markup, escape

import sentgen
from sentgen.alignment.pairs.alignment import Span, Weighed, linked_words
from sentgen.alignment.view.view import (
    APART,
    NAMED,
    AlignedBlock,
    PairView,
    Segment,
    Side,
    made_of,
    remarks,
    weighed_by,
    why,
)
from sentgen.alignment.words.states import State
from sentgen.output.drawing import element
from sentgen.output.templates import template
from sentgen.output.wording import quantity

#: Most words of document and abstract for a matrix with a cell for each word pair, labeled with the words.
WORDS = 80, 60
#: Pixels: side of a cell, mean width of a letter.
_CELL, _LETTER = 16, 6.8
#: Pixels of the overview: width, least and largest height, least side of a mark.
_WIDTH, _LOW, _HIGH, _DOT = 1000, 160, 520, 4
#: Number of colors in the style sheet, from c0 and k0 on.
_COLORS = 6


def matrix(view: PairView) -> Markup:
    """Return a drawing of the links: abstract from top to bottom, document from left to right."""
    few = len(view.pair.document) <= WORDS[0] and len(view.pair.abstract) <= WORDS[1]
    return _with_words(view) if few else _overview(view)


def _with_words(view: PairView) -> Markup:
    """Draw a cell for each word pair, with the words."""
    document, abstract = view.pair.document, view.pair.abstract
    left = 10 + _LETTER * max(map(_letters, abstract), default=0)
    # The words above are slanted: they need less height than length, and the last word some more width.
    top = 10 + 0.85 * _LETTER * max(map(_letters, document), default=0)
    width, height = len(document) * _CELL, len(abstract) * _CELL
    marks = list[Markup]()
    for i, word in enumerate(document):
        transform = f"translate({left + (i + 0.75) * _CELL:.1f} {top - 5:.1f}) rotate(-55)"
        marks.append(element("text", _short(word), transform=transform))
    for i, word in enumerate(abstract):
        state = view.states[i].state
        kind = state if state in APART else None
        y = top + (i + 0.75) * _CELL
        marks.append(element("text", _short(word), x=left - 6, y=y, text_anchor="end", class_=kind))
    marks += [_line(x, top, x, top + height) for x in (left + i * _CELL for i in range(len(document) + 1))]
    marks += [_line(left, y, left + width, y) for y in (top + i * _CELL for i in range(len(abstract) + 1))]
    marks += [_cells(view, block, left, top) for block in view.blocks]
    grid = left, top, _CELL, _CELL
    return _picture(view, "words", left + width + top, top + height + 4, grid, marks)


def _cells(view: PairView, block: AlignedBlock, left: float, top: float) -> Markup:
    """Draw the cells of a block: the diagonal if it has as many words on both sides, else all cells."""
    size = _CELL - 4
    cells = [
        element("rect", x=left + d * _CELL + 2, y=top + s * _CELL + 2, width=size, height=size, rx=2)
        for s, d in linked_words(block.abstract, block.document)
    ]
    return element("g", _title(view, block), *cells, **_marks(view, block))


def _overview(view: PairView) -> Markup:
    """Draw long texts as a plot: a mark for each block, lines between the sentences of the abstract."""
    n, m = len(view.pair.document), len(view.pair.abstract)
    height = min(max(_WIDTH * m / max(n, 1), _LOW), _HIGH)
    marks = [element("rect", class_="frame", x=0.5, y=0.5, width=_WIDTH - 1, height=height - 1)]
    begins = [start / m * height for start in view.pair.abstract_starts[1:]]
    marks += [_line(0, y, _WIDTH, y) for y in begins]
    for block in view.blocks:
        (s0, s1), (d0, d1) = block.abstract, block.document
        position = {"x": d0 / n * _WIDTH, "y": s0 / m * height}
        size = {"width": max((d1 - d0) / n * _WIDTH, _DOT), "height": max((s1 - s0) / m * height, _DOT)}
        marks.append(element("rect", _title(view, block), **_marks(view, block), **position, **size, rx=1))
    marks.append(element("text", "document: word 1", x=0, y=height + 15))
    marks.append(element("text", f"word {n:,}", x=_WIDTH, y=height + 15, text_anchor="end"))
    grid = 0, 0, _WIDTH / max(n, 1), height / max(m, 1)
    return _picture(view, "overview", _WIDTH, height + 20, grid, marks)


def _picture(
    view: PairView,
    kind: str,
    width: float,
    height: float,
    grid: tuple[float, float, float, float],
    marks: Sequence[Markup],
) -> Markup:
    """Return a matrix; the script needs ``grid``, the origin and size of cells, to draw other links."""
    size = {"width": f"{width:.0f}", "height": f"{height:.0f}", "viewBox": f"0 0 {width:.0f} {height:.0f}"}
    label = "Matrix of the links: summary from top to bottom, document from left to right"
    cells = None if view.alignment.weighed is None else "{:.3f} {:.3f} {:.5f} {:.5f}".format(*grid)
    return element("svg", *marks, class_=kind, data_grid=cells, **size, role="img", aria_label=label)


def _line(x1: float, y1: float, x2: float, y2: float) -> Markup:
    return element("line", class_="grid", x1=x1, y1=y1, x2=x2, y2=y2)


def _marks(view: PairView, block: AlignedBlock) -> dict[str, str]:
    state = view.worst(block.abstract)
    look = f"k k{block.number % _COLORS}" + f" {state}" * (state in APART)
    return {"class": look, "data-b": f"{block.number}"}


def _title(view: PairView, block: AlignedBlock) -> Markup:
    texts = view.text("abstract", block.abstract), view.text("document", block.document)
    state = view.worst(block.abstract)
    return element("title", f"{texts[0]} ← {texts[1]}{f': {state}' * (state in APART)}")


def _letters(word: str) -> int:
    return len(_short(word))


def _short(word: str) -> str:
    return word if len(word) <= 18 else word[:17] + "…"


#: Number of shades of P(null) in the style sheet, from u0 on.
_SHADES = 5


class _Panes:
    """The attributes and content of the elements for the segments of both texts.

    Args:
        shown: the aligned pair.
        prefix: prefix of the ids, so that several can be on one page.
    """

    def __init__(self, shown: PairView, prefix: str) -> None:
        self._shown, self._prefix = shown, prefix
        self._unlinked_by_source, self._linked = shown.unlinked_by_source, shown.linked_words
        weighed = shown.alignment.weighed
        self._weighed = weighed is not None
        self._candidates = set() if weighed is None else {link.document for link in weighed.links}

    def attributes(self, segment: Segment, side: Side) -> Markup | None:
        """Return the attributes of the element of a segment; ``None`` if it is text without an element."""
        if side == "document" and not segment.blocks and segment.span[0] not in self._unlinked_by_source:
            return None
        attributes = Markup(' class="{}" data-b="{}" title="{}"').format(
            " ".join(self._looks(segment, side)),
            " ".join(self._together(segment, side)),
            "; ".join(self._abstract_tip(segment) if side == "abstract" else self._document_tip(segment)),
        )
        if side == "abstract" and segment.state in APART:
            attributes += Markup(' role="note" aria-label="{}"').format(self._label(segment.span[0]))
            attributes += self._id(segment.span[0])
        return attributes

    def words(self, segment: Segment, side: Side) -> Markup:
        """Return the words of a segment as they were written.

        Words that the script rearranges are elements, and words in a state that the element of the segment
        does not show.
        """
        marks = self._abstract_marks if side == "abstract" else self._document_marks
        places = range(*segment.span)
        marked = {position: text for position in places if (text := marks(position))}
        if not marked:  # like most of a document
            return escape(segment.text)
        words, spaces = self._shown.side(side)
        text = Markup("")
        for position in places:
            word = escape(words[position])
            text += Markup("<span{}>{}</span>").format(marked[position], word) if position in marked else word
            text += " " * (spaces[position] and position + 1 < segment.span[1])
        return text

    @cached_property
    def _ids(self) -> dict[int, str]:
        """The ids of the first word in each state, to which the legend links."""
        first: dict[State, int] = {}
        for position, state in enumerate(self._shown.states):
            first.setdefault(state.state, position)
        return {position: f"{self._prefix}first-{name}" for name, position in first.items()}

    def _id(self, position: int) -> Markup:
        return Markup(' id="{}"').format(self._ids[position]) if position in self._ids else Markup("")

    def _abstract_marks(self, position: int) -> Markup:
        marks, state = Markup(""), self._shown.states[position].state
        if state in ("variant", "related"):
            marks += Markup(' class="{}"').format(state) + self._id(position)
        if self._weighed:
            null = self._shown.alignment.null
            marks += Markup(' data-s="{}"').format(position)
            marks += "" if null is None else Markup(' data-null="{:.2f}"').format(null[position])
        return marks

    def _document_marks(self, position: int) -> Markup:
        return Markup(' data-d="{}"').format(position) if position in self._candidates else Markup("")

    def _looks(self, segment: Segment, side: Side) -> Iterator[str]:
        if segment.blocks:
            yield f"p c{segment.blocks[0] % _COLORS}"
        if segment.state in APART:
            yield segment.state
        if side == "abstract" and self._weighed and not segment.blocks and segment.null is not None:
            yield f"u{min(int(_SHADES * segment.null), _SHADES - 1)}"

    def _together(self, segment: Segment, side: Side) -> Iterator[str]:
        """Yield the keys that highlight a segment: its blocks, or an unlinked word and its source."""
        yield from map(str, segment.blocks)
        position = segment.span[0]
        against = self._unlinked_by_source.get(position, []) if side == "document" else [position]
        yield from (
            f"w{word}" for word in against if word not in self._linked and self._shown.states[word].source
        )

    def _abstract_tip(self, segment: Segment) -> Iterator[str]:
        shown = self._shown
        yield from filter(None, map(self._side_by_side, range(*segment.span)))
        for number in segment.blocks:
            block = shown.blocks[number - 1]
            position = _beside(segment.span[0], block.abstract, block.document)
            yield f"from sentence {shown.sentence('document', position)}{_sure(block.posterior)}"
        if not segment.blocks and (source := shown.states[segment.span[0]].source):
            link = "against" if shown.states[segment.span[0]].state == "changed" else "from"
            yield f"{link} sentence {shown.sentence('document', source[0])}"
        if segment.null is not None:
            yield f"P(null) {segment.null:.2f}"

    def _document_tip(self, segment: Segment) -> Iterator[str]:
        shown = self._shown
        against = (
            word for position in range(*segment.span) for word in self._unlinked_by_source.get(position, ())
        )
        for word in dict.fromkeys(against):
            yield f"{segment.text} → summary: {shown.pair.abstract[word]} ({shown.states[word].state})"
        for number in segment.blocks:
            block = shown.blocks[number - 1]
            position = _beside(segment.span[0], block.document, block.abstract)
            sentence = shown.sentence("abstract", position)
            yield f"in sentence {sentence} of the summary{_sure(block.posterior)}"

    def _side_by_side(self, position: int) -> str:
        """Return a word, its counterpart in the document, state and reason; empty if the word is the same."""
        word = self._shown.states[position]
        if word.state == "same":
            return ""
        state = ", ".join(filter(None, (word.state, why([word]))))
        return f"{word.word} ← document: {self._source(position)} ({state})" if word.source else state

    def _label(self, position: int) -> str:
        """Return the label for screen readers of a word that the document does not support."""
        word = self._shown.states[position]
        source = f"the document has {self._source(position)}" if word.source else ""
        return ", ".join(filter(None, (word.word, word.state, source, why([word]))))

    def _source(self, position: int) -> str:
        return " ".join(self._shown.pair.document[word] for word in self._shown.states[position].source)


def _beside(position: int, side: Span, other: Span) -> int:
    """Return the counterpart of a word of a block on the other side; the first word if lengths differ.

    A block may cross the end of a sentence.
    """
    return other[0] + position - side[0] if side[1] - side[0] == other[1] - other[0] else other[0]


def _sure(posterior: float | None) -> str:
    return "" if posterior is None else f", posterior {posterior:.2f}"


#: Explanation of each state in the legend; the worst first, for readers look for it.
_MEANINGS: Mapping[State, str] = {
    "changed": "the document says otherwise in its place",
    "new": "comes from nothing in the document",
    "related": "linked, but another word",
    "variant": "inflected, spelled otherwise, derived, or a synonym",
    "same": "the same word",
}


def style() -> str:
    """Return the style sheet of a fragment."""
    return _file("alignment.css")


def notebook_style() -> str:
    """Return the style for a notebook, which is light or dark whatever the system of the reader is."""
    light, dark = re.findall(r"\.alignment \{([^}]*--ground[^}]*)\}", style())
    return "".join(
        [
            style(),
            f'[data-jp-theme-light="true"] .alignment, .vscode-light .alignment {{{light}}}\n',
            f'[data-jp-theme-light="false"] .alignment, .vscode-dark .alignment {{{dark}}}\n',
        ]
    )


def script() -> str:
    """Return the script of a fragment; a page needs it once, after the last fragment."""
    return _file("alignment.js")


def fragment(view: PairView, *, prefix: str = "", explain: bool = False) -> str:
    """Return an element of the class ``alignment``.

    Args:
        view: the aligned pair; its reasons are shown, too, if the alignment has them.
        prefix: prefix of the ids, so that several can be on one page.
        explain: whether to say so if the alignment has no reasons.
    """
    weighed = view.alignment.weighed
    return template("sentgen.alignment.view", "alignment.html.j2").render(
        view=view,
        prefix=prefix,
        panes=_Panes(view, prefix),
        explain=explain,
        **({"reasons": None} if weighed is None else _reasons(view, weighed)),
        figures=_figures(view),
        legend=[(state, view.count(state), meaning) for state, meaning in _MEANINGS.items()],
        rows=list(view.phrases()),
        remarks=remarks,
        named=NAMED,
        abstract=list(view.sentences("abstract")),
        document=list(view.sentences("document")),
        matrix=matrix(view),
        posteriors=any(block.posterior is not None for block in view.blocks),
    )


def page(view: PairView, *, title: str, model: str, explain: bool = False) -> str:
    """Return a whole page about a pair, whose name is ``title``, and an aligner or model.

    ``explain``: whether to say so if there are no reasons.
    """
    # The policy of the page lets only this script run.
    digest = base64.b64encode(hashlib.sha256(script().encode()).digest()).decode()
    return template("sentgen.alignment.view", "page.html.j2").render(
        title=title,
        model=model,
        version=sentgen.__version__,
        style=Markup(style()),
        script=Markup(script()),
        script_hash=Markup(f"sha256-{digest}"),
        fragment=Markup(fragment(view, explain=explain)),
    )


def _reasons(view: PairView, weighed: Weighed) -> dict[str, object]:
    """Return the values of the page about reasons."""
    rows = view.reasons()
    linked = {row.abstract for row in rows if row.chosen}
    changed, new = view.count("changed"), view.count("new")
    # A best path has no threshold: the slider begins at one half.
    start = 0.5 if weighed.threshold is None else weighed.threshold
    chosen = f"{quantity(sum(row.chosen for row in rows), 'link')}, from the threshold {start:.2f} on"
    if weighed.threshold is None:
        chosen = f"{quantity(len(view.alignment.phrases), 'phrase')}, the best path"
    words = len(view.pair.abstract)
    return {
        "reasons": rows,
        "weighed": weighed,
        "linked": linked,
        "start": start,
        "counts": f"{chosen}; {changed:,} of {quantity(words, 'word')} changed, {new:,} new",
        "tuned": any(link.weights for link in weighed.links),
        "made_of": made_of,
        "weighed_by": weighed_by,
        "down": _down,
    }


def _down(posterior: float) -> float:
    """Return a posterior truncated to fewer digits, so that it is never above its value."""
    return int(posterior * 1e6) / 1e6


def _figures(view: PairView) -> list[tuple[str, str]]:
    """Return names and values of the figures of a summary."""
    numbers = view.figures
    # Counts, not shares: one changed word of a thousand would be 0%.
    return [
        (f"{view.count('changed'):,}", f"changed of {quantity(numbers.words, 'word')}"),
        (f"{view.count('new'):,}", "new"),
        (f"{numbers.coverage:.0%}", "coverage: words in copied fragments"),
        (f"{numbers.density:.1f}", "density: words in the fragment of a word"),
        (f"{numbers.longest}", "words in the longest copied run"),
    ]


def _file(name: str) -> str:
    return resources.files("sentgen.alignment.view").joinpath(name).read_text("utf-8")
