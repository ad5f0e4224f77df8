"""The pages of a class, and short links.

Join: the address of the server, as a QR code and in large letters, and the form to join by a name. Class: the
questions of the students and their errors, for the teacher only. A short link leads to a page of this server
by a name that is easy to type, or by a QR code.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Mapping
from urllib.parse import unquote

from fastapi import Request, Response
from starlette.responses import RedirectResponse

from sentgen.desk.short_links import LONGEST_TARGET
from sentgen.errors import InputError
from sentgen.output.drawing import drawn_as_svg
from sentgen.output.tabular import Rows
from sentgen.server.classroom import BESIDE, JOIN, TEACHER, Classroom, LessonRequest, address_as
from sentgen.server.operations import Limits
from sentgen.server.operations.operation import Result
from sentgen.server.pages.page import Asking, ListPart, Page, PageAnswer, PageParameters, leads, read_form
from sentgen.server.pages.texts import link
from sentgen.server.problems import Refused
from sentgen.server.routes import CitedRequest
from sentgen.server.settings import ServerSettings
from sentgen.server.users import USER, Asker
from sentgen.server.wire import Format

_CLASS = "/class"
_ROWS = 50
_FILE = "questions"
_FORMS = {"CSV": Format.CSV, "Excel": Format.XLSX, "JSON": Format.JSON}
_COLUMNS = ("time", "name", "page", "asked", "status", "seconds", "problem")
_KINDS = ("VARCHAR",) * 4 + ("BIGINT", "DOUBLE", "VARCHAR")


async def _join_page(ask: Asking, query: PageParameters) -> Mapping[str, object]:
    """Show the addresses of the server."""
    return _shown(ask.request, query.text("to"), gone=bool(query.text("gone")))


async def _join(request: Request) -> Response | Mapping[str, object]:
    """Add a student by name, and redirect to the page that was requested before."""
    form = await read_form(request)
    settings: ServerSettings = request.app.state.service.settings
    assert settings.classroom
    name, to = form.text("name"), form.text("to")
    try:
        token = await asyncio.to_thread(settings.classroom.join, name, Asker.from_scope(request.scope).device)
    except InputError as error:
        return _shown(request, to, name=name, problem=str(error))
    # An absolute address, as the form may have come from below the path of another student.
    there = f"{request.url.scheme}://{request.url.netloc}{settings.base_path}{address_as(token)}"
    return RedirectResponse(f"{there}{_own_path(to)}", 303)


def _shown(
    request: Request, to: str, *, name: str = "", problem: str = "", gone: bool = False
) -> Mapping[str, object]:
    addresses = CitedRequest(request).addresses()
    return {
        "addresses": [each.removeprefix("http://") for each in addresses],
        "picture": drawn_as_svg(f"{addresses[0]}{JOIN}"),
        "to": _own_path(to),
        "name": name,
        "problem": problem,
        "gone": gone,
    }


def _own_path(to: str) -> str:
    r"""Return a path if browsers take it for one of this server, else `/`.

    >>> [_own_path(to) for to in ("/word?word=..", "//evil.example", "/\\evil.example", "http://evil.example")]
    ['/word?word=..', '/', '/', '/']
    >>> _own_path("/x/%2E./../as/token/")  # below whose address it is put, it would lead to that of another
    '/'
    """
    odd = any(letter <= " " or letter == "\\" for letter in to)
    steps = map(unquote, re.split("[?#]", to, maxsplit=1)[0].split("/"))
    return "/" if to[:1] != "/" or to[1:2] == "/" or odd or {".", ".."} & {*steps} else to


async def _class(ask: Asking, query: PageParameters) -> Mapping[str, object]:
    """Show the students and the last questions."""
    classroom = _classroom(ask.request)
    who, wrong = query.text("who"), query.box("wrong")
    questions = classroom.lesson.newest(who, wrong=bool(wrong))
    part = ListPart(_CLASS, query, query.rows(_ROWS))
    files = {name: link(f"{_CLASS}/{_FILE}.{form}", who=who, wrong=wrong) for name, form in _FORMS.items()}
    shown = questions[part.offset : part.offset + part.rows]
    rows = [dict(zip((*_COLUMNS, "link"), (*_row(each), each.link), strict=True)) for each in shown]
    more = part.offset + len(rows) < len(questions)
    answer = PageAnswer(_COLUMNS, rows, more, more={"total": len(questions)}, files=files)
    every = classroom.lesson.newest()
    return {
        "students": classroom.students,
        "idle": len(classroom.idle),
        "closed": classroom.closed,
        "asked": Counter(each.student for each in every),
        "wrong": Counter(each.student for each in every if each.problem),
        "last": {each.student: f"{each.at:%H:%M:%S}" for each in reversed(every)},
        "who": who,
        "only_wrong": wrong,
        "answer": answer,
        "part": part,
        "rows": part.rows,
    }


async def _change(request: Request) -> Response:
    """Remove a student, or all without a question; or close or open joining."""
    classroom, form = _classroom(request), await read_form(request)
    if form.text("door"):
        classroom.closed = form.text("door") == "close"
    else:
        names = classroom.idle if form.text("idle") else [form.text("name")]
        await asyncio.to_thread(classroom.leave, *names)
    return RedirectResponse(_CLASS, 303)


async def _download(request: Request, name: str) -> Response:
    """Send the questions of the class as a file."""
    classroom, query = _classroom(request), PageParameters(request.query_params)
    form = next((each for each in _FORMS.values() if name == f"{_FILE}.{each}"), None)
    if form is None:
        raise Refused(404, "not-found", f"no file {name!r}; the page has links to its files")
    from sentgen.server.rendering import render  # needed by workers; in the front, only here

    questions = classroom.lesson.newest(query.text("who"), wrong=bool(query.text("wrong")))
    result = Result(Rows(_COLUMNS, list(map(_row, questions)), _KINDS))
    reply = render(result, form, Limits(), escape_formulas=True)
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(reply.body, headers=headers, media_type=reply.media_type)


def _row(each: LessonRequest) -> tuple[object, ...]:
    time, seconds = f"{each.at:%H:%M:%S}", round(each.seconds, 2)
    return (time, each.student, each.page, each.asked, each.status, seconds, each.problem)


def _classroom(request: Request) -> Classroom:
    """Return the class, if its teacher sent the request.

    Raises:
        Refused: somebody else sent it.
    """
    classroom: Classroom | None = request.app.state.service.settings.classroom
    if classroom is None or request.scope[USER] is not TEACHER:
        raise Refused(
            403, "rights", "only the teacher may see this; the server has said the address at its start"
        )
    return classroom


_SHORT = "/s"


async def _short(ask: Asking, query: PageParameters) -> Mapping[str, object]:
    name = query.text("name")
    answer = await ask("follow", name=name) if name else ask.problem("no short link is asked for", 422)
    address = f"{CitedRequest(ask.request).addresses()[0]}{_SHORT}/{name}"
    shown = {"found": answer, "address": address.partition("://")[2]}
    return {**shown, "picture": drawn_as_svg(address) if answer.rows else ""}


async def _shorten(request: Request) -> Response:
    to = (await read_form(request)).raw("to")
    path = to.partition("?")[0]
    # Only pages of this server, as a link that others trust must not lead elsewhere.
    known = len(to) > LONGEST_TARGET or leads(request.app, path)  # too long ones are refused below
    if _own_path(to) != to or BESIDE.match(path) or not known:
        raise Refused(422, "parameters", "only pages of this server have short links")
    ask = Asking(request, request.app.state.service)
    made = await ask("shorten", target=to)
    if made.problem:
        raise Refused(ask.status, "input", made.problem)
    return RedirectResponse(link(_SHORT, name=made.rows[0]["name"]), 303)


async def _follow(request: Request, name: str) -> Response:
    """Redirect to the target of a short link."""
    ask = Asking(request, request.app.state.service)
    answer = await ask("follow", name=name)
    if answer.problem:
        raise Refused(ask.status, "not-found", answer.problem)
    return RedirectResponse(_own_path(answer.rows[0]["target"]), 303)


PAGES = (
    Page(JOIN, "", "join.html.j2", _join_page, change=_join),
    Page(_CLASS, "", "class.html.j2", _class, change=_change, download=_download),
    Page(_SHORT, "", "short.html.j2", _short, download=_follow, change=_shorten),
)
