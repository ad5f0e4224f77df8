"""Dependency-propagating search where some words may not follow others."""

from __future__ import annotations

import math
from itertools import pairwise, product

import numpy as np
import pytest
from depviterbi_reference import best_paths_plainly
from hypothesis import given
from hypothesis import strategies as st

from sentgen.corpus.reading import read_trees
from sentgen.demo import TREEBANK
from sentgen.generation.clusters.clusters import CORPUS, stored_clusters
from sentgen.generation.clusters.depviterbi import UNLIMITED, best_paths, follow, lattice_of
from sentgen.generation.clusters.generate import GenerationSettings, generate
from sentgen.models.dependency.cluster_model import ClusterModel


@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(1, 5))
def test_the_best_string_of_those_that_are_allowed_is_found(seed: int, n: int, length: int) -> None:
    """Against all strings, scored by the definition; where none is allowed there is none."""
    rng = np.random.default_rng(seed)
    relations = rng.choice([0.0, 0.0, 0.5, 1.0], (n, n))
    right = rng.choice([0.0, 0.3, 1.0], (n, n)) * relations
    bigrams = rng.dirichlet(np.full(n + 1, 0.5), n + 1)
    model = ClusterModel(tuple("abcd"[:n]), ("_",) * n, bigrams, right, relations - right)
    allowed = rng.random((n + 1, n + 1)) < 0.6
    lattice = lattice_of(
        model, weight=0.5, emission=np.zeros(n), limit=np.full(n, UNLIMITED), allowed=allowed
    )
    best = -math.inf
    for words in product(range(n), repeat=length):
        pairs = list(pairwise((n, *words, n)))
        if all(allowed[pair] for pair in pairs):
            steps, _ = follow(words, model.head_right.tolist(), model.head_left.tolist())
            deps = [*(step.dep for step in steps), 0.0]
            terms = [0.5 * bigrams[pair] + 0.5 * dep for pair, dep in zip(pairs, deps, strict=True)]
            best = max(best, sum(map(math.log, terms)))

    found = best_paths(lattice, [length])[length]
    plain = [one.logp for one in best_paths_plainly(lattice, length)[length] if one.logp > -math.inf]

    assert [path.logp for path in found] == ([pytest.approx(best)] if best > -math.inf else [])
    assert plain == ([pytest.approx(best)] if best > -math.inf else [])


def test_seen_transitions_are_those_of_the_cluster() -> None:
    """Every two neighbors of a string, its start and its end too, are neighbors in a sentence of the cluster."""
    sentences = [sentence for sentence, _ in zip(read_trees(str(TREEBANK)), range(4), strict=False)]
    seen = {pair for one in sentences for pair in pairwise(("<s>", *one.forms, "</s>"))}
    with stored_clusters([sentences]) as store:
        found = list(
            generate(store, CORPUS, lengths=range(6, 12), settings=GenerationSettings(transitions="seen"))
        )

    assert found
    for one in found:
        assert set(pairwise(("<s>", *one.words, "</s>"))) <= seen
