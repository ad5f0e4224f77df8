"""What stands in the windows of a node, counted in arrays, and how often it occurs in all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from sqlalchemy import Connection

from sentgen.arrays import Bools, Ints, Longs
from sentgen.lookups.attributes import COLUMNS
from sentgen.lookups.concordances.hits import Query
from sentgen.lookups.parts_of_speech import has_pos
from sentgen.lookups.search.conditions import among
from sentgen.lookups.search.hits import BlockHits
from sentgen.lookups.search.tokens import NONE, kept_arrays, places
from sentgen.lookups.selection import Selection
from sentgen.lookups.statement import Bindings, Statement, where
from sentgen.lookups.statistics.frequencies import By, count_items
from sentgen.lookups.statistics.row_sums import RowSums, each_once
from sentgen.lookups.windows import Window

if TYPE_CHECKING:
    import pyarrow as pa

#: Of one token in more than so many, all of a block are looked through for windows.
_FEW = 16

_TAGS = "select t.upos_id from (select id as upos_id, id as xpos_id from tag) as t{conditions}"
_OF_POS = """\
select t.{column} as id, count(*) as count
from token as t{conditions}
group by t.{column}"""


def window_counts(
    connection: Connection,
    node: Query,
    window: Window,
    column: str,
    selection: Selection,
    pos: Sequence[str],
    spelling: str,
) -> pa.Table:
    """Return what stands in windows, by number: ``o11``, how often, and ``c1``, how often in all.

    The row without a number has the tokens that are no collocates, and under ``nodes`` the number of nodes.

    Args:
        connection: the store.
        node: the node.
        window: tokens before and after it.
        column: column of `token` with the numbers.
        selection: the corpora.
        pos: patterns of parts of speech, one of which a collocate has; none for all.
        spelling: the query for the number that stands for each; empty where it is itself.
    """
    import pyarrow as pa

    tags, counts, nodes = _tags(connection, pos), RowSums(1), 0
    for hits in node.find(connection):
        nodes += len(hits)
        at = _beside(hits, window)
        asked = selection if node.across and selection.condition is not None else Selection(())
        chosen = hits.block.chosen(asked)
        at = at if chosen is None else at[chosen[at]]
        ids: Longs = hits.block.column(column)[at].astype(np.int64)
        if tags is not None:
            ids = np.where(_has(hits, at, tags), ids, NONE)
        counts.add([ids])
    (ids,), together, _ = counts.all()
    some, others = ids != NONE, int(together[ids == NONE].sum())
    ids, together = ids[some], together[some]
    alone = _alone(connection, column, selection, pos)
    if spelling:
        same = _dense(connection, Statement(spelling), keep=True)
        alone = np.bincount(same[: len(alone)], alone, len(same)).astype(np.int64)
        summed = np.bincount(same[ids], together, len(same)).astype(np.int64)
        ids = np.flatnonzero(summed)
        together = summed[ids]
    return pa.table(
        {
            "id": pa.array([*ids.tolist(), None], pa.int64()),
            "o11": pa.array(np.append(together, others)),
            "c1": pa.array(np.append(alone[ids], 0)),
            "nodes": pa.array(np.append(np.zeros(len(ids), np.int64), nodes)),
        }
    )


def _beside(hits: BlockHits, window: Window) -> Longs:
    """Return the tokens in the windows of hits, each once: those of a hit that are beside another, too."""
    begin, end = hits.block.unit_ends(hits.first)
    low = np.concatenate([np.maximum(hits.first - window.left, begin), hits.last + 1])
    behind = np.concatenate([hits.first, np.minimum(hits.last + window.right, end) + 1])
    size = hits.block.size
    if int((behind - low).sum()) * _FEW < size:
        return each_once(places(low, behind - low))
    edges = np.bincount(low, minlength=size + 1) - np.bincount(behind, minlength=size + 1)
    found: Longs = np.flatnonzero(np.cumsum(edges))
    return found


def _has(hits: BlockHits, at: Longs, tags: Ints) -> Bools:
    """Return which tokens have one of some tags, universal or of the treebank."""
    upos, xpos = (hits.block.column(column)[at] for column in ("upos_id", "xpos_id"))
    return among(upos, tags) | among(xpos, tags)


def _tags(connection: Connection, pos: Sequence[str]) -> Ints | None:
    """Return the numbers of the tags that patterns mean, ascending; none for all."""
    bindings = Bindings()
    wanted = has_pos("t", pos, bindings)
    if not wanted:
        return None
    found = Statement(_TAGS.format(conditions=where(wanted)), bindings).run(connection)
    return np.sort(found.column(0).to_numpy().astype(np.int32))


def _alone(connection: Connection, column: str, selection: Selection, pos: Sequence[str]) -> Longs:
    """Return how often each number occurs in all."""
    bindings = Bindings()
    if wanted := has_pos("t", pos, bindings):
        conditions = [f"t.{column} is not null", *wanted, *selection.of_tokens(bindings, "t")]
        text = _OF_POS.format(column=column, conditions=where(conditions))
    else:
        by = next(one for one in (By.WORD, By.LEMMA) if COLUMNS[one][0] == column)
        text = count_items(by, selection, bindings)
    return _dense(connection, Statement(text, bindings), keep=selection.condition is None)


def _dense(connection: Connection, query: Statement, *, keep: bool) -> Longs:
    """Return the second column of a query by the numbers of its first one, 0 for others.

    Args:
        connection: the store.
        query: the query.
        keep: whether it is asked once of a store that nobody can change.
    """
    known, key = kept_arrays(connection), (_dense, query.filled())
    found = known.find(key)
    if found is not None:
        return found
    ids, values = (column.to_numpy() for column in query.run(connection).columns)
    dense = np.zeros(int(ids.max(initial=0)) + 1, np.int64)
    dense[ids] = values
    return known.keep(key, dense) if keep else dense
