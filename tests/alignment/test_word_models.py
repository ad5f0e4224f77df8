"""IBM Model 1 and the HMM against sums over all paths, and a table worked out by hand."""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from word_reference import (
    NULL_WORD,
    Path,
    expected_counts,
    expected_jumps,
    hmm_paths,
    model1_paths,
)

from sentgen.alignment import Pair
from sentgen.alignment.baselines.bitext import (
    Bitext,
    BitextUnit,
    Numbering,
    bitext,
    units,
)
from sentgen.alignment.baselines.word_models import (
    Model1,
    SymmetricHMM,
    WordHMM,
    hmm_best,
    hmm_counts,
    model1_best,
    model1_counts,
    train_hmm,
    train_model1,
)

WORDS = st.lists(st.sampled_from("abc"), min_size=1, max_size=3)


def unit(source: str, target: str) -> BitextUnit:
    return BitextUnit(None, (), (), tuple(source.split()), tuple(target.split()))


def keys(of: BitextUnit, text: Bitext) -> dict[tuple[str, str], int]:
    """Return the parameter of each (source word, target word) of the first sentence pair."""
    columns = (NULL_WORD, *of.source)
    cells = text.cells[: len(of.target) * len(columns)].reshape(len(of.target), len(columns))
    return {(s, t): int(cells[j, i]) for j, t in enumerate(of.target) for i, s in enumerate(columns)}


def random_table(text: Bitext, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).uniform(0.05, 1, len(text.sources))


def test_model1_learns_the_table_by_hand() -> None:
    """Two iterations over (a b -> x y) and (a -> x).

    First, each target word shares itself equally over null and the words: a has x 1/3 + 1/2 = 5/6 and y 1/3,
    so t(x | a) = 5/7, and null the same; b has 1/3 of each, t = 1/2.
    Then x of the first pair gives a 5/7 of 5/7 + 5/7 + 1/2 = 27/14, that is 10/27, and b 7/27; y gives a
    2/7 of 15/14 = 4/15 and b 7/15; x of the second pair gives a 1/2. So a has x 47/54, y 4/15, and
    t(x | a) = 235/307; b has x 7/27, y 7/15, and t(x | b) = 5/14.
    """
    of = [unit("a b", "x y"), unit("a", "x")]
    text = bitext(of)
    table, _ = train_model1(text, 2)
    place = keys(of[0], text)

    assert table[place["a", "x"]] == pytest.approx(235 / 307)
    assert table[place["b", "x"]] == pytest.approx(5 / 14)
    assert table[place["", "x"]] == pytest.approx(235 / 307)
    assert table[place["b", "x"]] + table[place["b", "y"]] == pytest.approx(1)


@given(WORDS, WORDS, st.integers(0, 1000))
def test_model1_counts_what_all_paths_say(source: list[str], target: list[str], seed: int) -> None:
    """Expected counts and the log-probability are those of the sum over all paths."""
    of = unit(" ".join(source), " ".join(target).upper())
    text = bitext([of])
    table, counts = random_table(text, seed), np.zeros(len(text.sources))
    place = keys(of, text)
    reference = {key: float(table[i]) for key, i in place.items()}
    expected, logp = expected_counts(
        of.source, of.target, list(model1_paths(of.source, of.target, reference))
    )

    assert model1_counts(text, table, counts) == pytest.approx(logp)
    assert {key: counts[i] for key, i in place.items()} == pytest.approx(expected)


def test_model1_prefers_words_to_null_and_the_first_word() -> None:
    """Among equally good columns the leftmost word wins."""
    text = bitext([unit("a a", "x")])

    assert model1_best(text, np.full(len(text.sources), 0.5), 0).tolist() == [1]


def test_model1_likelihood_never_falls() -> None:
    """EM raises the log-probability of the targets in each iteration."""
    text = bitext([unit("a b c", "x y"), unit("b c", "y z z"), unit("c", "z"), unit("a", "x")])
    _, logp = train_model1(text, 8)

    assert all(after >= before - 1e-12 for before, after in pairwise(logp))


