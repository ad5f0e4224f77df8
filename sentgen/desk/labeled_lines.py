"""The labels of lines that are still where they were, as look-ups take them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, select

from sentgen.desk.desk import Desk
from sentgen.desk.labels import no_labels
from sentgen.desk.line_states import line_states
from sentgen.desk.tables import labels_of, line, line_set
from sentgen.errors import InputError
from sentgen.lookups.base.line_labels import OF_LINES, LabeledLine, OfferedLabel
from sentgen.output.wording import are, either, quantity

Labels = Mapping[str, Mapping[int, str]]


def labeled_lines(
    desk: Path, connection: Connection, name: str, tell: Callable[[str], None]
) -> Sequence[LabeledLine] | None:
    """Return the labels of a set, ``make``, or of one labeler of it, ``make.ann``; none without a set.

    Args:
        desk: the file.
        connection: the store.
        name: of the set.
        tell: is told what of it is left out.

    Raises:
        InputError: no line of it has a label, or none that is still in the store.
    """
    with Desk(desk).reading() as reading:
        sets = reading.execute(select(line_set).where(line_set.c.name.in_(_sets(name)))).all()
        if not sets:
            return None
        # With a period in it: the name of a set goes before that of a labeler.
        of_set = max(sets, key=lambda row: len(row.name))
        labels = _of_labeler(of_set.name, name[len(of_set.name) + 1 :], labels_of(reading, of_set.id))
        query = select(line).where(line.c.set_id == of_set.id).order_by(line.c.number)
        lines = [dict(row) for row in reading.execute(query).mappings()]
    labeled = {number for given in labels.values() for number in given}
    return _still_there(connection, name, [row for row in lines if row["number"] in labeled], labels, tell)


def offered_labels(desk: Path, corpora: Sequence[str]) -> list[OfferedLabel]:
    """Return the labels of all sets as they are kept, whatever the store has now of their lines.

    Of several labelers, those of each come after those of all.

    Args:
        desk: the file.
        corpora: of the lines; empty for all.
    """
    offered = list[OfferedLabel]()
    with Desk(desk).reading() as reading:
        sets = {row.name: row for row in reading.execute(select(line_set).order_by(line_set.c.name))}
        for name, of_set in sets.items():
            labels = labels_of(reading, of_set.id)
            numbers = {number for given in labels.values() for number in given}
            if corpora and numbers:
                there = select(line.c.number).where(line.c.set_id == of_set.id, line.c.corpus.in_(corpora))
                numbers.intersection_update(reading.scalars(there))
            whose = {name: list(labels.values())}
            whose |= {f"{name}.{labeler}": [given] for labeler, given in labels.items() if len(labels) > 1}
            for key, every in whose.items():
                # What is read as the name of another set, or of a labeler there, is no labeler of this one.
                if max((each for each in _sets(key) if each in sets), key=len) == name:
                    offered += _sizes(key, every, numbers, json.loads(of_set.labels))
    return offered


def _sizes(
    key: str, every: Sequence[Mapping[int, str]], numbers: Set[int], order: Sequence[str]
) -> Iterator[OfferedLabel]:
    """Yield labels in the order of the set, with how many of some lines have them."""
    labeled = {(number, label) for given in every for number, label in given.items() if number in numbers}
    sizes = Counter(label for _, label in labeled)
    yield from (OfferedLabel(key, label, sizes[label]) for label in order if sizes[label])


def _sets(name: str) -> list[str]:
    """Return the names of sets that a name may stand for.

    >>> _sets("make.ann")
    ['make', 'make.ann']
    """
    parts = name.split(".")
    return [".".join(parts[:number]) for number in range(1, len(parts) + 1)]


def _of_labeler(name: str, labeler: str, labels: Labels) -> Labels:
    """Return the labels of one labeler of a set; of all if none is named.

    Raises:
        InputError: there are none.
    """
    if not labels:
        raise no_labels(name)
    if not labeler:
        return labels
    if labeler not in labels:
        there = [f"{OF_LINES}{name}.{each}" for each in labels]
        raise InputError(f"{labeler!r} has labeled no line of {name}; there is {either(there)}")
    return {labeler: labels[labeler]}


def _still_there(
    connection: Connection,
    name: str,
    lines: Sequence[Mapping[str, Any]],
    labels: Labels,
    tell: Callable[[str], None],
) -> Sequence[LabeledLine]:
    """Return the labels of lines that are where they were, in the words that they had."""
    now = line_states(connection, lines)
    there = [row for row in lines if not now[row["number"]].state]
    lost = len(lines) - len(there)
    was = "it was" if lost == 1 else "they were"
    why = (
        f"{quantity(lost, 'line')} of {name} {are(lost)} gone from the store, or changed since {was} labeled"
    )
    if not there:
        raise InputError(f"{OF_LINES}{name} has no labels here: {why}")
    if lost:
        tell(f"{why}, and without a label here")
    return [
        LabeledLine(
            row["number"],
            now[row["number"]].sentence_id or 0,
            row["first"],
            row["last"],
            given[row["number"]],
            labeler,
        )
        for labeler, given in labels.items()
        for row in there
        if row["number"] in given
    ]
