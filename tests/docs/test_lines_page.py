"""The page on lines shows what its commands print."""

from __future__ import annotations

from pathlib import Path

import doc_pages
import pytest

from sentgen.counts.ingestion import Settings, ingest
from sentgen.demo import TREEBANK
from sentgen.schema import Store

COMMANDS = doc_pages.commands((Path(__file__).resolve().parents[2] / "docs" / "lines.md").read_text("utf-8"))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The treebank of the demo."""
    path = tmp_path_factory.mktemp("lines-page") / "relief.duckdb"
    with Store(path, create=True) as made:
        ingest(made, [str(TREEBANK)], Settings("relief"))
    return path


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.line)
def test_the_page_shows_what_comes_out(
    command: doc_pages.Command, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of them of `sentgen kwic`, `freq` and `collocations`, and of `lines`, each after those before it."""
    monkeypatch.setenv("SENTGEN_DB", str(store))
    code, output = doc_pages.run(command.line)

    assert doc_pages.shows(command.output, output), output
    assert code == 0
