"""Let systems answer test cases: look up in batches, search and measure in threads.

The searches are machine code that runs without the interpreter's lock, so that threads share the cores; what
is left for the interpreter (looking up, measuring) is done while they search.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np

from sentgen.arrays import Floats
from sentgen.evaluation.regeneration.cases import Case
from sentgen.evaluation.regeneration.measures import statistics
from sentgen.evaluation.regeneration.systems import System
from sentgen.generation import Prepared, Regenerated, Treebank, prepare
from sentgen.generation.regenerate import check_sizes, solve
from sentgen.models.submodel import ModelLike
from sentgen.schema import Store

#: Sentences that one thread takes at a time.
_PART = 25

#: Called with the number of sentences ordered so far, over all systems, and of those to order.
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class SystemAnswers:
    """The answers of one system, and by metric what its figures sum, a row an answer."""

    answers: Sequence[Regenerated]
    statistics: Mapping[str, Floats]


def answer_all(
    store: Store,
    model: ModelLike,
    cases: Sequence[Case],
    systems: Sequence[System],
    treebanks: Mapping[str, Treebank | None],
    *,
    seed: int,
    jobs: int,
    progress: Progress | None = None,
) -> dict[str, SystemAnswers]:
    """Return the best answer of every system to every case, in the order of the cases, and measure them.

    Systems that look up the same things share the look-ups. Each system answers the first case once before,
    so that no sentence pays for compiling.

    Args:
        store: where the model lives.
        model: the language model.
        cases: the test set; words are looked up as they stand in it.
        systems: with different names.
        treebanks: of each system the dependency counts, if it needs them.
        seed: of the shuffle.
        jobs: threads that search; this thread looks up the next batch meanwhile.
        progress: called when some more sentences are done.

    Raises:
        InputError: a bag is too large for an algorithm.
    """
    bags = [case.gold.units for case in cases]
    for system in systems:
        check_sizes(bags, system.algorithm)
    parts: dict[str, list[SystemAnswers]] = {system.name: [] for system in systems}
    done, total = 0, len(cases) * len(systems)
    for group in _alike(systems, treebanks):
        run = partial(_answered, store, model, systems=group, treebank=treebanks[group[0].name], seed=seed)
        list(run(cases[:1], jobs=1))
        for part in run(cases, jobs=jobs):
            for system, found in zip(group, part, strict=True):
                parts[system.name].append(found)
                done += len(found.answers)
            if progress is not None:
                progress(done, total)
    return {name: _joined(found) for name, found in parts.items()}


def _alike(systems: Sequence[System], treebanks: Mapping[str, Treebank | None]) -> list[list[System]]:
    """Group the systems that look up the same: words or units, trees or none, n-grams of one order."""
    groups: dict[object, list[System]] = {}
    for system in systems:
        key = (system.algorithm.words, treebanks[system.name], system.settings.order)
        groups.setdefault(key, []).append(system)
    return list(groups.values())


def _answered(
    store: Store,
    model: ModelLike,
    cases: Sequence[Case],
    *,
    systems: Sequence[System],
    treebank: Treebank | None,
    seed: int,
    jobs: int,
) -> Iterator[list[SystemAnswers]]:
    """Yield what systems that look up the same answer to part after part of the cases, a value a system."""
    batches = prepare(
        store,
        model,
        [case.gold.units for case in cases],
        settings=systems[0].settings,
        seed=seed,
        lowercase=False,
        treebank=treebank,
        words=systems[0].algorithm.words,
    )
    return _in_order(batches, partial(_answer_part, systems, cases), jobs)


def _answer_part(
    systems: Sequence[System], cases: Sequence[Case], part: Sequence[Prepared]
) -> list[SystemAnswers]:
    mine = [cases[prepared.item - 1] for prepared in part]
    found = []
    for system in systems:
        answers = [
            next(solve(prepared, system.algorithm, system.settings, gold=case.gold))
            for prepared, case in zip(part, mine, strict=True)
        ]
        found.append(SystemAnswers(answers, statistics(answers, mine)))
    return found


def _in_order(
    batches: Iterable[Sequence[Prepared]],
    work: Callable[[Sequence[Prepared]], list[SystemAnswers]],
    jobs: int,
) -> Iterator[list[SystemAnswers]]:
    """Work on each part of each batch, in order; a batch is looked up while the one before is worked on."""
    split = ([batch[i : i + _PART] for i in range(0, len(batch), _PART)] for batch in batches)
    if jobs == 1:
        yield from (work(part) for parts in split for part in parts)
        return
    pool = ThreadPoolExecutor(jobs)
    waiting: deque[list[Future[list[SystemAnswers]]]] = deque()
    try:
        for parts in split:
            waiting.append([pool.submit(work, part) for part in parts])
            if len(waiting) > 1:
                yield from (future.result() for future in waiting.popleft())
        yield from (future.result() for futures in waiting for future in futures)
    finally:
        pool.shutdown(cancel_futures=True)


def _joined(parts: Sequence[SystemAnswers]) -> SystemAnswers:
    metrics = parts[0].statistics if parts else {}
    return SystemAnswers(
        [answer for part in parts for answer in part.answers],
        {metric: np.concatenate([part.statistics[metric] for part in parts]) for metric in metrics},
    )
