"""The report of string regeneration: figures, lengths, and sentences side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sentgen.evaluation.figures.report import (
    ExperimentReport,
    FigureColumn,
    Report,
    ReportTable,
    best_cells,
    csv_text,
    scores_csv,
)
from sentgen.evaluation.regeneration.bleu import bleu
from sentgen.evaluation.regeneration.experiment import PRIMARY, OrderingResult, RegenerationResult
from sentgen.evaluation.regeneration.measures import ARGUMENT_ERRORS, VERB_ARGUMENTS, adjacencies_found
from sentgen.generation import RegeneratedSentence
from sentgen.output.drawing import Theme, legend_beside, literal, plain_axes
from sentgen.output.wording import quantity

if TYPE_CHECKING:
    from matplotlib.figure import Figure


#: The columns of tables, by metric.
_COLUMNS = {
    column.metric: column
    for column in (
        FigureColumn("bleu-lc-13a", "BLEU, lower-cased, 13a", 1, interval=True),
        FigureColumn("bleu-none", "BLEU, as it stands", 1, interval=True),
        FigureColumn(PRIMARY, RegenerationResult.main.label, 1, interval=True),
        FigureColumn("chrf", "chrF", 1, interval=True),
        FigureColumn("exact-match", "exact, %", interval=True),
        FigureColumn("kendall-tau", "Kendall's tau", 1, 2, interval=True),
        FigureColumn("adjacency", "neighbors right, %", interval=True),
        FigureColumn("other-words", "other words, %", interval=True, better="lower"),
        FigureColumn("search-error", "search errors, %", interval=True, better="lower"),
        FigureColumn("attachment", "heads right, %", interval=True),
        FigureColumn(VERB_ARGUMENTS, "verb arguments, %", interval=True),
    )
}
_TIMES = (
    FigureColumn("lookup-ms", "look-up, ms", 1, 2, better="lower"),
    FigureColumn("search-ms", "search, ms", 1, 2, better="lower"),
)
#: Names of the metrics in tables.
_LABELS = {name: column.label for name, column in _COLUMNS.items()}


def arguments_rows(systems: Sequence[OrderingResult]) -> list[list[str]]:
    """Return a row a system that builds trees: its argument errors, with their share, and its units."""
    rows = []
    for system in systems:
        measured = [system.measurements[name] for name in ARGUMENT_ERRORS if name in system.measurements]
        if measured:
            errors = [f"{each.statistics[:, 0].sum():,.0f} ({100 * each.value:.1f}%)" for each in measured]
            rows.append([system.system, *errors, f"{measured[0].statistics[:, 1].sum():,.0f}"])
    return rows


_EXAMPLES = 40
_LEAST_WORDS = 5


@dataclass(frozen=True, slots=True)
class _OutputUnit:
    """A unit of an output; ``wrong`` if it does not follow the unit before it in the original."""

    text: str
    phrase: bool
    wrong: bool


@dataclass(frozen=True, slots=True)
class _SystemOutput:
    """The output of one system; ``wrong_end`` if the original ends with another unit."""

    system: str
    bleu: float
    exact: bool
    pieces: Sequence[_OutputUnit]
    wrong_end: bool


@dataclass(frozen=True, slots=True)
class _SentenceExample:
    """A sentence of the test set, its number from 1, and the output of each system, the best system first."""

    item: int
    reference: str
    attempts: Sequence[_SystemOutput]


def _pieces(answer: RegeneratedSentence, reference: str) -> tuple[list[_OutputUnit], bool]:
    in_gold = adjacencies_found(answer.words, reference.split(" "))
    pieces, position = [], 0
    for unit in answer.units:
        pieces.append(_OutputUnit(" ".join(unit.words), len(unit.words) > 1, not in_gold[position]))
        position += len(unit.words)
    return pieces, not in_gold[position]


class RegenerationReport(ExperimentReport[RegenerationResult]):
    """Tables, plots and examples of the report of a run with figures by length."""

    def report(self) -> Report:
        """Return the whole report."""
        compared = [self.differences(), self.comparisons()] if self.result.comparisons else []
        figures, lengths = self.figures(), self.lengths()
        arguments = [arguments] if (arguments := self.arguments()).rows else []
        settings, signatures = self.settings(), self.signatures(_LABELS)
        return Report(
            title=f"String regeneration, run {self.result.run_id}",
            template="regeneration/report.html.j2",
            shown={
                "figures": figures,
                "compared": compared,
                "arguments": arguments,
                "lengths": lengths,
                "settings": settings,
                "signatures": signatures,
                "examples": self.examples(),
                "sentences": len(self.result.references),
            },
            markdown_parts=[
                figures,
                *(["![Learning curves](curve.svg)\n"] if self.result.curve else []),
                "![Systems with 95% intervals](systems.svg)\n",
                *compared,
                *arguments,
                lengths,
                "![Systems by length of the sentence](by-length.svg)\n",
                settings,
                signatures,
            ],
            csv={
                "scores.csv": scores_csv(self.result.systems, with_times=True),
                "comparisons.csv": self.comparisons_csv(),
                "by-length.csv": self._lengths_csv(),
            },
            plots={
                **({"curve": self.curve_plot} if self.result.curve else {}),
                "systems": self.systems_plot,
                "by-length": self.lengths_plot,
            },
        )

    def lengths_plot(self, theme: Theme) -> Figure:
        """Draw the main figure of each system against the number of words of the sentences."""
        figure, axes = plain_axes(8.2, 4.4, theme, grid="y")
        for number, system in enumerate(self.result.ranked):
            axes.plot(
                range(len(self.result.lengths)),
                [score.value for score in self.result.by_length(system)],
                **theme.style(number),
                linestyle="-" if number < len(theme.lines) else "--",
                markersize=5.5,
                linewidth=1.6,
                label=literal(system.system),
            )
        labels = [f"{b.label.replace('-', '–')}\n{len(b.sentences):,}" for b in self.result.lengths]
        axes.set_xticks(range(len(labels)), labels)
        # From 0, so that heights can be compared, with room for the highest marker.
        axes.set_ylim(0, 1.06 * axes.get_ylim()[1])
        axes.set_xlabel("words in the sentence, and number of sentences")
        axes.set_ylabel(self.result.main.label)
        legend_beside(axes, theme)
        return figure

    def curve_plot(self, theme: Theme) -> Figure:
        """Draw the main figure of each algorithm against the number of sentences that it was learnt from."""
        figure, axes = plain_axes(8.2, 4.4, theme, grid="y")
        systems = {system.system: system for system in self.result.systems}
        for number, name in enumerate(dict.fromkeys(point.algorithm for point in self.result.curve)):
            points = sorted(
                (point for point in self.result.curve if point.algorithm == name),
                key=lambda point: point.sentences,
            )
            sizes = [point.sentences for point in points]
            results = [systems[point.system] for point in points]
            values = [system.value(self.result.main.metric) for system in results]
            ends = [system.intervals[self.result.main.metric] for system in results]
            style = theme.style(number)
            axes.plot(sizes, values, **style, markersize=5.5, linewidth=1.6, label=literal(name))
            axes.vlines(sizes, [e.low for e in ends], [e.high for e in ends], color=style["color"], alpha=0.4)
        axes.set_xscale("log")
        sizes = sorted({point.sentences for point in self.result.curve})
        axes.set_xticks(sizes, [f"{size:,}" for size in sizes], minor=False)
        axes.set_xticks([], minor=True)
        axes.set_xlabel("sentences that were learnt from")
        axes.set_ylabel(f"{self.result.main.label}, with 95% interval")
        legend_beside(axes, theme)
        return figure

    def figures(self) -> ReportTable:
        """Return the figures of all systems with their intervals, without the argument errors."""
        names = [name for name in self.result.signatures if name not in ARGUMENT_ERRORS]
        return ReportTable.of_systems(
            quantity(len(self.result.references), "sentence"),
            self.result.ranked,
            [*(_COLUMNS[name] for name in names), *_TIMES],
            "In brackets: 95% intervals of a bootstrap over sentences. Milliseconds are per sentence.",
            compared=len(self.result.systems),
        )

    def arguments(self) -> ReportTable:
        """Return the argument errors of the systems that build trees."""
        return ReportTable(
            "Arguments",
            ["system", *ARGUMENT_ERRORS, "units"],
            arguments_rows(self.result.ranked),
            "Theft: a unit hangs on another head, and its real one has fewer on that side than it should."
            " Greed and shortage: a head has more, or fewer, on a side than it should, and than is usual for"
            " it. In brackets: per unit.",
        )

    def lengths(self) -> ReportTable:
        """Return the main figure of each system by the number of words of a sentence."""
        values = [[score.value for score in self.result.by_length(system)] for system in self.result.ranked]
        return ReportTable(
            f"By length ({self.result.main.label})",
            ["words", *(f"{bucket.label} ({len(bucket.sentences):,})" for bucket in self.result.lengths)],
            [
                [system.system, *(f"{value:.1f}" for value in row)]
                for system, row in zip(self.result.ranked, values, strict=True)
            ],
            "In brackets: number of sentences.",
            best_cells(list(zip(*values, strict=True))),
        )

    def _lengths_csv(self) -> str:
        rows = (
            (system.system, bucket.label, len(bucket.sentences), PRIMARY, score.value)
            for system in self.result.systems
            for bucket, score in zip(self.result.lengths, self.result.by_length(system), strict=True)
        )
        return csv_text(["system", "words", "sentences", "metric", "value"], rows)

    def examples(self, count: int = _EXAMPLES) -> list[_SentenceExample]:
        """Return sentences of five words and more, drawn with the seed of the run, in the order of the set.

        They are drawn without regard to the outputs, so that they are typical. If the test set has less than
        ``count`` sentences of that length, they are drawn from all of its sentences.
        """
        long = [i for i, text in enumerate(self.result.references) if len(text.split()) >= _LEAST_WORDS]
        # Short sentences are right by chance, and show little.
        pool = long if len(long) >= count else range(len(self.result.references))
        return [self._example(item) for item in self.result.drawn(pool, count)]

    def _example(self, item: int) -> _SentenceExample:
        reference = self.result.references[item]
        attempts = []
        for system in self.result.ranked:
            value = bleu(system.measurements[PRIMARY].statistics[item], effective=True)
            answer = system.answers[item]
            pieces, wrong_end = _pieces(answer, reference)
            attempts.append(
                _SystemOutput(system.system, float(value), answer.text == reference, pieces, wrong_end)
            )
        return _SentenceExample(item + 1, reference, attempts)
