"""The local search of `joint`: scores against plain references, moves, bounds, budgets, and the best of all orders."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache
from itertools import combinations, permutations, product
from math import factorial

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from test_projective import is_projective_tree, random_scores, score_of
from toy_problems import NGRAMS, VOCABULARY, table_of

from sentgen.generation.trees.joint import (
    ClimbingUnits,
    Visited,
    _moves,
    climb,
    line_scores,
    most_trees,
    tree_bound,
)
from sentgen.generation.trees.projective import TreeScores, new_chart, tree_score
from sentgen.models.ngrams.ngram_table import NgramTables, backoff_logp
from sentgen.schema.tables.corpus import BOS, EOS

#: Two models of order 4; the second one says of each word what the first one says of another.
_TURNED = {word: VOCABULARY[place - 1] for place, word in enumerate(VOCABULARY)}
MODELS = (NGRAMS, {tuple(_TURNED.get(word, word) for word in gram): found for gram, found in NGRAMS.items()})
TABLES = NgramTables.side_by_side([table_of(one) for one in MODELS])
#: The words of each unit in each of the two models.
Spelled = Sequence[tuple[Sequence[int], Sequence[int]]]
_WORDS = st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=3)
_WEIGHTS = st.tuples(st.sampled_from([1.0, 0.4]), st.sampled_from([0.0, 0.7, 2.0]))


def spelled(most: int) -> st.SearchStrategy[Spelled]:
    """Units that have other lengths in the two models."""
    return st.lists(st.tuples(_WORDS, _WORDS), min_size=1, max_size=most)


def units_of(bag: Spelled) -> ClimbingUnits:
    words, offsets = [], []
    for model in range(2):
        offsets.append(np.cumsum([len(words), *(len(unit[model]) for unit in bag)]))
        words += [word for unit in bag for word in unit[model]]
    return ClimbingUnits(np.array(words, np.int32), np.array(offsets, np.int32))


def ngram_score(bag: Spelled, order: Sequence[int], model: int) -> float:
    """The log-probability of an order, n-gram by n-gram."""
    sentence = [BOS, *(word for unit in order for word in bag[unit][model]), EOS]
    return sum(
        backoff_logp(MODELS[model], tuple(sentence[max(0, k - 3) : k]), sentence[k])
        for k in range(1, len(sentence))
    )


@cache
def projective_trees(size: int) -> list[tuple[int, ...]]:
    return [one for one in product(range(-1, size), repeat=size) if is_projective_tree(one)]


def plain_score(bag: Spelled, order: Sequence[int], weights: Sequence[float], scores: TreeScores) -> float:
    """The score by its definition: weighted sentences, and the best of all projective trees."""
    sentences = sum(weight * ngram_score(bag, order, model) for model, weight in enumerate(weights))
    return sentences + max(score_of(scores, list(order), heads) for heads in projective_trees(len(bag)))


def search(
    bag: Spelled,
    weights: Sequence[float],
    scores: TreeScores,
    starts: Sequence[Sequence[int]] | None = None,
    *,
    rounds: int = 8,
    candidates: int = 60,
    climbers: int = 2,
    tables: NgramTables = TABLES,
) -> Visited:
    """Climb from some orders, else from that of the bag."""
    starts = np.array([range(len(bag))] if starts is None else starts, np.int32)
    few = min(climbers, len(starts))
    return climb(tables, np.array(weights), units_of(bag), scores, starts, rounds, candidates, few)


@settings(max_examples=12)
@given(spelled(4), _WEIGHTS, st.integers(0, 10_000))
def test_visited_orders_have_the_scores_of_the_definition(
    bag: Spelled, weights: tuple[float, float], seed: int
) -> None:
    """All visited orders, starts and results of moves, have the scores of two weighted models."""
    scores = random_scores(len(bag), seed)
    starts = list(permutations(range(len(bag))))[:3]
    visited = search(bag, weights, scores, starts)
    expected = {
        order: plain_score(bag, order, weights, scores) for order in {*map(tuple, visited.orders.tolist())}
    }

    assert [tuple(order) for order in visited.orders[: len(starts)].tolist()] == starts
    assert all(sorted(order) == list(range(len(bag))) for order in expected)
    assert visited.scores.tolist() == pytest.approx(
        [expected[tuple(order)] for order in visited.orders.tolist()], abs=1e-9
    )


@settings(max_examples=15)
@given(spelled(4), st.integers(0, 10_000))
def test_lines_have_the_scores_of_the_definition(bag: Spelled, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(bag)).astype(np.int32)
    expected = [ngram_score(bag, order.tolist(), model) for model in range(2)]

    assert line_scores(TABLES, units_of(bag), order).tolist() == pytest.approx(expected, abs=1e-9)


@settings(max_examples=12)
@given(spelled(4), _WEIGHTS, st.integers(0, 10_000))
def test_the_best_of_all_orders_is_never_beaten(
    bag: Spelled, weights: tuple[float, float], seed: int
) -> None:
    """The search never beats the best order, and finds it for two units."""
    scores = random_scores(len(bag), seed)
    best = max(plain_score(bag, order, weights, scores) for order in permutations(range(len(bag))))
    found = search(bag, weights, scores, rounds=20, candidates=1000).scores.max()

    assert found <= best + 1e-9
    if len(bag) < 3:
        assert found == pytest.approx(best, abs=1e-9)


@settings(max_examples=12)
@given(spelled(4), _WEIGHTS, st.integers(0, 10_000))
def test_no_move_leads_up_from_where_the_search_ends(
    bag: Spelled, weights: tuple[float, float], seed: int
) -> None:
    """With room for all candidates, no move improves the result, nor one that the bound leaves out."""
    scores = random_scores(len(bag), seed)
    visited = search(bag, weights, scores, rounds=100, candidates=1000)
    top = visited.orders[int(visited.scores.argmax())].tolist()

    for order in neighbors(top):
        assert plain_score(bag, order, weights, scores) <= visited.scores.max() + 1e-9


def neighbors(order: Sequence[int]) -> set[tuple[int, ...]]:
    """All orders that one move leads to: neighboring blocks swapped, or two units."""
    found = set()
    for i, j, k in combinations(range(len(order) + 1), 3):
        found.add((*order[:i], *order[j:k], *order[i:j], *order[k:]))
    for i, k in combinations(range(len(order)), 2):
        swapped = list(order)
        swapped[i], swapped[k] = swapped[k], swapped[i]
        found.add(tuple(swapped))
    return found


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 6, 9])
def test_moves_are_all_swaps_once(size: int) -> None:
    """The moves of short sentences are all swaps, and no two give the same order."""
    order = list(range(size))
    made = [
        (*order[:a], *order[c:d], *order[b:c], *order[a:b], *order[d:])
        for a, b, c, d in _moves(size).places.tolist()
    ]

    assert len(made) == len(set(made))
    assert set(made) == neighbors(order)


@pytest.mark.parametrize("size", [30, 150, 600])
def test_long_sentences_have_shorter_moves(size: int) -> None:
    moves = _moves(size).places
    begin, middle, last, end = moves.T

    assert len(moves) <= 41_000
    assert ((begin < middle) & (middle <= last) & (last < end) & (end <= size)).all()
    assert begin.min() == 0
    assert end.max() == size
    assert len(np.unique(moves, axis=0)) == len(moves)


@given(st.integers(1, 5), st.integers(1, 3), st.integers(0, 10_000))
def test_no_tree_is_above_the_bound(size: int, kinds: int, seed: int) -> None:
    """No tree scores above the bound, for any order."""
    scores = random_scores(size, seed, kinds)
    best = max(
        tree_score(scores, np.array(order, np.int32), new_chart(size)) for order in permutations(range(size))
    )

    assert best <= tree_bound(scores) + 1e-9


def test_the_bound_is_reached() -> None:
    """The bound is reached by a tree of one unit whose other scores are 0."""
    scores = TreeScores(*(np.zeros_like(part) for part in random_scores(1, 1)[:3]), np.zeros(1, np.int32))
    scores.edges[0, 0] = -2.0
    scores.arguments[1, :, 0] = 3.0

    assert tree_score(scores, np.zeros(1, np.int32), new_chart(1)) == tree_bound(scores) == 4.0


@settings(max_examples=10)
@given(_WORDS, _WEIGHTS, st.integers(0, 10_000))
def test_one_unit_is_its_own_order(words: list[int], weights: tuple[float, float], seed: int) -> None:
    scores = random_scores(1, seed)
    visited = search([(words, words)], weights, scores)

    assert visited.orders.tolist() == [[0]]
    assert visited.scores[0] == pytest.approx(plain_score([(words, words)], (0,), weights, scores))


def test_identical_units_do_not_go_round_in_circles() -> None:
    """If all orders score the same, the search ends after the first round."""
    scores = TreeScores(*(np.zeros_like(part) for part in random_scores(5, 1)[:3]), np.zeros(5, np.int32))
    visited = search([([4], [5])] * 5, (1.0, 0.5), scores, rounds=100, candidates=1000, climbers=1)

    assert len(visited.scores) <= 1 + len(neighbors(range(5)))
    assert np.ptp(visited.scores) < 1e-9


@settings(max_examples=10)
@given(spelled(5), st.integers(0, 10_000))
def test_no_rounds_are_a_ranking_of_the_starts(bag: Spelled, seed: int) -> None:
    starts = list(permutations(range(len(bag))))[:4]
    visited = search(bag, (1.0, 1.0), random_scores(len(bag), seed), starts, rounds=0)

    assert [tuple(order) for order in visited.orders.tolist()] == starts


@settings(max_examples=10)
@given(spelled(5), st.integers(0, 10_000), st.integers(1, 4))
def test_candidates_are_the_best_moves_of_the_models(bag: Spelled, seed: int, candidates: int) -> None:
    """In a round, candidates are the best moves by the n-gram models within the bound."""
    assume(len(bag) > 2)
    scores = random_scores(len(bag), seed)
    weights = (1.0, 0.5)
    visited = search(bag, weights, scores, rounds=1, candidates=candidates)
    orders = [tuple(order) for order in visited.orders.tolist()][1:]

    def sentences(order: Sequence[int]) -> float:
        return sum(weight * ngram_score(bag, order, model) for model, weight in enumerate(weights))

    best = sorted(map(sentences, neighbors(range(len(bag)))), reverse=True)[:candidates]
    least = visited.scores[0] - tree_bound(scores)
    assert len(set(orders)) == len(orders)
    assert sorted(map(sentences, orders), reverse=True) == pytest.approx(
        [score for score in best if score > least], abs=1e-9
    )


def test_long_bags_end() -> None:
    """The budget of trees limits the orders that are scored, whatever number is asked for."""
    size = 150
    rng = np.random.default_rng(3)
    bag = [([int(word)], [int(word)]) for word in rng.choice(VOCABULARY, size)]
    starts = [rng.permutation(size) for _ in range(2)]
    scores = random_scores(size, 3)
    search(bag[:2], (1.0, 0.5), random_scores(2, 3))  # compiles
    started = time.process_time()
    visited = search(bag, (1.0, 0.5), scores, starts, rounds=10, candidates=1000)
    seconds = time.process_time() - started

    assert len(visited.scores) <= len(starts) + most_trees(size)
    assert seconds < 60
    assert all(sorted(order) == list(range(size)) for order in visited.orders.tolist())


def test_fewer_trees_are_scored_of_longer_sentences() -> None:
    counts = [most_trees(size) for size in (1, 5, 10, 50, 100, 1000)]

    assert counts == sorted(counts, reverse=True)
    assert counts[-1] >= 1
    assert most_trees(7) > factorial(7)
