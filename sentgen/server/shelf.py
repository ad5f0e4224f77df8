"""A shelf of answers, of bounded size."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import TypeVar

Answer = TypeVar("Answer")
#: An answer with more than this share of the room is not kept.
_LARGEST = 8
#: Bytes that an answer takes beside its body: headers, keys, objects.
_BESIDE = 2_000


@dataclass(slots=True)
class LruCache:
    """The answers that were asked for last, within so many bytes; a key names the snapshot, too."""

    room: int
    used: int = 0
    hits: int = 0
    misses: int = 0
    _kept: OrderedDict[Hashable, tuple[object, int]] = field(default_factory=OrderedDict)

    def find(self, key: Hashable, kind: type[Answer]) -> Answer | None:
        """Return an answer of a kind, which is then the last that is thrown away; none if it is not there."""
        found, _ = self._kept.get(key, (None, 0))
        if not isinstance(found, kind):
            self.misses += 1
            return None
        self._kept.move_to_end(key)
        self.hits += 1
        return found

    def put(self, key: Hashable, answer: object, body: int) -> None:
        """Keep an answer with so many bytes in its body; those that nobody asked for make room."""
        size = body + _BESIDE
        # One large answer would push out all that are asked for.
        if size * _LARGEST > self.room:
            return
        self.used += size - self._kept.pop(key, (None, 0))[1]
        self._kept[key] = (answer, size)
        while self.used > self.room:
            self.used -= self._kept.popitem(last=False)[1][1]
