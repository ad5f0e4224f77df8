"""The statements for collocations by dependency relation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from sentgen.errors import InputError
from sentgen.lookups.base.prepositions import linked_tokens
from sentgen.lookups.base.statement import Bindings, Statement, where
from sentgen.lookups.question.patterns import tag_among
from sentgen.lookups.statistics.collocation_statements import CollocationStatements
from sentgen.lookups.statistics.relation_names import no_function

if TYPE_CHECKING:
    import pyarrow as pa

#: Each arc has two ends, of which the other one may be the node; a preposition is empty where there is none.
_PAIRS = """\
{beginning}{spelling}{links}arc as (
{arcs}
),
counted as (
  select role, deprel_id, preposition, id, count(*) as c1, count(*) filter (with_node) as o11
  from (
    select 'modifier' as role, deprel_id, preposition, modifier as id, head_is_node as with_node from arc
    union all
    select 'head', deprel_id, preposition, head, modifier_is_node from arc
  )
  group by all
),
summed as (
  select *, sum(o11) over kind as r1, sum(c1) over kind as n
  from counted
  window kind as (partition by role, deprel_id, preposition)
),
pair as (
  select deprel_id, role, preposition, id, o11::double as o11, r1::double as r1, c1::double as c1,
    n::double as n, r1::double as f
  from summed
  where o11 >= $min_count and id is not null
),
"""
_ARCS = """\
  select {relation} as deprel_id, {preposition} as preposition, {modifier} as modifier, {head} as head,
    (d.sentence_id, d.position) in {nodes} as modifier_is_node,
    (h.sentence_id, h.position) in {nodes} as head_is_node
  from {arc} as d
  join token as h on h.sentence_id = d.sentence_id and h.position = d.head{spelled}{conditions}"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationStatements(CollocationStatements):
    """Those for what governs or modifies a node.

    Args:
        relation: a pattern of dependency relations.
        prepositions: whether links by a preposition are relations, too, with a column of their own.
        content: whether relations of function words are left out.
    """

    relation: str
    prepositions: bool = False
    content: bool = False

    def keys(self) -> tuple[str, str, str]:
        """Return the columns before the collocate, the tables they are from, and how equals are ordered."""
        column, order = "", ""
        if self.prepositions:
            column, order = "nullif(preposition, '') as preposition, ", "preposition nulls first, "
        joins = "\njoin tag on tag.id = deprel_id"
        return f"tag.name as relation, role, {column}", joins, f"relation, role, {order}"

    def counted(self, connection: Connection, min_count: int) -> pa.Table:
        """Return the rows of ``pair``, counted in arrays."""
        from sentgen.lookups.statistics.arcs import arc_counts

        if not self.node.one_token:
            raise InputError(
                "by relation a node is one token; ask for collocates in a window, or for one token"
            )
        bindings = Bindings()
        relations = f"select id from tag{where(self._among('tag.id', bindings))}"
        return arc_counts(connection, self, Statement(relations, bindings), min_count)

    def pairs(self, bindings: Bindings) -> str:
        """Return the common table expressions up to ``pair``."""
        source = self.node.source(bindings)
        (modifier, of_modifier), (head, of_head) = (self.item(alias, bindings) for alias in "dh")
        kinds = [("token", "deprel_id", "''"), ("link", "relation_id", "d.preposition")]
        arcs = [
            _ARCS.format(
                relation=f"d.{relation}",
                preposition=preposition,
                modifier=modifier,
                head=head,
                nodes=f"(select {source.sentence}, {source.first} from {source.table})",
                arc=arc,
                spelled=of_modifier + of_head,
                conditions=where(
                    [
                        *self._among(f"d.{relation}", bindings),
                        *self.selection.of_tokens(bindings, "d"),
                    ],
                    "  ",
                ),
            )
            for arc, relation, preposition in kinds[: 1 + self.prepositions]
        ]
        return _PAIRS.format(
            beginning=source.with_start,
            spelling=self.spelling,
            links=linked_tokens([self.column]) if self.prepositions else "",
            arcs="\n  union all\n".join(arcs),
        )

    def _among(self, relation: str, bindings: Bindings) -> list[str]:
        """Return the conditions on a relation, a number of `tag` in SQL."""
        found = [tag_among(relation, self.relation, bindings)]
        if self.content:
            found.append(no_function(relation, bindings))
        return found
