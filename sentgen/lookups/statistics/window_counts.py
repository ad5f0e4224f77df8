"""What stands in the windows of a node, counted in arrays, and how often it occurs in all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from sqlalchemy import Connection

from sentgen.arrays import Longs
from sentgen.lookups.base.statement import Bindings, Statement, where
from sentgen.lookups.base.tokens import NONE, places
from sentgen.lookups.question.patterns import has_pos
from sentgen.lookups.question.selection import Selection
from sentgen.lookups.search.filters import Window
from sentgen.lookups.search.hits import BlockHits
from sentgen.lookups.search.number_sets import unique
from sentgen.lookups.statistics.collocate_numbers import CollocateNumbers
from sentgen.lookups.statistics.listed import dense, item_counts
from sentgen.lookups.statistics.row_sums import RowSums
from sentgen.schema.engine import kept

if TYPE_CHECKING:
    import pyarrow as pa

    from sentgen.lookups.statistics.collocation_statements import WindowStatements

#: Of one token in more than so many, all of a block are looked through for windows.
_FEW = 16

_OF_POS = """\
select t.{column} as id, count(*) as count
from token as t{conditions}
group by t.{column}"""
_TOKENS = "select count(*) from token{corpora}"


def window_counts(connection: Connection, asked: WindowStatements, min_count: int) -> pa.Table:
    """Return what stands in windows as rows of ``pair``; what stands there less often is left out."""
    import pyarrow as pa

    node, selection = asked.node, asked.selection
    numbers = CollocateNumbers(connection, asked.column, selection, asked.pos)
    counts, nodes = RowSums(1), 0
    for hits in node.find(connection):
        nodes += len(hits)
        at = _beside(hits, asked.window)
        if node.across and (chosen := hits.block.chosen(selection)) is not None:
            at = at[chosen[at]]
        counts.add([numbers.find(hits.block, at)])
    (ids,), together, _ = counts.all()
    some = (ids != NONE) & (together >= min_count)
    alone = _alone(connection, numbers, selection, asked.pos)
    counts_of = {
        "o11": together[some],
        "r1": together.sum(),
        "c1": alone[ids[some]],
        "n": _size(connection, selection),
        "f": nodes,
    }
    columns = {name: np.broadcast_to(one, some.sum()).astype(float) for name, one in counts_of.items()}
    return pa.table({"id": ids[some], **columns})


def _beside(hits: BlockHits, window: Window) -> Longs:
    """Return the tokens in the windows of hits, each once: those of a hit that are beside another, too."""
    begin, end = hits.block.unit_ends(hits.first)
    low = np.concatenate([np.maximum(hits.first - window.left, begin), hits.last + 1])
    behind = np.concatenate([hits.first, np.minimum(hits.last + window.right, end) + 1])
    size = hits.block.size
    if int((behind - low).sum()) * _FEW < size:
        return unique(places(low, behind - low))
    edges = np.bincount(low, minlength=size + 1) - np.bincount(behind, minlength=size + 1)
    found: Longs = np.flatnonzero(np.cumsum(edges))
    return found


def _alone(
    connection: Connection, numbers: CollocateNumbers, selection: Selection, pos: Sequence[str]
) -> Longs:
    """Return how often each number occurs in all."""
    if wanted := has_pos("t", pos, bindings := Bindings()):
        conditions = [f"t.{numbers.column} is not null", *wanted, *selection.of_tokens(bindings, "t")]
        text = _OF_POS.format(column=numbers.column, conditions=where(conditions))
        found = dense(connection, Statement(text, bindings), keep=selection.condition is None)
    else:
        found = item_counts(connection, numbers.column, selection)
    if numbers.same is None:
        return found
    return np.bincount(numbers.same[: len(found)], found, len(numbers.same)).astype(np.int64)


def _size(connection: Connection, selection: Selection) -> int:
    """Return the number of all tokens."""
    bindings = Bindings()
    query = Statement(_TOKENS.format(corpora=where(selection.of_tokens(bindings))), bindings)
    known = kept(connection) if selection.condition is None else {}
    key = (_size, query.with_values())
    if key not in known:
        known[key] = query.value(connection)
    return int(known[key])
