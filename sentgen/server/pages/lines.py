"""The page Lines: the line sets of the desk, and the lines of a set, to be labeled with the keys 1 to 9."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import quote

from fastapi import Request
from starlette.responses import RedirectResponse, Response

from sentgen.desk.labels import UNLABELED
from sentgen.desk.line_sets import ORDERS
from sentgen.lookups.base.line_labels import OF_LINES
from sentgen.lookups.browsing import chosen_by
from sentgen.server import wire
from sentgen.server.operations import operations
from sentgen.server.pages.forms import PageExample
from sentgen.server.pages.page import (
    Asking,
    ListPart,
    Page,
    PageAnswer,
    PageParameters,
    file_links,
    read_form,
)
from sentgen.server.pages.query import hits_of
from sentgen.server.pages.texts import link
from sentgen.server.problems import Refused

_ROWS = 50
#: Most labels with a key of the keyboard.
_KEYS = 9
_ASKS = ("line_sets", "lines", "new_lines", "label_lines", "undo_labels", "lines_report")
#: Example queries, below whose hits a line set can be made.
_EXAMPLES = (
    PageExample("Nouns after a number", {"query": '[upos="NOUN"]', "filter": '[upos="NUM"]', "window": "1L"}),
    PageExample("A sample of verbs", {"query": '[upos="VERB"]', "sample": "20", "sort": "1R"}),
)
_KEPT = ("labeler", "label", "sort", "limit", "show", "by")


async def _view(ask: Asking, query: PageParameters) -> Mapping[str, object]:
    """Ask for the sets, or for the lines of a set and the report on its labels."""
    name, labeler, rows = query.text("set"), query.text("labeler"), query.rows(_ROWS)
    common = {"name": name, "labeler": labeler, "rows": rows, "query": query}
    if not name:
        return {**common, "sets": await ask("line_sets"), "lines": None, "examples": _EXAMPLES}
    part, sort, by = ListPart("/lines", query, rows), query.text("sort", ORDERS[0]), query.text("by")
    columns = [column for column in map(str.strip, query.text("show").split(",")) if column]
    parameters = {"name": name, "labeler": labeler, "show": columns}
    lines, report = await asyncio.gather(
        ask("lines", **parameters, sort=sort, label=query.text("label"), limit=rows, offset=part.offset),
        _report(ask, name, by),
    )
    # Files have all lines, whatever their labels, and can be imported again.
    every = file_links(operations()["lines"], parameters, "/lines")
    labels = lines.more.get("labels", [])
    return {
        **common,
        "lines": replace(lines, files=every),
        "report": report,
        "keys": labels[:_KEYS],
        "others": labels[_KEYS:],
        "labels": [UNLABELED, *labels],
        "asked": columns,
        **_key(name, labeler, report),
        "sort": sort,
        "sorts": list(dict.fromkeys([*ORDERS, *columns, sort])),
        "by": by,
        # Whether the store was asked: its errors leave the form, in which columns can be chosen again.
        "asks_store": bool(columns or by or sort not in ORDERS),
        "part": part,
        "url": operations()["lines"].route.replace("{name}", quote(name, safe="")),
    }


async def _change(request: Request) -> Response:
    """Make a set, label lines, or undo labels, as a form asks; then redirect to the page.

    For browsers without scripts; with scripts, the keys use the API without loading the page again.
    """
    query = await read_form(request)
    ask, name = Asking(request, request.app.state.service), query.text("set")
    labeler = query.text("labeler")
    if query.text("action") == "new":
        _, values = hits_of(query, query.raw("query").strip(), by_grew=False)
        values = {key: value for key, value in values.items() if key not in ("random", "show", "explain")}
        labels = [label for label in map(str.strip, query.text("labels").split(",")) if label]
        answer = await ask("new_lines", **values, name=name, labels=labels)
    elif query.text("action") == "undo":
        answer = await ask("undo_labels", name=name, labeler=labeler)
    else:
        lines, label = ",".join(query.all("line")), query.text("new") or query.text("give")
        if not lines:
            raise Refused(422, "parameters", "no line is marked; mark some, and choose a label for them")
        answer = await ask("label_lines", name=name, labeler=labeler, lines=lines, label=label)
    if answer.problem:
        raise Refused(ask.status, "input", answer.problem)
    made = query.text("action") == "new"
    # In the form, `label` selects the lines that the page shows, and `give` is the label to give.
    link_values = {} if made else {key: query.text(key) for key in (*_KEPT, "offset")}
    return RedirectResponse(link("/lines", set=name, **link_values), status_code=303)


async def _report(ask: Asking, name: str, by: str) -> PageAnswer:
    """Return the report on a set; empty while no line has a label, which is no error here."""
    if by:
        return await ask("lines_report", name=name, by=by)
    operation, values = operations()["lines_report"], {"name": name}
    reply = await ask.reply(operation, values)
    if reply.status != 200:
        return PageAnswer()
    return replace(wire.decode(reply.body, PageAnswer), files=file_links(operation, values, "/lines"))


def _key(name: str, labeler: str, report: PageAnswer) -> dict[str, str]:
    """Return the key for the labels of a set in queries, and a condition with one of the labels.

    The labels are those of the labeler, or else of somebody else, as labelers may differ.
    """
    labels = {row["labeler"]: row["label"] for row in reversed(report.rows) if row["measure"] == "share"}
    if not labels:
        return {"key": ""}
    whose = labeler if labeler in labels else min(labels)
    key = f"{OF_LINES}{name}.{whose}" if len(labels) > 1 else f"{OF_LINES}{name}"
    return {"key": key, "chosen": chosen_by(key, labels[whose])}


PAGES = (Page("/lines", "Lines", "lines.html.j2", _view, _ASKS, change=_change),)
