"""The tables of an evaluation of fusion, as text in cells; CSV has all digits."""

from __future__ import annotations

from sentgen.evaluation.fusion.measures import BLEU, LABELS
from sentgen.evaluation.fusion.results import FuserResult, FusionResult
from sentgen.evaluation.report.tables import ReportTable, csv_text, probability
from sentgen.output.wording import quantity

_PERCENT = frozenset(LABELS) - {BLEU, "words"}


def figures_table(result: FusionResult) -> ReportTable:
    """Return all figures of all systems with their intervals, the highest BLEU first."""
    return ReportTable(
        quantity(len(result.cases), "cluster"),
        ["system", *LABELS.values()],
        [[system.system, *(_cell(system, name) for name in LABELS)] for system in result.ranked],
        "In brackets: 95% intervals of a bootstrap over clusters. Answered: clusters with a sentence. Copied:"
        " sentences that are an input, or a piece of one. The others are of the"
        f" {quantity(result.common, 'cluster')} of which all systems make a sentence: words a sentence, BLEU"
        " to the references that were held back, precision (P) and recall (R) of verb arguments, in percent.",
    )


def _cell(system: FuserResult, metric: str) -> str:
    interval, factor = system.intervals[metric], 100 if metric in _PERCENT else 1
    values = [factor * x for x in (system.value(metric), interval.low, interval.high)]
    if values[0] != values[0]:  # nothing to count
        return ""
    value, low, high = (f"{x:.1f}" for x in values)
    return f"{value}\n({low} – {high})"


def tests_table(result: FusionResult) -> ReportTable:
    """Return every pair of systems by each figure that is tested."""
    return ReportTable(
        "Which systems differ",
        ["figure", "worse", "better", "difference", "p, sign test", "p, randomization", "p, Holm"],
        [
            [
                LABELS[pair.metric],
                pair.worse,
                pair.better,
                f"{(100 if pair.metric in _PERCENT else 1) * pair.difference:.1f}",
                *map(probability, (pair.sign_p, pair.shuffle_p, pair.holm)),
            ]
            for pair in result.tests
        ],
        "Sign test with the sampling method of Collins et al. 2005, a cluster at a time; approximate"
        " randomization over clusters; Holm: corrected for the number of pairs.",
    )


def sentences_csv(result: FusionResult) -> str:
    """Return a line a cluster and system: its sentence, or nothing."""
    return csv_text(
        ["cluster", "system", "sentence"],
        [
            (case.name, system.system, answer)
            for system in result.systems
            for case, answer in zip(result.cases, system.answers, strict=True)
        ],
    )
