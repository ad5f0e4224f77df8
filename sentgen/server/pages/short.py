"""Short links: a page of this server by a name that can be typed, or as a picture."""

from __future__ import annotations

import re
from collections.abc import Mapping

from fastapi import Request, Response
from starlette.responses import RedirectResponse

from sentgen.desk.short_links import LONGEST_TARGET
from sentgen.output.drawing import drawn_as_svg
from sentgen.server.pages.page import Asking, Page, PageParameters, leads, read_form
from sentgen.server.pages.texts import link, own_path
from sentgen.server.problems import Refused
from sentgen.server.routes import addresses_for_others

_PATH = "/s"
#: What is nobody else's, what leads on, and what is no page.
_NOT = re.compile(r"/(join|class|s|static|healthz|metrics)(/|$)")


async def _view(ask: Asking, query: PageParameters) -> Mapping[str, object]:
    """Show a short link."""
    name = query.text("name")
    found = await ask("follow", name=name) if name else ask.problem("no short link is asked for", 422)
    address = f"{addresses_for_others(ask.request)[0]}{_PATH}/{name}"
    shown = {"found": found, "address": address.partition("://")[2]}
    return {**shown, "picture": drawn_as_svg(address) if found.rows else ""}


async def _shorten(request: Request) -> Response:
    """Make a short link of the page that a form was on."""
    to = (await read_form(request)).raw("to")
    path = to.partition("?")[0]
    # Nothing but pages of our own: a link that others trust must not lead elsewhere.
    known = len(to) > LONGEST_TARGET or leads(request.app, path)  # a long one is refused below, and not kept
    if own_path(to) != to or _NOT.match(path) or not known:
        raise Refused(422, "parameters", "only pages of this server have short links")
    ask = Asking(request, request.app.state.service)
    made = await ask("shorten", target=to)
    if made.problem:
        raise Refused(ask.status, "input", made.problem)
    return RedirectResponse(link(_PATH, name=made.rows[0]["name"]), 303)


async def _follow(request: Request, name: str) -> Response:
    """Lead to the page of a short link."""
    ask = Asking(request, request.app.state.service)
    found = await ask("follow", name=name)
    if found.problem:
        raise Refused(ask.status, "not-found", found.problem)
    return RedirectResponse(own_path(found.rows[0]["target"]), 303)


PAGES = (Page(_PATH, "", "short.html.j2", _view, download=_follow, change=_shorten),)
