"""The tables of a report of string regeneration, as text in cells; CSV has all digits."""

from __future__ import annotations

from collections.abc import Sequence

from sentgen.evaluation.regeneration.measures import ARGUMENT_ERRORS
from sentgen.evaluation.regeneration.results import PRIMARY, OrderingResult, RegenerationResult
from sentgen.evaluation.report.tables import ReportTable, csv_text
from sentgen.output.wording import quantity

#: What people call the metrics.
LABELS = {
    "bleu-lc-13a": "BLEU, lower-cased, 13a",
    "bleu-none": "BLEU, as it stands",
    PRIMARY: RegenerationResult.main.label,
    "chrf": "chrF",
    "exact-match": "exact, %",
    "kendall-tau": "Kendall's tau",
    "adjacency": "neighbors right, %",
    "other-words": "other words, %",
    "search-error": "search errors, %",
    "attachment": "heads right, %",
}
PERCENT = frozenset({"exact-match", "adjacency", "other-words", "search-error", "attachment"})


def figures_table(result: RegenerationResult) -> ReportTable:
    """Return the figures of all systems with their intervals; those of arguments have their own table."""
    names = [name for name in result.signatures if name not in ARGUMENT_ERRORS]
    return ReportTable(
        quantity(len(result.references), "sentence"),
        ["system", *(LABELS.get(name, name) for name in names), "look-up, ms", "search, ms"],
        [
            [
                system.system,
                *(_with_interval(system, name) for name in names),
                *([f"{time.value:.2f}" for time in system.times] or ["", ""]),
            ]
            for system in result.ranked
        ],
        "In brackets: 95% intervals of a bootstrap over sentences. Milliseconds are per sentence.",
    )


def arguments_rows(systems: Sequence[OrderingResult]) -> list[list[str]]:
    """Return a row a system that makes trees: its errors in the arguments with their share, and its units."""
    rows = []
    for system in systems:
        found = [system.measurements[name] for name in ARGUMENT_ERRORS if name in system.measurements]
        if found:
            errors = [f"{one.statistics[:, 0].sum():,.0f} ({100 * one.value:.1f}%)" for one in found]
            rows.append([system.system, *errors, f"{found[0].statistics[:, 1].sum():,.0f}"])
    return rows


def arguments_table(result: RegenerationResult) -> ReportTable:
    """Return the errors in the arguments of the systems that make trees."""
    return ReportTable(
        "Arguments",
        ["system", *ARGUMENT_ERRORS, "units"],
        arguments_rows(result.ranked),
        "Theft: a unit hangs on another head, and its real one has fewer on that side than it should. Greed"
        " and shortage: a head has more, or fewer, on a side than it should, and than is usual for it."
        " In brackets: per unit.",
    )


def _with_interval(system: OrderingResult, metric: str) -> str:
    if metric not in system.measurements:
        return ""
    interval = system.intervals[metric]
    factor = 100 if metric in PERCENT else 1
    values = (factor * x for x in (system.value(metric), interval.low, interval.high))
    value, low, high = (f"{x:z.2f}" if metric == "kendall-tau" else f"{x:z.1f}" for x in values)
    return f"{value}\n({low} – {high})".replace("-", "−")


def lengths_table(result: RegenerationResult) -> ReportTable:
    """Return the main figure by the number of words of a sentence."""
    return ReportTable(
        f"By length ({result.main.label})",
        ["words", *(f"{bucket.label} ({len(bucket.sentences):,})" for bucket in result.lengths)],
        [
            [system.system, *(f"{score.value:.1f}" for score in result.by_length(system))]
            for system in result.ranked
        ],
        "In brackets: number of sentences.",
    )


def lengths_csv(result: RegenerationResult) -> str:
    """Return a line a system and length."""
    rows = (
        (system.system, bucket.label, len(bucket.sentences), PRIMARY, score.value)
        for system in result.systems
        for bucket, score in zip(result.lengths, result.by_length(system), strict=True)
    )
    return csv_text(["system", "words", "sentences", "metric", "value"], rows)
