"""What experiments find out about systems: figures with intervals, compared by the main one of them."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from operator import attrgetter
from typing import ClassVar, Generic, TypeVar

import pyarrow as pa
from sqlalchemy import insert

import sentgen
from sentgen.evaluation.figures.measurement import LEVEL, RESAMPLES, Interval, Measurement, Score, intervals
from sentgen.evaluation.figures.significance import SHUFFLES, SystemComparison
from sentgen.schema import Store
from sentgen.schema.store import append, next_id
from sentgen.schema.tables.runs import output as output_table
from sentgen.schema.tables.runs import run as run_table
from sentgen.schema.tables.runs import score as score_table

_SCORE = {
    "system": ("system", pa.string()),
    "item": ("item", pa.int32()),
    "metric": ("score.metric", pa.string()),
    "value": ("score.value", pa.float64()),
    "signature": ("score.signature", pa.string()),
}
_OUTPUT = {
    "system": ("system", pa.string()),
    "item": ("item", pa.int32()),
    "input": ("given", pa.string()),
    "output": ("output", pa.string()),
    "reference": ("reference", pa.string()),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """What is known of a run of any experiment: its number in the store once it has one, and what ran."""

    parameters: Mapping[str, object] = field(default_factory=dict)
    seconds: float = 0.0
    run_id: int = 0


Result = TypeVar("Result", bound=RunResult)


@dataclass(frozen=True, slots=True)
class Start:
    """When a run began: its date (UTC, without a time zone), and the clock that tells its seconds."""

    date: datetime = field(default_factory=lambda: datetime.now(UTC).replace(tzinfo=None))
    clock: float = field(default_factory=time.perf_counter)

    def timed(self, result: Result) -> Result:
        """Return a result with the seconds that it took until now."""
        return replace(result, seconds=time.perf_counter() - self.clock)


@dataclass(frozen=True, slots=True)
class FigureRow:
    """A figure of a system: of the whole set, or of one sentence of it, counted from 1."""

    system: str
    score: Score
    item: int | None = None


@dataclass(frozen=True, slots=True)
class OutputRow:
    """What a system was given for one sentence, what it wrote, and what it should have written."""

    system: str
    item: int
    given: str
    output: str
    reference: str


def recorded(
    store: Store,
    command: str,
    result: Result,
    *,
    started: Start,
    seed: int | None = None,
    scores: Iterable[FigureRow] = (),
    outputs: Iterable[OutputRow] = (),
) -> Result:
    """Store a run with its figures and sentences in one transaction; return the result with its number.

    Args:
        store: not read-only.
        command: what ran.
        result: what it found; its parameters are what JSON can hold.
        started: when it began.
        seed: of its random numbers, if it used any.
        scores: the figures; those that are no numbers are left out.
        outputs: the sentences.
    """
    # NaN is not equal to itself.
    finite = [row for row in scores if row.score.value == row.score.value]
    written = list(outputs)
    with store.begin() as connection:
        number = next_id(connection, run_table)
        connection.execute(
            insert(run_table).values(
                id=number,
                command=command,
                # Sorted, so that runs with the same parameters have the same text (see `published`).
                parameters=json.dumps(dict(result.parameters), sort_keys=True),
                seed=seed,
                version=sentgen.__version__,
                started_at=started.date,
                seconds=result.seconds,
            )
        )
        append(connection, score_table.name, _table(number, finite, _SCORE))
        if written:
            append(connection, output_table.name, _table(number, written, _OUTPUT))
    return replace(result, run_id=number)


def _table(number: int, rows: Sequence[object], columns: Mapping[str, tuple[str, pa.DataType]]) -> pa.Table:
    """Return rows with the number of their run; of each column there is the attribute and the type."""
    found = {
        name: pa.array(map(attrgetter(attribute), rows), kind) for name, (attribute, kind) in columns.items()
    }
    return pa.table({"run_id": pa.array([number] * len(rows), pa.int32()), **found})


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
    found = iter(
        intervals(
            [measurement for system in systems for measurement in system.measurements.values()], seed=seed
        )
    )
    return [
        replace(system, intervals={name: next(found) for name in system.measurements}) for system in systems
    ]


def comparison_rows(comparison: SystemComparison, seed: int) -> Iterator[FigureRow]:
    """Yield a comparison as rows of `score` of the system ``A vs B``, A the one with the lower figure."""
    sampled = "Collins et al. 2005, one sentence replaced at a time, exact binomial, two-sided"
    shuffled = f"approximate randomization, two-sided|shuffles:{SHUFFLES}|seed:{seed}"
    for name, value, signature in (
        ("difference", comparison.difference, f"{comparison.better} minus {comparison.worse}"),
        ("sign-test:pluses", comparison.pluses, sampled),
        ("sign-test:minuses", comparison.minuses, sampled),
        ("sign-test:equal", comparison.equal, sampled),
        ("sign-test:p", comparison.sign_p, sampled),
        ("randomization:p", comparison.shuffle_p, shuffled),
        ("randomization:p-holm", comparison.holm, f"{shuffled}|Holm over all pairs of the run"),
    ):
        yield FigureRow(
            f"{comparison.worse} vs {comparison.better}",
            Score(f"{comparison.metric}:{name}", float(value), signature),
        )
