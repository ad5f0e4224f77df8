"""The search: against all strings of small vocabularies, against its reference, and its claims to be exact."""

from __future__ import annotations

import math
from collections import Counter
from itertools import product

import numpy as np
import pytest
from depviterbi_reference import best_paths_plainly
from hypothesis import given
from hypothesis import strategies as st

from sentgen.generation.clusters.depviterbi import (
    UNLIMITED,
    PathReader,
    WordPath,
    best_paths,
    follow,
    lattice_of,
)
from sentgen.generation.clusters.depviterbi_kernels import DepviterbiLattice
from sentgen.models.dependency.cluster_model import ClusterModel


def random_model(seed: int, n: int) -> ClusterModel:
    """Return bigrams that sum to one, and dependencies that tend to zero and one, as those of clusters do."""
    rng = np.random.default_rng(seed)
    bigrams = rng.dirichlet(np.full(n + 1, 0.5), n + 1)
    relations = rng.choice([0.0, 0.0, 0.5, 1.0], (n, n)) * rng.choice([1.0, rng.random()], (n, n))
    right = rng.choice([0.0, 0.3, 1.0], (n, n)) * relations
    words = tuple("abcdefgh"[:n])
    return ClusterModel(words, ("_",) * n, bigrams, right, relations - right)


def lattice(
    model: ClusterModel, *, weight: float = 0.5, limit: int = UNLIMITED, nearness: float = 1.0
) -> DepviterbiLattice:
    n = len(model.words)
    emission, limits = np.zeros(n), np.full(n, limit)
    return lattice_of(model, weight=weight, emission=emission, limit=limits, nearness=nearness)


def logp_of(model: ClusterModel, words: tuple[int, ...], weight: float = 0.5, nearness: float = 1.0) -> float:
    """Return the log-probability of a sentence by the definition, along its head stack."""
    n = len(model.words)
    steps, _ = follow(words, model.head_right.tolist(), model.head_left.tolist(), nearness)
    deps = [step.dep for step in steps] + [0.0]
    total = 0.0
    for a, b, dep in zip((n, *words), (*words, n), deps, strict=True):
        total += math.log((1 - weight) * model.bigrams[a, b] + weight * dep)
    return total


def all_strings(
    model: ClusterModel, length: int, *, weight: float = 0.5, limit: int = UNLIMITED
) -> list[float]:
    """Return the log-probabilities of all strings that may be made, the highest first."""
    strings = product(range(len(model.words)), repeat=length)
    allowed = (words for words in strings if max(Counter(words).values()) <= limit)
    return sorted((logp_of(model, words, weight) for words in allowed), reverse=True)


def logps(paths: list[WordPath]) -> list[float]:
    return [path.logp for path in paths]


_seeds = st.integers(0, 10_000)
_weights = st.sampled_from([0.0, 0.3, 0.5, 0.9])


@given(_seeds, st.integers(1, 4), st.integers(1, 5), _weights)
def test_free_reuse_finds_the_best_of_all_strings(seed: int, n: int, length: int, weight: float) -> None:
    """With free reuse the answer is the best string, and is marked as exact."""
    model = random_model(seed, n)
    (best,) = best_paths(lattice(model, weight=weight), [length])[length]

    assert best.logp == pytest.approx(all_strings(model, length, weight=weight)[0])
    assert best.logp == pytest.approx(logp_of(model, best.words, weight))
    assert best.exact


@given(
    _seeds, st.integers(1, 4), st.integers(1, 5), st.sampled_from([0.5, 0.9]), st.sampled_from([2, UNLIMITED])
)
def test_relations_that_fade_are_searched_as_well(
    seed: int, n: int, length: int, nearness: float, limit: int
) -> None:
    """Relations that fade with each item above agree with all strings, the reference and the trace."""
    model = random_model(seed, n)
    words = lattice(model, nearness=nearness, limit=limit)
    paths = best_paths(words, [length], beam=None if limit == UNLIMITED else 2000)[length]
    strings = (one for one in product(range(n), repeat=length) if max(Counter(one).values()) <= limit)
    expected = sorted((logp_of(model, one, nearness=nearness) for one in strings), reverse=True)[:1]
    plain = best_paths_plainly(words, length)[length]

    assert logps(paths) == pytest.approx(expected)
    assert [one.logp for one in plain] == pytest.approx(expected)
    for path in paths:
        reader = PathReader(model, weight=0.5, emission=np.zeros(n), nearness=nearness)
        assert reader.read(path.words)[0][-1].logp == pytest.approx(path.logp)


@given(_seeds, st.integers(2, 4), st.integers(1, 4))
def test_free_reuse_finds_the_n_best_of_all_strings(seed: int, n: int, length: int) -> None:
    """The n best answers are the n best strings, in order, all different."""
    model = random_model(seed, n)
    paths = best_paths(lattice(model), [length], nbest=7)[length]

    assert logps(paths) == pytest.approx(all_strings(model, length)[:7])
    assert len({path.words for path in paths}) == len(paths)
    assert all(path.exact for path in paths)


@given(_seeds, st.integers(2, 4), st.integers(1, 5), st.integers(1, 2))
def test_limits_are_kept(seed: int, n: int, length: int, limit: int) -> None:
    """No word is used more often than allowed, and an unlimited beam finds the best such string."""
    model = random_model(seed, n)
    paths = best_paths(lattice(model, limit=limit), [length], beam=2000)[length]
    expected = all_strings(model, length, limit=limit)

    assert logps(paths) == pytest.approx(expected[:1])
    assert all(max(Counter(path.words).values()) <= limit for path in paths)


