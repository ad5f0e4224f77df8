"""Beam search: by hand, against all permutations, and against the plain reference."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations, product

import numpy as np
import pytest
import toy_store
from beam_reference import best_path
from hypothesis import given
from hypothesis import strategies as st

from sentgen.errors import InputError
from sentgen.generation import Problem, SearchSettings, Unit, parse_bag, regenerate
from sentgen.generation.ngrams.beam import BeamSettings, order_units, order_without_future_cost, value
from sentgen.models.ngrams.ngram_table import EMPTY, NgramTable, extend
from sentgen.schema import Store
from sentgen.schema.tables.corpus import BOS, EOS, UNK

Toy = tuple[Store, toy_store.ToyModel]
Ngrams = dict[tuple[int, ...], tuple[float, float]]
FIRST_WORD = 4


def table_of(ngrams: Ngrams, order: int) -> NgramTable:
    words = np.full((len(ngrams), order), -1, np.int32)
    for row, gram in zip(words, ngrams, strict=True):
        row[: len(gram)] = gram
    lengths = np.array([len(gram) for gram in ngrams], np.int32)
    logp, backoff = (np.array(column, float) for column in zip(*ngrams.values(), strict=True))
    return NgramTable.build(words, lengths, logp, backoff)


def random_table(seed: int, *, words: int = 5, halves: bool = False) -> NgramTable:
    """A trigram model with half of all bigrams and trigrams; values are halves, for exact sums and many ties."""
    rng = np.random.default_rng(seed)
    known = [UNK, EOS, *range(FIRST_WORD, FIRST_WORD + words)]

    def drawn() -> tuple[float, float]:
        logp, backoff = -4 * rng.random(), -rng.random()
        return (round(2 * logp) / 2, round(2 * backoff) / 2) if halves else (logp, backoff)

    ngrams: Ngrams = {(word,): drawn() for word in known} | {(BOS,): (-99.0, drawn()[1])}
    for n in (2, 3):
        contexts = [gram for gram in ngrams if len(gram) == n - 1 and gram[-1] != EOS]
        for gram, word in product(contexts, known):
            if rng.random() < 0.5:
                ngrams[(*gram, word)] = drawn()
    return table_of(ngrams, 3)


def problem_of(table: NgramTable, units: Sequence[Sequence[int]], beam: int = 10**6) -> Problem:
    return Problem(
        table,
        np.array([word for unit in units for word in unit], np.int32),
        np.cumsum([0, *map(len, units)], dtype=np.int32),
        np.arange(len(units), dtype=np.int32),
        SearchSettings((BeamSettings(beam),)),
        3,
    )


#: Words: p(4) = e^-1, p(5) = e^-5, but after <s> e^-4.5; else all is as unigrams say.
HAND = table_of(
    {(0,): (-9, 0), (1,): (-99, 0), (2,): (-1, 0), (4,): (-1, 0), (5,): (-5, 0), (1, 5): (-4.5, 0)}, 2
)


def test_future_cost_by_hand() -> None:
    """Beam 1 keeps 4 (-1) before 5 (-4.5); with future costs 5 is better: -1 - 5 = -6, -4.5 - 1 = -5.5."""
    problem = problem_of(HAND, [[4], [5]], beam=1)
    (without,) = order_without_future_cost(problem)
    (found,) = order_units(problem)

    assert (without.units, without.score) == ((0, 1), -1 - 5 - 1)
    assert (found.units, found.score) == ((1, 0), -4.5 - 1 - 1)


def test_stacks_hold_as_many_words_by_hand() -> None:
    """With beam 1 a phrase of two words does not compete with its first word alone.

    4 5 is [-1 - 5], and 4 alone [-1]; had they shared a stack, only one would have been left.
    """
    units = [[4, 5], [4], [5]]
    found = order_units(problem_of(HAND, units, beam=1), 100)

    assert {len(one.units) for one in found} == {3}
    assert found[0].score == -4.5 - 1 - 1 - 5 - 1


@pytest.mark.nightly(by_day=3)
@pytest.mark.parametrize("seed", range(6))
def test_an_infinite_beam_finds_the_best_of_all_permutations(seed: int) -> None:
    """Of seven units, with phrases and duplicates, all strings are returned by probability."""
    units = [[4], [4], [5, 6], [7], [4, 8], [8], [5, 6]]
    problem = problem_of(random_table(seed), units)
    scores = {problem.string_of(order): value(problem, order, None) for order in permutations(range(7))}
    ranked = sorted(scores.values(), reverse=True)
    (best,), nbest = order_units(problem), order_units(problem, 30)

    assert best.score == pytest.approx(ranked[0])
    assert nbest[0] == best
    assert [one.score for one in nbest] == pytest.approx(ranked[:30])
    assert [scores[problem.string_of(one.units)] for one in nbest] == pytest.approx(ranked[:30])
    assert order_without_future_cost(problem)[0].score == pytest.approx(ranked[0])


BAGS = st.lists(
    st.lists(st.integers(FIRST_WORD, FIRST_WORD + 4), min_size=1, max_size=3), min_size=1, max_size=7
)


@given(BAGS, st.integers(0, 9), st.integers(1, 6), st.booleans(), st.booleans())
def test_kernel_agrees_with_reference(
    units: list[list[int]], seed: int, beam: int, halves: bool, future_cost: bool
) -> None:
    """With narrow beams and many ties, kernel and reference have the same order and exactly the same score."""
    search = order_units if future_cost else order_without_future_cost
    problem = problem_of(random_table(seed, halves=halves), units, beam)
    (found,) = search(problem)

    assert (problem.string_of(found.units), found.score) == reference(problem, units, future_cost)


def test_more_units_than_a_machine_word_has_bits() -> None:
    """150 units: the sets of the hypotheses take three machine words."""
    rng = np.random.default_rng(1)
    units = [[int(word)] for word in rng.integers(FIRST_WORD, FIRST_WORD + 40, 150)]
    problem = problem_of(random_table(3, words=40), units, beam=3)
    (found,) = order_units(problem)

    assert sorted(found.units) == list(range(150))
    assert (problem.string_of(found.units), found.score) == reference(problem, units, True)


def reference(
    problem: Problem, units: Sequence[Sequence[int]], future_cost: bool
) -> tuple[tuple[int, ...], float]:
    different = sorted(dict.fromkeys(map(tuple, units)), key=len)
    found = best_path(
        lambda state, word: extend(problem.table, state, word),
        problem.table.start,
        different,
        [list(map(tuple, units)).count(unit) for unit in different],
        [sum(extend(problem.table, EMPTY, word)[0] for word in unit) * future_cost for unit in different],
        problem.settings.of(BeamSettings).beam,
    )
    return tuple(word for unit in found.path for word in different[unit]), found.logp


@pytest.mark.parametrize("beam", [2, 8])
def test_nbest_of_a_narrow_beam(beam: int) -> None:
    """Answers are ranked, different, with right scores, and may outnumber the beam by recombination."""
    problem = problem_of(random_table(1), [[4], [5], [6], [7], [8], [4, 5]], beam)
    found = order_units(problem, 25)
    scores = [one.score for one in found]

    assert beam < len(found) == len({problem.string_of(one.units) for one in found}) <= 25
    assert scores == sorted(scores, reverse=True)
    assert scores == pytest.approx([value(problem, one.units, None) for one in found])


def test_strings_count_once_however_they_are_cut() -> None:
    """4 5 and the phrase [4 5] side by side give the same string whichever comes first."""
    problem = problem_of(random_table(2), [[4, 5], [4], [5]])
    strings = [problem.string_of(one.units) for one in order_units(problem, 100)]

    assert (
        len(strings)
        == len(set(strings))
        == len({problem.string_of(order) for order in permutations(range(3))})
    )


def test_words_that_the_model_cannot_tell_apart_are_one(toy: Toy) -> None:
    """Orders that differ only by two unknown words, or by two tags of a word, are listed once."""
    tagged = [Unit(("cat",), ("NN",)), Unit(("cat",), ("VB",)), Unit(("the",), ("DT",))]

    assert len(list(regenerate(*toy, [parse_bag("xyzzy the plugh")], algorithm="beam", nbest=9))) == 3
    assert len(list(regenerate(*toy, [tagged], algorithm="beam", nbest=9))) == 3


def test_viterbi_breaks_phrases_up(toy: Toy) -> None:
    """[dog the] comes out as two words in their usual order."""
    (found,) = regenerate(*toy, [parse_bag("sees [dog the] [cat the]")], algorithm="viterbi")

    assert found.text in ("the dog sees the cat", "the cat sees the dog")


def test_too_wide_a_beam_is_refused(toy: Toy) -> None:
    """The error has the widest beam: 2^28 / (300 units * 300 words) = 2982."""
    with pytest.raises(InputError, match=r"a beam of 100000 is too wide for 300 units .* at most 2982"):
        list(regenerate(*toy, [[Unit(("a",))] * 300], algorithm="beam", changes={"beam": 100_000}))
