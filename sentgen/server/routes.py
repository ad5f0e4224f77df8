"""The API: a route for each operation, made from its parameters."""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Container, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Body, Path, Query, Request, Response
from pydantic import BaseModel, Field, create_model

from sentgen import __version__
from sentgen.schema.manifests import PublishedCorpus
from sentgen.server import problems
from sentgen.server.addresses import in_url, is_loopback
from sentgen.server.cache import CHANGES
from sentgen.server.operations import operations
from sentgen.server.operations.operation import Operation
from sentgen.server.parameters import Parameters, call, fields_of, parameters
from sentgen.server.problems import ProblemDocument, Refused, note_problem
from sentgen.server.service import Service
from sentgen.server.settings import ServerSettings
from sentgen.server.users import Asker
from sentgen.server.wire import MEDIA_TYPES, Call, Format

_PATH_PARAMETER = re.compile(r"\{(\w+)\}")


class AnswerForm(Parameters):
    """How an answer is written, of which snapshot."""

    format: Format | None = Field(
        None, description="How the answer is written; the Accept header says it, too."
    )
    escape_formulas: bool = Field(
        False,
        description="In CSV and TSV, put an apostrophe before what a spreadsheet would take for a formula.",
    )
    cite: bool = Field(
        False,
        description="Say how to cite the answer: in JSON, and on the second sheet of a workbook.",
    )
    snapshot: str | None = Field(
        None,
        description="The snapshot that is cited; if another one is served, the request is refused.",
    )


class AnswerDocument(BaseModel):
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
    citation: str | None = Field(None, description="How to cite the answer, if that was asked.")


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
        "model": create_model("Table", __base__=AnswerDocument, __doc__=AnswerDocument.__doc__),
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


def offered(settings: ServerSettings, only: Container[str] | None = None) -> dict[str, Operation]:
    """Return the operations that the API of a server has, or those of some names among them."""
    return {
        name: operation
        for name, operation in operations().items()
        # Without SQL, there is no route for it: it is not documented, and answered as any unknown path.
        if operation.api and operation.kind in settings.kinds and (only is None or name in only)
    }


def router(settings: ServerSettings, only: Container[str] | None = None) -> APIRouter:
    """Return the routes of all operations, or only of some."""
    routes = APIRouter(tags=["operations"])
    for operation in offered(settings, only).values():
        routes.add_api_route(
            operation.route,
            _endpoint(operation),
            methods=[operation.method],
            summary=operation.summary,
            description=f"The same as `sentgen {operation.command}`.",
            operation_id=operation.name,
            responses=_responses(operation),
            response_class=Response,
        )
    return routes


def _responses(operation: Operation) -> dict[int | str, dict[str, Any]]:
    """Return the possible responses, with the schema of a row if the operation has one."""
    if not operation.row:
        return _RESPONSES
    # FastAPI adds the table to it, in place.
    rows = {"schema": {"properties": {"rows": {"items": {**operation.row}}}}}
    answered = _RESPONSES[200]
    return {**_RESPONSES, 200: {**answered, "content": {**answered["content"], "application/json": rows}}}


def _endpoint(operation: Operation) -> Callable[..., Awaitable[Response]]:
    """Make the function of a route: its signature is the parameters of the operation."""
    in_path = _PATH_PARAMETER.findall(operation.path)
    takes_body = operation.method == "POST"
    names = operation.names()

    async def endpoint(request: Request, query: AnswerForm, **given: Any) -> Response:
        require_snapshot(request.app.state.service.snapshot.name, query.snapshot)
        values = {**dict(given.pop("body", query)), **given}
        form = query.format or _preferred_format(request.headers.get("accept", ""))
        message = call(operation, {name: values[name] for name in names})
        message = replace(message, form=form, escape_formulas=query.escape_formulas)
        return await answer(
            request, replace(message, citation=CitedRequest(request).text()) if query.cite else message
        )

    model = parameters(operation)
    signature: dict[str, Any] = {"request": Request}
    for name in in_path:
        about = model.model_fields[name]
        signature[name] = Annotated[about.annotation, Path(description=about.description)]
    fields = {name: field for name, field in fields_of(operation.declaration).items() if name not in in_path}
    if takes_body:
        body = parameters(operation, without=in_path)
        example = {name: value for name, value in operation.example.items() if name not in in_path}
        signature["body"] = Annotated[body, Body(examples=[example])]
    in_query = {} if takes_body else fields
    form = create_model(f"{operation.name.capitalize()}Query", __base__=AnswerForm, **in_query)
    signature["query"] = Annotated[form, Query()]
    endpoint.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation)
            for name, annotation in signature.items()
        ]
    )
    endpoint.__name__ = operation.name
    return endpoint


