"""The steps that a tree search tells of: they give the tree that its compiled code finds, and what was compared."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy_problems import problem_of, problems

from sentgen.counts.ingestion import Settings, ingest
from sentgen.generation import SearchSettings
from sentgen.generation.answers import STEP_COLUMNS, OrderingRequest
from sentgen.generation.bags.problem import RIGHT, ROOT, SearchStep
from sentgen.generation.trees import assignment, prim
from sentgen.generation.trees.assignment import AssignmentSettings, Padding, Positions
from sentgen.generation.trees.prim import THEFTS, Theft, TheftSettings
from sentgen.generation.trees.trees import Attachments, ConstraintSettings, RootSettings, edge_weights
from sentgen.models import build
from sentgen.schema import Store

_JOINS = {"attached", "cheapest", "forced"}


def check(steps: list[SearchStep], tree: Attachments) -> None:
    """The edges that join are those of the tree, each once, with its weight; all others are only compared."""
    joined = {step.modifier: step for step in steps if step.event in _JOINS}

    assert sum(step.event in _JOINS for step in steps) == len(tree.heads)
    for unit, edge in enumerate(zip(*(column.tolist() for column in tree), strict=True)):
        step = joined[unit]
        assert (step.head, step.side, step.earlier, step.weight) == edge
    assert [step.step for step in steps] == sorted(step.step for step in steps)


CONSTRAINED = st.builds(ConstraintSettings, st.booleans(), st.booleans())


@pytest.mark.parametrize("theft", THEFTS)
@given(data=st.data(), constraints=CONSTRAINED, one_root=st.booleans())
def test_prim(theft: Theft, data: st.DataObject, constraints: ConstraintSettings, one_root: bool) -> None:
    """With arguments and without, any bag; a unit joins from the head for which it waited last."""
    problem = data.draw(problems(TheftSettings(theft), RootSettings(one_root), constraints))
    edges = edge_weights(problem)
    check(prim.steps(problem), prim.search(problem, edges))
    steps = prim.steps_with_arguments(problem)
    check(steps, prim.search_with_arguments(problem, edges))

    waits = dict.fromkeys(range(problem.size), ROOT)
    for step in steps:
        if step.event == "moved":
            assert step.rival == waits[step.modifier]
            waits[step.modifier] = step.head
        else:
            rival = step.rival if step.event == "kept" else step.head
            assert rival == waits[step.modifier]
        if step.event == "kept":
            assert step.rival_weight is not None
            assert step.weight <= step.rival_weight < step.logp


@pytest.mark.parametrize("padding", ["free", "literal"])
@pytest.mark.parametrize("q", ["paper", "learned"])
@given(data=st.data(), constraints=CONSTRAINED)
def test_ab(padding: Padding, q: Positions, data: st.DataObject, constraints: ConstraintSettings) -> None:
    """Any bag and price; a position is told once a round, and an empty one had a price or a better use."""
    cost = data.draw(st.sampled_from([0.0, 1.0, 4.0]))
    problem = data.draw(problems(AssignmentSettings(q, padding, cost), constraints))
    steps = assignment.steps(problem)

    check(steps, assignment.search(problem, edge_weights(problem)))
    assert len({(step.step, step.head, step.side) for step in steps}) == len(steps)
    if padding == "free":
        assert all(-step.weight < cost for step in steps if step.event == "attached" and step.step > 1)


def test_a_theft_by_hand() -> None:
    """`saw`(0) wants two on its right: `with`(1) would take `dog`(2), which is better there, and may not.

    p_arg of `saw` is 0.1 for one and 0.9 for two modifiers on its right. `with` has joined, one other unit
    waits for it, none beside `dog`: `saw` is satisfied without it with p_arg(0) + p_arg(1) = 0.1, and
    -2 + log 0.1 = -4.3 is less than -3 + log 0.9 = -3.1, which the edge to `saw` is worth now.
    """
    prob = np.full((4, 3, 2), -20.0)
    prob[0, 0, RIGHT], prob[1, 1, RIGHT], prob[1, 2, RIGHT], prob[2, 2, RIGHT] = -1, -1, -3, -2
    arguments = np.ones((4, 2, 8))
    arguments[1, RIGHT] = [0, 0.1, 0.9, *[0] * 5]
    settings = SearchSettings((RootSettings(one_root=False), TheftSettings("sum")))
    problem = problem_of(prob, arguments=arguments, tags="vpx", settings=settings)
    steps = prim.steps_with_arguments(problem)

    (kept,) = (step for step in steps if step.event == "kept")
    assert (kept.step, kept.modifier, kept.head, kept.rival) == (2, 2, 1, 0)
    assert (kept.logp, kept.weight) == (-2, pytest.approx(-2 + np.log(0.1)))
    assert kept.rival_weight == pytest.approx(-3 + np.log(0.9))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, empty_store: Path) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("steps")
    rows = (
        *("1\tthe\t_\tDET\tDT\t_\t2\tdet", "2\tdog\t_\tNOUN\tNN\t_\t3\tnsubj"),
        *(
            "3\tsaw\t_\tVERB\tVB\t_\t0\troot",
            "4\tthe\t_\tDET\tDT\t_\t5\tdet",
            "5\tcat\t_\tNOUN\tNN\t_\t3\tobj",
        ),
    )
    (folder / "a.conllu").write_text(("".join(f"{row}\t_\t_\n" for row in rows) + "\n") * 2)
    (folder / "s.duckdb").write_bytes(empty_store.read_bytes())
    with Store(folder / "s.duckdb") as opened:
        ingest(opened, [str(folder / "a.conllu")], Settings("pets", order=2))
        build(opened, "pets", ["pets"], order=2)
        yield opened


@pytest.mark.parametrize("algorithm", ["ab", "prim", "prim-arg"])
def test_steps_stand_beside_the_reasons(store: Store, algorithm: str) -> None:
    """Each attachment has the steps that were about it, and one in which it joined, with its own weight.

    The words are given without tags, and one of them twice, so that ties of the search must be broken alike.
    """
    asked = OrderingRequest(
        bag=["the dog saw the cat"], model="pets", algorithm=algorithm, units="word", explain=True, nbest=2
    )
    found = asked.answer(store, lambda notation: [notation.bag(asked.bag[0])])
    table = found.reason_table()
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    shown, others = found.step_tables()

    for row in rows[:5]:
        (joined,) = (step for step in row["steps"] if step["event"] in _JOINS)
        assert {name: row[name] for name in ("head", "side", "earlier", "weight")} == {
            name: joined[name] for name in ("head", "side", "earlier", "weight")
        }
    assert sum(len(row["steps"]) for row in rows[:5]) == len(shown)
    assert all(len(row) == len(STEP_COLUMNS) for row in shown)
    # The second sentence comes from a search without an edge of the first.
    assert [row["steps"] for row in rows[5:]] == [[]] * 5
    assert others == []
