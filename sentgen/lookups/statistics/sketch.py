"""Word sketches: the strongest collocates of a word in each dependency relation (Kilgarriff et al. 2004).

Kilgarriff, Rychlý, Smrž and Tugwell 2004, "The Sketch Engine", EURALEX; collocates are ranked by logDice, as
`sentgen.lookups.statistics.collocations` defines it. Relations have names for people
(`sentgen.lookups.statistics.relations`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from sqlalchemy import Connection

from sentgen.errors import InputError
from sentgen.lookups.base.attributes import COLUMNS
from sentgen.lookups.base.question import Lookup, MinCountOption
from sentgen.lookups.base.statement import Answer, Bindings, Statement, at_least, limited_answer
from sentgen.lookups.search.absence import explain_absence
from sentgen.lookups.statistics.collocation_statements import RelationStatements
from sentgen.lookups.statistics.collocations import CollocateUnit, read_node
from sentgen.lookups.statistics.measures import COLUMN, Measure
from sentgen.lookups.statistics.relations import NAME, NAMED, word_of
from sentgen.options import Option
from sentgen.schema.engine import raw, register_arrow

#: Relations with most pairs come first; pairs with collocates that are not shown count, too.
_SKETCH = """\
with collocate as (
{collocates}
),
named as (
  {named}
),
ranked as (
  select *, sum(count) over (partition by relation, role, preposition)::bigint as pairs,
    row_number() over (
      partition by relation, role, preposition order by {measure} desc nulls last, count desc, collocate
    ) as rank
  from collocate{content}
)
select relation, role, preposition, pairs, rank, collocate, count, frequency, {shown},
  {name} as name
from ranked
left join named as exact using (relation, role)
left join (select relation as of_all, role, name from named) as base
  on base.of_all = split_part(relation, ':', 1) and base.role = ranked.role{each}
order by pairs desc, relation, ranked.role, preposition nulls first, rank"""
#: Collocates without a letter or a digit are left out.
_CONTENT = r"""
  where regexp_matches(collocate, '[\pL\pN]')"""
#: The value of ``word`` for collocates of both words.
BOTH = "both"
_SKETCHES = """\
sketch as (
{word}
),
sketch_against as (
{against}
),
"""
#: Both sketches are complete, so that each relation has a collocate of rank 1.
_COMPARED = """\
with {sketches}either as (
  select *, false as against from sketch
  union all
  select *, true from sketch_against
),
ranked as (
  select *,
    sum(pairs) filter (rank = 1) over (partition by relation, role, preposition) as both_pairs,
    count >= {min_count} and row_number() over (
      partition by against, relation, role, preposition, count >= {min_count} order by rank
    ) <= {limit} as strong
  from either
),
compared as (
  select relation, role, preposition, any_value(both_pairs)::bigint as pairs, collocate,
    {columns},
    any_value(name) as name
  from ranked
  group by relation, role, preposition, collocate
  having bool_or(strong)
)
select relation, role, preposition, pairs,
  case when count is null then {second} when count_against is null then {first} else '{both}' end as word,
  collocate, {names}, name
