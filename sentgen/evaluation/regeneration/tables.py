"""The tables of a report of string regeneration, as text in cells; CSV has all digits."""

from __future__ import annotations

from collections.abc import Sequence

from sentgen.evaluation.regeneration.measures import ARGUMENT_ERRORS
from sentgen.evaluation.regeneration.parsed_outputs import VERB_ARGUMENTS
from sentgen.evaluation.regeneration.results import PRIMARY, OrderingResult, RegenerationResult
from sentgen.evaluation.report.tables import ReportTable, best_cells, csv_text
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
    VERB_ARGUMENTS: "verb arguments, %",
}
PERCENT = frozenset({"exact-match", "adjacency", "other-words", "search-error", "attachment", VERB_ARGUMENTS})


#: Figures that are better if they are lower.
_LOWER = frozenset({"other-words", "search-error"})


def figures_table(result: RegenerationResult) -> ReportTable:
    """Return the figures of all systems with their intervals; those of arguments have their own table."""
    names = [name for name in result.signatures if name not in ARGUMENT_ERRORS]
    ranked = result.ranked
    figures = [[_value(system, name) for system in ranked] for name in names]
    times = [[system.times[n].value if system.times else None for system in ranked] for n in (0, 1)]
    lower = [place for place, name in enumerate(names, 1) if name in _LOWER]
    return ReportTable(
        quantity(len(result.references), "sentence"),
        ["system", *(LABELS.get(name, name) for name in names), "look-up, ms", "search, ms"],
        [
            [
                system.system,
                *(_with_interval(system, name) for name in names),
                *([f"{time.value:.2f}" for time in system.times] or ["", ""]),
            ]
            for system in ranked
        ],
        "In brackets: 95% intervals of a bootstrap over sentences. Milliseconds are per sentence.",
        best_cells([*figures, *times], [*lower, len(names) + 1, len(names) + 2]),
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


def _value(system: OrderingResult, metric: str) -> float | None:
    return system.value(metric) if metric in system.measurements else None


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
    values = [[score.value for score in result.by_length(system)] for system in result.ranked]
    return ReportTable(
        f"By length ({result.main.label})",
        ["words", *(f"{bucket.label} ({len(bucket.sentences):,})" for bucket in result.lengths)],
        [
            [system.system, *(f"{value:.1f}" for value in row)]
            for system, row in zip(result.ranked, values, strict=True)
        ],
        "In brackets: number of sentences.",
        best_cells(list(zip(*values, strict=True))),
    )


def lengths_csv(result: RegenerationResult) -> str:
    """Return a line a system and length."""
    rows = (
        (system.system, bucket.label, len(bucket.sentences), PRIMARY, score.value)
        for system in result.systems
        for bucket, score in zip(result.lengths, result.by_length(system), strict=True)
    )
    return csv_text(["system", "words", "sentences", "metric", "value"], rows)
