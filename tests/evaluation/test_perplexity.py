"""Models compared on a text: perplexities as in `score`, paired intervals, and known n-grams of each."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from sentgen.counts.ingestion import Settings, ingest
from sentgen.errors import InputError, ModelError, NotFoundError
from sentgen.evaluation import perplexity
from sentgen.evaluation.perplexity import CompareRequest
from sentgen.models import build, find
from sentgen.models.mix import MixRequest
from sentgen.models.scoring import Totals, score_sentences
from sentgen.schema import Store

TEXT = ["a b a c", "a c b", "b a", "a b a", "c c a b", "b c"]
TEST = ["a b c", "z a b", "c a", "b", "a b a z"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with two models of different order of texts that differ in their words, and a test."""
    folder = tmp_path_factory.mktemp("compared")
    (folder / "one.lines").write_text("\n".join(TEXT) + "\n")
    (folder / "other.lines").write_text("\n".join([*TEXT[:3], "z a", "z b"]) + "\n")
    (folder / "test.lines").write_text("\n".join(TEST) + "\n")
    with Store(folder / "s.duckdb", create=True) as store:
        for name, order in (("one", 3), ("other", 2)):
            ingest(store, [str(folder / f"{name}.lines")], Settings(name))
            build(store, name, [name], order=order)
        build(store, "same", ["one"], order=3)
        build(store, "counts", ["one"], order=2, smoothing="stupid-backoff")
        MixRequest(name="both", of="one,other", dynamic=True).make(store)
    return folder


def compare(folder: Path, **options: str) -> tuple[list[dict[str, object]], list[str]]:
    with Store(folder / "s.duckdb", read_only=True) as store:
        rows, notes = CompareRequest(**options).compare(store)
        return [dict(zip(rows.columns, row, strict=True)) for row in rows.rows], notes


def test_perplexities_are_those_of_scores(folder: Path) -> None:
    rows, notes = compare(folder, models="one,other,both", test=str(folder / "test.lines"))

    assert [row["model"] for row in rows] == ["one@1", "other@1", "both@1"]
    with Store(folder / "s.duckdb", read_only=True) as store:
        for row in rows:
            totals = Totals()
            for score in score_sentences(store, find(store, str(row["model"])), map(str.split, TEST)):
                totals.add(score)
            assert row["perplexity"] == pytest.approx(totals.perplexity)
            assert (row["tokens"], row["oov"]) == (totals.tokens, totals.oov)
            assert row["low"] <= row["perplexity"] <= row["high"]
    # z is unknown to the first model alone, twice; the other 16 tokens are known to all.
    assert [(row["oov"], row["shared"]) for row in rows] == [(2, 16), (0, 16), (0, 16)]
    assert rows[0]["difference"] is None
    difference = rows[1]["perplexity"] - rows[0]["perplexity"]
    assert rows[1]["difference"] == pytest.approx(difference)
    assert rows[1]["difference_low"] <= difference <= rows[1]["difference_high"]
    assert 0 < rows[1]["p"] <= 1
    assert any("know different words" in note for note in notes)


def test_hits_are_by_the_longest_ngram(folder: Path) -> None:
    """By hand, at order 2: a z, z </s>, z a, and n-grams that begin with unknown words are not known."""
    (row, _), _ = compare(folder, models="one,other", test=str(folder / "test.lines"))

    assert sum(row[f"hit_{n}"] for n in (1, 2, 3)) == pytest.approx(1)
    # Trigrams of the model: <s> a b, (a b c is none), <s> b ... counted in plain Python.
    known = set()
    for line in TEXT:
        words = ["<s>", *line.split(), "</s>"]
        known |= {tuple(words[i : i + 3]) for i in range(len(words) - 2)}
    found = 0
    for line in TEST:
        words = ["<s>", *line.split(), "</s>"]
        found += sum(tuple(words[i : i + 3]) in known for i in range(len(words) - 2))
    assert row["hit_3"] == pytest.approx(found / row["tokens"])


def test_a_model_is_as_good_as_itself(folder: Path) -> None:
    rows, _ = compare(folder, models="one,same", test=str(folder / "test.lines"))

    assert rows[1]["difference"] == rows[1]["difference_low"] == rows[1]["difference_high"] == 0
    assert rows[1]["p"] == 1


def test_many_sentences_are_drawn_as_blocks(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(perplexity, "_MOST_DRAWN", 2)

    rows, notes = compare(folder, models="one,other", test=str(folder / "test.lines"))

    assert math.isfinite(rows[1]["difference_low"])
    assert "neighbors are drawn together, 3 at a time" in notes


def test_training_text_is_told(folder: Path) -> None:
    _, notes = compare(folder, models="one,other", corpus="one")

    assert [note for note in notes if "built from this text" in note] == [
        "one@1 was built from this text: its perplexity says nothing of other text"
    ]


def test_what_cannot_be_compared_is_refused(folder: Path) -> None:
    with pytest.raises(InputError, match="give `test` or `corpus`"):
        compare(folder, models="one")
    with pytest.raises(InputError, match="no model to compare"):
        compare(folder, models=",", corpus="one")
    with pytest.raises(ModelError, match="no probabilities"):
        compare(folder, models="one,counts", corpus="one")
    with pytest.raises(NotFoundError, match="no corpus 'nope'"):
        compare(folder, models="one", corpus="nope")
    (folder / "empty.lines").write_text("\n")
    with pytest.raises(InputError, match="is empty"):
        compare(folder, models="one", test=str(folder / "empty.lines"))
