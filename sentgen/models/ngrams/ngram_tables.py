"""Several back-off models side by side, as one set of arrays that a compiled search can take apart again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from sentgen.arrays import Floats, Ints, Longs, compiled
from sentgen.models.ngrams.ngram_table import NgramTable, columns_of_rows, start_state


class NgramTables(NamedTuple):
    """The arrays of M models, one model after the other (see `NgramTable`)."""

    slots: Longs
    prefix: Ints
    word: Ints
    logp: Floats
    backoff: Floats
    suffix: Ints
    state: Ints
    first_slot: Longs  # (M + 1,) model m has the slots first_slot[m] to first_slot[m + 1] - 1
    first_row: Longs  # (M + 1,) and the rows first_row[m] to first_row[m + 1] - 1, counted from 0 there
    bits: Longs  # (M,)
    start: Ints  # (M,) state at the beginning of a sentence


def side_by_side(tables: Sequence[NgramTable]) -> NgramTables:
    """Return the arrays of some models, one or more, together; those of a single one are not copied."""
    first_slot = np.cumsum([0, *(len(table.slots) for table in tables)])
    first_row = np.cumsum([0, *(len(table.logp) for table in tables)])
    slots, *columns, _ = cast(list[Any], tables[0])
    if len(tables) > 1:
        slots, *others = (np.concatenate(parts) for parts in list(zip(*tables, strict=True))[:-1])
        columns = [*columns_of_rows(first_row[-1])]
        for column, other in zip(columns, others, strict=True):
            column[:] = other
    bits = np.array([table.bits for table in tables], np.int64)
    start = np.array([start_state(table) for table in tables], np.int32)
    return NgramTables._make([slots, *columns, first_slot, first_row, bits, start])


@compiled
def table_at(tables: NgramTables, model: int) -> NgramTable:
    """Return one of the models."""
    slot, last_slot = tables.first_slot[model], tables.first_slot[model + 1]
    row, last_row = tables.first_row[model], tables.first_row[model + 1]
    return NgramTable(
        tables.slots[slot:last_slot],
        tables.prefix[row:last_row],
        tables.word[row:last_row],
        tables.logp[row:last_row],
        tables.backoff[row:last_row],
        tables.suffix[row:last_row],
        tables.state[row:last_row],
        int(tables.bits[model]),
    )
