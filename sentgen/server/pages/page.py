"""What a page is: a path, a template, and a view that asks operations for what the template shows."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from fastapi import Request
from starlette.datastructures import QueryParams

from sentgen.options import parameters_of
from sentgen.server import wire
from sentgen.server.operations import Operation, operations
from sentgen.server.parameters import read
from sentgen.server.problems import ProblemDocument, Refused
from sentgen.server.service import Service
from sentgen.server.settings import NEVER_KEPT
from sentgen.server.wire import Reply


@dataclass(frozen=True, slots=True)
class PageAnswer:
    """What an operation answered, or the problem in one line.

    ``command`` is the command line that gives the same rows, ``sql`` the statements that ran, ``picture``
    the place where a query cannot be read.
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


def default(operation: str, name: str) -> Any:
    """Return what a parameter of an operation is unless it is given: as its command has it."""
    return next(one.default for one in parameters_of(operations()[operation].declaration) if one.name == name)


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


class Asking:
    """Asks operations for one page; remembers how bad the worst answer was."""

    def __init__(self, request: Request, service: Service) -> None:
        self._request, self._service = request, service
        self.status = 200

    @property
    def offers_sql(self) -> bool:
        """Whether the server takes SQL."""
        return self._service.settings.sql

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
            return replace(answer, command=shlex.join(["sentgen", "sql", answer.sql[0]]))
        return answer

    async def nothing(self) -> None:
        """Ask nothing, beside what is asked."""

    async def reply(self, operation: Operation, values: Mapping[str, object]) -> Reply:
        """Have an operation done, unless another page has asked the same: all of them show the corpora.

        Raises:
            Refused: the parameters are wrong, or no worker could answer.
        """
        given = {key: value for key, value in values.items() if value not in (None, "", [])}
        message, service = read(operation, given), self._service
        if operation.kind in NEVER_KEPT:
            return await service.call(message, client=self._request.client)
        kept = service.shelf.find((service.snapshot.name, message), Reply)
        if kept is None:
            kept = await service.call(message)
            if kept.status == 200:
                # The snapshot that has answered, which may be newer than the one that was looked for.
                service.shelf.put((kept.snapshot, message), kept, len(kept.body))
        return kept

    def problem(self, text: str, status: int, picture: str = "") -> PageAnswer:
        """Return an answer that says what is wrong, and where in a query."""
        self.status = max(self.status, status)
        return PageAnswer(problem=text, picture=picture)


@dataclass(frozen=True, slots=True)
class Page:
    """A page.

    Attributes:
        path: where it is.
        name: what the navigation calls it; empty if it is reached from other pages only.
        template: the file of its template.
        view: asks for what the template shows, and returns it by name.
        asks: the operations whose rows it shows, which the API has where only some pages are offered.
    """

    path: str
    name: str
    template: str
    view: Callable[[Asking, PageParameters], Awaitable[Mapping[str, object]]]
    asks: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """What it is called where some pages are chosen: its path without the slash."""
        return self.path.strip("/")
