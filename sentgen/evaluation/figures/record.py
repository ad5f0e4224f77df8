"""Runs in the store: what ran, every figure, every sentence; all of a run or nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import pyarrow as pa
from sqlalchemy import insert

import sentgen
from sentgen.evaluation.figures.measurement import Score
from sentgen.schema import Store
from sentgen.schema.runs import output as output_table
from sentgen.schema.runs import run as run_table
from sentgen.schema.runs import score as score_table
from sentgen.schema.store import append, next_id


@dataclass(frozen=True, slots=True)
class Row:
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


def add_run(
    store: Store,
    command: str,
    parameters: Mapping[str, object],
    *,
    started: datetime,
    seconds: float = 0.0,
    seed: int | None = None,
    scores: Sequence[Row] = (),
    outputs: Sequence[OutputRow] = (),
) -> int:
    """Store a run with its figures and sentences in one transaction; return its number.

    Args:
        store: not read-only.
        command: what ran.
        parameters: what JSON can hold.
        started: UTC, without a time zone.
        seconds: how long it took.
        seed: of its random numbers, if it used any.
        scores: the figures; those that are no numbers are left out.
        outputs: the sentences.
    """
    finite = [row for row in scores if row.score.value == row.score.value]
    with store.begin() as connection:
        number = next_id(connection, run_table)
        connection.execute(
            insert(run_table).values(
                id=number,
                command=command,
                parameters=json.dumps(dict(parameters), sort_keys=True),
                seed=seed,
                version=sentgen.__version__,
                started_at=started,
                seconds=seconds,
            )
        )
        append(connection, score_table.name, _score_rows(number, finite))
        if outputs:
            append(connection, output_table.name, _output_rows(number, outputs))
    return number


def _score_rows(number: int, rows: Sequence[Row]) -> pa.Table:
    return pa.table(
        {
            "run_id": pa.array([number] * len(rows), pa.int32()),
            "system": pa.array([row.system for row in rows], pa.string()),
            "item": pa.array([row.item for row in rows], pa.int32()),
            "metric": pa.array([row.score.metric for row in rows], pa.string()),
            "value": pa.array([row.score.value for row in rows], pa.float64()),
            "signature": pa.array([row.score.signature for row in rows], pa.string()),
        }
    )


def _output_rows(number: int, rows: Sequence[OutputRow]) -> pa.Table:
    return pa.table(
        {
            "run_id": pa.array([number] * len(rows), pa.int32()),
            "system": pa.array([row.system for row in rows], pa.string()),
            "item": pa.array([row.item for row in rows], pa.int32()),
            "input": pa.array([row.given for row in rows], pa.string()),
            "output": pa.array([row.output for row in rows], pa.string()),
            "reference": pa.array([row.reference for row in rows], pa.string()),
        }
    )
