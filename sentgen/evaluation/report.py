"""A report in a folder: tables in Markdown and CSV, plots in PNG and SVG, and a page with examples.

The page stands alone: its plots are inside it, it loads nothing, and it runs no script.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

import sentgen
from sentgen.errors import InputError
from sentgen.evaluation import report_tables as tables
from sentgen.evaluation.report_examples import examples
from sentgen.evaluation.report_plots import (
    Draw,
    lengths_plot,
    plot_files,
    plot_urls,
    require_plots,
    systems_plot,
)
from sentgen.evaluation.results import RegenerationResult
from sentgen.templates import template


def prepare_folder(folder: Path) -> None:
    """Make the folder of a report, before anything long is run for it.

    Raises:
        InputError: it cannot be made, is a file, or there is nothing to draw with.
    """
    require_plots()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"no report can go there ({reason}); name a folder", path=str(folder)) from error


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
        "comparisons.csv": tables.comparisons_csv(result).encode(),
        "by-length.csv": tables.lengths_csv(result).encode(),
        **plot_files(_plots(result)),
    }
    return write_files(folder, contents)


def write_files(folder: Path, contents: Mapping[str, bytes]) -> list[Path]:
    """Write files into a folder, over those of an earlier report.

    Raises:
        InputError: a file cannot be written.
    """
    try:
        for name, content in contents.items():
            (folder / name).write_bytes(content)
    except OSError as error:
        raise InputError(
            f"cannot be written ({error.strerror}); name another folder", path=str(folder)
        ) from error
    return [folder / name for name in contents]


def markdown(result: RegenerationResult) -> str:
    """Return the tables and plots as a page of Markdown."""
    comparisons = [tables.differences_table(result), tables.comparisons_table(result)]
    parts = [
        f"# String regeneration, run {result.run_id}\n",
        tables.markdown(tables.figures_table(result)),
        "![Systems with 95% intervals](systems.svg)\n",
        *map(tables.markdown, comparisons if result.comparisons else []),
        tables.markdown(tables.lengths_table(result)),
        "![Systems by length of the sentence](by-length.svg)\n",
        tables.markdown(tables.settings_table(result)),
        tables.markdown(tables.signatures_table(result)),
    ]
    return "\n".join(parts)


def page(result: RegenerationResult) -> str:
    """Return the page; every text in it is escaped."""
    return template("sentgen.evaluation", "report.html.j2").render(
        run=result.run_id,
        version=sentgen.__version__,
        figures=tables.figures_table(result),
        differences=tables.differences_table(result) if result.comparisons else None,
        comparisons=tables.comparisons_table(result),
        lengths=tables.lengths_table(result),
        settings=tables.settings_table(result),
        signatures=tables.signatures_table(result),
        plots=plot_urls(_plots(result)),
        examples=examples(result),
        sentences=len(result.references),
    )


def _plots(result: RegenerationResult) -> Mapping[str, Draw]:
    return {"systems": partial(systems_plot, result), "by-length": partial(lengths_plot, result)}
