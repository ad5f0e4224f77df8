"""The saved queries of the store."""

from __future__ import annotations

from sentgen.output.tabular import Rows
from sentgen.schema.tables.saved import list_saved
from sentgen.server.operations.corpora import Nothing
from sentgen.server.operations.operation import Context, Operation, Result


def overview(context: Context, asked: Nothing) -> Result:
    """Answer `sentgen saved list`."""
    with context.opened.connect() as connection:
        rows = [(one.name, one.line, one.saved_at) for one in list_saved(connection)]
    return Result(Rows(("name", "query", "saved_at"), rows))


OPERATIONS = (Operation("saved", "Saved queries with their command lines.", "saved list", Nothing, overview),)
