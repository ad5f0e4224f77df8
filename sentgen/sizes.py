"""Sizes of memory as people write them."""

from __future__ import annotations

import re

from sentgen.errors import InputError

_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


def parse_size(text: str) -> int:
    """Read a size such as ``2GB``, ``500M`` or ``1073741824``, in bytes.

    Raises:
        InputError: it is none.

    >>> parse_size("1.5 GB") == 3 * 2**29
    True
    """
    # As many digits as a float holds.
    match = re.fullmatch(r"\s*(\d{1,15}(?:\.\d+)?)\s*([kmgt]?)i?b?\s*", text.lower())
    if not match:
        raise InputError(f"{text[:40]!r} is no size; write it like 2GB or 500MB")
    return int(float(match[1]) * _UNITS[match[2]])
