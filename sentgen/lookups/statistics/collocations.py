"""Collocations: what occurs with a word more often than chance, in a window or by a dependency relation.

Every pair of a node and a collocate has a table of frequencies (Evert 2008, "Corpora and collocations")::

                      collocate     others
    with the node     o11           r1 - o11       r1
    elsewhere         c1 - o11      ...
                      c1                           n

In a window, tokens are counted: r1 are the tokens within the window of a node (each once, though windows may
overlap), c1 the tokens that are the collocate, n all tokens. By relation, pairs of head and modifier with
that relation are counted: r1 those with the node, c1 those with the collocate, n all of them. The formulas of
the measures, from these counts and e11 = r1 c1 / n, are in docs/measures.md and
`sentgen.lookups.statistics.measures`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated

from sqlalchemy import Connection

from sentgen.errors import InputError, spell
from sentgen.lookups.base.attributes import COLUMNS
from sentgen.lookups.base.patterns import PosOption, has_pos, read_pos
from sentgen.lookups.base.question import MinCountOption, OffsetOption, RowSortOption, in_pages
from sentgen.lookups.base.selection import Selection
from sentgen.lookups.base.statement import (
    Answer,
    Bindings,
    Statement,
    any_row,
    at_least,
    limit_clause,
    limited_answer,
    where,
)
from sentgen.lookups.concordances.hits import HitLookup, Query, Window
from sentgen.lookups.cql import syntax
from sentgen.lookups.cql.dialects import AS_USUAL, Reading
from sentgen.lookups.cql.search import CqlOption, check_one
from sentgen.lookups.cql.written import tokens_of, word_of
from sentgen.lookups.search.absence import QuestionValue, explain_absence
from sentgen.lookups.statistics.collocation_statements import (
    CollocationStatements,
    RelationStatements,
    WindowStatements,
)
from sentgen.lookups.statistics.measures import COLUMN, Measure, scores
from sentgen.options import Option
from sentgen.schema.engine import raw, register_arrow


class CollocateUnit(StrEnum):
    """What a collocate is."""

    WORD = "word"
    LEMMA = "lemma"


#: The window where the question names none: words before and after the node.
AROUND = Window(5, 5)
#: Collocates of a graph at most: the pairs to count grow with the square of their number.
_MOST_COLLOCATES = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Collocations(HitLookup):
    """What occurs with a word more often than chance."""

    word: Annotated[str, Option("The node: `stock`, `lemma:fall`, `stock/NN`; or CQL.", argument=True)] = ""
    cql: CqlOption = None
    window: Annotated[
        str | None,
        Option(
            "Words before and after: `5`, `L3-R2` or `3,2`; `R4` has none before.",
            shell="Words before and after: `5`, `L3-R2` or `3,2`; `R4` has none before. Default: 5.",
            metavar="N|L3-R2",
        ),
    ] = None
    dependency: Annotated[
        str | None,
        Option(
            "By a relation (`nsubj`, `*` for all) instead.",
            shell="By a dependency relation (`nsubj`, `*` for all) instead.",
            metavar="REL",
        ),
    ] = None
    by: Annotated[CollocateUnit, Option("Collocates as words or as lemmas.")] = CollocateUnit.WORD
    pos: PosOption = None
    measure: Annotated[Measure, Option("What to rank by.")] = Measure.LOGDICE
    all_measures: Annotated[
        bool, Option("Show all measures, not only the usual ones and that asked for.")
    ] = False
    graph: Annotated[
        bool,
        Option("Show, too, which of the collocates are collocates of each other, a row a pair of words."),
    ] = False
    min_count: MinCountOption = 2
    sort: RowSortOption = ""
    offset: OffsetOption = 0

    def __post_init__(self) -> None:
        HitLookup.__post_init__(self)
        check_one(self.word, self.cql)
        if self.graph and (self.sort or self.offset):
            raise InputError(
                f"a graph is one of the strongest collocates; ask without {spell('sort')} and"
                f" {spell('offset')}"
            )

    @in_pages
    def ask(self, connection: Connection) -> Answer:
        """Return what occurs with a word, the strongest first, then the most frequent, then alphabetically.

        The columns are ``collocate``; ``count``, how often it occurs with the node (o11); ``frequency``, how
        often in all (c1); and ``logdice``, ``pmi``, ``log_likelihood`` and the measure, or all measures, as
        docs/measures.md defines them. By relation, ``relation`` and ``role`` (whether the collocate is the
        head or the modifier) come first. Windows end at the sentence. The node of a query in CQL is a hit of
        any length; by relation, of one token.

        With ``graph`` a row is an edge: ``node`` comes first, and is the word that was asked for, or one of
        its collocates, in whose window the other one occurs more often than by chance; of two, the
        stronger collocate is the node. ``limit`` is that of collocates.

        Raises:
            InputError: the node is not one token, or a graph is one by relation, over the ends of sentences,
                or of too many collocates.
            NotFoundError: no such corpus.
        """
        statements = self._statements(connection)
        node, selection = statements.node, statements.selection
        # At least 1: words that never occur together have no score, as the logarithm of 0 is infinite.
        bindings = Bindings(min_count=max(self.min_count, 1))
        clause = limit_clause(self.limit, bindings)
        word = self.word if self.cql is None else self.cql
        missing = f"collocate of {word!r}{at_least(self.min_count)}"
        with ExitStack() as opened:
            texts = opened.enter_context(statements.statements(connection, bindings))
            definition, counted = (text + clause for text in texts)
            if isinstance(statements, WindowStatements) and self.graph:
                ranking, texts = COLUMN.get(self.measure, "count"), (definition, counted)
                definition, counted = opened.enter_context(
                    _graph_statements(connection, texts, word, statements, ranking, bindings)
                )
            limit = 0 if self.graph else self.limit
            answer = limited_answer(connection, Statement(counted, bindings), limit, missing)
        if not answer.rows.num_rows:
            _check_pos(connection, statements.pos, selection)
        answer = replace(answer, query=Statement(definition, bindings), remarks=node.steps(connection))
        values = list(node.values)
        if self.dependency:
            values.append(QuestionValue("deprel", self.dependency))
        trees = self.dependency is not None
        return explain_absence(connection, answer, selection, values, trees=trees, within=True)

    def _statements(self, connection: Connection) -> CollocationStatements:
        pos = read_pos(self.pos)
        window = AROUND if self.window is None else Window.read(self.window)
        self._check()
        selection = self.select(connection, sentences=True)
        node = read_node(
            connection,
            self.word,
            selection,
            cql=self.cql,
            reading=self.reading,
            one_token=self.dependency is not None,
        )
        node = self.with_filters(connection, node, selection)
        measures = self.measure.shown(every=self.all_measures)
        common = (node, COLUMNS[self.by][0], COLUMN.get(self.measure, "o11"), selection, measures, pos)
        if self.dependency:
            return RelationStatements(*common, relation=self.dependency)
        return WindowStatements(*common, window=window)

    def _check(self) -> None:
        if self.window is not None and self.dependency:
            raise InputError("a window and a dependency relation exclude each other; choose one")
        if self.dependency and self.reading.reaches:
            raise InputError(
                f"a dependency relation does not leave its sentence; ask for it without {spell('across')}"
            )
        if self.graph and (self.dependency or self.reading.reaches):
            raise InputError(
                f"a graph is one of windows in a sentence; ask without relation and {spell('across')}"
            )
        if self.graph and not 0 < self.limit <= _MOST_COLLOCATES:
            many = self.limit or "all"
            raise InputError(
                f"a graph has 1 to {_MOST_COLLOCATES} collocates, not {many}; say how many with"
                f" {spell('limit')}"
            )


def _check_pos(connection: Connection, pos: Sequence[str], selection: Selection) -> None:
    """Refuse parts of speech that no token has, instead of finding nothing."""
    bindings = Bindings()
    wanted = has_pos("t", pos, bindings)
    conditions = [*wanted, *selection.of_tokens(bindings, "t")]
    if wanted and not any_row(connection, "token as t", conditions, bindings):
        raise InputError(f"no word has a part of speech {' or '.join(pos)}; name others")


def read_node(
    connection: Connection,
    word: str,
    selection: Selection,
    *,
    cql: str | None = None,
    reading: Reading = AS_USUAL,
    one_token: bool = False,
) -> Query:
    """Read the pattern of one word, or a query in CQL.

    Args:
        cql: the query, instead of a pattern.
        reading: how the query is read.
        one_token: match single tokens only, not words that are written as one and split into several tokens.

    Raises:
        InputError: the pattern has no word, or several; or every occurrence of its word is several tokens.
    """
    node = Query.read(connection, word, selection, cql=cql, reading=reading)
    pattern = node.cql.original
    if not node.written and isinstance(pattern, syntax.Sequence):
        raise InputError(f"collocations are those of one word, and {word!r} has {len(word.split())}")
    if not one_token or pattern == node.cql.pattern:
        return node
    node = replace(node, cql=replace(node.cql, pattern=pattern))
    if not isinstance(pattern, syntax.Token) or (value := word_of(pattern)) is None:
        return node
    bindings = Bindings()
    conditions = [node.cql.of_token("t", bindings), *selection.of_tokens(bindings, "t")]
    if not any_row(connection, "token as t", conditions, bindings):
        tokens = tokens_of(connection, value, selection)
        raise InputError(
            f"{word!r} is several tokens, {tokens}, and relations are those of one; ask for one of them"
        )
    return node


_GRAPH = """\
with first_order as (
{first}
),
chosen as (
  select *, row_number() over (order by {measure} desc nulls last, count desc, collocate) as place
  from first_order
),
{pairs}{scores},
edge as (
  select {asked} as node, collocate, count, frequency, {shown}, 0 as node_place, place
  from chosen
  union all
  select a.collocate, b.collocate, o11::bigint, c1::bigint, {scored}, a.place, b.place
  from scored
  join chosen as a on a.place = scored.node
  join chosen as b on b.place = scored.other
  where o11 * n > r1 * c1
)
select node, collocate, count, frequency, {shown}
from edge
order by node_place, place"""
#: The stronger collocate of a pair is the node, and the other one occurs in its window. Windows of a word may
#: overlap: a token that several cover is counted once, and an occurrence of the word itself is counted if it
#: is in the window of another occurrence.
_PAIRS = """\
item as (
  select word.id, chosen.place
  from chosen
  join word on {form} = chosen.collocate
),
node as (
  select item.place, t.sentence_id, t.position, greatest(t.position - $left, 1) as first,
    least(t.position + $right, s.length) as last
  from token as t
  join item on item.id = t.{column}
  join sentence as s on s.id = t.sentence_id{corpora_t}
),
beside as (
  select *, lag(last) over in_order as last_before, lead(first) over in_order as first_after
  from node
  window in_order as (partition by place, sentence_id order by position)
),
margin as (
  select place, count(*) as f,
    sum(last - greatest(first, coalesce(last_before + 1, 1)) + 1)
      - count(*) filter (
        coalesce(last_before < position, true) and coalesce(first_after > position, true)
      ) as r1
  from beside
  group by place
),
spot as (
  select distinct a.place as node, b.place as other, b.sentence_id, b.position
  from node as a
  join node as b on b.sentence_id = a.sentence_id and b.position between a.first and a.last
    and b.place > a.place
),
together as (
  select node, other, count(*) as o11
  from spot
  group by node, other
  having count(*) >= $min_count
),
pair as (
  select node, other, o11::double as o11, m.r1::double as r1, c.f::double as c1,
    (select count(*) from token{corpora})::double as n, m.f::double as f
  from together
  join margin as m on m.place = together.node
  join margin as c on c.place = together.other
),
"""

#: The collocates that were counted in arrays, with their ids, the strongest first.
_CHOSEN = """\
with first_order as (
{first}
)
select counted_pairs.id, first_order.*
from first_order
join counted_pairs on {form} = first_order.collocate
order by {measure} desc nulls last, count desc, collocate"""


@contextmanager
def _graph_statements(
    connection: Connection,
    collocates: tuple[str, str],
    word: str,
    statements: WindowStatements,
    measure: str,
    bindings: Bindings,
) -> Iterator[tuple[str, str]]:
    """Yield the statement that defines the edges of a graph, and one that gets them from counts in arrays.

    The edges of the node come first, then those between its collocates, which are ranked by ``measure``.
    ``collocates`` are the same two statements for them.
    """
    # Imported late, as it takes longer than many other lookups in all.
    from sentgen.lookups.statistics.collocate_counts import graph_counts

    definition, counted = collocates
    selection, placeholder = statements.selection, bindings.bind("asked", word)
    form = selection.word_key("counted_pairs.form")
    query = Statement(_CHOSEN.format(first=counted, form=form, measure=measure), bindings)
    chosen = query.run(connection)
    counts = graph_counts(connection, statements, chosen["id"].to_numpy(), int(str(bindings["min_count"])))
    of_tokens = [*has_pos("t", statements.pos, bindings), *selection.of_tokens(bindings, "t")]
    pairs = _PAIRS.format(
        form=selection.word_key("word.form"),
        column=statements.column,
        corpora=where(selection.of_tokens(bindings), "      "),
        corpora_t=where(of_tokens, "  "),
    )
    with register_arrow(raw(connection), counted_collocates=chosen, counted_edges=counts):
        yield (
            _graph(statements, measure, placeholder, definition, pairs),
            _graph(
                statements,
                measure,
                placeholder,
                "select * exclude (id) from counted_collocates",
                "pair as (select * from counted_edges),\n",
            ),
        )


def _graph(statements: WindowStatements, measure: str, asked: str, first: str, pairs: str) -> str:
    """Return the statement for the edges; ``first`` has the collocates, ``pairs`` counts pairs of them."""
    columns = statements.shown
    return _GRAPH.format(
        first=first,
        measure=measure,
        pairs=pairs,
        scores=scores(columns),
        asked=asked,
        shown=columns,
        scored=", ".join(f"scored.{column}" for column in columns.split(", ")),
    )
