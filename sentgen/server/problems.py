"""Errors as the API tells them: problem details (RFC 9457) with the message of the command line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Any

from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from sentgen.alignment.budget import MemoryLimitError
from sentgen.errors import InputError, ModelError, NotFoundError, QueryRejected, SentgenError, StoreError

MEDIA_TYPE = "application/problem+json"
_MOST_CHARACTERS = 2_000

# The first that fits: special ones stand before what they are kinds of.
_STATUS: tuple[tuple[type[SentgenError], int, str], ...] = (
    (NotFoundError, 404, "not-found"),
    (QueryRejected, 400, "query-rejected"),
    (ModelError, 409, "model"),
    (StoreError, 503, "store"),
    (MemoryLimitError, 413, "memory"),
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
    """Return the document of a problem; a message that repeats a long text is cut."""
    if len(detail) > _MOST_CHARACTERS:
        detail = f"{detail[:_MOST_CHARACTERS]}..."
    title = HTTPStatus(status).phrase
    return Problem(type=f"urn:sentgen:problem:{kind}", title=title, status=status, detail=detail).model_dump()


def of_error(error: SentgenError, worded: Callable[[str], str] = str) -> dict[str, Any]:
    """Return the problem that an error of the library is; ``worded`` puts its message into other words."""
    status, kind = next((status, kind) for of, status, kind in _STATUS if isinstance(error, of))
    return problem(status, kind, worded(str(error)))


def told(errors: Sequence[Any], *, inside: int = 0) -> str:
    """Return in one line what pydantic found wrong; ``inside`` is how deep in a request parameters are."""
    # Never the input, which pydantic tells as well: it may be as long as the request.
    return "; ".join(
        f"{'.'.join(str(part) for part in one['loc'][inside:]) or 'body'}: {one['msg']}" for one in errors[:5]
    )


class Refused(HTTPException):
    """A request that cannot be answered; carries its problem, and headers to send with it.

    FastAPI lets no other exception pass that is raised while it reads a body.
    """

    headers: dict[str, str]

    def __init__(self, status: int, kind: str, detail: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(status, detail, headers or {})
        self.document = problem(status, kind, detail)
        self.status = status
