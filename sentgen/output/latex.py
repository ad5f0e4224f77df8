"""Tables in LaTeX, as the package booktabs rules them: text in cells, the best ones in bold."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from sentgen.errors import printable
from sentgen.output.plain_table import Align

#: What LaTeX would read as a command, and characters that it has under other names.
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
    r"""Return a table; a second line in a cell is a detail, in small print; nothing in a cell is a command.

    Args:
        names: of the columns.
        rows: their cells.
        sides: to which each column is aligned.
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
            _line([_cell(cell, (index, column) in bold) for column, cell in enumerate(row)])
            for index, row in enumerate(rows)
        ),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines)


def _escape(text: str) -> str:
    """Return text of which LaTeX reads nothing as a command."""
    return printable(" ".join(text.split())).translate(_ESCAPES)


def _line(cells: Sequence[str]) -> str:
    return rf"{' & '.join(cells)} \\"


def _cell(text: str, bold: bool) -> str:
    value, _, detail = text.partition("\n")
    shown = _escape(value)
    shown = rf"\textbf{{{shown}}}" if bold and shown else shown
    return rf"{shown} {{\scriptsize {_escape(detail)}}}" if detail else shown
