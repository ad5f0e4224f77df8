"""Names with weights in one text, such as ``tags=.5,novels@2``."""

from __future__ import annotations

import math
from collections.abc import Iterable

from sentgen.errors import InputError


def read_weights(text: str, kind: str) -> list[tuple[str, float]]:
    """Read ``NAME[=WEIGHT]`` joined by commas or +; a name alone weighs 1.

    Raises:
        InputError: a weight is no number from 0, or a name is there twice; ``kind`` says of what.

    >>> read_weights("tags=.5,novels@2", "feature")
    [('tags', 0.5), ('novels@2', 1.0)]
    """
    found = [_weighted(one.strip(), kind) for one in text.replace("+", ",").split(",") if one.strip()]
    names = [name for name, _ in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"{kind} {twice} is there twice; name each one once")
    return found


def write_weights(weighted: Iterable[tuple[str, float]]) -> str:
    """Return the text that `read_weights` reads."""
    # Not 1e+06: a + joins two of them.
    return ",".join(f"{name}={f'{weight:.4g}'.replace('+', '')}" for name, weight in weighted)


def is_writable(name: str) -> bool:
    """Tell whether a name can stand among others in one text."""
    return not set(name) & set("+,") and name == name.strip()


def _weighted(text: str, kind: str) -> tuple[str, float]:
    name, equals, number = text.rpartition("=")
    if not equals:
        return text, 1.0
    try:
        weight = float(number)
    except ValueError:
        weight = math.nan
    if not name or not math.isfinite(weight) or weight < 0:
        raise InputError(f"{kind} {text!r} has no weight; write NAME=WEIGHT with a number from 0")
    return name, weight
