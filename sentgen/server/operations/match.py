"""Where a Grew request matches the trees."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Annotated

from sqlalchemy import Connection

from sentgen.counts.conllu_export import sentences_conllu
from sentgen.lookups.concordances.marks import marks_of
from sentgen.lookups.grew.matches import Match
from sentgen.options import Option
from sentgen.output.tabular import names_of, rows_of
from sentgen.output.wording import quantity
from sentgen.server.operations.operation import (
    MARKED,
    Context,
    Operation,
    Result,
    answered,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchWithTrees(Match):
    """The places where a Grew request matches the trees, and what else is to be told of them."""

    marks: Annotated[
        bool,
        Option(
            f"Give the `positions` of the nodes of each of the first {MARKED} hits, too, and the `parts` of"
            " its text, each with the nodes that it is.",
            line="hidden",
        ),
    ] = False
    conllu: Annotated[bool, Option("Give the sentences of the hits as CoNLL-U, too.", line="hidden")] = False


def match(context: Context, asked: MatchWithTrees) -> Result:
    """Answer `sentgen match`."""
    asked = replace(asked, limit=context.limit(asked.limit))
    with context.opened.connect() as connection:
        found = answered(asked.ask(connection))
        if asked.counted or not found.table.num_rows:
            return found
        more: dict[str, object] = dict(found.more)
        if asked.marks:
            more["marks"] = _marks(connection, found)
        if not asked.conllu:
            return replace(found, more=more)
        sentences = sentences_conllu(connection, asked.sentences(connection))
        more["conllu"], number, cut = _within(sentences, context.opening.limits.bytes)
    notes = (*found.notes, f"CoNLL-U of the first {quantity(number, 'sentence')}") if cut else found.notes
    return replace(found, notes=notes, more=more)


def _marks(connection: Connection, found: Result) -> list[dict[str, object]]:
    hits = found.table.slice(0, MARKED)
    rows = [dict(zip(names_of(hits), row, strict=True)) for row in rows_of(hits)]
    return [{"positions": one.positions, "parts": one.parts} for one in marks_of(connection, rows)]


def _within(texts: Iterable[str], most: int) -> tuple[str, int, bool]:
    """Take texts while they fit; return them joined, their number, and whether some are left."""
    taken: list[str] = []
    size = 0
    for text in texts:
        size += len(text.encode("utf-8", "replace"))
        if size > most:
            return "".join(taken), len(taken), True
        taken.append(text)
    return "".join(taken), len(taken), False


OPERATIONS = (
    Operation(
        "match",
        "Where a Grew request matches the trees.",
        "match",
        MatchWithTrees,
        match,
        example={"request": "pattern { V [upos=VERB]; V -[nsubj]-> S }"},
    ),
)
