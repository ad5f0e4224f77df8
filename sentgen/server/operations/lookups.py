"""Questions to the counts: n-grams, dependencies, arguments, concordances, frequencies, collocations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sentgen.lookups.keyness_question import Keywords
from sentgen.lookups.questions import Arguments, Collocations, Dependencies, Frequencies, Kwic, Ngrams, Sketch
from sentgen.server.operations.operation import Context, Operation, Result, answered, parameters, taking

_Question = type[Ngrams | Dependencies | Arguments | Kwic | Frequencies | Collocations | Sketch | Keywords]


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
    _operation("kwic", "A word in context.", "kwic", Kwic, {"pattern": "camp"}),
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
