"""The statements for collocations by dependency relation: of the whole store, and of parts of it.

Parts are counted twice: first the pairs with the node, then the margins of what stands in them, which are few
of all pairs of the store.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy import Connection

from sentgen.errors import InputError
from sentgen.lookups.concordances.places import SENTENCES, SentenceRange, sentences_of
from sentgen.lookups.cql import syntax
from sentgen.lookups.cql.tokens import columns
from sentgen.lookups.patterns import tag_among
from sentgen.lookups.prepositions import linked_tokens
from sentgen.lookups.statement import Bindings, Statement, gathered, where
from sentgen.lookups.statistics.collocation_statements import CollocationStatements, also
from sentgen.lookups.statistics.relation_names import FUNCTION, NO_FUNCTION

#: Of each kind of arc, as those that follow; a preposition is empty where there is none.
_OF_NODE = """\
  select 'modifier' as role, d.{relation} as deprel_id, {preposition} as preposition, {d} as id,
    count(*) as o11
  from {arc} as d
  join token as h on h.sentence_id = d.sentence_id and h.position = d.head{spelled_d}{node_is_head}
  group by all
  union all
  select 'head', d.{relation}, {preposition}, {h}, count(*)
  from {arc} as d
  join token as h on h.sentence_id = d.sentence_id and h.position = d.head{spelled_h}{node_is_modifier}
  group by all"""
_ALONE = """\
  select 'modifier' as role, d.{relation} as deprel_id, {preposition} as preposition, {d} as id,
    count(*) as c1
  from {arc} as d{spelled_d}
  where d.head > 0
    and {d} in (select id from together where role = 'modifier'){and_arcs}
  group by all
  union all
  select 'head', d.{relation}, {preposition}, {h}, count(*)
  from {arc} as d
  join token as h on h.sentence_id = d.sentence_id and h.position = d.head{spelled_h}
  where {h} in (select id from together where role = 'head')
    and d.{relation} in (select deprel_id from together where role = 'head'){and_arcs}{and_heads}
  group by all"""
_ALL = """\
  select d.{relation} as deprel_id, {preposition} as preposition, count(*) as n
  from {arc} as d
  where d.head > 0{and_arcs}
  group by all"""
_TOGETHER = """\
linked as (
  select *, sum(o11) over (partition by deprel_id, role, preposition) as r1 from of_node
),
together as (
  select * from linked
  where o11 >= $min_count and id is not null
),
"""
_GATHERED_OF_NODE = """\
of_node as (
  select role, deprel_id, preposition, id, sum(o11)::bigint as o11
  from gathered
  group by all
),
"""
#: Of a part of the store: how often what stands with the node does in all, and as `role` null all pairs.
_PART_OF_MARGINS = """\
select * from alone
union all
select null, deprel_id, preposition, null, n from relation"""
_GATHERED_MARGINS = """\
alone as (
  select role, deprel_id, preposition, id, sum(c1)::bigint as c1
  from margin
  where role is not null
  group by all
),
relation as (
  select deprel_id, preposition, sum(c1)::bigint as n
  from margin
  where role is null
  group by all
),
"""
_MEASURED = """\
pair as (
  select deprel_id, role, preposition, id, o11::double as o11, r1::double as r1, c1::double as c1,
    n::double as n, r1::double as f
  from together
  join alone using (deprel_id, role, preposition, id)
  join relation using (deprel_id, preposition)
),
{scores}
select tag.name as relation, role, {shown_preposition}{form} as collocate, o11::bigint as count,
  c1::bigint as frequency, {shown}
