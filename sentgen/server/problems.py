"""Errors as the API tells them: problem details (RFC 9457) with the message of the command line."""

from __future__ import annotations

import json
from collections.abc import MutableMapping
from http import HTTPStatus
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from sentgen.errors import (
    InputError,
    MemoryLimitError,
    ModelError,
    NotFoundError,
    PluginError,
    QueryError,
    QueryRejected,
    SentgenError,
    StoreError,
)

MEDIA_TYPE = "application/problem+json"
_MOST_CHARACTERS = 2_000

# The first class that fits is used, so that subclasses precede their base classes.
_STATUS: tuple[tuple[type[SentgenError], int, str], ...] = (
    (NotFoundError, 404, "not-found"),
    (QueryRejected, 400, "query-rejected"),
    (ModelError, 409, "model"),
    (StoreError, 503, "store"),
    (PluginError, 500, "plugin"),
    (MemoryLimitError, 413, "memory"),
    (InputError, 400, "input"),
    (SentgenError, 400, "input"),
)


class ProblemDocument(BaseModel):
    """What went wrong."""

    model_config = ConfigDict(title="Problem", frozen=True)

    type: str = Field(description="What kind of problem it is: urn:sentgen:problem:KIND.")
    title: str = Field(description="The status in words.")
    status: int = Field(description="The status of the response.")
    detail: str = Field(description="What is wrong, and what to do.")
    line: int | None = Field(default=None, description="Of a query that cannot be read: its line, from 1.")
    column: int | None = Field(default=None, description="The character of that line, from 1.")
    picture: str | None = Field(default=None, description="That line, and a caret below the character.")

    @property
    def json_bytes(self) -> bytes:
        """Return the document as JSON."""
        return json.dumps(self.model_dump(exclude_none=True), ensure_ascii=False).encode("utf-8", "replace")

    @staticmethod
    def make(status: int, kind: str, detail: str) -> ProblemDocument:
        """Return the document of a problem; a message that is too long is cut."""
        if len(detail) > _MOST_CHARACTERS:
            detail = f"{detail[:_MOST_CHARACTERS]}..."
        kind, title = f"urn:sentgen:problem:{kind}", HTTPStatus(status).phrase
        return ProblemDocument(type=kind, title=title, status=status, detail=detail)

    @staticmethod
    def of_error(error: SentgenError) -> ProblemDocument:
        """Return the problem document of an error of the library."""
        status, kind = next((status, kind) for known, status, kind in _STATUS if isinstance(error, known))
        document = ProblemDocument.make(status, kind, str(error))
        if not isinstance(error, QueryError) or error.offset is None:
            return document
        before = error.query[: error.offset].split("\n")
        # A message may quote a query, which may be one line of a million characters.
        picture = error.picture if len(error.picture) <= _MOST_CHARACTERS else None
        position = {"line": len(before), "column": len(before[-1]) + 1, "picture": picture}
        return document.model_copy(update=position)


#: The message that replaces details which only the operator of the server may read.
BROKEN = "the server made a mistake, and has written down what it was; please report it"
UNREADABLE = "the store cannot be read as it should; the server has written down why: tell whoever runs it"
FAILED = (
    "the database failed over this, perhaps for lack of memory, and is opened anew; ask for less, or in"
    " another way"
)
TOO_MUCH = (
    "this takes more memory than the server gives; ask for less, as with `where` or a rarer word, or ask"
    " whoever runs the server for more (sentgen serve --worker-memory)"
)


#: Key of the scope under which the problems of a request are collected.
PROBLEMS = "sentgen.problems"


def note_problem(scope: MutableMapping[str, Any], detail: str) -> None:
    """Add a problem to a request."""
    scope.get(PROBLEMS, []).append(detail)


class Refused(HTTPException):
    """A request that cannot be answered; carries its problem, and headers to send with it.

    FastAPI lets no other exception pass that is raised while it reads a body.
    """

    headers: dict[str, str]

    def __init__(self, status: int, kind: str, detail: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(status, detail, headers or {})
        self.document = ProblemDocument.make(status, kind, detail)
        self.status = status
