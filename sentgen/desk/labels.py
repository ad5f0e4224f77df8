"""Labels that labelers give to the lines of a set; the last label of a labeler counts.

Labels are given one by one, or read from a spreadsheet that `sentgen lines list --xlsx` or ``--csv`` wrote
and somebody filled in. Look-ups take the labels of lines that are still where they were.
"""

from __future__ import annotations

import getpass
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any
from unicodedata import normalize

from sqlalchemy import Connection, delete, func, insert, select, update

from sentgen.corpus.paths import source_at
from sentgen.corpus.readers.table import open_table
from sentgen.desk.desk import Desk, now
from sentgen.desk.line_values import LineState
from sentgen.desk.tables import find_set, label, labels_of, line, line_set, lines_of, size_of
from sentgen.errors import InputError, printable, spell
from sentgen.lookups.base.line_labels import OF_LINES, LabeledLine, OfferedLabel
from sentgen.options import Option
from sentgen.output.wording import are, either, quantity

#: Name for lines without a label.
UNLABELED = "?"
#: Stands for all labelers, so that none has it as a name.
EVERYBODY = "*"
#: Separates keys, so that no name of a labeler may contain it.
BETWEEN_KEYS = ","
#: Characters of a label or a name at most.
_MOST_CHARACTERS = 100
#: Approximate bytes of a row of `label` without its texts, with the index.
_ROW_BYTES = 100
_NUMBERS = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?", re.ASCII)

NameOption = Annotated[str, Option("Name of the set.", argument=True, metavar="SET", api={"max_length": 100})]
LabelerOption = Annotated[
    str,
    Option(
        "Who labels.",
        shell="Who labels. Default: your name on this machine.",
        metavar="NAME",
        api={"max_length": 100},
    ),
]


def labeler_here() -> str:
    """Return the default labeler: the name of the user of this machine."""
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError) as error:  # a container without names of users
        raise InputError(
            f"who labels? this machine has no name for you: give {spell('labeler')} NAME"
        ) from error


def check_name(text: str, what: str, without: str = "") -> str:
    """Check a label or a name, and return it with single blanks and none around it.

    Messages call the text ``what``; ``without`` are characters that it cannot have.

    Raises:
        InputError: the text is no label or name.
    """
    name = " ".join(text.split())
    wrong = not name or name == UNLABELED or len(name) > _MOST_CHARACTERS or printable(name) != name
    if wrong or {*without} & {*name}:
        signs = f" and without {' or '.join(without)}" if without else ""
        raise InputError(
            f"{text[:_MOST_CHARACTERS]!r} is no {what}; take a word or a few, other than {UNLABELED}{signs}"
        )
    return name


def no_labels(name: str) -> InputError:
    """Return the error that a set has no labels."""
    return InputError(
        f"no line of {name} has a label yet; give some with: sentgen lines label {name} 1-3 LABEL"
    )


def _read_line_numbers(text: str, most: int) -> list[int]:
    """Read numbers of lines, from 1 to ``most``.

    >>> _read_line_numbers("1-3,7", 10)
    [1, 2, 3, 7]

    Raises:
        InputError: the text is no list of line numbers, or names lines above ``most``.
    """
    numbers: dict[int, None] = {}
    for part in text.replace(" ", "").split(","):
        match = _NUMBERS.fullmatch(part)
        if not match:
            raise InputError(f"{text!r} names no lines; write their numbers as 3, 1-3 or 1-3,7")
        first, last = int(match[1]), int(match[2] or match[1])
        if not 1 <= first <= last <= most:
            raise InputError(f"there is no line {part}; the set has the lines 1 to {most:,}")
        numbers |= dict.fromkeys(range(first, last + 1))
    return list(numbers)


@dataclass(frozen=True, slots=True, kw_only=True)
class LineSetName:
    """One line set."""

    name: NameOption


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenLabel:
    """A label for lines of a set."""

    name: NameOption
    lines: Annotated[
        str, Option("Numbers of lines: `3`, `1-3` or `1-3,7`.", argument=True, api={"max_length": 10_000})
    ]
    label: Annotated[
        str, Option("The label; an empty one takes theirs away.", argument=True, api={"max_length": 100})
    ]
    labeler: LabelerOption = ""

    def give(self, desk: Desk) -> Changed:
        """Label the lines, in one step.

        Raises:
            NotFoundError: there is no such set.
            InputError: there is no such line, or no name of a labeler.
        """
        with desk.writing() as writing:
            set_row = find_set(writing, self.name)
            numbers = _read_line_numbers(self.lines, size_of(writing, set_row.id))
            given = dict.fromkeys(numbers, self.label)
            changed = _give_labels(writing, set_row, given, self.labeler)
            if desk.allowance:
                row_bytes = _ROW_BYTES + len(f"{self.labeler}{self.label}".encode())
                desk.allowance.take(writing, set_row.id, size=row_bytes * changed.number)
            return changed


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenBack:
    """The last step of a labeler in a set, to be undone."""

    name: NameOption
    labeler: LabelerOption = ""

    def undo(self, desk: Desk) -> Changed:
        """Give the lines the labels that they had before.

        Raises:
            NotFoundError: there is no such set.
            InputError: the labeler has no label left to take back.
        """
        with desk.writing() as writing:
            set_row = find_set(writing, self.name)
            of_labeler = (label.c.set_id == set_row.id, label.c.labeler == self.labeler)
            step = writing.execute(select(func.max(label.c.step)).where(*of_labeler)).scalar()
            if step is None:
                raise InputError(f"{self.labeler or 'nobody'} has no label in {self.name} to take back")
            last = (*of_labeler, label.c.step == step)
            numbers = list(writing.scalars(select(label.c.number).where(*last).order_by(label.c.number)))
            writing.execute(delete(label).where(*last))
            current = labels_of(writing, set_row.id).get(self.labeler, {})
            return Changed(self.name, len(numbers), numbers, current)


