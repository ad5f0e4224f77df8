"""Colors of the words that lines are sorted by, in a terminal: spans of cells, by the level of their key.

Lines are cut to the terminal where they are farthest from the node, so that spans are counted from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sentgen.cli.console.output import Look, printable
from sentgen.output.tabular import Rows
from sentgen.output.typography import readable

if TYPE_CHECKING:
    from sentgen.lookups.concordances.sorted_words import SortedPart, SortedSides

#: Each is told from the others without its color, too.
_STYLES = ("", "red underline", "green italic", "magenta underline italic")
_SPANS = {name: f"{name} spans" for name in ("left", "node", "right")}
_Spans = list[tuple[int, int, str]]


def with_spans(table: Rows, sides: Sequence[SortedSides], node: int) -> Rows:
    """Return lines with columns of spans; ``node`` is the level of the node itself, 0 if it has none."""
    rows = [
        (
            *row,
            _from_end(beside.left),
            [(0, len(str(row[table.columns.index("node")])), _STYLES[node])],
            _spans(beside.right),
        )
        for row, beside in zip(table, sides, strict=True)
    ]
    return Rows([*table.columns, *_SPANS.values()], rows)


def without_spans(table: Rows) -> tuple[Rows, Rows | None]:
    """Return lines, and the spans of them that they had, if they had any."""
    if _SPANS["node"] not in table.columns:
        return table, None
    return table.without(_SPANS.values()), table.select([*_SPANS.values()])


def join_spans(table: Rows, spans: Rows | None) -> Rows:
    """Return lines with the spans that they had."""
    if spans is None:
        return table
    rows = [(*row, *more) for row, more in zip(table, spans, strict=True)]
    return Rows([*table.columns, *spans.columns], rows)


def span_look(names: Sequence[str]) -> Look:
    """Return how lines look that have spans."""
    return {"spans": _SPANS} if _SPANS["node"] in names else {}


def _spans(parts: Sequence[SortedPart]) -> _Spans:
    spans, end = _Spans(), 0
    for text, level in parts:
        begin, end = end, end + len(printable(readable(text)))
        if level:
            spans.append((begin, end, _STYLES[level]))
    return spans


def _from_end(parts: Sequence[SortedPart]) -> _Spans:
    """Return spans that are counted from the end, below 0."""
    return [(-end, -begin, style) for begin, end, style in _spans(parts[::-1])]
