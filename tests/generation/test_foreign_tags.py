"""Bags with tags of another set than the dependency counts get tags of that set, with a note."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from sentgen.corpus.sentence import Sentence
from sentgen.counts.ingestion import Settings, ingest
from sentgen.evaluation.regeneration.experiment import cases_of
from sentgen.generation import Search
from sentgen.generation.answers import OrderingRequest
from sentgen.generation.bags.bag import Unit
from sentgen.generation.notes import notes
from sentgen.generation.prepare import with_known_tags
from sentgen.models import build
from sentgen.schema import Store

#: *saw* is a noun twice and a verb once, so that its universal tag decides.
ROWS = [
    "the/DET/DT dog/NOUN/NN sleeps/VERB/VBZ",
    "the/DET/DT saw/NOUN/NN sleeps/VERB/VBZ",
    "a/DET/DT saw/NOUN/NN barks/VERB/VBZ",
    "the/DET/DT dog/NOUN/NN saw/VERB/VBD",
]
HEADS = ("2\tdet", "3\tnsubj", "0\troot")


def conllu(rows: list[str]) -> str:
    lines = []
    for row in rows:
        for place, (word, head) in enumerate(zip(row.split(), HEADS, strict=True), 1):
            form, upos, xpos = word.split("/")
            lines.append(f"{place}\t{form}\t_\t{upos}\t{xpos}\t_\t{head}\t_\t_\n")
        lines.append("\n")
    return "".join(lines)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, empty_store: Path) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("foreign")
    (folder / "s.duckdb").write_bytes(empty_store.read_bytes())
    (folder / "a.conllu").write_text(conllu(ROWS))
    with Store(folder / "s.duckdb") as opened:
        ingest(opened, [str(folder / "a.conllu")], Settings("pets", order=2))
        build(opened, "pets", ["pets"], order=2)
        yield opened


def tags(units: list[Unit]) -> list[tuple[str, ...]]:
    return [unit.tags for unit in units]


def units(text: str) -> list[Unit]:
    return [
        Unit((word,), (tag,) if tag else ()) for word, _, tag in (one.partition("/") for one in text.split())
    ]


@pytest.mark.parametrize(
    ("given", "others", "expected"),
    [
        # Mostly known tags are kept.
        ("the/DT saw/NN zz/Q", "the/DET saw/VERB zz/X", ["DT", "NN", "Q"]),
        # By word and universal tag; a new word by that tag alone; a word without one has none.
        ("the/RD saw/V dog/S", "the/DET saw/VERB dog/NOUN", ["DT", "VBD", "NN"]),
        ("a/RD saw/S cat/S", "a/DET saw/NOUN cat/NOUN", ["DT", "NN", "NN"]),
        ("purrs/V", "purrs/VERB", ["VBZ"]),
        ("The/RD zz/S", "The/DET zz/PROPN", ["DT", None]),
        # Universal tags in place of those of the counts.
        ("the/DET saw/VERB", "the/DET saw/VERB", ["DT", "VBD"]),
        # Nothing in common but words.
        ("the/RD saw/V", "the/ saw/", [None, None]),
        ("the/RD saw/V", "the/Q saw/Q", [None, None]),
    ],
)
def test_what_both_have_is_used(store: Store, given: str, others: str, expected: list[str | None]) -> None:
    plan = Search().plan(store, "pets")
    assert plan.treebank

    (found,), told = with_known_tags(store, plan.treebank.corpora, "xpos", [units(given)], [units(others)])

    assert tags(list(found)) == [(tag,) if tag else () for tag in expected]
    assert bool(told) == (given != "the/DT saw/NN zz/Q")


def test_it_is_said_and_trees_are_made(
    store: Store, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """`regenerate` and experiments note it, and trees are those of known tags."""
    path = tmp_path / "b.conllu"
    path.write_text(conllu(["the/DET/RD dog/NOUN/S saw/VERB/V"]))
    request = OrderingRequest(bag="", model="pets", algorithm="cle", tree=True, units="word")

    found = request.answer(store, lambda notation: notation.read(str(path)))

    (said,) = [note for note in notes(found) if "another set" in note]
    assert said == (
        "the tags here (RD, S, V) are of another set than the xpos of the dependency counts;"
        " each word got the one that it has beside its upos"
    )
    sentence = Sentence(
        ["the", "dog", "saw"], upos=["DET", "NOUN", "VERB"], xpos=["RD", "S", "V"], heads=[2, 3, 0]
    )
    search = Search(units="word")
    with caplog.at_level(logging.WARNING):
        (case,) = cases_of(store, found.plan.model, [sentence], search, search.plan(store, "pets"))
    assert [unit.tags for unit in case.units] == [("DT",), ("NN",), ("VBD",)]
    assert said in caplog.text
