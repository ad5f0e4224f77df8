"""What an evaluation of alignments found: answers, figures with intervals, comparisons, as plain values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sentgen.alignment import Alignment, Pair
from sentgen.alignment.systems import Missing
from sentgen.alignment.texts import pharaoh
from sentgen.evaluation.alignment.gold import GoldLinks
from sentgen.evaluation.alignment.measures import PRIMARY, Agreement
from sentgen.evaluation.figures.bootstrap import LEVEL, RESAMPLES, Interval
from sentgen.evaluation.figures.measurement import Measurement, Score
from sentgen.evaluation.figures.record import OutputRow, Row
from sentgen.evaluation.figures.significance import SHUFFLES, Comparison

#: Figures that are recorded for each pair.
_SINGLE = ("soft-precision", "recall", "soft-f1", "precision", "f1")


@dataclass(frozen=True, slots=True)
class AlignedBy:
    """How one system, or one annotator against the others, did on the whole set.

    ``training_seconds`` is what it took to make the system, ``pair_ms`` the milliseconds a pair; those of
    systems that learn from the pairs that they align contain the learning.
    """

    system: str
    measurements: Mapping[str, Measurement] = field(repr=False)
    intervals: Mapping[str, Interval]
    answers: Sequence[Alignment] = field(repr=False)
    training_seconds: float = 0.0
    pair_ms: float = 0.0

    def value(self, metric: str) -> float:
        """Return a figure by its name."""
        return self.measurements[metric].value


@dataclass(frozen=True, slots=True)
class AlignmentResult:
    """A run: its number in the store, and what each system reached.

    ``humans`` are annotators, each measured by what the others drew; ``agreements`` are between two of them.
    ``comparisons`` are of systems, about the figure `PRIMARY`; ``missing`` are systems that could not run.
    """

    run_id: int
    systems: Sequence[AlignedBy]
    humans: Sequence[AlignedBy]
    agreements: Sequence[Agreement]
    comparisons: Sequence[Comparison]
    missing: Sequence[Missing]
    pairs: Sequence[Pair] = field(repr=False)
    gold: Sequence[GoldLinks] = field(repr=False)
    ignored: frozenset[str] = field(repr=False)
    parameters: Mapping[str, object]
    seed: int
    seconds: float

    @property
    def ranked(self) -> list[AlignedBy]:
        """The systems, the highest `PRIMARY` first; equals in the order of the run."""
        return sorted(self.systems, key=lambda system: -system.value(PRIMARY))


def rows_of(result: AlignmentResult) -> Iterator[Row]:
    """Yield every figure of the whole set as a row of `score`.

    An interval is two rows, such as ``soft-f1:low`` and ``soft-f1:high``; a comparison is rows of the system
    ``A vs B``, A the one with the lower figure; annotators are the systems ``human A``, their agreement is
    rows of the system ``A vs B``, too.
    """
    sampling = f"bs:{RESAMPLES}|level:{LEVEL}|seed:{result.seed}"
    for system in (*result.systems, *result.humans):
        for name, measurement in system.measurements.items():
            yield Row(system.system, measurement.score)
            interval, signature = system.intervals[name], f"{measurement.signature}|{sampling}"
            yield Row(system.system, Score(f"{name}:low", interval.low, signature))
            yield Row(system.system, Score(f"{name}:high", interval.high, signature))
    for system in result.systems:
        yield Row(system.system, Score("training-seconds", system.training_seconds, "seconds"))
        yield Row(system.system, Score("pair-ms", system.pair_ms, "milliseconds a pair, mean"))
    for found in result.agreements:
        signature = f"Cohen's kappa over pairs of words|{found.scope} words|items:{found.items}"
        score = Score(f"kappa:{found.kind}:{found.scope}", found.kappa, signature)
        yield Row(f"{found.one} vs {found.other}", score)
    for comparison in result.comparisons:
        yield from _comparison_rows(comparison, result.seed)


def _comparison_rows(found: Comparison, seed: int) -> Iterator[Row]:
    shuffled = f"approximate randomization, two-sided|shuffles:{SHUFFLES}|seed:{seed}"
    for name, value, signature in (
        ("difference", found.difference, f"{found.better} minus {found.worse}"),
        ("randomization:p", found.shuffle_p, shuffled),
        ("randomization:p-holm", found.holm, f"{shuffled}|Holm over all pairs of the run"),
    ):
        system = f"{found.worse} vs {found.better}"
        yield Row(system, Score(f"{found.metric}:{name}", value, signature))


def pair_rows(result: AlignmentResult) -> Iterator[Row]:
    """Yield the figures of each pair, all words, as rows of `score` with the number of the pair."""
    for system in result.systems:
        for name in _SINGLE:
            measurement = system.measurements[name]
            for item, value in enumerate(measurement.figure(measurement.statistics).tolist(), 1):
                yield Row(system.system, Score(name, value, f"{measurement.signature}|one pair"), item)


def outputs_of(result: AlignmentResult) -> Iterator[OutputRow]:
    """Yield every answer as a row of `output`: the texts, the links in Pharaoh's form, the gold links."""
    gold = [" ".join(_gold_links(links)) for links in result.gold]
    for system in result.systems:
        for item, (pair, answer) in enumerate(zip(result.pairs, system.answers, strict=True), 1):
            texts = f"{' '.join(pair.document)} ||| {' '.join(pair.abstract)}"
            yield OutputRow(system.system, item, texts, pharaoh(answer), gold[item - 1])


def _gold_links(gold: GoldLinks) -> Iterator[str]:
    for i, j in sorted(gold.possible):
        yield f"{i}{'-' if (i, j) in gold.sure else 'p'}{j}"
