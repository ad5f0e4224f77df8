"""Lines of a concordance as a table: fitted to the terminal, so that no line is wrapped.

The context of the node has priority. On a narrow terminal, the columns of places are left out, then values of
metadata are cut; if that is not enough, each line is a record.

The words that lines are sorted by are colored: spans of cells, by the level of their key. Lines are cut to
the terminal at the ends farthest from the node, so spans are counted from the node.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.cells import cell_len

from sentgen.cli.console.output import Look, Output, printable
from sentgen.cli.console.terminal_table import record_room
from sentgen.lookups.concordances.typical import REASONS
from sentgen.output.display import is_right_to_left, readable, shown
from sentgen.output.tabular import Rows
from sentgen.output.text_table import cut_end, cut_front

if TYPE_CHECKING:
    from sentgen.lookups.concordances.line_text import SortedPart, SortedSides


WidthOption = Annotated[
    int | None,
    typer.Option("--width", min=1, help="Characters on each side. Default: as the terminal allows."),
]
_PLACE, _LINE = ("corpus", "document", "sent_id"), ("left", "node", "right")
_MIRRORED = {"left": "right", "right": "left"}
#: Most cells of the name of a document or sentence, of which the end is shown; and of values of metadata,
#: tried in turn. Numbers are never cut.
_EDGE, _VALUES = 14, (24, 16, 12, 8)
_NUMBER = re.compile(r"[-+.,:\d]*")
#: Cells for each context, least cells, and width of a line into a pipe, which does not depend on a terminal.
_WORDS, _FEWEST, _PIPE = 32, 16, 120


def show_lines(table: Rows, out: Output, width: int | None = None, *, cut: bool = False) -> None:
    """Show the lines of a concordance, or counts of them.

    Args:
        table: the lines, or counts.
        out: the output.
        width: characters of each context; by default, as many as fit the terminal.
        cut: whether there are more rows than those of a table without a total.
    """
    table = fitted(table, out, width)
    out.table(table, truncated=cut, **line_look(table))


def fitted(table: Rows, out: Output, width: int | None) -> Rows:
    """Fit a concordance to the terminal, or to a width; counts stay as they are."""
    if not set(_LINE) <= set(table.columns):
        return table
    if out.for_reading and table.num_rows:
        lines, spans = _without_spans(table)
        return _join_spans(_fit_terminal(lines, width, out), spans)
    return _cut_sides(table, width, width) if width is not None else table


def line_look(table: Rows) -> Look:
    """Return the look of a concordance: the left context is aligned to the right."""
    names = table.columns
    first = next((name for name in names if name in _MIRRORED), "left")
    lines = (*_shown(names), *_LINE) if first in names else ()
    return {
        "align": {first: "right", "line": "right"},
        "styles": {"node": "bold", "sent_id": "dim"},
        "essential": lines,
        "whole": lines,
        **_span_look(names),
    }


def _fit_terminal(table: Rows, width: int | None, out: Output) -> Rows:
    """Fit a concordance to the terminal: values that all lines share are shown once, long contexts are cut.

    If most letters are of scripts from right to left, the context before the node is on its right.
    """
    shared = [name for name in ("corpus", "document") if len(set(table.column(name))) == 1]
    if shared:
        out.note(", ".join(f"{name} {table.column(name)[0]}" for name in shared))
    table = table.without(shared)
    for name in REASONS & {*table.columns}:
        table = table.with_texts(name, [_two_decimals(value) for value in table.column(name)])
    for name in _LINE:
        table = table.with_texts(name, [readable(text) for text in table.column(name)])
    table = _cut(table, [name for name in table.columns if name in _PLACE], cut_front, _EDGE)
    if width is not None:
        table = _cut_sides(_cut(table, _shown(table.columns), cut_end, _VALUES[0]), width, width)
    else:
        table = _fitted_to(table, out)
    words = chain.from_iterable(table.column(name) for name in _LINE)
    return (
        table.select([_MIRRORED.get(name, name) for name in table.columns])
        if is_right_to_left(words)
        else table
    )


def _fitted_to(table: Rows, out: Output) -> Rows:
    """Leave out columns and cut values to make room for the contexts, as the docstring of the module says."""
    line, names = out.width or _PIPE, table.columns
    # The nodes of a request, after the contexts, are left out first.
    places = [name for name in names if name in (*_PLACE, "nodes")]
    fit, cells = _values_fitted(table, line, places[:1])
    if cells < _WORDS and places and _shown(names):
        fit, cells = _values_fitted(table.without(places), line, [])
    if cells < _FEWEST and out.width:
        side = record_room(names, line)
        return _cut_sides(table, side, side)
    # On a narrow line, all columns of places but the first are left out.
    others = [name for name in places if name in fit.columns]
    if not others:
        out.left_out(places)
    while len(others) > 1 and _room(fit, line, others) < _WORDS:
        others.pop()
    return _cut_sides(fit, *_sides(fit, max(_room(fit, line, others), _FEWEST)))


def _values_fitted(table: Rows, line: int, places: Sequence[str]) -> tuple[Rows, int]:
    """Cut values of metadata to make room for the contexts; return the table, and the cells for contexts."""
    for most in _VALUES:
        fit = _cut(table, _shown(table.columns), cut_end, most)
        if (cells := _room(fit, line, places)) >= _WORDS:
            break
    return fit, cells


def _room(table: Rows, line: int, places: Sequence[str]) -> int:
    """Return the cells left for both contexts by columns of places, columns of metadata and the node."""
    # With two blanks between columns.
    taken = (_widest(table, name) + 2 for name in ("node", *_shown(table.columns), *places))
    return line - 2 - sum(taken)


def _sides(table: Rows, cells: int) -> tuple[int, int]:
    """Return the widths of both contexts in cells: half each, unless one of them needs less."""
    # The left context gets the cells that the right one does not need.
    left = min(_widest(table, "left"), max(cells // 2, cells - _widest(table, "right")))
    return left, max(cells - left, 8)


def _widest(table: Rows, name: str) -> int:
    return max(cell_len(text) for text in (name, *map(_text, table.column(name))))


def _shown(names: Sequence[str]) -> list[str]:
    """Return the columns of metadata, which are before the contexts."""
    return [name for name in names if name not in (*_PLACE, *_LINE, "nodes")]


def _cut_sides(table: Rows, left: int, right: int) -> Rows:
    return _cut(_cut(table, ["left"], cut_front, left), ["right"], cut_end, right)


def _cut(table: Rows, names: Sequence[str], cut: Callable[[str, int], str], most: int) -> Rows:
    """Cut the texts of some columns, but not numbers."""
    for name in names:
        texts = map(_text, table.column(name))
        table = table.with_texts(
            name, [text if _NUMBER.fullmatch(text) else cut(text, most) for text in texts]
        )
    return table


def _two_decimals(value: Any) -> Any:
    """Return a score with two decimals; metadata of the same name are not changed."""
    return f"{value:.2f}" if isinstance(value, float) else value


def _text(value: object) -> str:
    """Return a value as text; missing metadata are null."""
    if isinstance(value, float):
        return shown(value)
    return "" if value is None else printable(str(value))


#: Styles by level of the key, which differ not only in color.
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


def _without_spans(table: Rows) -> tuple[Rows, Rows | None]:
    """Return the lines without columns of spans, and these columns, if there are any."""
    if _SPANS["node"] not in table.columns:
        return table, None
    return table.without(_SPANS.values()), table.select([*_SPANS.values()])


def _join_spans(table: Rows, spans: Rows | None) -> Rows:
    """Return the lines with their columns of spans."""
    if spans is None:
        return table
    rows = [(*row, *more) for row, more in zip(table, spans, strict=True)]
    return Rows([*table.columns, *spans.columns], rows)


def _span_look(names: Sequence[str]) -> Look:
    """Return the look of lines with columns of spans."""
    return {"spans": _SPANS} if _SPANS["node"] in names else {}


def _spans(parts: Sequence[SortedPart]) -> _Spans:
    spans, end = _Spans(), 0
    for text, level in parts:
        begin, end = end, end + len(printable(readable(text)))
        if level:
            spans.append((begin, end, _STYLES[level]))
    return spans


def _from_end(parts: Sequence[SortedPart]) -> _Spans:
    """Return spans counted from the end, by negative numbers."""
    return [(-end, -begin, style) for begin, end, style in _spans(parts[::-1])]
