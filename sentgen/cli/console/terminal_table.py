"""A table in a terminal: the columns that fit its width, whole, or each row as a record.

A number is never cut and never wrapped. Text wraps between words, into a column that is wide enough to be
read; the head of a narrow column wraps after an underscore. What does not fit then is left out, and named by
the caller. Columns stand in the order of their importance, but for those that are essential: where these do
not fit, each row is a record, a line for each column.

Widths are those of a terminal in cells, not in characters: a Chinese one has two, a combining mark none.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from rich import box
from rich.cells import cell_len, chop_cells
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sentgen.output.display import isolate
from sentgen.output.text_table import Align

#: Blanks between two columns.
_GAP = 2
#: Text is not wrapped into fewer cells than the first, and a word not broken into fewer than the second.
_NARROWEST, _READABLE = 12, 24
#: A head of so many cells is not broken.
_SHORT = 10
#: Where the head of a column may wrap.
_PIECE = re.compile(r"[^_ ]*[_ ]+|[^_ ]+")
#: Where a part of a cell begins and ends, and its style.
Span = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column of a table for reading: its name, its cells as text, and how they stand.

    Args:
        number: whether the cells are numbers, or figures that text goes with, or lines that were cut to the
            terminal, which must not wrap.
        style: style of all cells.
        spans: spans of parts of each cell, from its beginning or, below 0, from its end, with their styles.
    """

    name: str
    cells: Sequence[str]
    side: Align
    number: bool
    style: str | None = None
    spans: Sequence[Sequence[Span]] = ()

    @property
    def widest(self) -> int:
        """Cells of the longest value."""
        return max(map(cell_len, self.cells))

    @property
    def whole(self) -> int:
        """Cells of the longest value or of the name."""
        return max(self.widest, cell_len(self.name))

    @property
    def least(self) -> int:
        """The fewest cells in which the column can be read."""
        pieces = [self.name] if cell_len(self.name) <= _SHORT else _PIECE.findall(self.name)
        head = min(max(map(cell_len, pieces)), _READABLE)
        widest = self.widest
        if self.number or widest <= _NARROWEST:
            return max(widest, head)
        word = max((cell_len(word) for cell in self.cells for word in cell.split()), default=0)
        # About three lines of a text, or lines that can be read.
        return max(min(widest, max(_NARROWEST, min(max(word, widest // 3), _READABLE))), head)


def print_table(
    columns: Sequence[TableColumn],
    essential: Collection[str],
    console: Console,
    row_styles: Sequence[str] = (),
) -> list[str]:
    """Print a table that has rows as wide as the terminal allows; return the names of what is left out."""
    widths = _widths_of(columns, essential, console.width)
    if not widths:
        _print_records(columns, console)
        return []
    table = Table(
        box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold"
    )
    cells = []
    for index, width in widths.items():
        column = columns[index]
        head = Text("\n".join(_head(column.name, width)))
        # Wrapped already.
        table.add_column(head, justify=column.side, style=column.style, width=width, no_wrap=True)
        cells.append(_styled(column, _wrap(column.cells, width, console)))
    for row, style in zip_longest(zip(*cells, strict=True), row_styles):
        table.add_row(*row, style=style)
    console.print(table)
    return [column.name for index, column in enumerate(columns) if index not in widths]


def _widths_of(columns: Sequence[TableColumn], essential: Collection[str], width_left: int) -> dict[int, int]:
    """Return the places of the columns that fit to their widths, nothing if the essential ones do not."""
    if sum(column.whole + _GAP for column in columns) - _GAP <= width_left:
        return {index: column.whole for index, column in enumerate(columns)}
    needed = _needed_columns(columns, essential)
    least = [column.least for column in columns]
    width_left -= sum(least[index] + _GAP for index in needed) - _GAP
    if width_left < 0:
        return {}
    fitting = [*needed]
    for index in sorted({*range(len(columns))} - {*needed}):
        # What matters less does not take its place, though there may be room for it.
        if least[index] + _GAP > width_left:
            break
        fitting.append(index)
        width_left -= least[index] + _GAP
    return _widen(columns, {index: least[index] for index in sorted(fitting)}, width_left)


def _needed_columns(columns: Sequence[TableColumn], essential: Collection[str]) -> list[int]:
    """Return the places of what a row says nothing without: if nobody tells, all up to the first number."""
    if essential:
        return [index for index, column in enumerate(columns) if not index or column.name in essential]
    numbers = (index for index, column in enumerate(columns) if column.number)
    return list(range(next(numbers, 0) + 1))


def _widen(columns: Sequence[TableColumn], widths: dict[int, int], width_left: int) -> dict[int, int]:
    """Give the room that is left to the narrowest of the texts, cell by cell, and then to heads."""
    texts = {index for index in widths if not columns[index].number}
    while width_left and (wrapped := [index for index in texts if widths[index] < columns[index].widest]):
        widths[min(wrapped, key=widths.__getitem__)] += 1
        width_left -= 1
    for index, width in widths.items():
        more = cell_len(columns[index].name) - width
        if 0 < more <= width_left:
            widths[index] += more
            width_left -= more
    return widths


def _head(name: str, width: int) -> Iterator[str]:
    """Yield the lines of a name that wraps after underscores."""
    pieces = [part for piece in _PIECE.findall(name) for part in chop_cells(piece, width)]
    line = ""
    for piece in pieces:
        if line and cell_len(line + piece) > width:
            yield line
            line = ""
        line += piece
    yield line


def _wrap(cells: Sequence[str], width: int, console: Console) -> list[str]:
    """Wrap the cells of a column between words."""
    lines = [
        [cell]
        if cell_len(cell) <= width
        else [line.plain.rstrip() for line in Text(cell).wrap(console, width, overflow="fold")]
        for cell in cells
    ]
    # Line by line: an isolate ends with its line.
    all_lines = iter(isolate([line for parts in lines for line in parts]))
    return ["\n".join(next(all_lines) for _ in parts) for parts in lines]


def _styled(column: TableColumn, cells: Sequence[str]) -> list[Text]:
    """Return the cells of a column with the styles of their parts; a cell that was wrapped has none."""
    texts = [*map(Text, cells)]
    for text, cell, spans in zip(texts, column.cells, column.spans, strict=False):
        # Isolates are around it, or none.
        around = text.plain.find(cell)
        for begin, end, style in spans if around >= 0 else ():
            shift = around if begin >= 0 else around + len(cell)
            text.stylize(style, max(begin + shift, around), min(end + shift, around + len(cell)))
    return texts


def record_room(names: Sequence[str], width: int) -> int:
    """Return the cells of a line that a value has in a record."""
    # Where that is too narrow, the terminal breaks lines.
    return max(width - max(map(cell_len, names)) - 1 - _GAP, _NARROWEST)


def _print_records(columns: Sequence[TableColumn], console: Console) -> None:
    """Print each row as a record: a line for each column, and a blank one between records."""
    names = max(cell_len(column.name) for column in columns) + 1 + _GAP
    width_left = record_room([column.name for column in columns], console.width)
    rows = zip(
        *(_styled(column, _wrap(column.cells, width_left, console)) for column in columns), strict=True
    )
    for number, row in enumerate(rows):
        lines = [Text()] if number else []
        for column, cell in zip(columns, row, strict=True):
            name = f"{column.name}:"
            for line in cell.split("\n", allow_blank=True):
                blanks = " " * (names - cell_len(name))
                line.stylize_before(column.style or "")
                lines.append(Text.assemble((name, "bold"), blanks, line))
                name = ""
        console.print(Text("\n").join(lines), soft_wrap=True)
