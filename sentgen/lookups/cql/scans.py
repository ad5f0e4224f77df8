"""Which tokens a query looks at: those of all sentences, of a range of them, or of those with a rare one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from sentgen.lookups.cql import syntax
from sentgen.lookups.cql.automaton import Edges
from sentgen.lookups.cql.regions import RegionConditions
from sentgen.lookups.cql.tokens import TokenConditions, columns
from sentgen.lookups.reach import SENTENCE, Reach
from sentgen.lookups.statement import where

#: How a token is read: the condition that it meets, and what must be true right before it.
Read: TypeAlias = "tuple[syntax.Condition | None, Edges]"
ANYTHING: Read = (None, frozenset())

_WITH_RARE = "{alias}.sentence_id in (\n    select {number}\n    from token as r{conditions}\n  )"
_DOCUMENTS_WITH_RARE = """\
s.document_id in (
      select q.document_id
      from token as r
      join sentence as q on q.id = r.sentence_id{conditions}
    )"""

_OF_DOCUMENTS_WITH_RARE = f"""\
t.sentence_id in (
    select s.id
    from sentence as s
    where {_DOCUMENTS_WITH_RARE}
  )"""


@dataclass(frozen=True, slots=True)
class Scans:
    """Writes what is read of `token`.

    Args:
        conditions: writes conditions on tokens.
        rare: what a token of every match is, so that only the sentences with one are looked at.
        low: a parameter with the first sentence to search; empty for all.
        high: a parameter with the last one.
        reach: how far matches reach.
    """

    conditions: TokenConditions
    rare: syntax.Condition | None
    low: str = ""
    high: str = ""
    reach: Reach = SENTENCE

    @property
    def across(self) -> bool:
        """Whether matches may reach over the ends of sentences."""
        return self.reach is not SENTENCE

    @property
    def source(self) -> str:
        """The table that tokens are read from."""
        return self.reach.tokens if self.rare is None else "near"

    def range(self, column: str) -> list[str]:
        """Return the condition on a column with the number of a sentence."""
        return [f"{column} between {self.low} and {self.high}"] if self.low else []

    def of_corpora(self, alias: str) -> list[str]:
        """Return the conditions on the corpora, and the sentences of them, that are asked about."""
        return self.conditions.selection.of_tokens(self.conditions.bindings, alias)

    def documents(self) -> list[str]:
        """Return the conditions on the sentences ``s`` of the documents that are searched."""
        if self.rare is None:
            return self.range("s.id")
        return [*self.range("s.id"), _DOCUMENTS_WITH_RARE.format(conditions=where(self._of_rare(), "      "))]

    def near(self, pattern: syntax.Pattern) -> str:
        """Return the query for the tokens that a match can have, where one of each is rare."""
        told = [self.with_rare(pattern), *self.range("t.sentence_id")]
        needed = sorted({name for one in syntax.conditions(pattern) for name in columns(one)})
        places = ("sentence_id", "position", *(("start", "place") if self.across else ()))
        read = ", ".join(f"t.{name}" for name in (*places, *needed))
        return f"  select {read}\n  from {self.reach.tokens} as t{where(told, '  ')}"

    def with_rare(self, pattern: syntax.Pattern) -> str:
        """Return the condition on a row ``t`` of `token` that a rare token is in its sentence, or near by."""
        longest = syntax.longest(pattern) if self.across else 1
        if longest is None:
            return _OF_DOCUMENTS_WITH_RARE.format(conditions=where(self._of_rare(), "      "))
        # Every sentence has a token, so that this many are as far away as a match reaches.
        apart = max(longest, 1) - 1
        number = f"r.sentence_id + unnest(range({-apart}, {apart + 1}))" if apart else "r.sentence_id"
        return _WITH_RARE.format(alias="t", number=number, conditions=where(self._of_rare(), "    "))

    def _of_rare(self) -> list[str]:
        assert self.rare is not None
        told = [self.conditions.of_token(self.rare, "r")]
        return [*told, *self.of_corpora("r"), *self.range("r.sentence_id")]

    def scan(self, one: Read, number: int, regions: RegionConditions) -> str:
        """Return the query for the tokens that are read in one way, under a number."""
        condition, entry = one
        sentence, position = f"t.{self.reach.sentence}", f"t.{self.reach.position}"
        told = [] if condition is None else [self.conditions.of_token(condition, "t")]
        told += regions.before(entry, sentence, position)
        if self.rare is None or (self.across and condition is None):
            told += [*self.of_corpora("t"), *self.range("t.sentence_id")]
        renamed = f"{sentence} as sentence_id" if self.across else sentence
        return (
            f"  select {renamed}, {position} as first, {position} as last, {number} as class"
            f"\n  from {self.source} as t{where(told, '  ')}"
        )
