"""Relation and argument probabilities: by hand, and against counting pair by pair."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select
from toy_treebank import LEFT, RIGHT, ROOT, TREES, Oracle, Pair, Tree, add, any_tree, store_of

from sentgen.counts.corpora import remove
from sentgen.models.dependency import dependencies
from sentgen.models.dependency.dependencies import FLOOR, UnitDependencies, prefetch_dependencies
from sentgen.models.dependency.tree_counts import Layer, TreeLookups
from sentgen.schema import Store
from sentgen.schema.tables.counts import segment

BAG = [("a", "X"), ("b", "Y"), ("c", "X"), ("b", "Z"), ("b", "Y"), ("new", "X"), ("new", "NEW"), ("a", "Z")]


@pytest.fixture
def toy(tmp_path: Path) -> Iterator[Store]:
    with store_of(TREES, tmp_path) as store:
        yield store


def check(found: UnitDependencies, bag: list[Pair], oracle: Oracle) -> None:
    assert found.distance is not None
    for (i, head), (j, modifier) in product(enumerate([ROOT, *bag]), enumerate(bag)):
        for side in (LEFT, RIGHT):
            expected = [oracle.prob(head, modifier, side, distance) for distance in (1, 2, 3)]
            if i == j + 1:
                assert found.prob[i, j, side] == -np.inf
                assert (found.distance[i, j, side] == -np.inf).all()
                continue
            assert np.exp(found.distance[i, j, side]) == pytest.approx(np.maximum(expected, FLOOR))
            assert np.exp(found.prob[i, j, side]) == pytest.approx(max(sum(expected), FLOOR))
    for (i, head), side, number in product(enumerate([ROOT, *bag]), (LEFT, RIGHT), range(8)):
        assert found.arguments[i, side, number] == pytest.approx(oracle.argument(head, number, side))


def same(a: list[UnitDependencies], b: list[UnitDependencies]) -> bool:
    return all(
        np.array_equal(x.prob, y.prob) and np.array_equal(x.arguments, y.arguments)
        for x, y in zip(a, b, strict=True)
    )


def test_by_hand(toy: Store) -> None:
    """prob(head b/Y, modifier a/X, left), distances together, from the three trees of `toy_treebank`.

    word-word: one event (tree 1); a/X and b/Y meet once in tree 1 and twice in tree 2: 1/3.
    tag-word: Y heads a/X on its left once of co = 3; word-tag: b/Y heads X on its left once; b/Y meets X once
    in tree 1 and 2 * 2 times in tree 2, 5. p1 = (1 + 1) / (3 + 5) = 1/4.
    tag-tag: Y heads X on its left once; co = 1 + 4 = 5; p2 = 1/5.
    backoff2 = 8/9 * 1/4 + 1/9 * 1/5 = 11/45; prob = 3/4 * 1/3 + 1/4 * 11/45 = 14/45.
    """
    (found,) = prefetch_dependencies(toy, [1], "word", [[("b", "Y"), ("a", "X")]])

    assert np.exp(found.prob[1, 1, LEFT]) == pytest.approx(14 / 45)


def test_root_and_arguments_by_hand(toy: Store) -> None:
    """The root always has one modifier, on its right; b/Y (3 times) had 0, 0, 1 modifiers on its right.

    p_arg(b/Y, 1, right) = 3/4 * 1/3 + 1/4 * 1/3 (Y is b/Y alone) = 1/3.
    """
    (found,) = prefetch_dependencies(toy, [1], "word", [[("b", "Y")]])

    assert found.arguments[0, RIGHT].tolist() == [0, 1, 0, 0, 0, 0, 0, 0]
    assert found.arguments[0, LEFT, 0] == 1
    assert found.arguments[1, RIGHT, 1] == pytest.approx(1 / 3)


@pytest.mark.parametrize("layer", ["word", "unit"])
def test_agrees_with_brute_force(toy: Store, layer: Layer) -> None:
    """Every pair, side, distance and number of arguments; without base NPs the layers are the same."""
    found = prefetch_dependencies(toy, [1], layer, [BAG, BAG[:3], []], distances=True)

    check(found[0], BAG, Oracle(TREES))
    check(found[1], BAG[:3], Oracle(TREES))
    assert found[2].prob.shape == (1, 0, 2)


@settings(max_examples=5, suppress_health_check=list(HealthCheck))
@given(st.lists(any_tree(), min_size=1, max_size=4))
def test_any_trees(tmp_path_factory: pytest.TempPathFactory, found: list[Tree]) -> None:
    """Probabilities agree for random trees."""
    with store_of(found, tmp_path_factory.mktemp("trees")) as store:
        (model,) = prefetch_dependencies(store, [1], "word", [BAG], distances=True)

    check(model, BAG, Oracle(found))


def test_distances_only_where_asked_for(toy: Store) -> None:
    """Without them the probabilities are the same."""
    (with_distances,) = prefetch_dependencies(toy, [1], "word", [BAG], distances=True)
    (without,) = prefetch_dependencies(toy, [1], "word", [BAG])

    assert without.distance is None
    assert without.prob == pytest.approx(with_distances.prob)


def test_corpora_are_summed(toy: Store) -> None:
    """Two corpora count as one that holds the sentences of both; naming one twice changes nothing."""
    more: list[Tree] = [[("b", "Y", 2), ("a", "X", 0), ("d", "Y", 2)]]
    add(toy, "more", more)
    (found,) = prefetch_dependencies(toy, [2, 1, 2], "word", [BAG], distances=True)

    check(found, BAG, Oracle(TREES + more))


def test_no_counts_at_all(toy: Store) -> None:
    """A corpus that does not exist gives the floor everywhere, not an error."""
    (found,) = prefetch_dependencies(toy, [99], "unit", [[("a", "X"), ("b", None)]])

    assert found.prob[0, 0, LEFT] == pytest.approx(np.log(FLOOR))
    assert found.arguments.sum() == 0


@pytest.mark.parametrize("tags", ["upos", "xpos"])
def test_missing_tags_are_those_of_the_other_kind(tmp_path: Path, tags: str) -> None:
    """A corpus counted with tags that it does not have takes the others."""
    with Store(tmp_path / "toy.duckdb", create=True) as store:
        add(store, "toy", TREES, tags=tags, **{tags: False})
        (found,) = prefetch_dependencies(store, [1], "word", [BAG], distances=True)

    check(found, BAG, Oracle(TREES))


def test_large_batches_are_counted_in_parts(toy: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts do not change the result; a bag with more units than a part may have is a part of its own."""
    bags = [BAG[:2], BAG, [], BAG[2:4], [("a", "X")], BAG[:1] * 5]
    whole = prefetch_dependencies(toy, [1], "word", bags)
    monkeypatch.setattr(dependencies, "_MAX_KINDS", 3)

    assert same(prefetch_dependencies(toy, [1], "word", bags), whole)
    assert [len(part) for part in dependencies._parts([[(i, 0)] for i in range(5)], 2)] == [2, 2, 1]


