"""Caches of a store that nobody can change: arrays that were read, and the words with their ids.

A look-up of a word scans the whole table of words, so that all are read once words are looked up often.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import Connection

from sentgen.case_folding import fold_sql
from sentgen.schema.engine import MEMORY_LIMIT, arrow_table, connection_cache, one_row, raw, register_arrow

if TYPE_CHECKING:  # look-ups that count nothing in arrays do without
    import pyarrow as pa

    from sentgen.arrays import Ints


#: The cache may take the memory of the store divided by this.
_PART = 8
#: An array of numpy, or a table of Arrow.
CachedArray = TypeVar("CachedArray", bound=Any)


class ArrayCache:
    """A cache of arrays and tables; the least recently used are dropped beyond ``capacity`` bytes."""

    def __init__(self, capacity: int) -> None:
        self.capacity, self._bytes = capacity, 0
        self._arrays: OrderedDict[object, Any] = OrderedDict()

    def find(self, key: object) -> Any:
        """Return the array that was added under a key; None if there is none."""
        array = self._arrays.get(key)
        if array is not None:
            self._arrays.move_to_end(key)
        return array

    def get(self, key: object, read: Callable[[], CachedArray]) -> CachedArray:
        """Return the array under a key, which is read and added if there is none."""
        array: CachedArray | None = self.find(key)
        return self.add(key, read()) if array is None else array

    def add(self, key: object, array: CachedArray) -> CachedArray:
        """Add an array, unless it is larger than the capacity."""
        if array.nbytes <= self.capacity:
            self._arrays[key] = array
            self._bytes += array.nbytes
        while self._bytes > self.capacity:
            self._bytes -= self._arrays.popitem(last=False)[1].nbytes
        return array

    @classmethod
    def of_store(cls, connection: Connection) -> ArrayCache:
        """Return the cache of a store; that of one that may change does not live long."""
        limit = connection.get_execution_options().get(MEMORY_LIMIT)
        capacity = (int(limit) if limit else 1 << 30) // _PART
        cache: ArrayCache = connection_cache(connection).setdefault(ArrayCache, cls(capacity))
        return cache


_NUMBERS = {
    "word": "select id from word where form = $string",
    "tag": "select id from tag where name = $string",
}
_FORMS = "select id, form from word where id in (select id from asked)"
_EVERY = "select id, form from word order by id"
#: The query for the id of each word, and one id for all words that differ in the case of letters only.
SPELLINGS = f"select id, min(id) over (partition by {fold_sql('form')}) as folded from word"
#: Look-ups after which all words are read.
_OFTEN = 8
#: Ids that are kept.
_MOST_NUMBERS = 1000


def id_of(connection: Connection, table: str, string: str) -> int | None:
    """Return the id of a string in the table ``word`` or ``tag``; None if the store does not have it."""
    known: dict[tuple[str, str], int | None] = connection_cache(connection).setdefault(id_of, {})
    key = table, string
    if key not in known:
        if len(known) >= _MOST_NUMBERS:
            known.clear()
        known[key] = _look_up(connection, table, string)
    return known[key]


def _look_up(connection: Connection, table: str, string: str) -> int | None:
    every = all_words(connection) if table == "word" else None
    if every is None:
        row = one_row(raw(connection), _NUMBERS[table], {"string": string})
        return int(row[0]) if row else None
    import pyarrow as pa
    import pyarrow.compute as pc

    index = pc.index(every["form"], pa.scalar(string, pa.large_string())).as_py()
    return None if index < 0 else int(every["id"][index].as_py())


def forms_of(connection: Connection, words: Ints) -> pa.Array:
    """Return the forms of words by their ids, which must be ascending."""
    import numpy as np
    import pyarrow as pa

    if (every := all_words(connection)) is not None:
        return every["form"].chunk(0).take(pa.array(np.searchsorted(every["id"].to_numpy(), words)))
    duck = raw(connection)
    with register_arrow(duck, asked=pa.table({"id": words})):
        rows = arrow_table(duck, _FORMS).combine_chunks()
    order = np.argsort(rows["id"].to_numpy(), kind="stable")
    return rows["form"].cast(pa.large_string()).combine_chunks().take(pa.array(order))


def all_words(connection: Connection) -> pa.Table | None:
    """Return all words of a store that nobody can change, if they are often looked up; else none."""
    arrays, known = ArrayCache.of_store(connection), connection_cache(connection)
    every: pa.Table | None = arrays.find(_EVERY)
    if every is not None:
        return every
    known[_FORMS] = known.get(_FORMS, 0) + 1
    # Tried once only: a table that is too large to be kept is not read at every look-up.
    if known[_FORMS] != _OFTEN:
        return None
    import pyarrow as pa

    rows = arrow_table(raw(connection), _EVERY)
    forms = rows["form"].cast(pa.large_string()).combine_chunks()
    return arrays.add(_EVERY, pa.table({"id": rows["id"], "form": forms}))
