"""Windows: how many tokens before and after a hit something may stand, for collocates and filters."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sentgen.errors import InputError

#: `L2-R4`, of which one may be missing, or `2,4`, or `3` for both; `2L` and `4R` are the places of one side.
_SIDES = re.compile(r"L(\d+)(?:-R(\d+))?|R(\d+)", re.IGNORECASE | re.ASCII)
_SIDE = re.compile(r"(\d+)([LR])", re.IGNORECASE | re.ASCII)
_NUMBERS = re.compile(r"(\d+)\s*(?:,\s*(\d+))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Window:
    """Tokens before and after a hit."""

    left: int
    right: int


def read_window(text: str) -> Window:
    """Read ``L2-R4``, or ``2,4`` for the same; ``L2`` or ``2L``, ``R4`` or ``4R``, ``5`` for both sides.

    Raises:
        InputError: it is none of these, or empty.
    """
    asked = text.strip()
    if side := _SIDE.fullmatch(asked):
        asked = side[2] + side[1]
    if sides := _SIDES.fullmatch(asked):
        window = Window(int(sides[1] or 0), int(sides[2] or sides[3] or 0))
    elif numbers := _NUMBERS.fullmatch(asked):
        window = Window(int(numbers[1]), int(numbers[2] or numbers[1]))
    else:
        raise InputError(
            f"{text!r} is no window; write 5, or L5-R2 (or 5,2) for five words before and two after"
        )
    if not (window.left or window.right):
        raise InputError("a window of no words holds nothing; write 5, or L5-R2")
    return window
