"""What has to stand near a hit, or must not: windows, and filters, one after the other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from sentgen.errors import InputError, spell
from sentgen.options import NOT, Option
from sentgen.output.wording import quantity

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
    given = text.strip()
    if side := _SIDE.fullmatch(given):
        given = side[2] + side[1]
    if sides := _SIDES.fullmatch(given):
        window = Window(int(sides[1] or 0), int(sides[2] or sides[3] or 0))
    elif numbers := _NUMBERS.fullmatch(given):
        window = Window(int(numbers[1]), int(numbers[2] or numbers[1]))
    else:
        raise InputError(
            f"{text!r} is no window; write 5, or L5-R2 (or 5,2) for five words before and two after"
        )
    if not (window.left or window.right):
        raise InputError("a window of no words holds nothing; write 5, or L5-R2")
    return window


#: Tokens on each side, where nothing else is asked for.
_USUAL = "5"
#: Tokens on a side, and filters, at most.
_MOST, _MOST_FILTERS = 100, 20

FilterOption = Annotated[
    list[str],
    Option(
        "Only hits near which this matches, a pattern or CQL; several, one after the other.",
        shell="Only hits near which this matches, a pattern or CQL; may be repeated.",
        metavar="QUERY",
        api={"max_length": _MOST_FILTERS},
    ),
]
WithinOption = Annotated[
    list[str],
    Option(
        "How near, of each filter or of all: `5` tokens on each side (if none is given), `3L`, `2R`, `L3-R2`;"
        " `not 3L` drops the hits instead.",
        shell="How near, of each filter or of all: `5` tokens on each side (the default), `3L`, `2R`,"
        " `L3-R2`; --without drops the hits instead. May be repeated.",
        metavar="WINDOW",
        off="--without",
        api={"max_length": _MOST_FILTERS},
    ),
]


@dataclass(frozen=True, slots=True)
class HitFilter:
    """A filter.

    Args:
        query: what matches near a hit.
        window: how near, as it was written.
        size: the tokens before a hit, and those behind it, of which the match lies in either, all of it.
        keeps: whether hits are kept that have it; else the others are.
    """

    query: str
    window: str
    size: Window
    keeps: bool

    def __str__(self) -> str:
        return f"{self.query} {'within' if self.keeps else 'without'} {self.window}"


def read_filters(queries: Sequence[str], windows: Sequence[str]) -> tuple[HitFilter, ...]:
    """Read filters, each with its window: one for all of them, or as many.

    Raises:
        InputError: there are too many filters, or another number of windows; one is no window; a filter is
            empty.
    """
    if not queries and windows:
        raise InputError(
            f"{spell('within')} says how near a filter matches; give {spell('filter')} QUERY, too"
        )
    if len(queries) > _MOST_FILTERS:
        raise InputError(f"hits go through {_MOST_FILTERS} filters at most; there are {len(queries)}")
    if len(windows) not in (0, 1, len(queries)):
        raise InputError(
            f"{quantity(len(queries), 'filter')} and {len(windows)} windows;"
            f" give {spell('within')} once for all, or once for each"
        )
    if not all(one.strip() for one in queries):
        raise InputError("a filter is empty; write a pattern, or a query in CQL")
    every = windows if len(windows) == len(queries) else [*(windows or [_USUAL])] * len(queries)
    return tuple(_filter(query, window) for query, window in zip(queries, every, strict=True))


def _filter(query: str, given: str) -> HitFilter:
    text = given.strip()
    window = text.removeprefix(NOT).strip()
    size = read_window(window)
    if max(size.left, size.right) > _MOST:
        raise InputError(f"a filter looks {_MOST} tokens far at most; {given!r} is more")
    return HitFilter(query, window, size, keeps=window == text)
