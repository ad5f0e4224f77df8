"""BLEU and chrF: by hand, and against sacreBLEU on all kinds of texts."""

from __future__ import annotations

import numpy as np
import pytest
import sacrebleu
from bleu_scores import corpus_bleu, measured, sentence_bleu
from hypothesis import given
from hypothesis import strategies as st

from sentgen.evaluation.regeneration.bleu import bleu, ngram_statistics

WORDS = st.sampled_from(
    ["a", "A", "the", "U.S.", "3.5", "don't", "http://x.y/z?a=b", "...", ",", "é", "日本"]
)
SENTENCES = st.lists(WORDS, max_size=8).map(" ".join)
PAIRS = st.lists(st.tuples(SENTENCES, SENTENCES), min_size=1, max_size=6)


def theirs(outputs: list[str], references: list[str]) -> list[float]:
    """Return the figures of sacreBLEU, in our order."""
    options = [
        {"lowercase": True, "tokenize": "13a"},
        {"lowercase": False, "tokenize": "none"},
        {"lowercase": True, "tokenize": "none"},
    ]
    return [
        *(sacrebleu.corpus_bleu(outputs, [references], force=True, **each).score for each in options),  # type: ignore[arg-type]
        sacrebleu.corpus_chrf(outputs, [references]).score,
    ]


def test_bleu_by_hand() -> None:
    """ "a b c d x" for "a b c d e": precisions 4/5, 3/4, 2/3, 1/2, no brevity penalty; fourth root of 1/5."""
    scores = corpus_bleu(["a b c d x"], ["a b c d e"])

    assert [score.value for score in scores] == pytest.approx([100 * 0.2**0.25] * 3)
    assert [score.metric for score in scores] == ["bleu-lc-13a", "bleu-none", "bleu-lc-none"]


def test_statistics_by_hand() -> None:
    """ "a a b" for "a b b": 1-grams 3, 3 and a, b in both; 2-grams aa ab, ab bb: one; a second sentence apart."""
    statistics = ngram_statistics([["a", "a", "b"], ["b"]], [["a", "b", "b"], ["a", "b"]], 2)

    assert statistics.tolist() == [[3, 3, 2, 2, 2, 1], [1, 2, 1, 0, 1, 0]]


@given(PAIRS)
def test_figures_are_those_of_sacrebleu(pairs: list[tuple[str, str]]) -> None:
    """Whatever the texts, short, empty, cased or with clitics, the figures of the set are sacreBLEU's."""
    outputs, references = map(list, zip(*pairs, strict=True))
    ours = [measurement.value for measurement in measured(outputs, references)]

    assert ours == pytest.approx(theirs(outputs, references), abs=1e-9)


@given(PAIRS, st.randoms(use_true_random=False))
def test_resampled_figures_are_those_of_sacrebleu(pairs: list[tuple[str, str]], random) -> None:  # type: ignore[no-untyped-def]
    """Summed statistics of drawn sentences, some of them twice, give the score of the set of these."""
    drawn = [random.randrange(len(pairs)) for _ in pairs]
    outputs, references = map(list, zip(*pairs, strict=True))
    found = [each.of(drawn).value for each in measured(outputs, references)]
    sample = [outputs[i] for i in drawn], [references[i] for i in drawn]

    assert found == pytest.approx(theirs(*sample), abs=1e-9)


@given(PAIRS)
def test_sentence_bleu_is_that_of_sacrebleu(pairs: list[tuple[str, str]]) -> None:
    """Lower-cased 13a with effective order, a value a sentence."""
    outputs, references = map(list, zip(*pairs, strict=True))
    expected = [sacrebleu.sentence_bleu(*(pair[0], [pair[1]]), lowercase=True).score for pair in pairs]

    assert sentence_bleu(outputs, references) == pytest.approx(expected, abs=1e-9)


def test_signatures_are_those_of_sacrebleu() -> None:
    """They name case and tokenization."""
    signatures = {found.metric: found.signature for found in measured(["a"], ["a"])}

    assert "case:lc" in signatures["bleu-lc-13a"]
    assert "tok:13a" in signatures["bleu-lc-13a"]
    assert "tok:none" in signatures["bleu-none"]
    assert "case:mixed" in signatures["bleu-none"]
    assert "nc:6" in signatures["chrf"]


def test_bleu_of_nothing() -> None:
    """Without sentences or without matches BLEU is 0."""
    assert [score.value for score in corpus_bleu([], [])] == [0, 0, 0]
    assert sentence_bleu([], []) == []


def test_identical_sentences_reach_100() -> None:
    """Identical sentences have BLEU 100 in all three ways."""
    assert [round(score.value) for score in corpus_bleu(["a cat sat on it"], ["a cat sat on it"])] == [
        100
    ] * 3


def test_identical_short_sentences_reach_100() -> None:
    """Although they have no 4-gram."""
    assert [round(value) for value in sentence_bleu(["a b", "x"], ["a b", "y"])] == [100, 0]


def test_many_sets_at_once() -> None:
    """A block of sums gives a block of figures, each as if it were alone."""
    sums = np.arange(48, dtype=np.float64).reshape(2, 2, 12) % 7 + 1

    assert bleu(sums).shape == (2, 2)
    assert bleu(sums)[1, 0] == bleu(sums[1, 0])
