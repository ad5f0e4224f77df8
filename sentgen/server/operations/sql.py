"""The operation for a query in SQL from any client."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from sentgen.lookups.base.question import LimitOption
from sentgen.options import Option
from sentgen.schema import readonly
from sentgen.schema.guard import MAX_BYTES, require_harmless
from sentgen.server.operations.operation import Context, Operation, Result

_Value = str | int | float | bool | None
Values = Annotated[Sequence[_Value], Field(max_length=100)]
Named = Annotated[dict[str, _Value], Field(max_length=100)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sql:
    """One SELECT over the tables and views of the store."""

    sql: Annotated[
        str,
        Option(
            "The query.",
            argument=True,
            api={"max_length": MAX_BYTES, "examples": ["select * from v_corpora"]},
        ),
    ]
    limit: LimitOption = 0
    parameters: Annotated[
        Values | Named,
        Option(
            "Values of `?` in the query, in their order; or an object with those of `$name`.",
            short="--param",
            line="named",
        ),
    ] = ()


def _sql(context: Context, request: Sql) -> Result:
    """Answer `sentgen sql`, on the locked connection of this worker."""
    if context.locked is None:
        raise RuntimeError("this worker takes no SQL")
    # Here and not in the front, as the guard parses with DuckDB, which a query may crash.
    require_harmless(context.locked, request.sql)
    answer = readonly.ask(
        context.locked, request.sql, request.parameters, max_rows=context.limit(request.limit)
    )
    return Result(answer.table, answer.truncated, sql=(request.sql,))


OPERATIONS = (
    Operation(
        "sql",
        "Run one SELECT.",
        "sql",
        Sql,
        _sql,
        method="POST",
        example={"sql": "select * from v_corpora"},
    ),
)
