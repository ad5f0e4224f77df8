"""The report of an evaluation of generation: the four plots, tables, all strings, and examples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from sentgen.arrays import Bools
from sentgen.evaluation.check.verb_arguments import KINDS, Kind
from sentgen.evaluation.clusters.experiment import ALPHA, Curve, GenerationResult, Metric, Point
from sentgen.evaluation.figures.report import Report, ReportTable, csv_text, probability
from sentgen.output.drawing import Theme, plain_axes
from sentgen.output.tabular import Rows
from sentgen.output.wording import quantity

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Name of each plot to its curve: the figures 5 to 8 of the paper.
_PLOTS: dict[str, tuple[Metric, Kind]] = {
    "all-precision": ("precision", "all"),
    "all-recall": ("recall", "all"),
    "adjacent-precision": ("precision", "adjacent"),
    "long-distance-precision": ("precision", "long"),
}
#: Clusters and lengths of the examples.
_EXAMPLES, _EXAMPLE_LENGTHS = 8, (6, 10, 15, 20, 30)


_STYLES = (("o", "-"), ("s", "--"))


def _curve_plot(curve: Curve, systems: tuple[str, str], theme: Theme) -> Figure:
    """Draw both systems; a row of dots below marks the lengths at which one is significantly better."""
    figure, axes = plain_axes(7.6, 4.2, theme, grid="y")
    lengths = [point.length for point in curve.points]
    for i, (system, (marker, line)) in enumerate(zip(systems, _STYLES, strict=True)):
        axes.plot(
            lengths,
            [point.means[i] for point in curve.points],
            color=theme.lines[i],
            marker=marker,
            linestyle=line,
            markersize=4.5,
            linewidth=1.6,
            label=system,
        )
        better = curve.significant(1 if i == 0 else -1)
        # Below zero, where no figure is.
        axes.plot(better, [-0.045] * len(better), marker, color=theme.lines[i], markersize=4.5)
    axes.set_xlim(lengths[0] - 1, lengths[-1] + 1)
    # The same for all curves, so that plots can be laid side by side.
    axes.set_ylim(-0.09, 1.02)
    axes.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1])
    axes.set_xlabel(f"words; marks below: that one is better, p < {ALPHA} (Wilcoxon)")
    axes.set_ylabel(curve.name)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False, labelcolor=theme.ink)
    return figure


def _times(curve: Curve, sign: int) -> str:
    sure = sum(point.holm < ALPHA and sign * point.difference > 0 for point in curve.points)
    return f"{len(curve.significant(sign))} of {len(curve.points)} ({sure})"


def _means(point: Point) -> list[str]:
    # A real minus sign, and no negative zero (`z`).
    values = (*point.means, point.difference)
    return ["" if np.isnan(value) else f"{value:z.3f}".replace("-", "−") for value in values]


def _share(chosen: Bools) -> str:
    return f"{chosen.mean():.1%}" if chosen.size else ""


@dataclass(frozen=True, slots=True)
class GenerationReport:
    """The contents of the report of sentences from clusters."""

    result: GenerationResult

    def report(self) -> Report:
        """Return the report of a run."""
        summary = self.summary()
        parameters = [[name.replace("_", " "), str(value)] for name, value in self.result.parameters.items()]
        run = ["run", str(self.result.run_id)]
        settings = ReportTable("What was run", ["setting", "value"], [run, *parameters])
        strings = self.strings()
        tables = [self._curve_table(curve) for curve in self.result.curves]
        figures = self.figure_rows()
        return Report(
            title=f"Sentences from clusters, run {self.result.run_id}",
            template="clusters/report.html.j2",
            shown={
                "clusters": len(self.result.clusters),
                "systems": self.result.systems,
                "summary": summary,
                "strings": strings,
                "tables": tables,
                "settings": settings,
                "examples": list(self._examples()),
            },
            markdown_parts=[
                summary,
                strings,
                *(f"![{name.replace('-', ' ')} by length]({name}.svg)\n" for name in _PLOTS),
                *tables,
                settings,
            ],
            csv={"figures.csv": csv_text(figures.columns, figures.rows), "strings.csv": self._strings_csv()},
            plots={
                name: partial(_curve_plot, self.result.curve(metric, kind), self.result.systems)
                for name, (metric, kind) in _PLOTS.items()
            },
        )

    def _examples(self) -> Iterator[tuple[str, list[tuple[int, list[tuple[str, str]]]]]]:
        """Yield clusters, evenly spread, with the strings of each system at some lengths."""
        precision = self.result.figures("precision", "all")
        step = max(1, len(self.result.clusters) // _EXAMPLES)
        for c in range(0, step * min(_EXAMPLES, len(self.result.clusters)), step):
            rows = []
            for i, length in enumerate(self.result.lengths):
                if length in _EXAMPLE_LENGTHS:
                    texts = [self.result.strings[s][c][i] or "" for s in range(len(self.result.systems))]
                    figures = [f"{value:.2f}" if value == value else "" for value in precision[:, c, i]]
                    rows.append((length, list(zip(texts, figures, strict=True))))
            yield self.result.clusters[c], rows

    def summary(self) -> ReportTable:
        """Return every curve in a line: means over all lengths, and how many lengths differ significantly."""
        system, baseline = self.result.systems
        return ReportTable(
            f"{quantity(len(self.result.clusters), 'cluster')}, all lengths",
            ["figure", system, baseline, "difference", "p", f"{system} better at", f"{baseline} better at"],
            [
                [
                    curve.name,
                    *_means(curve.overall),
                    probability(curve.overall.p),
                    *(_times(curve, sign) for sign in (1, -1)),
                ]
                for curve in self.result.curves
            ],
            "Means over clusters of the mean over the lengths, p of the Wilcoxon signed-rank test over"
            f" clusters. Better at: number of lengths at which the test of the length has p < {ALPHA},"
            " and in brackets of those that remain after Holm's correction for the number of lengths.",
        )

    def strings(self) -> ReportTable:
        """Return properties of the strings, a line a system."""
        made, fluent = self.result.made, self.result.fluency
        generated, both = self.result.counts[..., KINDS.index("all"), 0], made.all(axis=0)
        rows = []
        for s, system in enumerate(self.result.systems):
            row = [
                system,
                f"{made[s].mean():.1%}",
                *(_share(of[s][both]) for of in (generated == 0, self.result.copied)),
                f"{generated[s][both].mean():.1f}" if both.any() else "",
            ]
            if fluent is not None:
                row.append(f"{fluent[s][both].mean():.3f}".replace("-", "−") if both.any() else "")
            rows.append(row)
        columns = ["system", "made", "without verb arguments", "copied", "verb arguments"]
        return ReportTable(
            "The strings",
            [*columns, *(["log10 a word"] if fluent is not None else [])],
            rows,
            "Made: share of clusters and lengths for which there is a string; the other figures are about"
            " those for which both systems have one. Copied: a sentence of the cluster, or a piece of one.",
        )

    def _curve_table(self, curve: Curve) -> ReportTable:
        return ReportTable(
            f"{curve.name.capitalize()} by length",
            ["words", *self.result.systems, "difference", "clusters", "+", "−", "p", "p, Holm"],
            [
                [
                    str(point.length),
                    *_means(point),
                    str(point.clusters),
                    str(point.wins),
                    str(point.losses),
                    probability(point.p),
                    probability(point.holm),
                ]
                for point in curve.points
            ],
            "Means over the clusters for which both have the figure;"
            f" plus and minus: clusters in which {self.result.systems[0]} is better and worse.",
        )

    def figure_rows(self) -> Rows:
        """Return a row a figure and length; without a length the figure is over all of them."""
        pooled = [f"{system} pooled" for system in self.result.systems]
        columns = ["figure", "relations", "length", "clusters", *self.result.systems, "difference", *pooled]
        return Rows([*columns, "better", "worse", "p", "p Holm"], list(self._rows()))

    def _rows(self) -> Iterator[tuple[object, ...]]:
        for curve in self.result.curves:
            for point in (*curve.points, curve.overall):
                yield (
                    curve.metric,
                    curve.kind,
                    point.length or None,
                    point.clusters,
                    *point.means,
                    point.difference,
                    *point.pooled,
                    point.wins,
                    point.losses,
                    point.p,
                    point.holm if point.length else None,
                )

    def _strings_csv(self) -> str:
        return csv_text(
            ["system", "cluster", "length", "generated", "matched", "source", "recalled", "string"],
            [
                [system, name, length, *self.result.counts[s, c, i, 0].tolist(), self.result.strings[s][c][i]]
                for s, system in enumerate(self.result.systems)
                for c, name in enumerate(self.result.clusters)
                for i, length in enumerate(self.result.lengths)
                if self.result.strings[s][c][i] is not None
            ],
        )
