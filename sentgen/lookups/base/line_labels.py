"""Labels of line sets as keys of queries: ``lines.make``, or ``lines.make.ann`` for those of one labeler.

Line sets are kept on a desk, in a room above look-ups: the code that opens a store gives its connections an
object that returns the labels. The labels become parameters of the statement, so that an answer that was
cached for a statement always has the labels of then.
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

#: Prefix of the name of a set in the place of a key.
OF_LINES = "lines."

#: The rows are a list of lists of strings in JSON, bound as one parameter. JSON objects would have braces,
#: which templates read as fields; and JSON is cast, as `sentgen sql` allows no function that reads it.
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
    """A line with the label that somebody gave to it, and the current position of its node in the store."""

    number: int
    sentence_id: int
    first: int
    last: int
    label: str
    labeler: str


class OfferedLabel(NamedTuple):
    """A label of a set, or of one of its labelers, and how many lines have it."""

    name: str
    label: str
    lines: int


class LentLabels(Protocol):
    """Returns the labels of line sets; a name is the part of a key behind ``lines.``."""

    def find(self, connection: Connection, name: str) -> Sequence[LabeledLine] | None:
        """Return the labels of a set, or of one of its labelers; None if there is no such set.

        Raises:
            InputError: no line of the set has a label, or no labeled line is still in the store.
        """

    def offered(self, corpora: Sequence[str]) -> Sequence[OfferedLabel]:
        """Return the labels of lines in some corpora, or in all, without reading the store."""

    def refusal(self, name: str) -> SentgenError:
        """Return the error that there is no set of a name, with the names of the sets that there are."""


@dataclass(frozen=True, slots=True)
class LineLabelKey(Key):
    """The labels of a set of lines; of a token, that of the innermost line around it.

    Args:
        name: name of the key, such as ``lines.make``.
        labels: labels that lines of the set have.
        sentences: JSON rows of a sentence id and the label of a line in the sentence.
        tokens: JSON rows of a sentence id, the position of a token, and its label.
        disputed: the error if tokens have no labels because labelers differ.
    """

    what: ClassVar[str] = "a label of lines"
    #: The SQL that a condition on a sentence tests; it is a string.
    tested_value: ClassVar[str] = "m.value"
    number: ClassVar[bool] = False
    name: str
    labels: tuple[str, ...]
    sentences: str
    tokens: str
    disputed: str = ""

    @classmethod
    def find(cls, connection: Connection, name: str, *, required: bool) -> LineLabelKey | None:
        """Return the key of a set of lines, by a name that begins with `OF_LINES`; None if there is no set.

        Args:
            connection: the store, with a `LentLabels` among its execution options.
            name: name of the key, such as ``lines.make``.
            required: refuse a name for which there is no set.

        Raises:
            InputError: no line of the set has a label, or no labeled line is still in the store.
            NotFoundError: there is no such set.
        """
        lent: LentLabels | None = connection.get_execution_options().get(LINE_LABELS)
        of_set = name.removeprefix(OF_LINES)
        lines = lent.find(connection, of_set) if lent else None
        if lines is None and required:
            raise lent.refusal(of_set) if lent else NotFoundError(f"no line set {of_set!r} here")
        return None if lines is None else _key(name, lines)

    def value(self, alias: str, bindings: Bindings) -> str:
        return self.at(f"{alias}.sentence_id", f"{alias}.position", bindings)

    def at(self, sentence: str, position: str, bindings: Bindings) -> str:
        """Return the SQL for the label of a token, given the SQL of its sentence id and its position there.

        Raises:
            InputError: labelers gave different labels to a line.
        """
        if self.disputed:
            raise InputError(self.disputed)
        rows = _ROWS.format(rows=bindings.bind("labeled", self.tokens))
        return _VALUE.format(rows=rows, sentence=sentence, position=position)

    def holds(self, test: str, bindings: Bindings) -> str:
        """Return the condition that some line in a row ``s`` of `sentence` has a label that passes a test."""
        return _HOLDS.format(sentences=self._sentences(bindings), test=f" where {test}" if test else "")

    def frequent_values(self, most: int) -> Statement:
        """Return the query for the labels, the most frequent first."""
        bindings = Bindings(most=most)
        return Statement(_OCCURRING.format(sentences=self._sentences(bindings)), bindings)

    def spelled(self, text: str) -> str:
        """Return a label as it is spelled in the set, found without regard to case."""
        return next((label for label in self.labels if fold(label) == fold(text)), text)

    def _sentences(self, bindings: Bindings) -> str:
        return _LABELED_SENTENCE.format(rows=_ROWS.format(rows=bindings.bind("labeled", self.sentences)))


def offered_labels(connection: Connection, corpora: Sequence[str]) -> Sequence[OfferedLabel]:
    """Return the labels of lines in some corpora, or in all, with the names of their keys."""
    lent: LentLabels | None = connection.get_execution_options().get(LINE_LABELS)
    offered = lent.offered(corpora) if lent else ()
    return [label._replace(name=f"{OF_LINES}{label.name}") for label in offered]


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
    """Return labels by sentence id and position: the shortest line wins, then the last to begin."""
    # The label that wins is written last.
    outer_first = sorted(lines, key=lambda line: (line.first - line.last, line.first, -line.number))
    return {
        (line.sentence_id, position): line.label
        for line in outer_first
        for position in range(line.first, line.last + 1)
    }


def _json(rows: Sequence[tuple[object, ...]]) -> str:
    return json.dumps([[str(value) for value in row] for row in rows], ensure_ascii=False)
