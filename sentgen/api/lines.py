"""Line sets of the desk of a store: lines to label, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Unpack

from sentgen.api.arguments import declared, signed
from sentgen.api.door import StoreSession, translated
from sentgen.api.options import SetLinesOptions
from sentgen.api.tables import Table
from sentgen.desk import agreement, line_sets
from sentgen.desk.desk import Desk, desk_beside
from sentgen.desk.labels import GivenLabel, TakenBack, labeler_here
from sentgen.desk.line_sets import NewLineSet, SetLines
from sentgen.desk.spreadsheet import import_labels


class LineSet:
    """Lines of a concordance under a name, with the labels that people give to them.

    Attributes:
        name: of the set.
    """

    def __init__(self, door: StoreSession, desk: Desk, name: str) -> None:
        self._door, self._desk, self.name = door, desk, name

    def __repr__(self) -> str:
        return f"<LineSet {self.name} in {self._desk.path}>"

    @signed(SetLinesOptions)
    def lines(self, **options: Unpack[SetLinesOptions]) -> Table:
        """List the lines with their labels, and what has become of them in the store."""
        asked = declared(SetLines, {"name": self.name, **_of_labeler(dict(options))})
        with self._door.reading() as store, store.connect() as connection:
            answer = asked.find(self._desk, connection)
        return Table(answer.rows, notes=answer.notes, truncated=answer.truncated, total=answer.total)

    def label(self, lines: str | int, label: str, *, labeler: str = "") -> int:
        """Label lines, such as ``"1-3,7"``; an empty label takes theirs away. Return how many changed."""
        given = {"name": self.name, "lines": str(lines), "label": label, "labeler": labeler}
        with translated():
            return declared(GivenLabel, _of_labeler(given)).give(self._desk).number

    def undo(self, *, labeler: str = "") -> int:
        """Take back what was labeled last; return how many lines have their label of before."""
        with translated():
            return (
                declared(TakenBack, _of_labeler({"name": self.name, "labeler": labeler}))
                .undo(self._desk)
                .number
            )

    def report(self) -> Table:
        """Report the share of each label with its interval, and how far two labelers agree."""
        with translated():
            rows, notes = agreement.report(self._desk, self.name)
        return Table(rows, notes=notes)

    def import_labels(self, file: str | Path, *, labeler: str = "") -> int:
        """Take the labels of a spreadsheet, its columns ``line`` and ``label``; return how many changed."""
        with translated():
            return import_labels(self._desk, self.name, file, labeler or labeler_here()).number

    def remove(self) -> tuple[int, int]:
        """Remove the set with its labels; return its lines, and how many had one."""
        with translated():
            return line_sets.remove(self._desk, self.name)


def desk_of(door: StoreSession, desk: Path | None, *, create: bool = False) -> Desk:
    """Return the desk that was named, or that beside the store."""
    with translated():
        return Desk(desk or desk_beside(door.path), create=create)


def new_line_set(door: StoreSession, desk: Path | None, given: Mapping[str, object]) -> LineSet:
    """Make a set of the lines that a query finds."""
    with door.reading() as store, store.connect() as connection:
        asked = declared(NewLineSet, given)
        made = desk_of(door, desk, create=True)
        asked.make(made, connection)
    return LineSet(door, made, asked.name)


def line_set(door: StoreSession, desk: Path | None, name: str) -> LineSet:
    """Return a set that there is."""
    found = desk_of(door, desk)
    with translated():
        line_sets.check(found, name)
    return LineSet(door, found, name)


def line_sets_of(door: StoreSession, desk: Path | None) -> Table:
    """List the sets."""
    with translated():
        place = desk or desk_beside(door.path)
        return Table(line_sets.overview(Desk(place) if place.exists() else None))


def _of_labeler(given: Mapping[str, object]) -> dict[str, object]:
    return {**given, "labeler": given.get("labeler") or labeler_here()}