from compared
order by pairs desc, relation, role, preposition nulls first,
  case when count_against is null then 0 when count is null then 2 else 1 end,
  case when count is not null and count_against is not null then {measure}_against - {measure}
    else -coalesce({measure}, {measure}_against) end,
  collocate"""
_COLUMNS = """\
any_value({column}) filter (not against) as {column},
    any_value({column}) filter (against) as {column}_against"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sketch(Lookup):
    """The strongest collocates of a word in each dependency relation."""

    word: Annotated[str, Option("The word: `stock`, `lemma:fall`, `stock/NN`.", argument=True)]
    against: Annotated[
        str | None,
        Option("Another word: what each has that the other has not, and what they share.", metavar="WORD"),
    ] = None
    by: Annotated[CollocateUnit, Option("Collocates as words or as lemmas.")] = CollocateUnit.LEMMA
    measure: Annotated[Measure, Option("What to rank by.")] = Measure.LOGDICE
    min_count: MinCountOption = 2
    function_words: Annotated[bool, Option("Function words and punctuation, too.")] = False
    limit: Annotated[
        int,
        Option(
            "Collocates of a relation; 0 for all.",
            short="-n",
            least=0,
            api={"le": 1_000_000},
        ),
    ] = 10

    def ask(self, connection: Connection) -> Answer:
        """Return the strongest collocates of a word in each relation, the most frequent relations first.

        The columns are ``relation``; ``role``, whether the collocates are heads or modifiers;
        ``preposition``, if only pairs with it were counted; ``pairs``, how often the word is in that relation
        to any collocate; ``rank``; those of `sentgen.lookups.statistics.collocations.Collocations`; and
        ``name``, the relation in words.

        Against another word, each relation has the strongest collocates of both: ``word`` is the word that
        has the collocate, or ``both``; ``count_against`` and a column of the measure, such as
        ``logdice_against``, are those of the other word.

        If one of the words has no collocates, its answer without rows is returned.

        Raises:
            InputError: the pattern is not of one token, or both words are the same.
            NotFoundError: no such corpus.
        """
        if self.against is None:
            return self._alone(connection, self.word, word_of(self.word))
        words = (self.word, self.against)
        if self.against == self.word:
            raise InputError(f"{self.word!r} against itself has no difference; give another word")
        # Complete, as a collocate that is rare with one word may be frequent with the other.
        complete = replace(self, min_count=1, limit=0)
        both = " / ".join(map(word_of, words))
        sketches = [complete._alone(connection, word, both) for word in words]
        if empty := [sketch for sketch in sketches if sketch.is_empty]:
            return empty[0]
        return self._difference(connection, words, sketches)

    def _alone(self, connection: Connection, word: str, name: str) -> Answer:
        """Return the sketch of one word; the names of its relations show ``name`` for the word."""
        selection = self.select(connection, sentences=True)
        node = read_node(connection, word, selection, one_token=True)
        bindings = Bindings(min_count=max(self.min_count, 1), shown=name)
        column = COLUMN.get(self.measure, "o11")
        measures = self.measure.shown()
        statements = RelationStatements(
            *(node, COLUMNS[self.by][0], column, selection, measures),
            relation="*",
            prepositions=True,
            content=not self.function_words,
        )
        strongest = f"\nwhere rank <= {bindings.bind('each', self.limit)}" if self.limit else ""
        missing = f"collocate of {word!r} in a relation{at_least(self.min_count)}"
        with statements.statements(connection, bindings) as texts:
            definition, counted = (
                _SKETCH.format(
                    collocates=text.rpartition("\norder by")[0],
                    named=NAMED,
                    measure=COLUMN.get(self.measure, "count"),
                    content="" if self.function_words else _CONTENT,
                    shown=measures,
                    name=NAME,
                    each=strongest,
                )
                for text in texts
            )
            answer = limited_answer(connection, Statement(counted, bindings), 0, missing)
            answer = replace(answer, query=Statement(definition, bindings))
            return explain_absence(connection, answer, selection, node.values, trees=True, within=True)

    def _difference(self, connection: Connection, words: Sequence[str], sketches: Sequence[Answer]) -> Answer:
        """Return the difference of two words, from their complete sketches.

        Each relation has the ``limit`` strongest collocates of either word: first those of the first word
        alone, then the shared ones, from the preference of the first word to that of the second, then those
        of the second word alone. Relations with most pairs of both words come first.
        """
        word, against = (sketch.query for sketch in sketches)
        bindings = Bindings(**word.parameters)
        measure = COLUMN.get(self.measure, "count")
        columns = ["count"] if measure == "count" else ["count", measure]
        values = {
            "min_count": bindings.bind("least", self.min_count),
            "limit": bindings.bind("each", self.limit) if self.limit else "'infinity'::double",
            "first": bindings.bind("first", word_of(words[0])),
            "second": bindings.bind("second", word_of(words[1])),
            "both": BOTH,
            "columns": ",\n    ".join(_COLUMNS.format(column=column) for column in columns),
            "names": ", ".join(f"{column}, {column}_against" for column in columns),
            "measure": measure,
        }
        # The two may have different parameters of the same name: the second statement has its values inline.
        tables = _SKETCHES.format(word=word.text, against=against.with_values())
        definition, counted = (_COMPARED.format(sketches=text, **values) for text in (tables, ""))
        missing = f"collocate of {words[0]!r} or {words[1]!r} in a relation"
        with register_arrow(raw(connection), sketch=sketches[0].table, sketch_against=sketches[1].table):
            answer = limited_answer(connection, Statement(counted, bindings), 0, missing)
        return replace(answer, query=Statement(definition, bindings))
