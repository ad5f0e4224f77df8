"""A drawing of collocates around their node, with lines between those that belong together.

The places follow from the order of the collocates alone, so that the same answer is drawn the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import cos, pi, sin
from typing import Any

WIDTH, HEIGHT = 420, 380
#: Of the ring on which the collocates stand: wider than high, as words are.
_ACROSS, _DOWN = 118, 140
#: Letters of a word that has room beside the ring.
_LETTERS = 14
_THINNEST, _THICKEST = 0.6, 5.0


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A word at its place: ``anchor`` is the side on which it begins, ``link`` its page."""

    word: str
    x: float
    y: float
    anchor: str
    link: str

    @property
    def label(self) -> str:
        """The word, or the beginning of a long one."""
        return self.word if len(self.word) <= _LETTERS else f"{self.word[: _LETTERS - 1]}…"


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """A line between two places, as thick as the two words are strong together."""

    ends: tuple[float, float, float, float]
    width: float
    title: str
    link: str


@dataclass(frozen=True, slots=True)
class Graph:
    """Words and lines; ``spokes`` are the lines of the node in the middle."""

    node: str
    words: Sequence[GraphNode]
    spokes: Sequence[GraphEdge]
    edges: Sequence[GraphEdge]
    width: int = WIDTH
    height: int = HEIGHT


def drawn(
    node: str,
    rows: Sequence[Mapping[str, Any]],
    page_of: Callable[[str], str],
    lines: Callable[[str, str], str],
) -> Graph:
    """Place the edges of a graph, those of its node first.

    Args:
        node: what was asked for.
        rows: edges with ``node``, ``collocate``, ``count`` and ``logdice``.
        page_of: the page of a collocate.
        lines: that of the lines of two words.
    """
    order: list[str] = []
    for row in rows:
        # The collocates of the node come first, each once; a collocate of another one is there already.
        if row["node"] == node and row["collocate"] not in order:
            order.append(row["collocate"])
        else:
            break
    first, second = rows[: len(order)], rows[len(order) :]
    places = {word: _place(number, len(order)) for number, word in enumerate(order)}
    words = [GraphNode(word, *_label(*places[word]), page_of(word)) for word in order]
    middle = (WIDTH / 2, HEIGHT / 2)
    spokes = [_edge(middle, places[row["collocate"]], row, first, lines) for row in first]
    edges = [_edge(places[row["node"]], places[row["collocate"]], row, second, lines) for row in second]
    return Graph(node, words, spokes, edges)


def _place(number: int, size: int) -> tuple[float, float]:
    """Return the place of a collocate: the first one on top, the others clockwise."""
    angle = 2 * pi * number / size - pi / 2
    return WIDTH / 2 + _ACROSS * cos(angle), HEIGHT / 2 + _DOWN * sin(angle)


def _label(x: float, y: float) -> tuple[float, float, str]:
    """Return where a word stands beside its place, outside of the ring."""
    aside, down = x - WIDTH / 2, y - HEIGHT / 2
    if abs(aside) < _ACROSS / 8:
        return x, y + (22 if down > 0 else -12), "middle"
    return x + (8 if aside > 0 else -8), y + 5, "start" if aside > 0 else "end"


def _edge(
    one: tuple[float, float],
    other: tuple[float, float],
    row: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]],
    lines: Callable[[str, str], str],
) -> GraphEdge:
    weights = [each["logdice"] for each in rows]
    least, most = min(weights), max(weights)
    share = (row["logdice"] - least) / (most - least) if most > least else 1
    title = f"{row['node']} and {row['collocate']}: {row['count']:,}, logDice {row['logdice']:.1f}"
    ends = (*one, *other)
    width = _THINNEST + (_THICKEST - _THINNEST) * share
    return GraphEdge(ends, width, title, lines(row["node"], row["collocate"]))
