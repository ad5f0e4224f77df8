"""Results of experiments as one long table: a row a figure of a system, of the whole set or of one item.

An experiment measures its systems (`SystemResult`), puts them together (`ExperimentResult.from_systems`), and
records the rows (`Recorder`); tables, plots and files of reports read the same measurements.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeVar

import numpy as np
import pyarrow as pa
from sqlalchemy import insert

import sentgen
from sentgen.evaluation.figures.measurement import (
    LEVEL,
    RESAMPLES,
    SHUFFLES,
    Interval,
    Measurement,
    SystemComparison,
    compare_all,
    intervals,
)
from sentgen.schema import Store
from sentgen.schema.store import append, next_id
from sentgen.schema.tables.runs import output as output_table
from sentgen.schema.tables.runs import run as run_table
from sentgen.schema.tables.runs import score as score_table

#: Called with the name of the items, such as clusters, the number done, and the number of all.
Progress = Callable[[str, int, int], None]


class FigureRow(NamedTuple):
    """A figure of a system: of the whole set, or of one item of it, counted from 1."""

    system: str
    metric: str
    value: float
    signature: str
    item: int | None = None


class OutputRow(NamedTuple):
    """Input, output and reference of a system for one item."""

    system: str
    item: int
    input: str
    output: str
    reference: str


_KINDS = {"system": pa.string(), "item": pa.int32(), "value": pa.float64()}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """What is known of a run of any experiment: its number in the store once it has one, and what ran.

    ``scores`` are the figures of one that has nothing else to tell.
    """

    parameters: Mapping[str, object] = field(default_factory=dict)
    seconds: float = 0.0
    run_id: int = 0
    seed: int | None = None
    scores: Sequence[FigureRow] = ()

    def rows(self) -> Iterable[FigureRow]:
        """Return the figures of the whole set."""
        return self.scores

    def item_rows(self) -> Iterable[FigureRow]:
        """Return the figures of single items that are recorded."""
        return ()

    def outputs(self) -> Iterable[OutputRow]:
        """Return the outputs of the systems."""
        return ()


Result = TypeVar("Result", bound=RunResult)


class Recorder:
    """Records a run of a command, timed from the construction of the recorder; 0 seconds if not ``timed``."""

    def __init__(self, store: Store, command: str, *, timed: bool = True) -> None:
        self._store, self._command, self._timed = store, command, timed
        self._clock = time.perf_counter()
        # UTC, without a time zone.
        self._date = datetime.now(UTC).replace(tzinfo=None)

    def record(self, result: Result, *, items: bool = True) -> Result:
        """Store a run in one transaction; return the result with its number and the seconds until now.

        Figures that are no numbers are left out.

        Args:
            result: the result of the run, whose parameters are values of JSON.
            items: whether to store figures and outputs of single items, too.
        """
        seconds = time.perf_counter() - self._clock if self._timed else 0.0
        rows = [*result.rows(), *(result.item_rows() if items else ())]
        # NaN is not equal to itself.
        finite = [row for row in rows if row.value == row.value]
        written = list(result.outputs()) if items else []
        with self._store.begin() as connection:
            number = next_id(connection, run_table)
            connection.execute(
                insert(run_table).values(
                    id=number,
                    command=self._command,
                    # Sorted, so that runs with the same parameters have the same text (see `published`).
                    parameters=json.dumps(dict(result.parameters), sort_keys=True),
                    seed=result.seed,
                    version=sentgen.__version__,
                    started_at=self._date,
                    seconds=seconds,
                )
            )
            append(connection, score_table.name, _table(number, FigureRow, finite))
            if written:
                append(connection, output_table.name, _table(number, OutputRow, written))
        return replace(result, run_id=number, seconds=seconds)


def _table(number: int, kind: type[FigureRow | OutputRow], rows: Sequence[tuple[object, ...]]) -> pa.Table:
    """Return rows with the number of their run."""
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(kind._fields)
    arrays = {
        name: pa.array(values, _KINDS.get(name, pa.string()))
        for name, values in zip(kind._fields, columns, strict=True)
    }
    return pa.table({"run_id": pa.array([number] * len(rows), pa.int32()), **arrays})


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
    times: Mapping[str, Measurement] = field(default_factory=dict)
    intervals: Mapping[str, Interval] = field(default_factory=dict)

    def value(self, metric: str) -> float:
        """Return a figure by its name."""
        return self.measurements[metric].value

    def with_ends(self, metric: str) -> tuple[float, float, float]:
        """Return a figure by its name, and the ends of its interval."""
        interval = self.intervals[metric]
        return self.value(metric), interval.low, interval.high

    def rows(self, measurements: Iterable[Measurement] | None = None) -> list[FigureRow]:
        """Return figures as rows of `score`: its own, if no others are given."""
        chosen = self.measurements.values() if measurements is None else measurements
        return [FigureRow(self.system, figure.metric, figure.value, figure.signature) for figure in chosen]

    def rows_with_intervals(self, seed: int) -> Iterator[FigureRow]:
        """Yield the figures as rows of `score`, each with the ends of its interval (``f1:low``)."""
        sampling = f"bs:{RESAMPLES}|level:{LEVEL}|seed:{seed}"
        for row in self.rows():
            yield row
            interval, signature = self.intervals[row.metric], f"{row.signature}|{sampling}"
            yield FigureRow(self.system, f"{row.metric}:low", interval.low, signature)
            yield FigureRow(self.system, f"{row.metric}:high", interval.high, signature)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentResult(RunResult, Generic[SystemT]):
    """A run of systems, with the figures of each; ``comparisons`` are by the figure ``main`` first."""

    main: ClassVar[MainFigure]
    systems: Sequence[SystemT]
    comparisons: Sequence[SystemComparison]
    seed: int

    @classmethod
    def from_systems(cls, systems: Sequence[SystemT], seed: int, **fields: Any) -> Self:
        """Return the result of systems that were measured, with intervals and comparisons by ``main``.

        The systems have no intervals yet; ``fields`` are further fields of the result, by name.
        """
        compared = compare_systems(systems, cls.main.metric, seed)
        return cls(systems=with_intervals(systems, seed), comparisons=compared, seed=seed, **fields)

    @property
    def ranked(self) -> list[SystemT]:
        """Return the systems, the highest main figure first; equals in the order of the run."""
        # Not `reverse`, which would turn equals around.
        return sorted(self.systems, key=lambda system: -system.value(self.main.metric))

    @property
    def signatures(self) -> dict[str, str]:
        """Return how each figure was computed, by its name; of the first system that has it."""
        signatures: dict[str, str] = {}
        for system in self.systems:
            for name, measurement in system.measurements.items():
                signatures.setdefault(name, measurement.signature)
        return signatures

    def rows(self) -> Iterator[FigureRow]:
        """Yield every figure of the whole set as a row of `score`."""
        for system in self.systems:
            yield from system.rows_with_intervals(self.seed)
        yield from self.comparison_rows()

    def comparison_rows(self) -> Iterator[FigureRow]:
        """Yield comparisons as rows of `score` of the system ``A vs B``, A the one with the lower figure."""
        sampled = "Collins et al. 2005, one sentence replaced at a time, exact binomial, two-sided"
        shuffled = f"approximate randomization, two-sided|shuffles:{SHUFFLES}|seed:{self.seed}"
        for comparison in self.comparisons:
            both = f"{comparison.worse} vs {comparison.better}"
            for name, value, signature in (
                ("difference", comparison.difference, f"{comparison.better} minus {comparison.worse}"),
                ("sign-test:pluses", comparison.pluses, sampled),
                ("sign-test:minuses", comparison.minuses, sampled),
                ("sign-test:equal", comparison.equal, sampled),
                ("sign-test:p", comparison.sign_p, sampled),
                ("randomization:p", comparison.shuffle_p, shuffled),
                ("randomization:p-holm", comparison.holm, f"{shuffled}|Holm over all pairs of the run"),
            ):
                yield FigureRow(both, f"{comparison.metric}:{name}", float(value), signature)

    def drawn(self, items: Sequence[int] | range, count: int) -> list[int]:
        """Return some items, drawn with the seed and without looking at answers, in their order."""
        order = np.random.default_rng(self.seed).permutation(np.array(items, np.int64))
        return sorted(order[:count].tolist())


def compare_systems(systems: Sequence[SystemT], metric: str, seed: int) -> list[SystemComparison]:
    """Compare all pairs of systems by a figure that all of them have."""
    return compare_all({system.system: system.measurements[metric] for system in systems}, seed=seed)


def with_intervals(systems: Sequence[SystemT], seed: int) -> list[SystemT]:
    """Return systems with the intervals of all their figures, over the same resampled test sets."""
    # All systems in one call, which share the samples.
    ready = iter(
        intervals(
            [measurement for system in systems for measurement in system.measurements.values()], seed=seed
        )
    )
    return [
        replace(system, intervals={name: next(ready) for name in system.measurements}) for system in systems
    ]
