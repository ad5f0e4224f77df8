"""Links that last: a request may say which snapshot it is about."""

from __future__ import annotations

from urllib.parse import quote, urlencode

from starlette.requests import Request

from sentgen.server.problems import Refused

#: Name of the parameter, of pages and of the API.
PARAMETER = "snapshot"


def require(served: str, cited: str | None) -> None:
    """Refuse a request that is about another snapshot than the one that answers.

    Args:
        served: name of the snapshot that is served.
        cited: the one that was asked for, with or without ``sentgen-`` before its hash; nothing: any.

    Raises:
        Refused: it is another one.
    """
    if cited and served not in (cited, f"sentgen-{cited}"):
        raise Refused(
            410,
            "snapshot",
            f"this is about {cited}, and {served} is served now: its answer may differ; "
            f"leave out {PARAMETER}= to have that",
        )


def permanent(request: Request, served: str) -> str:
    """Return a link to what is shown, of this snapshot and no other: path and query without the server."""
    given = [pair for pair in request.query_params.multi_items() if pair[0] != PARAMETER]
    # Paths may hold anything, half of a surrogate pair among it; a header is plain ASCII.
    path = quote(request.scope["path"], errors="replace")
    return f"{path}?{urlencode([*given, (PARAMETER, served)], errors='replace')}"
