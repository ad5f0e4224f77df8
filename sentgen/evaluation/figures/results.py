"""What experiments find out about systems: figures with intervals, compared by the main one of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Generic, TypeVar

from sentgen.evaluation.figures.bootstrap import LEVEL, RESAMPLES, Interval, intervals
from sentgen.evaluation.figures.measurement import Measurement, Score
from sentgen.evaluation.figures.record import FigureRow, RunResult
from sentgen.evaluation.figures.significance import SHUFFLES, SystemComparison

AnswerT_co = TypeVar("AnswerT_co", covariant=True)
SystemT = TypeVar("SystemT", bound="SystemResult[object]")


@dataclass(frozen=True, slots=True)
class MainFigure:
    """The figure that systems are compared by, what people call it, and what it is shown times."""

    metric: str
    label: str
    factor: float = 1


@dataclass(frozen=True, slots=True)
class SystemResult(Generic[AnswerT_co]):
    """How one system, or one person, did on the whole set; ``times`` are figures of the set, too."""

    system: str
    answers: Sequence[AnswerT_co] = field(repr=False)
    measurements: Mapping[str, Measurement] = field(repr=False)
    times: Sequence[Score] = ()
    intervals: Mapping[str, Interval] = field(default_factory=dict)

    def value(self, metric: str) -> float:
        """Return a figure by its name."""
        return self.measurements[metric].value

    @property
    def scores(self) -> list[Score]:
        """Return the figures."""
        return [measurement.score for measurement in self.measurements.values()]

    def rows(self, seed: int) -> Iterator[FigureRow]:
        """Yield the figures as rows of `score`, each with the ends of its interval (``f1:low``)."""
        sampling = f"bs:{RESAMPLES}|level:{LEVEL}|seed:{seed}"
        for name, measurement in self.measurements.items():
            yield FigureRow(self.system, measurement.score)
            interval, signature = self.intervals[name], f"{measurement.signature}|{sampling}"
            yield FigureRow(self.system, Score(f"{name}:low", interval.low, signature))
            yield FigureRow(self.system, Score(f"{name}:high", interval.high, signature))


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentResult(RunResult, Generic[SystemT]):
    """A run of systems, and what each reached; ``comparisons`` are by the figure ``main``."""

    main: ClassVar[MainFigure]
    systems: Sequence[SystemT]
    comparisons: Sequence[SystemComparison]
    seed: int

    @property
    def ranked(self) -> list[SystemT]:
        """Return the systems, the highest main figure first; equals in the order of the run."""
        # Not `reverse`, which would turn equals around.
        return sorted(self.systems, key=lambda system: -system.value(self.main.metric))

    @property
    def signatures(self) -> dict[str, str]:
        """Return how each figure was computed, by its name; of the first system that has it."""
        found: dict[str, str] = {}
        for system in self.systems:
            for name, measurement in system.measurements.items():
                found.setdefault(name, measurement.signature)
        return found


def with_intervals(systems: Sequence[SystemT], seed: int) -> list[SystemT]:
    """Return systems with the intervals of all their figures, over the same resampled test sets."""
    # All systems in one call, which share the samples.
    found = iter(intervals([one for system in systems for one in system.measurements.values()], seed=seed))
    return [
        replace(system, intervals={name: next(found) for name in system.measurements}) for system in systems
    ]


def comparison_rows(found: SystemComparison, seed: int) -> Iterator[FigureRow]:
    """Yield a comparison as rows of `score` of the system ``A vs B``, A the one with the lower figure."""
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
        yield FigureRow(
            f"{found.worse} vs {found.better}", Score(f"{found.metric}:{name}", float(value), signature)
        )