def test_other_trees_under_the_same_number_are_seen(toy: Store) -> None:
    """The next corpus gets the id of a removed one, whose counts must not stay in memory."""
    others: list[Tree] = [[(form, "Y", head) for form, _, head in tree] for tree in TREES]
    prefetch_dependencies(toy, [1], "word", [BAG])
    remove(toy, "toy")
    add(toy, "toy", others)
    (found,) = prefetch_dependencies(toy, [1], "word", [BAG], distances=True)

    check(found, BAG, Oracle(others))


def test_counts_of_one_second_are_told_apart(toy: Store) -> None:
    """Counts of one second with the same id and size are distinguished by their exact time."""
    add(toy, "more", TREES)
    add(toy, "most", TREES)
    with toy.connect() as connection:
        times = connection.execute(select(segment.c.created_at)).scalars().all()

    assert len(set(times)) == len(times) == 3


def test_added_trees_and_words_are_seen(toy: Store) -> None:
    """Words and trees that were missing are found once a source with them is in the corpus."""
    prefetch_dependencies(toy, [1], "word", [BAG])
    added: list[Tree] = [[("new", "NEW", 2), ("a", "X", 0), ("new", "X", 1)]]
    add(toy, "toy", added)
    (found,) = prefetch_dependencies(toy, [1], "word", [BAG], distances=True)

    check(found, BAG, Oracle(TREES + added))


class Counting:
    """A connection that notes the queries that run on it or on its cursors."""

    def __init__(self, duck: object, seen: list[str]) -> None:
        self.duck, self.seen = duck, seen

    def __getattr__(self, name: str) -> object:
        if name in ("execute", "sql"):
            self.seen.append(name)
        return getattr(self.duck, name)

    def cursor(self) -> Counting:
        return Counting(self.duck.cursor(), self.seen)  # type: ignore[attr-defined]

    def __enter__(self) -> Counting:
        return self

    def __exit__(self, *_: object) -> None:
        self.duck.close()  # type: ignore[attr-defined]


@pytest.fixture
def queries(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The queries that look-ups run."""
    seen: list[str] = []
    real = dependencies.raw
    monkeypatch.setattr(dependencies, "raw", lambda connection: Counting(real(connection), seen))
    return seen


def test_queries_do_not_grow_with_the_batch(toy: Store, queries: list[str]) -> None:
    """The first batch queries ids, state, segments and four kinds of rows, later ones the state and new rows."""
    prefetch_dependencies(toy, [1], "word", [BAG[:1]])
    first = len(queries)
    assert first <= 8

    queries.clear()
    prefetch_dependencies(toy, [1], "word", [BAG] * 100)
    assert len(queries) <= 7

    queries.clear()
    prefetch_dependencies(toy, [1], "word", [BAG[:4]] * 1000)
    assert len(queries) == 1


def test_what_does_not_fit_is_looked_up_anew(toy: Store, queries: list[str]) -> None:
    """Look-ups that do not fit into the cache give the same result, and are not kept."""
    expected = prefetch_dependencies(toy, [1], "word", [BAG])
    lookups = TreeLookups(0)

    for _ in range(2):
        queries.clear()
        assert same(prefetch_dependencies(toy, [1], "word", [BAG] * 50, lookups=lookups), expected * 50)
        assert (len(queries) > 3, lookups.cache.bytes) == (True, 0)
