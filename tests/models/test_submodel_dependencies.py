"""Relation and argument probabilities: by hand, and against counting pair by pair."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sentgen.counts.ingestion import Settings, ingest
from sentgen.models.dependencies import FLOOR, LEFT, RIGHT, Dependencies, prefetch_dependencies
from sentgen.schema import Store

#: (form, tag, head) of each token.
Tree = list[tuple[str, str, int]]
Pair = tuple[str, str]
ROOT: Pair = ("<root>", "<root>")
TREES: list[Tree] = [
    [("a", "X", 2), ("b", "Y", 0)],
    [("a", "X", 0), ("b", "Y", 1), ("b", "Y", 1), ("c", "X", 3)],
    [("c", "X", 2), ("c", "X", 3), ("a", "X", 0), ("b", "Z", 3)],
]


def store_of(trees: list[Tree], folder: Path) -> Store:
    rows = []
    for tree in trees:
        rows += [
            f"{i}\t{form}\t{form}\t{tag}\t{tag}\t_\t{head}\t{'dep' if head else 'root'}\t_\t_"
            for i, (form, tag, head) in enumerate(tree, 1)
        ]
        rows.append("")
    path = folder / "toy.conllu"
    path.write_text("\n".join(rows) + "\n")
    store = Store(folder / "toy.duckdb", create=True)
    ingest(store, [str(path)], Settings("toy", order=2, function_heads=False))
    return store


class Oracle:
    """The definitions, pair by pair."""

    def __init__(self, trees: list[Tree]) -> None:
        self.trees = trees

    def rel(self, head: Pair, modifier: Pair, side: int, distance: int, level: str) -> int:
        return sum(
            matches((tree[h - 1][:2] if h else ROOT), head, level.split("-")[0])
            and matches((form, tag), modifier, level.split("-")[1])
            and (i > h) == (side == RIGHT)
            and min(abs(i - h), 3) == distance
            for tree in self.trees
            for i, (form, tag, h) in enumerate(tree, 1)
        )

    def co(self, head: Pair, modifier: Pair, level: str) -> int:
        return sum(
            i != j
            and matches(tokens[i], head, level.split("-")[0])
            and matches(tokens[j], modifier, level.split("-")[1])
            for tree in self.trees
            for tokens in [[ROOT, *(token[:2] for token in tree)]]
            for i, j in product(range(len(tokens)), range(1, len(tokens)))
        )

    def prob(self, head: Pair, modifier: Pair, side: int, distance: int) -> float:
        rel = {level: self.rel(head, modifier, side, distance, level) for level in LEVELS}
        co = {level: self.co(head, modifier, level) for level in LEVELS}
        c0, c1, c2 = co["word-word"], co["tag-word"] + co["word-tag"], co["tag-tag"]
        p = rel["word-word"] / c0 if c0 else 0
        p1 = (rel["tag-word"] + rel["word-tag"]) / c1 if c1 else 0
        p2 = rel["tag-tag"] / c2 if c2 else 0
        l1, l2 = c0 / (c0 + 1), c1 / (c1 + 1)
        return l1 * p + (1 - l1) * (l2 * p1 + (1 - l2) * p2)

    def argument(self, head: Pair, number: int, side: int) -> float:
        def counts(level: str) -> list[int]:
            found = [0] * 8
            for tree in self.trees:
                for i, token in enumerate([ROOT, *(token[:2] for token in tree)]):
                    if matches(token, head, level):
                        taken = [j for j, t in enumerate(tree, 1) if t[2] == i and (j > i) == (side == RIGHT)]
                        found[min(len(taken), 7)] += 1
            return found

        mine, of_tag = counts("word"), counts("tag")
        weight = sum(mine) / (sum(mine) + 1)
        p, backoff = (c[number] / sum(c) if sum(c) else 0 for c in (mine, of_tag))
        return weight * p + (1 - weight) * backoff


LEVELS = ("word-word", "tag-word", "word-tag", "tag-tag")


def matches(token: Pair | tuple[str, ...], wanted: Pair, level: str) -> bool:
    return tuple(token) == wanted if level == "word" else token[1] == wanted[1]


def check(found: Dependencies, bag: list[Pair], oracle: Oracle) -> None:
    for (i, head), (j, modifier) in product(enumerate([ROOT, *bag]), enumerate(bag)):
        for side in (LEFT, RIGHT):
            expected = [oracle.prob(head, modifier, side, distance) for distance in (1, 2, 3)]
            if i == j + 1:
                assert found.prob[i, j, side] == -np.inf
                continue
            assert np.exp(found.distance[i, j, side]) == pytest.approx(np.maximum(expected, FLOOR))
            assert np.exp(found.prob[i, j, side]) == pytest.approx(max(sum(expected), FLOOR))
    for (i, head), side, number in product(enumerate([ROOT, *bag]), (LEFT, RIGHT), range(8)):
        assert found.arguments[i, side, number] == pytest.approx(oracle.argument(head, number, side))


BAG = [("a", "X"), ("b", "Y"), ("c", "X"), ("b", "Z"), ("b", "Y"), ("new", "X"), ("new", "NEW"), ("a", "Z")]


def test_by_hand(tmp_path: Path) -> None:
    """prob(head b/Y, modifier a/X, left), distances together, from the three trees above.

    word-word: one event (tree 1); a/X and b/Y meet once in tree 1 and twice in tree 2: 1/3.
    tag-word: Y heads a/X on its left once of co = 3; word-tag: b/Y heads X on its left once; b/Y meets X once
    in tree 1 and 2 * 2 times in tree 2, 5. p1 = (1 + 1) / (3 + 5) = 1/4.
    tag-tag: Y heads X on its left once; co = 1 + 4 = 5; p2 = 1/5.
    backoff2 = 8/9 * 1/4 + 1/9 * 1/5 = 11/45; prob = 3/4 * 1/3 + 1/4 * 11/45 = 14/45.
    """
    with store_of(TREES, tmp_path) as store:
        (found,) = prefetch_dependencies(store, [1], "word", [[("b", "Y"), ("a", "X")]])

    assert np.exp(found.prob[1, 1, LEFT]) == pytest.approx(14 / 45)


def test_root_and_arguments_by_hand(tmp_path: Path) -> None:
    """The root always has one modifier, on its right; b/Y (3 times) had 0, 0, 1 modifiers on its right.

    p_arg(b/Y, 1, right) = 3/4 * 1/3 + 1/4 * 1/3 (Y is b/Y alone) = 1/3.
    """
    with store_of(TREES, tmp_path) as store:
        (found,) = prefetch_dependencies(store, [1], "word", [[("b", "Y")]])

    assert found.arguments[0, RIGHT].tolist() == [0, 1, 0, 0, 0, 0, 0, 0]
    assert found.arguments[0, LEFT, 0] == 1
    assert found.arguments[1, RIGHT, 1] == pytest.approx(1 / 3)


@pytest.mark.parametrize("layer", ["word", "unit"])
def test_agrees_with_brute_force(tmp_path: Path, layer: str) -> None:
    """Every pair, side, distance and number of arguments; without base NPs the layers are the same."""
    with store_of(TREES, tmp_path) as store:
        found = prefetch_dependencies(store, [1], layer, [BAG, BAG[:3], []])  # type: ignore[arg-type]

    check(found[0], BAG, Oracle(TREES))
    check(found[1], BAG[:3], Oracle(TREES))
    assert found[2].prob.shape == (1, 0, 2)


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    """Any tree of up to five tokens: a random order, each token below an earlier one."""
    size = draw(st.integers(1, 5))
    order = draw(st.permutations(range(1, size + 1)))
    head = {order[0]: 0} | {order[i]: order[draw(st.integers(0, i - 1))] for i in range(1, size)}
    pairs = st.tuples(st.sampled_from("abc"), st.sampled_from(["X", "Y", "Z"]))
    return [(*draw(pairs), head[i]) for i in range(1, size + 1)]


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(trees(), min_size=1, max_size=4))
def test_any_trees(tmp_path_factory: pytest.TempPathFactory, found: list[Tree]) -> None:
    """The same for trees that nobody chose."""
    with store_of(found, tmp_path_factory.mktemp("trees")) as store:
        (model,) = prefetch_dependencies(store, [1], "word", [BAG])

    check(model, BAG, Oracle(found))


def test_no_counts_at_all(tmp_path: Path) -> None:
    """A corpus that does not exist gives the floor everywhere, not an error."""
    with store_of(TREES, tmp_path) as store:
        (found,) = prefetch_dependencies(store, [99], "unit", [[("a", "X"), ("b", None)]])

    assert found.prob[0, 0, LEFT] == pytest.approx(np.log(FLOOR))
    assert found.arguments.sum() == 0


def test_queries_do_not_grow_with_the_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred sentences take as many queries as one, at most eight once the tags are counted."""
    from sentgen.models import dependencies

    with store_of(TREES, tmp_path) as store:
        prefetch_dependencies(store, [1], "word", [BAG])
        seen: list[str] = []
        real = dependencies.raw

        class Counting:
            def __init__(self, duck: object) -> None:
                self.duck = duck

            def __getattr__(self, name: str) -> object:
                if name == "execute":
                    seen.append(name)
                return getattr(self.duck, name)

        monkeypatch.setattr(dependencies, "raw", lambda connection: Counting(real(connection)))
        prefetch_dependencies(store, [1], "word", [BAG])
        one = len(seen)
        seen.clear()
        prefetch_dependencies(store, [1], "word", [BAG] * 100)

    assert len(seen) == one <= 8