@dataclass(frozen=True, slots=True)
class Changed:
    """Lines of a set that were labeled, or whose label was taken back.

    Attributes:
        name: name of the set.
        number: number of lines that have another label now.
        lines: numbers of the lines that were named.
        labels: labels of the labeler now, by number of the line.
        taken_for: labels that were given in another spelling, and how the set spells them.
    """

    name: str
    number: int
    lines: Sequence[int]
    labels: Mapping[int, str]
    taken_for: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        verb = "has" if len(self.lines) == 1 else "have"
        sentence = (
            f"{self.name}: {self.number:,} of {quantity(len(self.lines), 'line')} {verb} another label now"
        )
        alike = ", ".join(f"{given!r} is {known!r}" for given, known in self.taken_for.items())
        return f"{sentence}; {alike}, as the set has it" if alike else sentence


def _give_labels(connection: Connection, set_row: Any, given: Mapping[int, str], labeler: str) -> Changed:
    """Give labels to lines, in one step; an empty label takes the line's label away.

    A label that differs in capital letters alone from one of the set is that label.
    """
    labeler = check_name(labeler, "name of a labeler", f"{BETWEEN_KEYS}{EVERYBODY}")
    known = dict.fromkeys(json.loads(set_row.labels))
    written = {text: as_known(check_name(text, "label"), known) for text in given.values() if text.strip()}
    wanted = {number: written.get(text) for number, text in given.items()}
    before = labels_of(connection, set_row.id).get(labeler, {})
    changed = {number: text for number, text in wanted.items() if before.get(number) != text}
    if changed:
        step = connection.execute(select(func.coalesce(func.max(label.c.step), 0) + 1)).scalar_one()
        common = {"set_id": set_row.id, "labeler": labeler, "step": step, "given_at": now()}
        rows = [{**common, "number": number, "label": text} for number, text in changed.items()]
        connection.execute(insert(label), rows)
        _add_keys(connection, set_row, filter(None, changed.values()))
    current = {number: text for number, text in (before | wanted).items() if text is not None}
    respelled = {text.strip(): known for text, known in written.items() if " ".join(text.split()) != known}
    return Changed(set_row.name, len(changed), [*given], current, respelled)


def as_known(text: str, known: dict[str, None]) -> str:
    """Return the known label that differs in capital letters at most; else add the label to ``known``."""
    if text not in known:
        text = next((other for other in known if _caseless(other) == _caseless(text)), text)
    known[text] = None
    return text


def _caseless(text: str) -> str:
    return normalize("NFC", text).casefold()


def _add_keys(connection: Connection, set_row: Any, given: Iterable[str]) -> None:
    """Add labels to those of a set, in the order of first use, by which they get keys of the keyboard."""
    before = json.loads(set_row.labels)
    labels = list(dict.fromkeys([*before, *given]))
    if labels != before:
        connection.execute(
            update(line_set).where(line_set.c.id == set_row.id).values(labels=json.dumps(labels))
        )


_LINE, _LABEL, _NODE = "line", "label", "node"


def import_labels(desk: Desk, name: str, file: str | Path, labeler: str) -> Changed:
    """Give the labels of a spreadsheet to the lines of a set; a row without one changes nothing.

    Args:
        desk: the desk.
        name: the set.
        file: a table with the columns ``line`` and ``label``; a column ``node`` is compared with the set.
        labeler: name of the labeler.

    Raises:
        NotFoundError: there is no such set.
        InputError: the table cannot be read, or is not one of this set; no label was given then.
    """
    with desk.reading() as reading:
        query = select(line.c.number, line.c.node).where(line.c.set_id == find_set(reading, name).id)
        nodes = {row.number: row.node for row in reading.execute(query)}
    given = _read_spreadsheet(str(file), name, nodes)
    with desk.writing() as writing:
        return _give_labels(writing, find_set(writing, name), given, labeler)


