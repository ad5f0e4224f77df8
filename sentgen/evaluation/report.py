"""A report in a folder: tables in Markdown and CSV, plots in PNG and SVG, and a page with examples.

The page stands alone: its plots are inside it, it loads nothing, and it runs no script.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from importlib import resources
from pathlib import Path

from jinja2 import Environment, StrictUndefined

import sentgen
from sentgen.errors import InputError
from sentgen.evaluation import report_tables as tables
from sentgen.evaluation.report_examples import examples
from sentgen.evaluation.report_plots import (
    DARK,
    LIGHT,
    Draw,
    lengths_plot,
    picture,
    require_plots,
    systems_plot,
)
from sentgen.evaluation.results import RegenerationResult

PLOTS: Mapping[str, Draw] = {"systems": systems_plot, "by-length": lengths_plot}


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
    contents: dict[str, bytes] = {
        "index.html": page(result).encode(),
        "results.md": markdown(result).encode(),
        "scores.csv": tables.scores_csv(result).encode(),
        "comparisons.csv": tables.comparisons_csv(result).encode(),
        "by-length.csv": tables.lengths_csv(result).encode(),
    }
    for name, draw in PLOTS.items():
        contents[f"{name}.svg"] = picture(draw(result, LIGHT), "svg")
        contents[f"{name}.png"] = picture(draw(result, LIGHT), "png")
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
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    template = resources.files("sentgen.evaluation").joinpath("report.html.j2").read_text("utf-8")
    return environment.from_string(template).render(
        run=result.run_id,
        version=sentgen.__version__,
        figures=tables.figures_table(result),
        differences=tables.differences_table(result) if result.comparisons else None,
        comparisons=tables.comparisons_table(result),
        lengths=tables.lengths_table(result),
        settings=tables.settings_table(result),
        signatures=tables.signatures_table(result),
        plots={
            name: {
                theme: base64.b64encode(picture(draw(result, colors), "svg")).decode()
                for theme, colors in (("light", LIGHT), ("dark", DARK))
            }
            for name, draw in PLOTS.items()
        },
        examples=examples(result),
        sentences=len(result.references),
    )
