"""The page on queries shows what its commands print."""

from __future__ import annotations

from pathlib import Path

import doc_pages
import pytest

from sentgen.counts.ingestion import Settings, ingest
from sentgen.demo import TREEBANK
from sentgen.schema import Store

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "queries.md").read_text("utf-8")
COMMANDS = doc_pages.commands(PAGE)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The treebank of the demo."""
    path = tmp_path_factory.mktemp("queries-page") / "relief.duckdb"
    with Store(path, create=True) as made:
        ingest(made, [str(TREEBANK)], Settings("relief"))
    return path


def test_there_are_ten_examples() -> None:
    """Of CQL."""
    assert len(COMMANDS) >= 10


@pytest.mark.parametrize("command", COMMANDS, ids=[one.line for one in COMMANDS])
def test_a_command_prints_what_the_page_shows(
    command: doc_pages.Command, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Word by word."""
    monkeypatch.setenv("SENTGEN_DB", str(store))
    monkeypatch.setenv("NO_COLOR", "1")

    assert doc_pages.shows(command.output, doc_pages.run(command.line)[1])
