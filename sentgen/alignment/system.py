"""How an aligner is made, by its name and settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sentgen.alignment.alignment import Aligner


@dataclass(frozen=True, slots=True)
class System:
    """How a system is made, and what is told of it.

    Attributes:
        make: returns the aligner; takes ``name``, which is to be the aligner's, the settings that were given
            and, if it ``learns``, the pairs of ``training``.
        help: what it does, in a few words.
        settings: name of each setting to what reads its value, which may raise `KeyError` or `ValueError`.
        learns: whether it learns from pairs, those that it is to align included.
    """

    make: Callable[..., Aligner]
    help: str
    settings: Mapping[str, Callable[[str], object]] = field(default_factory=dict)
    learns: bool = False
