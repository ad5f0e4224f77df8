"""Line sets of the desk that the server was given, with their labels; and short links of pages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from sentgen.desk import line_sets
from sentgen.desk.agreement import LineReport
from sentgen.desk.desk import Allowance, Desk
from sentgen.desk.labels import EVERYBODY, Changed, GivenLabel, TakenBack
from sentgen.desk.line_sets import NewLineSet, SetLines
from sentgen.desk.short_links import NamedLink, ShortLink
from sentgen.output.tabular import Rows
from sentgen.output.wording import quantity
from sentgen.server.operations.operation import Context, Nothing, Operation, Result


def _sets(context: Context, request: Nothing) -> Result:
    return Result(line_sets.overview(_desk(context)))


def _new(context: Context, request: NewLineSet) -> Result:
    with context.opened.connect() as connection:
        # At most as many lines as the server gives rows.
        desk = _desk(context)
        made, total = replace(request, limit=context.limit(0)).make(desk, connection)
    notes = [f"the first {made:,} of {quantity(total, 'line')}; a sample is of all"] if made < total else []
    notes += _near(desk)
    return Result(Rows(("name", "lines"), [(request.name, made)], ("VARCHAR", "BIGINT")), made < total, notes)


def _lines(context: Context, request: SetLines) -> Result:
    request = replace(request, limit=context.limit(request.limit))
    with context.opened.connect() as connection:
        answer = request.find(_desk(context), connection)
    more = {"total": answer.total, "labels": answer.labels, "query": answer.query}
    return Result(answer.rows, answer.truncated, answer.notes, more=more)


class _SetLinesOperation(Operation):
    """Lists lines: without a labeler those of everybody, where a command has those of whoever runs it."""

    def command_line(self, request: Any) -> str:
        """Return the command line that gives the same labels."""
        return super().command_line(replace(request, labeler=request.labeler or EVERYBODY))


def _report(context: Context, request: LineReport) -> Result:
    rows, notes = request.make(_desk(context), context.opened.connect)
    return Result(rows, notes=notes)


def _change_labels(change: Callable[[Any, Desk], Changed]) -> Callable[[Context, Any], Result]:
    def run(context: Context, request: GivenLabel | TakenBack) -> Result:
        desk = _desk(context)
        changed = change(request, desk)
        # The labels of the lines now, so that the client need not ask for them.
        rows = [(number, changed.labels.get(number)) for number in changed.lines]
        table = Rows(("line", "label"), rows, ("BIGINT", "VARCHAR"))
        return Result(table, notes=_near(desk), more={"changed": changed.number})

    return run


def _desk(context: Context) -> Desk:
    limits = context.opening.limits
    allowance = Allowance(context.client, limits.desk_sets, limits.desk_bytes, limits.file["desk"] // 2)
    if context.desk is None:
        raise RuntimeError("this worker has no desk")
    return Desk(context.desk, create=context.opening.apart, allowance=allowance)


def _near(desk: Desk) -> list[str]:
    if desk.allowance is None:
        return []
    with desk.reading() as connection:
        return [*desk.allowance.warnings(connection)]


_SET = "lines/{name}"


def _shorten(context: Context, request: ShortLink) -> Result:
    return _link(request.make(_common_desk(context), context.client), request.target)


def _follow(context: Context, request: NamedLink) -> Result:
    return _link(request.name, request.find(_common_desk(context)))


def _link(name: str, target: str) -> Result:
    return Result(Rows(("name", "target"), [(name, target)], ("VARCHAR", "VARCHAR")))


def _common_desk(context: Context) -> Desk:
    """Return the desk that all clients share."""
    return Desk(Path(context.opening.desk), create=True)


OPERATIONS = (
    Operation("line_sets", "Line sets.", "lines list", Nothing, _sets, path="lines"),
    Operation(
        "new_lines",
        "A new set of the lines that a query finds.",
        "lines new",
        NewLineSet,
        _new,
        method="POST",
        path="lines",
        example={"name": "camps", "pattern": "lemma:camp"},
    ),
    _SetLinesOperation(
        "lines",
        "Lines of a set with their labels.",
        "lines list",
        SetLines,
        _lines,
        path=_SET,
        example={"name": "camp"},
    ),
    Operation(
        "label_lines",
        "Label lines of a set.",
        "lines label",
        GivenLabel,
        _change_labels(GivenLabel.give),
        method="POST",
        path=f"{_SET}/labels",
        example={"name": "camp", "lines": "1-3", "label": "place", "labeler": "ann"},
    ),
    Operation(
        "undo_labels",
        "Take back what a labeler did last.",
        "lines undo",
        TakenBack,
        _change_labels(TakenBack.undo),
        method="POST",
        path=f"{_SET}/undo",
        example={"name": "camp", "labeler": "ann"},
    ),
    Operation(
        "lines_report",
        "Shares of labels, and how far two labelers agree.",
        "lines report",
        LineReport,
        _report,
        path=f"{_SET}/report",
        example={"name": "camp"},
    ),
    Operation("shorten", "A short link of a page.", "serve", ShortLink, _shorten, method="POST", api=False),
    Operation("follow", "Where a short link leads.", "serve", NamedLink, _follow, api=False),
)