def paths_of(
    of: BitextUnit, text: Bitext, table: np.ndarray, seed: int, smoothing: float
) -> tuple[list[tuple[Path, float]], np.ndarray]:
    weights = np.random.default_rng(seed + 1).uniform(0.1, 1, 7)
    reference = {key: float(table[i]) for key, i in keys(of, text).items()}
    jump = {d: float(weights[d + 3]) for d in range(-3, 4)}
    found = hmm_paths(of.source, of.target, reference, jump, null=0.3, smoothing=smoothing)
    return list(found), weights


@given(WORDS, WORDS, st.integers(0, 1000))
def test_hmm_counts_what_all_paths_say(source: list[str], target: list[str], seed: int) -> None:
    """Expected counts and the log-probability are those of the sum over all paths."""
    of = unit(" ".join(source), " ".join(target).upper())
    text = bitext([of])
    table, counts = random_table(text, seed), np.zeros(len(text.sources))
    found, weights = paths_of(of, text, table, seed, 0.25)
    expected, logp = expected_counts(of.source, of.target, found)

    assert hmm_counts(text, table, weights, 0.3, 0.25, counts, np.zeros(7)) == pytest.approx(logp)
    got = {key: counts[i] for key, i in keys(of, text).items()}
    assert got == pytest.approx(defaultdict(float, expected))


@given(WORDS, WORDS, st.integers(0, 1000))
def test_hmm_counts_jumps_of_all_paths(source: list[str], target: list[str], seed: int) -> None:
    """Without smoothing, the expected jumps are those of the sum over all paths."""
    of = unit(" ".join(source), " ".join(target).upper())
    text = bitext([of])
    table, jumps = random_table(text, seed), np.zeros(7)
    found, weights = paths_of(of, text, table, seed, 0.0)
    hmm_counts(text, table, weights, 0.3, 0.0, np.zeros(len(text.sources)), jumps)
    expected = expected_jumps(found)

    assert jumps == pytest.approx(np.array([expected.get(d, 0.0) for d in range(-3, 4)]))


@given(WORDS, WORDS, st.integers(0, 1000))
def test_hmm_finds_the_best_path(source: list[str], target: list[str], seed: int) -> None:
    """The path that is found has the probability of the best of all paths."""
    of = unit(" ".join(source), " ".join(target).upper())
    text = bitext([of])
    table = random_table(text, seed)
    found, weights = paths_of(of, text, table, seed, 0.25)
    columns = hmm_best(text, table, weights, 0.3, 0.25, 0).tolist()
    best = max(probability for _, probability in found)
    same = [
        probability for path, probability in found if [0 if empty else i + 1 for i, empty in path] == columns
    ]

    assert max(same) == pytest.approx(best)


def test_jumps_beyond_the_reach_share_a_weight() -> None:
    """A table of jumps -1..1 takes longer jumps for those of its ends, and counts them so."""
    text = bitext([unit("a b c d", "x y z")])
    table = random_table(text, 1)
    narrow, wide = np.array([0.2, 0.5, 0.3]), np.array([0.2, 0.2, 0.2, 0.5, 0.3, 0.3, 0.3])
    counts, few, many = np.zeros(len(table)), np.zeros(3), np.zeros(7)

    got = hmm_counts(text, table, narrow, 0.2, 0.1, counts, few)
    assert got == pytest.approx(hmm_counts(text, table, wide, 0.2, 0.1, counts, many))
    assert few == pytest.approx([many[:3].sum(), many[3], many[4:].sum()])
    assert many.min() > 0


def test_long_sentences_do_not_underflow() -> None:
    """300 words beside 500 have a finite log-probability, though its exponential is 0."""
    text = bitext([unit(" ".join(f"a{i}" for i in range(500)), " ".join(f"b{i}" for i in range(300)))])
    _, _, logp = train_hmm(text, np.full(len(text.sources), 1e-3), 1, null=0.2, smoothing=0.2)

    assert math.isfinite(logp[0])
    assert math.exp(logp[0]) == 0


