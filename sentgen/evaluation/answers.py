"""Let systems answer test cases: what they need is looked up in batches, the searches run in threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from sentgen.evaluation.cases import Case
from sentgen.evaluation.systems import System
from sentgen.generation.prepare import Prepared, Treebank, prepare
from sentgen.generation.regenerate import Regenerated, check_sizes, solve
from sentgen.models.submodel import ModelLike
from sentgen.schema import Store

#: Called with the number of sentences ordered so far, over all systems, and of those to order.
Progress = Callable[[int, int], None]


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
) -> dict[str, list[Regenerated]]:
    """Return the best answer of every system to every case, in the order of the cases.

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
        progress: called after every case.

    Raises:
        InputError: a bag is too large for an algorithm.
    """
    bags = [case.gold.units for case in cases]
    for system in systems:
        check_sizes(bags, system.algorithm)
    answers: dict[str, list[Regenerated]] = {system.name: [] for system in systems}
    done, total = 0, len(cases) * len(systems)

    def answer(group: Sequence[System], some: Sequence[Case], jobs: int) -> Iterator[list[Regenerated]]:
        first = group[0]
        batches = prepare(
            store,
            model,
            [case.gold.units for case in some],
            settings=first.settings,
            seed=seed,
            lowercase=False,
            treebank=treebanks[first.name],
            words=first.algorithm.words,
        )
        return _in_order(batches, lambda prepared: _solve(prepared, group, cases), jobs)

    for group in _alike(systems, treebanks):
        list(answer(group, cases[:1], 1))
        for found in answer(group, cases, jobs):
            for system, one in zip(group, found, strict=True):
                answers[system.name].append(one)
            done += len(group)
            if progress is not None:
                progress(done, total)
    return answers


def _alike(systems: Sequence[System], treebanks: Mapping[str, Treebank | None]) -> list[list[System]]:
    """Group the systems that look up the same: words or units, trees or none, n-grams of one order."""
    groups: dict[object, list[System]] = {}
    for system in systems:
        key = (system.algorithm.words, treebanks[system.name], system.settings.order)
        groups.setdefault(key, []).append(system)
    return list(groups.values())


def _solve(prepared: Prepared, systems: Sequence[System], cases: Sequence[Case]) -> list[Regenerated]:
    gold = cases[prepared.item - 1].gold
    return [next(iter(solve(prepared, system.algorithm, system.settings, gold=gold))) for system in systems]


def _in_order(
    batches: Iterable[list[Prepared]], work: Callable[[Prepared], list[Regenerated]], jobs: int
) -> Iterator[list[Regenerated]]:
    """Work on each bag, results in order; a batch is looked up while the one before is searched."""
    if jobs == 1:
        yield from (work(prepared) for batch in batches for prepared in batch)
        return
    pool = ThreadPoolExecutor(jobs)
    try:
        waiting: deque[list[Future[list[Regenerated]]]] = deque()
        for batch in batches:
            waiting.append([pool.submit(work, prepared) for prepared in batch])
            if len(waiting) > 1:
                yield from (future.result() for future in waiting.popleft())
        yield from (future.result() for futures in waiting for future in futures)
    finally:
        pool.shutdown(cancel_futures=True)
