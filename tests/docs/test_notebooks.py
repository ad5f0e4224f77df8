"""The notebooks of examples/ run everywhere, with the outputs that are stored in them."""

from __future__ import annotations

import importlib
import json
import re
import shutil
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
IDS = [path.stem for path in NOTEBOOKS]


@pytest.fixture
def execute(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script that runs and writes the notebooks."""
    pytest.importorskip("nbclient", reason="no nbclient; install the extra `test`")
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    return importlib.import_module("execute")


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=IDS)
def test_a_notebook_shows_what_is_stored_in_it(
    path: Path, execute: ModuleType, empty_store: Path, tmp_path: Path
) -> None:
    """In an empty folder, outputs are the stored ones; of pictures only the presence is compared."""
    if execute.needs_texts(path):
        pytest.skip("no novels here; set SENTGEN_DATA")
    # Making a store takes as long as the rest of a notebook, so theirs exist already, and are empty.
    (name,) = re.findall(r'sentgen\.open\(\\"(\w+\.duckdb)\\", create=True\)', path.read_text("utf-8"))
    shutil.copy(empty_store, tmp_path / name)

    made = execute.executed(path, tmp_path)

    assert execute.shown(made) == execute.shown(execute.stored(path)), "run: python examples/execute.py"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=IDS)
def test_a_stored_notebook_has_its_outputs_and_nothing_of_the_machine(
    path: Path, execute: ModuleType
) -> None:
    """Tables, pictures, no message of an error, and what `execute.py` writes."""
    notebook = execute.stored(path)
    kinds = {
        kind
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        for kind in output.get("data", ())
    }
    streams = {output.get("name") for cell in notebook.cells for output in cell.get("outputs", ())}

    assert {"text/html", "image/png"} <= kinds
    assert "stderr" not in streams
    assert execute.normalized(execute.stored(path)) == notebook
    assert not re.search(r"/tmp/|/home/|\b20\d\d-\d\d-\d\d\b", json.dumps(notebook))
    assert len(notebook.cells) <= 14


def test_there_are_six() -> None:
    """One for each of the five jobs of docs/python.md, and one for texts of one's own."""
    assert [name[0] for name in IDS] == list("123456")


def test_the_pictures_are_of_these_notebooks(monkeypatch: pytest.MonkeyPatch, execute: ModuleType) -> None:
    """Each says which cells and outputs it was taken of."""
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    pictures = importlib.import_module("notebook_pictures")

    for path in NOTEBOOKS:
        assert pictures.taken_of(path) == pictures.state(path), "run: python docs/notebook_pictures.py"
