"""Numbers for integers in the order in which they first come: a hash table that grows."""

from __future__ import annotations

import numpy as np

from sentgen.arrays import Ints, Longs, compiled

#: No key is negative.
_FREE = -1


class Numbering:
    """Numbers for integers from 0 on; the first one that comes gets 0, the next other one 1, and so on.

    >>> numbering = Numbering()
    >>> numbering.numbers(np.array([7, 9, 7])).tolist(), numbering.numbers(np.array([4, 9])).tolist()
    ([0, 1, 0], [2, 1])
    >>> numbering.keys().tolist()
    [7, 9, 4]
    """

    def __init__(self, bits: int = 16) -> None:
        """Start with room for 2 ** (bits - 1) integers."""
        self._slots = np.full(1 << bits, _FREE, np.int64)
        self._values = np.zeros(1 << bits, np.int32)
        self._count = 0

    def __len__(self) -> int:
        """Return how many different integers there were."""
        return self._count

    def numbers(self, keys: Longs) -> Ints:
        """Return the number of each integer; none may be negative."""
        out = np.empty(len(keys), np.int32)
        done = 0
        while done < len(keys):
            self._count, done = _number(keys, done, out, self._slots, self._values, self._count)
            if done < len(keys):
                self._grow()
        return out

    def keys(self) -> Longs:
        """Return the integers by their numbers."""
        out = np.empty(self._count, np.int64)
        full = self._slots != _FREE
        out[self._values[full]] = self._slots[full]
        return out

    def _grow(self) -> None:
        keys = self.keys()
        size = 2 * len(self._slots)
        self._slots, self._values = np.full(size, _FREE, np.int64), np.zeros(size, np.int32)
        _number(keys, 0, np.empty(len(keys), np.int32), self._slots, self._values, 0)


@compiled
def _number(keys: Longs, first: int, out: Ints, slots: Longs, values: Ints, count: int) -> tuple[int, int]:
    """Number keys from the first one on until the table is half full; return the count and the next key."""
    mask = len(slots) - 1
    for i in range(first, len(keys)):
        # Fibonacci hashing; the high bits are the mixed ones.
        slot = np.int64((np.uint64(keys[i]) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20)) & mask
        while slots[slot] != _FREE and slots[slot] != keys[i]:
            slot = (slot + 1) & mask
        if slots[slot] == _FREE:
            # At most half full: searches stay short, and end at a free slot.
            if 2 * count >= len(slots):
                return count, i
            slots[slot], values[slot] = keys[i], count
            count += 1
        out[i] = values[slot]
    return count, len(keys)
