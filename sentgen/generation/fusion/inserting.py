"""Phrases of related sentences put into a key sentence, each beside a word that it may hang on.

The key keeps its order, and a phrase its own. A phrase stands on the side of its anchor on which it was, next
to the anchor or to another modifier there with all that hangs on it, so that no arcs cross. Words that open
what the anchor heads, such as its preposition, stay before the phrase, and what belongs closest to it, such
as its object, stays between the two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sentgen.generation.problem import ROOT

#: Modifiers of the anchor that a phrase on the left stands behind, and that one on the right stands behind.
_OPENING = frozenset({"case", "cc", "det", "mark", "punct"})
_CLOSEST = frozenset({"case", "compound", "fixed", "flat", "goeswith", "iobj", "obj"})


@dataclass(frozen=True, slots=True)
class Ordered:
    """Tokens in order, the head of every token, `ROOT` for none, and the relation to it."""

    order: tuple[int, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Insertion:
    """A phrase to insert.

    Attributes:
        anchors: the tokens that it may hang on.
        heads: of its tokens, counted from 0 within it, `ROOT` for those that hang on the anchor.
        relations: of its tokens.
        head_first: whether it stands behind its anchor.
    """

    anchors: tuple[int, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]
    head_first: bool


def insertions(sentence: Ordered, phrase: Insertion) -> Iterator[Ordered]:
    """Yield a sentence with a phrase in each of its places; its tokens get the next numbers."""
    first = len(sentence.heads)
    tokens = tuple(range(first, first + len(phrase.heads)))
    for anchor in phrase.anchors:
        heads = (anchor if head == ROOT else first + head for head in phrase.heads)
        after, relations = (*sentence.heads, *heads), (*sentence.relations, *phrase.relations)
        for gap in sorted(_gaps(sentence, anchor, phrase.head_first)):
            yield Ordered((*sentence.order[:gap], *tokens, *sentence.order[gap:]), after, relations)


def _gaps(sentence: Ordered, anchor: int, head_first: bool) -> list[int]:
    """Return the gaps beside a token and beside its modifiers on one side, with all that hangs on those."""
    place = {token: at for at, token in enumerate(sentence.order)}
    gaps, nearest = {place[anchor] + head_first}, 0
    for modifier in (token for token, head in enumerate(sentence.heads) if head == anchor):
        if (place[modifier] > place[anchor]) != head_first:
            continue
        below = [place[token] for token in _below(sentence.heads, modifier)]
        relation = sentence.relations[modifier]
        if relation in (_CLOSEST if head_first else _OPENING):
            nearest = max(nearest, max(below) + 1)
        if relation not in _OPENING:
            gaps.add(max(below) + 1 if head_first else min(below))
    found = [gap for gap in sorted(gaps) if gap >= nearest]
    # Right behind what is closest, or before the anchor, where no other modifier offers a place.
    return found or [nearest]


def _below(heads: Sequence[int], token: int) -> list[int]:
    """Return a token with all that hangs on it."""
    found = [token]
    for one in found:
        found += [modifier for modifier, head in enumerate(heads) if head == one]
    return found
