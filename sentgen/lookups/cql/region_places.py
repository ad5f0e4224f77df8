"""Regions of a query over the ends of sentences: whole ones, as places in their documents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sentgen.lookups.cql import syntax
from sentgen.lookups.cql.regions import RegionConditions
from sentgen.lookups.regions import INNER
from sentgen.lookups.statement import where

#: Tokens that are in one block: spans are looked for in those blocks of a document that others touch.
BLOCK = 64

_PARTS = {
    "s": """\
select s.start as sentence_id, s.before + 1 as first, s.before + s.length as last, s.id as began, 0 as place
    from placed as s{conditions}""",
    "doc": """\
select s.start as sentence_id, 1 as first, sum(s.length)::integer as last, s.start as began, 0 as place
    from placed as s{conditions}
    group by s.start{having}""",
    "": """\
select b.start as sentence_id, b.before + r.position as first, e.before + r.last_position as last,
      r.sentence_id as began, r.place
    from region as r
    join placed as b on b.id = r.sentence_id
    join placed as e on e.id = r.last_sentence_id{conditions}""",
}
#: Regions that are not all in sentences that are chosen.
_CUT = """\
(r.sentence_id, r.place) not in (
      select u.sentence_id, u.place
      from (
        select sentence_id, place, unnest(range(sentence_id, last_sentence_id + 1)) as id from region
      ) as u
      where u.id not in ({chosen})
    )"""
_AT = "({sentence}, {gap}) in (select p.sentence_id, p.{place} from ({parts}) as p)"
_WITHIN = """\
  select m.*
  from {found} as m
  semi join {parts} as p on p.sentence_id = m.sentence_id and p.block = m.first // {block}
    and p.first <= m.first and p.last >= m.last"""
#: Each end moves to that of the innermost region around all, else around its token.
_EXPANDED = """\
  select m.sentence_id,
    coalesce(arg_max(p.first, {order}) filter (where p.last >= m.last), arg_max(p.first, {order}), m.first)
      as first,
    coalesce(
      arg_max(p.last, {order}) filter (where p.last >= m.last), arg_max(q.last, (q.began, q.place)), m.last
    ) as last{labels}
  from {found} as m
  left join {parts} as p on p.sentence_id = m.sentence_id and p.block = m.first // {block}
    and m.first between p.first and p.last
  left join {parts} as q on q.sentence_id = m.sentence_id and q.block = m.last // {block}
    and m.last between q.first and q.last
  group by m.sentence_id, m.first, m.last{labels}"""


def in_blocks(spans: str) -> str:
    """Return spans, of a table or a query in parentheses, once for each block of tokens that they touch."""
    return f"(select *, unnest(range(first // {BLOCK}, last // {BLOCK} + 1)) as block from {spans})"


@dataclass(frozen=True, slots=True)
class DocumentRegions(RegionConditions):
    """Writes what a query says of regions, where matches reach over the ends of sentences."""

    def _at(self, edges: Iterable[syntax.CqlEdge], sentence: str, before: str, after: str) -> list[str]:
        return [
            _AT.format(
                sentence=sentence,
                gap=before,
                place="last" if edge.end else "first - 1",
                parts=self.parts(edge.region),
            )
            for edge in sorted(edges, key=repr)
        ]

    def whole(self, region: syntax.RegionPattern, among: Sequence[str], labels: str) -> str:
        """Return the query for regions as spans; see `RegionConditions`."""
        parts = self.parts(region, among)
        return f"  select p.sentence_id, p.first, p.last{labels}\n  from ({parts}) as p"

    def within(self, region: syntax.RegionPattern, found: str) -> str:
        """Return the query for the spans of a table that lie in such a region; empty if all of them do."""
        if region.kind == "doc" and not region.tests:
            return ""
        return _WITHIN.format(found=found, parts=in_blocks(f"({self.parts(region)})"), block=BLOCK)

    def expanded(self, region: syntax.RegionPattern, found: str, labels: Iterable[str]) -> str:
        """Return the query for the spans of a table, with ends at those of regions."""
        of_labels = "".join(f", m.{column}" for column in labels)
        parts = in_blocks(f"({self.parts(region)})")
        return _EXPANDED.format(found=found, parts=parts, labels=of_labels, order=INNER, block=BLOCK)

    def parts(self, region: syntax.RegionPattern, among: Sequence[str] = ()) -> str:
        """Return the query for such regions: their key, and where they begin and end in their documents.

        Args:
            region: which ones.
            among: conditions on the rows ``s`` of `sentence` that all of it meets.
        """
        chosen = f"select s.id from sentence as s{where(among)}" if among else ""
        if not region.built_in:
            told = [self.meets(region), *([_CUT.format(chosen=chosen)] if chosen else [])]
            return _PARTS[""].format(conditions=where(told, "    "))
        told = self.in_sentences(region, "s.id")
        is_chosen, having = f"s.id in ({chosen})", ""
        if chosen and region.kind == "s":
            told.append(is_chosen)
        elif chosen:
            having = f"\n    having bool_and({is_chosen})"
        return _PARTS[region.kind].format(conditions=where(told, "    "), having=having)
