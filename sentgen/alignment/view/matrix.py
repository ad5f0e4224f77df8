"""A drawing of an alignment: the abstract from top to bottom, the document from left to right."""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import escape

from sentgen.alignment.alignment import linked_words
from sentgen.alignment.view.view import APART, AlignedBlock, PairView

#: Words up to which the matrix has a cell for each, with the words beside it: document, abstract.
WORDS = 80, 60
#: Pixels: side of a cell, mean width of a letter.
_CELL, _LETTER = 16, 6.8
#: Pixels of the overview: width, least and greatest height, least side of a mark.
_WIDTH, _LOW, _HIGH, _DOT = 1000, 160, 520, 4
#: As many as the style sheet has, from c0 and k0 on.
COLORS = 6


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
    for i, word in enumerate(document):
        x = left + (i + 0.75) * _CELL
        yield f'<text transform="translate({x:.1f} {top - 5:.1f}) rotate(-55)">{escape(_short(word))}</text>'
    for i, word in enumerate(abstract):
        state = view.states[i].state
        kind = f' class="{state}"' if state in APART else ""
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
    yield f"<g{_marks(view, block)}>{_title(view, block)}"
    for s, d in linked_words(block.abstract, block.document):
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
        yield f'<rect{_marks(view, block)} x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}"'
        yield f' rx="1">{_title(view, block)}</rect>'
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


def _marks(view: PairView, block: AlignedBlock) -> str:
    state = view.worst(block.abstract)
    look = f"k k{block.number % COLORS}" + f" {state}" * (state in APART)
    return f' class="{look}" data-b="{block.number}"'


def _title(view: PairView, block: AlignedBlock) -> str:
    texts = view.text("abstract", block.abstract), view.text("document", block.document)
    state = view.worst(block.abstract)
    return f"<title>{escape(texts[0])} ← {escape(texts[1])}{f': {state}' * (state in APART)}</title>"


def _letters(word: str) -> int:
    return len(_short(word))


def _short(word: str) -> str:
    return word if len(word) <= 18 else word[:17] + "…"
