"""The figures of the papers, as rows of the store beside those of our own runs."""

from __future__ import annotations

import json
from dataclasses import dataclass

from sqlalchemy import select

from sentgen.evaluation.figures.measurement import Score
from sentgen.evaluation.figures.record import FigureRow, RunResult, Start, recorded
from sentgen.schema import Store
from sentgen.schema.tables.runs import run

METRIC = "bleu"
_DATA = "PTB WSJ 02-22 -> 23"


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """A column of a table: BLEU, 0 to 100, of each algorithm under the name that it has here.

    ``data`` says what was trained and tested on; the papers do not say how BLEU was tokenized and cased.
    """

    paper: str
    citation: str
    data: str
    bleu: dict[str, float]

    @property
    def signature(self) -> str:
        """Return where the figures come from."""
        return f"{self.citation}; {self.data}; tokenization and case not stated"


#: The paper prints fractions, such as 0.307; they are given as 30.7 here.
WAN_2007 = PublishedTable(
    "wan2007",
    "Wan et al. 2007, figure 4",
    f"{_DATA}, base NPs kept (viterbi: words), PTB LM",
    {"prim": 29.6, "prim-ngram": 30.7, "prim-arg": 30.0, "greedy": 27.9, "viterbi": 10.7},
)
WAN_2009_PTB = PublishedTable(
    "wan2009",
    "Wan et al. 2009, table 2, PTB-LM",
    f"{_DATA}, base NPs kept (viterbi: words), PTB LM",
    {"viterbi": 14.9, "lmo": 24.3, "cle": 26.4, "ab": 33.6},
)
WAN_2009_BLLIP = PublishedTable(
    "wan2009",
    "Wan et al. 2009, table 2, BLLIP-LM",
    f"{_DATA}, base NPs kept (viterbi: words), BLLIP LM of 20M words",
    {"viterbi": 18.0, "lmo": 26.0, "cle": 26.8, "ab": 33.7},
)
TABLES = (WAN_2007, WAN_2009_PTB, WAN_2009_BLLIP)


def record_published(store: Store) -> list[int]:
    """Write each table as a run named `published`, unless the store has it; return the numbers of the runs.

    A table is known by its parameters (paper, citation, data). Its run has no seed and took no time.
    """
    return [_number_of(store, table) or _record(store, table) for table in TABLES]


def _parameters(table: PublishedTable) -> dict[str, object]:
    return {"paper": table.paper, "citation": table.citation, "data": table.data}


def _number_of(store: Store, table: PublishedTable) -> int | None:
    """Return the number of the run that holds the table."""
    # As `recorded` writes them.
    parameters = json.dumps(_parameters(table), sort_keys=True)
    query = select(run.c.id).where(run.c.command == "published", run.c.parameters == parameters)
    with store.connect() as connection:
        found: int | None = connection.execute(query.order_by(run.c.id)).scalars().first()
    return found


def _record(store: Store, table: PublishedTable) -> int:
    rows = [FigureRow(name, Score(METRIC, value, table.signature)) for name, value in table.bleu.items()]
    result = RunResult(parameters=_parameters(table))
    return recorded(store, "published", result, started=Start(), scores=rows).run_id
