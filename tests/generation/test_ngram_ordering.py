"""Greedy and LMO ordering: by hand, against the plain reference, and as commands use them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields
from itertools import permutations

import numpy as np
import pytest
import toy_store
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from join_reference import Probability, join_logp

from sentgen.errors import InputError
from sentgen.generation import ALGORITHMS, Problem, SearchSettings, Unit, broken_up, parse_bag, regenerate
from sentgen.generation.algorithms import SETTINGS
from sentgen.generation.ngrams.lmo import order_greedily, window_logp
from sentgen.models.ngrams.ngram_table import NgramTable, backoff_logp
from sentgen.schema import Store
from sentgen.schema.tables.corpus import BOS


def order_greedily_reference(
    logp: Probability, units: Sequence[Sequence[int]], order: int, start: int, *, whole_string: bool
) -> tuple[list[int], float]:
    """Return what `order_greedily` returns, without its arrays."""
    string: list[int] = [start]
    remaining = list(range(len(units)))
    chosen: list[int] = []
    total = 0.0
    while remaining:
        joins = [join_logp(logp, string, units[unit], order) for unit in remaining]
        best = joins.index(max(joins))
        total += joins[best]
        chosen.append(remaining.pop(best))
        string = [*string, *units[chosen[-1]]] if whole_string else list(units[chosen[-1]])
    return chosen, total


Toy = tuple[Store, toy_store.ToyModel]
WORDS = ["the", "a", "dog", "cat", "mat", "on", "sees", "barks", "new"]
NAMES = sorted(name for name, algorithm in ALGORITHMS.items() if not algorithm.trees)


def test_windows_by_hand() -> None:
    """Equation 3 as corrected, n = 4: one bigram for two words, three 4-grams for six."""
    asked: list[tuple[list[int], int]] = []

    def logp(context: Sequence[int], word: int) -> float:
        asked.append((list(context), word))
        return 0.0

    join_logp(logp, [1], [2], 4)
    join_logp(logp, [9, 1, 2, 3], [4, 5, 6, 9], 4)
    join_logp(logp, [1], [2, 3], 4)

    assert asked == [
        ([1], 2),
        ([1, 2, 3], 4), ([2, 3, 4], 5), ([3, 4, 5], 6),
        ([1, 2], 3),
    ]  # fmt: skip


def test_contexts_differ_by_hand() -> None:
    """After "1 5", the last phrase asks p(w | 5), all so far p(w | 1 5): bigrams prefer 6, the trigram 7.

    Words: 1 is <s>. p(5|1) is best, so 5 comes first. p(6|5) = e^-1, p(7|5) = e^-2; p(7|1 5) = e^-0.5.
    """
    ngrams = {
        (0,): (-9.0, 0.0), (1,): (-99.0, 0.0), (5,): (-3.0, 0.0), (6,): (-5.0, 0.0), (7,): (-5.0, 0.0),
        (1, 5): (-1.0, 0.0), (5, 6): (-1.0, 0.0), (5, 7): (-2.0, 0.0), (1, 5, 7): (-0.5, 0.0),
    }  # fmt: skip
    table = table_of(ngrams, 3)
    words, offsets = np.array([5, 6, 7], np.int32), np.arange(4, dtype=np.int32)
    phrase, _ = order_greedily(table, words, offsets, 3, BOS, -1, False)
    string, score = order_greedily(table, words, offsets, 3, BOS, -1, True)

    assert phrase.tolist() == [0, 1, 2]
    assert string.tolist() == [0, 2, 1]
    assert score == -1.0 - 0.5 - 5.0


def table_of(ngrams: dict[tuple[int, ...], tuple[float, float]], order: int) -> NgramTable:
    words = np.full((len(ngrams), order), -1, np.int32)
    for row, gram in zip(words, ngrams, strict=True):
        row[: len(gram)] = gram
    lengths = np.array([len(gram) for gram in ngrams], np.int32)
    logp, backoff = (np.array([values[i] for values in ngrams.values()]) for i in (0, 1))
    return NgramTable.build(words, lengths, logp, backoff)


def _toy_ngrams() -> dict[tuple[int, ...], tuple[float, float]]:
    model = toy_store.backoff_model(toy_store.SENTENCES, 4)
    ids = {"<unk>": 0, "<s>": 1, "</s>": 2}
    for gram in model:
        for word in gram:
            ids.setdefault(word, len(ids) + 1)
    return {
        tuple(ids[word] for word in gram): (logp * math.log(10), backoff * math.log(10))
        for gram, (logp, backoff) in model.items()
    }


NGRAMS = _toy_ngrams()
TABLE = table_of(NGRAMS, 4)
BAGS = st.lists(st.lists(st.sampled_from([0, *range(4, 12)]), min_size=1, max_size=4), min_size=1, max_size=7)


@given(BAGS, st.booleans(), st.integers(2, 4))
def test_compiled_agrees_with_reference(units: list[list[int]], whole: bool, order: int) -> None:
    """Any bag, both readings, orders 2 to 4: the same order and the same score."""
    words = np.array([word for unit in units for word in unit], np.int32)
    offsets = np.cumsum([0, *map(len, units)], dtype=np.int32)
    found, score = order_greedily(TABLE, words, offsets, order, BOS, -1, whole)
    expected, expected_score = order_greedily_reference(
        lambda context, word: backoff_logp(NGRAMS, context, word), units, order, BOS, whole_string=whole
    )

    assert score == pytest.approx(expected_score)
    assert found.tolist() == expected


def test_window_of_one_word_is_neutral() -> None:
    """There is no join with nothing."""
    assert window_logp(TABLE, np.array([4], np.int32), 1, 4) == 0


@pytest.mark.parametrize("name", NAMES)
def test_best_of_all_permutations_when_there_are_two_units(toy: Toy, name: str) -> None:
    """With n-best both orders come, and only the two."""
    bag = parse_bag("barks dog")
    found = list(regenerate(*toy, [bag], algorithm=name, nbest=9))

    assert {one.text for one in found} == {"dog barks", "barks dog"}
    assert found[0].text == "dog barks"
    assert [one.rank for one in found] == [1, 2]


def texts(toy: Toy, bags: Sequence[Sequence[Unit]], **options: object) -> list[str]:
    return [one.text for one in regenerate(*toy, bags, **options)]  # type: ignore[arg-type]


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=3), min_size=1, max_size=6))
def test_every_unit_once_and_in_one_piece(toy: Toy, name: str, words: list[list[str]]) -> None:
    """The answer has the units of the bag, unknown and repeated ones too, and its score is the model's."""
    bag = [Unit(tuple(unit)) for unit in words]
    (found,) = regenerate(*toy, [bag], algorithm=name)

    assert sorted(found.units) == sorted(broken_up(bag) if ALGORITHMS[name].words else bag)
    assert found.unknown == sum(word == "new" for unit in words for word in unit)


