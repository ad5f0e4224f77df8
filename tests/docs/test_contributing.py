"""CONTRIBUTING.md says how to extend sentgen: these tests add one of each kind, only as it says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Annotated

import pytest

from sentgen.alignment import Pair
from sentgen.alignment.phrase_hmm.pbhmm import PhraseHmm
from sentgen.alignment.phrase_hmm.settings import PRESETS, PbhmmSettings, Share
from sentgen.alignment.words import kinship
from sentgen.corpus import formats, readers
from sentgen.evaluation.regeneration.cases import read_test_set
from sentgen.options import Option
from sentgen.output.tabular import Rows
from sentgen.server import operations, routes
from sentgen.server.operations.operation import Context, Operation, Result
from sentgen.server.settings import ServerSettings

ROOT = Path(__file__).parents[2]


def test_the_files_that_are_named_exist() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text().partition("## Add something")[2].partition("\n## ")[0]
    named = re.findall(r"`((?:sentgen|tests|docs)/[\w/.]+)`", page)

    assert len(named) > 10
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_name_of_a_class_means_one_thing() -> None:
    modules = (path for room in ("sentgen", "schema", "migrations") for path in (ROOT / room).rglob("*.py"))
    names = Counter(
        name for path in modules for name in re.findall(r"^class ([A-Z]\w*)", path.read_text("utf-8"), re.M)
    )

    assert {name for name, number in names.items() if number > 1} == set()


#: An algorithm with a setting of its own, in one file.
BACKWARDS = '''
from dataclasses import dataclass
from typing import Annotated

from sentgen.generation.bags.problem import Algorithm, Ordering, Problem, Setting


@dataclass(frozen=True, slots=True)
class BackwardsSettings:
    """Where it ends."""

    first: Annotated[int, Setting("Units that stay in front.", least=0, most=9)] = 0


def order_units(problem: Problem, nbest: int = 1) -> list[Ordering]:
    first = problem.settings.of(BackwardsSettings).first
    units = range(problem.size)
    return [Ordering((*units[:first], *reversed(units[first:])), float(first))]


def value(problem: Problem, units: tuple[int, ...], heads: tuple[int, ...] | None) -> float | None:
    return None


ALGORITHMS = (
    Algorithm(
        "backwards", "from the end", order_units, value,
        settings=(BackwardsSettings,), defaults={"first": 1}, published={"2007": {"first": 2}},
    ),
)
'''

#: Uses of the algorithm: in Python, in an experiment, over HTTP, on the command line.
USE_BACKWARDS = """
import sys
import toy_store
from sentgen.cli import main
from sentgen.corpus.sentence import Sentence
from sentgen.server.settings import ServerSettings
from sentgen.evaluation import evaluate_regeneration
from sentgen.generation import parse_bag, regenerate
from sentgen.options import parameters_of
from sentgen.schema import Store
from sentgen.server.operations import operations

with Store("toy.duckdb", create=True) as store:
    toy = store, toy_store.fill(store, toy_store.backoff_model(toy_store.SENTENCES, 4))
    for asked in {}, {"changes": {"first": 3}}, {"as_published": "2007"}:
        (found,) = regenerate(*toy, [parse_bag("the dog barks")], algorithm="backwards", **asked)
        print("stay", found.score, *sorted(found.words))
    result = evaluate_regeneration(*toy, [Sentence(["a", "dog", "barks"])], ["lmo", "backwards:first=0"])
    print("recorded", *(one["first"] for one in result.parameters["systems"].values()))
