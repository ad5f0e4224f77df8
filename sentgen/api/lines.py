"""Line sets of the desk of a store: lines to label, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Unpack

from sentgen.api.arguments import declare, with_signatures
from sentgen.api.options import SetLinesOptions
from sentgen.api.session import StoreSession, session_of
from sentgen.api.tables import Table
from sentgen.desk import line_sets
from sentgen.desk.agreement import LineReport
from sentgen.desk.desk import Desk, desk_beside
from sentgen.desk.labels import GivenLabel, TakenBack, import_labels, labeler_here
from sentgen.desk.line_sets import NewLineSet, SetLines


@with_signatures
class LineSet:
    """Lines of a concordance under a name, with the labels that people give to them.

    Attributes:
        name: name of the set.
    """

    def __init__(self, session: StoreSession, desk: Desk, name: str) -> None:
        self._session, self._desk = session_of(session, "Database.lines"), desk
        self.name = name

    def __repr__(self) -> str:
        return f"<LineSet {self.name} in {self._desk.path}>"

    def lines(self, **options: Unpack[SetLinesOptions]) -> Table:
        """List the lines with their labels, and what has become of them in the store."""
        request = declare(SetLines, {"name": self.name, **_of_labeler(dict(options))})
        with self._session.read() as store, store.connect() as connection:
            answer = request.find(self._desk, connection)
        return Table(answer.rows, notes=answer.notes, truncated=answer.truncated, total=answer.total)

    def label(self, lines: str | int, label: str, *, labeler: str = "") -> int:
        """Label lines, such as ``"1-3,7"``; an empty label takes theirs away. Return how many changed."""
        given = {"name": self.name, "lines": str(lines), "label": label, "labeler": labeler}
        return declare(GivenLabel, _of_labeler(given)).give(self._desk).number

    def undo(self, *, labeler: str = "") -> int:
        """Take back what was labeled last; return how many lines have their label of before."""
        return (
            declare(TakenBack, _of_labeler({"name": self.name, "labeler": labeler})).undo(self._desk).number
        )

    def report(self, *, by: str | None = None) -> Table:
        """Report the share of each label, and how far two labelers agree; ``by``: for each value of a key."""
        with self._session.read() as store:
            rows, notes = declare(LineReport, {"name": self.name, "by": by}).make(self._desk, store.connect)
        return Table(rows, notes=notes)

    def import_labels(self, file: str | Path, *, labeler: str = "") -> int:
        """Take the labels of a spreadsheet, its columns ``line`` and ``label``; return how many changed."""
        return import_labels(self._desk, self.name, file, labeler or labeler_here()).number

    def remove(self) -> tuple[int, int]:
        """Remove the set with its labels; return its lines, and how many had one."""
        return line_sets.remove(self._desk, self.name)


def _open_desk(session: StoreSession, *, create: bool = False) -> Desk:
    """Return the named desk, or the one next to the store."""
    return Desk(session.desk or desk_beside(session.path), create=create)


def new_line_set(session: StoreSession, given: Mapping[str, object]) -> LineSet:
    """Make a set of the lines that a query finds."""
    with session.read() as store, store.connect() as connection:
        request = declare(NewLineSet, given)
        desk_file = _open_desk(session, create=True)
        request.make(desk_file, connection)
    return LineSet(session, desk_file, request.name)


def line_set(session: StoreSession, name: str) -> LineSet:
    """Return a set that there is."""
    desk_file = _open_desk(session)
    line_sets.check(desk_file, name)
    return LineSet(session, desk_file, name)


def line_sets_of(session: StoreSession) -> Table:
    """List the sets."""
    path = session.desk or desk_beside(session.path)
    return Table(line_sets.overview(Desk(path) if path.exists() else None))


def _of_labeler(given: Mapping[str, object]) -> dict[str, object]:
    return {**given, "labeler": given.get("labeler") or labeler_here()}
