"""Lengths of sentences on the command line."""

from __future__ import annotations

import re

import typer


def parse_lengths(text: str) -> list[int]:
    """Read lengths such as ``1-40`` or ``5,10-12``; sorted, each once.

    Raises:
        typer.BadParameter: a part is no length.

    >>> parse_lengths("5,1-3,2")
    [1, 2, 3, 5]
    """
    lengths: set[int] = set()
    for part in text.split(","):
        found = re.fullmatch(r"\s*(\d{1,4})\s*(?:-\s*(\d{1,4})\s*)?", part)
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
        if not 1 <= first <= last:
            raise typer.BadParameter(
                f"{part!r} is no length; write such as 1-40 or 5,10", param_hint="--lengths"
            )
        lengths.update(range(first, last + 1))
    return sorted(lengths)
