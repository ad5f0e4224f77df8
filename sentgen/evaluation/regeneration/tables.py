"""The tables of a report of string regeneration, as text in cells; CSV has all digits."""

from __future__ import annotations

from sentgen.evaluation.regeneration.results import PRIMARY, RegenerationResult, SystemResult, by_length
from sentgen.evaluation.report.tables import Table, all_pairs, csv_text, differences

#: What people call the metrics.
LABELS = {
    "bleu-lc-13a": "BLEU, lower-cased, 13a",
    "bleu-none": "BLEU, as it stands",
    "bleu-lc-none": "BLEU, lower-cased",
    "chrf": "chrF",
    "exact-match": "exact, %",
    "kendall-tau": "Kendall's tau",
    "adjacency": "neighbors right, %",
    "search-error": "search errors, %",
    "attachment": "heads right, %",
}


PERCENT = frozenset({"exact-match", "adjacency", "search-error", "attachment"})


def ranked(result: RegenerationResult) -> list[SystemResult]:
    """Return the systems, the highest figure first; equals in the order of the run."""
    return sorted(result.systems, key=lambda system: -system.value(PRIMARY))


def figures_table(result: RegenerationResult) -> Table:
    """Return all figures of all systems with their intervals."""
    metrics = result.metrics
    return Table(
        f"{len(result.references):,} sentences",
        ["system", *(LABELS.get(name, name) for name in metrics), "look-up, ms", "search, ms"],
        [
            [
                system.system,
                *(_with_interval(system, name) for name in metrics),
                f"{system.lookup_ms:.2f}",
                f"{system.search_ms:.2f}",
            ]
            for system in ranked(result)
        ],
        "In brackets: 95% intervals of a bootstrap over sentences. Milliseconds are per sentence.",
    )


def _with_interval(system: SystemResult, metric: str) -> str:
    if metric not in system.measurements:
        return ""
    interval = system.intervals[metric]
    factor = 100 if metric in PERCENT else 1
    values = (factor * x for x in (system.value(metric), interval.low, interval.high))
    value, low, high = (f"{x:z.2f}" if metric == "kendall-tau" else f"{x:z.1f}" for x in values)
    return f"{value}\n({low} – {high})".replace("-", "−")


def differences_table(result: RegenerationResult) -> Table:
    """Return how far each system is above each lower one, and whether that is sure."""
    return differences([system.system for system in ranked(result)], result.comparisons, LABELS[PRIMARY])


def comparisons_table(result: RegenerationResult) -> Table:
    """Return every pair of systems with both tests, the greatest difference first."""
    return all_pairs(result.comparisons, LABELS[PRIMARY])


def lengths_table(result: RegenerationResult) -> Table:
    """Return the main figure by the number of words of a sentence."""
    return Table(
        f"By length ({LABELS[PRIMARY]})",
        ["words", *(f"{bucket.label} ({len(bucket.sentences):,})" for bucket in result.lengths)],
        [
            [system.system, *(f"{score.value:.1f}" for score in by_length(system, result.lengths))]
            for system in ranked(result)
        ],
        "In brackets: number of sentences.",
    )


def signatures_table(result: RegenerationResult) -> Table:
    """Return how each figure was computed."""
    rows = [[LABELS.get(name, name), name, signature] for name, signature in result.signatures.items()]
    return Table("Signatures", ["figure", "name in the store", "signature"], rows)


def scores_csv(result: RegenerationResult) -> str:
    """Return a line a figure, with the ends of its interval."""
    rows = [
        (
            system.system,
            name,
            measurement.value,
            system.intervals[name].low,
            system.intervals[name].high,
            measurement.signature,
        )
        for system in result.systems
        for name, measurement in system.measurements.items()
    ]
    times = [
        (system.system, time.metric, time.value, "", "", time.signature)
        for system in result.systems
        for time in system.times
    ]
    return csv_text(["system", "metric", "value", "low", "high", "signature"], [*rows, *times])


def lengths_csv(result: RegenerationResult) -> str:
    """Return a line a system and length."""
    rows = (
        (system.system, bucket.label, len(bucket.sentences), PRIMARY, score.value)
        for system in result.systems
        for bucket, score in zip(result.lengths, by_length(system, result.lengths), strict=True)
    )
    return csv_text(["system", "words", "sentences", "metric", "value"], rows)
