"""Tables in a terminal: the first rows, in lines that are not broken."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from itertools import takewhile

from rich.cells import cell_len

from sentgen.output.plain_table import Align, aligned_lines, cells_of, cut_end, cut_front, is_numeric

#: Cells that a column of texts may have, tried in turn; then columns are left out.
_WIDTHS = (60, 40, 30, 20)
#: Of a concordance, what stands beside the words; the rest of its columns says where they are.
_CONCORDANCE = ("left", "node", "right")
_MORE = "  ..."


def lines(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """Return a head and the rows; texts are cut, and what does not fit then is left out at the end."""
    room = shutil.get_terminal_size().columns
    if set(_CONCORDANCE) <= set(columns):
        return _concordance(columns, rows, room)
    values = [list(column) for column in zip(*rows, strict=True)]
    cells = [cells_of(column) for column in values]
    sides: list[Align] = ["right" if is_numeric(column) else "left" for column in values]
    for width in _WIDTHS:
        short = [[cut_end(cell, width) for cell in column] for column in cells]
        found = list(aligned_lines(columns, short, sides))
        if _width(found) <= room:
            return found

    def fits(number: int) -> bool:
        found = aligned_lines(columns[:number], short[:number], sides[:number])
        return _width(found) + len(_MORE) <= room

    number = max(takewhile(fits, range(2, len(columns))), default=1)
    head, *rest = aligned_lines(columns[:number], short[:number], sides[:number])
    return [f"{head}{_MORE}", *rest]


def _concordance(columns: Sequence[str], rows: Sequence[Sequence[object]], room: int) -> list[str]:
    """Return the lines of a concordance: the words next to the node are those that are kept."""
    cells = [
        [str(row[columns.index(name)] or "") for row in rows]
        for name in (*(["sent_id"] if "sent_id" in columns else []), *_CONCORDANCE)
    ]
    *names, left, node, right = cells
    names = [[cut_front(cell, 16) for cell in column] for column in names]
    node = [cut_end(cell, room // 3) for cell in node]
    taken = sum(max(map(cell_len, column), default=0) + 2 for column in (*names, node))
    beside = max((room - taken - 2) // 2, 8)
    left = [cut_front(cell, beside) for cell in left]
    right = [cut_end(cell, beside) for cell in right]
    sides: list[Align] = [*(["left"] * len(names)), "right", "center", "left"]  # type: ignore[list-item]
    heads = [*("sent_id" for _ in names), *_CONCORDANCE]
    return list(aligned_lines(heads, [*names, left, node, right], sides))


def _width(found: Iterable[str]) -> int:
    return max(map(cell_len, found))
