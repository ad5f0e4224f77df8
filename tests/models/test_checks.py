"""The checks of models: sound models pass with all settings, and damage is found."""

from __future__ import annotations

import shutil
from pathlib import Path

import duckdb
import pytest
from stored import model_problems

from sentgen.counts.corpora import remove
from sentgen.counts.ingestion import Settings, ingest
from sentgen.demo import TREEBANK
from sentgen.models import build, export_arpa, find, import_arpa
from sentgen.models.checks import model_checks
from sentgen.schema import Store


def failed(path: Path, *, quick: bool = False) -> dict[str, int]:
    """Return the checks that fail, with the number of problems; the store is open for reading only."""
    with Store(path, read_only=True, threads=1) as store:
        return model_problems(store, quick=quick)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A treebank of 149 sentences in one segment and a little text in two more; no test changes it."""
    folder = tmp_path_factory.mktemp("checks")
    with Store(folder / "store.duckdb", create=True, threads=1) as store:
        ingest(store, [str(TREEBANK)], Settings("relief"))
        for number, line in enumerate(("the water came .", "the water came back .")):
            (folder / f"{number}.lines").write_text(f"{line}\n")
            ingest(store, [str(folder / f"{number}.lines")], Settings("water"))
        build(store, "kn", ["relief"], order=3, smoothing="kneser-ney")
        build(store, "katz", ["water", "relief"], order=2, smoothing="katz")
    return folder / "store.duckdb"


@pytest.fixture
def path(template: Path, tmp_path: Path) -> Path:
    """A copy of the template to damage."""
    return Path(shutil.copy(template, tmp_path / "store.duckdb"))


def test_sound_models_pass(path: Path, nightly: bool) -> None:
    """All settings: orders, cutoffs, several corpora, unknown words, brackets, and an imported model."""
    with Store(path, threads=1) as store:
        for smoothing in ("kneser-ney", "katz") if nightly else ("katz",):
            build(store, "plain", ["relief"], order=5, smoothing=smoothing)
            build(store, "cut", ["relief"], order=3, smoothing=smoothing, min_count=[1, 2, 3], unknown="none")
            build(store, "tags", ["relief"], order=2, smoothing=smoothing, unknown="tag", min_count=[2])
            build(store, "both", ["relief", "water"], order=2, smoothing=smoothing)
            build(store, "small", ["water"], order=1, smoothing=smoothing, unknown="none")
        build(store, "np", ["relief"], order=3, unknown="tag", brackets=True)
        export_arpa(store, find(store, "kn"), path.with_suffix(".arpa"))
        import_arpa(store, "arpa", path.with_suffix(".arpa"))

    assert failed(path) == {}


@pytest.mark.nightly(by_day=2)
@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        ("update model_ngram set w2 = null where n = 3 and w1 = 1", "n-grams of models are whole"),
        ("update model_ngram set anchor = anchor + 1 where n = 2 and w1 = 1", "n-grams of models are whole"),
        ("update model_ngram set n = 4 where model_id = 1 and n = 3", "n-grams of models are whole"),
        ("update model_ngram set logp = 'nan' where n = 2 and w1 = 1", "n-grams of models are whole"),
        ("update model_ngram set backoff = 'inf' where n = 2 and w1 = 1", "n-grams of models are whole"),
        ("delete from word where form = 'water'", "words of models"),
        ("delete from model_ngram where n = 1 and w1 = 2", "vocabulary of models"),
        ("delete from model_ngram where model_id = 2", "vocabulary of models"),
        ("delete from model_corpus where model_id = 1", "tokens of models"),
        ("update model_corpus set tokens = tokens + 1 where model_id = 1", "tokens of models"),
        ("delete from model_parameter where name = 'n2' and n = 2", "parameters of models"),
        ("update model_parameter set value = null where name = 'n1'", "parameters of models"),
    ],
)
def test_damage_is_found_quickly(path: Path, damage: str, expected: str) -> None:
    """Damage is found without counting again."""
    with duckdb.connect(str(path)) as duck:
        duck.execute(damage)

    assert expected in failed(path, quick=True)


@pytest.mark.nightly(by_day=2)
@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (
            "update model_ngram set logp = logp - 0.001 where model_id = 2 and n = 1 and w1 = 2",
            {"katz@1: probabilities of words sum to one"},
        ),
        (
            "update model_ngram set logp = logp - 0.1 where model_id = 1 and n = 3 and w1 = 1 and logp < -1",
            {"kn@1: probabilities of order 3 sum to one"},
        ),
        (
            "update model_ngram set backoff = backoff - 0.1 where model_id = 1 and n = 2 and w1 = 1",
            {"kn@1: probabilities of order 3 sum to one"},
        ),
        (
            "delete from model_ngram where model_id = 1 and n = 3 and w1 = 1",
            {"kn@1: n-grams recounted", "kn@1: probabilities of order 3 sum to one"},
        ),
        (
            "delete from model_ngram where model_id = 2 and n = 2 and w1 = 1",
            {"katz@1: n-grams recounted", "katz@1: probabilities of order 2 sum to one"},
        ),
    ],
)
def test_wrong_probabilities_are_found(path: Path, damage: str, expected: set[str]) -> None:
    """The check names the length of contexts whose sum is not 1, and missing n-grams."""
    with duckdb.connect(str(path)) as duck:
        duck.execute(damage)

    assert failed(path, quick=True) == {}
    assert expected <= set(failed(path)) <= {*expected, "katz@1: probabilities of order 2 sum to one"}


def test_a_context_that_is_missing_is_found(path: Path) -> None:
    """A context that is no n-gram of the model, and so has no back-off weight, is found."""
    with duckdb.connect(str(path)) as duck:
        duck.execute("delete from model_ngram where model_id = 1 and n = 2 and w1 = 1")

    assert "kn@1: probabilities of order 3 sum to one" in failed(path)


def test_ngrams_of_two_models_that_changed_places_are_found(path: Path) -> None:
    """Each sums to one; neither has the n-grams of its corpora."""
    with Store(path, threads=1) as store:
        build(store, "water", ["water"], order=2, smoothing="katz")
    with duckdb.connect(str(path)) as duck:
        duck.execute("update model_ngram set model_id = 5 - model_id where model_id in (2, 3)")

    assert {"katz@1: n-grams recounted", "water@1: n-grams recounted"} <= set(failed(path))


def test_a_stale_model_is_not_counted_again(path: Path) -> None:
    """Changed corpora of a stale model are no damage; its sums are still checked."""
    (path.parent / "more.lines").write_text("more water .\n")
    with Store(path, threads=1) as store:
        ingest(store, [str(path.parent / "more.lines")], Settings("water"))
        remove(store, "relief")

    assert failed(path) == {}
    with Store(path, read_only=True, threads=1) as store:
        names = [check.name for check in model_checks(store)]
    assert "katz@1: probabilities of order 2 sum to one" in names
    assert not [name for name in names if "recounted" in name]


def test_a_corpus_that_was_replaced_is_not_counted_again(path: Path) -> None:
    """A corpus with the id and tokens of the old one, but read after the model was built, is not recounted."""
    (path.parent / "other.lines").write_text("a fire went .\na fire went out .\n")
    with Store(path, threads=1) as store:
        build(store, "water", ["water"], order=2, smoothing="katz")
        remove(store, "water")
        ingest(store, [str(path.parent / "other.lines")], Settings("water"))

    assert failed(path) == {}
