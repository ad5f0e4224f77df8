"""Labels: who gave which to a line of a set. The last one that a labeler gave holds."""

from __future__ import annotations

import getpass
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any
from unicodedata import normalize

from sqlalchemy import Connection, delete, func, insert, select, update

from sentgen.desk.desk import Desk, now
from sentgen.desk.tables import find_set, label, labels_of, line_set, size_of
from sentgen.errors import InputError, printable, spell
from sentgen.options import Option
from sentgen.output.wording import quantity

#: Stands for lines without a label.
UNLABELED = "?"
#: Stands between keys, one of which is the name of a set with that of a labeler.
BETWEEN_KEYS = ","
_LONGEST = 100
#: Bytes of a label beside its texts, with its place in the index, about.
_ROW = 100
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
    """Return who labels if nobody else is named: the user of this machine."""
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError) as error:  # a container without names of users
        raise InputError(
            f"who labels? this machine has no name for you: give {spell('labeler')} NAME"
        ) from error


def check_name(text: str, what: str, without: str = "") -> str:
    """Return a label or a name without blanks around it.

    Args:
        text: what was given.
        what: it is, for the message.
        without: characters that it cannot have.

    Raises:
        InputError: it is none.
    """
    name = " ".join(text.split())
    wrong = not name or name == UNLABELED or len(name) > _LONGEST or printable(name) != name
    if wrong or {*without} & {*name}:
        signs = f" and without {' or '.join(without)}" if without else ""
        raise InputError(
            f"{text[:_LONGEST]!r} is no {what}; take a word or a few, other than {UNLABELED}{signs}"
        )
    return name


def no_labels(name: str) -> InputError:
    """Return the error that a set has no labels."""
    return InputError(
        f"no line of {name} has a label yet; give some with: sentgen lines label {name} 1-3 LABEL"
    )


def numbers_of(which: str, most: int) -> list[int]:
    """Read numbers of lines.

    >>> numbers_of("1-3,7", 10)
    [1, 2, 3, 7]

    Raises:
        InputError: it names no lines, or some that there are not.
    """
    chosen: dict[int, None] = {}
    for part in which.replace(" ", "").split(","):
        numbers = _NUMBERS.fullmatch(part)
        if not numbers:
            raise InputError(f"{which!r} names no lines; write their numbers as 3, 1-3 or 1-3,7")
        first, last = int(numbers[1]), int(numbers[2] or numbers[1])
        if not 1 <= first <= last <= most:
            raise InputError(f"there is no line {part}; the set has the lines 1 to {most:,}")
        chosen |= dict.fromkeys(range(first, last + 1))
    return list(chosen)


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
            of_set = find_set(writing, self.name)
            numbers = numbers_of(self.lines, size_of(writing, of_set.id))
            given = dict.fromkeys(numbers, self.label)
            changed = give_labels(writing, of_set, given, self.labeler)
            if desk.allowance:
                each = _ROW + len(f"{self.labeler}{self.label}".encode())
                desk.allowance.take(writing, of_set.id, size=each * changed.number)
            return changed


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenBack:
    """What a labeler did last in a set, to be taken back."""

    name: NameOption
    labeler: LabelerOption = ""

    def undo(self, desk: Desk) -> Changed:
        """Give the lines the labels that they had before.

        Raises:
            NotFoundError: there is no such set.
            InputError: there is nothing left to take back.
        """
        with desk.writing() as writing:
            of_set = find_set(writing, self.name)
            of_labeler = (label.c.set_id == of_set.id, label.c.labeler == self.labeler)
            step = writing.execute(select(func.max(label.c.step)).where(*of_labeler)).scalar()
            if step is None:
                raise InputError(f"{self.labeler or 'nobody'} has no label in {self.name} to take back")
            last = (*of_labeler, label.c.step == step)
            numbers = list(writing.scalars(select(label.c.number).where(*last).order_by(label.c.number)))
            writing.execute(delete(label).where(*last))
            held = labels_of(writing, of_set.id).get(self.labeler, {})
            return Changed(self.name, len(numbers), numbers, held)


@dataclass(frozen=True, slots=True)
class Changed:
    """Lines of a set that were labeled, or whose label was taken back.

    Attributes:
        name: the set.
        number: of lines that have another label now.
        lines: the lines that were meant.
        labels: what the labeler calls lines of the set now.
        taken_for: labels that were given, and how the set writes them.
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
        alike = ", ".join(f"{given!r} is {label!r}" for given, label in self.taken_for.items())
        return f"{sentence}; {alike}, as the set has it" if alike else sentence


def give_labels(connection: Connection, of_set: Any, given: Mapping[int, str], labeler: str) -> Changed:
    """Give labels to lines, in one step; an empty one takes the label away.

    A label that differs in capital letters alone from one of the set is that label.

    Args:
        connection: the desk, being written.
        of_set: the row of the set.
        given: label by number of the line.
        labeler: who gives them.
    """
    labeler = check_name(labeler, "name of a labeler", BETWEEN_KEYS)
    known = dict.fromkeys(json.loads(of_set.labels))
    written = {text: as_known(check_name(text, "label"), known) for text in given.values() if text.strip()}
    wanted = {number: written.get(text) for number, text in given.items()}
    before = labels_of(connection, of_set.id).get(labeler, {})
    changed = {number: text for number, text in wanted.items() if before.get(number) != text}
    if changed:
        step = connection.execute(select(func.coalesce(func.max(label.c.step), 0) + 1)).scalar_one()
        common = {"set_id": of_set.id, "labeler": labeler, "step": step, "given_at": now()}
        rows = [{**common, "number": number, "label": text} for number, text in changed.items()]
        connection.execute(insert(label), rows)
        _add_keys(connection, of_set, filter(None, changed.values()))
    held = {number: text for number, text in (before | wanted).items() if text is not None}
    alike = {text.strip(): label for text, label in written.items() if " ".join(text.split()) != label}
    return Changed(of_set.name, len(changed), [*given], held, alike)


def as_known(text: str, known: dict[str, None]) -> str:
    """Return a label as it is written already, and from now on if it is new."""
    if text not in known:
        text = next((other for other in known if _caseless(other) == _caseless(text)), text)
    known[text] = None
    return text


def _caseless(text: str) -> str:
    return normalize("NFC", text).casefold()


def _add_keys(connection: Connection, of_set: Any, given: Iterable[str]) -> None:
    """Give keys to labels that have none yet, in the order in which they are first used."""
    before = json.loads(of_set.labels)
    labels = list(dict.fromkeys([*before, *given]))
    if labels != before:
        connection.execute(
            update(line_set).where(line_set.c.id == of_set.id).values(labels=json.dumps(labels))
        )
