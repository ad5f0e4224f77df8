"""The parts of what is asked about over which a dispersion is: documents, or regions of a kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sqlalchemy import Connection

from sentgen.arrays import Longs
from sentgen.lookups.base.regions import innermost, pieces_of
from sentgen.lookups.base.statement import Bindings, Statement, where
from sentgen.lookups.base.tokens import NONE, Block
from sentgen.lookups.question.selection import Selection
from sentgen.lookups.search.attributes import computed_attribute
from sentgen.lookups.statistics.breakdown import Breakdown
from sentgen.schema.engine import kept

#: One token in so many is many of a block.
_MANY = 16

_DOCUMENTS = """\
select s.document_id as part_id, sum(s.length)::bigint as size
from sentence as s{conditions}
group by s.document_id
order by s.document_id"""
_REGIONS = """\
select part_id::varchar as part_id, sum(length)::bigint as size
from (select {part_id} as part_id, length from ({pieces}) as h) as p
group by p.part_id
order by p.part_id"""


@dataclass(frozen=True, slots=True)
class Parts:
    """Some parts.

    Args:
        sizes: how many tokens each of them has.
        places: says in which of them tokens of a block are.
        documents: the numbers of the documents that the parts are; none if they are regions.
    """

    sizes: Longs
    places: Callable[[Block, Longs], Longs]
    documents: Longs | None = None

    @property
    def tokens(self) -> int:
        """All tokens of the parts."""
        return int(self.sizes.sum())


def documents_of(connection: Connection, selection: Selection) -> Parts:
    """Return the documents of a selection; of a store that nobody can change, they are looked up once."""
    known, key = kept(connection), (documents_of, selection.names)
    if selection.condition is None and key in known:
        found: Parts = known[key]
        return found
    bindings = Bindings()
    conditions = where(selection.of_sentences(bindings, "s"))
    table = Statement(_DOCUMENTS.format(conditions=conditions), bindings).run(connection)
    documents, sizes = (column.to_numpy().astype(np.int64) for column in table.columns)

    place = np.zeros(int(documents.max(initial=0)) + 1, np.int64)
    place[documents] = np.arange(len(documents))

    def places(block: Block, at: Longs) -> Longs:
        _, begins, _, of_sentences = block.sentences()
        if len(at) * _MANY < len(begins):
            few: Longs = place[of_sentences[block.sentence_of(at)]]
            return few
        rows = np.flatnonzero(np.diff(of_sentences, prepend=NONE))
        # Those of other corpora are not asked for.
        found, firsts = np.take(place, of_sentences[rows], mode="clip"), begins[rows]
        if len(at) * _MANY < block.size:
            at = np.searchsorted(firsts, at, "right") - 1
        else:
            # One pass over all tokens takes less than so many searches.
            found = np.repeat(found, np.diff(firsts, append=block.size))
        every: Longs = found[at]
        return every

    parts = Parts(sizes, places, documents)
    if selection.condition is None:
        known[key] = parts
    return parts


def regions_of(by: Breakdown) -> Parts:
    """Return the innermost regions of the kinds of a breakdown, and as one part more what is in none."""
    import pyarrow.compute as pc

    bindings = Bindings()
    pieces = pieces_of(by.parts, bindings, where(by.selection.of_sentences(bindings, "s"), "    "))
    text = _REGIONS.format(part_id=innermost(by.parts, "h", "position", bindings), pieces=pieces)
    table = Statement(text, bindings).run(by.there.connection)
    names = table.column(0).combine_chunks()
    conditions = by.conditions(Bindings())
    number = f"{innermost(by.parts, 't', 'position', conditions.bindings)}::varchar"
    attribute = computed_attribute(conditions, number)

    def places(block: Block, at: Longs) -> Longs:
        found = attribute.values(block, at)
        numbers: Longs = pc.index_in(found, names.cast(found.type)).to_numpy().astype(np.int64)
        return numbers

    return Parts(table.column(1).to_numpy(), places)
