"""The class of pages, with a path, a template, and a view that asks operations for the template's values."""

from __future__ import annotations

import asyncio
import re
import shlex
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal, NamedTuple
from urllib.parse import parse_qsl, quote

from fastapi import FastAPI, Request, Response
from starlette.datastructures import QueryParams
from starlette.routing import Match

from sentgen.options import parameters_of
from sentgen.server import wire
from sentgen.server.cache import CHANGES
from sentgen.server.operations import operations
from sentgen.server.operations.operation import Operation
from sentgen.server.pages.texts import link
from sentgen.server.parameters import read
from sentgen.server.problems import ProblemDocument, Refused, note_problem
from sentgen.server.service import Service
from sentgen.server.users import Asker
from sentgen.server.wire import Format, Reply


@dataclass(frozen=True, slots=True)
class PageAnswer:
    """The answer of an operation, or its problem in one line.

    ``command`` is the command line that gives the same rows, ``sql`` the statements that ran, ``picture``
    shows the error in a query, ``files`` are the links to all rows by the name of the format.
    """

    columns: Sequence[str] = ()
    rows: Sequence[Mapping[str, Any]] = ()
    truncated: bool = False
    notes: Sequence[str] = ()
    sql: Sequence[str] = ()
    command: str = ""
    more: Mapping[str, Any] = field(default_factory=dict)
    problem: str = ""
    picture: str = ""
    files: Mapping[str, str] = field(default_factory=dict)


#: Formats of files by their names on a page; Parquet is for those who write SQL.
FILE_FORMS = {"CSV": Format.CSV, "Excel": Format.XLSX, "JSON": Format.JSON, "Parquet": Format.PARQUET}
#: Parameters that select the rows of a page; a file has all rows.
_PART = ("limit", "offset")
_IN_PATH = re.compile(r"\{(\w+)\}")


def file_links(operation: Operation, values: Mapping[str, object], path: str) -> dict[str, str]:
    """Return the links to files with all rows that the server gives, by the name of the format.

    They are addresses of the API; for operations without one, addresses below the page. ``values`` are the
    parameters of the page, as `Asking` takes them.
    """
    defaults = {
        each.name: each.default
        for each in parameters_of(operation.declaration)
        if each.option.line != "hidden"
    }
    given = {
        name: "true" if value is True else value
        for name, value in values.items()
        if name in defaults and name not in _PART and value not in (None, "", [], defaults[name])
    }
    if _PART[0] in defaults:
        # The limit of a graph is its number of words: its file has no more.
        given[_PART[0]] = values[_PART[0]] if "graph" in given else "0"
    linked = operation.api and operation.method == "GET"
    route = _IN_PATH.sub(lambda name: quote(str(given.pop(name[1])), safe=""), operation.route)
    links = {}
    for name, form in FILE_FORMS.items():
        if form is Format.PARQUET and operation.kind != "sql":
            continue
        if linked:
            # CSV has rows only, without a citation.
            how = {} if form is Format.CSV else {"cite": "true"}
            links[name] = link(route, **given, format=form, **how)
        else:
            links[name] = link(f"{path}/{operation.name}.{form}", **given)
    return links


def default(operation: str, name: str) -> Any:
    """Return the default of a parameter of an operation, which is that of its command."""
    return next(
        each.default for each in parameters_of(operations()[operation].declaration) if each.name == name
    )


@lru_cache(maxsize=1000)
def leads(app: FastAPI, path: str) -> bool:
    """Return whether the server has a route for a path."""
    parameters = {"type": "http", "method": "GET", "path": path, "root_path": "", "headers": []}
    return any(route.matches(parameters)[0] is Match.FULL for route in app.router.routes)


async def read_form(request: Request) -> PageParameters:
    """Return the parameters that a form of a page sends."""
    text = (await request.body()).decode("utf-8", "replace")
    return PageParameters(QueryParams(parse_qsl(text, keep_blank_values=True)))


