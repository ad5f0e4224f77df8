"""Tables of reports, as text in cells; Markdown, HTML and LaTeX show the same ones, CSV has all digits."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from sentgen.errors import printable
from sentgen.evaluation.figures.measurement import SHUFFLES, SystemComparison
from sentgen.evaluation.figures.results import ExperimentResult, FigureRow, SystemResult, SystemT
from sentgen.output.tabular import Rows
from sentgen.output.text_table import Align, tabular

#: Differences below this are called sure, after Holm's correction for the number of pairs.
SURE = 0.05


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A heading, columns and cells; the first column names the row, a second line in a cell is a detail.

    ``best`` are the cells with the best figure of their column, as (row, column).
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""
    best: frozenset[tuple[int, int]] = frozenset()


def best_cells(
    columns: Sequence[Sequence[float | None]], lower: Collection[int] = ()
) -> frozenset[tuple[int, int]]:
    """Return the cells with the best figure of each column of figures, those that are equal all of them.

    Args:
        columns: the figures of each, from the second column of the table; None or NaN where there is none.
        lower: which of them are better if they are lower, the first figures being column 1.

    >>> sorted(best_cells([[1.0, 3.0], [0.5, None], [2.0, 2.0]], lower=[2]))
    [(0, 2), (0, 3), (1, 1), (1, 3)]
    """
    found: set[tuple[int, int]] = set()
    for place, values in enumerate(columns, 1):
        known = [value for value in values if value is not None and value == value]
        # The only one is not the best of any.
        if len(values) > 1 and known:
            best = min(known) if place in lower else max(known)
            found.update((row, place) for row, value in enumerate(values) if value == best)
    return frozenset(found)


class FigureColumn(NamedTuple):
    """How a table shows a figure: times ``factor``, and with its interval where that is wanted."""

    metric: str
    label: str
    factor: float = 100
    digits: int = 1
    interval: bool = False
    better: Literal["higher", "lower", "neither"] = "higher"

    def values(self, system: SystemResult[object]) -> list[float]:
        """Return the figure of a system, and the ends of its interval if they are shown; or nothing."""
        measurement = {**system.measurements, **system.times}.get(self.metric)
        if measurement is None or measurement.value != measurement.value:
            return []
        return list(system.with_ends(self.metric)) if self.interval else [measurement.value]

    def cell(self, system: SystemResult[object]) -> str:
        """Return what is read: with a real minus sign, and no negative zero (`z`)."""
        texts = [f"{self.factor * x:z.{self.digits}f}".replace("-", "−") for x in self.values(system)]
        return f"{texts[0]}\n({' – '.join(texts[1:])})" if texts[1:] else "".join(texts)


def figures_table(
    title: str,
    systems: Sequence[SystemResult[object]],
    columns: Sequence[FigureColumn],
    note: str = "",
    *,
    compared: int = 0,
) -> ReportTable:
    """Return a row a system, with its figures.

    Args:
        title: of the table.
        systems: in their order.
        columns: the figures.
        note: on them.
        compared: how many systems, the first ones, are candidates for the best figure of a column.
    """
    known = [
        [next(iter(column.values(one)), None) for one in systems[:compared] if column.better != "neither"]
        for column in columns
    ]
    return ReportTable(
        title,
        ["system", *(column.label for column in columns)],
        [[system.system, *(column.cell(system) for column in columns)] for system in systems],
        note,
        best_cells(known, [place for place, column in enumerate(columns, 1) if column.better == "lower"]),
    )


def differences_table(result: ExperimentResult[SystemT]) -> ReportTable:
    """Return how far each system is above each lower one, and whether that is sure; the best one first."""
    # Comparisons name the better one, and here the order is that of the ranks.
    pairs = {frozenset((pair.worse, pair.better)): pair for pair in result.comparisons}
    systems = [system.system for system in result.ranked]
    return ReportTable(
        f"Which differences are sure ({result.main.label})",
        ["above", *systems[1:]],
        [
            [
                upper,
                *[""] * i,
                *(
                    _difference(pairs[frozenset((upper, lower))], result.main.factor)
                    for lower in systems[i + 1 :]
                ),
            ]
            for i, upper in enumerate(systems[:-1])
        ],
        "How far the system of the row is above that of the column. Without a question mark the difference is"
        f" sure: p of approximate randomization, corrected for the number of pairs (Holm), is below {SURE}.",
    )


def _difference(pair: SystemComparison, factor: float) -> str:
    return f"{factor * pair.difference:.1f}{'' if pair.holm < SURE else ' ?'}\np {probability(pair.holm)}"


def comparisons_table(result: ExperimentResult[SystemT]) -> ReportTable:
    """Return every pair of systems with both tests, the greatest difference first."""
    return ReportTable(
        f"All pairs ({result.main.label})",
        ["worse", "better", "difference", "+", "−", "=", "p, sign test", "p, randomization", "p, Holm"],
        [
            [
                pair.worse,
                pair.better,
                f"{result.main.factor * pair.difference:.2f}",
                str(pair.pluses),
                str(pair.minuses),
                str(pair.equal),
                probability(pair.sign_p),
                probability(pair.shuffle_p),
                probability(pair.holm),
            ]
            for pair in sorted(result.comparisons, key=lambda pair: -pair.difference)
        ],
        "Plus, minus, equal: sentences that raise, lower or keep the figure of the worse system when they are"
        " taken from the better one (sign test with the sampling method of Collins et al. 2005)."
        f" Randomization: approximate, {SHUFFLES:,} shuffles. Holm: corrected for the number of pairs.",
    )


def probability(p: float) -> str:
    """Return p for reading.

    >>> probability(0.00002), probability(0.0314)
    ('< 0.001', '0.031')
    """
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def settings_table(result: ExperimentResult[SystemT]) -> ReportTable:
    """Return what was run: everything that is needed to run it again."""
    shown: dict[str, object] = {"run": result.run_id, "seed": result.seed, **result.parameters}
    systems = shown.pop("systems", {})
    rows = [[name.replace("_", " "), _shown(value)] for name, value in shown.items()]
    if isinstance(systems, dict):
        rows += [
            [name, ", ".join(f"{setting} {_shown(value)}" for setting, value in settings.items())]
            for name, settings in systems.items()
        ]
    return ReportTable("What was run", ["setting", "value"], rows)


def _shown(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def signatures_table(
    result: ExperimentResult[SystemT], labels: Mapping[str, str] | None = None
) -> ReportTable:
    """Return how each figure was computed, with what people call it if there are labels."""
    found = result.signatures.items()
    if labels is None:
        return ReportTable("Signatures", ["name in the store", "signature"], [list(each) for each in found])
    rows = [[labels.get(name, name), name, signature] for name, signature in found]
    return ReportTable("Signatures", ["figure", "name in the store", "signature"], rows)


def markdown(table: ReportTable) -> str:
    """Return a table as Markdown; nothing in a cell is markup.

    >>> print(markdown(ReportTable("t", ["a", "b"], [["x|y", "1"]])))
    ## t
    <BLANKLINE>
    | a | b |
    |---|---:|
    | x\\|y | 1 |
    <BLANKLINE>
    """
    # The first column names the row; figures stand to the right.
    rule = "|---|" + "---:|" * (len(table.columns) - 1)
    lines = [f"## {_plain(table.title)}", "", _line(table.columns), rule, *map(_line, table.rows), ""]
    return "\n".join([*lines, *([_plain(table.note), ""] if table.note else [])])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(_plain, cells))} |"


def _plain(text: str) -> str:
    """Escape what Markdown or HTML inside of it would read as markup, and keep a cell on its line."""
    for character in "\\`*_[]|":
        text = text.replace(character, f"\\{character}")
    return " ".join(text.replace("&", "&amp;").replace("<", "&lt;").split())


def latex(tables: Iterable[ReportTable]) -> str:
    """Return tables as LaTeX, with their headings and notes as comments; the best figures are bold."""
    return "\n\n".join(map(_latex, tables))


def _latex(table: ReportTable) -> str:
    sides: list[Align] = ["right" for _ in table.columns]
    sides[0] = "left"  # it names the row
    comments = [f"% {printable(' '.join(text.split()))}" for text in (table.title, table.note) if text]
    return "\n".join([*comments, tabular(table.columns, table.rows, sides, table.best)])


def score_table(rows: Iterable[FigureRow], things: str, number: int) -> Rows:
    """Return every figure of the whole set with its signature, and of how many things it is."""
    columns = ["system", "metric", "value", things, "signature"]
    return Rows(columns, [(row.system, row.metric, row.value, number, row.signature) for row in rows])


def scores_csv(systems: Sequence[SystemResult[object]], *, with_times: bool = False) -> str:
    """Return a line a figure, with the ends of its interval."""
    figures = [
        (
            system.system,
            name,
            one.value,
            system.intervals[name].low,
            system.intervals[name].high,
            one.signature,
        )
        for system in systems
        for name, one in system.measurements.items()
    ]
    times = [
        (system.system, time.metric, time.value, "", "", time.signature)
        for system in systems
        for time in system.times.values()
        if with_times
    ]
    return csv_text(["system", "metric", "value", "low", "high", "signature"], [*figures, *times])


def comparisons_csv(comparisons: Sequence[SystemComparison]) -> str:
    """Return a line a pair of systems."""
    names = SystemComparison.__dataclass_fields__
    return csv_text(list(names), ([getattr(pair, name) for name in names] for pair in comparisons))


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()
