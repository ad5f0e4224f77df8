"""What has to stand near a hit, or must not: filters, one after the other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from sentgen.errors import InputError
from sentgen.options import NOT, Option
from sentgen.output.wording import quantity

#: Tokens on each side, where nothing else is asked for.
_USUAL = "5"
#: Tokens on a side, and filters, at most.
_MOST, _MOST_FILTERS = 100, 20
_WINDOW = re.compile(
    r"(?P<both>\d{1,4})|(?P<left>\d{1,4})[lL]|(?P<right>\d{1,4})[rR]"
    r"|(?P<l>\d{1,4})\s*,\s*(?P<r>\d{1,4})|[lL](?P<from>\d{1,4})\s*-\s*[rR](?P<to>\d{1,4})"
)

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
        "How near, of each filter or of all: `5` tokens on each side (if none is given), `3L`, `2R`, `3,2`;"
        " `not 3L` drops the hits instead.",
        shell="How near, of each filter or of all: `5` tokens on each side (the default), `3L`, `2R`, `3,2`;"
        " --without drops the hits instead. May be repeated.",
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
        left: tokens before a hit that the match lies in, all of it; and ``right``: tokens behind it.
        keeps: whether hits are kept that have it; else the others are.
    """

    query: str
    window: str
    left: int
    right: int
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
        raise InputError("--within says how near a filter matches; give --filter QUERY, too")
    if len(queries) > _MOST_FILTERS:
        raise InputError(f"hits go through {_MOST_FILTERS} filters at most; there are {len(queries)}")
    if len(windows) not in (0, 1, len(queries)):
        raise InputError(
            f"{quantity(len(queries), 'filter')} and {len(windows)} windows;"
            " give --within once for all, or once for each"
        )
    if not all(one.strip() for one in queries):
        raise InputError("a filter is empty; write a pattern, or a query in CQL")
    every = windows if len(windows) == len(queries) else [*(windows or [_USUAL])] * len(queries)
    return tuple(_filter(query, window) for query, window in zip(queries, every, strict=True))


def _filter(query: str, given: str) -> HitFilter:
    text = given.strip()
    window = text.removeprefix(NOT).strip()
    found = _WINDOW.fullmatch(window)
    if not found:
        raise InputError(f"{given!r} is no window; write 5, 3L, 2R, or 3,2 for three before and two after")
    left = int(found["both"] or found["left"] or found["l"] or found["from"] or 0)
    right = int(found["both"] or found["right"] or found["r"] or found["to"] or 0)
    if not left + right:
        raise InputError(f"a window of no tokens, {given!r}, holds nothing; write 5, 3L or 2R")
    if max(left, right) > _MOST:
        raise InputError(f"a filter looks {_MOST} tokens far at most; {given!r} is more")
    return HitFilter(query, window, left, right, keeps=window == text)
