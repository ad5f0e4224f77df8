"""A report of a run, as a page, as Markdown, and as a folder of files.

Its tables are text in cells: Markdown, HTML and LaTeX show the same ones, CSV has all digits.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar

import sentgen
from sentgen.errors import InputError, printable
from sentgen.evaluation.figures.measurement import SHUFFLES, SystemComparison
from sentgen.evaluation.figures.results import ExperimentResult, FigureRow, SystemResult
from sentgen.output.drawing import DARK, LIGHT, Form, Theme, literal, picture, plain_axes
from sentgen.output.files import whole_file, write_text
from sentgen.output.plots import need_plots
from sentgen.output.tabular import Rows
from sentgen.output.templates import template
from sentgen.output.text_table import Align, tabular

if TYPE_CHECKING:
    from matplotlib.figure import Figure


#: The result of an experiment.
ResultT = TypeVar("ResultT", bound=ExperimentResult[Any])

#: Differences below this are called sure, after Holm's correction for the number of pairs.
_SURE = 0.05


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

    def markdown(self) -> str:
        """Return a table as Markdown; nothing in a cell is markup.

        >>> print(ReportTable("t", ["a", "b"], [["x|y", "1"]]).markdown())
        ## t
        <BLANKLINE>
        | a | b |
        |---|---:|
        | x\\|y | 1 |
        <BLANKLINE>
        """
        # The first column names the row; figures stand to the right.
        rule = "|---|" + "---:|" * (len(self.columns) - 1)
        lines = [f"## {_plain(self.title)}", "", _line(self.columns), rule, *map(_line, self.rows), ""]
        return "\n".join([*lines, *([_plain(self.note), ""] if self.note else [])])

    def latex(self) -> str:
        sides: list[Align] = ["right" for _ in self.columns]
        sides[0] = "left"  # it names the row
        comments = [f"% {printable(' '.join(text.split()))}" for text in (self.title, self.note) if text]
        return "\n".join([*comments, tabular(self.columns, self.rows, sides, self.best)])

    @staticmethod
    def of_systems(
        title: str,
        systems: Sequence[SystemResult[object]],
        columns: Sequence[FigureColumn],
        note: str = "",
        *,
        compared: int = 0,
    ) -> ReportTable:
        """Return a row a system, with its figures.

        The best figures of each column are those of the first ``compared`` systems.
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
            best_cells(
                known, [number for number, column in enumerate(columns, 1) if column.better == "lower"]
            ),
        )


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
    cells: set[tuple[int, int]] = set()
    for column, values in enumerate(columns, 1):
        known = [value for value in values if value is not None and value == value]
        # The only one is not the best of any.
        if len(values) > 1 and known:
            best = min(known) if column in lower else max(known)
            cells.update((row, column) for row, value in enumerate(values) if value == best)
    return frozenset(cells)


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
        """Return the text of the cell, with a real minus sign, and no negative zero (`z`)."""
        texts = [f"{self.factor * x:z.{self.digits}f}".replace("-", "−") for x in self.values(system)]
        return f"{texts[0]}\n({' – '.join(texts[1:])})" if texts[1:] else "".join(texts)