@given(_seeds, st.integers(2, 4), st.integers(1, 3), st.sampled_from([1, 2, UNLIMITED]))
def test_exact_is_never_said_in_vain(seed: int, n: int, beam: int, limit: int) -> None:
    """With any beam, an answer that is marked as exact is the best string."""
    model = random_model(seed, n)
    for length, paths in best_paths(lattice(model, limit=limit), [2, 4], beam=beam).items():
        if paths and paths[0].exact:
            assert paths[0].logp == pytest.approx(all_strings(model, length, limit=limit)[0])


@given(_seeds, st.integers(2, 6), st.integers(1, 8))
def test_a_beam_of_one_is_the_search_of_the_paper(seed: int, n: int, length: int) -> None:
    """One path for each length and last word, with its stack, as in the plain reference."""
    words = lattice(random_model(seed, n))
    (found,) = best_paths(words, [length], beam=1)[length]
    (expected,) = best_paths_plainly(words, length, beam=1)[length]

    assert found.logp == pytest.approx(expected.logp)


@given(_seeds, st.integers(2, 4), st.integers(2, 6), st.integers(1, 4), st.sampled_from([1, 2, UNLIMITED]))
def test_all_lengths_agree_with_the_reference(
    seed: int, n: int, longest: int, nbest: int, limit: int
) -> None:
    """Stacks cut to what matters, bounds and slots change nothing: the reference has none of them."""
    words = lattice(random_model(seed, n), limit=limit)
    found = best_paths(words, range(1, longest + 1), nbest=nbest, beam=2000)
    expected = best_paths_plainly(words, longest, nbest=nbest)

    for length in range(1, longest + 1):
        assert logps(found[length]) == pytest.approx([one.logp for one in expected[length]])


def test_the_recursion_of_the_paper_can_miss_the_best() -> None:
    """The better beginning may have the worse stack, so that hypotheses with other stacks must be kept.

    p(a | <s>) = .4, p(b | <s>) = .5; p(c | a) = p(c | b) = p(d | c) = .5, p(</s> | d) = 1; a governs d
    with .5. Half of each bigram counts, and half of the relation where there is one:

        a c     .2 * .25  = .05      then d: .25 + .25, the end: .5      .0125
        b c     .25 * .25 = .0625    then d: .25,       the end: .5      .0078125

    Of the beginnings that end in c the paper keeps b c.
    """
    a, b, c, d, edge = range(5)
    bigrams, left = np.zeros((5, 5)), np.zeros((4, 4))
    bigrams[edge, [a, b]] = 0.4, 0.5
    bigrams[[a, b, c], [c, c, d]] = 0.5
    bigrams[d, edge] = 1.0
    left[a, d] = 0.5
    words = lattice(ClusterModel(tuple("abcd"), ("_",) * 4, bigrams, np.zeros((4, 4)), left))

    (best,) = best_paths(words, [3])[3]
    (published,) = best_paths(words, [3], beam=1)[3]

    assert (best.words, best.exact) == ((a, c, d), True)
    assert best.logp == pytest.approx(math.log(0.0125))
    assert (published.words, published.exact) == ((b, c, d), False)
    assert published.logp == pytest.approx(math.log(0.0078125))


@given(_seeds, st.integers(2, 6), st.integers(1, 12))
def test_without_dependencies_it_is_the_viterbi_algorithm(seed: int, n: int, length: int) -> None:
    """Weight 0 leaves the bigrams alone, and max-product over them is exact at any beam."""
    model = random_model(seed, n)
    best = np.log(model.bigrams[n, :n])
    for _ in range(length - 1):
        best = (best[:, None] + np.log(model.bigrams[:n, :n])).max(axis=0)
    expected = (best + np.log(model.bigrams[:n, n])).max()

    (found,) = best_paths(lattice(model, weight=0.0), [length], beam=1)[length]

    assert found.logp == pytest.approx(expected)
    assert found.exact


def test_a_word_without_weight_is_never_used() -> None:
    """A word with emission probability 0 is never used, even if no other word is left."""
    model = random_model(1, 2)
    limited = lattice_of(model, weight=0.5, emission=np.array([-np.inf, 0.0]), limit=np.array([UNLIMITED, 2]))
    found = best_paths(limited, [1, 2, 3])

    assert [path.words for path in found[1] + found[2]] == [(1,), (1, 1)]
    assert found[3] == []


def test_emission_counts_at_every_word() -> None:
    """Halving p_em of one word costs log 2 each time it occurs."""
    model = random_model(2, 3)
    weights = np.log([1.0, 0.5, 0.25])
    plain = lattice(model)
    weighted = lattice_of(model, weight=0.5, emission=weights, limit=plain.limit)

    for path in best_paths(weighted, [4], nbest=5)[4]:
        assert path.logp == pytest.approx(logp_of(model, path.words) + weights[list(path.words)].sum())


def test_no_lengths_no_sentences() -> None:
    """Asking for nothing gives nothing."""
    assert best_paths(lattice(random_model(3, 2)), []) == {}


def test_only_the_lengths_asked_for_come_back() -> None:
    """Other lengths, which are searched on the way, are not returned."""
    assert sorted(best_paths(lattice(random_model(4, 3)), [2, 5])) == [2, 5]


@given(_seeds, st.integers(1, 5), st.lists(st.integers(0, 4), min_size=1, max_size=9), _weights)
def test_the_trace_adds_up(seed: int, n: int, words: list[int], weight: float) -> None:
    """The steps of a trace multiply to the probability of the sentence, end included."""
    model = random_model(seed, n)
    path = tuple(word % n for word in words)
    trace, tree = PathReader(model, weight=weight, emission=np.zeros(n)).read(path)

    assert trace[-1].logp == pytest.approx(logp_of(model, path, weight))
    assert [step.word for step in trace] == [*(model.words[word] for word in path), "</s>"]
    assert len(tree.heads) == len(path)
