"""The report on labels: shares of the labels, and the agreement of each two labelers.

The 95 % interval of a share is that of Wilson 1927 (`sentgen.output.rates`). Agreement is the share of lines
with the same label among those that both labeled, and Cohen's kappa (Cohen 1960, "A coefficient of agreement
for nominal scales") the agreement beyond chance::

    kappa = (p_o - p_e) / (1 - p_e),    p_e = sum over labels k of p_k+ p_+k

Its standard error is the one for large samples of Fleiss, Cohen and Everitt 1969, "Large sample standard
errors of kappa and weighted kappa", eq. 13.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated, Any

from sqlalchemy import Connection

from sentgen.desk.desk import Desk
from sentgen.desk.labels import NameOption, no_labels
from sentgen.desk.line_values import NOTHING, LineState, LineValues
from sentgen.desk.tables import find_set, labels_of, lines_of, size_of
from sentgen.errors import InputError
from sentgen.options import Option
from sentgen.output.rates import Z, wilson
from sentgen.output.tabular import Rows
from sentgen.output.wording import are, quantity

#: A standard error below this is 0 but for rounding.
_NO_VARIANCE = 1e-12
Row = tuple[str, str, str | None, int, float | None, float | None, float | None]


def kappa(pairs: Sequence[tuple[str, str]]) -> tuple[float, float | None, float | None] | None:
    """Return Cohen's kappa of pairs of labels, a pair for each line, and the ends of its 95 % interval.

    None if one labeler gives all lines the same label, since the observed agreement then equals that of
    chance. If the standard error is 0, as with agreement on all lines, there is no interval.

    >>> pairs = [("a", "a")] * 20 + [("a", "b")] * 5 + [("b", "a")] * 10 + [("b", "b")] * 15
    >>> round(kappa(pairs)[0], 6)
    0.4
    """
    n = len(pairs)
    both, first, second = Counter(pairs), Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    observed = sum(number for (a, b), number in both.items() if a == b) / n
    chance = sum(first[a] * second[a] for a in first) / n**2
    if min(len(first), len(second)) == 1:
        return None
    value = (observed - chance) / (1 - chance)
    same = sum(
        both[a, a] / n * (1 - (first[a] + second[a]) / n * (1 - value)) ** 2 for a in {*first, *second}
    )
    other = (1 - value) ** 2 * sum(
        number / n * ((second[a] + first[b]) / n) ** 2 for (a, b), number in both.items() if a != b
    )
    variance = (same + other - (value - chance * (1 - value)) ** 2) / (n * (1 - chance) ** 2)
    if variance < _NO_VARIANCE:
        return value, None, None
    side = Z * math.sqrt(variance)
    return value, max(value - side, -1.0), min(value + side, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class LineReport:
    """What came of labeling a set."""

    name: NameOption
    by: Annotated[
        str | None,
        Option(
            "Apart for each value of a key of the store, such as `genre`.",
            metavar="KEY",
            api={"max_length": 200},
        ),
    ] = None

    def make(
        self, desk: Desk, opened: Callable[[], AbstractContextManager[Connection]]
    ) -> tuple[Rows, Sequence[str]]:
        """Return the shares of labels and the agreement of labelers in a set, and notes on them.

        The columns are that of ``by``, if it is given; ``measure`` (share, agreement or kappa); ``labeler``
        (both labelers of agreement and kappa); ``label`` of a share; number of ``lines``; ``value``, and its
        interval, ``low`` to ``high``. ``by`` is ``_`` for lines without a value.

        Raises:
            NotFoundError: there is no such set.
            InputError: no line has a label, or the store has no such key.
        """
        with desk.reading() as reading:
            of_set = find_set(reading, self.name)
            labels, size = labels_of(reading, of_set.id), size_of(reading, of_set.id)
            lines = lines_of(reading, of_set.id) if self.by else []
        if not labels:
            raise no_labels(self.name)
        notes = [
            f"{quantity(left, 'line')} of {size:,} {are(left)} not labeled by {labeler}"
            for labeler, given in labels.items()
            if (left := size - len(given))
        ]
        notes += [
            f"{first} and {second} have labeled no line in common"
            for (first, ours), (second, theirs) in combinations(labels.items(), 2)
            if not {*ours} & {*theirs}
        ]
        columns, rows = ("measure", "labeler", "label", "lines", "value", "low", "high"), list(_rows(labels))
        notes += [
            text for no, text in _NO_KAPPA.items() if any(row[0] == "kappa" and no(row) for row in rows)
        ]
        if self.by is None:
            return Rows(columns, rows, _TYPES), notes
        with opened() as connection:
            parts = self._parts(connection, lines)
        if not parts.keys() - {NOTHING}:
            raise InputError(f"no line of {self.name} has {self.by} in the store; take another key")
        apart = []
        for part, numbers in parts.items():
            of_part = {
                labeler: {number: given[number] for number in numbers if number in given}
                for labeler, given in labels.items()
            }
            apart += [(part, *row) for row in _rows(of_part)]
        return Rows((self.by, *columns), apart, ("VARCHAR", *_TYPES)), notes

    def _parts(self, connection: Connection, lines: Sequence[Mapping[str, Any]]) -> dict[str, list[int]]:
        """Return the numbers of the lines for each value of ``by``, in the order of the values."""
        values = LineValues.find(connection, lines, LineState.of_lines(connection, lines), [self.by or ""])
        parts: dict[str, list[int]] = {}
        for row in sorted(lines, key=lambda row: tuple(values.ranks.get(row["number"], ()))):
            value = values.values.get(row["number"], (None,))[0]
            parts.setdefault(NOTHING if value is None else str(value), []).append(row["number"])
        return parts


def _rows(labels: Mapping[str, Mapping[int, str]]) -> Iterator[Row]:
    """Yield the shares of each labeler, and the agreement of each two on the lines that both labeled."""
    for labeler, given in labels.items():
        for text, number in Counter(given.values()).most_common():
            yield "share", labeler, text, number, number / len(given), *wilson(number, len(given))
    for (first, ours), (second, theirs) in combinations(labels.items(), 2):
        if pairs := [(ours[number], theirs[number]) for number in sorted({*ours} & {*theirs})]:
            both, size, same = f"{first}, {second}", len(pairs), sum(one == other for one, other in pairs)
            yield "agreement", both, None, size, same / size, *wilson(same, size)
            yield "kappa", both, None, size, *(kappa(pairs) or (None, None, None))


#: What is missing of a kappa, and why.
_NO_KAPPA: dict[Callable[[Row], bool], str] = {
    lambda row: row[4] is None: "there is no kappa where one labeler gives all lines the same label: chance"
    " alone would agree as often",
    lambda row: row[4] is not None and row[5] is None: "there is no interval of a kappa whose standard"
    " error is 0, as that of full agreement",
}
_TYPES = ("VARCHAR", "VARCHAR", "VARCHAR", "BIGINT", "DOUBLE", "DOUBLE", "DOUBLE")
