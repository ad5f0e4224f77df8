"""What tokens are as collocates, in arrays: the numbers of words or lemmas."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sqlalchemy import Connection

from sentgen.arrays import Ints, Longs
from sentgen.lookups.base.array_cache import array_cache
from sentgen.lookups.base.statement import Bindings, Statement, where
from sentgen.lookups.base.tokens import NONE, Block
from sentgen.lookups.base.words import SPELLINGS
from sentgen.lookups.question.patterns import has_pos
from sentgen.lookups.question.selection import Selection
from sentgen.lookups.search.number_sets import among
from sentgen.lookups.statistics.listed import dense
from sentgen.schema.engine import arrow_table, raw

_TAGS = "select t.upos_id from (select id as upos_id, id as xpos_id from tag) as t{conditions}"


class CollocateNumbers:
    """Tells what tokens are as collocates.

    Args:
        connection: the store.
        column: column of `token` with the numbers.
        selection: the corpora.
        pos: patterns of parts of speech, one of which a collocate has; none for all.

    Attributes:
        same: number to the one that stands for it, where capital letters are ignored.
    """

    def __init__(
        self, connection: Connection, column: str, selection: Selection, pos: Sequence[str] = ()
    ) -> None:
        self.column, self.same = column, None
        if selection.ignore_case:
            # What is none comes to lie at the end.
            self.same = np.append(dense(connection, Statement(SPELLINGS), keep=True), NONE)
        bindings = Bindings()
        wanted = has_pos("t", pos, bindings)
        self._tags = (
            kept_numbers(connection, Statement(_TAGS.format(conditions=where(wanted)), bindings))
            if wanted
            else None
        )

    def find(self, block: Block, at: Longs) -> Longs:
        """Return the numbers of some tokens of a block, `NONE` for what is no collocate."""
        found: Longs = block.column(self.column)[at].astype(np.int64)
        if self._tags is not None:
            tagged = [among(block.column(name)[at], self._tags) for name in ("upos_id", "xpos_id")]
            found = np.where(tagged[0] | tagged[1], found, NONE)
        return found if self.same is None else self.same[found]


def kept_numbers(connection: Connection, query: Statement) -> Ints:
    """Return the numbers that a query finds, ascending; once of a store that nobody can change."""
    known, key = array_cache(connection), (kept_numbers, query.with_values())
    found: Ints | None = known.find(key)
    if found is None:
        rows = arrow_table(raw(connection), query.text, query.used_parameters).column(0)
        found = known.add(key, np.sort(rows.to_numpy().astype(np.int32)))
    return found
