"""The page on queries: every request of its part on trees prints what the page shows."""

from __future__ import annotations

from pathlib import Path

import doc_pages
import pytest

ROOT = Path(__file__).resolve().parents[2]
PART = (ROOT / "docs" / "queries.md").read_text("utf-8").partition("\n## Trees")[2].partition("\n## ")[0]
COMMANDS = doc_pages.commands(PART)


def test_there_are_examples() -> None:
    """The page has examples, all of `sentgen match`."""
    assert len(COMMANDS) >= 4
    assert all(command.line.startswith("sentgen match ") for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.line)
def test_the_page_shows_what_comes_out(
    command: doc_pages.Command, relief: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hits, counts, and the places of errors are those on the page."""
    monkeypatch.setenv("SENTGEN_DB", str(relief))
    code, output = doc_pages.run(command.line)

    assert doc_pages.shows(command.output, output), output
    assert code == int("sentgen: " in command.output)
