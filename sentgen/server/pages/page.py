"""What a page is: a path, a template, and a view that asks operations for what the template shows."""

from __future__ import annotations

import asyncio
import json
import shlex
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from fastapi import Request
from pydantic import ValidationError
from starlette.datastructures import QueryParams

from sentgen.server import mistakes
from sentgen.server.operations import Operation, operations
from sentgen.server.problems import Refused
from sentgen.server.routes import audited
from sentgen.server.service import Service
from sentgen.server.wire import Message


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

    def box(self, name: str) -> str:
        """Return whether a box is checked: what its value is in a URL, or nothing."""
        return "on" if self.text(name) else ""

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

    async def __call__(self, name: str, /, **values: Any) -> PageAnswer:
        """Have an operation done; parameters that are empty are left out.

        What goes wrong is no exception but a problem in the answer, and the status of the page.
        """
        operation = operations()[name]
        given = {key: value for key, value in values.items() if value not in (None, "", [])}
        try:
            asked = operation.parameters.model_validate(given).model_dump(mode="json", by_alias=True)
            message = await self._answered(operation, asked)
        except ValidationError as error:
            return self.problem(mistakes.told(error.errors(), mistakes.names_of(operation)), 422)
        except Refused as refusal:
            return self.problem(str(refusal), refusal.status)
        document = json.loads(message.body)
        if message.head["status"] != 200:
            return self.problem(document["detail"], message.head["status"], document.get("picture", ""))
        if not operation.api and document["sql"]:
            # What has no route has no command either; its first statement gives the same rows.
            document["command"] = shlex.join(["sentgen", "sql", document["sql"][0]])
        return PageAnswer(**document)

    async def _answered(self, operation: Operation, asked: dict[str, Any]) -> Message:
        """Have an operation done, unless another page has asked the same: all of them show the corpora."""
        # Each one is written down, and may ask for the time: none is kept.
        if operation.kind == "sql":
            return await audited(self._request, self._service, operation, asked)
        question = operation.name, json.dumps(asked, sort_keys=True)
        kept: Message | None = self._service.shelf.find((self._service.snapshot.name, question))
        if kept is None:
            kept = await audited(self._request, self._service, operation, asked)
            if kept.head["status"] == 200:
                # The snapshot that has answered, which may be newer than the one that was looked for.
                self._service.shelf.put((kept.head["snapshot"], question), kept, len(kept.body))
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
    """

    path: str
    name: str
    template: str
    view: Callable[[Asking, PageParameters], Awaitable[Mapping[str, Any]]]
