"""Answer: the rows that an operation gave to a program, which links here for whoever wants to see them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from sentgen.server.pages.page import Asking, ListPart, Page, PageParameters

PATH = "/answer"
_ROWS = 200


async def _view(ask: Asking, query: PageParameters) -> Mapping[str, object]:
    """Ask what the program asked: `ask` is the operation, `with` its parameters as an object of JSON."""
    name, part = query.text("ask"), ListPart(PATH, query, _ROWS)
    operation, given = ask.offered.get(name), _given(query.raw("with"))
    if not name:
        answer = None
    elif operation is None:
        answer = ask.problem(f"no operation {name!r}; there are: {', '.join(ask.offered)}", 404)
    elif given is None:
        answer = ask.problem("`with` is no object of JSON; take the link as the program gave it", 400)
    else:
        answer = await ask(name, **given)
        if operation.method == "POST":
            # What has no address in the API has none here either, as every server has this page.
            answer = replace(answer, files={})
    return {
        "summary": operation.summary if operation else "",
        "answer": answer,
        # There may be more rows than the program asked for, but not here.
        "shown": part.cut(replace(answer, truncated=False)) if answer else None,
        "part": part,
    }


def _given(text: str) -> dict[str, object] | None:
    """Read the parameters; none if they are no object."""
    try:
        given = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return None
    return given if isinstance(given, dict) else None


PAGES = (Page(PATH, "", "answer.html.j2", _view),)
