"""The evidence for attachments: by hand, and equal to what the algorithms get."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from toy_treebank import LEFT, RIGHT, TREES, store_of

from sentgen.counts.ingestion import Settings, ingest
from sentgen.evaluation.testset import read_test_set
from sentgen.models.dependency.attachments import ROOT_UNIT, Attachment, LevelEvidence, explain_attachments
from sentgen.models.dependency.dependencies import FLOOR, prefetch_dependencies
from sentgen.models.dependency.kind_counts import TaggedWord
from sentgen.models.dependency.tree_lookups import Layer
from sentgen.schema import Store


@pytest.fixture
def toy(tmp_path: Path) -> Iterator[Store]:
    with store_of(TREES, tmp_path) as store:
        yield store


def test_levels_by_hand(toy: Store) -> None:
    """The counts and the arithmetic of `test_submodel_dependencies.test_by_hand`."""
    (found,) = explain_attachments(toy, [1], "word", [Attachment(("b", "Y"), ("a", "X"), LEFT)])

    assert found.levels == (
        LevelEvidence("word-word", 1, 3, 1 / 3, 3 / 4),
        LevelEvidence("tag-word + word-tag", 2, 8, 1 / 4, 8 / 9),
        LevelEvidence("tag-tag", 1, 5, 1 / 5, 1.0),
    )
    assert found.prob == pytest.approx(14 / 45)


def test_arguments_by_hand(toy: Store) -> None:
    """a/X (3 times) had 0, 2 and 1 modifiers on its right; X (6 times) 0, 0, 0, 0, 1 and 2.

    weight = 3/4; p_arg(1) = 3/4 * 1/3 + 1/4 * 1/6 = 7/24, and p_arg(2) the same.
    """
    (found,) = explain_attachments(toy, [1], "word", [Attachment(("a", "X"), ("b", "Y"), RIGHT, 0)])

    assert found.arguments.word == (1, 1, 1, 0, 0, 0, 0, 0)
    assert found.arguments.tag == (4, 1, 1, 0, 0, 0, 0, 0)
    assert found.arguments.weight == 3 / 4
    assert found.arguments.exactly == pytest.approx(7 / 24)
    assert found.arguments.at_least == pytest.approx(14 / 24)


def test_many_earlier_modifiers(toy: Store) -> None:
    """Seven and more are one number."""
    a, b = explain_attachments(
        toy, [1], "word", [Attachment(("a", "X"), ("b", "Y"), RIGHT, earlier) for earlier in (6, 60)]
    )

    assert a.arguments == b.arguments
    assert a.arguments.exactly == a.arguments.at_least == 0


def test_nothing_known(toy: Store) -> None:
    """Words, tags and corpora that were never seen: nothing of everything."""
    new = Attachment(("new", None), ("newer", "NEW"), RIGHT)
    (found,) = explain_attachments(toy, [1], "word", [new])

    assert [level.events + level.together for level in found.levels] == [0, 0, 0]
    assert (found.prob, found.arguments.at_least) == (0.0, 0.0)
    assert explain_attachments(toy, [9], "word", [new]) == [found]
    assert explain_attachments(toy, [1], "word", []) == []


def check(store: Store, corpora: Sequence[int], layer: Layer, bag: Sequence[TaggedWord]) -> None:
    """Compare every pair of a bag and every number of arguments."""
    (model,) = prefetch_dependencies(store, corpora, layer, [bag])
    units = [ROOT_UNIT, *bag]
    places = [p for p in product(range(len(units)), range(len(bag)), (LEFT, RIGHT)) if p[0] != p[1] + 1]
    attachments = [Attachment(units[i], bag[j], side, (i + j) % 8) for i, j, side in places]
    for (i, j, side), found in zip(
        places, explain_attachments(store, corpora, layer, attachments), strict=True
    ):
        number = min(found.attachment.earlier + 1, 7)
        p, p1, p2 = (level.ratio for level in found.levels)
        l1, l2, _ = (level.weight for level in found.levels)

        assert np.log(max(found.prob, FLOOR)) == model.prob[i, j, side]
        assert found.prob == pytest.approx(l1 * p + (1 - l1) * (l2 * p1 + (1 - l2) * p2))
        assert found.arguments.exactly == pytest.approx(model.arguments[i, side, number])
        assert found.arguments.at_least == pytest.approx(model.arguments[i, side, number:].sum())


def test_same_as_the_algorithms_get(toy: Store) -> None:
    """The evidence is what the algorithms get, also for what was never seen."""
    units = [
        ("a", "X"),
        ("b", "Y"),
        ("c", "X"),
        ("c", "X"),
        ("b", "Z"),
        ("new", "X"),
        ("a", "NEW"),
        ("a", None),
    ]
    check(toy, [1], "word", units)


@pytest.mark.data
@pytest.mark.parametrize("layer", ["word", "unit"])
def test_same_on_real_sentences(tmp_path: Path, layer: Layer) -> None:
    """The same in a treebank with base noun phrases, where units are not words."""
    default = Path(__file__).parents[2].parent / "shared" / "data"
    path = Path(os.environ.get("SENTGEN_DATA", default)) / "ud" / "en_partut-ud-dev.conllu"
    if not path.exists():
        pytest.skip(f"no {path}; set SENTGEN_DATA")
    with Store(tmp_path / "partut.duckdb", create=True) as store:
        ingest(store, [str(path)], Settings("partut", order=2))
        for sentence in list(read_test_set(str(path)))[:4]:
            check(store, [1], layer, list(zip(sentence.forms, sentence.xpos or [], strict=True)))
