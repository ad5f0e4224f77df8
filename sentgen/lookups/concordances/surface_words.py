"""Patterns whose words may be surface words: *du* is found where it covers *de* and *le*.

Such a word takes as many places as it covers tokens, so that a pattern has several shapes: one of tokens
alone, and one for each way in which its words can be surface words of the store.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from sqlalchemy import Connection

from sentgen.errors import InputError
from sentgen.lookups.concordances.surface import surface_sizes
from sentgen.lookups.patterns import TokenPattern, glob
from sentgen.lookups.statement import Bindings

#: Each shape is a search of its own.
MOST_SHAPES = 64


@dataclass(frozen=True, slots=True)
class WordShape:
    """One word of a pattern in one shape: a token, or (``written``) a surface word of ``size`` tokens.

    ``offset`` is the number of tokens of the pattern before it.
    """

    token: TokenPattern
    alias: str
    offset: int
    size: int = 1
    written: bool = False

    @property
    def table(self) -> str:
        """The table that it is found in."""
        return "multiword" if self.written else "token"

    @property
    def column(self) -> str:
        """The column of that table with its first token."""
        return '"first"' if self.written else "position"

    def conditions(self, bindings: Bindings) -> list[str]:
        """Return the conditions on its row."""
        if not self.written:
            return self.token.conditions(self.alias, bindings)
        spelled = glob(self.token.pattern).condition(
            f"{self.alias}.form", bindings, ignore_case=self.token.ignore_case
        )
        return [spelled, f'{self.alias}."last" = {self.alias}."first" + {self.size - 1}']


Shape = Sequence[WordShape]


def shapes_of(connection: Connection, tokens: Sequence[TokenPattern]) -> list[Shape]:
    """Return the shapes of a pattern, that of tokens alone first.

    Raises:
        InputError: there are too many.
    """
    sizes = [(0, *_sizes(connection, token)) for token in tokens]
    found: list[Shape] = []
    for chosen in product(*sizes):
        if len(found) == MOST_SHAPES:
            raise InputError(
                f"more than {MOST_SHAPES} ways to read the pattern, as its words are written as one in many"
                " places; ask for fewer words"
            )
        shape, offset = [], 0
        for number, (token, size) in enumerate(zip(tokens, chosen, strict=True)):
            shape.append(WordShape(token, f"t{number}", offset, size or 1, bool(size)))
            offset += size or 1
        found.append(shape)
    return found


def tokens_alone(tokens: Sequence[TokenPattern]) -> Shape:
    """Return the shape in which every word of a pattern is a token."""
    return [WordShape(token, f"t{number}", number) for number, token in enumerate(tokens)]


def _sizes(connection: Connection, token: TokenPattern) -> tuple[int, ...]:
    if token.attribute != "word" or token.tag or token.free:
        return ()
    asked = glob(token.pattern)
    # A wildcard means tokens: it would find a surface word once for itself and once for each of its tokens.
    return () if asked.wild else surface_sizes(connection, asked.text, ignore_case=token.ignore_case)
