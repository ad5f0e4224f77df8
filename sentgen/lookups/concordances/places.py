"""Parts of a store that are searched one after the other: ranges of sentences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Self

from sqlalchemy import Connection

from sentgen.lookups.statement import Statement
from sentgen.schema.engine import kept

#: Sentences that are searched at once, unless what is asked says how many.
SENTENCES = 500_000


@dataclass(frozen=True, slots=True)
class SentenceRange:
    """Sentences by number, both ends included."""

    low: int
    high: int

    @property
    def part(self) -> str:
        """The condition on a column with the number of a sentence, behind its name."""
        return f"between {self.low} and {self.high}"

    @property
    def size(self) -> int:
        """How many sentences they are."""
        return self.high - self.low + 1

    def cut(self, size: int) -> Iterator[Self]:
        """Yield ranges of that many sentences, the last one of fewer."""
        for low in range(self.low, self.high + 1, size):
            yield replace(self, low=low, high=min(low + size - 1, self.high))


_SIZE = "select coalesce(max(id), 0) as sentences from sentence"


def sentences_of(connection: Connection) -> int:
    """Return the number of the last sentence."""
    found = kept(connection)
    if sentences_of not in found:
        found[sentences_of] = int(Statement(_SIZE).value(connection))
    return int(found[sentences_of])
