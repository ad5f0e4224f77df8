"""What governs a node and what it governs, counted in arrays, and how often it does so in all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from sqlalchemy import Connection

from sentgen.arrays import Bools, Longs
from sentgen.lookups.concordances.hits import Query
from sentgen.lookups.search.conditions import among
from sentgen.lookups.search.hits import BlockHits
from sentgen.lookups.search.tokens import NONE, Block, Part, Tokens, kept_arrays
from sentgen.lookups.selection import Selection
from sentgen.lookups.statement import Statement
from sentgen.lookups.statistics.arcs import ROLES, ArcSearch, Prepositions
from sentgen.lookups.statistics.collocate_numbers import CollocateNumbers, numbers_of
from sentgen.lookups.statistics.row_sums import RowSums, begins_of
from sentgen.schema.engine import kept

if TYPE_CHECKING:
    import pyarrow as pa

#: Of one hit in more than so many tokens, only the sentences with hits are looked at.
_FEW = 64
#: Numbers of words, tags and prepositions have less bits.
_BITS = 31
_LOW = (1 << _BITS) - 1


def arc_counts(
    connection: Connection,
    node: Query,
    relations: Statement,
    column: str,
    selection: Selection,
    pos: Sequence[str],
    min_count: int,
    *,
    prepositions: bool,
) -> pa.Table:
    """Return what governs a node and what it governs, each with its table of frequencies.

    Args:
        connection: the store.
        node: the node, of which each hit is one token.
        relations: the query for the numbers of the relations.
        column: column of `token` with the numbers of collocates.
        selection: the corpora.
        pos: patterns of parts of speech, one of which a collocate has; none for all.
        min_count: omit what stands with the node less often.
        prepositions: whether links by a preposition are counted, too.
    """
    import pyarrow as pa

    known = kept(connection).setdefault(Prepositions, Prepositions()) if prepositions else None
    search = ArcSearch(connection, selection, relations, known)
    numbers = CollocateNumbers(connection, column, selection, pos)
    asked = (relations.filled(), prepositions, column, *pos, selection.names, selection.ignore_case)
    kinds, ids, counts = _every(connection, search, numbers, asked, keep=selection.condition is None)
    here, others, together = _counted(search, numbers, map(_around, node.find(connection)))
    begins = np.flatnonzero(begins_of([here]))
    ends = np.searchsorted(here, here[begins], "right")
    low, high = (np.searchsorted(kinds, here[begins], side) for side in ("left", "right"))
    with_node, every, alone = np.zeros((3, len(here)))
    for begin, end, first, behind in zip(*(one.tolist() for one in (begins, ends, low, high)), strict=True):
        with_node[begin:end] = together[begin:end].sum()
        every[begin:end] = counts[first:behind].sum()
        found = np.searchsorted(ids[first:behind], others[begin:end])
        alone[begin:end] = counts[first:behind][found]
    some = np.flatnonzero((together >= min_count) & (others != NONE))
    texts = ["", *known.texts] if known else [""]
    return pa.table(
        {
            "deprel_id": here[some] >> _BITS & _LOW,
            "role": pa.array(ROLES).take(pa.array(here[some] >> 2 * _BITS)),
            "preposition": pa.array(texts).take(pa.array(here[some] & _LOW)),
            "id": others[some],
            "o11": together[some].astype(float),
            "r1": with_node[some],
            "c1": alone[some],
            "n": every[some],
            "f": with_node[some],
        }
    )


def class_pairs(
    connection: Connection,
    selection: Selection,
    relations: Statement,
    column: str,
    tags: tuple[str, Statement] | None,
) -> pa.Table:
    """Return how often words of a class are governed by others, and govern them, by relation.

    Args:
        connection: the store.
        selection: the corpora.
        relations: the query for the numbers of the relations.
        column: column of `token` with the numbers of words.
        tags: column and numbers of the tags of the class; none for all words.
    """
    import pyarrow as pa

    search, sums = ArcSearch(connection, selection, relations), RowSums(4)
    for block in Tokens(connection).blocks():
        arcs, items = search.find(block), block.column(column)
        of_class = items != NONE
        if tags is not None:
            of_class &= among(block.column(tags[0]), numbers_of(connection, tags[1]))
            if tags[0] == "xpos_id":
                of_class &= block.column("upos_id") == NONE
        for role, (others, these) in enumerate((arcs.ends, arcs.ends[::-1])):
            some = of_class[these] & (items[others] != NONE)
            ids = (items[these[some]], arcs.relations[some], items[others[some]])
            sums.add([np.full(len(ids[0]), role), *ids])
    (roles, ids, deprels, others), counts, _ = sums.all()
    role = pa.array(ROLES).take(pa.array(roles))
    return pa.table({"item": ids, "deprel_id": deprels, "role": role, "other": others, "count": counts})


def _every(
    connection: Connection, search: ArcSearch, numbers: CollocateNumbers, asked: object, *, keep: bool
) -> Longs:
    """Return the counts of all arcs; they are kept of a store that nobody can change."""
    known, key = kept_arrays(connection), (_every, asked)
    found = known.find(key) if keep else None
    if found is None:
        found = _counted(search, numbers, ((block, None) for block in Tokens(connection).blocks()))
        if keep:
            known.keep(key, found)
    return found


def _around(hits: BlockHits) -> tuple[Block, Bools]:
    """Return a block with the hits, of few hits one of their sentences alone, and which tokens are hits."""
    block, at = hits.block, hits.first
    if len(at) * _FEW < block.size and not isinstance(block, Part):
        (part,) = block.some(block.units_of(at), block.size)
        block, at = part, part.find(block.numbers(at))
    are_hits = np.zeros(block.size, bool)
    are_hits[at] = True
    return block, are_hits


def _counted(
    search: ArcSearch, numbers: CollocateNumbers, blocks: Iterable[tuple[Block, Bools | None]]
) -> Longs:
    """Return how often collocates are in each role with a relation and a preposition.

    Args:
        search: for the arcs.
        numbers: what tokens are as collocates.
        blocks: each with its tokens that are the node, or none if all arcs count.

    Returns:
        Three rows: these three packed into a number, the collocate and the count; by both of them ascending.
    """
    sums = [RowSums(3) for _ in ROLES]
    for block, node in blocks:
        arcs = search.find(block)
        for role, these, others in zip(sums, arcs.ends, arcs.ends[::-1], strict=True):
            some = slice(None) if node is None else node[others]
            ids = numbers.find(block, these[some])
            role.add([arcs.relations[some], arcs.prepositions[some], ids])
    rows = []
    for number, role in enumerate(sums):
        (relations, prepositions, ids), counts, _ = role.all()
        kinds = number << 2 * _BITS | relations.astype(np.int64) << _BITS | prepositions - NONE
        rows.append(np.stack([kinds, ids, counts]))
    return np.concatenate(rows, axis=1)
