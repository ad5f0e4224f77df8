"""No algorithm profits from the order in which the test set has its words."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sentgen.corpus.sentence import Sentence
from sentgen.counts.ingestion import Settings, ingest
from sentgen.demo import TREEBANK
from sentgen.evaluation import evaluate_regeneration
from sentgen.evaluation.regeneration.cases import read_test_set
from sentgen.generation import ALGORITHMS
from sentgen.models import ModelInfo, build
from sentgen.schema import Store

Trained = tuple[Store, ModelInfo]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trained]:
    """A store with the demo treebank and a model of it."""
    with Store(tmp_path_factory.mktemp("fair") / "demo.duckdb", create=True) as store:
        ingest(store, [str(TREEBANK)], Settings("demo", order=3))
        yield store, build(store, "demo", ["demo"], order=3)


def tie_heavy(number: int) -> Sentence:
    """Return bags of six unknown words, which no model distinguishes."""
    return Sentence([f"w{number}-{place}" for place in range(6)])


@pytest.mark.parametrize("seed", [1, 2])
def test_ties_are_broken_at_random(trained: Trained, seed: int) -> None:
    """If all orders score alike, answers are as far from the gold order as from its reverse.

    Kendall's tau of a random order of six words has mean 0 and variance 2 * 17 / (9 * 6 * 5) = 0.126; the mean of 60
    such bags has a standard deviation of 0.046, and 0.18 is four of them.
    """
    result = evaluate_regeneration(*trained, map(tie_heavy, range(60)), list(ALGORITHMS), seed=seed)

    assert {
        system.system: tau
        for system in result.systems
        if abs(tau := system.value("kendall-tau")) > 0.18 or system.value("exact-match") > 0.05
    } == {}


def test_order_of_the_test_set_does_not_matter(trained: Trained, nightly: bool) -> None:
    """The same bags in another order give the same sentences, duplicates and all."""
    sentences = [Sentence(one.forms) for one in read_test_set(str(TREEBANK))][: 15 if nightly else 5]
    sentences.append(Sentence(["the", "the", "of", "of", "unheard", "unheard", "the"]))
    turned = [Sentence(one.forms[::-1]) for one in sentences]
    plain, other = (evaluate_regeneration(*trained, test, list(ALGORITHMS)) for test in (sentences, turned))

    assert {one.system: one.outputs for one in plain.systems} == {
        one.system: one.outputs for one in other.systems
    }
