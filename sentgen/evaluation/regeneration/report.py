"""The report of string regeneration: figures, lengths, and sentences side by side."""

from __future__ import annotations

from functools import partial

from sentgen.evaluation.regeneration.examples import examples
from sentgen.evaluation.regeneration.plots import curve_plot, lengths_plot
from sentgen.evaluation.regeneration.results import RegenerationResult
from sentgen.evaluation.regeneration.tables import (
    LABELS,
    arguments_table,
    figures_table,
    lengths_csv,
    lengths_table,
)
from sentgen.evaluation.report.plots import systems_plot
from sentgen.evaluation.report.report import Report
from sentgen.evaluation.report.tables import (
    comparisons_csv,
    comparisons_table,
    differences_table,
    scores_csv,
    settings_table,
    signatures_table,
)


def regeneration_report(result: RegenerationResult) -> Report:
    """Return the report of a run that told lengths apart."""
    compared = [differences_table(result), comparisons_table(result)] if result.comparisons else []
    figures, lengths = figures_table(result), lengths_table(result)
    arguments = [arguments] if (arguments := arguments_table(result)).rows else []
    settings, signatures = settings_table(result), signatures_table(result, LABELS)
    return Report(
        title=f"String regeneration, run {result.run_id}",
        template="regeneration/report.html.j2",
        shown={
            "figures": figures,
            "compared": compared,
            "arguments": arguments,
            "lengths": lengths,
            "settings": settings,
            "signatures": signatures,
            "examples": examples(result),
            "sentences": len(result.references),
        },
        markdown_parts=[
            figures,
            *(["![Learning curves](curve.svg)\n"] if result.curve else []),
            "![Systems with 95% intervals](systems.svg)\n",
            *compared,
            *arguments,
            lengths,
            "![Systems by length of the sentence](by-length.svg)\n",
            settings,
            signatures,
        ],
        csv={
            "scores.csv": scores_csv(result.systems, with_times=True),
            "comparisons.csv": comparisons_csv(result.comparisons),
            "by-length.csv": lengths_csv(result),
        },
        plots={
            **({"curve": partial(curve_plot, result)} if result.curve else {}),
            "systems": partial(systems_plot, result),
            "by-length": partial(lengths_plot, result),
        },
    )
