"""The report of an evaluation of generation: the four plots, tables, all strings, and a page with everything.

The page stands alone: its plots are inside it, it loads nothing, and it runs no script.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import numpy as np

import sentgen
from sentgen.evaluation.check.verb_arguments import Kind
from sentgen.evaluation.clusters.plots import curve_plot
from sentgen.evaluation.clusters.results import ALPHA, Curve, GenerationResult, Metric, Point
from sentgen.evaluation.report.folder import write_files
from sentgen.evaluation.report.plots import Draw, plot_files, plot_urls
from sentgen.evaluation.report.tables import Table, csv_text, markdown, probability
from sentgen.templates import template

#: Name of each plot to its curve: the figures 5 to 8 of the paper.
PLOTS: dict[str, tuple[Metric, Kind]] = {
    "all-precision": ("precision", "all"),
    "all-recall": ("recall", "all"),
    "adjacent-precision": ("precision", "adjacent"),
    "long-distance-precision": ("precision", "long"),
}
#: Clusters and lengths of the examples.
_EXAMPLES, _EXAMPLE_LENGTHS = 8, (6, 10, 15, 20, 30)


def write_generation_report(result: GenerationResult, folder: Path) -> list[Path]:
    """Write the report; return the files, the page first.

    Raises:
        InputError: a file cannot be written.
    """
    contents = {
        "index.html": page(result).encode(),
        "results.md": markdown_page(result).encode(),
        "figures.csv": figures_csv(result).encode(),
        "strings.csv": strings_csv(result).encode(),
        **plot_files(_plots(result)),
    }
    return write_files(folder, contents)


def summary_table(result: GenerationResult) -> Table:
    """Return every curve in a line: means over all lengths, and how many lengths differ significantly."""
    system, baseline = result.systems
    return Table(
        f"{len(result.clusters):,} clusters, all lengths",
        ["figure", system, baseline, "difference", "p", f"{system} better at", f"{baseline} better at"],
        [_summary_row(curve) for curve in result.curves],
        "Means over clusters of the mean over the lengths, p of the Wilcoxon signed-rank test over clusters."
        f" Better at: number of lengths at which the test of the length has p < {ALPHA},"
        " and in brackets of those that remain after Holm's correction for the number of lengths.",
    )


def _summary_row(curve: Curve) -> list[str]:
    point = curve.overall
    ahead = [_times(curve, sign) for sign in (1, -1)]
    return [curve.name, *_means(point), probability(point.p), *ahead]


def _times(curve: Curve, sign: int) -> str:
    sure = sum(point.holm < ALPHA and sign * point.difference > 0 for point in curve.points)
    return f"{len(curve.significant(sign))} of {len(curve.points)} ({sure})"


def _means(point: Point) -> list[str]:
    values = (*point.means, point.difference)
    return ["" if np.isnan(value) else f"{value:z.3f}".replace("-", "−") for value in values]


def curve_table(result: GenerationResult, curve: Curve) -> Table:
    """Return a curve, a line a length."""
    return Table(
        f"{curve.name.capitalize()} by length",
        ["words", *result.systems, "difference", "clusters", "+", "−", "p", "p, Holm"],
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
        f" plus and minus: clusters in which {result.systems[0]} is better and worse.",
    )


def settings_table(result: GenerationResult) -> Table:
    """Return what was run."""
    rows = [[name.replace("_", " "), str(value)] for name, value in result.parameters.items()]
    return Table("What was run", ["setting", "value"], [["run", str(result.run_id)], *rows])


def markdown_page(result: GenerationResult) -> str:
    """Return plots and tables as Markdown."""
    parts = [
        f"# Sentences from clusters, run {result.run_id}\n",
        markdown(summary_table(result)),
        *(f"![{name.replace('-', ' ')} by length]({name}.svg)\n" for name in PLOTS),
        *(markdown(curve_table(result, curve)) for curve in result.curves),
        markdown(settings_table(result)),
    ]
    return "\n".join(parts)


def page(result: GenerationResult) -> str:
    """Return the page; every text in it is escaped."""
    return template("sentgen.evaluation.clusters", "report.html.j2").render(
        run=result.run_id,
        version=sentgen.__version__,
        clusters=len(result.clusters),
        systems=result.systems,
        summary=summary_table(result),
        tables=[curve_table(result, curve) for curve in result.curves],
        settings=settings_table(result),
        plots=plot_urls(_plots(result)),
        examples=list(_examples(result)),
    )


def _plots(result: GenerationResult) -> Mapping[str, Draw]:
    return {
        name: partial(curve_plot, result.curve(metric, kind), result.systems)
        for name, (metric, kind) in PLOTS.items()
    }


def _examples(result: GenerationResult) -> Iterator[tuple[str, list[tuple[int, list[tuple[str, str]]]]]]:
    """Yield clusters, evenly spread, with what each system made of them at some lengths."""
    precision = result.figures("precision", "all")
    step = max(1, len(result.clusters) // _EXAMPLES)
    for c in range(0, step * min(_EXAMPLES, len(result.clusters)), step):
        rows = []
        for i, length in enumerate(result.lengths):
            if length in _EXAMPLE_LENGTHS:
                texts = [result.strings[s][c][i] or "" for s in range(len(result.systems))]
                figures = [f"{value:.2f}" if value == value else "" for value in precision[:, c, i]]
                rows.append((length, list(zip(texts, figures, strict=True))))
        yield result.clusters[c], rows


def figure_columns(result: GenerationResult) -> list[str]:
    """Return the names of the columns of `figure_rows`."""
    pooled = [f"{system} pooled" for system in result.systems]
    columns = ["figure", "relations", "length", "clusters", *result.systems, "difference", *pooled]
    return [*columns, "better", "worse", "p", "p Holm"]


def figure_rows(result: GenerationResult) -> Iterator[tuple[object, ...]]:
    """Yield a row a figure and length; without a length the figure is over all of them."""
    for curve in result.curves:
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


def figures_csv(result: GenerationResult) -> str:
    """Return the figures as CSV with all digits."""
    return csv_text(figure_columns(result), figure_rows(result))


def strings_csv(result: GenerationResult) -> str:
    """Return a line a string, with its counts."""
    return csv_text(
        ["system", "cluster", "length", "generated", "matched", "source", "recalled", "string"],
        [
            [system, name, length, *result.counts[s, c, i, 0].tolist(), result.strings[s][c][i]]
            for s, system in enumerate(result.systems)
            for c, name in enumerate(result.clusters)
            for i, length in enumerate(result.lengths)
            if result.strings[s][c][i] is not None
        ],
    )
