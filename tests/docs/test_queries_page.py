"""The page on queries shows what its commands print."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import doc_pages
import pytest

from sentgen.counts.ingestion import Settings, ingest
from sentgen.models import build
from sentgen.schema import Store
from sentgen.schema.tables.saved import SavedQuery

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
PAGE = (ROOT / "docs" / "queries.md").read_text("utf-8")


def part(title: str) -> str:
    """A section of the page."""
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


QUERIES = "".join(map(part, ("Sequences of tokens: CQL", "Saved queries")))
SURPRISAL = part("Surprisal")
METADATA, SUBCORPORA = part("Metadata").split("\n### Subcorpora\n")
DEBATE = part("Regions") + METADATA + part("Breakdowns")


@pytest.fixture(scope="module")
def store(relief: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The treebank of the demo, and a saved query."""
    path = Path(shutil.copy(relief, tmp_path_factory.mktemp("queries-page")))
    with Store(path) as made, made.begin() as connection:  # examples run in any order
        SavedQuery.save(connection, "camps", "kwic", ['[lemma="camp"]', "--limit", "2"])
    return path


@pytest.fixture(scope="module")
def debate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The vertical file that the section on regions shows."""
    folder = tmp_path_factory.mktemp("regions-page")
    text, path = Path(shutil.copy(EXAMPLES / "debate.vert", folder)), folder / "debate.duckdb"
    with Store(path, create=True) as made:
        ingest(made, [str(text)], Settings("debate"))
    return path


def examples(page: str) -> Any:
    """Give a test the commands of a part of the page."""
    found = doc_pages.commands(page)
    assert len(found) >= 5
    return pytest.mark.parametrize("command", found, ids=[one.line for one in found])


@pytest.mark.nightly(by_day=8)
@examples(QUERIES)
def test_a_command_prints_what_the_page_shows(
    command: doc_pages.Command, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Word by word."""
    monkeypatch.setenv("SENTGEN_DB", str(store))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.chdir(store.parent)

    assert doc_pages.shows(command.output, doc_pages.run(command.line)[1])


@examples(DEBATE)
def test_a_command_on_regions_and_metadata_prints_what_the_page_shows(
    command: doc_pages.Command, debate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commands on regions and metadata print what the page shows for its vertical file."""
    monkeypatch.setenv("SENTGEN_DB", str(debate))
    monkeypatch.setenv("NO_COLOR", "1")

    assert doc_pages.shows(command.output, doc_pages.run(command.line)[1])


def test_commands_on_subcorpora_print_what_the_page_shows(
    debate: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commands on subcorpora, which write, print what the page shows, one after the other."""
    path = tmp_path / "debate.duckdb"
    path.write_bytes(debate.read_bytes())
    monkeypatch.setenv("SENTGEN_DB", str(path))
    monkeypatch.setenv("NO_COLOR", "1")

    found = doc_pages.commands(SUBCORPORA)
    assert len(found) >= 4
    for command in found:
        assert doc_pages.shows(command.output, doc_pages.run(command.line)[1]), command.line


def test_commands_on_surprisal_print_what_the_page_shows(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commands on surprisal print what the page shows, with the model of the demo."""
    path = tmp_path / "relief.duckdb"
    path.write_bytes(store.read_bytes())
    with Store(path) as made:
        build(made, "relief", ["relief"], order=3)
    monkeypatch.setenv("SENTGEN_DB", str(path))
    monkeypatch.setenv("NO_COLOR", "1")

    found = doc_pages.commands(SURPRISAL)
    assert len(found) == 3
    for command in found:
        assert doc_pages.shows(command.output, doc_pages.run(command.line)[1]), command.line
