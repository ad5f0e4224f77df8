"""Dependency trees as SVG drawings, as lines of text, and as CoNLL-U, which other tools read.

In SVG the sentence is in a line, with arcs from heads to modifiers above it. An arc lies above all arcs that
it spans, and arcs leave a unit side by side, the longest nearest to its middle: those of a projective tree
never cross. The drawing is as wide as its longest sentence, so that text keeps its size at any length; a
script that runs from right to left begins on the right. It takes its color from the page (`currentColor`),
and everything from a corpus is escaped.

For a terminal there is a unit a line, in the order of the sentence, with its head to the left.

    ╭── the dow  NNP
  ──┤ fell  VBD
    ├─╮ to  TO
    │ ╰── 35 points  NNS
    ╰── .  .

Each unit with modifiers has a vertical line that holds them, at the column of its depth. Long sentences grow
downward, so that a tree of 60 units is as easy to follow as one of six, and a pipe does not break it.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from markupsafe import Markup

from sentgen.generation.bags.bag import Unit
from sentgen.generation.bags.bag_reader import TagKind
from sentgen.generation.bags.problem import LEFT, RIGHT, ROOT, Tree
from sentgen.generation.trees.trees import is_forced
from sentgen.output.display import decimal, is_right_to_left
from sentgen.output.drawing import element
from sentgen.output.drawing import length as _number

#: Pixels: size of the words and of their tags, gap between units, rise of an arc over the one below it.
_FONT, _SMALL, _GAP, _RISE = 16, 11, 18, 20
#: Pixels between the arcs that leave a unit on one side, between arcs and words, around everything.
_PORT, _CLEARANCE, _MARGIN = 7, 10, 16
_CORNER, _CAPTION = 8, 16
# Characters narrower and wider than most, since nothing here can measure a font.
_NARROW, _BROAD = frozenset("iljtfrI.,:;!'|()[]` "), frozenset("mwMW%@<>&+=#—")


@dataclass(frozen=True, slots=True)
class SentenceDrawing:
    """A sentence to draw: units in order, their tree, and a title such as the name of the sentence.

    ``labels`` are the relations of the units to their heads, written over the arcs; none if it is empty.
    ``marked`` are the units, from 0, with a colored background.
    """

    title: str
    units: Sequence[Unit]
    tree: Tree
    labels: Sequence[str] = ()
    marked: Collection[int] = ()

    @classmethod
    def of_corpus(
        cls,
        title: str,
        forms: Sequence[str],
        tags: Sequence[str],
        heads: Sequence[int],
        labels: Sequence[str],
    ) -> SentenceDrawing:
        """Return a sentence of a corpus; ``heads`` are places of words from 1, 0 for the root."""
        at = tuple(head - 1 if head else ROOT for head in heads)
        sides = tuple(RIGHT if head < position else LEFT for position, head in enumerate(at))
        nothing = (0,) * len(at)
        units = [Unit((form,), (tag,) if tag else ()) for form, tag in zip(forms, tags, strict=True)]
        return cls(title, units, Tree(at, sides, nothing, nothing), labels)


@dataclass(frozen=True, slots=True)
class _Layout:
    """The layout of a sentence, in pixels from its upper left corner.

    ``ground`` is the height at which arcs begin and end, ``onward`` is 1 if later units are further right,
    else -1.
    """

    centers: list[float]
    levels: list[int]
    width: float
    ground: float
    height: float
    onward: int

    def text(self, text: str, x: float, y: float) -> Markup:
        """Return a small text that begins at a place, and runs as the sentence does."""
        anchor = "start" if self.onward > 0 else "end"
        return element("text", text, font_size=_SMALL, text_anchor=anchor, x=x or None, y=y)


def corpus_tree_svg(
    title: str,
    forms: Sequence[str],
    tags: Sequence[str],
    heads: Sequence[int],
    labels: Sequence[str],
    *,
    marked: Collection[int] = (),
) -> str:
    """Return the tree of a sentence of a corpus as an SVG document, as `SentenceDrawing.of_corpus` takes it.

    ``marked`` are positions, from 1, of highlighted words.
    """
    drawing = SentenceDrawing.of_corpus(title, forms, tags, heads, labels)
    return tree_svg([replace(drawing, marked=frozenset(number - 1 for number in marked))])


def tree_svg(sentences: Sequence[SentenceDrawing]) -> str:
    """Return an SVG document with the trees of some sentences, one below the other."""
    layouts = [_layout(sentence) for sentence in sentences]
    drawn, top = [], float(_MARGIN)
    for sentence, layout in zip(sentences, layouts, strict=True):
        drawn.append(_drawing(sentence, layout, top))
        top += layout.height + _MARGIN
    width = _number(max((layout.width for layout in layouts), default=0.0) + 2 * _MARGIN)
    height = _number(top)
    look = {"fill": "currentColor", "font-family": "system-ui, sans-serif", "text-anchor": "middle"}
    drawing = element(
        "svg",
        element("title", "Dependency trees: " + "; ".join(each.title for each in sentences)),
        element("desc", " ".join(map(_described, sentences))),
        *drawn,
        xmlns="http://www.w3.org/2000/svg",
        width=width,
        height=height,
        viewBox=f"0 0 {width} {height}",
        role="img",
        font_size=_FONT,
        **look,
    )
    return f"{drawing}\n"


def _layout(sentence: SentenceDrawing) -> _Layout:
    """Place the units side by side, wide enough for their words and for their arcs."""
    heads = sentence.tree.heads
    left, right = _fans(sentence.tree)
    centers: list[float] = []
    at = 0.0
    for position, unit in enumerate(sentence.units):
        fan = 2 * _PORT * (1 + max(len(left[position]), len(right[position])))
        text = max(_text_width(" ".join(unit.words), _FONT), _text_width(" ".join(unit.tags), _SMALL), fan)
        center = max(at + text / 2, centers[-1] + _label_width(sentence, position) if position else 0.0)
        centers.append(center)
        at = center + text / 2 + _GAP
    levels = arc_levels(heads)
    ground = _CAPTION + _RISE * (max(levels, default=0) + 1) + _CLEARANCE
    ends = [
        center + _GAP + _text_width(label, _SMALL)
        for center, head, label in zip(centers, heads, sentence.labels, strict=False)
        if head == ROOT
    ]
    width = max(at - _GAP, 0.0, *ends)
    turned = is_right_to_left(word for unit in sentence.units for word in unit.words)
    if turned:
        centers = [width - center for center in centers]
    height = ground + _FONT + 2 * _SMALL + 6
    return _Layout(centers, levels, width, ground, height, -1 if turned else 1)


def _label_width(sentence: SentenceDrawing, position: int) -> float:
    """Return the width of the relation between a unit and the unit before it."""
    if not sentence.labels:
        return 0.0
    heads = sentence.tree.heads
    # If one of two adjacent units is the head of the other, the label must fit between them.
    over = [unit for unit in (position - 1, position) if heads[unit] == 2 * position - 1 - unit]
    return max((_text_width(sentence.labels[unit], _SMALL) + 3 * _PORT for unit in over), default=0.0)


def arc_levels(heads: Sequence[int]) -> list[int]:
    """Return the level of the arc to each unit: 1 above the highest arc below it that shares a gap with it.

    Shorter arcs are lower; of equally long ones, the left one. The arc of the root comes from above: 0.
    Time: quadratic in the number of units.
    """
    levels = [0] * len(heads)
    placed: list[tuple[int, int, int]] = []
    # Short arcs first: an arc must lie above all that it spans.
    arcs = sorted(
        (abs(head - unit), min(head, unit), unit) for unit, head in enumerate(heads) if head != ROOT
    )
    for length, start, unit in arcs:
        under = (level for level, begin, end in placed if begin < start + length and start < end)
        levels[unit] = 1 + max(under, default=0)
        placed.append((levels[unit], start, start + length))
    return levels


def _fans(tree: Tree) -> tuple[list[list[int]], list[list[int]]]:
    """Return the modifiers of each unit to its left and right, farthest first."""
    left: list[list[int]] = [[] for _ in tree.heads]
    right: list[list[int]] = [[] for _ in tree.heads]
    for unit, head in enumerate(tree.heads):
        if head != ROOT:
            (left if unit < head else right)[head].append(unit)
    return left, [units[::-1] for units in right]


def _drawing(sentence: SentenceDrawing, layout: _Layout, top: float) -> Markup:
    left, right = _fans(sentence.tree)
    parts = [layout.text(sentence.title, 0 if layout.onward > 0 else layout.width, _SMALL)]
    arcs = [
        element("path", element("title", _edge(sentence, unit)), d=_arc(layout, unit, head, left, right))
        for unit, head in enumerate(sentence.tree.heads)
    ]
    parts.append(element("g", *arcs, fill="none", stroke="currentColor", stroke_width=1.2))
    parts += [_label(sentence, layout, unit, left, right) for unit in range(len(sentence.labels))]
    parts += [
        _ground(sentence, layout, unit) for unit in range(len(sentence.units)) if unit in sentence.marked
    ]
    tip = _number(layout.ground + 2)
    parts += [element("path", d=f"M{_number(x)} {tip}l-3.5 -7h7z") for x in layout.centers]
    for unit, center in zip(sentence.units, layout.centers, strict=True):
        parts += _words(unit, center, layout.ground)
    return element("g", *parts, transform=f"translate({_MARGIN} {_number(top)})")


def _arc(layout: _Layout, unit: int, head: int, left: list[list[int]], right: list[list[int]]) -> str:
    """Return the path from a head up, along, and down to its modifier; from the top for the root."""
    end = layout.centers[unit]
    if head == ROOT:
        return f"M{_number(end)} {_CAPTION}V{_number(layout.ground)}"
    toward = layout.onward * (-1 if unit < head else 1)
    start = _start(layout, unit, head, left, right)
    y = layout.ground - _CLEARANCE - _RISE * layout.levels[unit]
    corner = min(_CORNER, abs(end - start) / 2) * toward
    return (
        f"M{_number(start)} {_number(layout.ground)}V{_number(y + abs(corner))}"
        f"q0 {_number(-abs(corner))} {_number(corner)} {_number(-abs(corner))}"
        f"H{_number(end - corner)}q{_number(corner)} 0 {_number(corner)} {_number(abs(corner))}"
        f"V{_number(layout.ground)}"
    )


def _label(
    sentence: SentenceDrawing, layout: _Layout, unit: int, left: list[list[int]], right: list[list[int]]
) -> Markup:
    """Return the relation of a unit, over the middle of its arc; beside that of the root."""
    head, end = sentence.tree.heads[unit], layout.centers[unit]
    if head == ROOT:
        return layout.text(sentence.labels[unit], end + 4 * layout.onward, _CAPTION + 10)
    start = _start(layout, unit, head, left, right)
    above = layout.ground - _CLEARANCE - _RISE * layout.levels[unit] - 3
    return element("text", sentence.labels[unit], font_size=_SMALL, x=(start + end) / 2, y=above)


def _start(layout: _Layout, unit: int, head: int, left: list[list[int]], right: list[list[int]]) -> float:
    """Return the x at which the arc to a unit leaves its head."""
    fan = left[head] if unit < head else right[head]
    toward = layout.onward * (-1 if unit < head else 1)
    return layout.centers[head] + toward * _PORT * (1 + fan.index(unit))


def _ground(sentence: SentenceDrawing, layout: _Layout, unit: int) -> Markup:
    """Return the background of a unit if it is marked."""
    width = _text_width(" ".join(sentence.units[unit].words), _FONT) + 8
    x, y = layout.centers[unit] - width / 2, layout.ground + 3
    size = {"width": width, "height": _FONT + 6, "rx": 3}
    return element("rect", class_="marked", x=x, y=y, **size, fill_opacity=0.2)


def _words(unit: Unit, center: float, ground: float) -> Iterator[Markup]:
    """Yield the words of a unit with their tags below; a line under the words of a phrase."""
    y, words = ground + _FONT + 2, " ".join(unit.words)
    yield element("text", words, x=center, y=y)
    if len(unit.words) > 1:
        half = _text_width(words, _FONT) / 2
        line = f"M{_number(center - half)} {_number(y + 5)}H{_number(center + half)}"
        yield element("path", d=line, stroke="currentColor", stroke_opacity=0.5)
    if unit.tags:
        tags = " ".join(unit.tags)
        yield element("text", tags, x=center, y=y + _SMALL + 8, font_size=_SMALL, fill_opacity=0.7)


def _edge(sentence: SentenceDrawing, unit: int) -> str:
    """Return an attachment in words."""
    tree = sentence.tree
    name = " ".join(sentence.units[unit].words)
    log10 = decimal(tree.weights[unit])
    # The roots of sentences from clusters have no weight.
    has_weight = not (math.isnan(log10) or is_forced(tree.weights[unit]))
    weight = f" (log10 weight {log10:.2f})" if has_weight else ""
    if tree.heads[unit] == ROOT:
        return f"{name}: root{'' if sentence.labels else weight}"
    side = "right" if tree.sides[unit] == RIGHT else "left"
    where = f"{side} of {' '.join(sentence.units[tree.heads[unit]].words)}"
    return f"{name}: {sentence.labels[unit]}, {where}" if sentence.labels else f"{name}: {where}{weight}"


def _described(sentence: SentenceDrawing) -> str:
    """Return a tree in words, for screen readers."""
    edges = "; ".join(_edge(sentence, unit) for unit in range(len(sentence.units)))
    return f"{sentence.title}: {edges}."


def _text_width(text: str, size: int) -> float:
    """Return an upper estimate of the width of a text in a proportional font."""
    return size * sum(map(_character_width, text))


def _character_width(character: str) -> float:
    if unicodedata.combining(character):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return 1.05
    if character in _NARROW:
        return 0.36
    return 0.95 if character in _BROAD else 0.74 if character.isupper() else 0.6


_UP, _DOWN, _LEFT, _RIGHT = 1, 2, 4, 8
#: The character that joins some of the four directions: index is the sum of theirs.
_BOXES = " ╵╷│╴╯╮┤╶╰╭├─┴┬┼"
_INDENT = 2


def tree_text(units: Sequence[Unit], heads: Sequence[int]) -> list[str]:
    """Return the lines of a drawing.

    Args:
        units: the units, in the order of the sentence.
        heads: the place of the head of each unit, `ROOT` for the root; a tree or a forest of them, and it
            need not be projective.
    """
    columns = _columns(heads)
    width = _INDENT * (max(columns, default=0) + 1) + 1
    grid = [[0] * width for _ in units]
    for head, rows in _verticals(heads).items():
        column = 0 if head == ROOT else _INDENT * columns[head]
        for row in rows:
            grid[row][column] |= (_UP if row > rows.start else 0) | (_DOWN if row < rows.stop - 1 else 0)
    for row, head in enumerate(heads):
        left = 0 if head == ROOT else _INDENT * columns[head]
        grid[row][left] |= _RIGHT
        # A unit without modifiers has no vertical line: its line runs on to the word.
        right = _INDENT * columns[row]
        for column in range(left + 1, right):
            grid[row][column] |= _LEFT | _RIGHT
        grid[row][right] |= _LEFT if grid[row][right] else _LEFT | _RIGHT
    return [
        f"{''.join(_BOXES[cell] for cell in cells).rstrip()} {' '.join(unit.words)}"
        + (f"  {unit.head_tag}" if unit.head_tag else "")
        for cells, unit in zip(grid, units, strict=True)
    ]


def _verticals(heads: Sequence[int]) -> dict[int, range]:
    """Return the rows that the vertical line of each head spans: its modifiers and itself."""
    spans: dict[int, range] = {}
    for row, head in enumerate(heads):
        start, stop = (row, row + 1) if head == ROOT else (min(row, head), max(row, head) + 1)
        known = spans.get(head, range(start, stop))
        spans[head] = range(min(known.start, start), max(known.stop, stop))
    return spans


def _columns(heads: Sequence[int]) -> list[int]:
    """Return the column of each unit, right of its head's.

    That is its depth; in a tree that is not projective, the first column on from there in which no other
    vertical line stands in its rows.
    """
    spans = _verticals(heads)
    taken: dict[int, list[range]] = {}
    columns = [0] * len(heads)
    for unit in _downward(heads):
        column = 1 if heads[unit] == ROOT else columns[heads[unit]] + 1
        span = spans.get(unit, range(unit, unit + 1))
        while any(span.start < other.stop and other.start < span.stop for other in taken.get(column, ())):
            column += 1
        taken.setdefault(column, []).append(span)
        columns[unit] = column
    return columns


def _downward(heads: Sequence[int]) -> Iterator[int]:
    """Yield the units, heads before their modifiers."""
    modifiers: dict[int, list[int]] = {}
    for unit, head in enumerate(heads):
        modifiers.setdefault(head, []).append(unit)
    waiting = modifiers.get(ROOT, [])
    while waiting:
        yield from waiting
        waiting = [below for unit in waiting for below in modifiers.get(unit, ())]


def conllu_block(
    units: Sequence[Unit], heads: Sequence[int], *, tags: TagKind | None = None, sent_id: str = ""
) -> str:
    """Return one sentence in CoNLL-U, with the blank line that ends it; nothing for a sentence without words.

    The other words of a phrase hang on its head, and `NP=k` in the last column says that a word is in the
    k-th phrase. The trees have no relations: a word is the `root` or a `dep`. CoNLL-U allows one root; where
    several units hang on it, the first one has it and the others hang on that one as `parataxis`.

    Args:
        units: the units, in the order of the sentence.
        heads: the place of the head of each unit, `ROOT` for the root.
        tags: the column that the tags belong to, UPOS or XPOS.
    """
    if not units:
        return ""
    words = [(unit, i) for unit in units for i in range(len(unit.words))]
    phrases = accumulate(int(len(unit.words) > 1 and i == 0) for unit, i in words)
    rows = []
    for number, ((unit, i), (head, relation), phrase) in enumerate(
        zip(words, _edges(units, heads), phrases, strict=True), 1
    ):
        tag = unit.tags[i] if unit.tags else "_"
        upos, xpos = (tag if tags == kind else "_" for kind in ("upos", "xpos"))
        misc = f"NP={phrase}" if len(unit.words) > 1 else "_"
        rows.append(f"{number}\t{unit.words[i]}\t_\t{upos}\t{xpos}\t_\t{head}\t{relation}\t_\t{misc}\n")
    named = f"# sent_id = {sent_id}\n" if sent_id else ""
    return f"{named}# text = {' '.join(unit.words[i] for unit, i in words)}\n{''.join(rows)}\n"


def _edges(units: Sequence[Unit], heads: Sequence[int]) -> Iterator[tuple[int, str]]:
    """Yield the number of the head of each word, 0 for the root, and the relation."""
    ends = accumulate(len(unit.words) for unit in units)
    tops = [end + 1 + unit.from_end for end, unit in zip(ends, units, strict=True)]
    root = heads.index(ROOT)
    for position, unit in enumerate(units):
        for other in range(-len(unit.words), 0):
            if other != unit.from_end:
                yield tops[position], "dep"
            elif heads[position] != ROOT:
                yield tops[heads[position]], "dep"
            else:
                yield (0, "root") if position == root else (tops[root], "parataxis")
