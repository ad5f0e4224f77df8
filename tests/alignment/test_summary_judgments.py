"""The sheet of summaries that were read is one that `benchmarks/summary_judgments.py` can score."""

from __future__ import annotations

import csv
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"


def rows() -> list[dict[str, str]]:
    """Return the rows of the sheet."""
    with open(FOLDER / "summary_judgments.tsv", encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


#: SumPubMed is long: reading it takes two seconds.
CORPORA = [
    pytest.param(name, marks=[pytest.mark.nightly] if name == "sumpubmed" else [])
    for name in sorted({row["corpus"] for row in rows()})
]


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The benchmark as a module."""
    monkeypatch.syspath_prepend(str(FOLDER))
    return import_module("summary_judgments")


def test_columns(benchmark: ModuleType) -> None:
    """A row has a span with its judgment, kind and words, or none of them."""
    for row in rows():
        filled = [bool(row[name]) for name in ("first", "last", "judgment", "kind", "words")]

        assert tuple(row) == benchmark.COLUMNS
        assert row["corpus"] in benchmark.CORPORA
        assert int(row["sentence"]) >= 1
        assert len(set(filled)) == 1, row
        assert row["judgment"] in ("", *benchmark.JUDGMENTS)


def test_spans_of_a_sentence(benchmark: ModuleType) -> None:
    """Spans stand in order and apart, and a sentence without a span has one row."""
    sentences = [marks for of in benchmark.judgments().values() for marks in of.values()]

    assert sum(max(1, len(marks)) for marks in sentences) == len(rows())
    for marks in sentences:
        assert all(0 <= mark.first <= mark.last for mark in marks)
        assert all(one.last < other.first for one, other in pairwise(marks))


@pytest.mark.data
@pytest.mark.parametrize("corpus", CORPORA)
def test_offsets_are_of_the_words(corpus: str, benchmark: ModuleType, data_dir: Path) -> None:
    """Every pair of the sheet is there, and the offsets of a span lead to the words that the sheet names."""
    pairs = {one.pair.key: one for one in benchmark.read_pairs_of(corpus)}
    of = [row for row in rows() if row["corpus"] == corpus]

    assert pairs.keys() == {row["id"] for row in of}
    for row in of:
        if row["first"]:
            pair = pairs[row["id"]].pair
            start, end = benchmark.spans(pair.abstract_starts, pair.abstract)[int(row["sentence"]) - 1]
            first, last = int(row["first"]), int(row["last"])
            assert " ".join(pair.abstract[start:end][first : last + 1]) == row["words"]


@pytest.mark.data
def test_the_draw(benchmark: ModuleType, data_dir: Path) -> None:
    """The pairs of SciTLDR in the sheet are those that the seed draws, in that order."""
    read = dict.fromkeys(row["id"] for row in rows() if row["corpus"] == "scitldr")

    assert list(read) == [raw.key for raw in benchmark.drawn()]
