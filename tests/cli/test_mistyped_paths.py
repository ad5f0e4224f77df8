"""A mistyped path makes no folder: one line says which one is not there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from conftest import Sentgen, refused

from sentgen import default_store


@pytest.mark.parametrize(
    "command",
    [
        ("ingest", "pets.conllu", "--corpus", "c", "--db", "no/where/x.duckdb"),
        ("demo", "--db", "no/where/x.duckdb"),
        ("pairs", "ingest", "pets.conllu", "--corpus", "c", "--db", "no/where/x.duckdb"),
        ("kwic", "dog", "--db", "no/where/x.duckdb"),
        ("publish", "--to", "no/where/snapshots"),
        ("freq", "--parquet", "no/where/x.parquet"),
        (
            "evaluate",
            "regeneration",
            "--model",
            "pets",
            "--test",
            "pets.conllu",
            "--report",
            "no/where/report",
        ),
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_no_folder_is_made(filled: Sentgen, tmp_path: Path, command: tuple[str, ...]) -> None:
    """Neither the folder nor anything in it is made."""
    refused(filled(*command), "no/where")

    assert not (tmp_path / "no").exists()


def test_the_variable_is_a_path_as_well(
    filled: Sentgen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mistyped path in the environment is an error, too."""
    monkeypatch.setenv("SENTGEN_DB", "no/where/x.duckdb")

    refused(filled("ingest", "pets.conllu", "--corpus", "c"), "there is no folder no/where; make it")


def test_the_folder_of_the_user_is_made(
    sentgen: Sentgen, pets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody has named it, so that nobody can have mistyped it."""
    monkeypatch.delenv("SENTGEN_DB")
    monkeypatch.setattr(default_store, "user_data_path", lambda name: tmp_path / "share" / name)
    sentgen("ingest", pets, "--corpus", "c")

    assert (tmp_path / "share" / "sentgen" / "sentgen.duckdb").exists()


def test_a_name_that_is_no_text(filled: Sentgen, tmp_path: Path) -> None:
    """It is the name that is told, wherever the file is found; what only reads it does."""
    name = os.fsdecode(b"caf\xe9.lines")
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / name).write_text("the dog\n")
    (tmp_path / name).write_text("the dog\n")
    told = "is not UTF-8; rename it"

    refused(filled("ingest", name, "--corpus", "c"), "caf\\udce9.lines", f"the name of this file {told}")
    refused(filled("ingest", "texts", "--corpus", "c"), "caf\\udce9.lines", f"the name of this file {told}")
    refused(
        filled("pairs", "ingest", name, f"texts/{name}", "--corpus", "c"), f"the name of this file {told}"
    )
    assert filled("regenerate", "--model", "pets", "-i", name).code == 0
    (tmp_path / os.fsdecode(b"ordner-\xe9")).mkdir()
    inside = Path(os.fsdecode(b"ordner-\xe9")) / "a.lines"
    inside.write_text("the dog\n")
    os.chdir(inside.parent)
    refused(
        filled("ingest", "a.lines", "--corpus", "c", "--db", "../corpora.duckdb"),
        f"the folder of this file {told}",
    )


def test_a_model_without_corpora_has_no_trees(filled: Sentgen) -> None:
    """The message is a sentence."""
    filled("models", "export", "pets", "--arpa", "p.arpa")
    filled("models", "import-arpa", "read", "p.arpa")

    told = filled("regenerate", "--model", "read", "-a", "ab", "the dog")

    refused(
        told,
        "the model has no corpora here to take dependency trees from; name a treebank with --dependencies CORPUS, or ",
    )
