"""One query from a stranger."""

from __future__ import annotations

from typing import Annotated

import duckdb
from pydantic import Field

from sentgen.schema import readonly
from sentgen.schema.guard import MAX_BYTES, require_harmless
from sentgen.server.operations.operation import (
    NAMED,
    POSITIONAL,
    Context,
    Limit,
    Operation,
    Parameters,
    Result,
)

#: Where the worker keeps the locked connection.
LOCKED = "locked"

_Value = str | int | float | bool | None
Values = Annotated[list[_Value], Field(max_length=100)]
Named = Annotated[dict[str, _Value], Field(max_length=100)]


class Sql(Parameters):
    """One SELECT over the tables and views of the store."""

    query: str = Field(
        alias="sql",
        max_length=MAX_BYTES,
        description="The query.",
        examples=["select * from v_corpora"],
        json_schema_extra={"x-command-line": POSITIONAL},
    )
    limit: Limit = 0
    parameters: Values | Named = Field(
        [],
        description="Values of `?` in the query, in their order; or an object with those of `$name`.",
        json_schema_extra={"x-command-line": NAMED, "x-option": "--param"},
    )


def sql(context: Context, asked: Sql) -> Result:
    """Answer `sentgen sql`, on the locked connection of this worker."""
    duck: duckdb.DuckDBPyConnection = context.state[LOCKED]
    # Here and not in the front: the guard parses with DuckDB, which a query may kill.
    require_harmless(duck, asked.query)
    answer = readonly.ask(duck, asked.query, asked.parameters, max_rows=context.limit(asked.limit))
    return Result(answer.table, answer.truncated, sql=(asked.query,))


OPERATIONS = (
    Operation(
        "sql",
        "Run one SELECT.",
        "sql",
        Sql,
        sql,
        kind="sql",
        method="POST",
        example={"sql": "select * from v_corpora"},
    ),
)
