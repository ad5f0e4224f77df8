"""The API: a route for each operation, made from its parameters."""

import inspect
import re
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import APIRouter, Body, Path, Query, Request, Response
from pydantic import BaseModel, Field, create_model

from sentgen import __version__
from sentgen.server import pinned, problems
from sentgen.server.logs import audit
from sentgen.server.operations import Operation, operations
from sentgen.server.operations.operation import Parameters
from sentgen.server.problems import Problem
from sentgen.server.rendering import MEDIA_TYPES, Format
from sentgen.server.service import Service
from sentgen.server.wire import Message

_PATH_PARAMETER = re.compile(r"\{(\w+)\}")
_FORMAT_TEXT = "How the answer is written; the Accept header says it, too."
_SNAPSHOT_TEXT = "The snapshot that is cited; if another one is served, the request is refused."
_ESCAPE_TEXT = "In CSV and TSV, put an apostrophe before what a spreadsheet would take for a formula."


class Table(BaseModel):
    """An answer: a table, and what there is to say about it."""

    columns: list[str] = Field(description="Names of the columns, in their order.")
    rows: list[dict[str, Any]] = Field(description="One object a row.")
    truncated: bool = Field(description="Whether there are more rows than these.")
    notes: list[str] = Field(description="What is to be said of the rows.")
    sql: list[str] = Field(description="The statements that give these rows, for POST /v1/sql.")
    command: str = Field(
        description="The command line that gives the same rows, with --json; of `pairs`, one a line."
    )
    more: dict[str, Any] = Field(description="What does not fit into a table.")


_REFUSALS = {
    400: "The request cannot be answered; the message says why.",
    401: "A token is needed.",
    403: "A page of another site asks.",
    404: "There is no such corpus, model or word.",
    410: "Another snapshot is cited than the one that is served.",
    409: "The model cannot do what was asked.",
    413: "The request is too long, or needs too much memory.",
    421: "The host name is not allowed.",
    422: "A parameter is missing, unknown or wrong.",
    429: "Too many requests wait.",
    503: "The process that worked on this died, or the store cannot be read.",
    504: "This took too long.",
}
_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {
        "model": Table,
        "description": "The answer.",
        "headers": {
            "Sentgen-Rows": {"description": "Number of rows.", "schema": {"type": "integer"}},
            "Sentgen-Truncated": {"description": "Whether there are more.", "schema": {"type": "boolean"}},
            "Sentgen-Snapshot": {"description": "The snapshot that was asked.", "schema": {"type": "string"}},
            "Sentgen-Version": {"description": "The version of sentgen.", "schema": {"type": "string"}},
            "Link": {"description": "The same answer of this snapshot alone.", "schema": {"type": "string"}},
        },
        "content": {
            media: {"schema": {"type": "string"}} for form, media in MEDIA_TYPES.items() if form != "json"
        },
    },
    **{
        status: {
            "description": text,
            "content": {problems.MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }
        for status, text in _REFUSALS.items()
    },
}


def router(*, sql: bool = True) -> APIRouter:
    """Return the routes of all operations."""
    routes = APIRouter(tags=["operations"])
    for operation in operations().values():
        # Without SQL its route is not there at all: it is neither documented nor refused in another way.
        if operation.api and (operation.kind != "sql" or sql):
            routes.add_api_route(
                operation.route,
                _endpoint(operation),
                methods=[operation.method],
                summary=operation.summary,
                description=f"The same as `sentgen {operation.command}`.",
                operation_id=operation.name,
                responses=_RESPONSES,
                response_class=Response,
            )
    return routes


def schemas() -> dict[str, Any]:
    """Return the schemas that the routes refer to by name."""
    return {"Problem": Problem.model_json_schema()}


