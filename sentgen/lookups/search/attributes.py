"""Attributes of tokens as ids, whose values are looked up last, when few ids are left.

A column of `token` has ids already; for metadata the id of the sentence or the document is taken. The store
computes other values (MISC, surprisal, regions), which get ids in the order in which they are read.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from sqlalchemy import Connection

from sentgen.arrays import Ints, Longs
from sentgen.lookups.base.attributes import Key, TokenKey
from sentgen.lookups.base.cache import ArrayCache
from sentgen.lookups.base.keys import MetadataKey
from sentgen.lookups.base.statement import Bindings, Statement
from sentgen.lookups.base.tokens import NONE, Block
from sentgen.schema.engine import arrow_table, connection_cache, raw, register_arrow

if TYPE_CHECKING:
    import pyarrow as pa

#: Rows of `Block.sentences` with the ids of sentences, and of their documents.
_SENTENCE, _DOCUMENT = 0, 3

_DOCUMENTS = "(select id, id as document_id, corpus_id from document)"
_VALUES = """\
select {value} as value
from asked
left join {table} as a on a.id = asked.number
order by asked.n"""
#: All rows of a table that has few.
_ALL = """\
select n.id, {value} as value
from (select id from {table} union all select {none}) as n
left join {table} as a on a.id = n.id
order by n.id"""
_FEW = ("tag", _DOCUMENTS)
_OF_TOKENS = """\
select {value} as value
from spot
join token as t on t.sentence_id = spot.sentence_id and t.position = spot.position
order by spot.n"""


class Attribute(ABC):
    """An attribute of tokens, with an id for each value."""

    @property
    def of_documents(self) -> bool:
        """Whether the ids of the attribute are ids of documents."""
        return False

    @abstractmethod
    def numbers(self, block: Block, at: Longs) -> Ints | Longs:
        """Return the ids of the values of tokens; `NONE` stands for no value."""

    @abstractmethod
    def of_numbers(self, numbers: Longs) -> pa.Array:
        """Return the values of ids, which are ascending and distinct."""

    @abstractmethod
    def values(self, block: Block, at: Longs) -> pa.Array:
        """Return what tokens have."""

    def every(self) -> tuple[Longs, pa.Array] | None:
        """Return all ids, ascending, and their values, if these are in memory; else None."""
        return None


@dataclass(frozen=True, slots=True)
class _StoredAttribute(Attribute):
    """An attribute whose values have ids in the store.

    Args:
        table: the table with a row for each id, ``a.id``.
        value: SQL for the value of such a row.
        columns: columns of `token` with ids; the first that is not null counts.
        row: row of `Block.sentences` with the id, where it is not in a column of `token`.
    """

    connection: Connection
    table: str
    value: str
    bindings: Bindings
    columns: tuple[str, ...] = ()
    row: int = _SENTENCE

    @property
    def of_documents(self) -> bool:
        return not self.columns and self.row == _DOCUMENT

    def numbers(self, block: Block, at: Longs) -> Ints | Longs:
        if not self.columns:
            ids: Longs = block.sentences()[self.row][block.sentence_of(at)]
            return ids
        first, *others = (block.column(column)[at] for column in self.columns)
        for other in others:
            first = np.where(first == NONE, other, first)
        return first

    def of_numbers(self, numbers: Longs) -> pa.Array:
        import pyarrow as pa

        if known := self.every():
            ids, values = known
            return values.take(pa.array(np.searchsorted(ids, numbers)))
        text = _VALUES.format(value=self.value, table=self.table)
        wanted = pa.table({"n": np.arange(len(numbers)), "number": numbers})
        return _column(self.connection, text, self.bindings, asked=wanted)

    def every(self) -> tuple[Longs, pa.Array] | None:
        """Return all ids and their values.

        In a store that nobody can change they are read once; words are read only when they are needed for
        the second time, as reading all of them takes as long as a few questions.
        """
        known, arrays = connection_cache(self.connection), ArrayCache.of_store(self.connection)
        text = _ALL.format(value=self.value, table=self.table, none=NONE)
        key = (_ALL, (query := Statement(text, self.bindings)).with_values())
        if self.table not in _FEW:
            again = key in known
            known[key] = None
            if self.table != "word" or not again:
                return None
        ids, values = arrays.find((*key, "id")), arrays.find((*key, "value"))
        if ids is None or values is None:
            ids, values = query.run(self.connection).columns
            ids = arrays.add((*key, "id"), ids.to_numpy())
            values = arrays.add((*key, "value"), values.combine_chunks())
        return ids, values

    def values(self, block: Block, at: Longs) -> pa.Array:
        import pyarrow as pa

        numbers: Longs
        numbers, rows = np.unique(self.numbers(block, at), return_inverse=True)
        return self.of_numbers(numbers).take(pa.array(rows))


@dataclass(frozen=True, slots=True)
class ComputedAttribute(Attribute):
    """An attribute whose values the store computes: ``value`` is SQL for a row ``t`` of `token`."""

    connection: Connection
    value: str
    bindings: Bindings
    _numbers: dict[object, int] = field(default_factory=dict)

    def numbers(self, block: Block, at: Longs) -> Longs:
        encoded = self.values(block, at).dictionary_encode("encode")
        values = encoded.dictionary.to_pylist()
        codes = [self._numbers.setdefault(value, len(self._numbers)) for value in values]
        numbers: Longs = np.array(codes, np.int64)[encoded.indices.to_numpy()]
        return numbers

    def of_numbers(self, numbers: Longs) -> pa.Array:
        import pyarrow as pa

        return pa.array(list(self._numbers), pa.string()).take(pa.array(numbers))

    def values(self, block: Block, at: Longs) -> pa.Array:
        text = _OF_TOKENS.format(value=self.value)
        return _column(self.connection, text, self.bindings, spot=block.spots(at))


def of_key(
    connection: Connection, key: Key, bindings: Bindings, made: Callable[[str], str] = str
) -> Attribute:
    """Return an attribute whose value is ``made`` from the string of a key, with bindings of its own."""
    if isinstance(key, MetadataKey):
        table, row = (_DOCUMENTS, _DOCUMENT) if key.one_a_document else ("sentence", _SENTENCE)
        return _StoredAttribute(connection, table, made(key.of_row("a", bindings)), bindings, row=row)
    if isinstance(key, TokenKey):
        value = made(key.of_row("a.", bindings))
        return _StoredAttribute(connection, key.table, value, bindings, key.columns)
    return ComputedAttribute(connection, made(key.string("t", bindings)), bindings)


def _column(connection: Connection, text: str, bindings: Bindings, **tables: pa.Table) -> pa.Array:
    duck = raw(connection)
    with register_arrow(duck, **tables):
        table = arrow_table(duck, text, Statement(text, bindings).used_parameters)
    return table.column(0).combine_chunks()