PAIRS = [
    Pair("1", ("the", "big", "dog", "barked"), ("dog", "barked")),
    Pair("2", ("a", "dog", "slept"), ("dog", "slept")),
    Pair("3", ("the", "cat", "slept"), ("cat", "slept")),
]


@pytest.mark.parametrize(
    "aligner", [Model1(), WordHMM(), WordHMM(source="document"), SymmetricHMM(WordHMM())]
)
def test_equal_words_are_linked(aligner: Model1 | WordHMM | SymmetricHMM) -> None:
    """Self-pairs teach that a word comes from itself, in either direction."""
    links = [alignment.links for alignment in aligner.align(PAIRS)]

    assert {(2, 0), (3, 1)} <= links[0]
    assert {(1, 0), (2, 1)} <= links[1]
    assert {(1, 0), (2, 1)} <= links[2]


def test_case_does_not_matter() -> None:
    """Words are compared in lower case."""
    upper = [Pair(pair.key, tuple(map(str.upper, pair.document)), pair.abstract) for pair in PAIRS]

    assert list(Model1().align(upper)) == list(Model1().align(PAIRS))


def test_training_pairs_teach() -> None:
    """A synonym is linked only after pairs that have shown it."""
    asked = [Pair("x", ("hounds", "bark", "often"), ("dogs", "bark"))]
    shown = tuple(
        Pair(str(i), ("hounds", verb), ("dogs", verb)) for i, verb in enumerate(["run", "jump", "eat", "dig"])
    )
    aligner = WordHMM(source="document", training=shown)

    assert (0, 0) in next(iter(aligner.align(asked))).links


def test_a_pair_to_align_is_learnt_from_once() -> None:
    """A pair to align that is also a training pair counts once."""
    once = units([*PAIRS, PAIRS[1]], (), source="document", sentences=3)

    assert units(PAIRS[:1], [*PAIRS, PAIRS[1]], source="document", sentences=3) == once


def test_long_pairs_are_aligned_by_sentence() -> None:
    """Offsets of an abstract sentence and its three document sentences become offsets of the texts."""
    lines = ["rain fell", "dogs bark", "cats sleep", "birds sing", "fish swim"]
    document = tuple(word for line in lines for word in line.split())
    pair = Pair("1", document, ("birds", "sing", "dogs", "bark"), (0, 2, 4, 6, 8), (0, 2))
    (alignment,) = Model1().align([pair])

    assert alignment.links == {(6, 0), (7, 1), (2, 2), (3, 3)}


def test_no_pairs_have_no_alignments() -> None:
    """An empty list of pairs is no error."""
    assert list(WordHMM().align([])) == []
    assert list(Model1().align([])) == []


def test_empty_texts_have_empty_alignments() -> None:
    """A pair without words on one side is answered by no links."""
    empty = Pair("1", ("a", "b"), ())

    assert [len(alignment.phrases) for alignment in Model1().align([empty, PAIRS[0]])] == [0, 2]


def test_sides_exchange_source_and_target() -> None:
    """The abstract generates in the basic direction, the document in the flipped one."""
    (basic, *_) = units(PAIRS[:1], (), source="abstract", sentences=3)
    (flipped, *_) = units(PAIRS[:1], (), source="document", sentences=3)

    assert (basic.source, basic.target) == (flipped.target, flipped.source)


@given(st.lists(st.integers(0, 60)), st.lists(st.integers(0, 2**50)))
def test_numbers_follow_the_first_coming(first: list[int], second: list[int]) -> None:
    """Word numbers do not depend on the initial size of the hash table."""
    numbering = Numbering(bits=2)
    found = [*numbering.numbers(np.array(first, np.int64)), *numbering.numbers(np.array(second, np.int64))]
    expected: dict[int, int] = {}

    assert found == [expected.setdefault(key, len(expected)) for key in (*first, *second)]
    assert numbering.keys().tolist() == list(expected)
    assert len(numbering) == len(expected)
