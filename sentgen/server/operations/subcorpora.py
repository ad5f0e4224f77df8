"""The subcorpora of the store."""

from __future__ import annotations

from sentgen.lookups import subcorpora
from sentgen.lookups.subcorpora import SubcorpusName
from sentgen.server.operations.corpora import Nothing
from sentgen.server.operations.operation import Context, Operation, Result, parameters, taking


def overview(context: Context, asked: Nothing) -> Result:
    """Answer `sentgen subcorpora list`."""
    with context.opened.connect() as connection:
        return Result(subcorpora.overview(connection))


def show(context: Context, asked: SubcorpusName) -> Result:
    """Answer `sentgen subcorpora show`."""
    with context.opened.connect() as connection:
        return Result(subcorpora.properties(connection, asked.name))


OPERATIONS = (
    Operation(
        "subcorpora",
        "Subcorpora with their corpora and conditions.",
        "subcorpora list",
        Nothing,
        overview,
    ),
    Operation(
        "subcorpus",
        "Condition and sizes of a subcorpus.",
        "subcorpora show",
        parameters(SubcorpusName, "Subcorpus"),
        taking(SubcorpusName, show),
        path="subcorpora/{name}",
        example={"name": "short"},
    ),
)
