"""Answers in a notebook: tables, concordances and counts as the pages of the server draw them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from markupsafe import Markup, escape

from sentgen.output.display import is_number, is_right_to_left, readable, shorten, shown

# Colors of the notebook, light or dark, are inherited; those that are fixed can be read on both. The class
# stands three times to outweigh the rules that notebooks have for tables, which put text to the right.
_STYLE = """\
<style>
.sentgen { overflow-x: auto }
.sentgen.sentgen.sentgen table { border-collapse: collapse; font-size: 0.9em; margin: 0 }
.sentgen.sentgen.sentgen tr { background: none }
.sentgen.sentgen.sentgen th, .sentgen.sentgen.sentgen td {
  padding: 0.2em 0.7em; text-align: left; vertical-align: top; border: 0
}
.sentgen.sentgen.sentgen thead th { border-bottom: 1px solid currentColor; font-weight: 600 }
.sentgen.sentgen.sentgen .number { text-align: right; font-variant-numeric: tabular-nums }
.sentgen.sentgen.sentgen .left { text-align: right }
.sentgen.sentgen.sentgen .node { text-align: center; font-weight: 600 }
.sentgen thead th, .sentgen .number, .sentgen .where { white-space: nowrap }
.sentgen .text { display: inline-block; width: max-content; max-width: 56em }
.sentgen .where, .sentgen .note { opacity: 0.7 }
.sentgen.sentgen.sentgen .note { margin: 0.3em 0 }
.sentgen .level-1 { color: #d93a2b; text-decoration: underline }
.sentgen .level-2 { color: #1d8639; text-decoration: underline double }
.sentgen .level-3 { color: #a24fd6; text-decoration: underline dotted }
.sentgen rect.bar { fill: #4477aa }
</style>
"""
_BAR = 160


class SortedLine(NamedTuple):
    """A line in parts, each with the level of the key that it is sorted by, or 0; and that of its node."""

    left: Sequence[tuple[str, int]]
    right: Sequence[tuple[str, int]]
    node: int


def frame(body: str, size: str, notes: Sequence[str] = ()) -> str:
    """Return what a cell of a notebook shows: a body, how many rows there are, and what is said of them."""
    note_lines = "".join(f'<p class="note">{escape(shorten(note))}</p>' for note in notes)
    return f'{_STYLE}<div class="sentgen">{body}<p class="note">{escape(size)}</p>{note_lines}</div>'


def table(
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    trees: Sequence[str] = (),
    sorted_lines: Sequence[SortedLine] = (),
) -> str:
    """Return a table; a column ``count`` has bars beside it if it is the measure of its rows.

    The lines of a concordance may have trees, the first of them, which unfold.
    """
    if not rows:
        return ""
    if {"left", "node", "right"} <= set(columns):
        return _concordance([dict(zip(columns, row, strict=True)) for row in rows], trees, sorted_lines)
    return f"<table>{_head(columns, rows[0])}<tbody>{''.join(_rows(columns, rows))}</tbody></table>"


def _head(columns: Sequence[str], first: Sequence[object]) -> str:
    cells = []
    for name, value in zip(columns, first, strict=True):
        cells.append(f'<th scope="col"{_number(value)}>{escape(shorten(name, 60))}</th>')
        if name == "count":
            cells.append("<th></th>")
    return f"<thead><tr>{''.join(cells)}</tr></thead>"


def _rows(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> Iterator[str]:
    counts = [row[columns.index("count")] for row in rows] if "count" in columns else []
    most = max([1.0, *(float(count) for count in counts if isinstance(count, (int, float)))])
    for row in rows:
        cells = []
        for name, value in zip(columns, row, strict=True):
            cells.append(f'<td{_number(value)}><bdi class="text">{escape(shown(value))}</bdi></td>')
            if name == "count":
                cells.append(f"<td>{_bar(value, most)}</td>")
        yield f"<tr>{''.join(cells)}</tr>"


def _number(value: object) -> str:
    return ' class="number"' if is_number(value) else ""


def _bar(value: object, most: float) -> str:
    width = max(_BAR * float(value) / most, 1.0) if isinstance(value, (int, float)) else 0.0
    drawn = f'<rect class="bar" width="{width:.1f}" height="10"></rect>'
    return f'<svg width="{_BAR}" height="10" aria-hidden="true">{drawn}</svg>'


def _concordance(
    rows: Sequence[Mapping[str, object]], trees: Sequence[str], sorted_lines: Sequence[SortedLine]
) -> str:
    sides = ([str(row[name]) for row in rows] for name in ("left", "node"))
    turned = ' dir="rtl"' if any(map(is_right_to_left, sides)) else ""
    lines = (_line(*each) for each in zip_longest(rows, trees, sorted_lines))
    heads = "".join(f'<th scope="col"{kind}>{name}</th>' for name, kind in _HEADS)
    return f"<table{turned}><thead><tr>{heads}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


_HEADS = (
    ("sentence", ""),
    ("before", ' class="left"'),
    ("node", ' class="node"'),
    ("after", ""),
)


def _line(row: Mapping[str, object], tree: str | None, in_parts: SortedLine | None) -> str:
    left, node, right = (
        escape(shorten(readable(str(row[name] or "")), 400)) for name in ("left", "node", "right")
    )
    if in_parts:
        left, right = _parts(in_parts.left), _parts(in_parts.right)
        node = _leveled(node, in_parts.node)
    where = f'<td class="where"><bdi>{escape(shown(row.get("sent_id", "")))}</bdi></td>'
    drawn = (
        f'<tr><td colspan="4" dir="ltr"><details><summary>tree</summary>{svg_block(tree)}</details></td></tr>'
        if tree
        else ""
    )
    return (
        f'<tr>{where}<td class="left"><bdi>{left}</bdi></td><td class="node"><bdi>{node}</bdi></td>'
        f"<td><bdi>{right}</bdi></td></tr>{drawn}"
    )


def _parts(parts: Sequence[tuple[str, int]]) -> Markup:
    return Markup("").join(_leveled(escape(shorten(readable(text), 400)), level) for text, level in parts)


def _leveled(text: Markup, level: int) -> Markup:
    return Markup('<span class="level-{}">{}</span>').format(level, text) if level else text


def svg_block(svg: str) -> str:
    """Return a drawing as part of a page."""
    return f'<div style="overflow-x: auto">{svg}</div>'
