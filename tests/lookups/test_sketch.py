"""Word sketches, against the collocations of each relation."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import Any

import pytest
from sqlalchemy import Connection

from sentgen.errors import InputError
from sentgen.lookups.statistics.collocations import CollocateUnit, Collocations
from sentgen.lookups.statistics.measures import Measure
from sentgen.lookups.statistics.relations import FUNCTION
from sentgen.lookups.statistics.sketch import Sketch


@pytest.mark.nightly(by_day=12)
@pytest.mark.parametrize("word", ["lemma:fall", "dow", "lemma:rise", "lemma:trader"])
@pytest.mark.parametrize("measure", list(Measure))
@pytest.mark.parametrize("each", [0, 1, 2])
def test_each_relation_has_its_strongest_collocates(
    connection: Connection, word: str, measure: Measure, each: int
) -> None:
    """Each relation has the first rows of the collocations by it, up to the limit."""
    asked = Sketch(word=word, measure=measure, min_count=1, limit=each, function_words=True)
    rows = [row for row in asked.ask(connection).table.to_pylist() if row["preposition"] is None]
    assert rows
    sizes = []
    for (relation, role), group in groupby(rows, lambda row: (row["relation"], row["role"])):
        collocates = Collocations(
            word=word, dependency=relation, by=CollocateUnit.LEMMA, measure=measure, min_count=1, limit=0
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
    """A missing word is named in a note, as by other lookups."""
    answer = Sketch(word="lemma:fal").ask(connection)

    assert not answer.table.num_rows
    assert answer.notes[0].startswith("no collocate of 'lemma:fal' in a relation")


Rows = list[dict[str, Any]]


def rows_of(connection: Connection, **asked: Any) -> Rows:
    return Sketch(**asked).ask(connection).table.to_pylist()


def test_function_words_are_left_out_and_relations_have_names(connection: Connection) -> None:
    """Without function words, the other rows have the same numbers as with them."""
    every = rows_of(connection, word="lemma:fall", min_count=1, limit=0, function_words=True)
    rows = rows_of(connection, word="lemma:fall", min_count=1, limit=0)
    kept = [
        row
        for row in every
        if not {row["relation"], row["relation"].partition(":")[0]} & set(FUNCTION)
        and any(map(str.isalnum, row["collocate"]))
    ]
    key = ("relation", "role", "preposition", "collocate")
    assert {tuple(row[one] for one in key): row["count"] for row in rows} == {
        tuple(row[one] for one in key): row["count"] for row in kept
    }
    assert 0 < len(rows) < len(every)
    names = {(row["relation"], row["role"]): row["name"] for row in every}
    assert names["nsubj", "modifier"] == "subjects of fall"
    assert all("fall" in name and "%" not in name for name in names.values())


def _key(row: dict[str, Any]) -> tuple[str, ...]:
    return tuple(row[one] for one in ("relation", "role", "preposition", "collocate"))


@pytest.mark.nightly(by_day=6)
@pytest.mark.parametrize("limit", [0, 1, 2])
@pytest.mark.parametrize("min_count", [1, 2])
@pytest.mark.parametrize("measure", [Measure.LOGDICE, Measure.COUNT, Measure.T_SCORE])
def test_the_difference_of_two_words(
    connection: Connection, measure: Measure, limit: int, min_count: int
) -> None:
    """The difference has the strongest collocates of either sketch, with the numbers of both."""
    words = ("lemma:fall", "lemma:rise")
    sketches = [rows_of(connection, word=one, min_count=1, limit=0, measure=measure) for one in words]
    column = measure.replace("-", "_")
    expected: dict[tuple[str, ...], tuple[Any, ...]] = {}
    whole = [{_key(row): row for row in rows} for rows in sketches]
    for rows in sketches:
        ranks: Counter[tuple[str, ...]] = Counter()
        for row in rows:
            if row["count"] < min_count:
                continue
            key = _key(row)
            ranks[key[:3]] += 1
            if not limit or ranks[key[:3]] <= limit:
                both = [one.get(key) for one in whole]
                of = "both" if all(both) else "fall" if both[0] else "rise"
                expected[key] = (of, *((one or {}).get("count") for one in both))
                expected[key] += tuple((one or {}).get(column) for one in both)
    rows = rows_of(
        connection, word=words[0], against=words[1], min_count=min_count, limit=limit, measure=measure
    )
    found = {
        _key(row): (
            *(row[name] for name in ("word", "count", "count_against")),
            *(row[name] for name in (column, f"{column}_against")),
        )
        for row in rows
    }
    assert found == expected != {}
    assert len(found) == len(rows)
    assert {row["name"].count("fall / rise") for row in rows} == {1}
    for _, group in groupby(rows, lambda row: _key(row)[:3]):
        order = [{"fall": 0, "both": 1, "rise": 2}[row["word"]] for row in group]
        assert order == sorted(order)


def test_a_difference_that_is_none_is_refused(connection: Connection) -> None:
    with pytest.raises(InputError, match="'lemma:fall' against itself has no difference"):
        Sketch(word="lemma:fall", against="lemma:fall").ask(connection)
    answer = Sketch(word="lemma:fall", against="lemma:fal").ask(connection)
    assert not answer.rows.num_rows
    assert answer.notes[0].startswith("no collocate of 'lemma:fal'")
