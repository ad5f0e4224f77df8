"""Concordances of two words: the lines behind the count of a dependency, a collocation or a sketch.

The node of a line reaches from one of the words to the other.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection

from sentgen.errors import InputError
from sentgen.lookups.attributes import COLUMNS
from sentgen.lookups.concordances.hits import read_pattern
from sentgen.lookups.concordances.surface import LINE_COLUMNS, surface_of
from sentgen.lookups.cql import syntax
from sentgen.lookups.cql.search import Cql, query_of
from sentgen.lookups.cql.tokens import columns
from sentgen.lookups.cql.words import token_of
from sentgen.lookups.dependency_search import End, Layer
from sentgen.lookups.patterns import counted_tag, loose, tag_among, word_among
from sentgen.lookups.prepositions import linked_tokens
from sentgen.lookups.selection import Selection
from sentgen.lookups.statement import Answer, Bindings, Statement, limit_clause, limited, where
from sentgen.lookups.statistics.collocations import CollocateUnit, read_node
from sentgen.lookups.windows import Window
from sentgen.schema.tables.corpus import NO_TAG

#: Sorted by the number of a column: of pairs of two tables, its name is that of two.
_PAIRS = """\
{beginning}{links}pair as (
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

#: Of several nodes in reach, the collocate goes with the nearest one: it is counted once.
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
#: Words on each side.
_CONTEXT = 12


def dependency_lines(
    connection: Connection,
    head: End,
    modifier: End,
    *,
    direction: str,
    layer: Layer,
    selection: Selection,
    limit: int,
) -> Answer:
    """Return the places where a word governs another one, as many as `Dependencies` counts.

    Args:
        connection: the store.
        head: what the head is.
        modifier: what the modifier is.
        direction: side of the head on which the modifier stands, ``left`` or ``right``.
        layer: the tree of words or the tree of units.
        selection: the corpora, and how words are compared.
        limit: lines at most, 0 for all.
    """
    bindings = Bindings(context=_CONTEXT)
    conditions = [f"m.position {'<' if direction == 'left' else '>'} h.position"]
    for alias, end in (("h", head), ("m", modifier)):
        conditions.append(_word(alias, end.pattern, selection, bindings))
        # As the events were counted.
        conditions.append(tag_among(f"coalesce({counted_tag(alias)}, {NO_TAG})", end.tag, bindings))
    pairs = _DEPENDENCY.format(
        head="unit_head" if layer is Layer.UNIT else "head",
        conditions=where([*conditions, *selection.of_tokens(bindings, "m")], "  "),
    )
    missing = f"line in which {head.pattern!r} governs {modifier.pattern!r}"
    return _lines(connection, pairs, bindings, limit, missing)


def collocation_lines(
    connection: Connection,
    word: str,
    collocate: str,
    *,
    window: Window,
    selection: Selection,
    limit: int,
) -> Answer:
    """Return the places where a collocate stands in the window of a word, each of them once.

    As many as `Collocations` counts; the collocate is a pattern of one token, the word as it is written.
    """
    bindings = Bindings(context=_CONTEXT, before=window.left, after=window.right)
    node = read_node(connection, word, selection).source(bindings)
    of_collocate = _one_token(connection, collocate, selection).of_token("t", bindings)
    pairs = _COLLOCATION.format(node=node.table, conditions=where([of_collocate], "    "))
    missing = f"line with {word!r} and {collocate!r}"
    return _lines(connection, pairs, bindings, limit, missing, beginning=node.beginning)


def relation_lines(
    connection: Connection,
    word: str,
    collocate: str,
    *,
    by: CollocateUnit,
    role: str,
    relation: str,
    preposition: str,
    selection: Selection,
    limit: int,
) -> Answer:
    """Return the places where a word stands in a relation, as many as `Sketch` counts.

    Args:
        connection: the store.
        word: pattern of one token.
        collocate: a word or lemma as it is, no pattern.
        by: which of the two it is.
        role: whether the collocate is the ``modifier`` or the ``head``.
        relation: its name in the treebank.
        preposition: what links them, with the relation; empty for the relation alone.
        selection: the corpora, and how words are compared.
        limit: lines at most, 0 for all.
    """
    bindings = Bindings(context=_CONTEXT, collocate=collocate, relation=relation)
    token = _one_token(connection, word, selection)
    node, other = ("h", "d") if role == "modifier" else ("d", "h")
    form = f"{selection.spelled('form')} = {selection.spelled('$collocate')}"
    arc, kind, links, linked = "token", "deprel_id", "", ""
    if preposition:
        around = f"select n.sentence_id from token as n where {token.of_token('n', bindings)}"
        read = [*columns(token.condition), COLUMNS[by][0]]
        links = linked_tokens(read, [f"t.sentence_id in ({around})"])
        arc, kind = "link", "relation_id"
        linked = f"d.preposition = {bindings.bind('preposition', preposition)}"
    conditions = [
        token.of_token(node, bindings),
        f"{other}.{COLUMNS[by][0]} in (select id from word where {form})",
        f"d.{kind} = (select id from tag where name = $relation)",
        linked,
        *selection.of_tokens(bindings, "d"),
    ]
    pairs = _RELATED.format(arc=arc, conditions=where(conditions, "  "))
    missing = f"line with {word!r} and {collocate!r} in this relation"
    return _lines(connection, pairs, bindings, limit, missing, links)


@dataclass(frozen=True, slots=True)
class _OneToken:
    """What one token is asked to be, in a query."""

    cql: Cql
    condition: syntax.Condition

    def of_token(self, alias: str, bindings: Bindings) -> str:
        """Return the condition on a row of `token`."""
        return self.cql.conditions(bindings).of_token(self.condition, alias)


def _one_token(connection: Connection, pattern: str, selection: Selection) -> _OneToken:
    tokens = read_pattern(connection, pattern, selection)
    if len(tokens) > 1:
        raise InputError(f"collocates are single words, and {pattern!r} has {len(tokens)}")
    token = token_of(tokens[0])
    assert token.condition is not None
    return _OneToken(query_of(connection, pattern, token, selection), token.condition)


def _word(alias: str, pattern: str, selection: Selection, bindings: Bindings) -> str:
    folded = selection.fold(pattern)
    return word_among(f"{alias}.word_id", folded, bindings, ignore_case=loose(folded, selection))


def _lines(
    connection: Connection,
    pairs: str,
    bindings: Bindings,
    limit: int,
    missing: str,
    links: str = "",
    *,
    beginning: str = "with ",
) -> Answer:
    cut = limit_clause(limit, bindings, "  ")
    text = _PAIRS.format(beginning=beginning, links=links, pairs=pairs, limit=cut)
    text += surface_of(connection).lines("pair", ["place"]) + _LINES
    return limited(connection, Statement(text, bindings), limit, missing)
