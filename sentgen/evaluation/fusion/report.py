"""The report of an evaluation of fusion: figures, tests, and clusters with what each system made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from sentgen.evaluation.fusion.results import FusionResult
from sentgen.evaluation.fusion.tables import figures_table, sentences_csv, tests_table
from sentgen.evaluation.report.plots import systems_plot
from sentgen.evaluation.report.report import Report
from sentgen.evaluation.report.tables import comparisons_csv, scores_csv, settings_table, signatures_table

EXAMPLES = 40


@dataclass(frozen=True, slots=True)
class ExampleCluster:
    """A cluster, and what each system made of it, the best system first; nothing where it made nothing."""

    name: str
    inputs: Sequence[str]
    references: Sequence[str]
    answers: Sequence[tuple[str, str]]


def fusion_report(result: FusionResult) -> Report:
    """Return the report of a run."""
    tables = [figures_table(result), *([tests_table(result)] if result.tests else [])]
    about = [settings_table(result), signatures_table(result)]
    return Report(
        title=f"Fused sentences, run {result.run_id}",
        template="fusion/report.html.j2",
        shown={
            "clusters": len(result.cases),
            "tables": tables,
            "examples": _examples(result),
            "settings": about[0],
            "signatures": about[1],
        },
        markdown_parts=[
            tables[0],
            "![Systems with 95% intervals](systems.svg)\n",
            *tables[1:],
            *about,
        ],
        csv={
            "scores.csv": scores_csv(result.systems),
            "comparisons.csv": comparisons_csv(result.tests),
            "sentences.csv": sentences_csv(result),
        },
        plots={"systems": partial(systems_plot, result)},
    )


def _examples(result: FusionResult) -> list[ExampleCluster]:
    """Return clusters that were drawn with the seed of the run, without looking at the sentences."""
    drawn = np.random.default_rng(result.seed).permutation(len(result.cases))[:EXAMPLES]
    found = []
    for place in sorted(drawn.tolist()):
        case = result.cases[place]
        inputs, references = (
            [" ".join(one.forms) for one in sentences] for sentences in (case.inputs, case.references)
        )
        answers = [(system.system, system.answers[place] or "") for system in result.ranked]
        found.append(ExampleCluster(case.name, inputs, references, answers))
    return found
