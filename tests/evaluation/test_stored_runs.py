"""Systems of recorded runs are compared by their sentences, which must be the same."""

from __future__ import annotations

import pytest
import toy_store

from sentgen.corpus.sentence import Sentence
from sentgen.errors import InputError, NotFoundError
from sentgen.evaluation import evaluate_regeneration
from sentgen.evaluation.figures.results import Recorder, RunResult
from sentgen.evaluation.regeneration.stored_runs import compare_runs
from sentgen.schema import Store
from sentgen.schema.store import raw

Toy = tuple[Store, toy_store.ToyModel]
TEST = [
    Sentence(["a", "dog", "barks", "."]),
    Sentence(["the", "cat", "sees", "a", "mat", "."]),
    Sentence(["barks"]),
]


def test_systems_of_two_runs(toy: Toy) -> None:
    """The figures and the tests are those of one run with both systems."""
    together = evaluate_regeneration(*toy, TEST, ["greedy", "lmo"])
    one, other = (evaluate_regeneration(*toy, TEST, [name]) for name in ("greedy", "lmo"))
    found = compare_runs(toy[0], [str(one.run_id), f"{other.run_id}:lmo"])
    names = [f"{one.run_id}:greedy", f"{other.run_id}:lmo"]

    assert [system.system for system in found.systems] == names
    for mine, its in zip(found.systems, together.systems, strict=True):
        assert mine.outputs == its.outputs
        assert mine.value("bleu-lc-none") == its.value("bleu-lc-none")
        assert mine.intervals["chrf"] == its.intervals["chrf"]
    (pair,), (wanted,) = found.comparisons, together.comparisons
    assert (pair.sign_p, pair.shuffle_p, pair.pluses) == (wanted.sign_p, wanted.shuffle_p, wanted.pluses)
    with toy[0].connect() as connection:
        query = f"select command, systems, scores > 50 from v_runs where run = {found.run_id}"
        assert raw(connection).execute(query).fetchall() == [("evaluate compare", 3, True)]


def test_what_cannot_be_compared(toy: Toy) -> None:
    """Different sentences, unknown runs or systems, one system, and runs of other commands are refused."""
    store, _ = toy
    for test in (TEST, TEST[:2], [TEST[0], TEST[2]]):
        evaluate_regeneration(*toy, test, ["lmo"])
    evaluated = RunResult(parameters={})
    Recorder(store, "evaluate alignment").record(evaluated)

    for runs, error, message in (
        (["1", "2"], InputError, "1:lmo and 2:lmo are not over the same sentences: 3 and 2, from sentence 3"),
        (["2", "3"], InputError, "2 and 2, from sentence 2 on others"),
        (["1", "1:lmo"], InputError, "one system compares with nothing"),
        (["1", "7"], NotFoundError, "no run 7"),
        (["1:beam", "2"], NotFoundError, "run 1 has no system 'beam'; it has: lmo"),
        (["one", "2"], InputError, "not written NUMBER or NUMBER:SYSTEM"),
        (["1", "4"], InputError, "run 4 is one of evaluate alignment"),
    ):
        with pytest.raises(error, match=message):
            compare_runs(store, runs)
