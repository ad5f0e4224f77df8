"""Word sketches: the strongest collocates of a word in each dependency relation (Kilgarriff et al. 2004).

Kilgarriff, Rychlý, Smrž and Tugwell 2004, "The Sketch Engine", EURALEX; collocates are ranked by logDice, as
`sentgen.lookups.statistics.collocations` defines it. Relations have names for people
(`sentgen.lookups.statistics.relation_names`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from sqlalchemy import Connection

from sentgen.errors import InputError
from sentgen.lookups.base.attributes import COLUMNS
from sentgen.lookups.base.statement import Answer, Bindings, Statement, at_least, limited_answer
from sentgen.lookups.question.lookup import Lookup, MinCountOption
from sentgen.lookups.search.absence import explain_absence
from sentgen.lookups.statistics.collocation_measures import COLUMN, Measure, shown
from sentgen.lookups.statistics.collocations import CollocateUnit, read_node
from sentgen.lookups.statistics.relation_names import NAME, NAMED, word_of
from sentgen.lookups.statistics.relation_statements import RelationStatements
from sentgen.lookups.statistics.sketch_difference import compared
from sentgen.options import Option

#: Relations with most pairs first; all collocates count for them, those that are not shown as well.
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
        ``preposition``, where only the pairs with it were counted; ``pairs``, how often the word stands in
        that relation to one of them; ``rank``; those of
        `sentgen.lookups.statistics.collocations.Collocations`; and ``name``, the relation in words.

        Against another word, each has its strongest collocates: ``word`` is what has them, or ``both``, and
        ``count_against`` and a column of the measure, such as ``logdice_against``, are those of the other.

        If one of the words has no collocates, the answer is that, without rows.

        Raises:
            InputError: the pattern is not of one token, or both words are the same.
            NotFoundError: no such corpus.
        """
        if self.against is None:
            return self._alone(connection, self.word, word_of(self.word))
        words = (self.word, self.against)
        if self.against == self.word:
            raise InputError(f"{self.word!r} against itself has no difference; give another word")
        # What is rare with one of them may be frequent with the other.
        whole = replace(self, min_count=1, limit=0)
        named = " / ".join(map(word_of, words))
        sketches = [whole._alone(connection, one, named) for one in words]
        if without := [one for one in sketches if one.is_empty]:
            return without[0]
        measure = COLUMN.get(self.measure, "count")
        return compared(
            connection, words, sketches, measure=measure, min_count=self.min_count, limit=self.limit
        )

    def _alone(self, connection: Connection, word: str, named: str) -> Answer:
        """Return the sketch of one word, in which relations are ``named`` for it."""
        selection = self.select(connection, sentences=True)
        node = read_node(connection, word, selection, one_token=True)
        bindings = Bindings(min_count=max(self.min_count, 1), shown=named)
        column = COLUMN.get(self.measure, "o11")
        measures = shown(self.measure)
        statements = RelationStatements(
            *(node, COLUMNS[self.by][0], column, selection, measures),
            relation="*",
            prepositions=True,
            content=not self.function_words,
        )
        only = f"\nwhere rank <= {bindings.bind('each', self.limit)}" if self.limit else ""
        missing = f"collocate of {word!r} in a relation{at_least(self.min_count)}"
        with statements.asked(connection, bindings) as texts:
            whole, summed = (
                _SKETCH.format(
                    collocates=text.rpartition("\norder by")[0],
                    named=NAMED,
                    measure=COLUMN.get(self.measure, "count"),
                    content="" if self.function_words else _CONTENT,
                    shown=measures,
                    name=NAME,
                    each=only,
                )
                for text in texts
            )
            answer = limited_answer(connection, Statement(summed, bindings), 0, missing)
            answer = replace(answer, query=Statement(whole, bindings))
            return explain_absence(connection, answer, selection, node.values, trees=True, within=True)