@dataclass(frozen=True, slots=True)
class ExperimentReport(Generic[ResultT]):
    """Tables and plots that reports of all runs of systems have."""

    result: ResultT

    def differences(self) -> ReportTable:
        """Return the difference of each system from each lower one, the best first, and its significance."""
        # Comparisons name the better one, and here the order is that of the ranks.
        pairs = {frozenset((pair.worse, pair.better)): pair for pair in self.result.comparisons}
        systems = [system.system for system in self.result.ranked]
        return ReportTable(
            f"Which differences are sure ({self.result.main.label})",
            ["above", *systems[1:]],
            [
                [
                    upper,
                    *[""] * i,
                    *(self._difference(pairs[frozenset((upper, lower))]) for lower in systems[i + 1 :]),
                ]
                for i, upper in enumerate(systems[:-1])
            ],
            "How far the system of the row is above that of the column. Without a question mark the"
            " difference is sure: p of approximate randomization, corrected for the number of pairs (Holm),"
            f" is below {_SURE}.",
        )

    def _difference(self, pair: SystemComparison) -> str:
        difference = f"{self.result.main.factor * pair.difference:.1f}"
        return f"{difference}{'' if pair.holm < _SURE else ' ?'}\np {probability(pair.holm)}"

    def comparisons(self) -> ReportTable:
        """Return every pair of systems with both tests, the greatest difference first."""
        return ReportTable(
            f"All pairs ({self.result.main.label})",
            ["worse", "better", "difference", "+", "−", "=", "p, sign test", "p, randomization", "p, Holm"],
            [
                [
                    pair.worse,
                    pair.better,
                    f"{self.result.main.factor * pair.difference:.2f}",
                    str(pair.pluses),
                    str(pair.minuses),
                    str(pair.equal),
                    probability(pair.sign_p),
                    probability(pair.shuffle_p),
                    probability(pair.holm),
                ]
                for pair in sorted(self.result.comparisons, key=lambda pair: -pair.difference)
            ],
            "Plus, minus, equal: sentences that raise, lower or keep the figure of the worse system when"
            " they are taken from the better one (sign test with the sampling method of Collins et al. 2005)."
            f" Randomization: approximate, {SHUFFLES:,} shuffles. Holm: corrected for the number of pairs.",
        )

    def comparisons_csv(self) -> str:
        """Return a line a pair of systems."""
        names = SystemComparison.__dataclass_fields__
        return csv_text(
            list(names), ([getattr(pair, name) for name in names] for pair in self.result.comparisons)
        )

    def settings(self) -> ReportTable:
        """Return the settings of the run: everything that is needed to repeat it."""
        shown: dict[str, object] = {
            "run": self.result.run_id,
            "seed": self.result.seed,
            **self.result.parameters,
        }
        systems = shown.pop("systems", {})
        rows = [[name.replace("_", " "), _shown(value)] for name, value in shown.items()]
        if isinstance(systems, dict):
            rows += [
                [name, ", ".join(f"{setting} {_shown(value)}" for setting, value in settings.items())]
                for name, settings in systems.items()
            ]
        return ReportTable("What was run", ["setting", "value"], rows)

    def signatures(self, labels: Mapping[str, str] | None = None) -> ReportTable:
        """Return how each figure was computed, with what people call it if there are labels."""
        items = self.result.signatures.items()
        if labels is None:
            return ReportTable(
                "Signatures", ["name in the store", "signature"], [list(each) for each in items]
            )
        rows = [[labels.get(name, name), name, signature] for name, signature in items]
        return ReportTable("Signatures", ["figure", "name in the store", "signature"], rows)

    def systems_plot(self, theme: Theme) -> Figure:
        """Draw the main figure of each system with its interval, the best one on top."""
        # An axis counts upwards, and the best one is to be on top.
        main, ranked = self.result.main, self.result.ranked[::-1]
        values, lows, highs = zip(
            *([main.factor * end for end in system.with_ends(main.metric)] for system in ranked), strict=True
        )
        figure, axes = plain_axes(7.2, 1.3 + 0.36 * len(ranked), theme, grid="x")
        places = range(len(ranked))
        axes.hlines(places, lows, highs, color=theme.lines[0], linewidth=2.2, alpha=0.55)
        axes.plot(values, places, "o", color=theme.lines[0], markersize=7)
        for y, value, high in zip(places, values, highs, strict=True):
            axes.annotate(
                f"{value:.1f}", (high, y), (6, 0), textcoords="offset points", va="center", color=theme.ink
            )
        axes.set_yticks(places, [literal(system.system) for system in ranked])
        axes.set_ylim(-0.7, len(ranked) - 0.3)
        axes.margins(x=0.12)
        axes.set_xlabel(f"{main.label}{', %' if main.factor == 100 else ''}, with 95% interval")
        return figure


def probability(p: float) -> str:
    """Return p for reading.

    >>> probability(0.00002), probability(0.0314)
    ('< 0.001', '0.031')
    """
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def _shown(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(_plain, cells))} |"


def _plain(text: str) -> str:
    """Escape what Markdown or HTML inside of it would read as markup, and keep a cell on its line."""
    for character in "\\`*_[]|":
        text = text.replace(character, f"\\{character}")
    return " ".join(text.replace("&", "&amp;").replace("<", "&lt;").split())


def latex(tables: Iterable[ReportTable]) -> str:
    """Return tables as LaTeX, with their headings and notes as comments; the best figures are bold."""
    return "\n\n".join(map(ReportTable.latex, tables))


def score_table(rows: Iterable[FigureRow], things: str, number: int) -> Rows:
    """Return every figure of the whole set with its signature, and of how many things it is."""
    columns = ["system", "metric", "value", things, "signature"]
    return Rows(columns, [(row.system, row.metric, row.value, number, row.signature) for row in rows])


def scores_csv(systems: Sequence[SystemResult[object]], *, with_times: bool = False) -> str:
    """Return a line a figure, with the ends of its interval."""
    figures = [
        (system.system, name, *system.with_ends(name), measurement.signature)
        for system in systems
        for name, measurement in system.measurements.items()
    ]
    times = [
        (system.system, time.metric, time.value, "", "", time.signature)
        for system in systems
        for time in system.times.values()
        if with_times
    ]
    return csv_text(["system", "metric", "value", "low", "high", "signature"], [*figures, *times])


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()


