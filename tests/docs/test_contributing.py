"""CONTRIBUTING.md says how to add things: one of each is added here, by no more than it names."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType

import pytest
import toy_store

from sentgen.alignment import Pair
from sentgen.alignment.phrase_hmm import lexicon
from sentgen.alignment.phrase_hmm.pbhmm import untrained
from sentgen.alignment.phrase_hmm.settings import PRESETS, PbhmmSettings, Share
from sentgen.alignment.words import kinship
from sentgen.corpus import formats
from sentgen.corpus.reader import Reader
from sentgen.corpus.sentence import Sentence
from sentgen.evaluation import evaluate_regeneration
from sentgen.evaluation.testset import read_test_set
from sentgen.generation import ALGORITHMS, Algorithm, Problem, parse_bag, regenerate
from sentgen.generation.problem import Ordering
from sentgen.schema import Store
from sentgen.server import operations, routes
from sentgen.server.operations.operation import Context, Operation, Parameters, Result
from sentgen.tabular import Rows

ROOT = Path(__file__).parents[2]


def test_the_files_that_are_named_exist() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text().partition("## Add something")[2].partition("\n## ")[0]
    named = re.findall(r"`((?:sentgen|tests|docs)/[\w/.]+)`", page)

    assert len(named) > 10
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_algorithm(toy: tuple[Store, toy_store.ToyModel], monkeypatch: pytest.MonkeyPatch) -> None:
    """It orders bags backwards by their first letters, and is measured beside the others."""

    def order_units(problem: Problem, nbest: int = 1) -> list[Ordering]:
        return [Ordering(tuple(reversed(range(problem.size))), 0.0)]

    def value(problem: Problem, units: tuple[int, ...], heads: tuple[int, ...] | None) -> float | None:
        return None

    monkeypatch.setitem(ALGORITHMS, "backwards", Algorithm("backwards", "from the end", order_units, value))

    (found,) = regenerate(*toy, [parse_bag("the dog barks")], algorithm="backwards")
    assert sorted(found.words) == ["barks", "dog", "the"]
    result = evaluate_regeneration(*toy, [Sentence(["a", "dog", "barks"])], ["lmo", "backwards"])
    assert [system.system for system in result.systems] == ["lmo", "backwards"]


def test_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A format of one word a line, a sentence a blank line, in capitals."""

    def read(lines: Iterator[str], *, path: str) -> Iterator[Sentence]:
        for block in "\n".join(lines).split("\n\n"):
            yield Sentence(block.lower().split(), line=1)

    reader = Reader("capitals", "1", read, "one word a line, in capitals", (".capitals",))
    monkeypatch.setitem(formats.READERS, reader.name, reader)
    monkeypatch.setitem(formats._BY_EXTENSION, ".capitals", reader.name)
    path = tmp_path / "two.capitals"
    path.write_text("A\nDOG\n\nBARKS\n")

    assert [one.forms for one in read_test_set(str(path))] == [["a", "dog"], ["barks"]]


def test_feature_of_the_aligner(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kind of kinship of its own, and what it is worth: words that are each other backwards."""
    pair = Pair("1", ["dark", "rooms", "then", "sad", "mood"], ["dark", "doom"])

    @dataclass(frozen=True)
    class Settings(PbhmmSettings):
        mirrored: Share = 0.0

        @property
        def akin(self) -> tuple[float, ...]:
            return *PbhmmSettings.akin.fget(self), self.mirrored  # type: ignore[attr-defined]

    def with_mirrors(abstract: list[str], document: list[str], **more: object) -> kinship.Kinship:
        found = kinship.kinship(abstract, document, **more)  # type: ignore[arg-type]
        for i, word in enumerate(abstract):
            for j, other in enumerate(document):
                if len(word) > 1 and word == other[::-1]:
                    found.kinds[i, j] = 5
        return found

    monkeypatch.setattr(lexicon, "kinship", with_mirrors)
    best = {name: getattr(PRESETS["best"], name) for name in PbhmmSettings.__dataclass_fields__}
    plain, mirrored = Settings(**best), Settings(**best, mirrored=0.9)
    (without,), (found,) = (
        replace(untrained("best"), settings=settings).align([pair]) for settings in (plain, mirrored)
    )

    assert (4, 1) not in without.links
    assert (4, 1) in found.links


def test_operation(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is among the operations of its workers, and has a route with its parameters."""

    class Word(Parameters):
        """A word."""

        word: str

    def shout(context: Context, asked: Word) -> Result:
        return Result(Rows(["word"], [(asked.word.upper(),)]))

    module = ModuleType("sentgen.server.operations.shout")
    module.OPERATIONS = (Operation("shout", "A word in capitals.", "freq", Word, shout),)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    table = {kind: names + ("shout",) * (kind == "lookup") for kind, names in operations._MODULES.items()}
    monkeypatch.setattr(operations, "_MODULES", table)
    operations.operations.cache_clear()
    try:
        assert "shout" in operations.operations("lookup")
        assert "/v1/shout" in {route.path for route in routes.router().routes}  # type: ignore[attr-defined]
    finally:
        operations.operations.cache_clear()