def _endpoint(operation: Operation) -> Callable[..., Awaitable[Response]]:
    """Make the function of a route: its signature is the parameters of the operation."""
    in_path = _PATH_PARAMETER.findall(operation.path)
    takes_body = operation.method == "POST"

    async def endpoint(request: Request, **given: Any) -> Response:
        query = given["query"]
        asked = given["body"] if takes_body else query
        values = asked.model_dump(mode="json", by_alias=True, exclude=None if takes_body else WRITING)
        values |= {name: given[name] for name in in_path}
        pinned.require(request.app.state.service.snapshot.name, query.snapshot)
        form = query.format or _accepted(request.headers.get("accept", ""))
        return await answer(request, operation, values, form, escape_formulas=query.escape_formulas)

    signature: dict[str, Any] = {"request": Request}
    for name in in_path:
        about = operation.parameters.model_fields[name]
        signature[name] = Annotated[about.annotation, Path(description=about.description)]
    if takes_body:
        signature["body"] = Annotated[operation.parameters, Body(examples=[dict(operation.example)])]
    signature["query"] = Annotated[_query_model(operation, () if takes_body else in_path), Query()]
    endpoint.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation)
            for name, annotation in signature.items()
        ]
    )
    endpoint.__name__ = operation.name
    return endpoint


WRITING = {"format", "escape_formulas", pinned.PARAMETER}


def _query_model(operation: Operation, in_path: Any) -> type[Parameters]:
    """Return a model of the query string: how to write the answer, and for GET the parameters."""
    fields: dict[str, Any] = {
        "format": (Format | None, Field(None, description=_FORMAT_TEXT)),
        "escape_formulas": (bool, Field(False, description=_ESCAPE_TEXT)),
        pinned.PARAMETER: (str | None, Field(None, description=_SNAPSHOT_TEXT)),
    }
    if operation.method == "GET":
        of_operation = operation.parameters.model_fields.items()
        fields |= {name: (about.annotation, about) for name, about in of_operation if name not in in_path}
    return create_model(f"{operation.name.capitalize()}Query", __base__=Parameters, **fields)


async def answer(
    request: Request, operation: Operation, values: dict[str, Any], form: Format, *, escape_formulas: bool
) -> Response:
    """Have the service do an operation, and make a response of the answer."""
    service: Service = request.app.state.service
    message = await audited(request, service, operation, values, form, escape_formulas)
    head = message.head
    # A proxy must not give CSV to whoever asks for JSON.
    headers = {"Sentgen-Snapshot": head["snapshot"], "Sentgen-Version": __version__, "Vary": "Accept"}
    if request.method == "GET":
        headers["Link"] = f'<{pinned.permanent(request, head["snapshot"])}>; rel="bookmark"'
    if head["status"] == 200:
        headers |= {"Sentgen-Rows": str(head["rows"]), "Sentgen-Truncated": str(head["truncated"]).lower()}
    media_type = f"{head['type']}; charset=utf-8" if head["type"].startswith("text/") else head["type"]
    return Response(message.body, head["status"], headers, media_type)


async def audited(
    request: Request,
    service: Service,
    operation: Operation,
    values: dict[str, Any],
    form: Format = Format.JSON,
    escape_formulas: bool = False,
) -> Message:
    """Have the service do an operation; write down what SQL was run, for whom, and what came of it.

    Raises:
        Refused: no worker could answer.
    """
    outcome: dict[str, Any] = {"status": 0}
    try:
        message = await service.call(operation, values, form=form, escape_formulas=escape_formulas)
        outcome = {key: message.head[key] for key in ("status", "rows", "truncated", "seconds", "snapshot")}
        return message
    except problems.Refused as refusal:
        outcome = {"status": refusal.status, "problem": refusal.document["type"]}
        raise
    finally:
        # In `finally`: what was refused, or killed its worker, is what one wants to read about.
        if operation.kind == "sql":
            client = request.client.host if request.client else ""
            audit.info("sql", extra={"client": client, "asked": values, **outcome})


def _accepted(accept: str) -> Format:
    """Return the format that the Accept header prefers, JSON if it names none that there is.

    >>> _accepted("text/html, text/csv;q=0.8, */*;q=0.1").value
    'csv'
    """
    forms = {media: form for form, media in MEDIA_TYPES.items()}
    best, found = 0.0, Format.JSON
    for part in accept.lower().split(","):
        media, *settings = (piece.strip() for piece in part.split(";"))
        weight = next((piece[2:] for piece in settings if piece.startswith("q=")), "1")
        try:
            value = float(weight)
        except ValueError:
            value = 0.0
        # Of equals the first, as most clients write them.
        if media in forms and value > best:
            best, found = value, forms[media]
    return found
