"""Aligners against people: run every system on a gold standard, measure, compare, and record.

The evaluation of Daumé and Marcu 2004, section 3, on any gold standard.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from sentgen.alignment import Alignment, Pair
from sentgen.alignment.pairs.budget import UNBOUNDED, Budget
from sentgen.alignment.systems import Missing, ensure_fits, make_system, package_of
from sentgen.alignment.words.wordnet import find_wordnet
from sentgen.errors import InputError, PluginError, SentgenError
from sentgen.evaluation.alignment.measures import PRIMARY, agreements
from sentgen.evaluation.alignment.results import (
    AlignerResult,
    AlignmentResult,
    outputs_of,
    pair_rows,
    rows_of,
)
from sentgen.evaluation.alignment.target import Target
from sentgen.evaluation.figures.measurement import Score
from sentgen.evaluation.figures.results import Start, recorded, with_intervals
from sentgen.evaluation.figures.significance import compare_all
from sentgen.schema import Store

COMMAND = "evaluate alignment"

#: Called with the name of a system, pairs that are done, and how many there are.
Progress = Callable[[str, int, int], None]


def evaluate_alignment(
    store: Store,
    target: Target,
    systems: Sequence[str],
    *,
    training: Sequence[Pair] = (),
    seed: int = 1,
    parameters: Mapping[str, object] | None = None,
    budget: Budget = UNBOUNDED,
    progress: Progress | None = None,
) -> AlignmentResult:
    """Align every pair with every system, score the answers, and record all of it as a run.

    Args:
        store: where the run is recorded, so not read-only, and models are.
        target: what the systems are compared with.
        systems: names with settings (see `sentgen.alignment.systems`).
        training: pairs that systems learn from beside those of the gold standard.
        seed: of the samples and the tests.
        parameters: what was asked for, for the record.
        budget: memory for aligning a pair; a system that takes more is left out.
        progress: called as pairs are done.

    Raises:
        InputError: a setting is wrong, or no system can run.
        NotFoundError: the store has no such model.
        PluginError: a system is that of a plug-in, which fails.
    """
    started = Start()
    store.downgrade_to_read()
    links = target.links()  # before any system runs for a combination that there is not
    found, missing = _results(store, target, systems, training, budget, progress)
    result = AlignmentResult(
        systems=with_intervals(found, seed),
        humans=with_intervals(list(target.humans()), seed),
        agreements=agreements(target.gold, ignored=target.ignored),
        comparisons=compare_all({one.system: one.measurements[PRIMARY] for one in found}, seed=seed),
        missing=missing,
        pairs=target.pairs,
        gold=links,
        ignored=target.ignored,
        parameters={
            **(parameters or {}),
            **target.parameters,
            "training pairs": len(training),
            "wordnet": find_wordnet() is not None,
            "systems": [one.system for one in found],
            **_plugins(one.system for one in found),
        },
        seed=seed,
    )
    return recorded(
        store,
        COMMAND,
        started.timed(result),
        started=started,
        seed=seed,
        scores=(*rows_of(result), *pair_rows(result)),
        outputs=outputs_of(result),
    )


def _plugins(systems: Iterable[str]) -> dict[str, object]:
    """Return what is recorded of systems that plug-ins add, if there are any."""
    packages = {system: package for system in systems if (package := package_of(system))}
    return {"plugins": packages} if packages else {}


def _results(
    store: Store,
    target: Target,
    systems: Sequence[str],
    training: Sequence[Pair],
    budget: Budget,
    progress: Progress | None,
) -> tuple[list[AlignerResult], list[Missing]]:
    """Return how every system did, and the systems that could not run."""
    results, missing, pairs = list[AlignerResult](), list[Missing](), target.pairs
    for spec in systems:
        made = make_system(spec, pairs, training, store=store, budget=budget)
        if isinstance(made, Missing):
            missing.append(made)
            continue
        clock, answers = time.perf_counter(), list[Alignment]()
        try:
            for pair in pairs:
                # Of all pairs before any is aligned: a system is left out at once, not after hours.
                ensure_fits(spec, pair, budget)
            for answer in made.aligner.align(pairs):
                answers.append(answer)
                if progress is not None:
                    progress(spec, len(answers), len(pairs))
        except PluginError:
            raise
        except SentgenError as error:  # a program that is there, but fails, or too little memory
            missing.append(Missing(spec, str(error)))
            continue
        # Of answering alone; training has a figure of its own.
        ms = 1000 * (time.perf_counter() - clock) / len(pairs)
        times = (
            Score("training-seconds", made.training_seconds, "seconds"),
            Score("pair-ms", ms, "milliseconds a pair, mean"),
        )
        results.append(AlignerResult(spec, answers, target.measure(answers), times))
    if not results:
        reasons = "; ".join(f"{one.system}: {one.reason}" for one in missing)
        raise InputError(f"no system can run here: {reasons}")
    return results, missing