def _read_spreadsheet(path: str, name: str, nodes: Mapping[int, str]) -> dict[int, str]:
    """Return the labels in a spreadsheet by number of the line, if it is one of the set with these nodes."""
    given: dict[int, str] = {}
    with open_table(source_at(path)) as table:
        number_at, label_at = table.column_index(_LINE, _LINE), table.column_index(_LABEL, _LABEL)
        node_at = table.columns.index(_NODE) if _NODE in table.columns else None
        for row in table.rows:
            if row.wrong:
                raise InputError(row.wrong, path=path, line=row.number)
            text = row.values[number_at].strip()
            number = int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0
            if number not in nodes:
                raise InputError(f"{text!r} is no line of {name}", path=path, line=row.number)
            if node_at is not None and _as_in_sheet(row.values[node_at]) != _as_in_sheet(nodes[number]):
                raise InputError(
                    f"line {number} of {name} has the node {nodes[number]!r}, not {row.values[node_at]!r}: is"
                    " this the table of another set?",
                    path=path,
                    line=row.number,
                )
            if given_label := row.values[label_at].strip():
                try:
                    given[number] = check_name(given_label, "label")
                except InputError as error:
                    raise InputError(error.message, path=path, line=row.number) from error
    return given


def _as_in_sheet(text: str) -> str:
    """Return a text in the form for comparison: single blanks, and no apostrophe that prevents a formula."""
    return " ".join(text.split()).removeprefix("'")


Labels = Mapping[str, Mapping[int, str]]


def labeled_lines(
    desk: Path, connection: Connection, name: str, tell: Callable[[str], None]
) -> Sequence[LabeledLine] | None:
    """Return the labels of a set, ``make``, or of one labeler of it, ``make.ann``; none without a set.

    ``tell`` is called with a note on lines that are left out.

    Raises:
        InputError: no line of it has a label, or none that is still in the store.
    """
    with Desk(desk).reading() as reading:
        sets = reading.execute(select(line_set).where(line_set.c.name.in_(_possible_sets(name)))).all()
        if not sets:
            return None
        # Names of sets may have periods: ``make.ann`` is the set of this name, if there is one.
        set_row = max(sets, key=lambda row: len(row.name))
        labels = _of_labeler(set_row.name, name[len(set_row.name) + 1 :], labels_of(reading, set_row.id))
        lines = lines_of(reading, set_row.id)
    labeled = {number for given in labels.values() for number in given}
    return _unmoved_lines(connection, name, [row for row in lines if row["number"] in labeled], labels, tell)


def offered_labels(desk: Path, corpora: Sequence[str]) -> list[OfferedLabel]:
    """Return the labels of all sets as the desk has them, even if their lines are no longer in the store.

    If several labeled a set, the labels of all come first, then those of each labeler. The labels are of
    lines of some corpora, or of all if there are none.
    """
    offered = list[OfferedLabel]()
    with Desk(desk).reading() as reading:
        sets = {row.name: row for row in reading.execute(select(line_set).order_by(line_set.c.name))}
        for name, set_row in sets.items():
            labels = labels_of(reading, set_row.id)
            numbers = {number for given in labels.values() for number in given}
            if corpora and numbers:
                in_corpora = select(line.c.number).where(
                    line.c.set_id == set_row.id, line.c.corpus.in_(corpora)
                )
                numbers.intersection_update(reading.scalars(in_corpora))
            by_key = {name: list(labels.values())}
            by_key |= {f"{name}.{labeler}": [given] for labeler, given in labels.items() if len(labels) > 1}
            for key, given in by_key.items():
                # A key that is also the name of another set, or of a labeler there, stands for that.
                if max((each for each in _possible_sets(key) if each in sets), key=len) == name:
                    labeled = {pair for each in given for pair in each.items() if pair[0] in numbers}
                    sizes = Counter(text for _, text in labeled)
                    order = json.loads(set_row.labels)
                    offered += [OfferedLabel(key, text, sizes[text]) for text in order if sizes[text]]
    return offered


def _possible_sets(name: str) -> list[str]:
    """Return the names of sets that a name may stand for.

    >>> _possible_sets("make.ann")
    ['make', 'make.ann']
    """
    parts = name.split(".")
    return [".".join(parts[:number]) for number in range(1, len(parts) + 1)]


def _of_labeler(name: str, labeler: str, labels: Labels) -> Labels:
    """Return the labels of one labeler of a set; of all if none is named.

    Raises:
        InputError: there are no such labels.
    """
    if not labels:
        raise no_labels(name)
    if not labeler:
        return labels
    if labeler not in labels:
        there = [f"{OF_LINES}{name}.{each}" for each in labels]
        raise InputError(f"{labeler!r} has labeled no line of {name}; there is {either(there)}")
    return {labeler: labels[labeler]}


def _unmoved_lines(
    connection: Connection,
    name: str,
    lines: Sequence[Mapping[str, Any]],
    labels: Labels,
    tell: Callable[[str], None],
) -> Sequence[LabeledLine]:
    """Return the labels of those lines that the store still has in the same place with the same words."""
    states = LineState.of_lines(connection, lines)
    there = [row for row in lines if not states[row["number"]].state]
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
            states[row["number"]].sentence_id or 0,
            row["first"],
            row["last"],
            given[row["number"]],
            labeler,
        )
        for labeler, given in labels.items()
        for row in there
        if row["number"] in given
    ]
