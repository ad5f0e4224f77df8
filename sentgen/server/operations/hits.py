"""The lines behind the counts of two words, for the pages."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from sentgen.lookups.dependency_search import End, Layer
from sentgen.lookups.pair_lines import collocation_lines, dependency_lines
from sentgen.lookups.selection import select_corpora
from sentgen.lookups.statistics.collocations import AROUND
from sentgen.server.operations.operation import Context, Limit, Operation, Parameters, Result, answered


class Hits(Parameters):
    """A word and another one that modifies it, governs it, or stands in its window; both are patterns.

    ``tag`` is that of the other word, ``direction`` the side of the head on which the modifier stands.
    """

    word: str
    other: str
    role: Literal["modifier", "head", "collocate"]
    tag: str = "*"
    direction: Literal["left", "right"] = "left"
    layer: Layer = Layer.WORD
    corpus: list[str] = Field(default_factory=list, max_length=100)
    where: str | None = Field(default=None, max_length=10_000)
    ignore_case: bool = False
    limit: Limit = 50


def hits(context: Context, asked: Hits) -> Result:
    """Show the two words with what stands between and around them."""
    limit, word, other = context.limit(asked.limit), End(asked.word), End(asked.other, asked.tag)
    with context.opened.connect() as connection:
        selection = select_corpora(
            connection, asked.corpus, condition=asked.where, ignore_case=asked.ignore_case, sentences=True
        )
        if asked.role == "collocate":
            answer = collocation_lines(
                connection, asked.word, asked.other, window=AROUND, selection=selection, limit=limit
            )
        else:
            answer = dependency_lines(
                connection,
                *((word, other) if asked.role == "modifier" else (other, word)),
                direction=asked.direction,
                layer=asked.layer,
                selection=selection,
                limit=limit,
            )
    return answered(answer)


OPERATIONS = (Operation("hits", "Lines with two words.", "sql", Hits, hits, api=False),)
