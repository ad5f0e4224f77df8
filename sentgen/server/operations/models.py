"""The language models of the store."""

from __future__ import annotations

from sentgen.models import registry
from sentgen.models.request import Model
from sentgen.server.operations.corpora import Nothing
from sentgen.server.operations.operation import Context, Operation, Result, parameters, taking


def overview(context: Context, asked: Nothing) -> Result:
    """Answer `sentgen models list`."""
    return Result(registry.overview(context.opened))


def show(context: Context, asked: Model) -> Result:
    """Answer `sentgen models show`."""
    return Result(registry.properties(context.opened, registry.find(context.opened, asked.name)))


OPERATIONS = (
    Operation("models", "Models with their settings.", "models list", Nothing, overview),
    Operation(
        "model",
        "Settings of a model, its n-grams per order and its discounts.",
        "models show",
        parameters(Model),
        taking(Model, show),
        path="models/{name}",
        example={"name": "relief"},
    ),
)
