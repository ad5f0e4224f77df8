"""Paths from heads down to what they dominate, as recursive common table expressions.

Each step climbs from all tokens to their heads (or down to their modifiers): the number of pairs is that of
the tokens times their depth. It ends, as ingestion refuses trees with cycles.
A step reads `token` itself, whose row groups DuckDB skips by sentence: a copy of the sentences in question
takes half the time if they are few, and four times as long if they are many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_UP = """\
{name} as (
  select seed.sentence_id, seed.position as below, seed.head as above from token as seed
  where {conditions}
  union all
  select {name}.sentence_id, {name}.below, step.head
  from {name}
  join token as step on step.sentence_id = {name}.sentence_id and step.position = {name}.above{steps}
  where step.head is not null
)"""
_DOWN = """\
{name} as (
  select step.sentence_id, step.position as below, step.head as above
  from token as seed
  join token as step on step.sentence_id = seed.sentence_id and step.head = seed.position{steps}
  where {conditions}
  union all
  select {name}.sentence_id, step.position, {name}.above
  from {name}
  join token as step on step.sentence_id = {name}.sentence_id and step.head = {name}.below{steps}
)"""


@dataclass(frozen=True, slots=True)
class DominancePath:
    """The pairs of tokens of which one dominates the other: columns ``sentence_id``, ``below``, ``above``.

    Args:
        name: of the table.
        asked: conditions on the token where the paths begin, called ``seed``.
        corpora: the condition on its corpus.
        down: whether they begin above, else below.
        steps: conditions on the tokens after that, called ``step``.
    """

    name: str
    asked: Sequence[str]
    corpora: Sequence[str]
    down: bool
    steps: Sequence[str] = ()

    @property
    def table(self) -> str:
        """The common table expression."""
        up = [] if self.down else ["seed.head is not null"]
        conditions = " and ".join([*self.asked, *self.corpora, *up]) or "true"
        return (_DOWN if self.down else _UP).format(
            name=self.name, conditions=conditions, steps="".join(f" and {one}" for one in self.steps)
        )
