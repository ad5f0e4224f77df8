"""Errors as the API tells them: problem details (RFC 9457) with the message of the command line."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from sentgen.errors import InputError, ModelError, NotFoundError, QueryRejected, SentgenError, StoreError

MEDIA_TYPE = "application/problem+json"

_STATUS: tuple[tuple[type[SentgenError], int, str], ...] = (
    (NotFoundError, 404, "not-found"),
    (QueryRejected, 400, "query-rejected"),
    (ModelError, 409, "model"),
    (StoreError, 503, "store"),
    (InputError, 400, "input"),
    (SentgenError, 400, "input"),
)


class Problem(BaseModel):
    """What went wrong."""

    type: str = Field(description="What kind of problem it is: urn:sentgen:problem:KIND.")
    title: str = Field(description="The status in words.")
    status: int = Field(description="The status of the response.")
    detail: str = Field(description="What is wrong, and what to do.")


def problem(status: int, kind: str, detail: str) -> dict[str, Any]:
    """Return the document of a problem."""
    title = HTTPStatus(status).phrase
    return Problem(type=f"urn:sentgen:problem:{kind}", title=title, status=status, detail=detail).model_dump()


def of_error(error: SentgenError) -> dict[str, Any]:
    """Return the problem that an error of the library is."""
    status, kind = next((status, kind) for of, status, kind in _STATUS if isinstance(error, of))
    return problem(status, kind, str(error))


class Refused(HTTPException):
    """A request that cannot be answered; carries its problem, and headers to send with it.

    FastAPI lets no other exception pass that is raised while it reads a body.
    """

    headers: dict[str, str]

    def __init__(self, status: int, kind: str, detail: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(status, detail, headers or {})
        self.document = problem(status, kind, detail)
        self.status = status
