"""What the store holds: its corpora and language models."""

from __future__ import annotations

from sentgen.counts.corpora import Corpus
from sentgen.models.base import registry
from sentgen.models.request import Model
from sentgen.server.operations.operation import Context, Operation, Result, listing


def corpus(context: Context, request: Corpus) -> Result:
    """Answer `sentgen corpora show`."""
    return Result(request.show(context.opened))


def model(context: Context, request: Model) -> Result:
    """Answer `sentgen models show`."""
    return Result(registry.properties(context.opened, registry.find(context.opened, request.name)))


OPERATIONS = (
    listing("corpora"),
    Operation(
        "corpus",
        "Sources of a corpus, its regions or metadata, or the sentences that were refused.",
        "corpora show",
        Corpus,
        corpus,
        path="corpora/{name}",
        example={"name": "relief"},
    ),
    listing("models"),
    Operation(
        "model",
        "Settings of a model, its n-grams per order and its discounts.",
        "models show",
        Model,
        model,
        path="models/{name}",
        example={"name": "relief"},
    ),
)
