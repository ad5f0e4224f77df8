"""Factors of trees, their weights, and how names with weights are written."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_projective import score_of

from sentgen.errors import InputError
from sentgen.generation.bags.problem import Weights
from sentgen.generation.trees.factors import FACTORS, Factors, FactorSettings, factor_sums
from sentgen.generation.trees.projective import TreeScores, best_heads, new_chart, tree_score

#: Where each factor is in `Factors`.
PLACES = (("edges", 0), ("edges", 1), ("edges", 2), ("arguments", 0), ("siblings", 0))


def random_factors(size: int, seed: int, kinds: int = 2) -> Factors:
    rng = np.random.default_rng(seed)
    return Factors(
        edges=rng.normal(size=(3, size + 1, size, 2, 3)),
        arguments=rng.normal(size=(1, size + 1, 2, 8)),
        siblings=rng.normal(size=(1, kinds + 1, kinds + 1, kinds + 1, 2)),
        kinds=rng.integers(0, kinds, size).astype(np.int32),
    )


def alone(factors: Factors, name: str) -> TreeScores:
    """Return factors of which only one is not 0."""
    column, place = PLACES[FACTORS.index(name)]
    kept = {"edges": factors.edges[0] * 0, "arguments": factors.arguments[0] * 0}
    kept["siblings"] = factors.siblings[0] * 0
    kept[column] = getattr(factors, column)[place]
    return TreeScores(**kept, kinds=factors.kinds)


@given(st.integers(1, 9), st.integers(0, 10_000), st.lists(st.floats(0, 2), min_size=5, max_size=5))
def test_sums_of_factors_are_the_score_of_the_tree(size: int, seed: int, weights: list[float]) -> None:
    """Each sum is the score of the tree by that factor alone; weighted, they add up to its score."""
    factors = random_factors(size, seed)
    order = np.random.default_rng(seed).permutation(size).astype(np.int32)
    scores, chart = factors.weighted(dict(zip(FACTORS, weights, strict=True))), new_chart(size)
    best = tree_score(scores, order, chart)
    heads = best_heads(scores, order, chart)
    sums = factor_sums(factors, order, heads)

    assert sums @ weights == pytest.approx(best)
    expected = [score_of(alone(factors, name), order.tolist(), tuple(heads.tolist())) for name in FACTORS]
    assert sums.tolist() == pytest.approx(expected)


def test_more_than_seven_modifiers_are_seven() -> None:
    factors = random_factors(11, 1)
    order = np.arange(11, dtype=np.int32)
    heads = np.array([-1, *[0] * 10], np.int32)
    expected = score_of(alone(factors, "arguments"), order.tolist(), tuple(heads.tolist()))

    assert factor_sums(factors, order, heads)[3] == pytest.approx(expected)


def test_no_weight_is_no_score() -> None:
    assert tree_score(random_factors(4, 1).weighted({}), np.arange(4, dtype=np.int32), new_chart(4)) == 0


def test_settings() -> None:
    """Factors that are not named have weight 0; by default all are named."""
    assert FactorSettings(Weights.read("relations=.5,siblings", "factor")).weights == {
        "relations": 0.5,
        "siblings": 1.0,
    }
    assert FactorSettings(Weights.read("relations=.5+siblings=0", "factor")).weights == {
        "relations": 0.5,
        "siblings": 0.0,
    }
    assert FactorSettings(Weights.read("", "factor")).weights == {}
    assert set(FactorSettings().weights) == set(FACTORS)


@pytest.mark.parametrize(
    ("factors", "message"),
    [
        ("relation", "no factor 'relation'; there are: relations, lexical, distances, arguments, siblings"),
        ("relations=-1", "factor 'relations=-1' has no weight; write NAME=WEIGHT with a number from 0"),
        ("relations=nan", "factor 'relations=nan' has no weight"),
        ("relations=inf", "factor 'relations=inf' has no weight"),
        ("relations=", "factor 'relations=' has no weight"),
        ("=1", "factor '=1' has no weight"),
        ("relations,relations=2", "factor relations is there twice"),
    ],
)
def test_settings_are_checked(factors: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        FactorSettings(Weights.read(factors, "factor"))


def test_weights_are_read() -> None:
    """The last equals sign ends the name, which may contain others; empty parts are ignored."""
    assert Weights.read("", "feature").named == ()
    assert Weights.read(" a , ,b=2 + c=1e-3,", "feature").named == (("a", 1.0), ("b", 2.0), ("c", 0.001))
    assert Weights.read("a=b=.5", "feature").named == (("a=b", 0.5),)


@given(
    st.dictionaries(
        st.text("abc@1-_", min_size=1, max_size=6), st.floats(0, 1e6, allow_nan=False), max_size=4
    )
)
def test_what_is_written_is_read(named: dict[str, float]) -> None:
    """Weights are written with four digits, so that a record gives the same search again."""
    weights = Weights.rounded(named.items())
    found = dict(weights.named)

    assert Weights.read(weights.text, "feature") == weights
    assert list(found) == list(named)
    assert list(found.values()) == pytest.approx(list(named.values()), rel=1e-3)