async def answer(request: Request, message: Call) -> Response:
    """Call an operation of the service, and return its answer as a response."""
    service: Service = request.app.state.service
    reply = await service.call(message, asker=Asker.from_scope(request.scope))
    if reply.of_labels:
        request.scope[CHANGES] = True
    # So that a proxy does not answer a request for JSON with cached CSV.
    headers = {"Sentgen-Snapshot": reply.snapshot, "Sentgen-Version": __version__, "Vary": "Accept"}
    if request.method == "GET":
        base = service.settings.base_path
        headers["Link"] = f'<{base}{CitedRequest(request).link(reply.snapshot)}>; rel="bookmark"'
    if reply.status != 200:
        note_problem(request.scope, ProblemDocument.model_validate_json(reply.body).detail)
    else:
        headers |= {"Sentgen-Rows": str(reply.rows), "Sentgen-Truncated": str(reply.truncated).lower()}
    text = reply.media_type.startswith("text/")
    media_type = f"{reply.media_type}; charset=utf-8" if text else reply.media_type
    return Response(reply.body, reply.status, headers, media_type)


def _preferred_format(accept: str) -> Format:
    """Return the format that the Accept header prefers, JSON if it names none that there is.

    >>> _preferred_format("text/html, text/csv;q=0.8, */*;q=0.1").value
    'csv'
    """
    forms = {media: known for known, media in MEDIA_TYPES.items()}
    best, form = 0.0, Format.JSON
    for part in accept.lower().split(","):
        media, *settings = (piece.strip() for piece in part.split(";"))
        weight = next((piece[2:] for piece in settings if piece.startswith("q=")), "1")
        try:
            value = float(weight)
        except ValueError:
            value = 0.0
        # Of equally preferred formats the first one.
        if media in forms and value > best:
            best, form = value, forms[media]
    return form


#: Name of the parameter, of pages and of the API.
SNAPSHOT = "snapshot"


def require_snapshot(served: str, cited: str | None) -> None:
    """Refuse a request that is about another snapshot than the one that answers.

    Args:
        served: name of the snapshot that is served.
        cited: name of the requested snapshot, with or without ``sentgen-`` before its hash; None for any.

    Raises:
        Refused: the snapshots differ.
    """
    if cited and served not in (cited, f"sentgen-{cited}"):
        raise Refused(
            410,
            "snapshot",
            f"this is about {cited}, and {served} is served now: its answer may differ; "
            f"leave out {SNAPSHOT}= to have that",
        )


@dataclass(frozen=True, slots=True)
class CitedRequest:
    """The citation of an answer: the server, the corpora and a link."""

    request: Request

    def addresses(self) -> list[str]:
        """Return the addresses of the server for others, first that of the request if others can use it."""
        settings = self.request.app.state.service.settings
        here, hosts = self.request.url.hostname or "", settings.classroom.hosts if settings.classroom else ()
        # Others reach another machine by the names of the loopback: their own.
        named = [here] if not hosts or not is_loopback(here) else []
        port = f":{self.request.url.port}" if self.request.url.port else ""
        return [
            f"{self.request.url.scheme}://{in_url(host)}{port}{settings.base_path}"
            for host in dict.fromkeys([*named, *hosts])
        ]

    def text(self) -> str:
        """Return how to cite an answer: version, snapshot, its corpora with their licences, and a link."""
        snapshot = self.request.app.state.service.snapshot
        corpora = ", ".join(
            f"{corpus['name']} ({corpus['licence']})" if corpus["licence"] else corpus["name"]
            for corpus in self.corpora(snapshot.corpora)
        )
        return (
            f"sentgen {__version__}, snapshot {snapshot.name} (SHA-256 {snapshot.sha256}) of {corpora};"
            f" {self.addresses()[0]}{self.link(snapshot.name)}"
        )

    def corpora(self, corpora: Sequence[PublishedCorpus]) -> Sequence[PublishedCorpus]:
        """Return the corpora that a request names, else all."""
        compared = self.request.url.path.endswith("/keyness")
        keys = ("corpus", "against") if compared else ("corpus", "name")
        named = {value for name in keys for value in self.request.query_params.getlist(name) if value}
        # Other names are those of subcorpora or models.
        about = named <= {corpus["name"] for corpus in corpora}
        return [corpus for corpus in corpora if not (named and about) or corpus["name"] in named]

    def link(self, served: str) -> str:
        """Return a link to the answer from this snapshot: path and query without the server."""
        given = [pair for pair in self.request.query_params.multi_items() if pair[0] != SNAPSHOT]
        # Paths may contain anything, lone surrogates included; a header is plain ASCII.
        path = quote(self.request.scope["path"], errors="replace")
        return f"{path}?{urlencode([*given, (SNAPSHOT, served)], errors='replace')}"
