"""Word sketches: the strongest collocates of a word in each dependency relation (Kilgarriff et al. 2004).

Kilgarriff, Rychlý, Smrž and Tugwell 2004, "The Sketch Engine", EURALEX; collocates are ranked by logDice, as
`sentgen.lookups.statistics.collocations` defines it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sqlalchemy import Connection

from sentgen.lookups.absence import explained
from sentgen.lookups.patterns import ATTRIBUTES
from sentgen.lookups.selection import select_corpora
from sentgen.lookups.statement import Answer, Bindings, Statement, at_least, limited
from sentgen.lookups.statistics.collocation_statements import CollocationStatements
from sentgen.lookups.statistics.collocations import COLUMN, Measure, Unit, read_node

#: Relations with most pairs first; all collocates count for them, those that are not shown as well.
_SKETCH = """\
with collocate as (
{collocates}
),
ranked as (
  select *, sum(count) over (partition by relation, role)::bigint as pairs,
    row_number() over (partition by relation, role order by {measure} desc, count desc, collocate) as rank
  from collocate
)
select relation, role, pairs, rank, collocate, count, frequency, logdice, pmi, log_likelihood
from ranked{each}
order by pairs desc, relation, role, rank"""


def word_sketch(
    connection: Connection,
    word: str,
    *,
    by: Unit = Unit.LEMMA,
    measure: Measure = Measure.LOGDICE,
    min_count: int = 2,
    corpora: Iterable[str] = (),
    condition: str | None = None,
    ignore_case: bool = False,
    each: int = 10,
) -> Answer:
    """Return the strongest collocates of a word in each relation, the most frequent relations first.

    The columns are ``relation``; ``role``, whether the collocates are heads or modifiers; ``pairs``, how
    often the word stands in that relation to one of them; ``rank``; and those of
    `sentgen.lookups.statistics.collocations.find_collocations`.

    Args:
        connection: the store.
        word: one token pattern (see `sentgen.lookups.patterns`).
        by: collocates as words or as lemmas.
        measure: what to rank by.
        min_count: leave out collocates that occur with the word less often.
        corpora: their names; none for all.
        condition: what the metadata of their sentences meet; none for all sentences.
        ignore_case: take words that differ in capital letters only for one.
        each: collocates of a relation at most, 0 for all.

    Raises:
        InputError: the pattern is not of one token.
        NotFoundError: no such corpus.
    """
    selection = select_corpora(
        connection, corpora, condition=condition, ignore_case=ignore_case, sentences=True
    )
    node = read_node(connection, word, selection)
    bindings = Bindings(min_count=max(min_count, 1))
    statements = CollocationStatements(node, "*", ATTRIBUTES[by][0], COLUMN.get(measure, "o11"), selection)
    only = f"\nwhere rank <= {bindings.bind('each', each)}" if each else ""
    missing = f"collocate of {word!r} in a relation{at_least(min_count)}"
    with statements.asked(connection, bindings) as texts:
        whole, summed = (
            _SKETCH.format(
                collocates=text.rpartition("\norder by")[0],
                measure=COLUMN.get(measure, "count"),
                each=only,
            )
            for text in texts
        )
        answer = limited(connection, Statement(summed, bindings), 0, missing)
        answer = replace(answer, query=Statement(whole, bindings))
        return explained(connection, answer, selection, node.values)
