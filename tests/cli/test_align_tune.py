"""`sentgen align tune`, as a user runs it, and the use of tuned models."""

from __future__ import annotations

import contextlib
import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import Sentgen, refused
from stored import problems

from sentgen.alignment.pairs.alignment import Pair
from sentgen.alignment.phrase_hmm.tuning import TuningExample, TuningPlan
from sentgen.alignment.phrase_hmm.weights import NAMES
from sentgen.alignment.stored.stored_model import StoredAligner, tune_model
from sentgen.cli import build
from sentgen.schema import Store

NOUNS = ("cat", "dog", "house", "tree", "river", "town")
TUNE = ("align", "tune", "people", "--gold", "gold.txt", "--iterations", "12")
TEXTS = ("align", "text", "--document", "d.txt", "--abstract", "a.txt", "--pharaoh")


def write_texts(folder: Path) -> None:
    """Write a gold standard in which nobody linked `the`, and two texts."""
    lines = [f"the red {noun} fell ||| the big {noun} fell ||| 1-1 2-2 3-3" for noun in NOUNS]
    (folder / "gold.txt").write_text("".join(f"{line}\n" for line in lines))
    (folder / "d.txt").write_text("the red bridge fell\n")
    (folder / "a.txt").write_text("the big bridge fell\n")


