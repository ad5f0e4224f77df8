"""The page on plug-ins shows what its commands print where the example is installed."""

from __future__ import annotations

import doctest
import re
from collections.abc import Iterator
from pathlib import Path

import doc_pages
import pytest
from plugged import EXAMPLE, plugged

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "plugins.md").read_text("utf-8")
COMMANDS = doc_pages.commands(PAGE)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of the demo."""
    path = tmp_path_factory.mktemp("plugins-page") / "relief.duckdb"
    code, output = doc_pages.run(f"sentgen demo --db {path}")
    assert code == 0, output
    return path


@pytest.fixture(autouse=True)
def example(installed_example: Path, store: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The example is there in this process."""
    monkeypatch.setenv("SENTGEN_DB", str(store))
    monkeypatch.setenv("NO_COLOR", "1")
    with plugged(installed_example):
        yield


@pytest.mark.parametrize("command", COMMANDS, ids=[one.line for one in COMMANDS])
def test_a_command_prints_what_the_page_shows(command: doc_pages.Command) -> None:
    """Each command prints what the page shows, but for lines left out."""
    code, output = doc_pages.run(command.line)

    assert code == 0
    assert doc_pages.shows(command.output, output)


def test_python_gives_what_the_page_shows() -> None:
    """Blocks with prompts of Python give the results on the page."""
    blocks = re.findall(r"^```pycon\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    examples = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "plugins.md", None, 0)
    result = doctest.DocTestRunner().run(examples)

    assert result.attempted > 5
    assert not result.failed


def test_all_of_the_example_is_on_the_page() -> None:
    """The page shows the whole example, as it can be copied."""
    page = doc_pages.text(ROOT / "docs" / "plugins.md")
    files = [EXAMPLE / "pyproject.toml", *(EXAMPLE / "src/sentgen_example").glob("[!_]*.py")]

    assert len(files) == 5
    assert [one.name for one in files if one.read_text("utf-8") not in page] == []
