"""The report of an evaluation of generation: the four plots, tables, all strings, and examples."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from sentgen.evaluation.check.verb_arguments import Kind
from sentgen.evaluation.clusters.plots import curve_plot
from sentgen.evaluation.clusters.results import GenerationResult, Metric
from sentgen.evaluation.clusters.tables import (
    curve_table,
    figure_rows,
    settings_table,
    strings_csv,
    strings_table,
    summary_table,
)
from sentgen.evaluation.report.report import Report
from sentgen.evaluation.report.tables import csv_text

#: Name of each plot to its curve: the figures 5 to 8 of the paper.
PLOTS: dict[str, tuple[Metric, Kind]] = {
    "all-precision": ("precision", "all"),
    "all-recall": ("recall", "all"),
    "adjacent-precision": ("precision", "adjacent"),
    "long-distance-precision": ("precision", "long"),
}
#: Clusters and lengths of the examples.
_EXAMPLES, _EXAMPLE_LENGTHS = 8, (6, 10, 15, 20, 30)


def generation_report(result: GenerationResult) -> Report:
    """Return the report of a run."""
    summary, settings = summary_table(result), settings_table(result)
    strings = strings_table(result)
    tables = [curve_table(result, curve) for curve in result.curves]
    figures = figure_rows(result)
    return Report(
        title=f"Sentences from clusters, run {result.run_id}",
        template="clusters/report.html.j2",
        shown={
            "clusters": len(result.clusters),
            "systems": result.systems,
            "summary": summary,
            "strings": strings,
            "tables": tables,
            "settings": settings,
            "examples": list(_examples(result)),
        },
        markdown_parts=[
            summary,
            strings,
            *(f"![{name.replace('-', ' ')} by length]({name}.svg)\n" for name in PLOTS),
            *tables,
            settings,
        ],
        csv={"figures.csv": csv_text(figures.columns, figures.rows), "strings.csv": strings_csv(result)},
        plots={
            name: partial(curve_plot, result.curve(metric, kind), result.systems)
            for name, (metric, kind) in PLOTS.items()
        },
    )


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
