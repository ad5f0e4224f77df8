"""A listing has the same rows as a command, and as a method."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ten_sentences import fill
from typer.testing import CliRunner

import sentgen
from sentgen.cli import build
from sentgen.listings import LISTINGS

#: Methods whose names differ from those of the operations.
METHODS = {"saved": "saved_queries", "alignment-models": "alignment_models"}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a corpus, a model, vectors, a subcorpus and a saved query."""
    path = fill(tmp_path_factory.mktemp("listings") / "toy.duckdb")
    with sentgen.open(path) as db:
        corpus = next(iter(db.corpora())).corpus
        db.build_model("m", corpus, order=1)
        db.define_subcorpus("short", "length < 5")
        db.save_query("the", "kwic the")
    return path


@pytest.mark.parametrize("name", LISTINGS)
def test_command_and_method(name: str, path: Path) -> None:
    listing = LISTINGS[name]
    place = ["--db", str(path)] if listing.of_store else []
    shown = CliRunner().invoke(build(), [*listing.command.split(), "--json", *place])
    with sentgen.open(path) as db:
        table = getattr(db, METHODS.get(name, name))()
        rows = [dict(zip(table.columns, row, strict=True)) for row in table]

    assert shown.exit_code == 0
    assert json.loads(shown.stdout) == json.loads(json.dumps(rows, default=lambda value: value.isoformat()))
    assert bool(rows) == (name not in ("vectors", "parses", "alignment-models", "scorers"))
    assert (listing.none in shown.stderr) or rows