class PageParameters:
    """The parameters in the URL of a page, read with defaults."""

    def __init__(self, parameters: QueryParams) -> None:
        self._parameters = parameters

    def text(self, name: str, default: str = "") -> str:
        """Return a text without blanks at both ends; the default if it is empty."""
        return self._parameters.get(name, "").strip() or default

    def raw(self, name: str) -> str:
        """Return a text as it was typed, with the line ends of Unix."""
        return self._parameters.get(name, "").replace("\r\n", "\n")

    def choice(self, name: str, choices: Iterable[str]) -> str:
        """Return the value if it is one of the choices, else the first choice."""
        known = list(choices)
        value = self.text(name)
        return value if value in known else known[0]

    def all(self, name: str) -> list[str]:
        """Return all values of a name, each once."""
        return list(dict.fromkeys(value for value in self._parameters.getlist(name) if value))

    def conditions(self, name: str = "where") -> list[str]:
        """Return the conditions on metadata that are chosen or typed."""
        return [condition for each in self.all(name) if (condition := each.strip())]

    def where(self, name: str = "where") -> str:
        """Return these conditions as one: values of the same key are alternatives, all else is required."""
        return _joined(self.conditions(name))

    def without(self, *names: str) -> dict[str, list[str]]:
        """Return all values by name, without some names."""
        rest = (name for name in self._parameters if name not in names)
        return {name: self._parameters.getlist(name) for name in rest}

    def each(self, name: str) -> list[str]:
        """Return all values of a name in their order, with empty and equal ones."""
        return self._parameters.getlist(name)

    def pairs(self) -> Sequence[tuple[str, str]]:
        """Return all names with their values, in their order."""
        return self._parameters.multi_items()

    def box(self, name: str) -> str:
        """Return the value of a checked box in a URL, empty for an unchecked one."""
        return "on" if self.text(name) else ""

    def rows(self, default: int) -> int:
        """Return the number of rows to show."""
        return self.number("limit", default, least=1, most=500)

    def number(self, name: str, default: int, *, least: int = 0, most: int = 1_000_000) -> int:
        """Return a whole number, limited to its bounds; the default if the value is none."""
        value = self.text(name).lstrip("+")
        # Longer numbers are senseless, and int() raises an error at some thousands of digits.
        return min(max(int(value), least), most) if value.isdecimal() and len(value) < 10 else default

    def contexts(self, path: str, names: Iterable[str], **more: object) -> list[_ContextLink]:
        """Return the links to the page with each context.

        Kept are the parameters of these names, and ``more`` are further ones.
        """
        values = {name: self.all(name) for name in names if name != "context"} | more
        now = self.text("context")
        shown = now if now in _CONTEXTS else ""
        return [
            _ContextLink(name, link(path, **values, context=value), value == shown)
            for value, name in _CONTEXTS.items()
        ]


