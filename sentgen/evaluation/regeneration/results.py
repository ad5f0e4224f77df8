"""What an evaluation found: answers, figures with intervals, and comparisons, as plain values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sentgen.evaluation.figures.bootstrap import LEVEL, RESAMPLES, Interval
from sentgen.evaluation.figures.measurement import Measurement, Score
from sentgen.evaluation.figures.record import Row
from sentgen.evaluation.figures.significance import SHUFFLES, Comparison

#: The figure that systems are compared by: BLEU, lower-cased, tokenized as the test set is. (The 13a tokens
#: that sacreBLEU makes by default split web addresses and runs of punctuation into pieces that are then
#: always in order.)
PRIMARY = "bleu-lc-none"
#: Sentences by their number of words, up to and including the second number.
LENGTHS = ((1, 4), (5, 9), (10, 14), (15, 19), (20, 29), (30, 39), (40, None))


@dataclass(frozen=True, slots=True)
class Answer:
    """A sentence as a system ordered it, its units apart."""

    given: str
    units: tuple[tuple[str, ...], ...]

    @property
    def words(self) -> list[str]:
        """Return the words in order."""
        return [word for unit in self.units for word in unit]

    @property
    def text(self) -> str:
        """Return the sentence, words separated by blanks."""
        return " ".join(self.words)


@dataclass(frozen=True, slots=True)
class SystemResult:
    """How one system did on the whole set; milliseconds are per sentence."""

    system: str
    measurements: Mapping[str, Measurement] = field(repr=False)
    intervals: Mapping[str, Interval]
    lookup_ms: float
    search_ms: float
    answers: Sequence[Answer] = field(repr=False)

    @property
    def sentences(self) -> int:
        """Return the number of sentences."""
        return len(self.answers)

    @property
    def outputs(self) -> list[str]:
        """Return the sentences."""
        return [answer.text for answer in self.answers]

    def value(self, metric: str) -> float:
        """Return a figure by its name."""
        return self.measurements[metric].value

    @property
    def scores(self) -> list[Score]:
        """Return the figures."""
        return [measurement.score for measurement in self.measurements.values()]

    @property
    def times(self) -> list[Score]:
        """Return the milliseconds as figures."""
        return [
            Score("lookup-ms", self.lookup_ms, "milliseconds a sentence, mean"),
            Score("search-ms", self.search_ms, "milliseconds a sentence, mean"),
        ]


@dataclass(frozen=True, slots=True)
class LengthBucket:
    """Which sentences of the test set have how many words."""

    label: str
    sentences: Sequence[int] = field(repr=False)


@dataclass(frozen=True, slots=True)
class RegenerationResult:
    """A run: its number in the store, and what each system reached; sentences are those of the test set.

    ``lengths`` and ``comparisons`` are about the figure `PRIMARY`.
    """

    run_id: int
    systems: Sequence[SystemResult]
    comparisons: Sequence[Comparison]
    lengths: Sequence[LengthBucket]
    references: Sequence[str] = field(repr=False)
    parameters: Mapping[str, object]
    seed: int
    seconds: float

    @property
    def signatures(self) -> dict[str, str]:
        """Return how each figure was computed, by its name; of the first system that has it."""
        found: dict[str, str] = {}
        for system in self.systems:
            for name, measurement in system.measurements.items():
                found.setdefault(name, measurement.signature)
        return found

    @property
    def metrics(self) -> list[str]:
        """Return the names of all figures that some system has."""
        return list(self.signatures)


def length_buckets(references: Sequence[str]) -> list[LengthBucket]:
    """Return the sentences by length, without the lengths that none has."""
    words = [len(reference.split()) for reference in references]
    buckets = []
    for low, high in LENGTHS:
        label = f"{low}-{high}" if high else f"{low}+"
        inside = [i for i, size in enumerate(words) if low <= size and (high is None or size <= high)]
        buckets.append(LengthBucket(label, inside))
    return [bucket for bucket in buckets if bucket.sentences]


def rows_of(result: RegenerationResult) -> Iterator[Row]:
    """Yield every figure of the whole set as a row of `score`.

    An interval is two rows, such as ``bleu-none:low`` and ``bleu-none:high``; lengths are metrics such as
    ``bleu-lc-none:10-14``; a comparison is rows of the system ``A vs B``, A the one with the lower figure.
    """
    sampling = f"bs:{RESAMPLES}|level:{LEVEL}|seed:{result.seed}"
    for system in result.systems:
        for name, measurement in system.measurements.items():
            yield Row(system.system, measurement.score)
            interval, signature = system.intervals[name], f"{measurement.signature}|{sampling}"
            yield Row(system.system, Score(f"{name}:low", interval.low, signature))
            yield Row(system.system, Score(f"{name}:high", interval.high, signature))
        yield from (Row(system.system, time) for time in system.times)
        yield from (Row(system.system, score) for score in by_length(system, result.lengths))
    for comparison in result.comparisons:
        yield from _comparison_rows(comparison, result.seed)


def by_length(system: SystemResult, lengths: Sequence[LengthBucket]) -> Iterator[Score]:
    """Yield the figure `PRIMARY` of the sentences of each length."""
    measurement = system.measurements[PRIMARY]
    for bucket in lengths:
        signature = f"{measurement.signature}|words:{bucket.label}|sentences:{len(bucket.sentences)}"
        yield Score(f"{PRIMARY}:{bucket.label}", measurement.of(bucket.sentences).value, signature)


def _comparison_rows(found: Comparison, seed: int) -> Iterator[Row]:
    sampled = "Collins et al. 2005, one sentence replaced at a time, exact binomial, two-sided"
    shuffled = f"approximate randomization, two-sided|shuffles:{SHUFFLES}|seed:{seed}"
    for name, value, signature in (
        ("difference", found.difference, f"{found.better} minus {found.worse}"),
        ("sign-test:pluses", found.pluses, sampled),
        ("sign-test:minuses", found.minuses, sampled),
        ("sign-test:equal", found.equal, sampled),
        ("sign-test:p", found.sign_p, sampled),
        ("randomization:p", found.shuffle_p, shuffled),
        ("randomization:p-holm", found.holm, f"{shuffled}|Holm over all pairs of the run"),
    ):
        yield Row(
            f"{found.worse} vs {found.better}", Score(f"{found.metric}:{name}", float(value), signature)
        )
