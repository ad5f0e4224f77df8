"""What came of labeling: shares of the labels, and how far two labelers agree.

A share lies, with 95 %, in the interval of Wilson 1927 (`sentgen.output.rates`). Agreement is the share
of lines with the same label among those that both labeled, and Cohen's kappa (Cohen 1960, "A coefficient of
agreement for nominal scales") what of it is more than chance::

    kappa = (p_o - p_e) / (1 - p_e),    p_e = sum over labels k of p_k+ p_+k

Its standard error is the one for large samples of Fleiss, Cohen and Everitt 1969, "Large sample standard
errors of kappa and weighted kappa", eq. 13.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations

from sentgen.desk.desk import Desk
from sentgen.desk.tables import find_set, labels_of, size_of
from sentgen.errors import InputError
from sentgen.output.rates import Z, wilson
from sentgen.output.tabular import Rows
from sentgen.output.wording import are, quantity

#: What is left of 0 by rounding.
_NO_VARIANCE = 1e-12
Row = tuple[str, str, str | None, int, float | None, float | None, float | None]


def kappa(pairs: Sequence[tuple[str, str]]) -> tuple[float, float | None, float | None] | None:
    """Return Cohen's kappa of two labels a line, and the ends of its interval.

    It is None where one of the two gives all lines the same label: what is observed is what chance gives,
    however they agree. Where the standard error is 0, as where they agree on all lines, it tells nothing,
    and there is no interval.

    >>> pairs = [("a", "a")] * 20 + [("a", "b")] * 5 + [("b", "a")] * 10 + [("b", "b")] * 15
    >>> round(kappa(pairs)[0], 6)
    0.4
    """
    n = len(pairs)
    both, first, second = Counter(pairs), Counter(one for one, _ in pairs), Counter(two for _, two in pairs)
    observed = sum(number for (one, two), number in both.items() if one == two) / n
    chance = sum(first[one] * second[one] for one in first) / n**2
    if min(len(first), len(second)) == 1:
        return None
    value = (observed - chance) / (1 - chance)
    same = sum(
        both[one, one] / n * (1 - (first[one] + second[one]) / n * (1 - value)) ** 2
        for one in {*first, *second}
    )
    other = (1 - value) ** 2 * sum(
        number / n * ((second[one] + first[two]) / n) ** 2
        for (one, two), number in both.items()
        if one != two
    )
    variance = (same + other - (value - chance * (1 - value)) ** 2) / (n * (1 - chance) ** 2)
    if variance < _NO_VARIANCE:
        return value, None, None
    side = Z * math.sqrt(variance)
    return value, max(value - side, -1.0), min(value + side, 1.0)


def report(desk: Desk, name: str) -> tuple[Rows, Sequence[str]]:
    """Return what came of a set, and what is to be said of it.

    The columns are ``measure`` (share, agreement or kappa), ``labeler`` (of the last two, both), ``label`` of
    a share, ``lines`` it is of, ``value``, and between what it lies, ``low`` and ``high``.

    Raises:
        NotFoundError: there is no such set.
        InputError: no line has a label.
    """
    with desk.reading() as reading:
        of_set = find_set(reading, name)
        labels, size = labels_of(reading, of_set.id), size_of(reading, of_set.id)
    if not labels:
        raise InputError(
            f"no line of {name} has a label yet; give some with: sentgen lines label {name} 1-3 LABEL"
        )
    rows, notes = list[Row](), list[str]()
    for labeler, given in labels.items():
        rows += _shares(labeler, given)
        if left := size - len(given):
            notes.append(f"{quantity(left, 'line')} of {size:,} {are(left)} not labeled by {labeler}")
    for (first, ours), (second, theirs) in combinations(labels.items(), 2):
        pairs = [(ours[number], theirs[number]) for number in sorted({*ours} & {*theirs})]
        if pairs:
            rows += _agreement(f"{first}, {second}", pairs)
        else:
            notes.append(f"{first} and {second} have labeled no line in common")
    notes += [note for no, note in _NO_KAPPA.items() if any(row[0] == "kappa" and no(row) for row in rows)]
    return Rows(("measure", "labeler", "label", "lines", "value", "low", "high"), rows, _TYPES), notes


#: What is missing of a kappa, and why.
_NO_KAPPA: dict[Callable[[Row], bool], str] = {
    lambda row: row[4] is None: "there is no kappa where one labeler gives all lines the same label: chance"
    " alone would agree as often",
    lambda row: row[4] is not None and row[5] is None: "there is no interval of a kappa whose standard"
    " error is 0, as that of full agreement",
}
_TYPES = ("VARCHAR", "VARCHAR", "VARCHAR", "BIGINT", "DOUBLE", "DOUBLE", "DOUBLE")


def _shares(labeler: str, given: Mapping[int, str]) -> Iterator[Row]:
    for text, number in Counter(given.values()).most_common():
        yield "share", labeler, text, number, number / len(given), *wilson(number, len(given))


def _agreement(labelers: str, pairs: Sequence[tuple[str, str]]) -> Iterator[Row]:
    same = sum(first == second for first, second in pairs)
    yield "agreement", labelers, None, len(pairs), same / len(pairs), *wilson(same, len(pairs))
    yield "kappa", labelers, None, len(pairs), *(kappa(pairs) or (None, None, None))
