"""The routes of the pages, their templates, and the files that they load."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache, partial
from html import unescape
from importlib import import_module, resources
from typing import NamedTuple
from urllib.parse import quote, unquote, urlencode

from fastapi import APIRouter, Depends, Request, Response
from jinja2 import Environment
from markupsafe import Markup, escape
from starlette.responses import HTMLResponse

from sentgen import __version__
from sentgen.alignment.view import html
from sentgen.errors import InputError
from sentgen.options import parameters_of
from sentgen.output import display, templates
from sentgen.output.display import closed_up, is_right_to_left, readable
from sentgen.output.wording import near
from sentgen.server.classroom import TEACHER
from sentgen.server.operations import Kind, operations
from sentgen.server.pages import texts
from sentgen.server.pages.page import FILE_FORMS, Asking, Page, PageAnswer, PageParameters, leads
from sentgen.server.pages.texts import link
from sentgen.server.parameters import read
from sentgen.server.problems import ProblemDocument, Refused
from sentgen.server.routes import SNAPSHOT, CitedRequest, answer, require_snapshot
from sentgen.server.service import Service
from sentgen.server.settings import ServerSettings
from sentgen.server.users import USER
from sentgen.server.wire import Format

_PACKAGE = "sentgen.server.pages"
#: Modules of this package with a tuple ``PAGES``, in the order of the navigation.
_MODULES = ("corpus", "query", "lines", "word", "measures", "generation", "align", "api", "class_pages")
PAGES: tuple[Page, ...] = tuple(
    page for name in _MODULES for page in import_module(f"{_PACKAGE}.{name}").PAGES
)
_MEDIA_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml", "txt": "text/plain"}
_HOUR = 3600


def router(settings: ServerSettings) -> APIRouter:
    """Return the routes of the offered pages and of their files."""
    routes = APIRouter(include_in_schema=False, default_response_class=Response)
    cited = [Depends(_require_cited)]
    for page in offered_pages(settings):
        routes.add_api_route(page.path, _endpoint(page), methods=["GET", "HEAD"], dependencies=cited)
        if page.key:
            routes.add_api_route(f"{page.path}/{{name}}", _file(page), methods=["GET"], dependencies=cited)
        if page.change:
            routes.add_api_route(page.path, _change(page), methods=["POST"])
    routes.add_api_route("/static/{name}", _static, methods=["GET", "HEAD"])
    return routes


def _endpoint(page: Page) -> Callable[[Request], Awaitable[Response]]:
    """Return the function of a route, which calls the view of the page and fills in the template."""

    async def endpoint(request: Request) -> Response:
        asking, given = Asking(request, request.app.state.service), PageParameters(request.query_params)
        async with asking.turn():
            values = await page.view(asking, given)
        # After the turn, as the template needs no worker.
        parameters = {"query": given, "retry": partial(_alternatives, page.path, given)}
        return _page(request, page.template, {**parameters, **values}, asking.status)

    return endpoint


def _change(page: Page) -> Callable[[Request], Awaitable[Response]]:
    """Return the function that handles the form of a page, and shows the page again after an error."""
    assert page.change
    change = page.change

    async def endpoint(request: Request) -> Response:
        done = await change(request)
        return done if isinstance(done, Response) else _page(request, page.template, done, 422)

    return endpoint


def _file(page: Page) -> Callable[[Request, str], Awaitable[Response]]:
    """Return the function that sends the files of a page: all rows of an operation, or a file of its own."""

    async def endpoint(request: Request, name: str) -> Response:
        operation_name, _, form = name.rpartition(".")
        operation = operations()[operation_name] if operation_name in page.asks else None
        # Not for operations of the desk, some of which change it, as a link must not.
        if operation and operation.kind != "desk" and form in FILE_FORMS.values():
            query = request.query_params
            lists = [each.name for each in parameters_of(operation.declaration) if each.is_list]
            given = {key: query.getlist(key) if key in lists else query[key] for key in query}
            given.pop(SNAPSHOT, None)
            message = replace(read(operation, given), form=Format(form))
            response = await answer(request, replace(message, citation=CitedRequest(request).text()))
            if response.status_code == 200:
                response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
            return response
        if page.download:
            return await page.download(request, name)
        raise Refused(404, "not-found", f"no file {name!r}; the page has links to its files")

    return endpoint


async def _require_cited(request: Request) -> None:
    """Refuse a page or file whose URL cites another snapshot than the served one."""
    cited = PageParameters(request.query_params).text(SNAPSHOT)
    require_snapshot(request.app.state.service.snapshot.name, cited)


def wants_page(request: Request) -> bool:
    """Return whether the request is from a browser, not from a program."""
    return "text/html" in request.headers.get("accept", "") and not request.url.path.startswith("/v1/")


def problem_page(request: Request, problem: ProblemDocument) -> Response:
    """Return a problem document as a page."""
    about = {"title": problem.title, "detail": problem.detail}
    return _page(request, "problem.html.j2", about, problem.status)


#: Style of the page for a request refused at the gate, which may not load the style sheet either.
_REFUSED_STYLE = Markup(
    "body{margin:0;font:1rem/1.5 system-ui,sans-serif;overflow-wrap:break-word}"
    "main{max-width:38rem;margin:0 auto;padding:2rem 1rem}"
    "h1{font-size:1.5rem;line-height:1.25;margin:.5rem 0}"
    ".brand{font-weight:700;margin:0}"
)
#: Attributes with an address on this server; texts of a corpus cannot look like them, as quotes are escaped.
_ADDRESSES = ("href", "src", "action", "formaction", "data-url", "hx-get", "hx-post")
# The pattern begins with its rarest part, and looks back for the name: this is ten times as fast.
_OF_SERVER = re.compile('="/(?!/)(?:' + "|".join(rf'(?<=\b{name}="/)' for name in _ADDRESSES) + ")")
_REFUSED_POLICY = (
    "default-src 'none'; base-uri 'none'; frame-ancestors 'none'; style-src 'sha256-"
    f"{base64.b64encode(hashlib.sha256(_REFUSED_STYLE.encode()).digest()).decode()}'"
)


def refused_page(problem: ProblemDocument) -> HTMLResponse:
    """Return the page for a request refused at the gate, which loads no other file."""
    about = {"title": problem.title, "detail": problem.detail, "status": problem.status}
    written = environment().get_template("refused.html.j2").render(**about, style=_REFUSED_STYLE)
    return HTMLResponse(written, problem.status, {"Content-Security-Policy": _REFUSED_POLICY})


def _page(request: Request, template: str, values: Mapping[str, object], status: int) -> Response:
    """Fill in a template; every value is escaped."""
    service: Service = request.app.state.service
    settings, pages, cited = service.settings, offered_pages(service.settings), CitedRequest(request)
    written = (
        environment()
        .get_template(template)
        .render(
            **values,
            path=request.url.path,
            pages=[page for page in pages if page.name],
            offered=[page.path for page in pages],
            offers_sql=settings.sql,
            snapshot=service.snapshot,
            permanent=cited.link(service.snapshot.name),
            host=cited.addresses()[0],
            asker=request.scope[USER].name if settings.classroom else "",
            teaches=request.scope[USER] is TEACHER,
            here=_without_citation(request),
            begun=request.scope.get("app_root_path", ""),
            cited=cited.corpora(service.snapshot.corpora),
        )
    )
    if settings.only:
        written = _without_dead_links(written, partial(leads, request.app))
    if base := request.scope.get("app_root_path"):
        written = _OF_SERVER.sub(lambda _: f'="{base}/', written)
    # JSON can contain lone surrogates, which UTF-8 cannot encode.
    return HTMLResponse(written.encode("utf-8", "replace"), status)


def _without_citation(request: Request) -> str:
    """Return the path and query of a page without the snapshot that it cites."""
    given = [pair for pair in request.query_params.multi_items() if pair[0] != SNAPSHOT]
    path = quote(request.url.path, errors="replace")
    return f"{path}?{urlencode(given, errors='replace')}" if given else path


@cache
def environment() -> Environment:
    """Return the environment of the templates, with filters and functions."""
    made = templates.environment(_PACKAGE, "templates")
    made.filters |= {
        "shown": display.shown,
        "shortened": display.shorten,
        "ending": display.last_part,
        "tail": display.tail,
        "closed_up": closed_up,
        "readable": readable,
        "visible": display.visible,
        # Allows a line break between the words of a column's name.
        "breakable": lambda name: escape(name).replace("_", Markup("_<wbr>")),
        "middle": display.middle,
        # Workers have escaped the texts in drawings and HTML.
        "drawing": lambda svg: Markup(_with_size_class(svg)),
        "fragment": Markup,
    }
    made.tests |= {"figure": display.is_number, "long": display.is_long}
    made.globals |= {
        "is_right_to_left": is_right_to_left,
        "cell": texts.cell,
        "link": texts.link,
        "cql_value": texts.cql_value,
        "token_pattern": texts.token_pattern,
        "phrase_pattern": texts.phrase_pattern,
        "ngram_pattern": texts.ngram_pattern,
        "static": _static_path,
        "version": __version__,
    }
    return made


def _static_path(name: str) -> str:
    """Return the URL of a static file, which contains a hash of its content."""
    content, _ = _files()[name]
    return f"/static/{name}?v={hashlib.sha256(content).hexdigest()[:12]}"


async def _static(name: str) -> Response:
    # Looked up by name, not joined to a folder, so that no name leads out of it.
    file = _files().get(name)
    if file is None:
        return Response("no such file\n", 404, media_type="text/plain")
    content, media_type = file
    return Response(content, headers={"Cache-Control": f"private, max-age={_HOUR}"}, media_type=media_type)


@cache
def _files() -> dict[str, tuple[bytes, str]]:
    """Return the static files by name, as content and media type."""
    contents = {
        file.name: file.read_bytes() for file in resources.files(_PACKAGE).joinpath("static").iterdir()
    }
    contents |= {"alignment.css": html.style().encode(), "alignment.js": html.script().encode()}
    return {name: (content, _MEDIA_TYPES[name.rpartition(".")[2]]) for name, content in contents.items()}


#: Pages that are offered only if the server does work of their kind.
_KINDS: dict[str, Kind] = {"sql": "sql", "lines": "desk", "s": "desk"}
#: Pages that are offered only for a class.
_OF_CLASS = ("join", "class")
#: Operations that every page asks.
_SHARED = ("corpora", "subcorpora")
#: A link; a link with a sentence about its page; a paragraph of links only. Texts in them are escaped.
_LINK = re.compile(r'<a\b[^>]*?\shref="(/[^"]*)"[^>]*>(.*?)</a>', re.DOTALL)
_CARD = re.compile(r'<li><a href="(/[^"]*)">[^<]*</a><p>[^<]*</p></li>\s*')
_ROW = re.compile(r"<p>(<a\b[^>]*>[^<]*</a>(?: · <a\b[^>]*>[^<]*</a>)*)</p>\n?")


def offered_pages(settings: ServerSettings) -> list[Page]:
    """Return the pages that a server offers: all, or the named ones and those outside the navigation."""
    only, kinds = settings.only, settings.kinds
    return [
        page
        for page in PAGES
        if _KINDS.get(page.key, kinds[0]) in kinds
        and (settings.classroom or page.key not in _OF_CLASS)
        and (not only or not page.name or page.key in ("", *only))
    ]


def read_offered(text: str) -> tuple[str, ...]:
    """Parse names of pages, separated by commas.

    Raises:
        InputError: there is no page of that name.
    """
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    known = [page.key for page in PAGES if page.name and page.key]
    for name in names:
        if name not in known:
            raise InputError(f"no page {name!r} to offer; there are: {', '.join(known)}")
    return names


def operations_of(pages: Iterable[Page]) -> frozenset[str]:
    """Return the operations whose rows some pages show."""
    return frozenset([*_SHARED, *(name for page in pages if page.key for name in page.asks)]) & {
        *operations()
    }


def _without_dead_links(html: str, leads: Callable[[str], bool]) -> str:
    """Return a page without links to paths that the server lacks; their texts stay, unless they are alone."""

    def is_dead(link: re.Match[str]) -> bool:
        return not leads(unquote(re.split("[?#]", unescape(link[1]), maxsplit=1)[0]))

    def without_dead(row: re.Match[str]) -> str:
        links = [text for text in row[1].split(" · ") if not ((link := _LINK.match(text)) and is_dead(link))]
        return f"<p>{' · '.join(links)}</p>\n" if links else ""

    html = _ROW.sub(without_dead, html)
    html = _CARD.sub(lambda card: "" if is_dead(card) else card[0], html)
    return _LINK.sub(lambda link: link[2] if is_dead(link) else link[0], html)


#: Part of a message about an unknown name: the name in quotes, and the names to choose from.
_UNKNOWN = re.compile(
    r"'(?P<value>[^']+)'.*?(?:did you mean|there are:?|the store has:) (?P<names>.+?)(?:\?|$| and \d)"
)
#: Part of a message about a query in the other query language.
_OTHER_LANGUAGE = re.compile(r"\bor choose (CQL|Grew)$")
_BETWEEN = re.compile(r", | or ")
_MOST_ALTERNATIVES = 10
#: Among the names of a message, the option that ignores case.
_IGNORE_CASE = "--ignore-case"
#: Parameters of the shown rows, which are dropped in links to other queries.
_OF_ANSWER = ("offset", "counts_offset", "open")


class _NamedLink(NamedTuple):
    """A name that may be meant, and the link to the page with it."""

    name: str
    link: str


def _alternatives(path: str, query: PageParameters, answer: PageAnswer) -> list[list[_NamedLink]]:
    """Return links with names that may be meant, a list for each value that never occurs.

    >>> from starlette.datastructures import QueryParams
    >>> asked = PageParameters(QueryParams("word=the campp&corpus=a"))
    >>> _alternatives("/word", asked, PageAnswer(more={"near": {"campp": ["camp"]}}))
    [[_NamedLink(name='camp', link='/word?word=the+camp&corpus=a')]]
    >>> _alternatives("/word", asked, PageAnswer(problem="no corpus 'a'; there are: x, gum"))[0][1].link
    '/word?word=the+campp&corpus=gum'
    """
    if other := _OTHER_LANGUAGE.search(answer.problem):
        there = {**query.without(*_OF_ANSWER), "language": other[1].lower()}
        return [[_NamedLink(f"it in {other[1]}", link(path, **there))]]
    listed = dict(answer.more.get("near", {}))
    if match := _UNKNOWN.search(answer.problem):
        names = _BETWEEN.split(match["names"])
        listed[match["value"]] = near(match["value"], names) or names[:_MOST_ALTERNATIVES]
    links = ([_with_name(path, query, value, name) for name in names] for value, names in listed.items())
    return [given for some in links if (given := [each for each in some if each])]


def _with_name(path: str, query: PageParameters, value: str, name: str) -> _NamedLink | None:
    given = query.without(*_OF_ANSWER)
    if name == _IGNORE_CASE:
        return _NamedLink("ignore case", link(path, **{**given, "ignore_case": "on"}))
    # Only as a whole word, not as a part of another.
    slip = re.compile(rf"(?<!\w){re.escape(value)}(?!\w)")
    there = {key: [slip.sub(lambda _: name, text) for text in texts] for key, texts in given.items()}
    return _NamedLink(name, link(path, **there)) if there != given else None


_SVG_WIDTH = re.compile(r'<svg [^>]*?\bwidth="([\d.]+)"')


#: Largest widths in pixels at which letters of 11 pixels are still legible when a drawing is scaled to boxes
#: of 346 and 1186 pixels.
_SHRINKABLE = {"small": 480, "medium": 1640}


def _with_size_class(svg: str) -> str:
    """Return a drawing with the class for the narrowest box to which it can be scaled and still be legible.

    >>> _with_size_class('<svg width="460" height="9"/>'), _with_size_class('<svg width="9999" height="9"/>')
    ('<svg class="small" width="460" height="9"/>', '<svg class="wide" width="9999" height="9"/>')
    """
    width = _SVG_WIDTH.match(svg)
    kind = next((name for name, most in _SHRINKABLE.items() if width and float(width[1]) <= most), "wide")
    return svg.replace("<svg ", f'<svg class="{kind}" ', 1)
