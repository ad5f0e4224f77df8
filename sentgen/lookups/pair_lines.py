"""Concordances of two words: the lines behind the count of a dependency, a collocation or a sketch.

The node of a line reaches from one of the words to the other.
"""

from __future__ import annotations

from sqlalchemy import Connection

from sentgen.errors import InputError
from sentgen.lookups.attributes import COLUMNS
from sentgen.lookups.concordances.hits import read_pattern
from sentgen.lookups.concordances.surface import LINE_COLUMNS, surface_of
from sentgen.lookups.dependency_search import End, Layer
from sentgen.lookups.patterns import TokenPattern, counted_tag, loose, tag_among, word_among
from sentgen.lookups.prepositions import linked_tokens
from sentgen.lookups.selection import Selection
from sentgen.lookups.statement import Answer, Bindings, Statement, limit_clause, limited, where
from sentgen.lookups.statistics.collocations import CollocateUnit, read_node
from sentgen.lookups.windows import Window
from sentgen.schema.tables.corpus import NO_TAG

#: Sorted by the number of a column: of pairs of two tables, its name is that of two.
_LINES = (
    """\
{beginning}{links}pair as (
  {pairs}
  order by 1, first, last, place{limit}
),
line as (
  select pair.sentence_id, pair.first, pair.last, pair.place,
    {columns}
  from pair
  join token as c on c.sentence_id = pair.sentence_id
    and c.position between pair.first - $context and pair.last + $context
  join word on word.id = c.word_id{surface}
  group by pair.sentence_id, pair.first, pair.last, pair.place
)
"""
    + LINE_COLUMNS
    + "\norder by line.sentence_id, first, last, place"
)

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
    from ({node}) as n
    join token as t on t.sentence_id = n.sentence_id
      and t.position between n.first - $before and n.last + $after
      and t.position not between n.first and n.last{conditions}
    group by t.sentence_id, t.position
  )"""
_NODE = "select n.sentence_id, n.position as first, n.position as last from token as n{conditions}"
_RELATED = """\
select d.sentence_id, d.position as place,
    least(d.position, h.position) as first, greatest(d.position, h.position) as last
  from {arc} as d
  join token as h on h.sentence_id = d.sentence_id and h.position = d.head{conditions}"""
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
    hits, beginning = read_node(connection, word, selection), "with "
    if hits.one_token:
        of_node = _one_token(connection, word, selection).conditions("n", bindings)
        node = _NODE.format(conditions=where([*of_node, *selection.of_tokens(bindings, "n")], "      "))
    else:
        source = hits.source(bindings)
        node, beginning = f"select * from {source.table}", source.beginning
    of_collocate = _one_token(connection, collocate, selection).conditions("t", bindings)
    pairs = _COLLOCATION.format(node=node, conditions=where(of_collocate, "    "))
    missing = f"line with {word!r} and {collocate!r}"
    return _lines(connection, pairs, bindings, limit, missing, beginning=beginning)


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
        around = where(token.conditions("n", bindings), "    ")
        among = f"t.sentence_id in (select n.sentence_id from token as n{around})"
        links = linked_tokens([*token.columns, COLUMNS[by][0]], [among])
        arc, kind = "link", "relation_id"
        linked = f"d.preposition = {bindings.bind('preposition', preposition)}"
    conditions = [
        *token.conditions(node, bindings),
        f"{other}.{COLUMNS[by][0]} in (select id from word where {form})",
        f"d.{kind} = (select id from tag where name = $relation)",
        linked,
        *selection.of_tokens(bindings, "d"),
    ]
    pairs = _RELATED.format(arc=arc, conditions=where(conditions, "  "))
    missing = f"line with {word!r} and {collocate!r} in this relation"
    return _lines(connection, pairs, bindings, limit, missing, links)


def _one_token(connection: Connection, pattern: str, selection: Selection) -> TokenPattern:
    tokens = read_pattern(connection, pattern, selection)
    if len(tokens) > 1:
        raise InputError(f"collocates are single words, and {pattern!r} has {len(tokens)}")
    return tokens[0]


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
    surface = surface_of(connection)
    columns = surface.columns("pair.first", "pair.last", "pair.first - $context")
    told = {"columns": columns, "surface": surface.join, "shown": "", "node": "node", "more": ""}
    text = _LINES.format(beginning=beginning, links=links, pairs=pairs, limit=cut, **told)
    return limited(connection, Statement(text, bindings), limit, missing)
