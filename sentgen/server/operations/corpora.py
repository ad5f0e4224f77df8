"""The corpora of the store."""

from __future__ import annotations

from pydantic import Field

from sentgen.counts import corpora
from sentgen.server.operations.operation import Context, Operation, Parameters, Positional, Result


class Nothing(Parameters):
    """No parameters."""


class Corpus(Parameters):
    """One corpus."""

    name: str = Positional("Name of the corpus.")
    rejected: bool = Field(False, description="The sentences that were refused, instead of the sources.")


def overview(context: Context, asked: Nothing) -> Result:
    """Answer `sentgen corpora list`."""
    return Result(corpora.overview(context.opened))


def show(context: Context, asked: Corpus) -> Result:
    """Answer `sentgen corpora show`."""
    found = corpora.rejected if asked.rejected else corpora.describe
    return Result(found(context.opened, asked.name))


OPERATIONS = (
    Operation("corpora", "Corpora with their sizes and licences.", "corpora list", Nothing, overview),
    Operation(
        "corpus",
        "Sources of a corpus, or the sentences that were refused.",
        "corpora show",
        Corpus,
        show,
        path="corpora/{name}",
        example={"name": "relief"},
    ),
)
