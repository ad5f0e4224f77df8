"""Word sketches: the strongest collocates of a word in each dependency relation (Kilgarriff et al. 2004).

Kilgarriff, Rychlý, Smrž and Tugwell 2004, "The Sketch Engine", EURALEX; collocates are ranked by logDice, as
`sentgen.lookups.statistics.collocations` defines it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from sqlalchemy import Connection

from sentgen.lookups.absence import explained
from sentgen.lookups.attributes import COLUMNS
from sentgen.lookups.question import Lookup, MinCountOption
from sentgen.lookups.statement import Answer, Bindings, Statement, at_least, limited
from sentgen.lookups.statistics.collocation_measures import COLUMN, Measure, shown
from sentgen.lookups.statistics.collocation_statements import CollocationStatements
from sentgen.lookups.statistics.collocations import Unit, read_node
from sentgen.options import Option

#: Relations with most pairs first; all collocates count for them, those that are not shown as well.
_SKETCH = """\
with collocate as (
{collocates}
),
ranked as (
  select *, sum(count) over (partition by relation, role)::bigint as pairs,
    row_number() over (
      partition by relation, role order by {measure} desc nulls last, count desc, collocate
    ) as rank
  from collocate
)
select relation, role, pairs, rank, collocate, count, frequency, {shown}
from ranked{each}
order by pairs desc, relation, role, rank"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sketch(Lookup):
    """The strongest collocates of a word in each dependency relation."""

    word: Annotated[str, Option("The word: `stock`, `lemma:fall`, `stock/NN`.", argument=True)]
    by: Annotated[Unit, Option("Collocates as words or as lemmas.")] = Unit.LEMMA
    measure: Annotated[Measure, Option("What to rank by.")] = Measure.LOGDICE
    min_count: MinCountOption = 2
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

        The columns are ``relation``; ``role``, whether the collocates are heads or modifiers; ``pairs``, how
        often the word stands in that relation to one of them; ``rank``; and those of
        `sentgen.lookups.statistics.collocations.Collocations`.

        Raises:
            InputError: the pattern is not of one token.
            NotFoundError: no such corpus.
        """
        selection = self.select(connection, sentences=True)
        node = read_node(connection, self.word, selection)
        bindings = Bindings(min_count=max(self.min_count, 1))
        column = COLUMN.get(self.measure, "o11")
        measures = shown(self.measure)
        statements = CollocationStatements(node, "*", COLUMNS[self.by][0], column, selection, measures)
        only = f"\nwhere rank <= {bindings.bind('each', self.limit)}" if self.limit else ""
        missing = f"collocate of {self.word!r} in a relation{at_least(self.min_count)}"
        with statements.asked(connection, bindings) as texts:
            whole, summed = (
                _SKETCH.format(
                    collocates=text.rpartition("\norder by")[0],
                    measure=COLUMN.get(self.measure, "count"),
                    shown=measures,
                    each=only,
                )
                for text in texts
            )
            answer = limited(connection, Statement(summed, bindings), 0, missing)
            answer = replace(answer, query=Statement(whole, bindings))
            return explained(connection, answer, selection, node.values)
