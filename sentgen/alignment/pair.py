"""A document and its abstract as the aligners see them: two lists of words."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pair:
    """A document and its abstract.

    ``document_starts`` and ``abstract_starts`` are the offsets at which sentences begin, the first one 0; a
    text that is not split into sentences has the one offset.
    """

    key: str
    document: tuple[str, ...]
    abstract: tuple[str, ...]
    document_starts: tuple[int, ...] = (0,)
    abstract_starts: tuple[int, ...] = (0,)
