"""The search for supported trees: against all sentences and trees of few words, and what it says of itself."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from supported_reference import best_plainly, tree_logp, trees, trigram_logp

from sentgen.generation.bags.problem import ROOT
from sentgen.generation.clusters.depviterbi import WordPath
from sentgen.generation.clusters.supported import (
    SupportedLattice,
    SupportedReader,
    ngram_logp,
    sentence_logp,
)
from sentgen.models.dependency.cluster_counts import CountedTree
from sentgen.models.dependency.cluster_model import Arcs, Trigrams, katz

WEIGHT = 0.4


def counted(words: list[int], heads: list[int], relations: str = "") -> CountedTree:
    named = tuple(relations.split()) or ("_",) * len(words)
    return CountedTree(np.array(words), np.array(heads), named)


def random_cluster(seed: int, n: int) -> list[CountedTree]:
    """Return sentences of 1 to 4 words with projective trees."""
    rng = np.random.default_rng(seed)
    shapes = [list(trees(length)) for length in range(1, 5)]
    found = []
    for _ in range(4):
        of_length = shapes[rng.integers(4)]
        heads = of_length[rng.integers(len(of_length))]
        words = rng.integers(n, size=len(heads)).tolist()
        found.append(counted(words, list(heads), " ".join(rng.choice(["nsubj", "obj"], len(heads)))))
    return found


def bigrams(cluster: list[CountedTree], n: int) -> np.ndarray:
    counts = np.zeros((n + 1, n + 1), np.int64)
    for tree in cluster:
        words = [n, *tree.words.tolist(), n]
        np.add.at(counts, (words[:-1], words[1:]), 1)
    return katz(counts)


def model(cluster: list[CountedTree], n: int) -> tuple[Trigrams, Arcs]:
    return Trigrams.estimate([tree.words for tree in cluster], bigrams(cluster, n)), Arcs.estimate(cluster, n)


def lattice(ngrams: Trigrams, arcs: Arcs, limit: int = 2) -> SupportedLattice:
    n = len(arcs.root)
    return SupportedLattice.weighted(
        ngrams, arcs, weight=WEIGHT, emission=np.zeros(n), limit=np.full(n, limit, np.int32)
    )


@example(9919, 2, 4)  # trees of one sentence took the room of another
@given(st.integers(0, 10_000), st.integers(2, 3), st.integers(1, 4))
def test_the_search_finds_the_best_of_all_supported_sentences(seed: int, n: int, length: int) -> None:
    """With room for all hypotheses the answers are the best ones of all sentences and trees, and said to be exact."""
    ngrams, arcs = model(random_cluster(seed, n), n)
    expected = best_plainly(ngrams, arcs, length, weight=WEIGHT, limit=np.full(n, 2))
    found = lattice(ngrams, arcs).best_paths([length], nbest=3, beam=4_000)[length]

    assert [path.logp for path in found] == pytest.approx([score for score, _ in expected[:3]])
    assert all(path.exact for path in found)
    for path in found:
        score = WEIGHT * tree_logp(arcs, path.words, path.heads)
        assert path.logp == pytest.approx(score + (1 - WEIGHT) * trigram_logp(ngrams, path.words))


@given(st.integers(0, 10_000))
def test_a_narrow_search_finds_supported_sentences_and_no_better_ones(seed: int) -> None:
    """What a beam leaves has a supported tree all the same; where something was lost it is not called exact."""
    ngrams, arcs = model(random_cluster(seed, 3), 3)
    narrow, wide = (lattice(ngrams, arcs).best_paths([4], beam=beam)[4] for beam in (1, 4_000))

    for one in narrow:
        assert tree_logp(arcs, one.words, one.heads) > -math.inf
        assert one.logp <= wide[0].logp + 1e-9
        assert not one.exact or one.logp == pytest.approx(wide[0].logp)


def test_every_source_sentence_is_supported() -> None:
    """The sentences of a cluster are among what can be made of it."""
    cluster = [counted([0, 1, 2], [1, ROOT, 1], "nsubj root obj"), counted([2, 1], [1, ROOT], "nsubj root")]
    found = lattice(*model(cluster, 3)).best_paths([2, 3], nbest=50, beam=100)

    assert (2, 1) in [path.words for path in found[2]]
    assert (0, 1, 2) in [path.words for path in found[3]]


def test_no_argument_that_no_sentence_has() -> None:
    """Word 1 governs 0 before it and 2 behind it, and never the other way around; one subject, one object."""
    cluster = [counted([0, 1, 2], [1, ROOT, 1], "nsubj root obj")] * 2
    found = lattice(*model(cluster, 3)).best_paths([2, 3, 4], nbest=50, beam=100)

    assert sorted(path.words for path in found[2]) == [(0, 1), (1, 2)]
    assert [path.words for path in found[3]] == [(0, 1, 2)]
    assert found[4] == []


def test_arcs_by_hand() -> None:
    """Word 0 modifies 1 from the left in one of the two tokens of 1, twice in the same sentence; 1 is each root."""
    cluster = [counted([0, 0, 1], [2, 2, ROOT], "amod amod root"), counted([1], [ROOT], "root")]
    arcs = Arcs.estimate(cluster, 2)

    assert math.exp(arcs.right[0, 1]) == pytest.approx(2 / 2)
    assert arcs.left.max() == -math.inf
    assert math.exp(arcs.root[1]) == 1
    assert arcs.root[0] == -math.inf
    assert arcs.room[1, arcs.right_kind[0, 1]] == 2
    assert arcs.room.sum() == 2


def test_trigrams_sum_to_one_and_are_interpolated() -> None:
    """After 0 1 comes 2 in one of two sentences: (1 - 1/2) / 2, and 1/2 of the bigram. After any pair, all sum to one."""
    cluster = [counted([0, 1, 2], [1, -1, 1]), counted([0, 1], [1, -1])]
    ngrams, below = model(cluster, 3)[0], bigrams(cluster, 3)

    assert math.exp(ngram_logp(ngrams, 0, 1, 2)) == pytest.approx(0.25 + 0.5 * below[1, 2])
    for u, v in ((0, 1), (1, 2), (3, 0), (2, 0)):
        assert sum(math.exp(ngram_logp(ngrams, u, v, x)) for x in range(4)) == pytest.approx(1)
    assert sentence_logp(ngrams, np.array([0, 1, 2])) == pytest.approx(trigram_logp(ngrams, (0, 1, 2)))


def test_the_trace_adds_up() -> None:
    """The steps of a sentence end in its probability, and its stack is that of the tree."""
    cluster = [counted([0, 1, 2, 3], [1, 2, ROOT, 2], "det nsubj root obj")]
    ngrams, arcs = model(cluster, 4)
    (path,) = lattice(ngrams, arcs).best_paths([4], beam=50)[4]
    reader = SupportedReader("abcd", ngrams, arcs, weight=WEIGHT, emission=np.zeros(4))
    trace, tree = reader.read(path)

    assert path == WordPath((0, 1, 2, 3), path.logp, True, (1, 2, ROOT, 2))
    assert trace[-1].logp == pytest.approx(path.logp)
    assert [" ".join(step.stack) for step in trace] == ["a", "b", "c", "c d", "c d"]
    assert [step.rule for step in trace] == ["push", "governs", "governs", "modifies", "end"]
    assert tree.heads == path.heads
