"""The two tests: by hand, against plain references, and at their level of significance."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import sacrebleu
from bleu_scores import measured
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from sentgen.evaluation.figures.measurement import Measurement, compare_all, holm, randomization_tests, ratio

REFERENCES = ["a b c d e f", "g h i j k", "l m n o p q", "a c e g i k", "b d f h j l"]
GOOD = ["a b c d f e", "g h i j k", "l m n o q p", "a c e i g k", "d b f h j l"]
POOR = ["c a b d f e", "g h j i k", "l m n o p q", "a c e i g k", "d b h f j l"]


def bleu_of(outputs: list[str]) -> Measurement:
    """Return the measurement of cased BLEU without tokenization."""
    return measured(outputs, REFERENCES)[1]


def shares(*hits: float) -> Measurement:
    """Return the measurement of an accuracy, a value a sentence."""
    return Measurement("share", "", np.array([(hit, 1) for hit in hits], np.float64), ratio)


def test_sign_test_replaces_one_sentence_at_a_time() -> None:
    """As in Collins et al. 2005: sacreBLEU scores the whole set after each single replacement."""
    pluses = minuses = 0
    base = sacrebleu.corpus_bleu(POOR, [REFERENCES], tokenize="none", force=True).score
    for i in range(len(POOR)):
        replaced = [*POOR[:i], GOOD[i], *POOR[i + 1 :]]
        score = sacrebleu.corpus_bleu(replaced, [REFERENCES], tokenize="none", force=True).score
        pluses += score > base + 1e-9
        minuses += score < base - 1e-9

    assert bleu_of(POOR).sign_test(bleu_of(GOOD))[:2] == (pluses, minuses)
    assert pluses + minuses == 4  # the fourth sentence is the same


def test_sign_test_is_binomial() -> None:
    """Six pluses, no minus: 2 / 2**6; one each: 1; nothing but equals: 1."""
    assert shares(*[0] * 6, 1).sign_test(shares(*[1] * 6, 1)) == (6, 0, pytest.approx(2 / 64))
    assert shares(0, 1, 1).sign_test(shares(1, 0, 1)) == (1, 1, 1.0)
    assert shares(1, 1).sign_test(shares(1, 1)) == (0, 0, 1.0)


@given(st.lists(st.sampled_from([-1, 0, 1]), min_size=1, max_size=60))
def test_sign_test_is_that_of_scipy(changes: list[int]) -> None:
    """The exact two-sided binomial test of the pluses among the changes."""
    pluses, changed = changes.count(1), len(changes) - changes.count(0)
    found = shares(*(change < 0 for change in changes)).sign_test(shares(*(change > 0 for change in changes)))

    assert found[:2] == (pluses, changed - pluses)
    assert found[2] == pytest.approx(binomtest(pluses, changed).pvalue if changed else 1.0)


def test_randomization_converges_to_the_exact_test() -> None:
    """All 2**5 exchanges of sentences between two systems, scored one by one."""
    observed = abs(bleu_of(GOOD).value - bleu_of(POOR).value)
    as_great = 0
    for swaps in product((False, True), repeat=5):
        one = [poor if swap else good for good, poor, swap in zip(GOOD, POOR, swaps, strict=True)]
        other = [good if swap else poor for good, poor, swap in zip(GOOD, POOR, swaps, strict=True)]
        as_great += abs(bleu_of(one).value - bleu_of(other).value) >= observed - 1e-9
    systems = {"good": bleu_of(GOOD), "poor": bleu_of(POOR)}
    (p,) = randomization_tests(systems, [("good", "poor")], seed=1, shuffles=20_000)

    # the standard error of a share of 20,000 is at most 0.0036
    assert p == pytest.approx(as_great / 32, abs=0.015)


def test_randomization_never_says_zero() -> None:
    """Of 999 shuffles none may be as great: p is (0 + 1) / (999 + 1)."""
    systems = {"a": shares(*[0] * 50), "b": shares(*[1] * 50)}

    assert randomization_tests(systems, [("a", "b")], seed=1, shuffles=999) == [0.001]


def test_tests_hold_their_level() -> None:
    """Of 200 pairs of systems that do not differ, one in twenty is called different at 0.05."""
    rng = np.random.default_rng(5)
    found = [
        compare_all({name: shares(*rng.random(80)) for name in "ab"}, seed=trial, shuffles=199)[0]
        for trial in range(200)
    ]

    # 10 of 200 are expected, with a standard deviation of 3; the sign test is exact, and so below its level
    assert 2 <= sum(pair.shuffle_p <= 0.05 for pair in found) <= 19
    assert 0 < sum(pair.sign_p <= 0.05 for pair in found) <= 19


def test_every_pair_once_the_lower_first() -> None:
    """The order of the systems does not change a comparison; equal systems are ordered by name."""
    systems = {"x": bleu_of(GOOD), "y": bleu_of(POOR), "z": bleu_of(GOOD)}
    found = compare_all(systems, seed=1, shuffles=99)

    assert [(pair.worse, pair.better) for pair in found] == [("y", "x"), ("x", "z"), ("y", "z")]
    assert found[0].difference == pytest.approx(bleu_of(GOOD).value - bleu_of(POOR).value)
    assert (found[1].pluses, found[1].minuses, found[1].equal) == (0, 0, 5)
    backwards = compare_all(dict(reversed(systems.items())), seed=1, shuffles=99)
    assert {(p.worse, p.better): p.sign_p for p in found} == {
        (p.worse, p.better): p.sign_p for p in backwards
    }
    assert compare_all({"x": bleu_of(GOOD)}, seed=1) == []


def test_holm_by_hand() -> None:
    """Sorted 0.01, 0.02, 0.03, 0.5 times 4, 3, 2, 1 is 0.04, 0.06, 0.06 (never less than before), 0.5."""
    assert holm([0.5, 0.02, 0.01, 0.03]) == pytest.approx([0.5, 0.06, 0.04, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []
