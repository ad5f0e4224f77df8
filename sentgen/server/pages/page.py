"""What a page is: a path, a template, and a view that asks operations for what the template shows."""

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
    """What an operation answered, or the problem in one line.

    ``command`` is the command line that gives the same rows, ``sql`` the statements that ran, ``picture``
    the place where a query cannot be read, ``files`` the links to all rows by the name of the format.
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


#: Formats of files, with the names that they have on a page; Parquet is for those who write SQL.
FILE_FORMS = {"CSV": Format.CSV, "Excel": Format.XLSX, "JSON": Format.JSON, "Parquet": Format.PARQUET}
#: Which rows of an answer a page shows, of which a file has all.
_PART = ("limit", "offset")
_IN_PATH = re.compile(r"\{(\w+)\}")


def file_links(operation: Operation, values: Mapping[str, object], path: str) -> dict[str, str]:
    """Return the links to all rows that the server gives, by the name of the format.

    They are those of the API; what it has no such address for, the page itself sends.

    Args:
        operation: which gives the rows.
        values: the parameters of the page, as `Asking` takes them.
        path: path of the page.
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
        # A graph has as many words as were asked for, and no rows beyond.
        given[_PART[0]] = values[_PART[0]] if "graph" in given else "0"
    linked = operation.api and operation.method == "GET"
    route = _IN_PATH.sub(lambda name: quote(str(given.pop(name[1])), safe=""), operation.route)
    links = {}
    for name, form in FILE_FORMS.items():
        if form is Format.PARQUET and operation.kind != "sql":
            continue
        if linked:
            # CSV is rows alone, and each field as it is: tokens such as `-` and `=` are words of a corpus.
            how = {} if form is Format.CSV else {"cite": "true"}
            links[name] = link(route, **given, format=form, **how)
        else:
            links[name] = link(f"{path}/{operation.name}.{form}", **given)
    return links


def default(operation: str, name: str) -> Any:
    """Return what a parameter of an operation is unless it is given: as its command has it."""
    return next(
        each.default for each in parameters_of(operations()[operation].declaration) if each.name == name
    )


@lru_cache(maxsize=1000)
def leads(app: FastAPI, path: str) -> bool:
    """Say whether there is something at a path."""
    parameters = {"type": "http", "method": "GET", "path": path, "root_path": "", "headers": []}
    return any(route.matches(parameters)[0] is Match.FULL for route in app.router.routes)


async def read_form(request: Request) -> PageParameters:
    """Return what the form of a page sends."""
    text = (await request.body()).decode("utf-8", "replace")
    return PageParameters(QueryParams(parse_qsl(text, keep_blank_values=True)))


class PageParameters:
    """The parameters in the URL of a page, read with defaults."""

    def __init__(self, parameters: QueryParams) -> None:
        self._parameters = parameters

    def text(self, name: str, default: str = "") -> str:
        """Return a text without blanks around it; the default if it is empty."""
        return self._parameters.get(name, "").strip() or default

    def raw(self, name: str) -> str:
        """Return a text as it was typed, with the line ends of Unix."""
        return self._parameters.get(name, "").replace("\r\n", "\n")

    def choice(self, name: str, choices: Iterable[str]) -> str:
        """Return one of the choices, the first one if it is none of them."""
        known = list(choices)
        value = self.text(name)
        return value if value in known else known[0]

    def all(self, name: str) -> list[str]:
        """Return all values of a name, each once."""
        return list(dict.fromkeys(value for value in self._parameters.getlist(name) if value))

    def conditions(self, name: str = "where") -> list[str]:
        """Return the conditions of metadata that are chosen or typed."""
        return [condition for each in self.all(name) if (condition := each.strip())]

    def where(self, name: str = "where") -> str:
        """Return these conditions in one: values of a key are alternatives, all else holds together."""
        return _joined(self.conditions(name))

    def without(self, *names: str) -> dict[str, list[str]]:
        """Return all values by name, but those of some names."""
        rest = (name for name in self._parameters if name not in names)
        return {name: self._parameters.getlist(name) for name in rest}

    def each(self, name: str) -> list[str]:
        """Return all values of a name in their order, also empty and equal ones."""
        return self._parameters.getlist(name)

    def pairs(self) -> Sequence[tuple[str, str]]:
        """Return all names with their values, in their order."""
        return self._parameters.multi_items()

    def box(self, name: str) -> str:
        """Return whether a box is checked: what its value is in a URL, or nothing."""
        return "on" if self.text(name) else ""

    def rows(self, default: int) -> int:
        """Return how many rows are wanted."""
        return self.number("limit", default, least=1, most=500)

    def number(self, name: str, default: int, *, least: int = 0, most: int = 1_000_000) -> int:
        """Return a whole number, kept within its bounds; the default if it is none."""
        value = self.text(name).lstrip("+")
        # More digits mean nothing here, and int() raises at some thousands.
        return min(max(int(value), least), most) if value.isdecimal() and len(value) < 10 else default

    def contexts(self, path: str, names: Iterable[str], **more: object) -> list[_ContextLink]:
        """Return the contexts that a page offers.

        Args:
            path: path of the page.
            names: the names of those that stay as they are.
            more: others, with their values.
        """
        values = {name: self.all(name) for name in names if name != "context"} | more
        now = self.text("context")
        shown = now if now in _CONTEXTS else ""
        return [
            _ContextLink(name, link(path, **values, context=value), value == shown)
            for value, name in _CONTEXTS.items()
        ]