#: Draws a plot on a ground.
Draw = Callable[[Theme], "Figure"]


def _url(svg: bytes) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"


#: What every report has.
_PAGE, _TABLES = "index.html", "results.md"
#: Hashes and names of the files that were written, as `sha256sum --check` reads them.
_WRITTEN = ".sentgen-report"


def write_files(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write files over those of an earlier report.

    Raises:
        InputError: a file cannot be written; or a file of another program has its name, and none was written.
    """
    _refuse_others(folder, contents)
    new = {f"{hashlib.sha256(content).hexdigest()}  {name}" for name, content in contents.items()}
    # Both before and after: killed in between, some are the old ones and some the new ones.
    write_text(folder / _WRITTEN, _lines(new | _written(folder)))
    for name, content in contents.items():
        with whole_file(folder / name) as file:
            file.write(content)
    write_text(folder / _WRITTEN, _lines(new))


def _refuse_others(folder: Path, names: Iterable[str]) -> None:
    written = _written(folder)
    for name in names:
        path = folder / name
        if os.path.lexists(path) and f"{_digest(path)}  {name}" not in written:
            reason = "in the way, and no report has written it so; move it, or name another folder"
            raise InputError(reason, path=str(path))


def _written(folder: Path) -> set[str]:
    try:
        return set((folder / _WRITTEN).read_text("utf-8").splitlines())
    except (OSError, UnicodeDecodeError):
        return set()


def _digest(path: Path) -> str:
    with suppress(OSError):
        if path.is_file():  # to read a pipe may take for ever
            return hashlib.sha256(path.read_bytes()).hexdigest()
    return ""


def _lines(lines: set[str]) -> str:
    return "".join(f"{line}\n" for line in sorted(lines))


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The report of a run of an experiment.

    Attributes:
        title: title of the page.
        template: template of the page, in this package; it extends ``figures/base.html.j2``.
        shown: variables of the template, beside the title, the version and the plots.
        markdown_parts: tables and lines of the Markdown file, in their order.
        csv: the text of each CSV file.
        plots: the function that draws each plot, by the name of its file.
    """

    title: str
    template: str
    shown: Mapping[str, object]
    markdown_parts: Sequence[ReportTable | str]
    csv: Mapping[str, str]
    plots: Mapping[str, Draw]

    def page(self) -> str:
        """Return a whole page with its plots, which loads nothing and runs no script."""
        return self._page(self._plot_files("svg"))

    def _plot_files(self, *forms: Form) -> dict[str, bytes]:
        return {
            f"{name}.{form}": picture(draw(LIGHT), form)
            for name, draw in self.plots.items()
            for form in forms
        }

    def _page(self, files: Mapping[str, bytes]) -> str:
        plots = {
            name: {"light": _url(files[f"{name}.svg"]), "dark": _url(picture(draw(DARK), "svg"))}
            for name, draw in self.plots.items()
        }
        return template("sentgen.evaluation", self.template).render(
            title=self.title, version=sentgen.__version__, plots=plots, **self.shown
        )

    def markdown(self) -> str:
        """Return the tables, with the plots by the names of their files."""
        parts = (part if isinstance(part, str) else part.markdown() for part in self.markdown_parts)
        return "\n".join([f"# {self.title}\n", *parts])

    def write(self, folder: Path) -> list[Path]:
        """Write all of it into a folder, over an earlier report; return the files, the page first.

        Raises:
            InputError: a file cannot be written, or a file of another program has its name.
        """
        plots = self._plot_files("svg", "png")
        texts = {_PAGE: self._page(plots), _TABLES: self.markdown(), **self.csv}
        # Everything is made before anything is written: an error leaves the earlier report whole.
        contents = {name: text.encode() for name, text in texts.items()} | plots
        write_files(folder, contents)
        return [folder / name for name in contents]

    @staticmethod
    def prepare_folder(folder: Path) -> None:
        """Make the folder of a report, not its parents, before any long computation.

        Raises:
            InputError: the folder cannot be made, is a file, or holds a page of another program; or
                matplotlib is missing.
        """
        need_plots("the plots of a report")
        if not folder.parent.exists():  # mistyped, more likely than not
            raise InputError(
                f"there is no folder {folder.parent}; make it, or choose another", path=str(folder)
            )
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            reason = error.strerror or str(error)
            raise InputError(f"no report can go there ({reason}); name a folder", path=str(folder)) from error
        _refuse_others(folder, (_PAGE, _TABLES))
