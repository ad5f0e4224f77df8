"""The HTTP application: routes, errors, and the service behind them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from sentgen import __version__
from sentgen.server import metrics, problems, routes
from sentgen.server.app.gate import OPEN, AccessMiddleware
from sentgen.server.audiences import Audiences
from sentgen.server.cache import CacheMiddleware
from sentgen.server.operations import Kind, operations
from sentgen.server.pages import site
from sentgen.server.parameters import mistakes_in, names_of
from sentgen.server.pool import Health, start_task
from sentgen.server.problems import ProblemDocument, Refused
from sentgen.server.service import Service
from sentgen.server.users import USER

#: Bytes of an answer that are worth packing, and how hard: the front packs while others wait for it.
_SMALLEST_PACKED, _PACKED = 4096, 1
#: What Starlette refuses by itself, in our words.
_STARLETTE = {
    400: ("request", "the body cannot be read; send JSON as UTF-8"),
    404: ("no-such-route", "there is nothing here; /v1/openapi.json lists what there is"),
    405: ("method", "this method is not for this path; the header Allow says which are"),
}
_ABOUT = (
    "Counts, models, sentences and alignments of a published store. Every operation is also a command of"
    " sentgen: same names, same parameters, same results."
)


def create_app(audiences: Audiences) -> ASGIApp:
    """Return the application over services, which have been started."""
    whole = audiences.whole
    app = AccessMiddleware(_Applications(audiences), settings=whole.settings, metrics=whole.metrics)
    if not whole.settings.origins:
        return app
    # First: a browser asks without a token whether it may ask.
    return CORSMiddleware(
        app,
        allow_origins=whole.settings.origins,
        allow_methods=("GET", "POST"),
        allow_headers=("Authorization", "Content-Type"),
        expose_headers=("ETag", "Link", "Sentgen-Rows", "Sentgen-Snapshot", "Sentgen-Truncated"),
    )


class _Applications:
    """Gives each request to the application of what its user may see."""

    def __init__(self, audiences: Audiences) -> None:
        self._audiences = audiences
        self._applications: dict[Service, asyncio.Task[FastAPI]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or begin and end with the server."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        service = self._audiences.service_of(scope[USER])
        if service not in self._applications:
            # A task, as others may ask before it is done; and whoever goes away must not end it.
            self._applications[service] = asyncio.create_task(self._begun(service))
        application = await asyncio.shield(self._applications[service])
        await application(scope, receive, send)

    async def _begun(self, service: Service) -> FastAPI:
        """Return the application over a service, which lives as long as that."""
        app, ready = _application(service, self._audiences.health), asyncio.Event()

        async def live() -> None:
            try:
                async with app.router.lifespan_context(app):
                    ready.set()
                    await service.ended.wait()
            finally:
                del self._applications[service]

        start_task(self._tasks, live(), "application")
        await ready.wait()
        return app

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await send({"type": "lifespan.shutdown.complete"})


def _application(service: Service, health: Callable[[], Awaitable[Mapping[Kind, Health]]]) -> FastAPI:
    """Return the application over one service; ``health`` asks the workers of all."""
    app = FastAPI(
        title="sentgen",
        version=__version__,
        description=_ABOUT,
        # Ours, below, says the address of who asks.
        openapi_url=None,
        # FastAPI's pages load scripts from elsewhere, which our Content-Security-Policy forbids.
        docs_url=None,
        redoc_url=None,
        lifespan=_lifespan,
    )
    app.state.service = service
    settings = service.settings
    only = site.operations_of(site.offered_pages(settings)) if settings.only else None
    app.state.offered = routes.offered(settings, only)
    app.include_router(routes.router(settings, only))
    app.include_router(site.router(settings))
    if find_spec("mcp"):
        _add_tools(app, service)
    app.get("/v1/openapi.json", include_in_schema=False)(_document)
    _add_watching(app, service, health)
    _add_errors(app)
    # The last one added is met first: who may not ask gets nothing that is kept, and that is packed already.
    app.add_middleware(GZipMiddleware, minimum_size=_SMALLEST_PACKED, compresslevel=_PACKED)
    app.add_middleware(CacheMiddleware, service=service)
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]
    return app


def _add_tools(app: FastAPI, service: Service) -> None:
    """Add the route where programs speak MCP, whose requests are each by itself."""
    from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager

    from sentgen.server.tools import tool_server

    # Whom a request is for, who asks, and how long it is, the gate has looked at.
    manager = StreamableHTTPSessionManager(
        tool_server(service, app.state.offered),
        json_response=True,
        stateless=True,
        max_request_body_size=service.settings.limits.body,
    )
    app.state.tools = manager
    app.router.routes.append(_ToolsRoute("/mcp", StreamableHTTPASGIApp(manager), methods=["POST"]))


class _ToolsRoute(Route):
    """A route that metrics and log know by its path, as they know those of FastAPI."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        scope["route"] = self
        await super().handle(scope, receive, send)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Answer programs that speak MCP while requests are taken."""
    if not hasattr(app.state, "tools"):
        yield
        return
    async with app.state.tools.run():
        yield


def _add_watching(
    app: FastAPI, service: Service, health: Callable[[], Awaitable[Mapping[Kind, Health]]]
) -> None:
    """Add what tells whether the server is well."""

    @app.get(
        "/healthz", tags=["watching"], summary="Whether the server answers, and each kind of its workers."
    )
    async def healthz(response: Response) -> dict[str, Any]:
        workers = await health()
        well = "failing" not in workers.values()
        response.status_code = 200 if well else 503
        status = "ok" if well else "failing"
        # Nobody need have a token here: where users see different things, a new snapshot is none of theirs.
        about = {} if service.settings.users else {"snapshot": service.snapshot.name}
        return {"status": status, "version": __version__, **about, "workers": workers}

    if service.excerpts:  # all requests are counted, also those that others have sent
        return

    @app.get("/metrics", tags=["watching"], summary="Metrics for Prometheus.", response_class=Response)
    async def show_metrics() -> Response:
        text = service.metrics.text(
            {str(kind): state for kind, state in service.pools.items()}, service.snapshot.name, service.cache
        )
        return Response(text, media_type=metrics.MEDIA_TYPE)


def _add_errors(app: FastAPI) -> None:
    """Make a problem document of everything that goes wrong."""

    @app.exception_handler(Refused)
    async def refused(request: Request, error: Refused) -> Response:
        return _response(request, error.document, error.headers)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        operation = operations().get(getattr(request.scope.get("route"), "name", ""))
        names = [*names_of(operation), *routes.AnswerForm.model_fields] if operation else []
        detail = mistakes_in(error.errors(), names, inside=1)
        return _response(request, problems.problem(422, "parameters", detail))

    @app.exception_handler(HTTPException)
    # Starlette's own refusals, such as a path without a route.
    async def failed(request: Request, error: HTTPException) -> Response:
        kind, detail = _STARLETTE.get(
            error.status_code, ("request", "this is no request that can be answered")
        )
        only = request.app.state.service.settings.only
        if kind == "no-such-route" and only:
            detail = f"this server offers only some pages, and not this one; there are: {', '.join(only)}"
        document = problems.problem(error.status_code, kind, detail)
        return _response(request, document, error.headers)

    @app.exception_handler(Exception)
    async def broken(request: Request, error: Exception) -> Response:
        # Nothing of the exception: it may quote paths and settings; the log has it.
        return _response(request, problems.problem(500, "internal", problems.BROKEN))


def _response(
    request: Request, document: ProblemDocument, headers: Mapping[str, str] | None = None
) -> Response:
    """Return a problem: as a page to a person in a browser."""
    problems.note_problem(request.scope, document.detail)
    if site.wants_page(request):
        return site.problem_page(request, document)
    return Response(document.json_bytes, document.status, headers, problems.MEDIA_TYPE)


async def _document(request: Request) -> Response:
    """Answer with the OpenAPI document, and the beginning of the addresses of who asks."""
    begun = request.scope.get("app_root_path", "")
    return JSONResponse({**request.app.openapi(), **({"servers": [{"url": begun}]} if begun else {})})


def _openapi(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document; it is made once."""
    if not app.openapi_schema:
        settings = app.state.service.settings
        made = get_openapi(
            title=app.title,
            version=app.version,
            description=app.description,
            routes=app.routes,
        )
        made["components"]["schemas"].update(routes.schemas())
        if settings.tokens or settings.users:
            _say_who_may_ask(made)
        app.openapi_schema = made
    return app.openapi_schema


def _say_who_may_ask(document: dict[str, Any]) -> None:
    """Say in an OpenAPI document that requests need a token."""
    document["components"]["securitySchemes"] = {
        "bearer": {"type": "http", "scheme": "bearer", "description": "A token of the server."},
        "basic": {"type": "http", "scheme": "basic", "description": "The token as password of any user."},
    }
    document["security"] = [{"bearer": []}, {"basic": []}]
    document["paths"][OPEN]["get"]["security"] = []
