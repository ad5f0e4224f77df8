"""Names with weights in one text, such as ``tags=.5,novels@2``."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from sentgen.errors import InputError


@dataclass(frozen=True, slots=True)
class Weights:
    """Names with what they weigh; ``text`` is what asks for them, and stands in records."""

    named: tuple[tuple[str, float], ...] = ()
    text: str = ""


def read_weights(text: str, kind: str) -> Weights:
    """Read ``NAME[=WEIGHT]`` joined by commas or +; a name alone weighs 1.

    Raises:
        InputError: a weight is no number from 0, or a name is there twice; ``kind`` says of what.

    >>> read_weights("tags=.5,novels@2", "feature").named
    (('tags', 0.5), ('novels@2', 1.0))
    """
    found = [_weighted(one.strip(), kind) for one in text.replace("+", ",").split(",") if one.strip()]
    names = [name for name, _ in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"{kind} {twice} is there twice; name each one once")
    return Weights(tuple(found), text)


def rounded_weights(named: Iterable[tuple[str, float]]) -> Weights:
    """Return weights to four digits, which is what records have of them: they give the same search again."""
    digits = [(name, f"{weight:.4g}") for name, weight in named]
    # Not 1e+06: a + joins two of them.
    text = ",".join(f"{name}={weight.replace('+', '')}" for name, weight in digits)
    return Weights(tuple((name, float(weight)) for name, weight in digits), text)


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
