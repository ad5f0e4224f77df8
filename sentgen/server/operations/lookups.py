"""Questions to the counts: n-grams, dependencies, arguments, concordances, frequencies, collocations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.dependency_search import Arguments, Dependencies
from sentgen.lookups.ngram_search import Ngrams
from sentgen.lookups.statistics.collocations import Collocations
from sentgen.lookups.statistics.frequencies import Frequencies
from sentgen.lookups.statistics.keyness import Keywords
from sentgen.lookups.statistics.sketch import Sketch
from sentgen.options import Option
from sentgen.output.tabular import column_of, without_columns
from sentgen.server.operations.operation import (
    MARKED,
    ONLY_HERE,
    Context,
    Operation,
    Result,
    answered,
    parameters,
    taking,
)

#: Columns with the positions at the ends of a node.
_ENDS = ("first", "last")
_Question = type[Ngrams | Dependencies | Arguments | Frequencies | Collocations | Sketch | Keywords]


def _operation(
    name: str, summary: str, command: str, question: _Question, example: Mapping[str, Any] | None = None
) -> Operation:
    """Return the operation that asks a question, for as many rows as the server gives."""

    def run(context: Context, asked: Any) -> Result:
        with context.opened.connect() as connection:
            # The limit of the server goes into the SQL: rows that nobody may have are not fetched.
            return answered(replace(asked, limit=context.limit(asked.limit)).ask(connection))

    return Operation(
        name, summary, command, parameters(question), taking(question, run), example=example or {}
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class KwicWithMarks(Kwic):
    """A concordance, and where its nodes stand."""

    marks: Annotated[
        bool,
        Option(f"Give the `positions` of the tokens of each of the first {MARKED} hits, too.", api=ONLY_HERE),
    ] = False


def kwic(context: Context, asked: KwicWithMarks) -> Result:
    """Answer `sentgen kwic`."""
    asked = replace(asked, limit=context.limit(asked.limit))
    with context.opened.connect() as connection:
        if asked.count or not asked.marks:
            return answered(asked.ask(connection))
        found = answered(asked.lines(connection, placed=True))
    firsts, lasts = (list(column_of(found.table, name))[:MARKED] for name in _ENDS)
    places = zip(firsts, lasts, strict=True)
    marks = [{"positions": list(range(first, last + 1))} for first, last in places]
    table = without_columns(found.table, ["sentence_id", *_ENDS])
    return replace(found, table=table, more={**found.more, "marks": marks})


OPERATIONS = (
    _operation("ngrams", "N-grams that match a pattern.", "ngrams", Ngrams, {"pattern": "the *"}),
    _operation(
        "dependencies",
        "Dependencies between a head and its modifiers.",
        "deps",
        Dependencies,
        {"head": "arrived"},
    ),
    _operation("arguments", "Modifiers of a word on each side.", "args", Arguments, {"word": "arrived"}),
    Operation(
        "kwic",
        "A word in context.",
        "kwic",
        parameters(KwicWithMarks, "Kwic"),
        taking(KwicWithMarks, kwic),
        example={"pattern": "camp"},
    ),
    _operation("frequencies", "A frequency list.", "freq", Frequencies),
    _operation(
        "collocations",
        "What occurs with a word more often than chance.",
        "collocations",
        Collocations,
        {"word": "water"},
    ),
    _operation(
        "sketch", "The strongest collocates of a word in each relation.", "sketch", Sketch, {"word": "water"}
    ),
    _operation("keyness", "What is more frequent in some corpora than in others.", "keyness", Keywords),
)