class Asking:
    """Asks operations for one page; remembers how bad the worst answer was."""

    def __init__(self, request: Request, service: Service) -> None:
        self.request, self._service = request, service
        self.status = 200

    @property
    def path(self) -> str:
        """Where the page is."""
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
        """The address of the server, as it was asked."""
        return str(self.request.base_url).rstrip("/")

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait until there are not too many other pages: one asks up to nine questions at once.

        Raises:
            Refused: that took too long.
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
        """Have an operation done; parameters that are empty are left out.

        What goes wrong is no exception but a problem in the answer, and the status of the page.
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
            # What has no route has no command either; its first statement gives the same rows.
            answer = replace(answer, command=shlex.join(["sentgen", "sql", answer.sql[0]]))
        return replace(answer, files=file_links(operation, values, self.path))

    async def nothing(self) -> None:
        """Ask nothing, beside what is asked."""

    async def reply(self, operation: Operation, values: Mapping[str, object]) -> Reply:
        """Have an operation done, unless another page has asked the same: all of them show the corpora.

        Raises:
            Refused: the parameters are wrong, or no worker could answer.
        """
        given = {key: value for key, value in values.items() if value not in (None, "", [])}
        reply = await self._service.ask(read(operation, given), asker=Asker.from_scope(self.request.scope))
        if reply.of_labels:
            self.request.scope[CHANGES] = True
        return reply

    def problem(self, text: str, status: int, picture: str = "") -> PageAnswer:
        """Return an answer that says what is wrong, and where in a query."""
        self.status = max(self.status, status)
        note_problem(self.request.scope, text)
        return PageAnswer(problem=text, picture=picture)


@dataclass(frozen=True, slots=True)
class Page:
    """A page.

    Attributes:
        path: where it is.
        name: what the navigation calls it; empty if it is reached from other pages only.
        template: the file of its template.
        view: asks for what the template shows, and returns it by name.
        asks: the operations whose rows it shows, which the API has where only some pages are offered; those
            that have no address there, it sends as files, by the name of the operation below the page.
        download: sends another file, by its name below the page.
        change: does what a form of it sends, or returns what the template shows of what is wrong with it.
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
        """What it is called where some pages are chosen: its path without the slash."""
        return self.path.strip("/")


_DOWN = "-"


@dataclass(frozen=True, slots=True)
class ListPart:
    """A part of a list, as the URL of a page has it.

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
        """The column by which all rows are to be sorted; nothing if they come as usual."""
        return self.query.text(f"{self.prefix}sort")

    @property
    def offset(self) -> int:
        """How many rows are left out at the beginning."""
        return self.query.number(f"{self.prefix}offset", 0)

    @property
    def parameters(self) -> dict[str, object]:
        """The parameters of the operation."""
        return {"sort": self.sort, "offset": self.offset, "limit": self.rows}

    def direction(self, column: str) -> Literal["ascending", "descending", ""]:
        """Return how the rows are sorted by a column; nothing if they are by another one."""
        now = self.sort or self.usual
        if now.removeprefix(_DOWN) != column:
            return ""
        return "descending" if now.startswith(_DOWN) else "ascending"

    def by(self, column: str, *, down: bool) -> str:
        """Return the page sorted by a column; the other way around, if it is so already."""
        now = self.direction(column)
        down = now == "ascending" if now else down
        return self._page("", f"{_DOWN if down else ''}{column}")

    def cut(self, answer: PageAnswer) -> PageAnswer:
        """Return these rows of an answer that has all of them, and is small enough to be sorted here."""
        rows = list(answer.rows)
        column, down = self.sort.removeprefix(_DOWN), self.sort.startswith(_DOWN)
        if column in answer.columns:
            valued = [row for row in rows if row[column] is not None]
            # Lists and the like have no order of their own.
            numbers = all(isinstance(row[column], int | float) for row in valued)
            valued.sort(key=lambda row: row[column] if numbers else str(row[column]), reverse=down)
            rows = valued + [row for row in rows if row[column] is None]
        shown = rows[self.offset : self.offset + self.rows]
        more = self.offset + len(shown) < len(rows)
        total = {} if answer.truncated else {"total": len(rows)}
        return replace(answer, rows=shown, truncated=answer.truncated or more, more={**total, **answer.more})

    def label(self, answer: PageAnswer) -> str:
        """Return which rows these are, with the number of all where it is known: `51–100 of 400`."""
        first, last = self.offset + 1, self.offset + len(answer.rows)
        total = answer.more.get("total") or ("" if answer.truncated else last)
        return f"{first:,}–{last:,}" + (f" of {total:,}" if total else "")

    def before(self) -> str:
        """Return the page with the rows before these; nothing if there are none."""
        return self._page(max(self.offset - self.rows, 0) or "", self.sort) if self.offset else ""

    def behind(self, answer: PageAnswer) -> str:
        """Return the page with the rows behind these; nothing if there are none."""
        return self._page(self.offset + len(answer.rows), self.sort) if answer.truncated else ""

    def _page(self, offset: object, sort: str) -> str:
        offsets, sorts = f"{self.prefix}offset", f"{self.prefix}sort"
        # Trees are unfolded by the number of their line, which is another one then.
        values: dict[str, object] = {**self.query.without(offsets, sorts, "open")}
        return link(self.path, **values, **{sorts: sort, offsets: offset})


#: Contexts as `--context` has them; the first is what is shown unless another is asked for.
_CONTEXTS: Mapping[str, str] = {
    "": "some words",
    "1s": "sentence",
    "2s": "3 sentences",
    "1p": "paragraph",
    "3p": "5 paragraphs",
}


class _ContextLink(NamedTuple):
    """A context that a page can be asked for."""

    name: str
    link: str
    shown: bool


#: The condition that a key has a value, as facets have it.
_OF_KEY = re.compile(r'("(?:[^"\\]|\\.)*"|\w+) (?:=|like) "(?:[^"\\]|\\.)*"')


def _joined(conditions: Sequence[str]) -> str:
    """Return conditions in one: several values of a key are alternatives, all else holds together.

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
