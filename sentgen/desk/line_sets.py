"""Sets of lines: made by a query, listed with their labels, and removed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, ClassVar

from sqlalchemy import Connection, delete, insert, select

from sentgen.case_folding import fold
from sentgen.desk.desk import Desk, now
from sentgen.desk.labels import (
    BETWEEN_KEYS,
    EVERYBODY,
    UNLABELED,
    NameOption,
    as_known,
    check_name,
)
from sentgen.desk.line_values import CHANGED, GONE, LineState, LineValues
from sentgen.desk.tables import find_set, labels_of, line, line_set, lines_of, names_of_sets, size_of
from sentgen.errors import InputError
from sentgen.lookups.base.question import LimitOption, OffsetOption
from sentgen.lookups.base.statement import Statement
from sentgen.lookups.command_line import command_line
from sentgen.lookups.concordances.concordance import Kwic, ShowOption
from sentgen.lookups.concordances.line_query import read_shown
from sentgen.options import Option, parameters_of
from sentgen.output.tabular import Rows
from sentgen.output.wording import are, quantity
from sentgen.schema.engine import raw, register_arrow

_KNOWN = """\
select any_value(hit.corpus) as corpus, any_value(hit.document) as document,
  any_value(s.sent_id) as sent_id, any_value(s.id - d.first_sentence) as ordinal, hit.first, hit.last,
  to_json(list(w.form order by t.position)) as forms,
  any_value(hit."left") as "left", any_value(hit.node) as node, any_value(hit."right") as "right"
