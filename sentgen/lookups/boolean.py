"""What the languages of queries have in common: conditions made of others by and, or, and not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

#: A condition of one language.
C = TypeVar("C")


@dataclass(frozen=True, slots=True)
class Every(Generic[C]):
    """All parts hold."""

    parts: tuple[C, ...]


@dataclass(frozen=True, slots=True)
class Either(Generic[C]):
    """Some part holds, or several."""

    parts: tuple[C, ...]


@dataclass(frozen=True, slots=True)
class Negation(Generic[C]):
    """The part does not hold."""

    part: C