@pytest.fixture
def gold(sentgen: Sentgen, tmp_path: Path) -> Sentgen:
    """The command line where these texts are."""
    write_texts(tmp_path)
    return sentgen


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the model `people`; no test changes it."""
    folder = tmp_path_factory.mktemp("tuned")
    write_texts(folder)
    with contextlib.chdir(folder):
        build()([*TUNE, "--prior", "1", "--db", "people.duckdb"], standalone_mode=False)
    return folder / "people.duckdb"


@pytest.fixture
def tuned(gold: Sentgen, people: Path, store: Path) -> Sentgen:
    """The command line over a copy of that store."""
    shutil.copyfile(people, store)
    return gold


def test_what_is_printed(gold: Sentgen) -> None:
    """A line a direction, the threshold, and how good the links are on the same pairs."""
    lines = gold(*TUNE, "--prior", "1").out.splitlines()

    assert [line.split()[0] for line in lines[:3]] == ["direction", "forward", "reverse"]
    before, after = (float(part) for part in lines[1].split()[2:4])
    assert before < after < 0
    assert lines[4].startswith("threshold 0.")
    assert lines[5] == "macro F1 on the same pairs 100.0; untuned 85.7"


def test_a_tuned_model_aligns(tuned: Sentgen) -> None:
    """As --model of texts, as a system of an evaluation, and with another threshold."""
    assert tuned(*TEXTS).out == "0-0 1-1 2-2 3-3\n"
    assert tuned(*TEXTS, "--model", "people").out == "1-1 2-2 3-3\n"
    assert tuned(*TEXTS, "--model", "people", "--threshold", "0.0001").out.startswith("0-0 ")
    evaluate = ("evaluate", "alignment", "--gold", "gold.txt", "--format", "pharaoh", "--csv", "--systems")
    scores = tuned(*evaluate, "pbhmm,pbhmm:people").out.splitlines()
    assert len([line for line in scores if "pbhmm:people" in line and ",macro-f1," in line]) == 1


def test_weights_are_rows(tuned: Sentgen) -> None:
    """By name, none of them 0, in both directions; counts of stems beside them; they go with the model."""
    query = "select direction, weight from v_alignment_weights where model = 'people' and feature = 'words' and value = 'copied function word'"
    rows = json.loads(tuned("sql", query, "--json").out)
    assert {row["direction"] for row in rows} == {"forward", "reverse"}
    assert all(row["weight"] < 0 for row in rows)
    assert tuned("sql", "select * from v_alignment_weights where weight = 0", "--csv").out.count("\n") == 1
    counts = "select linked, together from alignment_link_count where stem <> other"
    assert json.loads(tuned("sql", counts, "--json").out) == [{"linked": 6, "together": 6}]

    tuned("align", "remove", "people")
    left = "select count(*) as n from alignment_weight union all select count(*) from alignment_link_count"
    assert [row["n"] for row in json.loads(tuned("sql", left, "--json").out)] == [0, 0]


def test_a_tuned_model_is_shown_as_others_are(tuned: Sentgen) -> None:
    """With its file and its iterations; the store passes its checks."""
    shown = tuned("align", "model", "people").out
    assert "6 of gold.txt" in shown
    assert json.loads(tuned("align", "models", "--json").out)[0]["model"] == "people"
    assert tuned("db", "check").code == 0


def test_what_is_refused(tuned: Sentgen, tmp_path: Path) -> None:
    """A name that is taken, EM over a tuned model, gold without links."""
    refused(tuned(*TUNE), "the alignment model 'people' exists; choose another name")
    (tmp_path / "pairs.jsonl").write_text('{"id": "1", "document": "a b", "abstract": "a"}\n')
    tuned("pairs", "ingest", "pairs.jsonl", "--corpus", "toy")
    train = ("align", "train", "--pairs", "toy", "--model", "people", "--resume")
    refused(tuned(*train), "was tuned on gold links; train another one")
    Path("none.txt").write_text("a ||| b ||| \n")
    refused(tuned("align", "tune", "more", "--gold", "none.txt"), "there are no sure links to learn from")


def test_a_model_of_the_store_is_the_one_in_memory(tmp_path: Path) -> None:
    """Every link with its posterior, to the last bit."""
    pairs = [Pair(noun, ("the", "red", noun), ("a", "big", noun)) for noun in NOUNS]
    links = frozenset({(1, 1), (2, 2)})
    examples = [TuningExample.of_links(pair, links, frozenset({(0, 0)})) for pair in pairs]
    with Store(tmp_path / "s.duckdb", create=True) as store:
        tuned = tune_model(store, "t", examples, "gold", TuningPlan(iterations=5))
        aligner = StoredAligner.load(store, "t")

        assert list(aligner.align(pairs)) == list(tuned.aligner("t").align(pairs))
        assert aligner.settings.threshold == tuned.settings.threshold
        assert problems(store) == {}


def test_a_model_without_a_feature_of_today_aligns(tmp_path: Path) -> None:
    """An earlier version knew fewer features: those that are not stored weigh nothing, the others the same."""
    pairs = [Pair(noun, ("the", "red", noun), ("a", "big", noun)) for noun in NOUNS]
    examples = [TuningExample.of_links(pair, frozenset({(1, 1), (2, 2)}), frozenset()) for pair in pairs]
    with Store(tmp_path / "s.duckdb", create=True) as store:
        tuned = tune_model(store, "t", examples, "gold", TuningPlan(iterations=5))
        new = np.array([feature == "related in WordNet" for feature, _ in NAMES])
        assert all(one.weights[new].any() for one in tuned.directions)
        with store.begin() as connection:
            connection.exec_driver_sql("delete from alignment_weight where feature = 'related in WordNet'")
        earlier = [replace(one, weights=np.where(new, 0, one.weights)) for one in tuned.directions]
        wanted = replace(tuned, directions=(earlier[0], earlier[1])).aligner("t")

        assert list(StoredAligner.load(store, "t").align(pairs)) == list(wanted.align(pairs))
        assert list(wanted.align(pairs)) != list(tuned.aligner("t").align(pairs))


def test_features_of_a_later_version_are_refused(tuned: Sentgen) -> None:
    """A model whose weights cannot be read is not used without them."""
    with Store(Path(tuned("db", "path").out.strip())) as store, store.begin() as connection:
        connection.exec_driver_sql("update alignment_weight set feature = 'moon' where feature = 'jump'")

    refused(
        tuned(*TEXTS, "--model", "people"), "tuned with features that this version of sentgen does not know"
    )
