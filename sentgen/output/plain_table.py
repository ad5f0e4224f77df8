"""Tables as plain text: values as cells, and columns that are aligned."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Literal

from rich.cells import cell_len, set_cell_size

from sentgen.errors import printable
from sentgen.output.tabular import csv_value

Align = Literal["left", "right", "center"]
_SIGNIFICANT = 4


def aligned_lines(
    names: Sequence[str], cells: Sequence[Sequence[str]], sides: Sequence[Align]
) -> Iterator[str]:
    """Yield a head and the rows: two spaces between the columns, no rules, no blanks at the end."""
    # In cells of a terminal, not characters: those of Chinese are two wide, combining ones none.
    widths = [
        max(cell_len(name), max(map(cell_len, column))) for name, column in zip(names, cells, strict=True)
    ]
    for row in (tuple(names), *zip(*cells, strict=True)):
        line = "  ".join(map(_pad, row, widths, sides))
        yield line.rstrip()


def _pad(cell: str, width: int, side: Align) -> str:
    blanks = width - cell_len(cell)
    before = {"left": 0, "right": blanks, "center": blanks // 2}[side]
    return " " * before + cell + " " * (blanks - before)


def is_numeric(values: Sequence[object]) -> bool:
    """Return whether all values of a column that are known are numbers."""
    known = [value for value in values if value is not None]
    return bool(known) and all(
        isinstance(value, (int, float, Decimal)) and not isinstance(value, bool) for value in known
    )


def cells_of(values: Sequence[object]) -> list[str]:
    """Return one column as text; floats share the number of decimals that the largest needs."""
    floats = [abs(value) for value in values if isinstance(value, float) and math.isfinite(value)]
    if not floats:
        return [_cell(value) for value in values]
    largest = max(floats)
    decimals = _SIGNIFICANT - 1 - (math.floor(math.log10(largest)) if largest > 0 else 0)
    # One at least tells a float from an integer.
    decimals = min(max(decimals, 1), 6)
    return [_number(value, decimals) if isinstance(value, float) else _cell(value) for value in values]


def _number(value: float, decimals: int) -> str:
    if not math.isfinite(value):
        return ""
    # It would be shown as 0.
    if value and abs(value) < 0.5 * 10.0**-decimals:
        return f"{value:.1e}"
    return f"{value:.{decimals}f}"


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="seconds")
    shown = csv_value(value)
    if shown is None:  # no finite number
        return ""
    return printable(str(shown))


def cut_end(text: str, width: int) -> str:
    """Return the beginning of a text, at most ``width`` cells wide."""
    return text if cell_len(text) <= width else f"{set_cell_size(text, width - 1).rstrip()}…"


def cut_front(text: str, width: int) -> str:
    """Return the end of a text, at most ``width`` cells wide."""
    if cell_len(text) <= width:
        return text
    start = len(text)
    cells = width - 1
    # Backwards by cells: there is no function that keeps the end of a text.
    while start and (cells := cells - cell_len(text[start - 1])) >= 0:
        start -= 1
    # What stands above or below a letter goes with it.
    while unicodedata.combining(text[start : start + 1] or " "):
        start += 1
    return f"…{text[start:].lstrip()}"
