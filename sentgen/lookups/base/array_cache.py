"""A cache of arrays that were read from a store that nobody can change: it takes a part of its memory."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import Connection

from sentgen.schema.engine import MEMORY_LIMIT, connection_cache

if TYPE_CHECKING:  # look-ups that count nothing in arrays do without
    import numpy.typing as npt
    import pyarrow as pa

#: Part of the memory of a store that they may take.
_PART = 8
CachedArray = TypeVar("CachedArray", "npt.NDArray[Any]", "pa.Table")


class ArrayCache:
    """Arrays, or tables, the oldest dropped first where they take more bytes than ``capacity``."""

    def __init__(self, capacity: int) -> None:
        self.capacity, self._bytes = capacity, 0
        self._arrays: OrderedDict[object, Any] = OrderedDict()

    def find(self, key: object) -> Any:
        """Return an array; none if it is not there."""
        array = self._arrays.get(key)
        if array is not None:
            self._arrays.move_to_end(key)
        return array

    def add(self, key: object, array: CachedArray) -> CachedArray:
        """Add an array, if it is no greater than all may be."""
        if array.nbytes <= self.capacity:
            self._arrays[key] = array
            self._bytes += array.nbytes
        while self._bytes > self.capacity:
            self._bytes -= self._arrays.popitem(last=False)[1].nbytes
        return array


def array_cache(connection: Connection) -> ArrayCache:
    """Return the cache of a store; that of one that may change does not live long."""
    limit = connection.get_execution_options().get(MEMORY_LIMIT)
    capacity = (int(limit) if limit else 1 << 30) // _PART
    cache: ArrayCache = connection_cache(connection).setdefault(ArrayCache, ArrayCache(capacity))
    return cache
