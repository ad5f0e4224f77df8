"""The figures of papers, as rows of the store beside those of our own runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import select

from sentgen.evaluation.figures.results import FigureRow, Recorder, RunResult
from sentgen.schema import Store
from sentgen.schema.tables.runs import run


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """A column of a table: the figure of each system under the name that it has here.

    ``data`` says what was trained and tested on, ``reading`` what the paper leaves open. ``significant`` are
    the pairs, the lower one first, of whose difference the paper says how sure it is, in its words.
    """

    paper: str
    citation: str
    data: str
    figures: Mapping[str, float]
    metric: str = "bleu"
    reading: str = "tokenization and case not stated"
    significant: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @property
    def signature(self) -> str:
        """Return where the figures come from."""
        return "; ".join(part for part in (self.citation, self.data, self.reading) if part)

    def difference(self, worse: str, better: str) -> float:
        """Return how far one system is above another in the paper; below it is negative."""
        # Decimal fractions of a page: 30.7 - 29.6 is 1.1.
        return round(self.figures[better] - self.figures[worse], 6)

    def significance(self, system: str, other: str) -> str:
        """Return what the paper says of the difference of two systems, nothing if it says nothing."""
        return self.significant.get((system, other)) or self.significant.get((other, system), "")


def record_published(store: Store, tables: Sequence[PublishedTable]) -> list[int]:
    """Write each table as a run named `published`, unless the store has it; return the numbers of the runs.

    A table is known by its parameters (paper, citation, data). Its run has no seed and took no time.
    """
    return [_number_of(store, table) or _record(store, table) for table in tables]


def _parameters(table: PublishedTable) -> dict[str, object]:
    return {"paper": table.paper, "citation": table.citation, "data": table.data}


def _number_of(store: Store, table: PublishedTable) -> int | None:
    """Return the number of the run that holds the table."""
    # As `Recorder` writes them.
    parameters = json.dumps(_parameters(table), sort_keys=True)
    query = select(run.c.id).where(run.c.command == "published", run.c.parameters == parameters)
    with store.connect() as connection:
        found: int | None = connection.execute(query.order_by(run.c.id)).scalars().first()
    return found


def _record(store: Store, table: PublishedTable) -> int:
    rows = [FigureRow(name, table.metric, value, table.signature) for name, value in table.figures.items()]
    result = RunResult(parameters=_parameters(table), scores=rows)
    return Recorder(store, "published", timed=False).record(result).run_id
