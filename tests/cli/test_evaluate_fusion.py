"""`sentgen evaluate fusion` and `evaluate judgments` as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Sentgen, refused
from test_evaluate_generation import PARSER, ToyParser

from sentgen.cli import evaluate_generation
from sentgen.demo import TREEBANK

CLUSTER = ["dogs chased cats", "dogs chased cats quickly", "quickly dogs chased cats", "dogs chased old cats"]


@pytest.fixture(autouse=True)
def parser(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever parser is asked for, it is the toy."""
    monkeypatch.setattr(evaluate_generation, "open_parser", lambda specification: ToyParser())


@pytest.fixture
def clusters(tmp_path: Path) -> Path:
    """A cluster of four sentences, and one that is too short."""
    path = tmp_path / "c.jsonl"
    clusters = {"a": CLUSTER, "b": CLUSTER[:2]}
    path.write_text(
        "".join(f"{json.dumps({'id': name, 'sentences': of})}\n" for name, of in clusters.items())
    )
    return path


def test_for_reading_and_as_json(sentgen: Sentgen, clusters: Path) -> None:
    """A line a system and a line a pair, or a row a figure; what is too short is told."""
    arguments = ("evaluate", "fusion", "--clusters", clusters, *PARSER, "--systems", "key,central")
    told = sentgen(*arguments)
    rows = json.loads(sentgen(*arguments, "--json").out)

    assert told.code == 0
    assert [line.split("  ")[0] for line in told.out.splitlines()][:2] == ["system", "key"]
    assert "1 cluster left out" in told.err
    assert "run 1" in told.err
    assert {"key", "central"} <= {row["system"] for row in rows}
    assert {"bleu-lc-none", "source-recall", "answered"} <= {row["metric"] for row in rows}


def test_a_sheet_comes_back_as_counts(sentgen: Sentgen, tmp_path: Path) -> None:
    """A document of the demo of which fusion makes a sentence; extraction is not judged."""
    document = TREEBANK.read_text("utf-8").split("# newdoc id = relief-007")[1].partition("# newdoc")[0]
    clusters, sheet = tmp_path / "c.conllu", tmp_path / "sheet.tsv"
    clusters.write_text(f"# newdoc id = relief-007{document}", "utf-8")
    told = sentgen("evaluate", "fusion", "--clusters", clusters, *PARSER, "--judge", sheet)
    head, *rows = sheet.read_text().splitlines()
    sheet.write_text("\n".join([head, *(f"{row}yes" for row in rows)]))
    found = json.loads(sentgen("evaluate", "judgments", sheet, "--json").out)

    assert "to judge" in told.err
    assert {row["system"] for row in found} == {"revise", "depviterbi"}
    assert all(row["grammatical"] == row["judged"] == 1 for row in found)
    assert "Wilson" in sentgen("evaluate", "judgments", sheet).err


def test_what_cannot_be_is_refused(sentgen: Sentgen, clusters: Path, tmp_path: Path) -> None:
    """Systems that there are not, too few sentences, and sheets that nobody could judge or read."""
    arguments = ("evaluate", "fusion", "--clusters", clusters, *PARSER)

    assert sentgen(*arguments, "--systems", "key,beam").code == 2
    assert sentgen(*arguments, "--systems", ",").code == 2
    refused(sentgen(*arguments, "--systems", "key", "--references", "5"), "c.jsonl", "to hold back")
    told = sentgen(*arguments, "--systems", "key", "--judge", tmp_path / "sheet.tsv")
    refused(told, "sheet.tsv", "extraction copies")
    (tmp_path / "old.tsv").touch()
    refused(sentgen(*arguments, "--judge", tmp_path / "old.tsv"), "old.tsv", "may be filled in")
    refused(sentgen("evaluate", "judgments", tmp_path / "none.tsv"), "none.tsv")
