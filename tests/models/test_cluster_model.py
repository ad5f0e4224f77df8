"""Probabilities of clusters: Katz as the store builds it, Collins by hand, a big model's bigrams."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import toy_store
from hypothesis import given
from hypothesis import strategies as st

from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import ModelError
from sentgen.models import build
from sentgen.models.dependency.cluster_counts import ClusterCounts, TokenReading, cluster_names
from sentgen.models.dependency.cluster_model import ClusterModel, collins, katz
from sentgen.models.dependency.dependencies import backed_off
from sentgen.models.submodel import prefetch
from sentgen.schema import Store

_sentences = st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=8), min_size=1, max_size=8)


def bigram_counts(sentences: list[list[int]]) -> np.ndarray:
    """Count the bigrams of sentences; the last row is the start, the last column the end."""
    words = sorted({word for sentence in sentences for word in sentence})
    n = len(words)
    counts = np.zeros((n + 1, n + 1), np.int64)
    for sentence in sentences:
        for a, b in pairwise([n, *map(words.index, sentence), n]):
            counts[a, b] += 1
    return counts


@given(_sentences)
def test_katz_sums_to_one(sentences: list[list[int]]) -> None:
    """After every word each word, and the end, has a probability, and they sum to one."""
    bigrams = katz(bigram_counts(sentences))

    assert bigrams.sum(axis=1) == pytest.approx(1.0)
    assert (bigrams > 0).all()


@pytest.mark.nightly(by_day=2)
@pytest.mark.parametrize(
    "lines",
    [
        ["the dog sees the cat", "the cat sees a dog", "a dog barks"],
        ["a a a a", "a b", "b"],
        ["x"],
        # Enough counts of counts for the discounts of Good and Turing.
        [" ".join(f"w{i}" for i in range(k)) for k in range(1, 30)]
        + [f"v{i} w{i} u{i}" for i in range(60)]
        + [f"v{i} w{i}" for i in range(25)],
    ],
)
def test_katz_is_what_the_store_builds(tmp_path: Path, lines: list[str]) -> None:
    """The dense model of a cluster and the order-2 model built by SQL from the same text are the same."""
    text = tmp_path / "cluster.lines"
    text.write_text("\n".join(lines) + "\n")
    with Store(tmp_path / "store.duckdb", create=True) as store:
        ingest(store, [str(text)], Settings("clusters", format="lines", order=2))
        model = build(store, "katz", ["clusters"], order=2, smoothing="katz", unknown="none")
        (counts,) = ClusterCounts.of_corpus(store, "clusters", cluster_names(store, "clusters"))
        submodel = prefetch(store, model, [counts.words])
        expected = submodel.table.bigram_matrix(submodel.encode(counts.words))

    assert katz(counts.bigrams) == pytest.approx(expected)


def test_bigrams_of_a_big_model_by_hand(toy: tuple[Store, toy_store.ToyModel]) -> None:
    """Rows are contexts, the last one the start; an unknown word is <unk>, in its row and in its column."""
    store, model = toy
    ngrams = toy_store.backoff_model(toy_store.SENTENCES, 4)

    def p(context: str, word: str) -> float:
        if (context, word) in ngrams:
            return 10 ** ngrams[context, word][0]
        weight = ngrams[context,][1] if (context,) in ngrams else 0.0
        return 10 ** (weight + ngrams[word,][0])

    words = ["dog", "the", "zeppelin"]
    found = prefetch(store, model, [words], order=2)
    rows, columns = ["dog", "the", "<unk>", "<s>"], ["dog", "the", "<unk>", "</s>"]

    assert found.table.bigram_matrix(found.encode(words)) == pytest.approx(
        np.array([[p(context, word) for word in columns] for context in rows])
    )


def test_dependencies_are_relations_over_pairs(tmp_path: Path) -> None:
    """The dog bites the man: the is before man twice and modifies it once, so 1/2; dog before bites once, 1."""
    text = "\n".join(
        f"{i}\t{form}\t_\t_\t_\t_\t{head}\t_\t_\t_"
        for i, (form, head) in enumerate([("the", 2), ("dog", 3), ("bites", 0), ("the", 5), ("man", 3)], 1)
    )
    (tmp_path / "dog.conllu").write_text(f"{text}\n\n")
    with Store(tmp_path / "store.duckdb", create=True) as store:
        ingest(store, [str(tmp_path / "dog.conllu")], Settings("clusters"))
        (counts,) = ClusterCounts.of_corpus(store, "clusters", cluster_names(store, "clusters"))
    model = ClusterModel.estimate(counts)
    bites, dog, man, the = range(4)

    assert model.words == ("bites", "dog", "man", "the")
    assert (model.head_right[the, man], model.head_right[dog, bites]) == (0.5, 1.0)
    assert (model.head_left[bites, man], model.head_right[the, dog]) == (1.0, 1.0)
    assert model.head_left[dog, man] == 0


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=3, max_size=3))
def test_collins_is_the_formula_of_the_other_generators(levels: list[tuple[int, int]]) -> None:
    """Three levels back off as `sentgen.models.dependency.dependencies.backed_off` does for one pair."""
    relations = [(min(r, c), c) for r, c in levels]
    arrays_of = [(np.array([[r]]), np.array([[c]])) for r, c in relations]
    rel, co = zip(*relations, strict=True)

    assert collins(arrays_of)[0, 0] == pytest.approx(backed_off(rel, co))


def test_collins_by_hand(tmp_path: Path) -> None:
    """Words that were never together have the probability of their tags.

    Sentences `old men` and `young dogs`, tags A and N; old never meets dogs. co(A, dogs) + co(old, N) = 2 with two
    relations, A before N twice with two relations: 2/3 * 1 + 1/3 * 1 = 1.
    """
    rows = [("old", "A", 2), ("men", "N", 0)], [("young", "A", 2), ("dogs", "N", 0)]
    text = "\n\n".join(
        "\n".join(f"{i}\t{f}\t_\t{t}\t_\t_\t{h}\t_\t_\t_" for i, (f, t, h) in enumerate(sentence, 1))
        for sentence in rows
    )
    (tmp_path / "dogs.conllu").write_text(f"{text}\n\n")
    with Store(tmp_path / "store.duckdb", create=True) as store:
        ingest(store, [str(tmp_path / "dogs.conllu")], Settings("clusters", tags="upos"))
        clusters = cluster_names(store, "clusters")
        (counts,) = ClusterCounts.of_corpus(store, "clusters", clusters, TokenReading(tags=True))
    plain, smoothed = ClusterModel.estimate(counts), ClusterModel.estimate(counts, smoothing="collins")
    dogs, men, old, young = range(4)

    assert counts.words == ("dogs", "men", "old", "young")
    assert (plain.head_right[old, dogs], smoothed.head_right[old, dogs]) == (0.0, pytest.approx(1.0))
    assert smoothed.head_left[old, dogs] == 0
    assert smoothed.head_right[men, young] == 0


def test_collins_needs_tags(tmp_path: Path) -> None:
    """Smoothing without counts of tags is an error of the caller."""
    (tmp_path / "x.lines").write_text("a b\n")
    with Store(tmp_path / "store.duckdb", create=True) as store:
        ingest(store, [str(tmp_path / "x.lines")], Settings("clusters", format="lines"))
        (counts,) = ClusterCounts.of_corpus(store, "clusters", cluster_names(store, "clusters"))

    with pytest.raises(ValueError, match="counts of tags"):
        ClusterModel.estimate(counts, smoothing="collins")
    with pytest.raises(ModelError, match=r"has no dependency trees; parse it with `parser`"):
        counts.require_trees()


def test_levels_must_be_there() -> None:
    """Back-off without levels is an error."""
    with pytest.raises(ValueError, match="no levels"):
        collins([])


def test_probabilities_stay_below_one() -> None:
    """Two equal levels give the same ratio again."""
    level = (np.array([[1]]), np.array([[2]]))

    assert math.isclose(collins([level, level])[0, 0], 0.5)
