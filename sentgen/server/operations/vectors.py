"""The vectors of the store, and what is near a word."""

from __future__ import annotations

from dataclasses import replace

from sentgen.models.vectors import registry
from sentgen.models.vectors.near import Near
from sentgen.server.operations.corpora import Nothing
from sentgen.server.operations.operation import Context, Operation, Result, answered, parameters, taking


def overview(context: Context, asked: Nothing) -> Result:
    """Answer `sentgen vectors list`."""
    return Result(registry.overview(context.opened))


def near(context: Context, asked: Near) -> Result:
    """Answer `sentgen vectors near`."""
    with context.opened.connect() as connection:
        return answered(replace(asked, limit=context.limit(asked.limit)).ask(connection))


OPERATIONS = (
    Operation("vectors", "Vectors with their settings.", "vectors list", Nothing, overview),
    Operation(
        "near",
        "The words nearest to a word or a phrase.",
        "vectors near",
        parameters(Near),
        taking(Near, near),
        path="vectors/near",
        example={"word": "water"},
    ),
)
