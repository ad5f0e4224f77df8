"""The page on lines shows what its commands print."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import doc_pages
import pytest

_ALL = doc_pages.commands((Path(__file__).resolve().parents[2] / "docs" / "lines.md").read_text("utf-8"))

#: Commands on line sets, which depend on each other, unlike the others.
LABELING = [command for command in _ALL if re.match("sentgen lines |.* lines[.]", command.line)]
COMMANDS = [command for command in _ALL if command not in LABELING]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.line)
def test_the_page_shows_what_comes_out(
    command: doc_pages.Command, relief: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every command of `sentgen kwic`, `freq` and `collocations` prints what the page shows."""
    monkeypatch.setenv("SENTGEN_DB", str(relief))
    code, output = doc_pages.run(command.line)

    assert doc_pages.shows(command.output, output), output
    assert code == 0


def test_lines_are_labeled_as_the_page_shows(
    relief: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A set is made, labeled, taken back, listed and reported, at a desk beside the store."""
    monkeypatch.setenv("SENTGEN_DB", shutil.copy(relief, tmp_path))
    for command in LABELING:
        code, output = doc_pages.run(command.line)

        assert doc_pages.shows(command.output, output), output
        assert code == 0
