"""Count the rows of a frequency list in each document, a range of sentences after the other.

A join of `token` with all sentences takes memory for all of them; a range has few, and a document that is
longer than a range needs no join.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from sentgen.lookups.concordances.places import SentenceRange, sentences_of
from sentgen.lookups.selection import Selection
from sentgen.lookups.statement import Bindings, Statement, where

if TYPE_CHECKING:
    import pyarrow as pa

#: Sentences that are counted at once.
SENTENCES = 2_000_000
#: Rows at most that are counted so: each item is compared with every token.
MOST_ROWS = 1_000

#: Juilland's D, from the sums of the rates of an item in all documents and of their squares.
# With V^2 = n sum p^2 / (sum p)^2 - 1: rounding may take it below 0, and D as well.
JUILLAND_D = """case when {documents} > 1 then greatest(
    1 - sqrt(greatest({documents} * {squares} / {rates} ** 2 - 1, 0) / ({documents} - 1)), 0
  ) end"""

_ALONE = "select count(*) = 1 from document{conditions}"
_DOCUMENTS = """\
select id, first_sentence, sentences
from document{conditions}
order by first_sentence"""
_INSIDE = """\
select {column} as id, {document}::integer as document_id, count(*) as count
from token{join}{conditions}
group by {column}, document_id"""
_JOIN = "\njoin sentence on sentence.id = token.sentence_id"


@dataclass(frozen=True, slots=True)
class _Range(SentenceRange):
    """Sentences of whole documents; ``document`` is the one that they belong to, or 0."""

    document: int = 0


@dataclass(frozen=True, slots=True)
class Spread:
    """The documents of some corpora."""

    connection: Connection
    selection: Selection

    @property
    def alone(self) -> bool:
        """Whether there is one document."""
        bindings = Bindings()
        text = _ALONE.format(conditions=self._conditions(bindings))
        return bool(Statement(text, bindings).value(self.connection))

    @property
    def large(self) -> bool:
        """Whether the store has more sentences than are counted at once."""
        return sentences_of(self.connection) > SENTENCES

    def inside(self, column: str, ids: Sequence[int]) -> pa.Table:
        """Return how often items occur in documents: ``id``, ``document_id``, ``count``.

        Args:
            column: column of `token` with the number of the item.
            ids: the numbers.
        """
        import pyarrow as pa

        counted = [self._inside(within, column, ids) for within in self._ranges()]
        return pa.concat_tables(counted)

    def _inside(self, within: _Range, column: str, ids: Sequence[int]) -> pa.Table:
        bindings = Bindings()
        # No number is below zero.
        conditions = [f"{column} in ({', '.join(map(str, ids)) or -1})", f"token.sentence_id {within.part}"]
        conditions += self.selection.of_tokens(bindings, "token")
        if not within.document:
            conditions.append(f"sentence.id {within.part}")
        text = _INSIDE.format(
            column=column,
            document=within.document or "sentence.document_id",
            join="" if within.document else _JOIN,
            conditions=where(conditions),
        )
        return Statement(text, bindings).run(self.connection)

    def _ranges(self) -> Iterator[_Range]:
        """Yield ranges of whole documents: a long one alone, of others as many as have enough sentences."""
        bindings = Bindings()
        found = Statement(_DOCUMENTS.format(conditions=self._conditions(bindings)), bindings).run(
            self.connection
        )
        together: list[tuple[int, int, int]] = []
        for one in zip(*(column.to_pylist() for column in found.columns), strict=True):
            if together and sum(one[1:]) - together[0][1] > SENTENCES:
                yield _range(together)
                together = []
            together.append(one)
        if together:
            yield _range(together)

    def _conditions(self, bindings: Bindings) -> str:
        return where(["sentences > 0", *self.selection.of_corpora(bindings)])


def _range(documents: Sequence[tuple[int, int, int]]) -> _Range:
    """Return the sentences of documents: number, first sentence, and number of sentences of each."""
    (first, low, _), (_, start, sentences) = documents[0], documents[-1]
    return _Range(low, start + sentences - 1, document=first if len(documents) == 1 else 0)
