"""The corpora of the store."""

from __future__ import annotations

from sentgen.counts import corpora
from sentgen.server.operations.operation import Context, Operation, Parameters, Result, parameters, taking


class Nothing(Parameters):
    """No parameters."""


def overview(context: Context, asked: Nothing) -> Result:
    """Answer `sentgen corpora list`."""
    return Result(corpora.overview(context.opened))


def show(context: Context, asked: corpora.Corpus) -> Result:
    """Answer `sentgen corpora show`."""
    return Result(asked.show(context.opened))


OPERATIONS = (
    Operation("corpora", "Corpora with their sizes and licences.", "corpora list", Nothing, overview),
    Operation(
        "corpus",
        "Sources of a corpus, or the sentences that were refused.",
        "corpora show",
        parameters(corpora.Corpus),
        taking(corpora.Corpus, show),
        path="corpora/{name}",
        example={"name": "relief"},
    ),
)
