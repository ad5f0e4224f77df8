"""Learning weights from lists of candidates: the gradient, and that the objective rises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sentgen.arrays import Floats, Longs
from sentgen.evaluation.regeneration.tuning import Lists, together


def chosen(lists: Lists, weights: Floats) -> Longs:
    """Return the best candidate of each bag under weights; of equals the first one."""
    scores = lists.values @ weights
    ends = np.append(lists.starts[1:], len(scores))
    return np.array(
        [a + int(np.argmax(scores[a:b])) for a, b in zip(lists.starts, ends, strict=True)], np.int64
    )


def random_lists(seed: int, bags: int = 4, features: int = 3) -> Lists:
    """Lists of different lengths."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 6, bags).tolist()
    return together(
        [(rng.normal(-5, 2, (size, features)), rng.integers(0, 9, (size, 4)).astype(float)) for size in sizes]
    )


def plain_loss(lists: Lists, weights: np.ndarray, start: np.ndarray, penalty: float) -> float:
    """Return the loss by its definition, bag by bag."""
    expected = np.zeros(4)
    ends = [*lists.starts[1:].tolist(), len(lists.values)]
    for begin, end in zip(lists.starts.tolist(), ends, strict=True):
        share = np.exp([float(weights @ values) for values in lists.values[begin:end]])
        for part, matches in zip(share / share.sum(), lists.matches[begin:end], strict=True):
            expected += part * matches
    return float(penalty * ((weights - start) ** 2).sum() - np.log(expected).mean())


@given(st.integers(0, 10_000), st.floats(0, 0.5))
def test_loss_and_gradient(seed: int, penalty: float) -> None:
    """The loss is as defined, the gradient that of finite differences."""
    lists, rng = random_lists(seed), np.random.default_rng(seed + 1)
    weights, start = rng.uniform(0, 1, (2, 3))
    found, gradient = lists.loss(weights, start, penalty)
    step = 1e-6

    assert found == pytest.approx(plain_loss(lists, weights, start, penalty))
    for k, direction in enumerate(step * np.eye(3)):
        up, down = (plain_loss(lists, weights + sign * direction, start, penalty) for sign in (1, -1))
        assert gradient[k] == pytest.approx((up - down) / (2 * step), abs=1e-5)


@settings(max_examples=15)
@given(st.integers(0, 10_000))
def test_learning_never_makes_it_worse(seed: int) -> None:
    """Learning never increases the loss, and no weight is below 0."""
    lists = random_lists(seed)
    start = np.random.default_rng(seed).uniform(0, 1, 3)
    weights = lists.learn(start)

    assert (weights >= 0).all()
    assert lists.loss(weights, start, 1e-3)[0] <= lists.loss(start, start, 1e-3)[0] + 1e-12


def test_what_tells_good_orders_gains_weight() -> None:
    """The second value, the number of matches, gains weight, the first one, which is random, does not."""
    rng = np.random.default_rng(1)
    parts = []
    for _ in range(20):
        good = rng.permutation(5).astype(float)
        parts.append((np.column_stack([rng.normal(size=5), good]), np.repeat(good[:, None], 4, axis=1)))
    lists = together(parts)
    weights = lists.learn(np.array([1.0, 0.1]))

    assert weights[1] > 1
    assert lists.matches[chosen(lists, weights)].sum() == 20 * 4 * 4
    assert lists.matches[chosen(lists, np.array([1.0, 0.0]))].sum() < 20 * 4 * 4


def test_a_penalty_keeps_weights_where_they_were() -> None:
    lists, start = random_lists(3), np.array([0.5, 1.0, 0.0])

    assert lists.learn(start, penalty=1e6) == pytest.approx(start, abs=1e-4)


def test_large_values_do_not_overflow() -> None:
    """Log-probabilities of long sentences, some hundreds below 0, do not overflow."""
    lists = random_lists(4)
    far = Lists(lists.values * 1e4 - 1e5, lists.matches, lists.starts)
    found, gradient = far.loss(np.ones(3), np.ones(3), 0.0)

    assert np.isfinite(found)
    assert np.isfinite(gradient).all()


def test_no_matches_at_all() -> None:
    """Without matches, learning leaves the weights as they are, and divides by nothing."""
    lists = random_lists(5)
    without = Lists(lists.values, lists.matches * 0, lists.starts)

    assert without.learn(np.ones(3)) == pytest.approx(np.ones(3))


def test_bags_without_candidates_are_left_out() -> None:
    """Bags without candidates are left out."""
    one = np.array([[1.0], [1.0], [0.0]]), np.arange(12.0).reshape(3, 4)
    lists = together([one, (np.zeros((0, 1)), np.zeros((0, 4))), one])

    assert lists.starts.tolist() == [0, 3]
    assert chosen(lists, np.ones(1)).tolist() == [0, 3]
