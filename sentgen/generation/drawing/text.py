"""A dependency tree for a terminal: a unit a line, in the order of the sentence, with its head to the left.

    ╭── the dow  NNP
  ──┤ fell  VBD
    ├─╮ to  TO
    │ ╰── 35 points  NNS
    ╰── .  .

Each unit with modifiers has a vertical line that holds them, at the column of its depth. Long sentences grow
downward, so that a tree of 60 units is as easy to follow as one of six, and a pipe does not break it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sentgen.generation.bags.bag import Unit
from sentgen.generation.bags.problem import ROOT

_UP, _DOWN, _LEFT, _RIGHT = 1, 2, 4, 8
#: The character that joins some of the four directions: index is the sum of theirs.
_BOXES = " ╵╷│╴╯╮┤╶╰╭├─┴┬┼"
_INDENT = 2


def tree_text(units: Sequence[Unit], heads: Sequence[int]) -> list[str]:
    """Return the lines of a drawing.

    Args:
        units: in the order of the sentence.
        heads: the place of the head of each unit, `ROOT` for the root; a tree or a forest of them, and it
            need not be projective.
    """
    columns = _columns(heads)
    width = _INDENT * (max(columns, default=0) + 1) + 1
    grid = [[0] * width for _ in units]
    for head, rows in _verticals(heads).items():
        column = 0 if head == ROOT else _INDENT * columns[head]
        for row in rows:
            grid[row][column] |= (_UP if row > rows.start else 0) | (_DOWN if row < rows.stop - 1 else 0)
    for row, head in enumerate(heads):
        left = 0 if head == ROOT else _INDENT * columns[head]
        grid[row][left] |= _RIGHT
        # A unit without modifiers has nothing to join: its line runs on to the word.
        right = _INDENT * columns[row]
        for column in range(left + 1, right):
            grid[row][column] |= _LEFT | _RIGHT
        grid[row][right] |= _LEFT if grid[row][right] else _LEFT | _RIGHT
    return [f"{_line(cells)} {_label(unit)}" for cells, unit in zip(grid, units, strict=True)]


def _line(cells: Sequence[int]) -> str:
    """Return the lines before a word, up to the rightmost one."""
    return "".join(_BOXES[cell] for cell in cells).rstrip()


def _label(unit: Unit) -> str:
    words = " ".join(unit.words)
    return f"{words}  {unit.head_tag}" if unit.head_tag else words


def _verticals(heads: Sequence[int]) -> dict[int, range]:
    """Return the rows that the vertical line of each head spans: its modifiers and itself."""
    spans: dict[int, range] = {}
    for row, head in enumerate(heads):
        start, stop = (row, row + 1) if head == ROOT else (min(row, head), max(row, head) + 1)
        known = spans.get(head, range(start, stop))
        spans[head] = range(min(known.start, start), max(known.stop, stop))
    return spans


def _columns(heads: Sequence[int]) -> list[int]:
    """Return the column of each unit, right of its head's.

    That is its depth; in a tree that is not projective, the first column on from there in which no other
    vertical line stands in its rows.
    """
    spans = _verticals(heads)
    taken: dict[int, list[range]] = {}
    columns = [0] * len(heads)
    for unit in _downward(heads):
        column = 1 if heads[unit] == ROOT else columns[heads[unit]] + 1
        span = spans.get(unit, range(unit, unit + 1))
        while any(span.start < other.stop and other.start < span.stop for other in taken.get(column, ())):
            column += 1
        taken.setdefault(column, []).append(span)
        columns[unit] = column
    return columns


def _downward(heads: Sequence[int]) -> Iterator[int]:
    """Yield the units, heads before their modifiers."""
    modifiers: dict[int, list[int]] = {}
    for unit, head in enumerate(heads):
        modifiers.setdefault(head, []).append(unit)
    waiting = modifiers.get(ROOT, [])
    while waiting:
        yield from waiting
        waiting = [below for unit in waiting for below in modifiers.get(unit, ())]
