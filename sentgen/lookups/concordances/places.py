"""Parts of a store in which a concordance is searched: ranges of sentences, and places of known hits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

from sqlalchemy import Connection

from sentgen.lookups.reach import whole_documents
from sentgen.lookups.statement import Bindings, Statement
from sentgen.schema.engine import kept

#: Sentences that are searched at once, unless what is asked says how many.
SENTENCES = 500_000
#: Sentences that are named one by one; more are read as a range.
NAMED = 1_000


@dataclass(frozen=True, slots=True)
class SentenceRange:
    """Sentences by number, both ends included; ``starts``: of documents that stay whole in every range."""

    low: int
    high: int
    starts: Sequence[int] = ()

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
        if self.starts:
            for low, high in whole_documents(self.starts, self.low, self.high, size):
                yield replace(self, low=low, high=high)
            return
        for low in range(self.low, self.high + 1, size):
            yield replace(self, low=low, high=min(low + size - 1, self.high))


class Walked(SentenceRange):
    """Sentences by number, where the matches of the automata of a query are known."""


@dataclass(frozen=True, slots=True)
class SentenceNumbers:
    """Sentences, each by its number."""

    sentences: Sequence[int]

    @property
    def part(self) -> str:
        """The condition on a column with the number of a sentence, behind its name."""
        return f"in ({', '.join(map(str, self.sentences))})"

    @property
    def size(self) -> int:
        """How many they are."""
        return len(self.sentences)

    def cut(self, size: int) -> Iterator[SentenceNumbers]:
        """Yield parts of that many sentences, the last one of fewer."""
        for at in range(0, self.size, size):
            yield SentenceNumbers(self.sentences[at : at + size])


@dataclass(frozen=True, slots=True)
class Places:
    """Hits of a pattern of ``length`` tokens: the numbers of their sentences and first tokens, ascending."""

    sentences: Sequence[int]
    firsts: Sequence[int]
    length: int

    @property
    def part(self) -> str:
        """The condition on a column with the number of a sentence, behind its name."""
        return SentenceNumbers(tuple(dict.fromkeys(self.sentences))).part

    @property
    def size(self) -> int:
        """How many they are."""
        return len(self.sentences)

    def cut(self, size: int) -> Iterator[Places]:
        """Yield parts of that many hits, the last one of fewer."""
        for at in range(0, self.size, size):
            some = slice(at, at + size)
            yield Places(self.sentences[some], self.firsts[some], self.length)

    @property
    def columns(self) -> tuple[str, str, str]:
        """What yields sentence, first and last token of the rows of `table`."""
        return "place.sentence_id", "place.first", f"place.first + {self.length - 1}"

    def table(self, bindings: Bindings) -> str:
        """Return what follows ``from``: rows with the columns ``sentence_id`` and ``first``."""
        sentences, firsts = bindings.bind("sentences", self.sentences), bindings.bind("firsts", self.firsts)
        return f"""(
    select unnest({sentences}::bigint[]) as sentence_id, unnest({firsts}::integer[]) as first
  ) as place"""


_SIZE = "select coalesce(max(id), 0) as sentences from sentence"

#: A part of a store that is searched at once.
Part = SentenceRange | SentenceNumbers | Places


def sentences_of(connection: Connection) -> int:
    """Return the number of the last sentence."""
    found = kept(connection)
    if sentences_of not in found:
        found[sentences_of] = int(Statement(_SIZE).value(connection))
    return int(found[sentences_of])
