"""Aligners against people: run every system on a gold standard, measure, compare, and record.

The evaluation of Daumé and Marcu 2004, section 3, on any gold standard.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import get_args

from sentgen.alignment import Alignment, Link, Pair
from sentgen.alignment.baselines.bitext import word_links
from sentgen.alignment.budget import UNBOUNDED, Budget
from sentgen.alignment.systems import Missing, check_memory, make_system
from sentgen.alignment.words.wordnet import find_wordnet
from sentgen.errors import InputError, SentgenError
from sentgen.evaluation.alignment.gold import Combination, Gold, GoldLinks, Possible
from sentgen.evaluation.alignment.measures import PRIMARY, agreements, ignored_words, measure
from sentgen.evaluation.alignment.results import AlignedBy, AlignmentResult, outputs_of, pair_rows, rows_of
from sentgen.evaluation.figures.bootstrap import Interval, intervals
from sentgen.evaluation.figures.measurement import Measurement
from sentgen.evaluation.figures.record import add_run
from sentgen.evaluation.figures.significance import compare_all
from sentgen.schema import Store

COMMAND = "evaluate alignment"

#: Called with the name of a system, pairs that are done, and how many there are.
Progress = Callable[[str, int, int], None]


def evaluate_alignment(
    store: Store,
    gold: Gold,
    systems: Sequence[str],
    *,
    training: Sequence[Pair] = (),
    combine: str = "half",
    possible: Possible = "keep",
    ignored: Collection[str] | None = None,
    seed: int = 1,
    parameters: Mapping[str, object] | None = None,
    budget: Budget = UNBOUNDED,
    progress: Progress | None = None,
) -> AlignmentResult:
    """Align every pair with every system, score the answers, and record all of it as a run.

    Args:
        store: where the run is recorded, so not read-only, and models are.
        gold: what the systems are compared with.
        systems: names with settings (see `sentgen.alignment.systems`).
        training: pairs that systems learn from beside those of the gold standard.
        combine: how several annotators are one (see `Gold.combined`).
        possible: what becomes of possible links.
        ignored: words that some figures leave out; our own list if ``None``.
        seed: of the samples and the tests.
        parameters: what was asked for, for the record.
        budget: memory for aligning a pair; a system that takes more is left out.
        progress: called as pairs are done.

    Raises:
        InputError: a setting is wrong, or no system can run.
        NotFoundError: the store has no such model.
    """
    started, clock = datetime.now(UTC).replace(tzinfo=None), time.perf_counter()
    words = ignored_words() if ignored is None else frozenset(ignored)
    pairs = [one.pair for one in gold.pairs]
    target = gold.combined(combine, possible=possible)
    signature = f"gold:{combine} of {len(gold.annotators)}|possible:{possible}"
    answered, missing = _answers(store, systems, pairs, training, budget, progress)
    found = [
        replace(one, measurements=measure(pairs, one.answers, target, ignored=words, signature=signature))
        for one in answered
    ]
    result = AlignmentResult(
        run_id=0,
        systems=_with_intervals(found, seed),
        humans=_with_intervals(_humans(gold, combine, possible, words), seed),
        agreements=agreements(gold, ignored=words),
        comparisons=compare_all({one.system: one.measurements[PRIMARY] for one in found}, seed=seed),
        missing=missing,
        pairs=pairs,
        gold=target,
        ignored=words,
        parameters={
            **(parameters or {}),
            "sha256": _hash(gold),
            "pairs": len(pairs),
            "annotators": list(gold.annotators),
            "combine": combine,
            "possible": possible,
            "ignored words": len(words),
            "training pairs": len(training),
            "wordnet": find_wordnet() is not None,
            "systems": [one.system for one in found],
        },
        seed=seed,
        seconds=time.perf_counter() - clock,
    )
    return replace(result, run_id=_record(store, result, started))


def _answers(
    store: Store,
    systems: Sequence[str],
    pairs: Sequence[Pair],
    training: Sequence[Pair],
    budget: Budget,
    progress: Progress | None,
) -> tuple[list[AlignedBy], list[Missing]]:
    """Return what every system answers, and the systems that could not run."""
    answered, missing = list[AlignedBy](), list[Missing]()
    for spec in systems:
        made = make_system(spec, pairs, training, store=store, budget=budget)
        if isinstance(made, Missing):
            missing.append(made)
            continue
        clock, answers = time.perf_counter(), list[Alignment]()
        try:
            for pair in pairs:
                check_memory(spec, pair, budget)
            for answer in made.aligner.align(pairs):
                answers.append(answer)
                if progress is not None:
                    progress(spec, len(answers), len(pairs))
        except SentgenError as error:  # a program that is there, but fails, or too little memory
            missing.append(Missing(spec, str(error)))
            continue
        ms = 1000 * (time.perf_counter() - clock) / len(pairs)
        answered.append(AlignedBy(spec, {}, {}, answers, made.training_seconds, ms))
    if not answered:
        reasons = "; ".join(f"{one.system}: {one.reason}" for one in missing)
        raise InputError(f"no system can run here: {reasons}")
    return answered, missing


def _humans(gold: Gold, combine: str, possible: Possible, ignored: frozenset[str]) -> list[AlignedBy]:
    """Measure the sure links of each annotator by what the others drew.

    Section 3.4 of the paper compares one of two with the other; of three, with what at least one of the
    other two drew, unless another combination was asked for.
    """
    if len(gold.annotators) < 2:
        return []
    how: Combination = "half"
    for name in get_args(Combination):
        how = name if name == combine else how
    pairs, found = [one.pair for one in gold.pairs], []
    for number, name in enumerate(gold.annotators):
        others = gold.by_others(number, how, possible=possible)
        answers = [word_links(one.annotations[number].sure) for one in gold.pairs]
        signature = f"gold:{how} of the other annotators|possible:{possible}"
        figures = measure(pairs, answers, others, ignored=ignored, signature=signature)
        found.append(AlignedBy(f"human {name}", figures, {}, answers))
    return found


def _with_intervals(systems: Sequence[AlignedBy], seed: int) -> list[AlignedBy]:
    measurements: list[Measurement] = [one for system in systems for one in system.measurements.values()]
    sure = iter(intervals(measurements, seed=seed))
    return [replace(system, intervals=_taken(system.measurements, sure)) for system in systems]


def _taken(names: Collection[str], found: Iterator[Interval]) -> dict[str, Interval]:
    return {name: next(found) for name in names}


def _hash(gold: Gold) -> str:
    digest = hashlib.sha256()
    for one in gold.pairs:
        digest.update(repr((one.pair, [_sorted(links) for links in one.annotations])).encode())
    return digest.hexdigest()


def _sorted(links: GoldLinks) -> tuple[list[Link], list[Link]]:
    return sorted(links.sure), sorted(links.possible)


def _record(store: Store, result: AlignmentResult, started: datetime) -> int:
    """Store the run, its figures, those of each pair, and the answers; return its number."""
    return add_run(
        store,
        COMMAND,
        result.parameters,
        started=started,
        seconds=result.seconds,
        seed=result.seed,
        scores=[*rows_of(result), *pair_rows(result)],
        outputs=list(outputs_of(result)),
    )
