"""Learning weights end to end, on a few sentences of the demo treebank; the command `tune`."""

from __future__ import annotations

import importlib
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from plugged import plugged, write_package
from stored import rows

from sentgen.cli import build as command_line
from sentgen.counts.ingestion import Settings, ingest
from sentgen.demo import TREEBANK
from sentgen.errors import InputError, ModelError, NotFoundError, StoreError
from sentgen.evaluation.regeneration.cases import read_test_set
from sentgen.evaluation.regeneration.tuning import Lists, TuningResult, TuningSettings, tune
from sentgen.generation import Search
from sentgen.generation.trees.factors import FACTORS
from sentgen.models import build, find
from sentgen.models.base.symbols import Symbols
from sentgen.models.companions import LearntWeights
from sentgen.schema import Store

SENTENCES = 9
#: With all weight on tags hardly any order is right, so that weights can be learnt.
ASKED = TuningSettings(model="words", sentences=SENTENCES, rounds=1, candidates=10, features="tags=6", seed=5)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a treebank, a text, and models, and the shortest sentences of the treebank in a file beside it.

    No test changes them.
    """
    folder = tmp_path_factory.mktemp("tuning")
    (folder / "plain.lines").write_text("the water came .\n")
    treebank = TREEBANK.read_text("utf-8").strip().split("\n\n")
    by_length = sorted(treebank, key=lambda one: one.count("\n"))
    for name, part in (("dev", by_length[: SENTENCES + 3]), ("relief", by_length[SENTENCES + 3 :])):
        (folder / f"{name}.conllu").write_text("\n\n".join(part) + "\n\n")
    with Store(folder / "store.duckdb", create=True, threads=2) as store:
        ingest(store, [str(folder / "relief.conllu")], Settings("relief", order=3))
        ingest(store, [str(folder / "plain.lines")], Settings("plain", order=3))
        build(store, "words", ["relief"], order=3)
        build(store, "plain", ["plain"], order=2)
        build(store, "tags", ["relief"], order=3, symbols=Symbols("tags"))
    return folder


@pytest.fixture
def folder(template: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    for name in ("store.duckdb", "dev.conllu"):
        shutil.copy(template / name, tmp_path / name)
    return tmp_path


def tuned(store: Store, folder: Path, asked: TuningSettings = ASKED, **more: object) -> TuningResult:
    sentences = read_test_set(str(folder / "dev.conllu"))
    return tune(store, find(store, asked.model), sentences, asked, source="dev.conllu", **more)  # type: ignore[arg-type]


#: A scorer that knows the original sentences.
ORACLE = """
from pathlib import Path
from sentgen.plugins import Scorer
asked = []
def score(sentences):
    asked.extend(map(tuple, sentences))
    return [0.0 if " ".join(words).lower() in REAL else -5.0 for words in sentences]
x = Scorer("oracle", "", score)
"""


def test_what_a_scorer_weighs_is_learnt_too(folder: Path) -> None:
    """A scorer that is right gains weight; joint uses it, and says so when it is no longer installed."""
    real = [" ".join(one.forms).lower() for one in read_test_set(str(folder / "dev.conllu"))]
    write_package(folder / "site", "knowing", {"scorers.oracle": "x"}, ORACLE + f"REAL = {real!r}\n")
    with Store(folder / "store.duckdb") as store:
        with plugged(folder / "site"):
            result = tuned(store, folder, replace(ASKED, features="tags=6,oracle=0"))
            (before, after), plan = result.rounds, Search().plan(store, "words")
            asked = importlib.import_module("knowing").asked

        assert result.version == 1
        assert before.weights.features == {"tags@1": 6.0, "oracle": 0.0}
        assert after.weights.features["oracle"] > 0.01
        assert [(scorer.name, round(weight, 3)) for scorer, weight in plan.rerankers] == [
            ("oracle", round(after.weights.features["oracle"], 3))
        ]
        assert [one.model.name for one in plan.features] == ["tags"]
        # Two rounds find much the same sentences, and each is scored once.
        assert len(asked) == len(set(asked))
        with pytest.raises(NotFoundError, match="were learnt with oracle, which was removed"):
            Search().plan(store, "words")


def test_what_was_learnt_is_stored_recorded_and_taken(folder: Path) -> None:
    """Learnt weights are better on held-out sentences; joint uses them, and tune starts from them."""
    seen: list[tuple[int, int]] = []
    with Store(folder / "store.duckdb") as store:
        result = tuned(store, folder, progress=lambda done, total: seen.append((done, total)))
        before, after = result.rounds
        plan = Search().plan(store, "words")
        again = tuned(store, folder, replace(ASKED, features="auto"))

        assert (result.best, result.version) == (1, 1)
        assert before.weights.features == {"tags@1": 6.0}
        assert after.held_out > before.held_out
        assert set(after.weights.factors) == set(FACTORS)
        assert LearntWeights.find(store, find(store, "words").id, "joint", 1) == after.weights
        assert [one.model.name for one in plan.features] == ["tags"]
        assert again.rounds[0].weights.features["tags@1"] == pytest.approx(
            after.weights.features["tags@1"], 1e-3
        )
        assert again.rounds[0].held_out == after.held_out
        (run,) = rows(store, f"select command, seed, parameters from run where id = {result.run_id}")
        parameters = json.loads(str(run[2]))
        scores = rows(store, f"select system, metric, value from score where run_id = {result.run_id}")
        assert rows(store, "select distinct run from v_model_weights where version = 1") == [(result.run_id,)]
    assert run[:2] == ("tune", ASKED.seed)
    assert (parameters["model"], parameters["test"], parameters["sentences"]) == (
        "words@1",
        "dev.conllu",
        SENTENCES,
    )
    assert {name: parameters[name] for name in ("rounds", "candidates", "features")} == {
        "rounds": 1,
        "candidates": 10,
        "features": "tags=6",
    }
    found = {(system, metric): value for system, metric, value in scores}
    assert found["before", "weight tags@1"] == 6
    assert found["after", "weight siblings"] == after.weights.factors["siblings"]
    assert found["after", "bleu-held-out"] == after.held_out
    assert found["before", "bleu-learnt-from"] == before.learnt_from
    assert seen == [(k, 2 * SENTENCES) for k in range(1, 2 * SENTENCES + 1)]


def test_nothing_is_stored_where_nothing_is_better(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If no round is better, nothing is stored, but the run is recorded."""
    monkeypatch.setattr("sentgen.evaluation.regeneration.tuning.Lists.learn", lambda lists, weights: weights)
    with Store(folder / "store.duckdb") as store:
        result = tuned(store, folder, replace(ASKED, rounds=2))

        assert (result.best, result.version) == (0, 0)
        assert len({one.held_out for one in result.rounds}) == 1
        assert rows(store, "select count(*) from model_weight") == [(0,)]
        assert rows(store, "select count(*) from run") == [(1,)]


