"""An alignment as HTML: two panes whose linked words light up together, a matrix, and a table.

`fragment` is the part for a page of somebody else, who gives it `style()` and `script()`; `page` stands
alone: it loads nothing, and its policy lets only its own script run. Every text is escaped, and no attribute
holds style, so that both keep to a strict policy.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Collection, Iterator
from importlib import resources

from markupsafe import Markup, escape

import sentgen
from sentgen.alignment.alignment import Span, Weighed
from sentgen.alignment.view.reasons import made_of, reasons, weighed_by
from sentgen.alignment.view.view import AlignedBlock, PairView, Segment, Side
from sentgen.output.templates import template
from sentgen.output.wording import quantity

#: Words up to which the matrix has a cell for each, with the words beside it: document, abstract.
WORDS = 80, 60
#: Pixels: side of a cell, mean width of a letter.
_CELL, _LETTER = 16, 6.8
#: Pixels of the overview: width, least and greatest height, least side of a mark.
_WIDTH, _LOW, _HIGH, _DOT = 1000, 160, 520, 4
#: As many as the style sheet has, from c0 on.
_COLORS = 6
#: Shades of P(null), as many as the style sheet has, from u0 on.
_SHADES = 5


def style() -> str:
    """Return the style sheet of a fragment."""
    return _file("alignment.css")


def notebook_style() -> str:
    """Return it for a notebook, which is light or dark whatever the system of the reader is."""
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
        view: what is shown; its reasons are, too, if the alignment has them.
        prefix: tells the ids of several on a page apart.
        explain: whether to say so if it has none.
    """
    weighed = view.alignment.weighed
    candidates = set() if weighed is None else {link.document for link in weighed.links}

    def told(segment: Segment, side: Side) -> str:
        return "; ".join(_told(view, segment, side))

    def words(segment: Segment, side: Side) -> Markup:
        if weighed is None:
            return escape(segment.text)
        apart = range(*segment.span) if side == "abstract" else candidates.intersection(range(*segment.span))
        return Markup("").join(_words(view, segment.span, side, apart))

    return template("sentgen.alignment.view", "alignment.html.j2").render(
        view=view,
        prefix=prefix,
        told=told,
        words=words,
        explain=explain,
        **({"reasons": None} if weighed is None else _reasons(view, weighed)),
        figures=figures(view),
        abstract=list(view.sentences("abstract")),
        document=list(view.sentences("document")),
        matrix=Markup(matrix(view)),
        posteriors=any(block.posterior is not None for block in view.blocks),
    )


