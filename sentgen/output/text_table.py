"""Tables as text: values as cells, aligned columns, and LaTeX for the package booktabs."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
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
    """Yield the lines of the header and the rows, with two spaces between columns, and no trailing blanks."""
    # Widths in cells of a terminal: Chinese characters take two, combining ones none.
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
    """Return whether all values of a column but ``None`` are numbers, and there are any."""
    known = [value for value in values if value is not None]
    return bool(known) and all(
        isinstance(value, (int, float, Decimal)) and not isinstance(value, bool) for value in known
    )


def cells_of(values: Sequence[object]) -> list[str]:
    """Return the values of a column as texts; all floats have the number of decimals of the largest."""
    floats = [abs(value) for value in values if isinstance(value, float) and math.isfinite(value)]
    if not floats:
        return [_cell(value) for value in values]
    largest = max(floats)
    decimals = _SIGNIFICANT - 1 - (math.floor(math.log10(largest)) if largest > 0 else 0)
    # One decimal at least, to show that it is no integer.
    decimals = min(max(decimals, 1), 6)
    return [_number(value, decimals) if isinstance(value, float) else _cell(value) for value in values]


def _number(value: float, decimals: int) -> str:
    if not math.isfinite(value):
        return ""
    # A number that would be rounded to 0.
    if value and abs(value) < 0.5 * 10.0**-decimals:
        return f"{value:.1e}"
    return f"{value:.{decimals}f}"


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="seconds")
    shown = csv_value(value)
    if shown is None:  # infinite or NaN
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
    # Backwards by cells, as the library can only keep the beginning of a text.
    while start and (cells := cells - cell_len(text[start - 1])) >= 0:
        start -= 1
    # Combining characters are dropped with their letter.
    while unicodedata.combining(text[start : start + 1] or " "):
        start += 1
    return f"…{text[start:].lstrip()}"


#: Characters that LaTeX would read as commands, and those that need a command.
_ESCAPES = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        **{character: f"\\{character}" for character in "{}$&#_%"},
        "^": r"\textasciicircum{}",
        "~": r"\textasciitilde{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "−": "$-$",
        "–": "--",
    }
)


def tabular(
    names: Sequence[str],
    rows: Sequence[Sequence[str]],
    sides: Sequence[Align],
    bold: AbstractSet[tuple[int, int]] = frozenset(),
) -> str:
    r"""Return a table in LaTeX; the second line of a cell is in small print; texts are escaped.

    Args:
        names: names of the columns.
        rows: cells of the rows.
        sides: the side to which each column is aligned.
        bold: cells whose first line is bold, as (row, column).

    >>> print(tabular(["a_b", "n"], [["x", "1\n(0 – 2)"]], ["left", "right"], {(0, 1)}))
    \begin{tabular}{lr}
    \toprule
    a\_b & n \\
    \midrule
    x & \textbf{1} {\scriptsize (0 -- 2)} \\
    \bottomrule
    \end{tabular}
    """
    lines = [
        rf"\begin{{tabular}}{{{''.join(side[0] for side in sides)}}}",
        r"\toprule",
        _line([_escape(name) for name in names]),
        r"\midrule",
        *(
            _line([_latex_cell(cell, (index, column) in bold) for column, cell in enumerate(row)])
            for index, row in enumerate(rows)
        ),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines)


def _escape(text: str) -> str:
    """Return a text with escapes, so that LaTeX reads no commands in it."""
    return printable(" ".join(text.split())).translate(_ESCAPES)


def _line(cells: Sequence[str]) -> str:
    return rf"{' & '.join(cells)} \\"


def _latex_cell(text: str, bold: bool) -> str:
    value, _, detail = text.partition("\n")
    shown = _escape(value)
    shown = rf"\textbf{{{shown}}}" if bold and shown else shown
    return rf"{shown} {{\scriptsize {_escape(detail)}}}" if detail else shown
