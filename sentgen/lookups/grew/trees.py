"""What of a tree is more than an edge: paths from heads down to what they dominate, and its form as a whole.

Paths are recursive common table expressions. Each step climbs from all tokens to their heads (or down to
their modifiers): the number of pairs is that of the tokens times their depth. It ends, as ingestion refuses
trees with cycles. A step reads `token` itself, whose row groups DuckDB skips by sentence: a copy of the
sentences in question takes half the time if they are few, and four times as long if they are many.
"""

from __future__ import annotations

from collections.abc import Sequence

from sentgen.errors import InputError
from sentgen.lookups.statement import any_of

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
#: Two edges cross if each has one end strictly within the other; that of the root comes from position 0.
_CROSSING = """\
select t.sentence_id from token as t, token as other
    where other.sentence_id = t.sentence_id
      and least(t.position, t.head) < least(other.position, other.head)
      and least(other.position, other.head) < greatest(t.position, t.head)
      and greatest(t.position, t.head) < greatest(other.position, other.head){corpora}"""
#: What no path leads down to from a token without a head is in a cycle, or below one.
_CYCLE = """\
with recursive rooted as (
      select t.sentence_id, t.position from token as t where coalesce(t.head, 0) = 0{corpora}
      union all
      select t.sentence_id, t.position from rooted
      join token as t on t.sentence_id = rooted.sentence_id and t.head = rooted.position
    )
    select t.sentence_id from token as t
    anti join rooted on rooted.sentence_id = t.sentence_id and rooted.position = t.position
    where true{corpora}"""
_HEADLESS = "select t.sentence_id from token as t where t.head is null{corpora}"

#: Name to the sentences of which it is not true.
_VIOLATED = {
    "is_projective": (_CROSSING,),
    "is_forest": (_CYCLE,),
    "is_tree": (_CYCLE, _HEADLESS),
    "is_not_cyclic": (_CYCLE,),
}
_OPPOSITE = {
    "is_not_projective": "is_projective",
    "is_not_forest": "is_forest",
    "is_not_tree": "is_tree",
    "is_cyclic": "is_not_cyclic",
}


def path_table(name: str, asked: Sequence[str], steps: Sequence[str], *, down: bool) -> str:
    """Return the table expression of the pairs of tokens of which one dominates the other.

    Its columns are ``sentence_id``, ``below`` and ``above``.

    Args:
        name: of the table.
        asked: conditions on the token where the paths begin, called ``seed``.
        steps: conditions on the tokens after that, called ``step``.
        down: whether they begin above, else below.
    """
    conditions = " and ".join([*asked, *([] if down else ["seed.head is not null"])]) or "true"
    and_steps = "".join(f" and {one}" for one in steps)
    return (_DOWN if down else _UP).format(name=name, conditions=conditions, steps=and_steps)


def structure_condition(name: str, sentence: str, corpora: Sequence[str]) -> str:
    """Return the condition that a tree has a structure.

    Args:
        name: such as ``is_projective``.
        sentence: its sentence, in SQL.
        corpora: the condition on the corpus of a row ``t`` of `token`.

    Raises:
        InputError: there is no such structure.
    """
    positive = _OPPOSITE.get(name, name)
    if positive not in _VIOLATED:
        raise InputError(f"no structure {name!r}; there are {', '.join([*_VIOLATED, *_OPPOSITE])}")
    among = "".join(f" and {one}" for one in corpora)
    found = [f"{sentence} in (\n    {text.format(corpora=among)}\n  )" for text in _VIOLATED[positive]]
    either = any_of(found)
    return either if name in _OPPOSITE else f"not {either}"
