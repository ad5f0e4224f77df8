"""Join: where a class finds the server, as a picture and in large letters, and who one is."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from fastapi import Request, Response
from starlette.responses import RedirectResponse

from sentgen.errors import InputError
from sentgen.output.drawing import drawn_as_svg
from sentgen.server.classroom import JOIN, address_as
from sentgen.server.pages.page import Asking, Page, PageParameters, read_form
from sentgen.server.pages.texts import own_path
from sentgen.server.routes import addresses_for_others
from sentgen.server.settings import ServerSettings
from sentgen.server.users import asker_of


async def _view(ask: Asking, query: PageParameters) -> Mapping[str, object]:
    """Show where the server is."""
    return _shown(ask.request, query.text("to"), gone=bool(query.text("gone")))


async def _join(request: Request) -> Response | Mapping[str, object]:
    """Let somebody in by a name, and lead to what was asked for before."""
    form = await read_form(request)
    settings: ServerSettings = request.app.state.service.settings
    assert settings.classroom
    name, to = form.text("name"), form.text("to")
    try:
        token = await asyncio.to_thread(settings.classroom.join, name, asker_of(request.scope).device)
    except InputError as error:
        return _shown(request, to, name=name, problem=str(error))
    # Whole: below the address of nobody else, under which the form may have been.
    there = f"{request.url.scheme}://{request.url.netloc}{settings.base_path}{address_as(token)}"
    return RedirectResponse(f"{there}{own_path(to)}", 303)


def _shown(
    request: Request, to: str, *, name: str = "", problem: str = "", gone: bool = False
) -> Mapping[str, object]:
    addresses = addresses_for_others(request)
    return {
        "addresses": [each.removeprefix("http://") for each in addresses],
        "picture": drawn_as_svg(f"{addresses[0]}{JOIN}"),
        "to": own_path(to),
        "name": name,
        "problem": problem,
        "gone": gone,
    }


PAGES = (Page(JOIN, "", "join.html.j2", _view, change=_join),)
