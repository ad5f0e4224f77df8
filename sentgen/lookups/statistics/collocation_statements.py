"""The SQL for collocates: a statement that defines them, and one that measures counts made in arrays."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from sentgen.errors import InputError
from sentgen.lookups.base.cache import SPELLINGS, forms_of
from sentgen.lookups.base.patterns import has_pos, tag_among
from sentgen.lookups.base.selection import Selection
from sentgen.lookups.base.statement import (
    DOCUMENT,
    Bindings,
    Statement,
    document_tokens,
    expressions_text,
    where,
)
from sentgen.lookups.concordances.hits import Query, Window
from sentgen.lookups.statistics.measures import scores
from sentgen.lookups.statistics.relations import linked_tokens, no_function
from sentgen.schema.engine import raw, register_arrow

if TYPE_CHECKING:
    import pyarrow as pa

#: One id for all words that differ in capital letters only.
SPELLING = f"spelling as (\n  {SPELLINGS}\n),\n"

#: What follows the common table expression ``pair``, the table of frequencies of each collocate.
_MEASURED = """\
{scores}
select {keys}{form} as collocate, o11::bigint as count, c1::bigint as frequency,
  {shown}
from scored{joins}
order by {measure} desc nulls last, o11 desc, {order}collocate"""

_PAIRS = """\
{beginning}{spelling}node as (
  select {sentence} as sentence_id, {first} as first, {last} as last
  from {source}
),
{spots},
together as (
  select id, count(*) as o11
  from spot
  where id is not null
  group by id
  having count(*) >= $min_count
),
alone as (
  select {item} as id, count(*) as c1
  from token as t{spelled}
  where {item} in (select id from together){and_corpora}
  group by {item}
),
pair as (
  select id, o11::double as o11, (select count(*) from spot)::double as r1, c1::double as c1,
    (select count(*) from token{corpora})::double as n, (select count(*) from node)::double as f
  from together
  join alone using (id)
),
"""
_SPOTS = """\
spot as (
  select distinct t.sentence_id, t.position, {item} as id
  from node
  join token as t on t.sentence_id = node.sentence_id
    and t.position between node.first - $left and node.last + $right
    and t.position not between node.first and node.last{spelled}
)"""
#: Windows that cross the ends of sentences, joined position by position: to join a range of positions, DuckDB
#: would compare each node with all tokens of its document.
_SPOTS_ACROSS = """\
beside as (
  select distinct sentence_id,
    unnest(list_concat(range(first - $left, first), range(last + 1, last + $right + 1))) as place
  from {nodes}
),
spot as (
  select t.sentence_id, t.position, {item} as id
  from beside
  join running as t on t.start = beside.sentence_id and t.place = beside.place{chosen}{spelled}
)"""
#: Nodes with positions in the document instead of the sentence.
_PLACED_NODES = """(
    select p.start as sentence_id, p.before + n.first as first, p.before + n.last as last
    from node as n
    join placed as p on p.id = n.sentence_id
  )"""


@dataclass(frozen=True, slots=True)
class CollocationStatements(ABC):
    """Writes the statements for the collocates of a node.

    Args:
        column: column of `token` with the id of a collocate.
        measure: column to rank by.
        shown: the columns of measures, with commas between them.
        pos: patterns of parts of speech, one of which a collocate has; none for all.
    """

    node: Query
    column: str
    measure: str
    selection: Selection
    shown: str
    pos: Sequence[str] = ()

    @contextmanager
    def statements(self, connection: Connection, bindings: Bindings) -> Iterator[tuple[str, str]]:
        """Yield the statement that defines the collocates, and one that gets its rows from counts in arrays.

        Neither has a limit yet; ``min_count`` is bound.
        """
        # Imported late, as it takes longer than many other lookups in all.
        from sentgen.lookups.search.number_sets import unique_inverse

        rows_of_words = self._measured_rows("word.form", "\njoin word on word.id = scored.id")
        definition = self.pairs(bindings) + rows_of_words
        counts = self.count_pairs(connection, int(str(bindings["min_count"])))
        different, rows = unique_inverse(counts["id"].to_numpy())
        # A join with `word` takes longer than this lookup of the forms.
        forms = forms_of(connection, different).take(rows)
        with register_arrow(raw(connection), counted_pairs=counts.append_column("form", forms)):
            rows_of_counts = self._measured_rows("scored.form", "")
            yield definition, f"with pair as (select * from counted_pairs),\n{rows_of_counts}"

    def _measured_rows(self, form: str, join: str) -> str:
        """Return the part of a statement behind ``pair``: the rows with their measures, sorted."""
        keys, joins, order = self.keys()
        return _MEASURED.format(
            scores=scores(self.shown),
            keys=keys,
            form=self.selection.word_key(form),
            shown=self.shown,
            joins=join + joins,
            measure=self.measure,
            order=order,
        )

    def keys(self) -> tuple[str, str, str]:
        """Return the columns before the collocate, the joins for them, and the columns that order ties."""
        return "", "", ""

    @abstractmethod
    def pairs(self, bindings: Bindings) -> str:
        """Return the common table expressions up to ``pair``."""

    @abstractmethod
    def count_pairs(self, connection: Connection, min_count: int) -> pa.Table:
        """Return the rows of ``pair``, counted in arrays."""

    @property
    def spelling_table(self) -> str:
        """The common table expression with the lower-cased spelling of each word; empty where case counts."""
        return SPELLING if self.selection.ignore_case else ""

    def item(self, alias: str, bindings: Bindings) -> tuple[str, str]:
        """Return the id of a collocate in SQL, for a row of `token`, and the join that it needs."""
        item = f"{alias}.{self.column}"
        if wanted := has_pos(alias, self.pos, bindings):
            # Tokens of other parts of speech still count as tokens of the window, with null for an id.
            item = f"case when {wanted[0]} then {item} end"
        if not self.selection.ignore_case:
            return item, ""
        name = f"spelling_{alias}"
        return f"{name}.folded", f"\n  left join spelling as {name} on {name}.id = {item}"


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowStatements(CollocationStatements):
    """Statements for collocates in a window: ``window`` words before and after the node."""

    window: Window

    def count_pairs(self, connection: Connection, min_count: int) -> pa.Table:
        from sentgen.lookups.statistics.collocate_counts import window_counts

        return window_counts(connection, self, min_count)

    def pairs(self, bindings: Bindings) -> str:
        bindings.update(left=self.window.left, right=self.window.right)
        source = self.node.source(bindings)
        item, spelled = self.item("t", bindings)
        spots, nodes, chosen, places = _SPOTS, "node", list[str](), ""
        if self.node.across:
            spots = _SPOTS_ACROSS
            if source.extent is not DOCUMENT:
                nodes, places = _PLACED_NODES, expressions_text(document_tokens())
            if self.selection.condition is not None:
                chosen = self.selection.of_tokens(bindings, "t")
        of_tokens = self.selection.of_tokens
        return _PAIRS.format(
            beginning=source.with_start + places,
            spelling=self.spelling_table,
            sentence=source.sentence,
            first=source.first,
            last=source.last,
            source=source.table,
            spots=spots.format(nodes=nodes, item=item, spelled=spelled, chosen=_more_conditions(chosen)),
            item=item,
            spelled=spelled,
            and_corpora=_more_conditions(of_tokens(bindings, "t")),
            corpora=where(of_tokens(bindings), "      "),
        )


def _more_conditions(conditions: Sequence[str]) -> str:
    """Return further conditions of a where clause, one a line."""
    return "".join(f"\n    and {condition}" for condition in conditions)


#: Each arc counts twice, with its head and with its modifier as the node; without a preposition, that is ''.
_RELATION_PAIRS = """\
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
    """Statements for the heads and the modifiers of a node.

    Args:
        prepositions: whether links through a preposition count, too, with the preposition in a column.
        content: whether relations of function words are left out.
    """

    relation: str
    prepositions: bool = False
    content: bool = False

    def keys(self) -> tuple[str, str, str]:
        column, order = "", ""
        if self.prepositions:
            column, order = "nullif(preposition, '') as preposition, ", "preposition nulls first, "
        joins = "\njoin tag on tag.id = deprel_id"
        return f"tag.name as relation, role, {column}", joins, f"relation, role, {order}"

    def count_pairs(self, connection: Connection, min_count: int) -> pa.Table:
        from sentgen.lookups.statistics.collocate_counts import arc_counts

        if not self.node.one_token:
            raise InputError(
                "by relation a node is one token; ask for collocates in a window, or for one token"
            )
        bindings = Bindings()
        relations = f"select id from tag{where(self._among('tag.id', bindings))}"
        return arc_counts(connection, self, Statement(relations, bindings), min_count)

    def pairs(self, bindings: Bindings) -> str:
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
                    [*self._among(f"d.{relation}", bindings), *self.selection.of_tokens(bindings, "d")], "  "
                ),
            )
            for arc, relation, preposition in kinds[: 1 + self.prepositions]
        ]
        return _RELATION_PAIRS.format(
            beginning=source.with_start,
            spelling=self.spelling_table,
            links=linked_tokens([self.column]) if self.prepositions else "",
            arcs="\n  union all\n".join(arcs),
        )

    def _among(self, relation: str, bindings: Bindings) -> list[str]:
        conditions = [tag_among(relation, self.relation, bindings)]
        if self.content:
            conditions.append(no_function(relation, bindings))
        return conditions
