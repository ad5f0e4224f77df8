"""What was added to the corpora of the store: saved queries, subcorpora, and vectors of words."""

from __future__ import annotations

from sentgen.lookups import subcorpora
from sentgen.lookups.subcorpora import SubcorpusName
from sentgen.models.vectors import registry
from sentgen.models.vectors.near import Near
from sentgen.output.tabular import Rows
from sentgen.schema import Store
from sentgen.schema.tables.saved import list_saved
from sentgen.server.operations.operation import Context, Nothing, Operation, Result, ask, store_listing


def _saved_queries(store: Store) -> Rows:
    with store.connect() as connection:
        rows = [(query.name, query.line, query.saved_at) for query in list_saved(connection)]
    return Rows(("name", "query", "saved_at"), rows)


def _subcorpora(store: Store) -> Rows:
    with store.connect() as connection:
        return subcorpora.overview(connection)


def subcorpus(context: Context, request: SubcorpusName) -> Result:
    """Answer `sentgen subcorpora show`."""
    with context.opened.connect() as connection:
        return Result(subcorpora.properties(connection, request.name))


OPERATIONS = (
    Operation(
        "saved",
        "Saved queries with their command lines.",
        "saved list",
        Nothing,
        store_listing(_saved_queries),
    ),
    Operation(
        "subcorpora",
        "Subcorpora with their corpora and conditions.",
        "subcorpora list",
        Nothing,
        store_listing(_subcorpora),
    ),
    Operation(
        "subcorpus",
        "Condition and sizes of a subcorpus.",
        "subcorpora show",
        SubcorpusName,
        subcorpus,
        path="subcorpora/{name}",
        example={"name": "short"},
    ),
    Operation(
        "vectors", "Vectors with their settings.", "vectors list", Nothing, store_listing(registry.overview)
    ),
    Operation(
        "near",
        "The words nearest to a word or a phrase.",
        "vectors near",
        Near,
        ask,
        path="vectors/near",
        example={"word": "water"},
    ),
)
