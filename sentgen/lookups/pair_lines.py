"""Concordances of two words: the lines behind the count of a dependency, a collocation or a sketch.

The node of a line is the text from one of the words to the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from sqlalchemy import Connection

from sentgen.errors import InputError
from sentgen.lookups.base.attributes import COLUMNS
from sentgen.lookups.base.patterns import ANY, TokenPattern, counted_tag, tag_among, word_among
from sentgen.lookups.base.question import LimitOption, Lookup, OffsetOption, after_offset
from sentgen.lookups.base.selection import Selection
from sentgen.lookups.base.statement import Answer, Bindings, Statement, limit_clause, limited_answer, where
from sentgen.lookups.base.surface import LINE_COLUMNS, Surface
from sentgen.lookups.concordances.hits import Window
from sentgen.lookups.cql.conditions import columns
from sentgen.lookups.cql.search import Cql, token_of
from sentgen.lookups.dependency_search import Layer
from sentgen.lookups.statistics.collocations import AROUND, CollocateUnit, read_node
from sentgen.lookups.statistics.relations import linked_tokens
from sentgen.options import Option
from sentgen.schema.tables.corpus import NO_TAG

#: Sorted by column 1, ``sentence_id``: in a join of two tables, that name would be ambiguous.
_PAIRS = """\
{beginning}pair as (
  {pairs}
  order by 1, first, last, place{limit}
),
"""

_DEPENDENCY = """\
select m.sentence_id, m.position as place,
    least(m.position, h.position) as first, greatest(m.position, h.position) as last
  from token as m
  join corpus on corpus.id = m.corpus_id
  join token as h on h.sentence_id = m.sentence_id and h.position = m.{head}{conditions}"""

#: A collocate in the windows of several nodes is paired with the nearest one: it is counted once.
_COLLOCATION = """\
select sentence_id, position as place, least(position, node.first) as first,
    greatest(position, node.last) as last
  from (
    select t.sentence_id, t.position,
      arg_min(n, greatest(n.first - t.position, t.position - n.last)) as node
    from {node} as n
    join token as t on t.sentence_id = n.sentence_id
      and t.position between n.first - $before and n.last + $after
      and t.position not between n.first and n.last{conditions}
    group by t.sentence_id, t.position
  )"""
_RELATED = """\
select d.sentence_id, d.position as place,
    least(d.position, h.position) as first, greatest(d.position, h.position) as last
  from {arc} as d
  join token as h on h.sentence_id = d.sentence_id and h.position = d.head{conditions}"""
_LINES = (
    LINE_COLUMNS.format(shown="", node="node", more="") + "\norder by line.sentence_id, first, last, place"
)
#: Words of context on each side.
_CONTEXT = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class PairLines(Lookup):
    """The lines with a word and another one that modifies it, governs it, or stands in its window."""

    word: Annotated[str, Option("Pattern of the word; with a collocate or a relation, of one token.")]
    other: Annotated[
        str, Option("Pattern of the other one; of a collocate, of one token; in a relation, as it is.")
    ]
    role: Annotated[Literal["modifier", "head", "collocate"], Option("What the other one is.")]
    tag: Annotated[str, Option("Tag of the other one.")] = "*"
    direction: Annotated[
        Literal["left", "right"], Option("Side of the head on which the modifier stands.")
    ] = "left"
    layer: Annotated[Layer, Option("Tree of words, or of units.")] = Layer.WORD
    window: Annotated[str | None, Option("Words before and after, in which a collocate stands.")] = None
    relation: Annotated[str, Option("Relation in which they stand, as a sketch counts them.")] = ""
    preposition: Annotated[str, Option("Preposition by which they stand in it.")] = ""
    by: Annotated[CollocateUnit, Option("What the other one is in a relation.")] = CollocateUnit.WORD
    offset: OffsetOption = 0
    limit: LimitOption = 50

    def ask(self, connection: Connection) -> Answer:
        """Return lines with the two words, the text between them, and their context."""
        return after_offset(self, lambda question: question._ask(connection))

    def _ask(self, connection: Connection) -> Answer:
        selection, bindings = self.select(connection, sentences=True), Bindings(context=_CONTEXT)
        find = self._dependency
        if self.role == "collocate":
            find = self._collocation
        elif self.relation:
            find = self._relation
        beginning, pairs, missing = find(connection, selection, bindings)
        text = _PAIRS.format(beginning=beginning, pairs=pairs, limit=limit_clause(self.limit, bindings, "  "))
        text += Surface.of_store(connection).lines("pair", ["place"]) + _LINES
        return limited_answer(connection, Statement(text, bindings), self.limit, f"line {missing}")

    def _dependency(
        self, connection: Connection, selection: Selection, bindings: Bindings
    ) -> tuple[str, str, str]:
        """Return the beginning of a statement, the query for pairs of head and modifier, and a description.

        The pairs are as many as `sentgen.lookups.dependency_search.Dependencies` counts.
        """
        word, other = (self.word, ANY), (self.other, self.tag)
        head, modifier = (word, other) if self.role == "modifier" else (other, word)
        conditions = [f"m.position {'<' if self.direction == 'left' else '>'} h.position"]
        for alias, (pattern, tag) in (("h", head), ("m", modifier)):
            form = selection.fold(pattern)
            conditions.append(word_among(f"{alias}.word_id", form, bindings, selection))
            # The tag by which the events were counted.
            conditions.append(tag_among(f"coalesce({counted_tag(alias)}, {NO_TAG})", tag, bindings))
        pairs = _DEPENDENCY.format(
            head="unit_head" if self.layer is Layer.UNIT else "head",
            conditions=where([*conditions, *selection.of_tokens(bindings, "m")], "  "),
        )
        return "with ", pairs, f"in which {head[0]!r} governs {modifier[0]!r}"

    def _collocation(
        self, connection: Connection, selection: Selection, bindings: Bindings
    ) -> tuple[str, str, str]:
        """Return the same for pairs of a word and a collocate in its window, each collocate once.

        The pairs are as many as `Collocations` counts.
        """
        window = AROUND if self.window is None else Window.read(self.window)
        bindings |= {"before": window.left, "after": window.right}
        node = read_node(connection, self.word, selection).source(bindings)
        of_collocate = _one_token(connection, self.other, selection).of_token("t", bindings)
        pairs = _COLLOCATION.format(node=node.table, conditions=where([of_collocate], "    "))
        return node.with_start, pairs, f"with {self.word!r} and {self.other!r}"

    def _relation(
        self, connection: Connection, selection: Selection, bindings: Bindings
    ) -> tuple[str, str, str]:
        """Return the same for pairs in a dependency relation, as many as `Sketch` counts."""
        bindings |= {"collocate": self.other, "relation": self.relation}
        token = _one_token(connection, self.word, selection)
        node, other = ("h", "d") if self.role == "modifier" else ("d", "h")
        column = COLUMNS[self.by][0]
        form = f"{selection.word_key('form')} = {selection.word_key('$collocate')}"
        arc, kind, links, linked = "token", "deprel_id", "", ""
        if self.preposition:
            around = f"select n.sentence_id from token as n where {token.of_token('n', bindings)}"
            read = [*columns(token.condition), column]
            links = linked_tokens(read, [f"t.sentence_id in ({around})"])
            arc, kind = "link", "relation_id"
            linked = f"d.preposition = {bindings.bind('preposition', self.preposition)}"
        conditions = [
            token.of_token(node, bindings),
            f"{other}.{column} in (select id from word where {form})",
            f"d.{kind} = (select id from tag where name = $relation)",
            linked,
            *selection.of_tokens(bindings, "d"),
        ]
        pairs = _RELATED.format(arc=arc, conditions=where(conditions, "  "))
        return f"with {links}", pairs, f"with {self.word!r} and {self.other!r} in this relation"


def _one_token(connection: Connection, pattern: str, selection: Selection) -> Cql:
    tokens = TokenPattern.read_all(connection, pattern, selection)
    if len(tokens) > 1:
        raise InputError(f"collocates are single words, and {pattern!r} has {len(tokens)}")
    return Cql.of_pattern(connection, pattern, token_of(tokens[0]), selection)
