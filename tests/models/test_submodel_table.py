"""The compiled back-off table against its definition."""

from __future__ import annotations

import math
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentgen.models.ngrams.ngram_table import (
    EMPTY,
    MISSING_UNK,
    NgramTable,
    backoff_logp,
    extend,
    find,
    score_text,
    score_words,
)
from sentgen.schema.tables.corpus import BOS, UNK

Toy = dict[tuple[int, ...], tuple[float, float]]
WORDS = 5


def table_of(ngrams: Toy, order: int) -> NgramTable:
    words = np.full((len(ngrams), order), -1, np.int32)
    for row, gram in zip(words, ngrams, strict=True):
        row[: len(gram)] = gram
    lengths = np.array([len(gram) for gram in ngrams], np.int32)
    logp, backoff = (np.array([values[i] for values in ngrams.values()]) for i in (0, 1))
    return NgramTable.build(words, lengths, logp, backoff)


@st.composite
def models(draw: st.DrawFn) -> Toy:
    """Any set of n-grams up to order 4, prefixes and suffixes missing or not; all unigrams but some."""
    value = st.floats(-9, -0.01)
    weight = st.one_of(st.just(0.0), st.floats(-3, 1))
    grams = draw(st.sets(st.lists(st.integers(0, WORDS - 1), min_size=2, max_size=4).map(tuple), max_size=25))
    return {gram: (draw(value), draw(weight)) for gram in sorted({*product(range(WORDS)), *grams})}


@given(models(), st.lists(st.integers(0, WORDS + 1), max_size=9))
def test_table_agrees_with_the_definition(ngrams: Toy, words: list[int]) -> None:
    """A state gives the probability that the definition gives for the last three words."""
    table = table_of(ngrams, 4)
    words = [word if word < WORDS else 0 for word in words]
    state = EMPTY
    for place, word in enumerate(words):
        logp, state = extend(table, state, word)

        assert logp == pytest.approx(backoff_logp(ngrams, words[max(0, place - 3) : place], word))


@given(models(), st.lists(st.lists(st.sampled_from([UNK, *range(2, WORDS)]), max_size=6), max_size=4))
def test_texts_agree_with_the_definition(ngrams: Toy, sentences: list[list[int]]) -> None:
    """A word gets the probability after the three before it, from <s> on, and the length of what was found."""
    stream = np.array([word for sentence in sentences for word in (BOS, *sentence)], np.int32)
    logps, lengths = score_text(table_of(ngrams, 4), 4, stream)
    # A prefix that is missing is a row of the table, too.
    rows = {gram[:n] for gram in ngrams for n in range(1, len(gram) + 1)}
    place = 0
    for sentence in sentences:
        words = (BOS, *sentence)
        for end in range(1, len(words)):
            grams = [words[begin : end + 1] for begin in range(max(0, end - 3), end + 1)]

            assert logps[place + end] == pytest.approx(backoff_logp(ngrams, grams[0][:-1], words[end]))
            assert lengths[place + end] == next(len(gram) for gram in grams if gram in rows)
        place += len(words)


def test_back_off_by_hand() -> None:
    """p(9 | 7 8): the trigram is unknown, 7 8 has weight -0.5, 8 9 is unknown, 8 has weight -0.25."""
    ngrams: Toy = {
        (0,): (-5.0, 0.0), (1,): (-99.0, -1.0), (7,): (-1.0, 0.0), (8,): (-2.0, -0.25), (9,): (-3.0, 0.0),
        (7, 8): (-0.5, -0.5), (7, 8, 7): (-0.125, 0.0),
    }  # fmt: skip
    table = table_of(ngrams, 3)
    _, state = score_words(table, EMPTY, np.array([7, 8], np.int32))

    assert extend(table, state, 9)[0] == -0.5 - 0.25 - 3.0
    assert extend(table, state, 7)[0] == -0.125


def test_a_word_without_unigram_is_unknown() -> None:
    """Word 4 has no row: it scores as <unk>, here -5."""
    table = table_of({(0,): (-5.0, 0.0), (3,): (-1.0, 0.0)}, 1)

    assert extend(table, EMPTY, 4)[0] == -5.0


def test_model_without_unk_gives_the_unknown_next_to_nothing() -> None:
    """10^-100, as KenLM does; and <s> exists as a context in every table."""
    table = table_of({(3,): (-1.0, 0.0)}, 1)

    assert extend(table, EMPTY, 0)[0] == MISSING_UNK == pytest.approx(-100 * math.log(10))
    assert find(table, EMPTY, 1) > 0


def test_empty_model_has_a_start() -> None:
    """A table of nothing still knows <unk> and <s>."""
    table = NgramTable.build(np.zeros((0, 1), np.int32), np.zeros(0, np.int32), np.zeros(0), np.zeros(0))

    assert extend(table, table.start, 5)[0] == MISSING_UNK


@given(models(), st.lists(st.integers(0, WORDS - 1), min_size=2, max_size=8))
def test_states_are_interchangeable(ngrams: Toy, words: list[int]) -> None:
    """Two histories with one state give every continuation one probability: states may be recombined."""
    table = table_of(ngrams, 4)
    reached: dict[int, tuple[int, ...]] = {}
    for begin, end in pairwise(range(len(words))):
        history = words[max(0, begin - 3) : end]
        _, state = score_words(table, EMPTY, np.array(history, np.int32))
        other = reached.setdefault(state, tuple(history))
        for word in range(WORDS):
            assert backoff_logp(ngrams, history[-3:], word) == pytest.approx(
                backoff_logp(ngrams, other[-3:], word)
            )
