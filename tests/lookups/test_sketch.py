"""Word sketches, against the collocations of one relation after the other."""

from __future__ import annotations

from itertools import groupby

import pytest
from sqlalchemy import Connection

from sentgen.lookups.statistics.collocation_measures import Measure
from sentgen.lookups.statistics.collocations import Collocations, Unit
from sentgen.lookups.statistics.sketch import Sketch


@pytest.mark.nightly(by_day=12)
@pytest.mark.parametrize("word", ["lemma:fall", "dow", "lemma:rise", "lemma:trader"])
@pytest.mark.parametrize("measure", list(Measure))
@pytest.mark.parametrize("each", [0, 1, 2])
def test_each_relation_has_its_strongest_collocates(
    connection: Connection, word: str, measure: Measure, each: int
) -> None:
    """The same rows as collocations by that relation, as many as are asked for."""
    rows = Sketch(word=word, measure=measure, min_count=1, limit=each).ask(connection).table.to_pylist()
    assert rows
    sizes = []
    for (relation, role), group in groupby(rows, lambda row: (row["relation"], row["role"])):
        collocates = Collocations(
            word=word, dependency=relation, by=Unit.LEMMA, measure=measure, min_count=1, limit=0
        )
        found = collocates.ask(connection).table.to_pylist()
        expected = [row for row in found if row["role"] == role]
        shown = list(group)
        sizes.append((-shown[0]["pairs"], relation, role))

        assert shown[0]["pairs"] == sum(row["count"] for row in expected)
        assert [row["rank"] for row in shown] == list(range(1, len(shown) + 1))
        for row, other in zip(shown, expected[:each] if each else expected, strict=True):
            assert {name: row[name] for name in other} == other
    assert sizes == sorted(set(sizes))


def test_a_word_that_is_not_there_is_said_to_be_missing(connection: Connection) -> None:
    """As by the other look-ups."""
    answer = Sketch(word="lemma:fal").ask(connection)

    assert not answer.table.num_rows
    assert answer.notes[0].startswith("no collocate of 'lemma:fal' in a relation")
