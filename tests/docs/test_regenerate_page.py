"""The page on regeneration shows what the commands print."""

from __future__ import annotations

from pathlib import Path

import doc_pages
import pytest

from sentgen.counts.ingestion import Settings, ingest
from sentgen.demo import TREEBANK
from sentgen.models import build
from sentgen.schema import Store

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "regenerate.md"


def test_the_page_shows_what_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command of the page runs on the demo treebank with the output on the page."""
    with Store(tmp_path / "relief.duckdb", create=True) as store:
        ingest(store, [str(TREEBANK)], Settings("relief"))
        build(store, "relief", ["relief"], order=3, smoothing="kneser-ney")
    monkeypatch.setenv("SENTGEN_DB", str(tmp_path / "relief.duckdb"))
    monkeypatch.setenv("NO_COLOR", "1")
    commands = doc_pages.commands(PAGE.read_text("utf-8"))
    for command in commands:
        code, output = doc_pages.run(command.line)

        assert code == 0, f"{command.line}\n{output}"
        assert doc_pages.shows(command.output, output), f"{command.line}\n{output}"
    assert len(commands) >= 4
