"""Look-ups in the counts of trees, against a walk over the trees."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from toy_treebank import TREES, Tree, add, any_tree, store_of, write
from tree_walk import walked

from sentgen.case_folding import fold
from sentgen.counts.ingestion import Settings, ingest
from sentgen.counts.sync import remove_from
from sentgen.evaluation.regeneration.cases import read_test_set
from sentgen.models.dependency import tree_counts
from sentgen.models.dependency.dependencies import Kind, count_kinds, kinds_of
from sentgen.models.dependency.tree_counts import Layer, TreeCounts, TreeLookups
from sentgen.schema import Store, counting
from sentgen.schema.counting import merge_segments
from sentgen.schema.store import raw

FORMS, LABELS = ("a", "b", "c", "new"), ("X", "Y", "Z", "NEW")


def all_kinds(store: Store, forms: Iterable[str], labels: Iterable[str]) -> list[Kind]:
    """Return every word with every tag."""
    with store.connect() as connection:
        return kinds_of(TreeLookups(0).trees(raw(connection), [], "word"), [[*product(forms, labels)]])[0]


def looked_up(store: Store, corpora: list[int], layer: Layer, kinds: list[Kind], **named: bool) -> TreeCounts:
    with store.connect() as connection:
        return count_kinds(TreeLookups(1 << 20).trees(raw(connection), corpora, layer), kinds, **named).counts


def agree(store: Store, corpora: list[int], kinds: list[Kind]) -> None:
    """Check that all counts are those of the walk, in both layers, with distances and without."""
    for layer, distances in product(("word", "unit"), (True, False)):
        expected = walked(store, corpora, layer, kinds, distances=distances)
        found = looked_up(store, corpora, layer, kinds, distances=distances)
        for name, mine, others in zip(found._fields, found, expected, strict=True):
            assert np.array_equal(mine, others), (name, layer, distances, mine - others)


def test_toy(tmp_path: Path) -> None:
    """All words and tags of a toy treebank, and unknown ones."""
    with store_of(TREES, tmp_path) as store:
        agree(store, [1], all_kinds(store, FORMS, LABELS))


@pytest.fixture
def few_are_frequent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three tokens make a word frequent, so that toy corpora have both kinds."""
    monkeypatch.setattr(counting, "FREQUENT", 3)
    monkeypatch.setattr(tree_counts, "FREQUENT", 3)


def agree_in_segments(folder: Path, parts: list[list[Tree]]) -> None:
    """Compare corpora that were counted in segments, after one is taken out, and after all are merged."""
    with Store(folder / "toy.duckdb", create=True, threads=1) as store:
        paths = [write(trees, folder / f"{number}.conllu") for number, trees in enumerate(parts)]
        for path in paths:
            ingest(store, [str(path)], Settings("toy", order=2, tags="xpos", function_heads=False))
        add(store, "more", parts[0])
        kinds = all_kinds(store, FORMS, LABELS)
        agree(store, [2, 1], kinds)
        remove_from(store, "toy", [str(paths[0])])
        agree(store, [1, 2], kinds)
        with store.begin() as connection:
            merge_segments(connection)
            segments = raw(connection).execute("select id from segment").fetchall()
            assert len(segments) <= 2  # of two equal sources, one is read
            wrong = counting.recount_pairs([number for (number,) in segments])
            assert raw(connection).execute(wrong).fetchall() == []
        agree(store, [1], kinds)


def test_segments(tmp_path: Path, few_are_frequent: None) -> None:
    """The word a is frequent in the second segment and rare in the others, b in the first and the last."""
    first: list[Tree] = [[("b", "Y", 0), ("b", "Y", 1), ("b", "X", 1), ("a", "X", 2)]]
    second: list[Tree] = [[("a", "X", 2), ("a", "Z", 0), ("a", "X", 2), ("b", "Y", 3), ("c", "X", 2)]]
    agree_in_segments(tmp_path, [first, second, TREES])


@pytest.mark.nightly
@settings(suppress_health_check=list(HealthCheck), deadline=None)
@given(st.lists(st.lists(any_tree(), min_size=1, max_size=4), min_size=2, max_size=4))
def test_any_trees_in_segments(
    tmp_path_factory: pytest.TempPathFactory, few_are_frequent: None, parts: list[list[Tree]]
) -> None:
    """Counts agree for random trees in segments."""
    agree_in_segments(tmp_path_factory.mktemp("trees"), parts)


@pytest.mark.data
@pytest.mark.parametrize(("part", "lower"), [("train", False), ("dev", True)])
def test_real_treebank(tmp_path: Path, data_dir: Path, part: str, lower: bool) -> None:
    """All kinds of forty sentences of a treebank with base noun phrases, some of whose words are frequent."""
    path = str(data_dir / f"ud/en_partut-ud-{part}.conllu")
    with Store(tmp_path / "partut.duckdb", create=True) as store:
        ingest(store, [path], Settings("partut", order=2, lowercase=lower, function_heads=lower))
        sentences = list(read_test_set(path))[:40]
        forms = [[fold(form) if lower else form for form in one.forms] for one in sentences]
        units = {
            unit
            for one, mine in zip(sentences, forms, strict=True)
            for unit in zip(mine, one.xpos or [], strict=True)
        }
        with store.connect() as connection:
            (kinds,) = kinds_of(TreeLookups(0).trees(raw(connection), [1], "word"), [[*units]])
        agree(store, [1], kinds)