def page(view: PairView, *, title: str, model: str, explain: bool = False) -> str:
    """Return a page that stands alone.

    Args:
        view: what is shown.
        title: name of the pair.
        model: what aligned it.
        explain: whether to say so if there are no reasons.
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


def _words(view: PairView, span: Span, side: Side, apart: Collection[int]) -> Iterator[Markup]:
    """Yield words as they were written; those ``apart`` are elements, which the script puts together anew."""
    words = view.pair.document if side == "document" else view.pair.abstract
    spaces = view.document_spaces if side == "document" else view.abstract_spaces
    null, letter = (view.alignment.null, "s") if side == "abstract" else (None, "d")
    for offset in range(*span):
        if offset in apart:
            sure = "" if null is None else Markup(' data-null="{:.2f}"').format(null[offset])
            yield Markup('<span data-{}="{}"{}>{}</span>').format(letter, offset, sure, words[offset])
        else:
            yield escape(words[offset])
        if spaces[offset] and offset + 1 < span[1]:
            yield Markup(" ")


def _reasons(view: PairView, weighed: Weighed) -> dict[str, object]:
    """Return what the page says of reasons."""
    found = reasons(view)
    linked = {one.abstract for one in found if one.chosen}
    # A best path has no threshold: the slider begins where links are likelier than not.
    start = 0.5 if weighed.threshold is None else weighed.threshold
    chosen = f"{quantity(sum(one.chosen for one in found), 'link')}, from the threshold {start:.2f} on"
    if weighed.threshold is None:
        chosen = f"{quantity(len(view.alignment.phrases), 'phrase')}, the best path"
    words = len(view.pair.abstract)
    return {
        "reasons": found,
        "weighed": weighed,
        "linked": linked,
        "start": start,
        "counts": f"{chosen}; {words - len(linked)} of {quantity(words, 'word')} new",
        "tuned": any(link.weights for link in weighed.links),
        "made_of": made_of,
        "weighed_by": weighed_by,
        "shade": _shade,
        "down": _down,
    }


def _down(posterior: float) -> float:
    """Return a posterior with fewer digits: cut, so that it reaches the same thresholds as before."""
    return int(posterior * 1e6) / 1e6


def _shade(null: float) -> int:
    return min(int(_SHADES * null), _SHADES - 1)


def figures(view: PairView) -> list[tuple[str, str]]:
    """Return the figures of a summary with what they are."""
    found = view.figures
    return [
        (f"{found.new:.0%}", "new words"),
        (f"{found.coverage:.0%}", "coverage: words in copied fragments"),
        (f"{found.density:.1f}", "density: words in the fragment of a word"),
        (f"{found.longest}", "words in the longest copied run"),
    ]


def matrix(view: PairView) -> str:
    """Return a drawing of the links: abstract from top to bottom, document from left to right."""
    few = len(view.pair.document) <= WORDS[0] and len(view.pair.abstract) <= WORDS[1]
    return "\n".join(_with_words(view) if few else _overview(view))


def _with_words(view: PairView) -> Iterator[str]:
    """Draw a cell for each word pair, with the words."""
    document, abstract = view.pair.document, view.pair.abstract
    left = 10 + _LETTER * max(map(_letters, abstract), default=0)
    # The words above lean: they take less height than length, and the last one some of the width.
    top = 10 + 0.85 * _LETTER * max(map(_letters, document), default=0)
    width, height = len(document) * _CELL, len(abstract) * _CELL
    grid = _grid(view, left, top, _CELL, _CELL)
    yield _opening(left + width + top, top + height + 4, "words", grid)
    linked = {word for block in view.blocks for word in range(*block.abstract)}
    for i, word in enumerate(document):
        x = left + (i + 0.75) * _CELL
        yield f'<text transform="translate({x:.1f} {top - 5:.1f}) rotate(-55)">{escape(_short(word))}</text>'
    for i, word in enumerate(abstract):
        kind = "" if i in linked else ' class="new"'
        y = top + (i + 0.75) * _CELL
        yield f'<text x="{left - 6:.1f}" y="{y:.1f}" text-anchor="end"{kind}>{escape(_short(word))}</text>'
    for i in range(len(document) + 1):
        yield _line(left + i * _CELL, top, left + i * _CELL, top + height)
    for i in range(len(abstract) + 1):
        yield _line(left, top + i * _CELL, left + width, top + i * _CELL)
    for block in view.blocks:
        yield from _cells(view, block, left, top)
    yield "</svg>"


def _cells(view: PairView, block: AlignedBlock, left: float, top: float) -> Iterator[str]:
    """Draw the cells of a block: those of the diagonal if it has as many words on both sides, else all."""
    (s0, s1), (d0, d1) = block.abstract, block.document
    diagonal = s1 - s0 == d1 - d0
    yield f"<g{_marks(block)}>{_title(view, block)}"
    for s in range(s0, s1):
        for d in (d0 + s - s0,) if diagonal else range(d0, d1):
            x, y = left + d * _CELL + 2, top + s * _CELL + 2
            yield f'<rect x="{x:.1f}" y="{y:.1f}" width="{_CELL - 4}" height="{_CELL - 4}" rx="2"/>'
    yield "</g>"


def _overview(view: PairView) -> Iterator[str]:
    """Draw long texts as a plot: a mark for each block, lines between the sentences of the abstract."""
    n, m = len(view.pair.document), len(view.pair.abstract)
    height = min(max(_WIDTH * m / max(n, 1), _LOW), _HIGH)
    yield _opening(_WIDTH, height + 20, "overview", _grid(view, 0, 0, _WIDTH / max(n, 1), height / max(m, 1)))
    yield f'<rect class="frame" x="0.5" y="0.5" width="{_WIDTH - 1}" height="{height - 1:.1f}"/>'
    for start in view.pair.abstract_starts[1:]:
        yield _line(0, start / m * height, _WIDTH, start / m * height)
    for block in view.blocks:
        (s0, s1), (d0, d1) = block.abstract, block.document
        x, y = d0 / n * _WIDTH, s0 / m * height
        wide, high = max((d1 - d0) / n * _WIDTH, _DOT), max((s1 - s0) / m * height, _DOT)
        yield f'<rect{_marks(block)} x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}" rx="1">'
        yield f"{_title(view, block)}</rect>"
    yield f'<text x="0" y="{height + 15:.1f}">document: word 1</text>'
    yield f'<text x="{_WIDTH}" y="{height + 15:.1f}" text-anchor="end">word {n:,}</text>'
    yield "</svg>"


def _grid(view: PairView, left: float, top: float, width: float, height: float) -> str:
    """Return where cells are and how large, which the script needs to draw other links."""
    if view.alignment.weighed is None:
        return ""
    return f' data-grid="{left:.3f} {top:.3f} {width:.5f} {height:.5f}"'


def _opening(width: float, height: float, kind: str, grid: str) -> str:
    label = "Matrix of the links: summary from top to bottom, document from left to right"
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    return f'<svg class="{kind}"{grid} {size} role="img" aria-label="{label}">'


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line class="grid" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _marks(block: AlignedBlock) -> str:
    return f' class="k k{block.number % _COLORS}" data-b="{block.number}"'


def _title(view: PairView, block: AlignedBlock) -> str:
    texts = view.text("abstract", block.abstract), view.text("document", block.document)
    return f"<title>{escape(texts[0])} ← {escape(texts[1])}</title>"


def _told(view: PairView, segment: Segment, side: Side) -> Iterator[str]:
    """Yield what the tip of a segment says."""
    for number in segment.blocks:
        block = view.blocks[number - 1]
        sure = "" if block.posterior is None else f", posterior {block.posterior:.2f}"
        if side == "abstract":
            yield f"from sentence {view.sentence('document', block.document[0])}{sure}"
        else:
            yield f"in sentence {view.sentence('abstract', block.abstract[0])} of the summary{sure}"
    if side == "abstract" and not segment.blocks:
        yield "new"
    if segment.null is not None:
        yield f"P(null) {segment.null:.2f}"


def _letters(word: str) -> int:
    return len(_short(word))


def _short(word: str) -> str:
    return word if len(word) <= 18 else word[:17] + "…"


def _file(name: str) -> str:
    return resources.files("sentgen.alignment.view").joinpath(name).read_text("utf-8")