@pytest.mark.parametrize("name", NAMES)
def test_order_of_input_and_batch_do_not_matter(toy: Toy, name: str) -> None:
    """All orders of a bag, alone or among others, give one sentence."""
    bag = parse_bag("the cat sees a")
    answers = {texts(toy, [list(units)], algorithm=name)[0] for units in permutations(bag)}

    assert len(answers) == 1
    assert set(texts(toy, [bag] * 250, algorithm=name)) == answers


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=3), min_size=1, max_size=6))
def test_greedy_is_lmo(toy: Toy, words: list[list[str]]) -> None:
    """The papers describe one search: the window has the last chosen phrase on its left (2007, 5 and 6.3)."""
    bag = [Unit(tuple(unit)) for unit in words]
    (greedy,), (lmo,) = (regenerate(*toy, [bag], algorithm=name) for name in ("greedy", "lmo"))

    assert (greedy.units, greedy.score) == (lmo.units, lmo.score)


@pytest.mark.parametrize("name", NAMES)
def test_edges(toy: Toy, name: str) -> None:
    """No bag, an empty bag, one word, an unknown word, twice the same word."""
    assert texts(toy, [], algorithm=name) == []
    assert texts(toy, [[]], algorithm=name) == [""]
    assert texts(toy, [parse_bag("dog"), parse_bag("xyzzy"), parse_bag("a a")], algorithm=name, nbest=3) == [
        "dog", "xyzzy", "a a",
    ]  # fmt: skip


def test_nbest_is_ranked_and_different(toy: Toy) -> None:
    """The algorithm's own answer first, then by log-probability; no string twice."""
    bag = parse_bag("the the dog sees cat")
    found = list(regenerate(*toy, [bag], algorithm="greedy", nbest=4))
    rest = [one.logp for one in found[1:]]

    assert found[0].text == texts(toy, [bag], algorithm="greedy")[0]
    assert rest == sorted(rest, reverse=True)
    assert len({one.text for one in found}) == len(found) == 4


def test_upper_case_is_looked_up_lower_cased(toy: Toy) -> None:
    """The words come out as given."""
    assert texts(toy, [parse_bag("BARKS Dog A")], algorithm="lmo", lowercase=True) == ["A Dog BARKS"]


def test_logp_is_that_of_the_sentence() -> None:
    """A problem scores any order of its units, with the end of the sentence."""
    words = np.array([4, 5], np.int32)
    problem = Problem(
        TABLE, words, np.arange(3, dtype=np.int32), np.arange(2, dtype=np.int32), SearchSettings(), 4
    )
    expected = sum(backoff_logp(NGRAMS, [1, 5, 4][:i], w) for i, w in ((1, 5), (2, 4), (3, 2)))

    assert problem.sentence_logp((1, 0)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"algorithm": "magic"}, "no algorithm 'magic'; there are: "),
        ({"changes": {"order": 1}}, "order 1"),
        ({"changes": {"magic": 1}}, "no setting 'magic'"),
        (
            {"algorithm": "lmo", "changes": {"lmo_context": "x"}},
            "lmo-context 'x' is neither phrase nor string",
        ),
        (
            {"algorithm": "lmo", "as_published": "2007"},
            "lmo is not in the paper of 2007; papers with it: 2009",
        ),
        ({"nbest": 0}, "0 sentences"),
    ],
)
def test_refusals(toy: Toy, options: dict[str, object], message: str) -> None:
    """Settings that make no sense are refused before any work."""
    with pytest.raises(InputError, match=message):
        regenerate(*toy, [parse_bag("a")], **options)  # type: ignore[arg-type]


def test_too_many_units(toy: Toy) -> None:
    """A bag beyond the algorithm's limit is refused with its number."""
    with pytest.raises(InputError, match="bag 2 has 1,001 units"):
        regenerate(*toy, [parse_bag("a"), [Unit(("a",))] * 1001], algorithm="lmo")


def test_a_setting_is_declared_once() -> None:
    """No two groups have a setting of the same name: an option could mean either."""
    groups = {group for algorithm in ALGORITHMS.values() for group in algorithm.groups}
    names = [one.name for group in groups for one in fields(group)]

    assert len(names) == len(set(names)) == len(SETTINGS)
