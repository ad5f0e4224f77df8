"""Several back-off models side by side, as one set of arrays that a compiled search can take apart again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from sentgen.arrays import Floats, Ints, Longs, compiled
from sentgen.models.ngrams.ngram_table import NgramTable, start_state

Column = TypeVar("Column", Floats, Ints, Longs)


class NgramTables(NamedTuple):
    """The arrays of M models, one model after the other (see `NgramTable`)."""

    keys: Longs
    values: Ints
    logp: Floats
    backoff: Floats
    suffix: Ints
    state: Ints
    slots: Longs  # (M + 1,) model m has the slots slots[m] to slots[m + 1] - 1
    rows: Longs  # (M + 1,) and the rows rows[m] to rows[m + 1] - 1, which are counted from 0 in its arrays
    bits: Longs  # (M,)
    start: Ints  # (M,) state at the beginning of a sentence


def side_by_side(tables: Sequence[NgramTable]) -> NgramTables:
    """Return the arrays of some models, one or more, together; those of a single one are not copied."""

    def together(columns: Sequence[Column]) -> Column:
        return columns[0] if len(columns) == 1 else np.concatenate(columns)

    return NgramTables(
        keys=together([table.keys for table in tables]),
        values=together([table.values for table in tables]),
        logp=together([table.logp for table in tables]),
        backoff=together([table.backoff for table in tables]),
        suffix=together([table.suffix for table in tables]),
        state=together([table.state for table in tables]),
        slots=np.cumsum([0, *(len(table.keys) for table in tables)]),
        rows=np.cumsum([0, *(len(table.logp) for table in tables)]),
        bits=np.array([table.bits for table in tables], np.int64),
        start=np.array([start_state(table) for table in tables], np.int32),
    )


@compiled
def table_at(tables: NgramTables, model: int) -> NgramTable:
    """Return one of the models."""
    slot, last_slot = tables.slots[model], tables.slots[model + 1]
    row, last_row = tables.rows[model], tables.rows[model + 1]
    return NgramTable(
        tables.keys[slot:last_slot],
        tables.values[slot:last_slot],
        tables.logp[row:last_row],
        tables.backoff[row:last_row],
        tables.suffix[row:last_row],
        tables.state[row:last_row],
        int(tables.bits[model]),
    )
