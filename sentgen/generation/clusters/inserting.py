"""Phrases of related sentences put into a key sentence, each beside a word that it may hang on.

The key keeps its order, and a phrase its own. A phrase stands on the side of its anchor on which it was, next
to the anchor or to another modifier there with all that hangs on it, so that no arcs cross.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sentgen.generation.problem import ROOT


@dataclass(frozen=True, slots=True)
class Ordered:
    """Tokens in order, and the head of every token, `ROOT` for none."""

    order: tuple[int, ...]
    heads: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Insertion:
    """A phrase to insert.

    Attributes:
        anchors: the tokens that it may hang on.
        heads: of its tokens, counted from 0 within it, `ROOT` for those that hang on the anchor.
        head_first: whether it stands behind its anchor.
    """

    anchors: tuple[int, ...]
    heads: tuple[int, ...]
    head_first: bool


def insertions(sentence: Ordered, phrase: Insertion) -> Iterator[Ordered]:
    """Yield a sentence with a phrase in each of its places; its tokens get the next numbers."""
    first = len(sentence.heads)
    tokens = tuple(range(first, first + len(phrase.heads)))
    for anchor in phrase.anchors:
        heads = (anchor if head == ROOT else first + head for head in phrase.heads)
        after = (*sentence.heads, *heads)
        for gap in sorted(_gaps(sentence, anchor, phrase.head_first)):
            yield Ordered((*sentence.order[:gap], *tokens, *sentence.order[gap:]), after)


def _gaps(sentence: Ordered, anchor: int, head_first: bool) -> set[int]:
    """Return the gaps beside a token and beside its modifiers on one side, with all that hangs on those."""
    place = {token: at for at, token in enumerate(sentence.order)}
    gaps = {place[anchor] + head_first}
    for modifier in (token for token, head in enumerate(sentence.heads) if head == anchor):
        if (place[modifier] > place[anchor]) == head_first:
            below = [place[token] for token in _below(sentence.heads, modifier)]
            gaps.add(max(below) + 1 if head_first else min(below))
    return gaps


def _below(heads: Sequence[int], token: int) -> list[int]:
    """Return a token with all that hangs on it."""
    found = [token]
    for one in found:
        found += [modifier for modifier, head in enumerate(heads) if head == one]
    return found
