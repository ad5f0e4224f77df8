"""Tables of answers, as data frames, as Arrow, row by row, as text, and as HTML in notebooks."""

from __future__ import annotations

import re
import shutil
from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import takewhile, zip_longest
from keyword import iskeyword
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self, overload

from markupsafe import Markup, escape
from rich.cells import cell_len

from sentgen.errors import InputError
from sentgen.extras import needs
from sentgen.output.display import NATURAL, is_number, is_right_to_left, readable, shorten, shown
from sentgen.output.plots import check_plot, need_plots, write_plot
from sentgen.output.tabular import Rows, distinct
from sentgen.output.text_table import Align, aligned_lines, cells_of, cut_end, cut_front, is_numeric
from sentgen.output.wording import quantity

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow
    from matplotlib.figure import Figure

    from sentgen.lookups.base.statement import Answer


#: Clause of messages about a missing package for data frames.
_WITHOUT = "or take .arrow() or .rows(), which need none"
#: Most rows that are shown; the table has all.
SHOWN = 10


class Row:
    """A row of a table: values by place, or by the names of their columns; a named tuple."""

    if TYPE_CHECKING:
        _fields: tuple[str, ...]

        def __getattr__(self, name: str) -> Any: ...
        def __getitem__(self, index: int) -> Any: ...
        def __iter__(self) -> Iterator[Any]: ...
        def __len__(self) -> int: ...
        def _asdict(self) -> dict[str, Any]: ...


