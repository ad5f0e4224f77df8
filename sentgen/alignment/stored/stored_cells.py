"""The rewrite tables of alignment models: stored after each iteration, fetched whole or in part."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from sqlalchemy import Connection, delete

from sentgen.alignment.stored.cells import RewriteCells, fake_counts
from sentgen.alignment.stored.model_store import DIRECTIONS, AlignmentModelInfo, iterations_done
from sentgen.arrays import Longs
from sentgen.errors import StoreError
from sentgen.schema.engine import arrow_reader, one_number, register_arrow
from sentgen.schema.store import append, raw
from sentgen.schema.tables import alignment as tables
from sentgen.space import Space

#: Layers of a model: the table of words and phrases, and that of stems.
LAYERS = ("words", "stems")
_CHUNK = 1 << 19


def save_cells(
    connection: Connection,
    model: AlignmentModelInfo,
    direction: str,
    layer: str,
    iteration: int,
    cells: RewriteCells,
) -> None:
    """Store a rewrite table after an iteration, beside that of the one before."""
    same = {
        "model_id": pa.scalar(model.id, pa.int32()),
        "reverse": pa.scalar(direction == DIRECTIONS[1]),
        "stems": pa.scalar(layer == LAYERS[1]),
        "iteration": pa.scalar(iteration, pa.int16()),
    }
    # A statement a chunk: DuckDB holds more of a stream than of a table.
    for begin in range(0, cells.size, _CHUNK):
        end = min(begin + _CHUNK, cells.size)
        row = np.searchsorted(cells.starts, np.arange(begin, end), side="right") - 1
        columns = {name: pa.repeat(value, end - begin) for name, value in same.items()} | {
            "source": pa.array(cells.rows[row]),
            "target": pa.array(cells.columns[cells.targets[begin:end]]),
            "kind": pa.array(cells.kinds[begin:end].astype(np.int16)),
            "prob": pa.array(cells.prob[begin:end]),
        }
        append(connection, tables.alignment_rewrite.name, pa.table(columns))
        cells.relax()


def forget_older(connection: Connection, model: AlignmentModelInfo, direction: str, newest: int) -> None:
    """Remove the rewrite tables of other iterations."""
    columns = tables.alignment_rewrite.c
    connection.execute(
        delete(tables.alignment_rewrite).where(
            columns.model_id == model.id,
            columns.reverse == (direction == DIRECTIONS[1]),
            columns.iteration != newest,
        )
    )


def load_cells(
    connection: Connection,
    model: AlignmentModelInfo,
    direction: str,
    layer: str,
    *,
    space: Space | None = None,
    sources: Longs | None = None,
    targets: Longs | None = None,
) -> RewriteCells:
    """Return the newest rewrite table of a layer: all of it, or the cells of some sources and targets.

    The keys of sources and targets are sorted. The arrays are made in ``space``, or in memory.
    """
    number = iterations_done(connection, model, direction)
    duck = raw(connection)
    rows = """
        from alignment_rewrite
        where model_id = ?
            and reverse = ?
            and stems = ?
            and iteration = ?
    """
    given = [model.id, direction == DIRECTIONS[1], layer == LAYERS[1], number]
    wanted = {}
    for column, keys in (("source", sources), ("target", targets)):
        if keys is not None:
            wanted[f"_{column}s"] = pa.table({"key": pa.array(keys, pa.int64())})
            rows += f" and {column} in (select key from _{column}s)"
    with register_arrow(duck, **wanted):
        size = one_number(duck, f"select count(*) {rows}", given)
        # Keys that the table does not have are columns without cells, and do no harm.
        columns = targets
        if columns is None:
            every = duck.execute(f"select distinct target {rows} order by target", given)
            columns = every.fetchnumpy()["target"]
        fake = fake_counts(model.settings.prior, stems=layer == LAYERS[1])
        into = RewriteCells.of_size(np.empty(0, np.int64), np.zeros(1, np.int64), columns, size, fake, space)
        # All rows come in the order in which they were stored; a join with many keys gives them in any order.
        order = "" if sources is None and targets is None else "order by source, target"
        if len(into.targets):
            _fill(into, arrow_reader(duck, f"select source, target, kind, prob {rows} {order}", given))
    return into


def _fill(into: RewriteCells, batches: Iterator[pa.RecordBatch]) -> None:
    """Write batches of sorted rows into the arrays of a table."""
    keys: list[Longs] = []
    firsts: list[Longs] = []
    offset, last = 0, None
    for batch in batches:
        source = batch.column("source").to_numpy()
        # A row may go on from the batch before.
        new = np.append(last is None or source[0] != last, source[1:] != source[:-1])
        keys.append(source[new])
        firsts.append(np.flatnonzero(new) + offset)
        end = offset + len(source)
        into.targets[offset:end] = np.searchsorted(into.columns, batch.column("target").to_numpy())
        into.kinds[offset:end] = batch.column("kind").to_numpy()
        into.prob[offset:end] = batch.column("prob").to_numpy()
        offset, last = end, source[-1]
    into.rows = np.concatenate(keys)
    into.starts = np.append(np.concatenate(firsts), offset)
    # Rows that are out of order would be looked for in vain, without an error.
    if (into.rows[1:] <= into.rows[:-1]).any():
        raise StoreError("the rewrite table is out of order; train the alignment model again")
