"""Curves over a document: the mean surprisal of each of its sentences, by each model that was applied to it.

Where there are more sentences than the curve can show, it has means of so many in a row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import ceil
from typing import Any

WIDTH, HEIGHT = 460, 170
#: Of the plot in the drawing: on its left are figures, below it the axis.
_LEFT, _TOP, _BOTTOM = 34, 10, 26
_MOST_POINTS = 120
_STEPS = (1, 2, 5, 10, 20, 50, 100)


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """A sentence, or several in a row: ``link`` is the page of the first one."""

    x: float
    y: float
    title: str
    link: str


@dataclass(frozen=True, slots=True)
class SurprisalCurve:
    """The curve of a model; ``ticks`` are heights with their bits, ``each`` the sentences of a point."""

    model: str
    points: Sequence[CurvePoint]
    ticks: Sequence[tuple[float, int]]
    sentences: int
    each: int
    mean: float
    width: int = WIDTH
    height: int = HEIGHT
    left: int = _LEFT

    @property
    def line(self) -> str:
        """Its points as SVG has them."""
        return " ".join(f"{one.x:.1f},{one.y:.1f}" for one in self.points)

    @property
    def bottom(self) -> int:
        """Where the axis is."""
        return HEIGHT - _BOTTOM


def curves(rows: Sequence[Mapping[str, Any]], page_of: Callable[[str], str]) -> list[SurprisalCurve]:
    """Draw a curve a model.

    Args:
        rows: ``model``, ``sentence``, its ``tokens`` and the sum of their ``bits``, by model.
        page_of: the page of a sentence.
    """
    grouped = groupby(rows, key=lambda row: row["model"])
    return [_curve(model, list(found), page_of) for model, found in grouped]


def _curve(model: str, rows: Sequence[Mapping[str, Any]], page_of: Callable[[str], str]) -> SurprisalCurve:
    each = ceil(len(rows) / _MOST_POINTS)
    parts = [rows[at : at + each] for at in range(0, len(rows), each)]
    means = [sum(row["bits"] for row in part) / sum(row["tokens"] for row in part) for part in parts]
    step = next((one for one in _STEPS if max(means) / one <= 4), _STEPS[-1])
    top = step * max(ceil(max(means) / step), 1)
    down, across = HEIGHT - _TOP - _BOTTOM, WIDTH - _LEFT - 10
    points = []
    for number, (part, mean) in enumerate(zip(parts, means, strict=True)):
        x = _LEFT + across * (number + 0.5) / len(parts)
        last = f" to {part[-1]['sentence']}" if len(part) > 1 else ""
        title = f"{part[0]['sentence']}{last}: {mean:.2f} bits a token"
        points.append(CurvePoint(x, _TOP + down * (1 - mean / top), title, page_of(part[0]["sentence"])))
    ticks = [(_TOP + down * (1 - bits / top), bits) for bits in range(0, top + 1, step)]
    mean = sum(row["bits"] for row in rows) / sum(row["tokens"] for row in rows)
    return SurprisalCurve(model, points, ticks, len(rows), each, mean)
