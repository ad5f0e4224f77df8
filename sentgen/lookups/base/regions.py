"""Regions of the store in SQL: their parts in each sentence, and the values of their attributes for a token.

A region may cover several sentences. It is cut into one part for each sentence, so that regions are joined
with tokens by the id of the sentence.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from sentgen.lookups.base.attributes import Key, period_of
from sentgen.lookups.base.statement import Bindings, Statement

#: Behind the last token of any sentence.
_OPEN_END = 2**30
#: `began` and `place` are the key of the region. The ids of the sentences of a document are consecutive.
_PARTS = """\
select p.began, p.place, p.sentence_id, case when p.sentence_id = p.began then p.position else 1 end as first,
    case when p.sentence_id = p.last_sentence_id then p.last_position else {end} end as last,
    p.sentence_id = p.began as begins, p.sentence_id = p.last_sentence_id as ends
  from (
    select r.sentence_id as began, r.place, r.position, r.last_sentence_id, r.last_position,
      unnest(range(r.sentence_id, r.last_sentence_id + 1)) as sentence_id
    from region as r
    where {conditions}
  ) as p"""
_LENGTH = "\n  join sentence as s on s.id = p.sentence_id"
#: Sentences are cut before each token that begins a region, and behind each token that ends one.
_PIECES = """\
select c.sentence_id, c.position,
      coalesce(lead(c.position) over (partition by c.sentence_id order by c.position), s.length + 1)
        - c.position as length
    from (
      select id as sentence_id, 1 as position from sentence
      union
      select sentence_id, unnest([first, last + 1]) from ({parts})
    ) as c
    join sentence as s on s.id = c.sentence_id and c.position <= s.length{conditions}"""
#: The order of regions by their first token: of two regions around a token, the inner one is greater.
INNER = "(p.began, p.place)"
_AROUND_FIRST = """\
s.id in (
    select unnest(range(r.sentence_id + (r.position > 1)::integer, r.last_sentence_id + 1))
    from region as r{attribute}
    where {conditions}
  )"""
_ATTRIBUTE = "\n    join region_meta as m on m.sentence_id = r.sentence_id and m.place = r.place"
_OCCURRING = """\
select m.value
from region_meta as m
semi join region as r on r.sentence_id = m.sentence_id and r.place = m.place and r.kind in $kinds
where m.key in $keys
group by m.value
order by count(*) desc, m.value
limit $most"""
#: Both columns of the key of a region as one number, in the same order.
_NUMBER = "p.began::hugeint * 4294967296 + p.place"
_INNERMOST = """\
coalesce((select max({number}) from ({parts}) as p
    where p.sentence_id = {alias}.sentence_id and {alias}.position between p.first and p.last), 0)"""
_VALUE = """\
(select nullif(arg_max(coalesce(a.value, ''), {number}), '')
    from ({parts}) as p
    left join (
      select sentence_id, place, min(value) as value from region_meta where key in {keys} group by all
    ) as a on a.sentence_id = p.began and a.place = p.place
    where p.sentence_id = {alias}.sentence_id and {alias}.position between p.first and p.last)"""


def plain(name: str) -> str:
    """Return a name with underscores for characters that a name in a query cannot have.

    >>> plain("author-gender")
    'author_gender'
    """
    return re.sub(r"\W", "_", name)


@dataclass(frozen=True, slots=True)
class RegionKey(Key):
    """An attribute of regions; without ``keys`` it asks for the regions themselves.

    Args:
        name: name of the key, such as ``speaker.party``.
        kinds: kinds of regions in the store that are the same name in queries, such as list-item, list_item.
        keys: attributes of regions in the store that are the same name in queries.
        step: length of the periods into which numbers are put; 0 for the values themselves.
    """

    what: ClassVar[str] = "said of regions"
    of_tokens: ClassVar[bool] = False
    #: Whether the SQL that a condition on a sentence tests is a number.
    number: ClassVar[bool] = False
    name: str
    kinds: tuple[str, ...]
    keys: tuple[str, ...]
    step: int = 0

    @property
    def tested_value(self) -> str:
        """The SQL that a condition on a sentence tests."""
        return period_of("m.value", self.step)

    def value(self, alias: str, bindings: Bindings) -> str:
        value = _VALUE.format(
            parts=parts_of(of_kinds(self.kinds, bindings)),
            keys=bindings.bind("attribute", list(self.keys)),
            alias=alias,
            number=_NUMBER,
        )
        return period_of(value, self.step)

    def holds(self, test: str, bindings: Bindings) -> str:
        """Return the condition that some region around the first token of a row ``s`` passes a test."""
        conditions = [of_kinds(self.kinds, bindings)]
        if self.keys:
            conditions.append(f"m.key in {bindings.bind('attribute', list(self.keys))}")
        text = " and ".join(filter(None, [*conditions, test]))
        return _AROUND_FIRST.format(attribute=_ATTRIBUTE if self.keys else "", conditions=text)

    def frequent_values(self, most: int) -> Statement | None:
        """Return the query for the values, the most frequent first; None for periods."""
        if self.step:
            return None
        return Statement(_OCCURRING, {"kinds": list(self.kinds), "keys": list(self.keys), "most": most})


def of_kinds(kinds: tuple[str, ...], bindings: Bindings) -> str:
    """Return the condition that a row ``r`` of `region` is of some kinds."""
    return f"r.kind in {bindings.bind('kinds', list(kinds))}"


def innermost(kinds: tuple[str, ...], alias: str, bindings: Bindings) -> str:
    """Return the SQL for a number that identifies the innermost region around a token; 0 where there is none.

    ``alias`` is that of a row with ``sentence_id`` and ``position``.
    """
    return _INNERMOST.format(number=_NUMBER, parts=parts_of(of_kinds(kinds, bindings)), alias=alias)


def parts_of(conditions: str, *, lengths: bool = False) -> str:
    """Return the query for the parts of regions in each sentence.

    Columns: ``began`` and ``place``, the key of the region; ``sentence_id``, ``first`` and ``last``; and
    whether the region ``begins`` and ``ends`` there.

    Args:
        conditions: conditions on the rows ``r`` of `region`.
        lengths: whether the part of a region that goes on in the next sentence ends with the last token of
            its sentence; else its ``last`` is a position behind that token.
    """
    end = "s.length" if lengths else _OPEN_END
    return _PARTS.format(end=end, conditions=conditions) + (_LENGTH if lengths else "")


def pieces_of(kinds: tuple[str, ...], bindings: Bindings, conditions: str) -> str:
    """Return the query for the pieces of sentences all of whose tokens are in the same regions of some kinds.

    Columns: ``sentence_id``, ``position`` of the first token, and ``length`` in tokens. ``conditions`` are a
    where clause for the rows ``s`` of `sentence`; empty for all.
    """
    return _PIECES.format(parts=parts_of(of_kinds(kinds, bindings)), conditions=conditions)
