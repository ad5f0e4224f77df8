"""A table in a terminal: the columns that fit its width, or each row as a record.

Numbers are never cut and never wrapped. Text is wrapped between words, into a column that is wide enough to
be read; the header of a narrow column is wrapped after underscores. Columns that do not fit then are left
out, and the caller prints their names. Columns are in the order of their importance, except essential ones:
if these do not fit, each row is a record, with a line for each column.

Widths are in cells of the terminal, not in characters: a Chinese character has two, a combining mark none.
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
#: Least cells of a column of wrapped text, and least cells into which a word is broken.
_NARROWEST, _READABLE = 12, 24
#: A header of at most so many cells is not wrapped.
_SHORT = 10
#: Parts of a header between which it may be wrapped.
_PIECE = re.compile(r"[^_ ]*[_ ]+|[^_ ]+")
#: Begin and end of a part of a cell, and its style.
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
        """The width of the longest value in cells."""
        return max(map(cell_len, self.cells))

    @property
    def whole(self) -> int:
        """The width of the longest value or of the name in cells."""
        return max(self.widest, cell_len(self.name))

    @property
    def least(self) -> int:
        """The least width in cells at which the column is readable."""
        pieces = [self.name] if cell_len(self.name) <= _SHORT else _PIECE.findall(self.name)
        head = min(max(map(cell_len, pieces)), _READABLE)
        widest = self.widest
        if self.number or widest <= _NARROWEST:
            return max(widest, head)
        word = max((cell_len(word) for cell in self.cells for word in cell.split()), default=0)
        # A width for about three lines of a text, or a readable one.
        return max(min(widest, max(_NARROWEST, min(max(word, widest // 3), _READABLE))), head)


def print_table(
    columns: Sequence[TableColumn],
    essential: Collection[str],
    console: Console,
    row_styles: Sequence[str] = (),
) -> list[str]:
    """Print a table with rows, as wide as the terminal allows; return the names of the omitted columns."""
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
    """Return the widths of the columns that fit, by index; empty if the essential ones do not fit."""
    if sum(column.whole + _GAP for column in columns) - _GAP <= width_left:
        return {index: column.whole for index, column in enumerate(columns)}
    needed = _needed_columns(columns, essential)
    least = [column.least for column in columns]
    width_left -= sum(least[index] + _GAP for index in needed) - _GAP
    if width_left < 0:
        return {}
    fitting = [*needed]
    for index in sorted({*range(len(columns))} - {*needed}):
        # Less important columns do not replace one that does not fit, even if they would.
        if least[index] + _GAP > width_left:
            break
        fitting.append(index)
        width_left -= least[index] + _GAP
    return _widen(columns, {index: least[index] for index in sorted(fitting)}, width_left)


def _needed_columns(columns: Sequence[TableColumn], essential: Collection[str]) -> list[int]:
    """Return the indices of the essential columns: by default, all up to the first with numbers."""
    if essential:
        return [index for index, column in enumerate(columns) if not index or column.name in essential]
    numbers = (index for index, column in enumerate(columns) if column.number)
    return list(range(next(numbers, 0) + 1))


def _widen(columns: Sequence[TableColumn], widths: dict[int, int], width_left: int) -> dict[int, int]:
    """Distribute the remaining cells, one by one to the narrowest text, and then to headers."""
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
    """Yield the lines of a name that is wrapped after underscores."""
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
    # Line by line, as an isolate ends with its line.
    all_lines = iter(isolate([line for parts in lines for line in parts]))
    return ["\n".join(next(all_lines) for _ in parts) for parts in lines]


def _styled(column: TableColumn, cells: Sequence[str]) -> list[Text]:
    """Return the cells of a column with the styles of their parts; a wrapped cell has no styles of parts."""
    texts = [*map(Text, cells)]
    for text, cell, spans in zip(texts, column.cells, column.spans, strict=False):
        # The cell may be inside isolates.
        around = text.plain.find(cell)
        for begin, end, style in spans if around >= 0 else ():
            shift = around if begin >= 0 else around + len(cell)
            text.stylize(style, max(begin + shift, around), min(end + shift, around + len(cell)))
    return texts


def record_room(names: Sequence[str], width: int) -> int:
    """Return the cells for a value in a line of a record."""
    # On a narrower terminal, the terminal breaks the lines.
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
