"""A report in a folder: tables in Markdown and CSV, plots in PNG and SVG, and a page with examples.

The page stands alone: its plots are inside it, it loads nothing, and it runs no script.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

import sentgen
from sentgen.evaluation.regeneration import tables
from sentgen.evaluation.regeneration.examples import examples
from sentgen.evaluation.regeneration.plots import lengths_plot, systems_plot
from sentgen.evaluation.regeneration.results import RegenerationResult
from sentgen.evaluation.report.folder import write_files
from sentgen.evaluation.report.plots import Draw, plot_files, plot_urls
from sentgen.evaluation.report.tables import comparisons_csv, settings_table
from sentgen.evaluation.report.tables import markdown as as_markdown
from sentgen.templates import template


def write_report(result: RegenerationResult, folder: Path) -> list[Path]:
    """Write the report of a run that told lengths apart; return the files, the page first.

    Files of an earlier report are replaced.

    Raises:
        InputError: a file cannot be written.
    """
    contents = {
        "index.html": page(result).encode(),
        "results.md": markdown(result).encode(),
        "scores.csv": tables.scores_csv(result).encode(),
        "comparisons.csv": comparisons_csv(result).encode(),
        "by-length.csv": tables.lengths_csv(result).encode(),
        **plot_files(_plots(result)),
    }
    return write_files(folder, contents)


def markdown(result: RegenerationResult) -> str:
    """Return the tables and plots as a page of Markdown."""
    comparisons = [tables.differences_table(result), tables.comparisons_table(result)]
    parts = [
        f"# String regeneration, run {result.run_id}\n",
        as_markdown(tables.figures_table(result)),
        "![Systems with 95% intervals](systems.svg)\n",
        *map(as_markdown, comparisons if result.comparisons else []),
        as_markdown(tables.lengths_table(result)),
        "![Systems by length of the sentence](by-length.svg)\n",
        as_markdown(settings_table(result)),
        as_markdown(tables.signatures_table(result)),
    ]
    return "\n".join(parts)


def page(result: RegenerationResult) -> str:
    """Return the page; every text in it is escaped."""
    return template("sentgen.evaluation.regeneration", "report.html.j2").render(
        run=result.run_id,
        version=sentgen.__version__,
        figures=tables.figures_table(result),
        differences=tables.differences_table(result) if result.comparisons else None,
        comparisons=tables.comparisons_table(result),
        lengths=tables.lengths_table(result),
        settings=settings_table(result),
        signatures=tables.signatures_table(result),
        plots=plot_urls(_plots(result)),
        examples=examples(result),
        sentences=len(result.references),
    )


def _plots(result: RegenerationResult) -> Mapping[str, Draw]:
    return {"systems": partial(systems_plot, result), "by-length": partial(lengths_plot, result)}
