"""What was added to the corpora of the store: saved queries, subcorpora, and vectors of words."""

from __future__ import annotations

from sentgen.lookups import subcorpora
from sentgen.lookups.subcorpora import SubcorpusName
from sentgen.models.vectors import Near
from sentgen.server.operations.operation import Context, Operation, Result, listing


def subcorpus(context: Context, request: SubcorpusName) -> Result:
    """Answer `sentgen subcorpora show`."""
    with context.opened.connect() as connection:
        return Result(subcorpora.properties(connection, request.name))


OPERATIONS = (
    listing("saved"),
    listing("subcorpora"),
    Operation(
        "subcorpus",
        "Condition and sizes of a subcorpus.",
        "subcorpora show",
        SubcorpusName,
        subcorpus,
        path="subcorpora/{name}",
        example={"name": "short"},
    ),
    listing("vectors"),
    Operation(
        "near",
        "The words nearest to a word or a phrase.",
        "vectors near",
        Near,
        path="vectors/near",
        example={"word": "water"},
    ),
)
