"""Look-ups of single n-grams: their steps, and agreement with the tables."""

from __future__ import annotations

import math

import pytest
import toy_store

from sentgen.errors import InputError
from sentgen.models.lookup import explain
from sentgen.models.ngrams.ngram_table import extend, score_words
from sentgen.models.submodel import prefetch
from sentgen.schema import Store

Toy = tuple[Store, toy_store.ToyModel]


def test_known_ngram_is_one_step(toy: Toy) -> None:
    """ "the cat" follows 3 of 7 "the ..."; (3 - 1/2) / 7."""
    (step,) = explain(*toy, ["the", "cat"])

    assert step.known
    assert step.order == 2
    assert step.total == pytest.approx(math.log10(2.5 / 7))


def test_steps_of_backing_off(toy: Toy) -> None:
    """ "cat barks" is unknown: the weight of "cat", then the unigram; words nobody knows are <unk>."""
    steps = explain(*toy, ["zebra", "cat", "barks"])

    assert [step.ngram for step in steps] == [("<unk>", "cat", "barks"), ("cat", "barks"), ("barks",)]
    assert [step.known for step in steps] == [False, False, True]
    assert steps[0].backoff == 0
    assert steps[-1].total == pytest.approx(steps[1].backoff + steps[2].log10)


@pytest.mark.nightly(by_day=3)
@pytest.mark.parametrize("words", [*toy_store.SENTENCES, ["barks", "on", "zebra"], ["zebra"]])
def test_agrees_with_the_sub_model(toy: Toy, words: list[str]) -> None:
    """The last step has the value of the compiled table."""
    found = prefetch(*toy, [words])
    ids = found.encode(words)
    _, state = score_words(found.table, found.table.start, ids[:-1])
    logp, _ = extend(found.table, state, ids[-1])

    assert explain(*toy, ["<s>", *words])[-1].total == pytest.approx(logp / math.log(10))


def test_no_word(toy: Toy) -> None:
    """A look-up without words is refused."""
    with pytest.raises(InputError, match="no word"):
        explain(*toy, [])
