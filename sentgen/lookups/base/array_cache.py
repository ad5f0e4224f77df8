"""Arrays that are kept of a store that nobody can change, as far as a part of its memory goes."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import Connection

from sentgen.schema.engine import MEMORY_LIMIT, kept

if TYPE_CHECKING:  # look-ups that count nothing in arrays do without
    import numpy.typing as npt
    import pyarrow as pa

#: Part of the memory of a store that they may take.
_PART = 8
CachedArray = TypeVar("KeptArray", "npt.NDArray[Any]", "pa.Table")


class ArrayCache:
    """Arrays, or tables, that were read, the oldest dropped first where they take too much."""

    def __init__(self, room: int) -> None:
        self.room, self._bytes = room, 0
        self._arrays: OrderedDict[object, Any] = OrderedDict()

    def find(self, key: object) -> Any:
        """Return an array; none if it is not kept."""
        found = self._arrays.get(key)
        if found is not None:
            self._arrays.move_to_end(key)
        return found

    def keep(self, key: object, array: CachedArray) -> CachedArray:
        """Keep an array, if it is no greater than all may be."""
        if array.nbytes <= self.room:
            self._arrays[key] = array
            self._bytes += array.nbytes
        while self._bytes > self.room:
            self._bytes -= self._arrays.popitem(last=False)[1].nbytes
        return array


def array_cache(connection: Connection) -> ArrayCache:
    """Return the arrays that are kept of a store; of one that may change none are kept for long."""
    limit = connection.get_execution_options().get(MEMORY_LIMIT)
    most = (int(limit) if limit else 1 << 30) // _PART
    found: ArrayCache = kept(connection).setdefault(ArrayCache, ArrayCache(most))
    return found