from drawn_line as hit
join sentence s on s.id = hit.sentence_id
join document d on d.id = s.document_id
join token t on t.sentence_id = s.id and t.position between hit.first and hit.last
join word w on w.id = t.word_id
group by hit.place, hit.first, hit.last
order by hit.place"""


def _known_lines(connection: Connection, lines: Rows) -> Iterator[dict[str, Any]]:
    """Yield what a set stores (`sentgen.desk.tables.line`) of a concordance with places (`Kwic.lines`)."""
    import pyarrow as pa

    table = lines.arrow()
    numbered = table.append_column("place", pa.array(range(table.num_rows), pa.int64()))
    with register_arrow(raw(connection), drawn_line=numbered):
        yield from Statement(_KNOWN).run(connection).to_pylist()


#: Orders of lines; any other order is a key of the store.
ORDERS = ("line", "label", "left", "node", "right", "document")
#: Approximate bytes of a line without its texts.
_LINE = 50
#: Lines of a set that are written at once.
_BLOCK = 10_000
_NOT_OF_SETS = ("count", "places", "explain", "show", "random", "limit", "offset")
_PLACE, _WORDS = ("corpus", "document", "sent_id"), ("left", "node", "right")
_KEYS: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "line": lambda line: line["number"],
    "left": lambda line: fold(line["left"]).split()[::-1],
    "node": lambda line: fold(line["node"]),
    "right": lambda line: fold(line["right"]).split(),
    "document": lambda line: (line["corpus"], line["document"]),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class NewLineSet(Kwic):
    """A set of the lines that a query finds."""

    ORDER: ClassVar[tuple[str, ...]] = (
        "name",
        *(one.name for one in parameters_of(Kwic) if one.name not in (*_NOT_OF_SETS, *Kwic.LAST)),
        "labels",
        *(name for name in Kwic.LAST if name not in _NOT_OF_SETS),
    )

    name: NameOption
    labels: Annotated[
        list[str],
        Option(
            "Labels that have a key on the page, in this order; others get the next ones.",
            metavar="LABEL",
            api={"max_length": 50},
        ),
    ] = field(default_factory=list)
    limit: LimitOption = 0

    @property
    def drawing(self) -> Kwic:
        """Return the question that finds the lines."""
        return Kwic(**{option.name: getattr(self, option.name) for option in fields(Kwic)})

    def make(self, desk: Desk, connection: Connection) -> tuple[int, int]:
        """Make the set; return the number of its lines, and how many there are to be had.

        Raises:
            InputError: the name is taken, or nothing is found.
        """
        name = check_name(self.name, "name of a line set", f"/{BETWEEN_KEYS}")
        known: dict[str, None] = {}
        keys = list(dict.fromkeys(as_known(check_name(text, "label"), known) for text in self.labels))
        question = self.drawing
        answer = question.lines(connection, placed=True)
        if not answer.rows.num_rows:
            raise InputError(f"set {name!r} is not made: {'; '.join(answer.notes) or 'nothing is found'}")
        lines = list(_known_lines(connection, answer.rows))
        with desk.writing() as writing:
            if name in names_of_sets(writing):
                raise InputError(f"there is a line set {name!r}; remove it first, or take another name")
            row = {"name": name, "query": command_line("kwic", question), "labels": json.dumps(keys)}
            made = writing.execute(insert(line_set), row | {"made_at": now()}).inserted_primary_key
            assert made is not None
            for start in range(0, len(lines), _BLOCK):
                block = lines[start : start + _BLOCK]
                rows = [
                    {**row, "set_id": made[0], "number": number}
                    for number, row in enumerate(block, start + 1)
                ]
                writing.execute(insert(line), rows)
            if desk.allowance:
                size = sum(len(str(value).encode()) for row in lines for value in row.values())
                desk.allowance.take(writing, made[0], sets=1, size=size + _LINE * len(lines))
        return len(lines), answer.total or len(lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class SetLines:
    """Lines of a set with their labels."""

    name: NameOption = ""
    label: Annotated[
        str | None,
        Option(
            f"Only lines with this label; `{UNLABELED}` for those without one.",
            metavar="LABEL",
            api={"max_length": 100},
        ),
    ] = None
    labeler: Annotated[
        str,
        Option(
            f"Whose labels; `{EVERYBODY}` for everybody's.",
            shell=f"Whose labels; `{EVERYBODY}` for everybody's. Default: yours.",
            metavar="NAME",
            api={"max_length": 100},
        ),
    ] = ""
    show: ShowOption = field(default_factory=list)
    sort: Annotated[
        str,
        Option(
            f"Order of the lines: {', '.join(ORDERS[:-1])} or {ORDERS[-1]}, or a key of the store such as"
            " `genre`; `-` turns it.",
            metavar="KEY",
            api={"max_length": 200},
        ),
    ] = "line"
    limit: LimitOption = 20
    offset: OffsetOption = 0

    @property
    def _of_one(self) -> bool:
        return self.labeler not in ("", EVERYBODY)

    def find(self, desk: Desk, connection: Connection) -> FoundLines:
        """Return the lines, and say what is gone from the store.

        The columns are ``line``, ``label`` (of the labeler, if it is one), ``label_NAME`` of each other,
        ``state``, and those of a concordance, with what ``show`` names as it is in the store now.

        Raises:
            NotFoundError: there is no such set.
            InputError: no line has such a label, or the store no such key.
        """
        shown = read_shown(self.show, ("line", "label", "state"))
        with desk.reading() as reading:
            of_set = find_set(reading, self.name)
            labels = labels_of(reading, of_set.id)
            lines = lines_of(reading, of_set.id)
        # Without a labeler, the labels of all labelers count.
        every = {number: text for given in labels.values() for number, text in given.items()}
        own = labels.pop(self.labeler, {}) if self._of_one else every
        chosen = self._sorted(connection, self._chosen(lines, own, labels, of_set), own)
        part = chosen[self.offset :][: self.limit or None]
        states = LineState.of_lines(connection, part)
        values = LineValues.find(connection, part, states, shown).values
        others = {f"label_{name}": given for name, given in labels.items()}
        given = {"label": own, **others} if self._of_one else others
        columns = ("line", *given, "state", *_PLACE, *shown, *_WORDS)
        rows = []
        for row in part:
            number, current = row["number"], states[row["number"]]
            name = row["sent_id"] or current.sentence or f"#{row['ordinal'] + 1}"
            texts = (each.get(number) for each in given.values())
            where = (row["corpus"], current.document or row["document"], name)
            extra = values.get(number) or [None] * len(shown)
            rows.append(
                (number, *texts, current.state or None, *where, *extra, *(row[word] for word in _WORDS))
            )
        types = [_type_of(row[at] for row in rows) for at in range(len(columns))]
        keys, query = json.loads(of_set.labels), of_set.query
        more = self.offset + len(part) < len(chosen)
        return FoundLines(Rows(columns, rows, types), len(chosen), more, tuple(_notes(states)), keys, query)

    def _chosen(
        self,
        lines: list[dict[str, Any]],
        own: Mapping[int, str],
        labels: Mapping[str, Mapping[int, str]],
        of_set: Any,
    ) -> list[dict[str, Any]]:
        if self.label == UNLABELED:
            lines = [row for row in lines if row["number"] not in own]
        elif self.label is not None:
            every = [own] if self._of_one else list(labels.values())
            known = sorted(
                {text for each in every for text in each.values()} | set(json.loads(of_set.labels))
            )
            label = as_known(self.label, dict.fromkeys(known))
            if label not in known:
                there = f"there are {', '.join(known)}" if known else "there are no labels yet"
                raise InputError(f"no label {self.label!r} in {self.name}; {there}")
            lines = [row for row in lines if any(each.get(row["number"]) == label for each in every)]
        return lines

    def _sorted(
        self, connection: Connection, lines: list[dict[str, Any]], own: Mapping[int, str]
    ) -> list[dict[str, Any]]:
        name, down = self.sort.removeprefix("-"), self.sort.startswith("-")
        if name == "label":
            return sorted(
                lines, key=lambda row: (row["number"] not in own, own.get(row["number"], "")), reverse=down
            )
        if name in ORDERS:
            return sorted(lines, key=_KEYS[name], reverse=down)
        states = LineState.of_lines(connection, lines)
        ranks = LineValues.find(connection, lines, states, [name], "sort key", ORDERS).ranks
        # Lines without a value are first, and last in reverse order.
        return sorted(lines, key=lambda row: tuple(ranks.get(row["number"], ())), reverse=down)


def _type_of(values: Iterable[object]) -> str:
    kinds = {type(value) for value in values if value is not None}
    return "BIGINT" if kinds == {int} else "DOUBLE" if kinds == {float} else "VARCHAR"


@dataclass(frozen=True, slots=True)
class FoundLines:
    """Lines of a set.

    Attributes:
        rows: the lines that are shown.
        total: number of all lines.
        truncated: whether there are more lines after these.
        notes: notes on lines that are gone from the store, or have changed there.
        labels: labels of the set, in the order of their keys on the keyboard.
        query: query that found the lines.
    """

    rows: Rows
    total: int
    truncated: bool
    notes: Sequence[str]
    labels: Sequence[str]
    query: str


def check(desk: Desk, name: str) -> None:
    """Raise an error if there is no set of a name.

    Raises:
        NotFoundError: there is no set of that name.
    """
    with desk.reading() as reading:
        find_set(reading, name)


def overview(desk: Desk | None) -> Rows:
    """Return the sets: name, lines, how many have a label, labelers, query and when they were made (UTC)."""
    rows = list(_overview(desk)) if desk else []
    return Rows(("name", "lines", "labeled", "labelers", "query", "made_at"), rows)


def _overview(desk: Desk) -> Iterator[tuple[object, ...]]:
    with desk.reading() as reading:
        for of_set in reading.execute(select(line_set).order_by(line_set.c.name)):
            labels = labels_of(reading, of_set.id)
            size, who = size_of(reading, of_set.id), ", ".join(labels) or None
            yield of_set.name, size, _labeled_count(labels), who, of_set.query, of_set.made_at


def remove(desk: Desk, name: str, *, dry_run: bool = False) -> tuple[int, int]:
    """Remove a set with its labels; return the number of its lines, and of those with a label.

    Raises:
        NotFoundError: there is no such set.
    """
    with desk.reading() if dry_run else desk.writing() as connection:
        of_set = find_set(connection, name)
        sizes = size_of(connection, of_set.id), _labeled_count(labels_of(connection, of_set.id))
        if not dry_run:
            connection.execute(delete(line_set).where(line_set.c.id == of_set.id))
    return sizes


def _labeled_count(labels: Mapping[str, Mapping[int, str]]) -> int:
    """Return the number of lines with a label by any labeler."""
    return len({number for given in labels.values() for number in given})


def _notes(by_number: Mapping[int, LineState]) -> Sequence[str]:
    """Return notes on lines that have changed in the store since the set was made."""
    states = Counter(line_state.state for line_state in by_number.values())
    notes = []
    for state, why in ((GONE, "gone from the store"), (CHANGED, "of other words in the store now")):
        if number := states[state]:
            before = "it was" if number == 1 else "they were"
            notes.append(f"{quantity(number, 'line')} {are(number)} {why}, and shown as {before}")
    return notes