class Asking:
    """Asks operations for a page; keeps the highest status of their answers."""

    def __init__(self, request: Request, service: Service) -> None:
        self.request, self._service = request, service
        self.status = 200

    @property
    def path(self) -> str:
        """The path of the page."""
        return self.request.url.path

    @property
    def offers_sql(self) -> bool:
        """Whether the server takes SQL."""
        return self._service.settings.sql

    @property
    def offers_labels(self) -> bool:
        """Whether the server has line sets."""
        return self._service.settings.desk is not None

    @property
    def offered(self) -> Mapping[str, Operation]:
        """The operations that the API has, by name."""
        offered: Mapping[str, Operation] = self.request.app.state.offered
        return offered

    @property
    def document(self) -> Mapping[str, Any]:
        """The OpenAPI document of the server."""
        document: Mapping[str, Any] = self.request.app.openapi()
        return document

    @property
    def address(self) -> str:
        """The address of the server, as the client knows it."""
        return str(self.request.base_url).rstrip("/")

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait until few enough other pages ask, as a page asks up to nine questions at once.

        Raises:
            Refused: the wait took too long.
        """
        pages, seconds = self._service.pages, self._service.settings.limits.seconds["compute"]
        try:
            await asyncio.wait_for(pages.acquire(), seconds)
        except TimeoutError:
            raise Refused(
                429, "busy", "too many pages are asked for; try again later", {"Retry-After": "1"}
            ) from None
        try:
            yield
        finally:
            pages.release()

    async def __call__(self, name: str, /, **values: object) -> PageAnswer:
        """Ask an operation; empty parameters are left out.

        An error is not raised: it is the problem of the answer, and sets the status of the page.
        """
        operation = operations()[name]
        try:
            reply = await self.reply(operation, values)
        except Refused as refusal:
            return self.problem(refusal.document.detail, refusal.status)
        if reply.status != 200:
            problem = ProblemDocument.model_validate_json(reply.body)
            return self.problem(problem.detail, problem.status, problem.picture or "")
        answer = wire.decode(reply.body, PageAnswer)
        if not operation.api and answer.sql:
            # Operations without a route have no command; `sentgen sql` gives the same rows.
            answer = replace(answer, command=shlex.join(["sentgen", "sql", answer.sql[0]]))
        return replace(answer, files=file_links(operation, values, self.path))

    async def nothing(self) -> None:
        """Ask nothing, in place of an operation that is not needed."""

    async def reply(self, operation: Operation, values: Mapping[str, object]) -> Reply:
        """Ask an operation, or the cache: all pages ask for the corpora, for example.

        Raises:
            Refused: the parameters are wrong, or no worker could answer.
        """
        given = {key: value for key, value in values.items() if value not in (None, "", [])}
        reply = await self._service.ask(read(operation, given), asker=Asker.from_scope(self.request.scope))
        if reply.of_labels:
            self.request.scope[CHANGES] = True
        return reply

    def problem(self, text: str, status: int, picture: str = "") -> PageAnswer:
        """Return an answer with a problem, and a picture of its place in a query."""
        self.status = max(self.status, status)
        note_problem(self.request.scope, text)
        return PageAnswer(problem=text, picture=picture)


@dataclass(frozen=True, slots=True)
class Page:
    """A page.

    Attributes:
        path: path of the page.
        name: its name in the navigation; empty if only other pages lead to it.
        template: the file of its template.
        view: function that asks operations, and returns the values of the template by name.
        asks: names of the operations whose rows it shows. If only some pages are offered, the API has only
            these operations. The page sends files for those without an address in the API.
        download: function that sends another file, by its name below the page.
        change: function that does what a form of the page sends, and returns a response, or the values of the
            template for an error.
    """

    path: str
    name: str
    template: str
    view: Callable[[Asking, PageParameters], Awaitable[Mapping[str, object]]]
    asks: tuple[str, ...] = ()
    download: Callable[[Request, str], Awaitable[Response]] | None = None
    change: Callable[[Request], Awaitable[Response | Mapping[str, object]]] | None = None

    @property
    def key(self) -> str:
        """The name of the page in the option for the offered pages: its path without the slash."""
        return self.path.strip("/")


_DOWN = "-"


@dataclass(frozen=True, slots=True)
class ListPart:
    """The rows of a list that a page shows, and their order, by the URL.

    Args:
        path: path of the page.
        query: parameters of the page.
        rows: how many rows are shown.
        usual: column by which rows are sorted if the URL names none, with ``-`` before it in falling order.
        prefix: prefix of the parameters of a second list on the page.
    """

    path: str
    query: PageParameters
    rows: int
    usual: str = ""
    prefix: str = ""

    @property
    def sort(self) -> str:
        """The column by which the URL sorts all rows; empty for the default order."""
        return self.query.text(f"{self.prefix}sort")

    @property
    def offset(self) -> int:
        """The number of rows before the first shown one."""
        return self.query.number(f"{self.prefix}offset", 0)

    @property
    def parameters(self) -> dict[str, object]:
        """The parameters of the operation for these rows."""
        return {"sort": self.sort, "offset": self.offset, "limit": self.rows}

    def direction(self, column: str) -> Literal["ascending", "descending", ""]:
        """Return the direction in which rows are sorted by a column; empty if by another column."""
        now = self.sort or self.usual
        if now.removeprefix(_DOWN) != column:
            return ""
        return "descending" if now.startswith(_DOWN) else "ascending"

    def by(self, column: str, *, down: bool) -> str:
        """Return the link to the page sorted by a column; in the opposite direction if it is already."""
        now = self.direction(column)
        down = now == "ascending" if now else down
        return self._page("", f"{_DOWN if down else ''}{column}")

    def cut(self, answer: PageAnswer) -> PageAnswer:
        """Return the answer with the shown rows only, from one with all rows, which is sorted here."""
        rows = list(answer.rows)
        column, down = self.sort.removeprefix(_DOWN), self.sort.startswith(_DOWN)
        if column in answer.columns:
            valued = [row for row in rows if row[column] is not None]
            # Values other than numbers are compared as texts, as lists and the like have no order.
            numbers = all(isinstance(row[column], int | float) for row in valued)
            valued.sort(key=lambda row: row[column] if numbers else str(row[column]), reverse=down)
            rows = valued + [row for row in rows if row[column] is None]
        shown = rows[self.offset : self.offset + self.rows]
        more = self.offset + len(shown) < len(rows)
        total = {} if answer.truncated else {"total": len(rows)}
        return replace(answer, rows=shown, truncated=answer.truncated or more, more={**total, **answer.more})

    def label(self, answer: PageAnswer) -> str:
        """Return the numbers of the shown rows, and of all if known, as `51–100 of 400`."""
        first, last = self.offset + 1, self.offset + len(answer.rows)
        total = answer.more.get("total") or ("" if answer.truncated else last)
        return f"{first:,}–{last:,}" + (f" of {total:,}" if total else "")

    def before(self) -> str:
        """Return the link to the previous rows; empty if there are none."""
        return self._page(max(self.offset - self.rows, 0) or "", self.sort) if self.offset else ""

    def behind(self, answer: PageAnswer) -> str:
        """Return the link to the next rows; empty if there are none."""
        return self._page(self.offset + len(answer.rows), self.sort) if answer.truncated else ""

    def _page(self, offset: object, sort: str) -> str:
        offsets, sorts = f"{self.prefix}offset", f"{self.prefix}sort"
        # Without `open`: it names unfolded trees by the number of the line, which changes.
        values: dict[str, object] = {**self.query.without(offsets, sorts, "open")}
        return link(self.path, **values, **{sorts: sort, offsets: offset})


#: Values of `--context` with their names on the page; the first is the default.
_CONTEXTS: Mapping[str, str] = {
    "": "some words",
    "1s": "sentence",
    "2s": "3 sentences",
    "1p": "paragraph",
    "3p": "5 paragraphs",
}


class _ContextLink(NamedTuple):
    """A link to the page with a context."""

    name: str
    link: str
    shown: bool


#: A condition that a key has a value, as facets write it.
_OF_KEY = re.compile(r'("(?:[^"\\]|\\.)*"|\w+) (?:=|like) "(?:[^"\\]|\\.)*"')


def _joined(conditions: Sequence[str]) -> str:
    """Return conditions as one: values of the same key are alternatives, all else is required.

    >>> _joined(['genre = "news"', "length < 9", 'genre = "vlog"'])
    '(genre = "news" or genre = "vlog") and (length < 9)'
    >>> _joined(["year > 1900 or not genre = news"])
    'year > 1900 or not genre = news'
    """
    groups: dict[str, list[str]] = {}
    for condition in conditions:
        of_key = _OF_KEY.fullmatch(condition)
        groups.setdefault(of_key[1] if of_key else condition, []).append(condition)
    parts = [" or ".join(group) for group in groups.values()]
    return " and ".join(parts if len(parts) == 1 else [f"({part})" for part in parts])
