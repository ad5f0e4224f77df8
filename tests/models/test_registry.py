"""The registry and the commands on it."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import delete
from toy_corpus import add_corpus
from typer.testing import CliRunner

from sentgen.cli import build as commands
from sentgen.errors import NotFoundError
from sentgen.models import build, find, list_models, remove
from sentgen.schema import Store
from sentgen.schema.tables.corpus import corpus


def test_find_takes_the_newest_or_a_version(store: Store) -> None:
    add_corpus(store, "toy", ["a b"])
    models = [build(store, "m", ["toy"], order=1) for _ in range(2)]

    assert find(store, "m") == models[1]
    assert find(store, "m@1") == models[0]
    assert models[0].label == "m@1"


def test_unknown_model_names_those_that_exist(store: Store) -> None:
    with pytest.raises(NotFoundError, match="there are none yet"):
        find(store, "m")
    add_corpus(store, "toy", ["a b"])
    build(store, "m", ["toy"], order=1)

    with pytest.raises(NotFoundError, match=r"no model 'n'; there are: m@1"):
        find(store, "n")
    with pytest.raises(NotFoundError, match=r"there are: m@1"):
        remove(store, "m@2")


def test_remove_takes_a_version_or_all(store: Store) -> None:
    add_corpus(store, "toy", ["a b"])
    models = [build(store, "m", ["toy"], order=1) for _ in range(3)]

    assert remove(store, "m", dry_run=True) == models
    assert remove(store, "m@2") == [models[1]]
    assert list_models(store) == [models[0], models[2]]
    assert remove(store, "m") == [models[0], models[2]]
    assert list_models(store) == []


@pytest.mark.parametrize("label", ["m", "m@2"])
def test_a_version_is_never_used_twice(store: Store, label: str) -> None:
    """A label, and the id by which rows are cached, stand for one model for ever, or for none."""
    add_corpus(store, "toy", ["a b"])
    models = [build(store, "m", ["toy"], order=1) for _ in range(2)]
    remove(store, label, dry_run=True)
    remove(store, label)

    again = build(store, "m", ["toy"], order=1)
    other = build(store, "n", ["toy"], order=1)

    assert (again.label, other.label) == ("m@3", "n@1")
    assert len({model.id for model in (*models, again, other)}) == 4


def test_model_is_stale_when_its_corpora_change(store: Store) -> None:
    add_corpus(store, "grows", ["a b"])
    add_corpus(store, "goes", ["a b"])
    model = build(store, "m", ["grows", "goes"], order=1)
    assert not model.is_stale(store)

    add_corpus(store, "grows", ["c"])
    with store.begin() as connection:
        connection.execute(delete(corpus).where(corpus.c.name == "goes"))

    assert model.changes(store) == ["corpus 'goes' was removed", "corpus 'grows' had 2 tokens, now 3"]


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    """A store with the corpus ``toy``, closed."""
    path = tmp_path / "cli.duckdb"
    with Store(path, create=True) as store:
        add_corpus(store, "toy", ["a b a", "b a c"])
    return path


def run(db: Path, *arguments: str) -> str:
    result = CliRunner().invoke(commands(), ["models", *arguments, "--db", str(db)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_commands_build_show_and_remove(toy: Path) -> None:
    command = ["build", "m", "--corpus", "toy", "--order", "2", "--smoothing", "katz", "--min-count", "1,1"]
    assert "m@1: 5 words, 6 tokens" in run(toy, *command)
    assert 'm,1,2,katz,"1,1",word,false,5,6,toy,' in run(toy, "list", "--csv")
    shown = run(toy, "show", "m", "--csv")
    assert "smoothing,,katz" in shown
    assert "ngrams,1,6" in shown
    assert "absolute,1,0.5" in shown
    assert "stale,,no" in shown
    assert "would remove m@1" in run(toy, "remove", "m", "--dry-run")
    assert "removed m@1" in run(toy, "remove", "m@1")


def test_commands_export_and_import(toy: Path, tmp_path: Path) -> None:
    run(toy, "build", "m", "--corpus", "toy")
    run(toy, "export", "m", "--arpa", str(tmp_path / "m.arpa"))

    assert "copy@1: 5 words, order 4" in run(toy, "import-arpa", "copy", str(tmp_path / "m.arpa"))


def test_wrong_counts_are_a_usage_error(toy: Path) -> None:
    arguments = ["build", "m", "--corpus", "toy", "--min-count", "one", "--db", str(toy)]

    assert CliRunner().invoke(commands(), ["models", *arguments]).exit_code == 2
