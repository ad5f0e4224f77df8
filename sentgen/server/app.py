"""The HTTP application: routes, errors, and the checks of every request before them.

First, a request's user, host and size are checked, and every response gets security headers. Then an
application for the set of corpora that the user may see answers.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hmac
import re
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import asynccontextmanager, contextmanager
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import JSONResponse, RedirectResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sentgen import __version__
from sentgen.output.wording import quantity
from sentgen.server import problems, routes
from sentgen.server.addresses import in_url
from sentgen.server.audiences import Audiences
from sentgen.server.cache import CacheMiddleware
from sentgen.server.classroom import TEACHER
from sentgen.server.monitoring import MEDIA_TYPE, Metrics, access
from sentgen.server.operations import Kind, operations
from sentgen.server.pages import site
from sentgen.server.pages.api import DOCS
from sentgen.server.parameters import mistakes_in
from sentgen.server.pool import Health, start_task
from sentgen.server.problems import PROBLEMS, ProblemDocument, Refused, note_problem
from sentgen.server.service import Service
from sentgen.server.settings import ServerSettings
from sentgen.server.users import USER, Asker, User

#: Paths that need no token: whether the server is alive.
_OPEN = "/healthz"
_METRICS = "/metrics"
#: Paths that are not logged, since programs and the page of a teacher request them every few seconds.
_POLLED = frozenset((_OPEN, _METRICS, "/class"))
_TOKEN = (
    "give a token: in a browser as the password, with any user name; elsewhere as Authorization: Bearer"
    " TOKEN; whoever runs the server gives them out"
)
_NOBODY = (
    "nobody is let in: the server has written down what is wrong with its file of users; tell who runs it"
)
#: One header for each challenge, the one that browsers know first: Chromium does not parse two in one header.
_CHALLENGES = ('Basic realm="sentgen"', 'Bearer realm="sentgen"')
#: Requests that another site may cause: only following a link.
_READING = frozenset({"GET", "HEAD"})
#: The router's own redirection, of a path with a slash too many: without what the gate took off.
_SLASH = 307
_LOCAL = frozenset({"localhost", "127.0.0.1", "[::1]"})
_HEADERS = {
    # Pages show text of corpora: if it were ever not escaped, no script in it would run.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
        " font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    # For browsers that do not know frame-ancestors.
    "X-Frame-Options": "DENY",
    # With "no-referrer", our own forms would have the origin "null", as those of other sites may.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class AccessMiddleware:
    """An ASGI middleware that checks host, user and size of each request, and adds security headers."""

    def __init__(self, app: ASGIApp, *, settings: ServerSettings, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics
        self._limit = settings.limits.body
        hosts = (*(() if settings.classroom else (settings.host,)), *settings.hosts)
        self._known_hosts = _LOCAL | {in_url(host) for host in hosts}
        self._classroom = settings.classroom
        self._base, self._origins = settings.base_path, frozenset(settings.origins)
        self._tokens = tuple(token.encode() for token in settings.tokens)
        self._users = settings.users
        self._at_work = Counter[str]()
        self._most_at_work = settings.limits.user_requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            # Websockets are not answered: uvicorn is configured without them.
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        scope = {**self._without_base(scope), PROBLEMS: []}
        # The status that uvicorn sends if the application raises before it has answered.
        status, refused = 500, False

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(raw=message["headers"])
                to = headers.get("location", "")
                if status == _SLASH:
                    to = to.removeprefix(f"{scope['scheme']}://{Headers(scope=scope)['host']}")
                if to.startswith("/") and not refused:
                    headers["location"] = f"{scope.get('app_root_path', '')}{to}"
                for name, value in _HEADERS.items():
                    # Cached answers and static files have their own Cache-Control.
                    headers.setdefault(name, value)
            await send(message)

        try:
            headers = Headers(scope=scope)
            self._check(scope, headers)
            scope = self._let_in(scope, headers)
            with self._turn(scope[USER].name):
                await self._app(scope, _limit_body(receive, self._limit), sending)
        except Refused as refusal:
            refused = True
            note_problem(scope, refusal.document.detail)
            await _refusal_response(refusal, Request(scope))(scope, receive, sending)
        finally:
            self._record(scope, status, time.perf_counter() - started)

    @property
    def _hosts(self) -> AbstractSet[str]:
        """The current valid names in the header Host; the addresses of a laptop change with its network."""
        return self._known_hosts | set(map(in_url, self._classroom.hosts if self._classroom else ()))

    def _check(self, scope: Scope, headers: Headers) -> None:
        """Refuse a request that is for another host, not allowed, or too large."""
        # DNS rebinding: pages of a foreign name that resolves to this machine would have our origin.
        # Of two Host headers, proxies and servers may use different ones.
        hosts = headers.getlist("host")
        if len(hosts) != 1 or _name(hosts[0]) not in self._hosts:
            raise Refused(421, "host", "host name not allowed; add it with: sentgen serve --allow-host")
        # Old browsers send no Sec-Fetch-Site, but an Origin unless it is a plain GET, or at least a Referer.
        crossing = headers.get("sec-fetch-site") == "cross-site" and not _follows_link(scope, headers)
        origin = headers.get("origin", None if scope["method"] in _READING else headers.get("referer"))
        if origin not in self._origins and (crossing or _foreign(origin, hosts[0])):
            raise Refused(403, "cross-site", "requests from pages of other sites are not answered")
        # A chunked body has no length; `_limit_body` counts its bytes while they are received.
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self._limit:
            raise _too_large(self._limit)

    def _let_in(self, scope: Scope, headers: Headers) -> Scope:
        """Return the scope of a request with its user; a request of an unknown user is refused."""
        if scope["path"] == _OPEN:
            return {**scope, USER: User()}
        if self._classroom:
            entered = self._classroom.enter(scope)
            if entered["path"] == _METRICS and entered[USER] is not TEACHER:
                raise Refused(403, "rights", "in a class only its teacher may see what the server counts")
            return entered
        user = self._user(headers.get("authorization", ""))
        if user is None:
            raise Refused(401, "token", _TOKEN)
        return {**scope, USER: user}

    def _without_base(self, scope: Scope) -> Scope:
        """Return the scope of a request without the path prefix under which a proxy serves this server."""
        # Some proxies remove the prefix, others do not.
        path: str = scope["path"]
        if not self._base:
            return scope
        if path == self._base or path.startswith(f"{self._base}/"):
            path = path.removeprefix(self._base) or "/"
        return {**scope, "path": path, "app_root_path": self._base}

    @contextmanager
    def _turn(self, name: str) -> Iterator[None]:
        """Count a request of a user while it is answered; refuse it if the user has too many."""
        if name and self._at_work[name] >= self._most_at_work:
            raise Refused(
                429,
                "busy",
                f"being answered already, of yours: {quantity(self._most_at_work, 'request')}; wait for them",
                {"Retry-After": "1"},
            )
        self._at_work[name] += 1
        try:
            yield
        finally:
            self._at_work[name] -= 1
            if not self._at_work[name]:
                del self._at_work[name]

    def _user(self, authorization: str) -> User | None:
        """Return the user with the token of the header, a bearer token or the password of a browser."""
        if not self._tokens and self._users is None:
            return User()
        scheme, _, given = authorization.partition(" ")
        # Bytes, as compare_digest refuses text beyond ASCII.
        token = given.strip().encode("utf-8", "replace")
        if scheme.lower() == "basic":
            try:
                token = base64.b64decode(token, validate=True).partition(b":")[2]
            except binascii.Error:
                return None
        elif scheme.lower() != "bearer":
            return None
        if self._users is not None:
            user = self._users.find(token)
            if user is None and not self._users.readable:
                raise Refused(503, "users", _NOBODY, {"Retry-After": "1"})
            return user
        # In constant time, so that the duration of a refusal does not reveal a part of a token.
        return User() if any(hmac.compare_digest(token, known) for known in self._tokens) else None

    def _record(self, scope: Scope, status: int, seconds: float) -> None:
        # The route, not the path: metrics for arbitrary paths would fill the memory.
        path = getattr(scope.get("route"), "path", "other")
        self._metrics.requested(path, status, seconds)
        if self._classroom and (name := Asker.from_scope(scope).user) and scope[USER] is not TEACHER:
            self._classroom.lesson.record(scope, name, status, seconds)
        if scope["path"] in _POLLED and scope["method"] == "GET" and status < 400:
            return
        access.info(
            "request",
            extra={
                "method": scope["method"],
                "path": _without_token(scope["path"]) if self._classroom else scope["path"],
                "route": path,
                "status": status,
                "ms": round(seconds * 1000, 1),
                **Asker.from_scope(scope).logged,
            },
        )


def _limit_body(receive: Receive, limit: int) -> Receive:
    """Return a channel that refuses a body beyond the limit, whatever its length header says."""
    size = 0

    async def receiving() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > limit:
            raise _too_large(limit)
        return message

    return receiving


def _too_large(limit: int) -> Refused:
    return Refused(413, "too-large", f"the request is longer than {limit:,} bytes; send less at a time")


def _name(host: str) -> str:
    """Return a Host header without its port."""
    name, colon, port = host.rpartition(":")
    return (name if colon and port.isdecimal() else host).lower()


def _follows_link(scope: Scope, headers: Headers) -> bool:
    """Return whether a user followed a link to a page; the other site cannot read the answer."""
    fetch = headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")
    page = scope["path"] == DOCS or not scope["path"].startswith("/v1")
    return scope["method"] == "GET" and page and fetch == ("navigate", "document")


def _foreign(origin: str | None, host: str) -> bool:
    """Return whether a page of another origin sent the request; `null` is another origin."""
    return origin is not None and urlsplit(origin).netloc.lower() != host.lower()


def _refusal_response(refusal: Refused, request: Request) -> Response:
    """Return the response of a refusal: a page for a browser, else a problem document."""
    if site.wants_page(request) and "Location" in refusal.headers:
        return RedirectResponse(refusal.headers["Location"], 303)
    if site.wants_page(request):
        answer: Response = site.refused_page(refusal.document)
    else:
        answer = Response(refusal.document.json_bytes, refusal.status, refusal.headers, problems.MEDIA_TYPE)
    if refusal.status == 401 and "Location" not in refusal.headers:
        for challenge in _CHALLENGES:
            answer.headers.append("WWW-Authenticate", challenge)
    return answer


#: Least bytes of an answer to compress, and the level, a low one since other requests wait meanwhile.
_SMALLEST_PACKED, _PACKED = 4096, 1
#: Our messages for errors that Starlette raises.
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
    # Outermost, since the preflight request of a browser has no token.
    return CORSMiddleware(
        app,
        allow_origins=whole.settings.origins,
        allow_methods=("GET", "POST"),
        allow_headers=("Authorization", "Content-Type"),
        expose_headers=("ETag", "Link", "Sentgen-Rows", "Sentgen-Snapshot", "Sentgen-Truncated"),
    )


class _Applications:
    """Passes each request to the application for the corpora that its user may see."""

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
            # A task, which other requests can await, and which a disconnection does not cancel.
            self._applications[service] = asyncio.create_task(self._begun(service))
        application = await asyncio.shield(self._applications[service])
        await application(scope, receive, send)

    async def _begun(self, service: Service) -> FastAPI:
        """Return the application over a service, with the lifetime of the service."""
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
    """Return the application over one service; ``health`` returns the health of the workers of all."""
    app = FastAPI(
        title="sentgen",
        version=__version__,
        description=_ABOUT,
        # Replaced by our own document below, which has the address prefix of the user.
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
    # The middleware added last runs first: cached answers come after the access check, and are compressed.
    app.add_middleware(GZipMiddleware, minimum_size=_SMALLEST_PACKED, compresslevel=_PACKED)
    app.add_middleware(CacheMiddleware, service=service)
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]
    return app


def _add_tools(app: FastAPI, service: Service) -> None:
    """Add the route of MCP, without sessions: each request is independent."""
    from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager

    from sentgen.server.tools import tool_server

    # Host, user and size of a request have been checked by `AccessMiddleware`.
    manager = StreamableHTTPSessionManager(
        tool_server(service, app.state.offered),
        json_response=True,
        stateless=True,
        max_request_body_size=service.settings.limits.body,
    )
    app.state.tools = manager
    app.router.routes.append(_ToolsRoute("/mcp", StreamableHTTPASGIApp(manager), methods=["POST"]))


class _ToolsRoute(Route):
    """A route that appears in metrics and logs by its path, as those of FastAPI do."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["route"] = self
        await super().handle(scope, receive, send)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Run the MCP server during the lifetime of the application."""
    if not hasattr(app.state, "tools"):
        yield
        return
    async with app.state.tools.run():
        yield


def _add_watching(
    app: FastAPI, service: Service, health: Callable[[], Awaitable[Mapping[Kind, Health]]]
) -> None:
    """Add the routes of health and metrics."""

    @app.get(_OPEN, tags=["watching"], summary="Whether the server answers, and each kind of its workers.")
    async def healthz(response: Response) -> dict[str, Any]:
        workers = await health()
        well = "failing" not in workers.values()
        response.status_code = 200 if well else 503
        status = "ok" if well else "failing"
        # No token is needed here: if users see different corpora, the snapshot is not shown.
        about = {} if service.settings.users else {"snapshot": service.snapshot.name}
        return {"status": status, "version": __version__, **about, "workers": workers}

    if service.excerpts:  # the metrics count the requests of all users, which others must not see
        return

    @app.get(_METRICS, tags=["watching"], summary="Metrics for Prometheus.", response_class=Response)
    async def show_metrics() -> Response:
        text = service.metrics.text(
            {str(kind): state for kind, state in service.pools.items()}, service.snapshot.name, service.cache
        )
        return Response(text, media_type=MEDIA_TYPE)


def _add_errors(app: FastAPI) -> None:
    """Answer every error with a problem document."""

    @app.exception_handler(Refused)
    async def refused(request: Request, error: Refused) -> Response:
        return _response(request, error.document, error.headers)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        operation = operations().get(getattr(request.scope.get("route"), "name", ""))
        names = [*operation.names(), *routes.AnswerForm.model_fields] if operation else []
        detail = mistakes_in(error.errors(), names, inside=1)
        return _response(request, problems.ProblemDocument.make(422, "parameters", detail))

    @app.exception_handler(HTTPException)
    # Errors of Starlette, such as a path without a route.
    async def failed(request: Request, error: HTTPException) -> Response:
        kind, detail = _STARLETTE.get(
            error.status_code, ("request", "this is no request that can be answered")
        )
        only = request.app.state.service.settings.only
        if kind == "no-such-route" and only:
            detail = f"this server offers only some pages, and not this one; there are: {', '.join(only)}"
        document = problems.ProblemDocument.make(error.status_code, kind, detail)
        return _response(request, document, error.headers)

    @app.exception_handler(Exception)
    async def broken(request: Request, error: Exception) -> Response:
        # Nothing of the exception: it may quote paths and settings; the log has it.
        return _response(request, problems.ProblemDocument.make(500, "internal", problems.BROKEN))


def _response(
    request: Request, document: ProblemDocument, headers: Mapping[str, str] | None = None
) -> Response:
    """Return the response of a problem: a page for a browser, else a problem document."""
    problems.note_problem(request.scope, document.detail)
    if site.wants_page(request):
        return site.problem_page(request, document)
    return Response(document.json_bytes, document.status, headers, problems.MEDIA_TYPE)


async def _document(request: Request) -> Response:
    """Answer with the OpenAPI document, with the address prefix of the user."""
    begun = request.scope.get("app_root_path", "")
    return JSONResponse({**request.app.openapi(), **({"servers": [{"url": begun}]} if begun else {})})


def _openapi(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document, which is generated once."""
    if not app.openapi_schema:
        settings = app.state.service.settings
        made = get_openapi(
            title=app.title,
            version=app.version,
            description=app.description,
            routes=app.routes,
        )
        made["components"]["schemas"]["Problem"] = ProblemDocument.model_json_schema()
        if settings.tokens or settings.users:
            _say_who_may_ask(made)
        app.openapi_schema = made
    return app.openapi_schema


def _say_who_may_ask(document: dict[str, Any]) -> None:
    """Add to an OpenAPI document that requests need a token."""
    document["components"]["securitySchemes"] = {
        "bearer": {"type": "http", "scheme": "bearer", "description": "A token of the server."},
        "basic": {"type": "http", "scheme": "basic", "description": "The token as password of any user."},
    }
    document["security"] = [{"bearer": []}, {"basic": []}]
    document["paths"][_OPEN]["get"]["security"] = []


#: The same wherever it is written, as a telephone may write it.
_TOKEN_IN_PATH = re.compile(r"(?<=/as/)[^/]+", re.IGNORECASE)


def _without_token(path: str) -> str:
    """Return a path for logs, without the token of a student, which a refused request may have, too.

    >>> _without_token("/corpora/as/nkvnzu7kzw39/word")
    '/corpora/as/…/word'
    """
    return _TOKEN_IN_PATH.sub("…", path)
