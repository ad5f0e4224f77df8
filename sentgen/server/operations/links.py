"""Short links of pages, on the desk that the server was given: all who may ask follow them."""

from __future__ import annotations

from pathlib import Path

from sentgen.desk.desk import Desk
from sentgen.desk.short_links import NamedLink, ShortLink
from sentgen.output.tabular import Rows
from sentgen.server.operations.operation import Context, Operation, Result


def _shorten(context: Context, request: ShortLink) -> Result:
    return _link(request.make(_desk(context), context.client), request.target)


def _follow(context: Context, request: NamedLink) -> Result:
    return _link(request.name, request.find(_desk(context)))


def _link(name: str, target: str) -> Result:
    return Result(Rows(("name", "target"), [(name, target)], ("VARCHAR", "VARCHAR")))


def _desk(context: Context) -> Desk:
    """Return the desk of the server, which is that of nobody alone."""
    return Desk(Path(context.opening.desk), create=True)


OPERATIONS = (
    Operation("shorten", "A short link of a page.", "serve", ShortLink, _shorten, method="POST", api=False),
    Operation("follow", "Where a short link leads.", "serve", NamedLink, _follow, api=False),
)
