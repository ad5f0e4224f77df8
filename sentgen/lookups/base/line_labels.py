"""Labels of line sets as look-ups ask for them: ``lines.make``, or ``lines.make.ann`` of one labeler.

Line sets lie on a desk, above look-ups: who opens a store lends its connections what gives
their labels. These become values of the statement: what was kept under one is never of other labels.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol

from sqlalchemy import Connection

from sentgen.case_folding import fold
from sentgen.errors import InputError, NotFoundError, SentgenError
from sentgen.lookups.base.attributes import Key
from sentgen.lookups.base.statement import Bindings, Statement
from sentgen.output.wording import either, quantity
from sentgen.schema.engine import LINE_LABELS

#: What the name of a set begins with where a key stands.
OF_LINES = "lines."

#: JSON, as parameters are never part of the text: a list of rows of strings. Without braces, which templates
#: would take for theirs; and cast, as `sentgen sql` takes no function that reads JSON.
_ROWS = "(select unnest({rows}::json::varchar[][]) as r)"
_LABELED_SENTENCE = "select r[1]::bigint as sentence_id, r[2] as value from {rows}"
_HOLDS = "s.id in (select m.sentence_id from ({sentences}) as m{test})"
_OCCURRING = """\
select value
from ({sentences})
group by value
order by count(*) desc, value
limit $most"""
_VALUE = """\
(select min(r[3]) from {rows}
    where r[1]::bigint = {sentence} and r[2]::integer = {position})"""


class LabeledLine(NamedTuple):
    """A line with the label that somebody gave to it: the place of its node in the store as it is now."""

    number: int
    sentence_id: int
    first: int
    last: int
    label: str
    labeler: str


class OfferedLabel(NamedTuple):
    """A label of a set, or of one labeler of it, and how many lines have it."""

    name: str
    label: str
    lines: int


class LentLabels(Protocol):
    """What gives the labels of line sets; a name is what stands behind ``lines.``."""

    def find(self, connection: Connection, name: str) -> Sequence[LabeledLine] | None:
        """Return the labels of a set, or of one labeler of it; none if there is no such set.

        Raises:
            InputError: no line of it has a label, or none that is still in the store.
        """

    def offered(self, corpora: Sequence[str]) -> Sequence[OfferedLabel]:
        """Return the labels that lines of some corpora, or of all, have, without a look at the store."""

    def refusal(self, name: str) -> SentgenError:
        """Return the error that there is no such set, with those that there are."""


@dataclass(frozen=True, slots=True)
class LineLabelKey(Key):
    """The labels of a set of lines; of a token, that of the innermost line around it.

    Args:
        name: as ``lines.make``.
        labels: labels that lines of the set have.
        sentences: the numbers of sentences with the label of a line in them, as JSON.
        tokens: the numbers of sentences, positions of tokens, and their labels, as JSON.
        disputed: why tokens have no labels, if that is so.
    """

    what: ClassVar[str] = "a label of lines"
    #: What a condition on a sentence tests, and no number.
    tested_value: ClassVar[str] = "m.value"
    number: ClassVar[bool] = False
    name: str
    labels: tuple[str, ...]
    sentences: str
    tokens: str
    disputed: str = ""

    def value(self, alias: str, bindings: Bindings) -> str:
        """Return the label of a row with ``sentence_id`` and ``position``; see `at`."""
        return self.at(f"{alias}.sentence_id", f"{alias}.position", bindings)

    def at(self, sentence: str, position: str, bindings: Bindings) -> str:
        """Return the label of a token by its sentence and its position there, in SQL.

        Raises:
            InputError: labelers differ, so that it may be one or another.
        """
        if self.disputed:
            raise InputError(self.disputed)
        rows = _ROWS.format(rows=bindings.bind("labeled", self.tokens))
        return _VALUE.format(rows=rows, sentence=sentence, position=position)

    def holds(self, test: str, bindings: Bindings) -> str:
        """Return the condition on a row ``s`` of `sentence` that a line in it has a label that passes."""
        return _HOLDS.format(sentences=self._sentences(bindings), test=f" where {test}" if test else "")

    def frequent_values(self, most: int) -> Statement:
        """Return the query for its labels, the most frequent first."""
        bindings = Bindings(most=most)
        return Statement(_OCCURRING.format(sentences=self._sentences(bindings)), bindings)

    def spelled(self, text: str) -> str:
        """Return a label as the set has it, whatever the case of its letters."""
        return next((label for label in self.labels if fold(label) == fold(text)), text)

    def _sentences(self, bindings: Bindings) -> str:
        return _LABELED_SENTENCE.format(rows=_ROWS.format(rows=bindings.bind("labeled", self.sentences)))


def find_label(connection: Connection, name: str, *, required: bool = False) -> LineLabelKey | None:
    """Return the key of a set of lines; none if the name stands for none.

    Args:
        connection: the store, with what gives labels.
        name: such as ``lines.make``.
        required: refuse a name of this form for which there is no set.

    Raises:
        InputError: no line of the set has a label, or none that is still in the store.
        NotFoundError: there is no such set.
    """
    if not name.startswith(OF_LINES):
        return None
    lent: LentLabels | None = connection.get_execution_options().get(LINE_LABELS)
    of_set = name.removeprefix(OF_LINES)
    lines = lent.find(connection, of_set) if lent else None
    if lines is None and required:
        raise lent.refusal(of_set) if lent else NotFoundError(f"no line set {of_set!r} here")
    return None if lines is None else _key(name, lines)


def offered_labels(connection: Connection, corpora: Sequence[str]) -> Sequence[OfferedLabel]:
    """Return the labels that lines of some corpora, or of all, have, by the names of keys."""
    lent: LentLabels | None = connection.get_execution_options().get(LINE_LABELS)
    offered = lent.offered(corpora) if lent else ()
    return [each._replace(name=f"{OF_LINES}{each.name}") for each in offered]


def _key(name: str, lines: Sequence[LabeledLine]) -> LineLabelKey:
    by_line: dict[int, set[str]] = {}
    for line in lines:
        by_line.setdefault(line.number, set()).add(line.label)
    differing = sum(len(labels) > 1 for labels in by_line.values())
    disputed = ""
    if differing:
        labelers = [f"{name}.{labeler}" for labeler in sorted({line.labeler for line in lines})]
        disputed = (
            f"{name}: labelers give {quantity(differing, 'line')} different labels; say whose,"
            f" {either(labelers)}"
        )
    return LineLabelKey(
        name,
        tuple(dict.fromkeys(line.label for line in lines)),
        _json(sorted({(line.sentence_id, line.label) for line in lines})),
        "" if disputed else _json([(*at, label) for at, label in sorted(_of_tokens(lines).items())]),
        disputed,
    )


def _of_tokens(lines: Sequence[LabeledLine]) -> dict[tuple[int, int], str]:
    """Return labels by sentence and position: of several lines, of the shortest, the last one to begin."""
    # The one that is to hold is written last.
    outer_first = sorted(lines, key=lambda line: (line.first - line.last, line.first, -line.number))
    return {
        (line.sentence_id, position): line.label
        for line in outer_first
        for position in range(line.first, line.last + 1)
    }


def _json(rows: Sequence[tuple[object, ...]]) -> str:
    return json.dumps([[str(value) for value in row] for row in rows], ensure_ascii=False)
