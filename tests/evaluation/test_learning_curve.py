"""Learning curves: each size is learnt, with trees, from its drawn sentences alone; all sizes are one run."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import fake_run
import meta_treebank
import pytest

from sentgen.corpus.sentence import Sentence
from sentgen.errors import InputError, ModelError, SentgenError
from sentgen.evaluation.regeneration.cases import read_test_set
from sentgen.evaluation.regeneration.experiment import (
    LearningPoint,
    RegenerationResult,
    RegenerationSettings,
    evaluate_regeneration,
)
from sentgen.evaluation.regeneration.learning_curve import learning_curve
from sentgen.evaluation.regeneration.report import RegenerationReport
from sentgen.models import ModelInfo, find
from sentgen.models.build_request import BuildRequest
from sentgen.output.drawing import LIGHT
from sentgen.schema import Store
from sentgen.schema.store import raw


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("curve")
    path = meta_treebank.store_of(folder / "s.duckdb", meta_treebank.sentences())
    with Store(path, threads=1) as store:
        BuildRequest(name="m", corpus=["first"], order=3).build(store)
        BuildRequest(name="drawn", corpus=["first"], order=2, sentences=3).build(store)
    (folder / "test.conllu").write_text(meta_treebank.conllu(meta_treebank.sentences()[:4]), "utf-8")
    return path


def evaluating(
    sentences: list[Sentence], algorithms: list[str], search: RegenerationSettings
) -> Callable[[Store, ModelInfo], RegenerationResult]:
    """Return a function that evaluates some systems with a model of a store."""
    return lambda store, model: evaluate_regeneration(store, model, sentences, algorithms, search)


@pytest.mark.nightly
def test_all_sentences_are_the_model_itself(made: Path) -> None:
    """At 100% answers, scores and heads are those of the model; a smaller size is another system."""
    test = list(read_test_set(str(made.parent / "test.conllu")))
    search = RegenerationSettings(seed=1)
    with Store(made, threads=1) as store:
        model = find(store, "m")
        whole = evaluate_regeneration(store, model, test, ["lmo", "cle"], search)
        found = learning_curve(store, model, "5,100%", search, evaluating(test, ["lmo", "cle"], search))
        with store.connect() as connection:
            query = f"select command, parameters from run where id = {found.run_id}"
            ((command, text),) = raw(connection).execute(query).fetchall()
    names = [system.system for system in found.systems]
    size = model.sentences

    assert names == ["lmo@5", "cle@5", f"lmo@{size}", f"cle@{size}"]
    for mine, its in zip(found.systems[2:], whole.systems, strict=True):
        assert mine.outputs == its.outputs
        assert [row[1:] for row in mine.rows()] == [row[1:] for row in its.rows()]
    assert len(found.comparisons) == 6
    parameters = json.loads(str(text))
    assert (command, parameters["model"], parameters["curve"]) == ("evaluate regeneration", "m@1", [5, size])
    assert parameters["systems"]["cle@5"]["learnt from"] == 5
    assert RegenerationReport(found).curve_plot(LIGHT).axes[0].get_xscale() == "log"


def test_the_report_draws_the_curves() -> None:
    """A point a system, over a logarithmic axis of the sentences; without a curve there is no such plot."""
    result = fake_run.fake_run()
    points = [
        LearningPoint(one.system, "joint", size) for size, one in zip((10, 100), result.systems, strict=True)
    ]
    report = RegenerationReport(replace(result, curve=points)).report()

    assert RegenerationReport(replace(result, curve=points)).curve_plot(LIGHT).axes[0].get_xscale() == "log"
    assert "![Learning curves](curve.svg)" in report.markdown()
    assert "Learning curves" in report.page()
    assert "curve" not in RegenerationReport(result).report().plots


@pytest.mark.parametrize(
    ("model", "sizes", "asked", "error", "message"),
    [
        ("m", "5,x", {}, InputError, "curve 'x' is no number of sentences and no percent"),
        ("m", "", {}, InputError, "curve '' is no number"),
        ("m", "99999", {}, ModelError, "99999 of .* sentences cannot be drawn"),
        ("m", "0%", {}, ModelError, "0 of .* cannot be drawn"),
        ("m", "200%", {}, InputError, "curve '200%' is no number"),
        ("m", "5", {"dependencies": ["second"]}, InputError, "leave `dependencies` out"),
        ("drawn", "2", {}, ModelError, "drawn@1 is of drawn sentences itself"),
    ],
)
def test_what_makes_no_curve(
    made: Path,
    model: str,
    sizes: str,
    asked: dict[str, list[str]],
    error: type[SentgenError],
    message: str,
) -> None:
    """Sizes that cannot be read or drawn, other treebanks, and models of drawn sentences are refused."""
    search = RegenerationSettings(**asked)  # type: ignore[arg-type]
    with Store(made, threads=1) as store, pytest.raises(error, match=message):
        learning_curve(store, find(store, model), sizes, search, evaluating([], ["lmo"], search))