def test_weights_of_the_words_are_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Learnt weights are divided by the weight of the words, even if that falls to 0."""
    learn = Lists.learn
    monkeypatch.setattr(
        Lists,
        "learn",
        lambda lists, weights: learn(lists, weights) * 0 + [0.0, 2.0, 0.0, 1.0, 0.0, 0.0, 0.5],
    )
    with Store(folder / "store.duckdb") as store:
        weights = tuned(store, folder).rounds[1].weights

    assert weights.features == {"tags@1": 2000.0}
    assert weights.factors == dict(zip(FACTORS, (0.0, 1000.0, 0.0, 0.0, 500.0), strict=True))


def test_the_same_seed_learns_the_same(folder: Path) -> None:
    """The same seed learns the same weights in a copy of the store without the learnt ones."""
    other = folder / "other.duckdb"
    shutil.copy(folder / "store.duckdb", other)
    with Store(folder / "store.duckdb") as one, Store(other) as two:
        assert tuned(one, folder).rounds == tuned(two, folder).rounds


def test_too_few_sentences(folder: Path) -> None:
    sentences = list(read_test_set(str(folder / "dev.conllu")))[:3]
    with (
        Store(folder / "store.duckdb") as store,
        pytest.raises(
            InputError, match=r"^3 sentences of three units and more to learn from; give 8 or more"
        ),
    ):
        tune(store, find(store, "words"), sentences, ASKED)


def test_without_trees_there_is_nothing_to_weigh(folder: Path) -> None:
    with (
        Store(folder / "store.duckdb") as store,
        pytest.raises(ModelError, match="there are no dependency trees"),
    ):
        tuned(store, folder, replace(ASKED, model="plain", features=""))


def test_a_store_that_cannot_be_written(folder: Path) -> None:
    """A read-only store is refused in one line, as by all experiments."""
    with (
        Store(folder / "store.duckdb", read_only=True) as store,
        pytest.raises(StoreError, match="read-only"),
    ):
        tuned(store, folder)


def run(capsys: pytest.CaptureFixture[str], folder: Path, *arguments: str) -> tuple[int, str, str]:
    command = ["tune", *arguments, "--db", str(folder / "store.duckdb")]
    code = command_line()(command, standalone_mode=False)
    told = capsys.readouterr()
    return int(code or 0), told.out, told.err


def test_command(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A row a round, the best one marked; a note says what was stored."""
    few = ("--sentences", "8", "--rounds", "1", "--candidates", "10", "--features", "tags=6", "--seed", "5")
    code, out, err = run(capsys, folder, str(folder / "dev.conllu"), "--model", "words", *few, "--json")
    found = json.loads(out)

    assert code == 0
    assert [row["round"] for row in found] == [0, 1]
    assert list(found[0]) == ["round", "BLEU", "held out", "best", "tags@1", *FACTORS]
    assert [row["best"] for row in found].count("*") == 1
    stored = found[1]["best"] == "*"
    assert ("run 1: stored version 1 of the weights of words@1; seed 5" in err) == stored
    assert ("run 1: stored nothing; seed 5" in err) != stored


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("dev.conllu", "--model", "none"), "no model 'none'; there are: "),
        (("gone.conllu", "--model", "words"), "gone.conllu"),
        (("dev.conllu", "--model", "plain"), "no dependency trees"),
        (("dev.conllu", "--model", "words", "--features", "tags=x"), "feature 'tags=x' has no weight"),
        (("dev.conllu", "--model", "words", "--features", "none"), "no model 'none'"),
        (("dev.conllu", "--model", "words", "--sentences", "7"), "greater than or equal to 8"),
        (("dev.conllu", "--model", "tags"), "tags"),
    ],
)
def test_refusals_of_the_command(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    """Errors of the command are one line, and an exit code."""
    code, out, err = 0, "", ""
    try:
        code, out, err = run(capsys, folder, str(folder / arguments[0]), *arguments[1:])
    except Exception as error:  # what the main program says in one line
        err = str(error)
        code = 1

    assert code != 0
    assert out == ""
    assert message in err
    assert "Traceback" not in err
