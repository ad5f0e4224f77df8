"""The routes of the pages, the templates behind them, and the files that they need."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cache, lru_cache, partial
from importlib import resources

from fastapi import APIRouter, Depends, FastAPI, Request, Response
from jinja2 import Environment
from markupsafe import Markup
from starlette.responses import HTMLResponse
from starlette.routing import Match

from sentgen import __version__
from sentgen.alignment.view import html
from sentgen.output import display, templates
from sentgen.output.typography import closed_up, is_right_to_left, readable
from sentgen.schema.manifests import PublishedCorpus
from sentgen.server import pinned
from sentgen.server.pages import (
    align,
    collocations,
    corpus,
    fuse,
    generate,
    hits,
    home,
    keywords,
    labels,
    model,
    offer,
    query,
    regenerate,
    sentence,
    sketch,
    sql,
    texts,
    thesaurus,
    vectors,
    word,
)
from sentgen.server.pages.meant import meant
from sentgen.server.pages.page import Asking, Page, PageParameters
from sentgen.server.problems import ProblemDocument
from sentgen.server.service import Service
from sentgen.server.settings import ServerSettings

PAGES: tuple[Page, ...] = (
    home.PAGE,
    corpus.PAGE,
    query.PAGE,
    labels.PAGE,
    word.PAGE,
    sketch.PAGE,
    thesaurus.PAGE,
    collocations.PAGE,
    keywords.PAGE,
    vectors.PAGE,
    hits.PAGE,
    sentence.PAGE,
    model.PAGE,
    regenerate.PAGE,
    generate.PAGE,
    fuse.PAGE,
    align.PAGE,
    sql.PAGE,
)
_PACKAGE = "sentgen.server.pages"
_MEDIA_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml", "txt": "text/plain"}
_HOUR = 3600


def router(settings: ServerSettings) -> APIRouter:
    """Return the routes of the pages that are offered, and of their files."""
    routes = APIRouter(include_in_schema=False, default_response_class=Response)
    cited = [Depends(_require_cited)]
    pages = offered(settings)
    keys = [page.key for page in pages]
    for page in pages:
        routes.add_api_route(page.path, _endpoint(page), methods=["GET", "HEAD"], dependencies=cited)
    if "sql" in keys:
        routes.add_api_route("/sql/{name}", sql.download, methods=["GET"], dependencies=cited)
    if "lines" in keys:
        routes.add_api_route(labels.PAGE.path, labels.change, methods=["POST"])
    if "query" in keys:
        routes.add_api_route("/query/{name}", query.download, methods=["GET"], dependencies=cited)
    routes.add_api_route("/static/{name}", static, methods=["GET", "HEAD"])
    return routes


def _endpoint(page: Page) -> Callable[[Request], Awaitable[Response]]:
    """Make the function of a route: ask, then fill in the template."""

    async def endpoint(request: Request) -> Response:
        asking, given = Asking(request, request.app.state.service), PageParameters(request.query_params)
        async with asking.turn():
            found = await page.view(asking, given)
        # Outside of the turn: the template needs no worker.
        asked = {"query": given, "retry": partial(meant, page.path, given)}
        return _page(request, page.template, {**asked, **found}, asking.status)

    return endpoint


async def _require_cited(request: Request) -> None:
    """Refuse a page, or a file of one, of another snapshot than the one that is served."""
    cited = PageParameters(request.query_params).text(pinned.PARAMETER)
    pinned.require(request.app.state.service.snapshot.name, cited)


def wants_page(request: Request) -> bool:
    """Say whether a person in a browser asks, and not a program."""
    return "text/html" in request.headers.get("accept", "") and not request.url.path.startswith("/v1/")


def problem_page(request: Request, problem: ProblemDocument) -> Response:
    """Return a problem document as a page."""
    about = {"title": problem.title, "detail": problem.detail}
    return _page(request, "problem.html.j2", about, problem.status)


#: Of the page for whoever is refused before all others: they may not have the style sheet either.
_REFUSED_STYLE = Markup(
    "body{margin:0;font:1rem/1.5 system-ui,sans-serif;overflow-wrap:break-word}"
    "main{max-width:38rem;margin:0 auto;padding:2rem 1rem}"
    "h1{font-size:1.5rem;line-height:1.25;margin:.5rem 0}"
    ".brand{font-weight:700;margin:0}"
)
_REFUSED_POLICY = (
    "default-src 'none'; base-uri 'none'; frame-ancestors 'none'; style-src 'sha256-"
    f"{base64.b64encode(hashlib.sha256(_REFUSED_STYLE.encode()).digest()).decode()}'"
)


def refused_page(problem: ProblemDocument) -> HTMLResponse:
    """Return the problem of a request that is refused at the gate as a page, which needs nothing else."""
    about = {"title": problem.title, "detail": problem.detail, "status": problem.status}
    written = environment().get_template("refused.html.j2").render(**about, style=_REFUSED_STYLE)
    return HTMLResponse(written, problem.status, {"Content-Security-Policy": _REFUSED_POLICY})


def _page(request: Request, template: str, found: Mapping[str, object], status: int) -> Response:
    """Fill in a template; every value is escaped."""
    service: Service = request.app.state.service
    settings, pages = service.settings, offered(service.settings)
    written = (
        environment()
        .get_template(template)
        .render(
            **found,
            path=request.url.path,
            pages=[page for page in pages if page.name],
            offered=[page.path for page in pages],
            offers_sql=settings.sql,
            snapshot=service.snapshot,
            permanent=pinned.permanent(request, service.snapshot.name),
            host=str(request.base_url).rstrip("/"),
            cited=_cited(request, service.snapshot.corpora),
        )
    )
    if settings.only:
        written = offer.without_dead_links(written, partial(_leads, request.app))
    # JSON can carry half of a surrogate pair, which is no UTF-8.
    return HTMLResponse(written.encode("utf-8", "replace"), status)


def _cited(request: Request, corpora: Sequence[PublishedCorpus]) -> Sequence[PublishedCorpus]:
    """Return the corpora that a page is about: those that it names, else all."""
    parameters = ("corpus", "against") if request.url.path == "/keyness" else ("corpus", "name")
    named = {value for one in parameters for value in request.query_params.getlist(one) if value}
    # What is no corpus is a subcorpus, or a model.
    about = named <= {one["name"] for one in corpora}
    return [one for one in corpora if not (named and about) or one["name"] in named]


def offered(settings: ServerSettings) -> list[Page]:
    """Return the pages that a server offers."""
    return offer.offered(PAGES, settings)


@lru_cache(maxsize=1000)
def _leads(app: FastAPI, path: str) -> bool:
    """Say whether there is something at a path."""
    asked = {"type": "http", "method": "GET", "path": path, "root_path": "", "headers": []}
    return any(route.matches(asked)[0] is Match.FULL for route in app.router.routes)


@cache
def environment() -> Environment:
    """Return what templates can use: filters and functions of `texts`."""
    made = templates.environment(_PACKAGE, "templates")
    made.filters |= {
        "shown": display.shown,
        "shortened": display.shortened,
        "ending": display.ending,
        "tail": display.tail,
        "closed_up": closed_up,
        "readable": readable,
        "visible": display.visible,
        "middle": display.middle,
        # What the workers drew, or wrote as HTML, has been escaped there.
        "drawing": lambda svg: Markup(display.inline_svg(display.sized(svg))),
        "fragment": Markup,
    }
    made.tests |= {"figure": display.is_number, "long": display.is_long}
    made.globals |= {
        "is_right_to_left": is_right_to_left,
        "link": texts.link,
        "cql_value": texts.cql_value,
        "token_pattern": texts.token_pattern,
        "phrase_pattern": texts.phrase_pattern,
        "ngram_pattern": texts.ngram_pattern,
        "static": static_path,
        "version": __version__,
    }
    return made


def static_path(name: str) -> str:
    """Return the URL of a file, which changes with its content."""
    content, _ = _files()[name]
    return f"/static/{name}?v={hashlib.sha256(content).hexdigest()[:12]}"


async def static(name: str) -> Response:
    """Serve a file that the pages need."""
    # Looked up, never joined to a folder: no name leads out of it.
    found = _files().get(name)
    if found is None:
        return Response("no such file\n", 404, media_type="text/plain")
    content, media_type = found
    return Response(content, headers={"Cache-Control": f"private, max-age={_HOUR}"}, media_type=media_type)


@cache
def _files() -> dict[str, tuple[bytes, str]]:
    """Return the files by name, with their media types."""
    contents = {
        file.name: file.read_bytes() for file in resources.files(_PACKAGE).joinpath("static").iterdir()
    }
    contents |= {"alignment.css": html.style().encode(), "alignment.js": html.script().encode()}
    return {name: (content, _MEDIA_TYPES[name.rpartition(".")[2]]) for name, content in contents.items()}
