"""Paths from heads down to what they dominate, as recursive common table expressions.

Each step climbs from a token to its head (or down to its modifiers), which costs the number of tokens times
their depth. Trees have no cycles, as ingestion refuses those that do, so that it ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_TREE = """\
{name}_tree as materialized (
  select sentence_id, position, head from token
  where sentence_id in (select seed.sentence_id from token as seed where {conditions})
)"""
_UP = """\
{name} as (
  select seed.sentence_id, seed.position as below, seed.head as above from token as seed
  where {conditions}
  union all
  select {name}.sentence_id, {name}.below, step.head
  from {name}
  join {tree} as step on step.sentence_id = {name}.sentence_id and step.position = {name}.above
  where step.head is not null
)"""
_DOWN = """\
{name} as (
  select step.sentence_id, step.position as below, step.head as above
  from token as seed
  join {tree} as step on step.sentence_id = seed.sentence_id and step.head = seed.position
  where {conditions}
  union all
  select {name}.sentence_id, step.position, {name}.above
  from {name}
  join {tree} as step on step.sentence_id = {name}.sentence_id and step.head = {name}.below
)"""


@dataclass(frozen=True, slots=True)
class Path:
    """The pairs of tokens of which one dominates the other: columns ``sentence_id``, ``below``, ``above``.

    Args:
        name: of the table.
        asked: conditions on the token where the paths begin, called ``seed``.
        corpora: the condition on its corpus.
        down: whether they begin above, else below.
    """

    name: str
    asked: Sequence[str]
    corpora: Sequence[str]
    down: bool

    @property
    def tables(self) -> list[str]:
        """The common table expressions."""
        conditions = [*self.asked, *self.corpora]
        tree = f"{self.name}_tree" if conditions else "token"
        found = [_TREE.format(name=self.name, conditions=" and ".join(conditions))] if conditions else []
        text = _DOWN if self.down else _UP
        told = " and ".join([*conditions, *([] if self.down else ["seed.head is not null"])]) or "true"
        return [*found, text.format(name=self.name, tree=tree, conditions=told)]