declared = parameters_of(operations("compute")["regenerate"].declaration)
(first,) = (one for one in declared if one.name == "first")
print("served", first.option.help)
sys.argv = ["sentgen", "regenerate", "--help"]
main()
"""


@pytest.mark.nightly
def test_algorithm(tmp_path: Path) -> None:
    """An algorithm is a file and a row of the table; its setting is an option, a parameter, and recorded.

    Help has it when `docs/generate_reference.py` has run.
    """
    unfinished = shutil.ignore_patterns("*.tmp.*", "*.pyc*")  # else with what is compiled there
    for room in ("sentgen", "schema", "migrations", "docs"):
        shutil.copytree(ROOT / room, tmp_path / room, ignore=unfinished)
    (tmp_path / "sentgen/generation/ngrams/backwards.py").write_text(BACKWARDS)
    table = tmp_path / "sentgen/generation/algorithms.py"
    text = table.read_text()
    for before, row in (
        ("from sentgen.generation.ngrams import ", "backwards, "),
        ("for module in (", "backwards, "),
    ):
        assert text.count(before) == 1
        text = text.replace(before, before + row)
    table.write_text(text)

    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}:{ROOT / 'tests'}", "COLUMNS": "200"}
    subprocess.run([sys.executable, "docs/generate_reference.py"], cwd=tmp_path, env=environment, check=True)
    done = subprocess.run(
        [sys.executable, "-c", USE_BACKWARDS], cwd=tmp_path, env=environment, capture_output=True, text=True
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[:5] == [
        "stay 1.0 barks dog the",
        "stay 3.0 barks dog the",
        "stay 2.0 barks dog the",
        "recorded 0 0",
        "served Units that stay in front.",
    ]
    assert re.search(r"--first +<int range> +\[0<=x<=9\] +Units that stay in front", done.stdout)


#: A format of one word a line, a sentence a blank line, in capitals.
CAPITALS = """
from sentgen.corpus.reader import Reader
from sentgen.corpus.sentence import Sentence


def read(lines, *, path):
    for block in "\\n".join(lines).split("\\n\\n"):
        yield Sentence(block.lower().split(), line=1)


READER = Reader("capitals", "1", read, "one word a line, in capitals", (".capitals",))
"""


def test_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader needs its own file only."""
    (tmp_path / "capitals.py").write_text(CAPITALS)
    monkeypatch.setattr(readers, "__path__", [*readers.__path__, str(tmp_path)])
    reader = formats._built_in_readers()["capitals"]
    monkeypatch.delitem(sys.modules, "sentgen.corpus.readers.capitals")
    monkeypatch.setitem(formats.READERS, reader.name, reader)
    monkeypatch.setitem(formats._BY_EXTENSION, ".capitals", reader.name)
    path = tmp_path / "two.capitals"
    path.write_text("A\nDOG\n\nBARKS\n")

    assert [one.forms for one in read_test_set(str(path))] == [["a", "dog"], ["barks"]]


def test_feature_of_the_aligner(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new kind of kinship, with its setting: words that are each other spelled backwards."""
    pair = Pair("1", ["dark", "rooms", "then", "sad", "mood"], ["dark", "doom"])

    @dataclass(frozen=True)
    class Settings(PbhmmSettings):
        mirrored: Share = 0.0

        @property
        def kinship_values(self) -> tuple[float, ...]:
            return *PbhmmSettings.kinship_values.fget(self), self.mirrored  # type: ignore[attr-defined]

    related = kinship.Kinship.between

    def with_mirrors(abstract: list[str], document: list[str], **more: object) -> kinship.Kinship:
        found = related(abstract, document, **more)  # type: ignore[arg-type]
        for i, word in enumerate(abstract):
            for j, other in enumerate(document):
                if len(word) > 1 and word == other[::-1]:
                    found.kinds[i, j] = kinship.SIMILAR + 1
        return found

    monkeypatch.setattr(kinship.Kinship, "between", staticmethod(with_mirrors))
    best = {name: getattr(PRESETS["best"], name) for name in PbhmmSettings.__dataclass_fields__}
    plain, mirrored = Settings(**best), Settings(**best, mirrored=0.9)
    (without,), (found,) = (
        replace(PhraseHmm.untrained("best"), settings=settings).align([pair])
        for settings in (plain, mirrored)
    )

    assert (4, 1) not in without.links
    assert (4, 1) in found.links


def test_operation(monkeypatch: pytest.MonkeyPatch) -> None:
    """An operation belongs to its workers, and has a route with its parameters."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Word:
        """A word."""

        word: Annotated[str, Option("The word.")]

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
        assert "/v1/shout" in {route.path for route in routes.router(ServerSettings(Path("none"))).routes}  # type: ignore[attr-defined]
    finally:
        operations.operations.cache_clear()
