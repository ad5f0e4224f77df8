"""CPU time of joint decoding for bags of 20 and of 60 units, beside beam with features and beam alone.

The bags are EWT dev: sentences of 20 units, and of the others as many as make 60 units together.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from harness import OUT, SENTGEN, data, fresh, measure, show

from sentgen.corpus.sentence import Sentence
from sentgen.evaluation.regeneration.cases import read_test_set
from sentgen.evaluation.regeneration.experiment import cases_of
from sentgen.generation import Search, prepare
from sentgen.generation.bags.bag import Unit
from sentgen.generation.regenerate import solve
from sentgen.models.base import registry
from sentgen.schema import Store

SYSTEMS = ("beam", "beam:features=auto", "joint")
BAGS = {20: 30, 60: 10}


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    path = fresh("joint")
    _run(
        "ingest", str(data("ud/en_ewt-ud-train.conllu")), "--corpus", "ewt", "--order", "5", "--db", str(path)
    )
    build = ("models", "build", "--corpus", "ewt", "--order", "5", "--db", str(path))
    _run(*build, "ewt", "--unknown", "tag", "--brackets")
    for over in ("tags", "classes", "items"):
        _run(*build, f"ewt-{over}", "--over", over)
    sentences = list(read_test_set(str(data("ud/en_ewt-ud-dev.conllu"))))
    rows: list[tuple[object, ...]] = []
    with Store(path, read_only=True) as store:
        for size, count in BAGS.items():
            bags = _bags(store, sentences, size)[:count]
            first = 0.0
            for system in SYSTEMS:
                lookup, search = times(store, "ewt", system, bags)
                first = first or lookup + search
                rows.append((size, len(bags), system, lookup, search, (lookup + search) / first))
    columns = ("units", "bags", "system", "look-up, CPU ms", "search, CPU ms", "times beam")
    show("joint decoding, CPU ms a bag", columns, rows)


def _bags(store: Store, sentences: Sequence[Sentence], size: int) -> list[tuple[Unit, ...]]:
    """Return bags of so many units: sentences that have as many, or several ones together."""
    every = bags_of(store, "ewt", sentences)
    exact = [bag for bag in every if len(bag) == size]
    if len(exact) >= BAGS[size]:
        return exact
    units = [unit for bag in every for unit in bag]
    return [tuple(units[i : i + size]) for i in range(0, len(units) - size, size)]


def bags_of(store: Store, model: str, sentences: Iterable[Sentence]) -> list[tuple[Unit, ...]]:
    """Return sentences as bags of the units that a model's corpora have."""
    search = Search(algorithm="joint")
    found, plan = registry.find(store, model), search.plan(store, model)
    return [case.units for case in cases_of(store, found, sentences, search, plan)]


def times(store: Store, model: str, system: str, bags: Sequence[Sequence[Unit]]) -> tuple[float, float]:
    """Return the milliseconds of looking up and of searching, a bag; machine code is there already."""
    plan = Search(algorithm=system).plan(store, model)
    for batch in prepare(store, plan, bags[:1]):
        list(solve(batch[0], plan))
    started = time.process_time()
    batches = list(prepare(store, plan, bags))
    between = time.process_time()
    for batch in batches:
        for one in batch:
            list(solve(one, plan))
    ended = time.process_time()
    return 1000 * (between - started) / len(bags), 1000 * (ended - between) / len(bags)


def _run(*arguments: str) -> None:
    measure([SENTGEN, *arguments])


if __name__ == "__main__":
    main()
