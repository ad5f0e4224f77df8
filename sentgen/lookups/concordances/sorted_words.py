"""The words that lines are sorted by, in the texts of these: pages and terminals show them in colors.

The first keys have a level each. That of ``left`` is the word beside the node, and further levels are those
before it, as they are compared; so is ``right``. Metadata and scores have a level and no words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
from sqlalchemy import Connection

from sentgen.lookups.base.tokens import Tokens
from sentgen.lookups.concordances.line_query import LineContext
from sentgen.lookups.concordances.line_text import locate_hits, stretches_of, text_pieces
from sentgen.lookups.concordances.sorting import LEFT, NODE, RIGHT, SortKey, read_order
from sentgen.lookups.search.hits import Spans
from sentgen.output.tabular import Rows

#: Levels that are told from each other.
LEVELS = 3
#: Columns of rows that say where the node is: the sentence of its first token, and positions in it.
PLACE = ("sentence_id", "first", "last")

#: A part of a text, and its level; 0 if lines are not sorted by it.
SortedPart = tuple[str, int]


class SortedSides(NamedTuple):
    """What is before a node and behind it, in parts."""

    left: Sequence[SortedPart]
    right: Sequence[SortedPart]


@dataclass(frozen=True, slots=True)
class SortedWords:
    """The words that lines are sorted by.

    Args:
        levels: place beside the node, below 0 before it and 0 for the node itself, to its level.
    """

    levels: Mapping[int, int]

    @property
    def named(self) -> list[tuple[str, int]]:
        """The places as they are named in an order, each with its level."""
        return [(_name(place), level) for place, level in self.levels.items()]

    def of_lines(
        self, connection: Connection, rows: Rows, context: LineContext, *, across: bool
    ) -> list[SortedSides]:
        """Return the sides of lines in parts.

        Args:
            connection: the store.
            rows: the lines, with the columns `PLACE`.
            context: what is shown beside the nodes.
            across: whether that goes over the ends of sentences.
        """
        before = sorted(place for place in self.levels if place < 0)
        behind = sorted(place for place in self.levels if place > 0)
        tokens = Tokens(connection, across=across)
        numbers = _token_numbers(tokens, rows)
        by_place = np.lexsort((numbers.last, numbers.first))
        hits = locate_hits(tokens, numbers.take(by_place))
        pieces = [
            *chain.from_iterable(
                text_pieces(connection, [stretches_of(one, context)], before, behind) for one in hits
            )
        ]
        levels, levels_behind = self._of_pieces(before), self._of_pieces(behind)
        node = len(levels)
        return [
            SortedSides(_parts(pieces[at][:node], levels), _parts(pieces[at][node + 1 :], levels_behind))
            for at in np.argsort(by_place)
        ]

    def _of_pieces(self, places: Sequence[int]) -> list[int]:
        """Return the levels of the pieces that words at some places cut a text into: between them is 0."""
        return [0, *(level for place in places for level in (self.levels[place], 0))]


def sorted_words(order: str) -> SortedWords:
    """Return the words that an order, such as ``1L,node``, looks at first."""
    places = chain.from_iterable(map(_places, read_order(order)))
    levels = dict[int | str, int]()
    for place in places:
        levels.setdefault(place, len(levels) + 1)
    return SortedWords(
        {place: level for place, level in levels.items() if isinstance(place, int) and level <= LEVELS}
    )


def _places(key: SortKey) -> Sequence[int | str]:
    """Return the places that a key looks at; its name if it is about no words."""
    if key.offset or key.name == NODE:
        return [key.offset]
    return key.beside(LEVELS) if key.name in (LEFT, RIGHT) else [key.name]


def _name(place: int) -> str:
    return f"{abs(place)}{'L' if place < 0 else 'R'}" if place else NODE


def _token_numbers(tokens: Tokens, rows: Rows) -> Spans:
    """Return the first and the last tokens of nodes by their numbers."""
    sentence, first, last = (np.array(rows.column(name), np.int64) for name in PLACE)
    begin = np.zeros(len(sentence), np.int64)
    for block in tokens.blocks():
        inside = (sentence >= block.low) & (sentence <= block.high)
        if inside.any():
            ids, begins, *_ = block.sentences()
            order = np.argsort(ids)
            begin[inside] = block.numbers(begins[order[np.searchsorted(ids[order], sentence[inside])]])
    return Spans(begin + first - 1, begin + last - 1, {})


def _parts(pieces: Sequence[str], levels: Sequence[int]) -> list[SortedPart]:
    """Return pieces with their levels; blanks behind a word are no part of it, nor those at the end."""
    parts, behind = list[SortedPart](), len("".join(pieces).rstrip())
    for piece, level in zip(pieces, levels, strict=True):
        piece, behind = piece[:behind], behind - len(piece)
        word = piece.rstrip() if level else ""
        parts += [(text, of) for text, of in ((word, level), (piece[len(word) :], 0)) if text]
        if behind <= 0:
            break
    return parts
