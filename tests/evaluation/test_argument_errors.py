"""Theft, greed and shortage of arguments: by hand, as in section 4.1 of Wan et al. 2007, and in a run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stored import rows

from sentgen.corpus.sentence import Sentence
from sentgen.counts.ingestion import Settings, ingest
from sentgen.evaluation import evaluate_regeneration
from sentgen.evaluation.regeneration.measures import ArgumentErrors, argument_errors
from sentgen.evaluation.regeneration.report import RegenerationReport
from sentgen.generation.bags.problem import LEFT, RIGHT, ROOT, TreeModel
from sentgen.models import build
from sentgen.models.base.registry import find
from sentgen.schema import Store

# cats(0) sleep(1) on(2) mats(3) now(4)
GOLD = ([1, ROOT, 1, 2, 1], [LEFT, RIGHT, RIGHT, RIGHT, RIGHT])


def model(size: int = 5, **numbers: list[float]) -> TreeModel:
    """Return p_arg of units and sides such as `u2r`, from 0 modifiers on; of others all are equally usual."""
    arguments = np.full((size + 1, 2, 8), 1 / 8)
    for name, seen in numbers.items():
        arguments[int(name[1:-1]) + 1, RIGHT if name[-1] == "r" else LEFT] = np.pad(seen, (0, 8 - len(seen)))
    flags = np.zeros(size, np.bool_)
    return TreeModel(np.zeros((size + 1, size, 2)), arguments, flags, flags, flags)


def errors(heads: list[int], sides: list[int], found: TreeModel, kinds: str = "abcde") -> ArgumentErrors:
    return argument_errors(heads, sides, *GOLD, [ord(kind) for kind in kinds], found)


def test_the_cases_of_the_paper() -> None:
    """`on` has the subject of `sleep` as a second modifier: theft and greed, and a shortage of `sleep`."""
    stolen = [2, ROOT, 1, 2, 1], [RIGHT, RIGHT, RIGHT, RIGHT, RIGHT]

    assert errors(*stolen, model()) == ArgumentErrors(theft=1)
    takes_one = {"u2r": [0.1, 0.9], "u1l": [0.04, 0.96]}
    assert errors(*stolen, model(**takes_one)) == ArgumentErrors(theft=1, greed=1, shortage=1)
    # 0.06 of the occurrences have two or more, and 0.05 none: neither is unusual.
    usual = {"u2r": [0.1, 0.84, 0.04, 0.02], "u1l": [0.05, 0.95]}
    assert errors(*stolen, model(**usual)) == ArgumentErrors(theft=1)


def test_what_is_replaced_is_no_theft() -> None:
    """`mats` and `now` are exchanged: both heads are wrong, but have the right number of modifiers."""
    assert errors([1, ROOT, 1, 1, 2], GOLD[1], model(u2r=[0, 1])) == ArgumentErrors()


def test_a_leaf_that_should_have_an_argument() -> None:
    """`on` is last and has no modifier, which is a shortage, and `sleep` has three on its right."""
    assert errors([1, ROOT, 1, 1, 1], GOLD[1], model(u2r=[0, 1])) == ArgumentErrors(theft=1, shortage=1)


def test_two_roots() -> None:
    """The root is a head, which always has one modifier in the counts."""
    found = model()
    found.arguments[0, RIGHT] = np.eye(8)[1]

    assert errors([1, ROOT, 1, 2, ROOT], GOLD[1], found) == ArgumentErrors(theft=1, greed=1)


def test_equal_units_are_interchangeable_heads() -> None:
    """With two equal prepositions, `mats` may hang on either."""
    gold = [3, 0, 3, ROOT], [RIGHT, RIGHT, LEFT, RIGHT]  # in(0) mats(1) in(2) sleep(3)
    other = [3, 2, 3, ROOT]

    assert argument_errors(other, gold[1], *gold, [0, 1, 0, 2], model(4)) == ArgumentErrors()
    assert argument_errors(other, gold[1], *gold, [0, 1, 3, 2], model(4)) == ArgumentErrors(theft=1)


@given(st.integers(0, 2**32 - 1), st.integers(1, 6))
def test_the_gold_tree_has_none_and_units_bound_thefts(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    arguments = rng.dirichlet(np.full(8, 0.3), (size + 1, 2))
    gold = rng.integers(-1, size, size).tolist(), rng.integers(0, 2, size).tolist()
    other = rng.integers(-1, size, size).tolist(), rng.integers(0, 2, size).tolist()
    found, kinds = replace(model(size), arguments=arguments), list(range(size))

    assert argument_errors(*gold, *gold, kinds, found) == ArgumentErrors()
    made = argument_errors(*other, *gold, kinds, found)
    assert made.theft <= size
    assert made.greed <= size
    assert made.shortage <= size


ROWS = (
    *("1\tthe\t_\tDET\tDT\t_\t2\tdet", "2\tdog\t_\tNOUN\tNN\t_\t3\tnsubj", "3\tsaw\t_\tVERB\tVB\t_\t0\troot"),
    *("4\tthe\t_\tDET\tDT\t_\t5\tdet", "5\tcat\t_\tNOUN\tNN\t_\t3\tobj"),
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, empty_store: Path) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("errors")
    (folder / "a.conllu").write_text(("".join(f"{row}\t_\t_\n" for row in ROWS) + "\n") * 2)
    (folder / "s.duckdb").write_bytes(empty_store.read_bytes())
    with Store(folder / "s.duckdb") as opened:
        ingest(opened, [str(folder / "a.conllu")], Settings("pets", order=2))
        build(opened, "pets", ["pets"], order=2)
        yield opened


def test_a_run_has_them_of_systems_with_trees(store: Store) -> None:
    """Argument errors are recorded, and have a table of their own, of the systems that build trees.

    *saw* hangs on *dog* in the gold tree, and *dog* on *saw* in that of the system: *dog* lost it, while the
    root still has one.
    """
    test = Sentence(["dog", "saw"], upos=["NOUN", "VERB"], xpos=["NN", "VB"], heads=[0, 1])
    result = evaluate_regeneration(store, find(store, "pets"), [test], ["lmo", "ab"])
    lmo, system = result.systems

    assert {"theft", "greed", "shortage"}.isdisjoint(lmo.measurements)
    assert (system.value("theft"), system.value("greed"), system.value("shortage")) == (0.5, 0, 0)
    assert RegenerationReport(result).arguments().rows == [["ab", "1 (50.0%)", "0 (0.0%)", "0 (0.0%)", "2"]]
    assert RegenerationReport(result).arguments() in RegenerationReport(result).report().markdown_parts
    query = "select value from score where system = 'ab' and metric = 'theft' and item is null"
    assert rows(store, query) == [(0.5,)]
