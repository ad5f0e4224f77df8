"""Weights that were learnt for a model: versions, removal, the view, orphans."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text
from stored import copied, rows
from toy_corpus import add_corpus

from sentgen.errors import NotFoundError
from sentgen.models import ModelInfo, build, remove
from sentgen.models.companions import LearntWeights
from sentgen.schema import Store
from sentgen.schema.sum_checks import checks

FIRST = LearntWeights({"tags@1": 0.25}, {"relations": 0.7, "siblings": 0.0})
SECOND = LearntWeights({}, {"relations": 1 / 3})


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[ModelInfo]]:
    """A store with two versions of a model, and the versions; no test changes it."""
    path = tmp_path_factory.mktemp("weights") / "store.duckdb"
    with Store(path, create=True) as store:
        add_corpus(store, "toy", ["a b"])
        return path, [build(store, "m", ["toy"], order=1) for _ in range(2)]


@pytest.fixture
def store(made: tuple[Path, list[ModelInfo]], tmp_path: Path) -> Iterator[Store]:
    """A copy of that store, open for writing."""
    with copied(made[0], tmp_path) as opened:
        yield opened


@pytest.fixture
def models(made: tuple[Path, list[ModelInfo]]) -> list[ModelInfo]:
    """Two versions of a model."""
    return made[1]


def test_the_newest_or_a_version(store: Store, models: list[ModelInfo]) -> None:
    """Weights are found as stored, by algorithm; versions count up over all algorithms."""
    mine = models[0].id
    assert LearntWeights.find(store, mine, "joint") is None

    assert [one.add(store, mine, "joint", run) for run, one in ((7, FIRST), (8, SECOND))] == [1, 2]
    assert LearntWeights.find(store, mine, "joint") == SECOND
    assert LearntWeights.find(store, mine, "joint", 1) == FIRST
    assert FIRST.add(store, mine, "other", 9) == 3
    assert LearntWeights.find(store, mine, "joint") == SECOND
    assert LearntWeights.find(store, mine, "other") == FIRST


def test_each_version_of_a_model_has_its_own(store: Store, models: list[ModelInfo]) -> None:
    FIRST.add(store, models[0].id, "joint", 7)

    assert LearntWeights.find(store, models[1].id, "joint") is None
    assert SECOND.add(store, models[1].id, "joint", 8) == 1


def test_an_unknown_version_names_those_there_are(store: Store, models: list[ModelInfo]) -> None:
    with pytest.raises(NotFoundError, match="no weights 1 for joint with this model; there are: none"):
        LearntWeights.find(store, models[0].id, "joint", 1)
    for one in (FIRST, SECOND):
        one.add(store, models[0].id, "joint", 7)

    with pytest.raises(NotFoundError, match="no weights 7 for joint with this model; there are: 1, 2"):
        LearntWeights.find(store, models[0].id, "joint", 7)
    with pytest.raises(NotFoundError, match="no weights 0 for joint"):
        LearntWeights.find(store, models[0].id, "joint", 0)


def test_they_go_with_their_model(store: Store, models: list[ModelInfo]) -> None:
    """Weights are removed with their model version; the other version keeps its own."""
    for model in models:
        FIRST.add(store, model.id, "joint", 7)
    remove(store, "m@1", dry_run=True)
    assert len(rows(store, "from model_weight")) == 6
    remove(store, "m@1")

    assert {model for (model,) in rows(store, "select model_id from model_weight")} == {models[1].id}
    assert LearntWeights.find(store, models[0].id, "joint") is None
    assert LearntWeights.find(store, models[1].id, "joint") == FIRST


def test_the_view_shows_them(store: Store, models: list[ModelInfo]) -> None:
    FIRST.add(store, models[1].id, "joint", 7)

    assert rows(store, "from v_model_weights") == [
        ("m", 2, 1, "joint", "factor", "relations", 0.7, 7),
        ("m", 2, 1, "joint", "factor", "siblings", 0.0, 7),
        ("m", 2, 1, "joint", "feature", "tags@1", 0.25, 7),
    ]


def test_weights_without_their_model_are_found(store: Store, models: list[ModelInfo]) -> None:
    FIRST.add(store, models[0].id, "joint", 7)
    query = next(one.query for one in checks() if one.name == "model_weight.model_id without model")
    before = len(rows(store, query))
    with store.begin() as connection:
        connection.execute(text("update model_weight set model_id = 99 where name = 'siblings'"))

    assert (before, len(rows(store, query))) == (0, 1)
