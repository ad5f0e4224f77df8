"""Runs in the store: what ran, every figure, every sentence; all of a run or nothing."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from operator import attrgetter
from typing import TypeVar

import pyarrow as pa
from sqlalchemy import insert

import sentgen
from sentgen.evaluation.figures.measurement import Score
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
