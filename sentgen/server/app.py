"""The HTTP application: routes, errors, and what every request passes before them.

In front of all is who may ask, for which host, and how large a request is; every response carries what keeps
browsers from harm. Behind it is an application for each set of corpora that users may see.
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

#: Whoever only wants to know whether the server lives needs no token.
_OPEN = "/healthz"
_METRICS = "/metrics"
#: Asked again and again by programs, and by the page of a teacher: a log would have a line every few seconds.
_POLLED = frozenset((_OPEN, _METRICS, "/class"))
_TOKEN = (
    "give a token: in a browser as the password, with any user name; elsewhere as Authorization: Bearer"
    " TOKEN; whoever runs the server gives them out"
)
_NOBODY = (
    "nobody is let in: the server has written down what is wrong with its file of users; tell who runs it"
)
#: A header each, and the one first that browsers know: Chromium takes two in one header for an unknown third.
_CHALLENGES = ('Basic realm="sentgen"', 'Bearer realm="sentgen"')
#: A link from another site may lead here; nothing else may be asked for from there.
_READING = frozenset({"GET", "HEAD"})
#: The router's own redirection, of a path with a slash too many: without what the gate took off.
_SLASH = 307
_LOCAL = frozenset({"localhost", "127.0.0.1", "[::1]"})
_HEADERS = {
    # What a corpus says stands on our pages: were it ever not escaped, no script of it would run.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
        " font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    # For browsers that do not know frame-ancestors.
    "X-Frame-Options": "DENY",
    # With "no-referrer", a form of ours would be of the origin "null", as one of another site may be.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class AccessMiddleware:
    """An ASGI application in front of another one."""

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
            # Websockets are left unanswered: uvicorn is told that there are none.
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        scope = {**self._without_base(scope), PROBLEMS: []}
        # What uvicorn answers if the application raises before it has answered.
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
                    # Kept answers and static files have a Cache-Control of their own.
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
        """The names that the server may be called by now: a laptop has another address in another network."""
        return self._known_hosts | set(map(in_url, self._classroom.hosts if self._classroom else ()))

    def _check(self, scope: Scope, headers: Headers) -> None:
        """Refuse what is not meant for this server, not allowed, or too large."""
        # DNS rebinding: pages of a foreign name that points to this machine would be of one origin with us.
        # Of two Host headers, proxies and servers take different ones.
        hosts = headers.getlist("host")
        if len(hosts) != 1 or _name(hosts[0]) not in self._hosts:
            raise Refused(421, "host", "host name not allowed; add it with: sentgen serve --allow-host")
        # Old browsers send no Sec-Fetch-Site, but an Origin with what is no plain GET, or at least a Referer.
        crossing = headers.get("sec-fetch-site") == "cross-site" and not _follows_link(scope, headers)
        origin = headers.get("origin", None if scope["method"] in _READING else headers.get("referer"))
        if origin not in self._origins and (crossing or _foreign(origin, hosts[0])):
            raise Refused(403, "cross-site", "requests from pages of other sites are not answered")
        # A chunked body has none; `_bounded` counts it as it comes.
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self._limit:
            raise _too_large(self._limit)

    def _let_in(self, scope: Scope, headers: Headers) -> Scope:
        """Return a request with its user, or refuse one of whom nobody knows."""
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
        """Return a request as it would be without the path below which a proxy offers the server."""
        # Proxies take it off, or leave it.
        path: str = scope["path"]
        if not self._base:
            return scope
        if path == self._base or path.startswith(f"{self._base}/"):
            path = path.removeprefix(self._base) or "/"
        return {**scope, "path": path, "app_root_path": self._base}

    @contextmanager
    def _turn(self, name: str) -> Iterator[None]:
        """Refuse a request of a user of whom too many are being answered."""
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
        """Return who has the token of the header, where it stands alone or as the password of a browser."""
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
        # In constant time: how long a refusal takes must not tell how much of a token was right.
        return User() if any(hmac.compare_digest(token, known) for known in self._tokens) else None

    def _record(self, scope: Scope, status: int, seconds: float) -> None:
        # The route, not the path: a metric for each path that somebody makes up would fill the memory.
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
    """Return a channel that refuses a body that is longer than its header said, or says nothing."""
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
    """Say whether somebody followed a link to a page: the site with the link sees nothing of the answer."""
    fetch = headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")
    page = scope["path"] == DOCS or not scope["path"].startswith("/v1")
    return scope["method"] == "GET" and page and fetch == ("navigate", "document")


def _foreign(origin: str | None, host: str) -> bool:
    """Say whether a page of another origin sent the request; `null` is another one."""
    return origin is not None and urlsplit(origin).netloc.lower() != host.lower()


def _refusal_response(refusal: Refused, request: Request) -> Response:
    """Return what says why: a page to a person in a browser."""
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

    @app.get(_OPEN, tags=["watching"], summary="Whether the server answers, and each kind of its workers.")
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

    @app.get(_METRICS, tags=["watching"], summary="Metrics for Prometheus.", response_class=Response)
    async def show_metrics() -> Response:
        text = service.metrics.text(
            {str(kind): state for kind, state in service.pools.items()}, service.snapshot.name, service.cache
        )
        return Response(text, media_type=MEDIA_TYPE)


def _add_errors(app: FastAPI) -> None:
    """Make a problem document of everything that goes wrong."""

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
    # Starlette's own refusals, such as a path without a route.
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
        made["components"]["schemas"]["Problem"] = ProblemDocument.model_json_schema()
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
    document["paths"][_OPEN]["get"]["security"] = []


#: The same wherever it is written, as a telephone may write it.
_TOKEN_IN_PATH = re.compile(r"(?<=/as/)[^/]+", re.IGNORECASE)


def _without_token(path: str) -> str:
    """Return a path as logs have it, which others read: refused requests, too, may be of who has a token.

    >>> _without_token("/corpora/as/nkvnzu7kzw39/word")
    '/corpora/as/…/word'
    """
    return _TOKEN_IN_PATH.sub("…", path)