from scored
join word on word.id = scored.id
join tag on tag.id = deprel_id
order by {measure} desc nulls last, o11 desc, relation, role, {by_preposition}collocate"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationStatements(CollocationStatements):
    """Those for what governs or modifies a node.

    Args:
        relation: a pattern of dependency relations.
        prepositions: whether links by a preposition are relations, too.
        content: whether relations of function words are left out.
    """

    relation: str
    prepositions: bool = False
    content: bool = False

    def whole(self, bindings: Bindings) -> str:
        """Return the statement for all of the store."""
        text = f"{self._of_node(bindings)},\n{_TOGETHER}{self._margins(bindings)},\n{self._measured}"
        return self._filled(text, bindings)

    @contextmanager
    def _counted(self, connection: Connection, bindings: Bindings) -> Iterator[None]:
        parts = self.node.parts(connection)
        with gathered(connection, "gathered", map(self._part_of_node, parts)):
            ranges = SentenceRange(1, sentences_of(connection)).cut(SENTENCES)
            margins = (self._part_of_margins(within, bindings["min_count"]) for within in ranges)
            with gathered(connection, "margin", margins):
                yield

    def _summed(self, bindings: Bindings) -> str:
        text = f"with {_GATHERED_OF_NODE}{_TOGETHER}{_GATHERED_MARGINS}{self._measured}"
        return self._filled(text, bindings)

    def _part_of_node(self, within: SentenceRange) -> Statement:
        bindings = Bindings()
        text = f"{self._of_node(bindings, within)}\nselect * from of_node"
        return Statement(self._filled(text, bindings), bindings)

    def _part_of_margins(self, within: SentenceRange, min_count: object) -> Statement:
        bindings = Bindings(min_count=min_count)
        links = self._links((), _part("t", within))
        beginning = f"with {{spelling}}{links}{_GATHERED_OF_NODE}{_TOGETHER}"
        text = f"{beginning}{self._margins(bindings, within)}\n{_PART_OF_MARGINS}"
        return Statement(self._filled(text, bindings), bindings)

    @property
    def _measured(self) -> str:
        shown = "nullif(preposition, '') as preposition, " if self.prepositions else ""
        by = "preposition nulls first, " if self.prepositions else ""
        return _MEASURED.replace("{shown_preposition}", shown).replace("{by_preposition}", by)

    def _links(self, read: Sequence[str], of_tokens: Sequence[str]) -> str:
        return linked_tokens([*read, self.column], of_tokens) if self.prepositions else ""

    def _of_node(self, bindings: Bindings, within: SentenceRange | None = None) -> str:
        """Return the common table expressions up to the pairs with the node."""
        beginning, read = "with ", set[str]()
        pattern = self.node.cql.pattern
        if not self.node.one_token:
            raise InputError(
                "by relation a node is one token; ask for collocates in a window, or for one token"
            )
        if isinstance(pattern, syntax.Token) and pattern.condition and not self.node.filters and not within:
            # The condition itself reads better than the hits that meet it.
            condition, read = pattern.condition, columns(pattern.condition)
            conditions = self.node.cql.conditions(bindings)
            of_node = {alias: [conditions.of_token(condition, alias)] for alias in "hdt"}
            among = f"select t.sentence_id from token as t{where(of_node.pop('t'), '    ')}"
        else:
            source = self.node.source(bindings, within)
            beginning = source.beginning
            among = f"select {source.sentence} from {source.table}"
            tokens = f"in (select {source.sentence}, {source.first} from {source.table})"
            of_node = {alias: [f"({alias}.sentence_id, {alias}.position) {tokens}"] for alias in "hd"}
        pairs = self._of_arcs(
            _OF_NODE,
            bindings,
            within,
            node_is_head=of_node["h"],
            node_is_modifier=of_node["d"],
        )
        # Within the whole statement, the margins are of all sentences.
        parts = [f"t.sentence_id in ({among})", *_part("t", within)] if within else []
        links = self._links(sorted(read), parts)
        return f"{beginning}{{spelling}}{links}of_node as (\n{pairs}\n)"

    def _margins(self, bindings: Bindings, within: SentenceRange | None = None) -> str:
        """Return the common table expressions for what stands with the node, and for all pairs."""
        alone, every = (self._of_arcs(one, bindings, within) for one in (_ALONE, _ALL))
        return f"alone as (\n{alone}\n),\nrelation as (\n{every}\n)"

    def _of_arcs(
        self,
        template: str,
        bindings: Bindings,
        within: SentenceRange | None,
        node_is_head: Sequence[str] = (),
        node_is_modifier: Sequence[str] = (),
    ) -> str:
        """Fill in the conditions on a modifier ``d``, and in a part on its head ``h``, by kind of arc."""
        heads = _part("h", within)
        kinds = [("token", "deprel_id", "''"), ("link", "relation_id", "d.preposition")]
        texts = []
        for arc, relation, preposition in kinds[: 1 + self.prepositions]:
            arcs = self._arcs(f"d.{relation}", bindings, within)
            told = {
                "arc": arc,
                "relation": relation,
                "preposition": preposition,
                "node_is_head": where([*node_is_head, *arcs, *heads], "  "),
                "node_is_modifier": where([*node_is_modifier, *arcs, *heads], "  "),
                "and_arcs": also(arcs),
                "and_heads": also(heads),
            }
            text = template
            for name, string in told.items():
                text = text.replace(f"{{{name}}}", string)
            texts.append(text)
        return "\n  union all\n".join(texts)

    def _arcs(self, relation: str, bindings: Bindings, within: SentenceRange | None) -> list[str]:
        """Return the conditions on a modifier ``d``."""
        arcs = [tag_among(relation, self.relation, bindings), *self.selection.of_tokens(bindings, "d")]
        if self.content:
            bindings["function"] = list(FUNCTION)
            arcs.append(NO_FUNCTION.format(relation=relation))
        return [*filter(None, arcs), *_part("d", within)]


def _part(alias: str, within: SentenceRange | None) -> list[str]:
    """Return the condition on a row of `token` that it is in a part of the store."""
    return [f"{alias}.sentence_id {within.part}"] if within else []