class Table:
    """Rows of an answer, in named columns.

    Attributes:
        notes: what is to be said of them, such as why there are none.
        truncated: whether there are more.
        total: how many there are in all, where that was counted.
    """

    def __init__(
        self,
        rows: Rows,
        *,
        sql: str = "",
        notes: Sequence[str] = (),
        truncated: bool = False,
        total: int | None = None,
        draw: Callable[[], Figure] | None = None,
    ) -> None:
        self._found, self._sql, self._draw = rows, sql, draw
        self.notes, self.truncated, self.total = list(notes), truncated, total

    @classmethod
    def _of(cls, answer: Answer, draw: Callable[[], Figure] | None = None) -> Self:
        return cls(
            answer.rows,
            sql=answer.query.with_values(),
            notes=answer.notes,
            truncated=answer.truncated,
            total=answer.total,
            draw=draw,
        )

    @property
    def columns(self) -> list[str]:
        """The names of the columns; of the same names, the later ones have a number."""
        return distinct(self._found.columns)

    @property
    def sql(self) -> str:
        """The statement that gives these rows, ready for `Database.sql`; empty if no statement does."""
        return self._sql

    def __len__(self) -> int:
        return self._found.num_rows

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    @overload
    def __getitem__(self, key: int) -> Row: ...
    @overload
    def __getitem__(self, key: slice) -> list[Row]: ...
    @overload
    def __getitem__(self, key: str) -> list[Any]: ...

    def __getitem__(self, key: int | slice | str) -> Row | list[Row] | list[Any]:
        """Return a row, several, or the values of a column."""
        if not isinstance(key, str):
            return self._rows[key]
        if key not in self.columns:
            raise InputError(f"there is no column {key!r}; there are: {', '.join(self.columns)}")
        return self._found.renamed(self.columns).column(key)

    @cached_property
    def _rows(self) -> list[Row]:
        # A column without a valid name, such as "1", is named by its index: `_0`.
        named = namedtuple("Row", _names(self.columns), rename=True)  # type: ignore[misc]
        kind = type("Row", (Row, named), {"__slots__": ()})
        return [kind._make(row) for row in self._found]  # type: ignore[attr-defined]

    def arrow(self) -> pyarrow.Table:
        """Return the rows as a table of Arrow."""
        return self._found.renamed(self.columns).arrow()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Hand the rows to whatever speaks Arrow: DuckDB, Polars, pandas 3 and others."""
        return self.arrow().__arrow_c_stream__(requested_schema)

    def rows(self) -> list[Row]:
        """Return the rows, as a list."""
        return list(self._rows)

    def df(self) -> pandas.DataFrame:
        """Return the rows as a data frame of pandas.

        Raises:
            InputError: pandas is not installed.
        """
        with needs("pandas", "pandas", _WITHOUT):
            import pandas  # noqa: F401
        return self.arrow().to_pandas()

    def pl(self) -> polars.DataFrame:
        """Return the rows as a data frame of Polars.

        Raises:
            InputError: Polars is not installed.
        """
        with needs("polars", "Polars", _WITHOUT):
            import polars
        frame = polars.from_arrow(self.arrow())
        assert isinstance(frame, polars.DataFrame)
        return frame

    def plot(self, path: str | Path | None = None) -> Figure:
        """Draw the rows, as ``--plot`` of the command does; of lines, all hits in their documents.

        Args:
            path: a file to write, .svg, .png or .pdf; without one, what is returned can be shown or changed.

        Raises:
            InputError: no picture has such rows, there are more than fit, or matplotlib is not installed.
        """
        target = None if path is None else Path(path)
        check_plot(target)
        need_plots()
        if self._draw is None:
            raise InputError("these rows have no picture; there is one of lines, counts and scores")
        if not len(self):
            raise InputError("there are no rows to draw; see the notes of the table")
        figure = self._draw()
        if target is not None:
            write_plot(figure, target)
        return figure

    def _shown(self) -> tuple[list[str], list[Sequence[object]]]:
        """Return the columns for reading and the first rows; other tools want natural logarithms, too."""
        shown_positions = [position for position, name in enumerate(self.columns) if name not in NATURAL]
        first = self._found.slice(0, SHOWN)
        return [self.columns[position] for position in shown_positions], [
            [row[position] for position in shown_positions] for row in first
        ]

    def _size(self) -> str:
        more = f" of {self.total:,}" if self.truncated and self.total else ""
        left = "; there are more (limit=0 for all)" if self.truncated and not self.total else ""
        return f"{quantity(len(self), 'row')}{more}{left}"

    def __repr__(self) -> str:
        columns, rows = self._shown()
        lines = _terminal_lines(columns, rows) if rows else []
        more = ["..."] if len(self) > len(rows) else []
        return "\n".join([*lines, *more, f"[{self._size()}]", *self.notes])

    def _repr_html_(self) -> str:
        columns, rows = self._shown()
        return html_frame(
            html_table(columns, rows, self._drawings(), self._sorted()), self._size(), self.notes
        )

    def _drawings(self) -> list[str]:
        """Return the trees of the rows that are shown, as SVG; none of most tables."""
        return []

    def _sorted(self) -> list[SortedLine]:
        """Return the lines that are shown in parts, by what they are sorted by; none of most tables."""
        return []


def _names(columns: Sequence[str]) -> list[str]:
    """Return names of Python for columns.

    >>> _names(["V.lemma", "S#V", "V -[obj]-> O", "class"])
    ['V_lemma', 'S_V', 'V_obj_O', 'class_']
    """
    plain = [re.sub(r"\W+", "_", column).strip("_") for column in columns]
    return distinct([f"{name}_" if iskeyword(name) else name for name in plain])


#: Largest widths of columns of texts in cells, tried in turn before columns are left out.
_WIDTHS = (60, 40, 30, 20)
#: Columns of the text of a concordance; its other columns are those of places.
_CONCORDANCE = ("left", "node", "right")
_MORE = "  ..."


def _terminal_lines(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """Return the lines of the header and the rows; texts are cut, and the last columns left out, to fit."""
    terminal_width = shutil.get_terminal_size().columns
    if set(_CONCORDANCE) <= set(columns):
        return _concordance(columns, rows, terminal_width)
    values = [list(column) for column in zip(*rows, strict=True)]
    cells = [cells_of(column) for column in values]
    sides: list[Align] = ["right" if is_numeric(column) else "left" for column in values]
    for width in _WIDTHS:
        short = [[cut_end(cell, width) for cell in column] for column in cells]
        lines = list(aligned_lines(columns, short, sides))
        if _width(lines) <= terminal_width:
            return lines

    def fits(count: int) -> bool:
        lines = aligned_lines(columns[:count], short[:count], sides[:count])
        return _width(lines) + len(_MORE) <= terminal_width

    count = max(takewhile(fits, range(2, len(columns))), default=1)
    head, *rest = aligned_lines(columns[:count], short[:count], sides[:count])
    return [f"{head}{_MORE}", *rest]


def _concordance(columns: Sequence[str], rows: Sequence[Sequence[object]], width: int) -> list[str]:
    """Return the lines of a concordance, whose contexts are cut at the ends farthest from the node."""
    cells = [
        [str(row[columns.index(name)] or "") for row in rows]
        for name in (*(["sent_id"] if "sent_id" in columns else []), *_CONCORDANCE)
    ]
    *names, left, node, right = cells
    names = [[cut_front(cell, 16) for cell in column] for column in names]
    node = [cut_end(cell, width // 3) for cell in node]
    taken = sum(max(map(cell_len, column), default=0) + 2 for column in (*names, node))
    beside = max((width - taken - 2) // 2, 8)
    left = [cut_front(cell, beside) for cell in left]
    right = [cut_end(cell, beside) for cell in right]
    sides: list[Align] = [*(["left"] * len(names)), "right", "center", "left"]  # type: ignore[list-item]
    heads = [*("sent_id" for _ in names), *_CONCORDANCE]
    return list(aligned_lines(heads, [*names, left, node, right], sides))


def _width(lines: Iterable[str]) -> int:
    return max(map(cell_len, lines))


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


def html_frame(body: str, size: str, notes: Sequence[str] = ()) -> str:
    """Return what a cell of a notebook shows: a body, how many rows there are, and what is said of them."""
    note_lines = "".join(f'<p class="note">{escape(shorten(note))}</p>' for note in notes)
    return f'{_STYLE}<div class="sentgen">{body}<p class="note">{escape(size)}</p>{note_lines}</div>'


def html_table(
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
        return _html_concordance([dict(zip(columns, row, strict=True)) for row in rows], trees, sorted_lines)
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


def _html_concordance(
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
