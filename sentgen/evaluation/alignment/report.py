"""The report of an evaluation of alignments: tables, plots, and pairs with what each system did to them."""

from __future__ import annotations

from functools import partial

from sentgen.evaluation.alignment import tables
from sentgen.evaluation.alignment.examples import examples
from sentgen.evaluation.alignment.plots import precision_recall_plot
from sentgen.evaluation.alignment.results import AlignmentResult
from sentgen.evaluation.report.plots import systems_plot
from sentgen.evaluation.report.report import Report
from sentgen.evaluation.report.tables import (
    ReportTable,
    comparisons_csv,
    comparisons_table,
    differences_table,
    scores_csv,
    settings_table,
    signatures_table,
)


def alignment_report(result: AlignmentResult) -> Report:
    """Return the report of a run."""
    first, *others = _tables(result)
    return Report(
        title=f"Alignments, run {result.run_id}",
        template="alignment/report.html.j2",
        shown={
            "pairs": len(result.pairs),
            "first": first,
            "tables": others,
            "examples": examples(result),
        },
        markdown_parts=[
            first,
            "![SoftF of the systems with 95% intervals](systems.svg)\n",
            "![Soft precision against recall](precision-recall.svg)\n",
            *others,
        ],
        csv={
            "scores.csv": scores_csv((*result.systems, *result.humans)),
            "comparisons.csv": comparisons_csv(result.comparisons),
            "kinds.csv": tables.kinds_csv(result),
            "links.csv": tables.links_csv(result),
        },
        plots={
            "systems": partial(systems_plot, result),
            "precision-recall": partial(precision_recall_plot, result),
        },
    )


def _tables(result: AlignmentResult) -> list[ReportTable]:
    """Return the tables in their order, without those that have nothing to say."""
    found = [
        tables.figures_table(result),
        differences_table(result),
        tables.missing_table(result),
        *tables.scope_tables(result),
        tables.new_table(result),
        tables.source_table(result),
        tables.agreement_table(result),
        tables.kinds_table(result),
        *(tables.words_table(result, system) for system in result.ranked[:2]),
        comparisons_table(result),
        settings_table(result),
        signatures_table(result),
    ]
    return [table for table in found if table.rows]
