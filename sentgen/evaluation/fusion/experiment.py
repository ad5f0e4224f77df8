"""Fusion against references: systems make a sentence of each cluster, which is measured and recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from sentgen.corpus.parsers import Parser
from sentgen.corpus.sentence import Sentence
from sentgen.errors import InputError
from sentgen.evaluation.check.verb_arguments import FORMS, Spelling
from sentgen.evaluation.figures.results import Start, recorded, with_intervals
from sentgen.evaluation.figures.significance import SystemComparison, compare_all
from sentgen.evaluation.fusion.cases import FusionCases
from sentgen.evaluation.fusion.measures import ARGUMENTS, BLEU, measured, require_bleu
from sentgen.evaluation.fusion.results import FuserResult, FusionResult, outputs_of, rows_of
from sentgen.evaluation.fusion.systems import FusionSystem
from sentgen.schema import Store

COMMAND = "evaluate fusion"

#: Called with what is done, how much of it, and how much there is to do.
Progress = Callable[[str, int, int], None]
#: The words of each system's sentence of each cluster.
Answers = Mapping[str, list[Sequence[str] | None]]


def evaluate_fusion(
    store: Store,
    source: FusionCases,
    parser: Parser,
    systems: Mapping[str, FusionSystem],
    *,
    spelling: Spelling = FORMS,
    seed: int = 1,
    parameters: Mapping[str, object] | None = None,
    progress: Progress | None = None,
) -> FusionResult:
    """Fuse every cluster with every system, measure, compare, and record all of it as a run.

    See `measured` for the figures, and `compare_all` for the tests.

    Args:
        store: where the run is recorded, so not read-only.
        source: the clusters; they do not go into the store.
        parser: of the new sentences.
        systems: by name.
        spelling: what makes two words of arguments the same.
        seed: of samples and tests.
        parameters: what more is recorded.
        progress: called as clusters and sentences are done.

    Raises:
        InputError: there is no cluster of which all systems make a sentence, or sacreBLEU is missing.
    """
    require_bleu()
    started = Start()
    store.downgrade_to_read()
    report = progress or (lambda what, done, total: None)
    answers = _answered(source, systems, report)
    result = _summarized(source, answers, parser, spelling, seed, report)
    described = {
        "clusters": source.source,
        "sha256": source.sha256,
        "number": len(source.cases),
        "too_short": source.short,
        "common": result.common,
        "parser": f"{parser.name}@{parser.version}",
        "lemmas": spelling.lemmas,
        **(parameters or {}),
    }
    return recorded(
        store,
        COMMAND,
        started.timed(replace(result, parameters=described)),
        started=started,
        seed=seed,
        scores=rows_of(result),
        outputs=outputs_of(result),
    )


def _answered(source: FusionCases, systems: Mapping[str, FusionSystem], progress: Progress) -> Answers:
    """Fuse each cluster with each system."""
    answers: dict[str, list[Sequence[str] | None]] = {name: [] for name in systems}
    for done, case in enumerate(source.cases, 1):
        for name, system in systems.items():
            answers[name].append(system(case.key, case.related))
        progress("clusters", done, len(source.cases))
    return answers


def _summarized(
    source: FusionCases, answers: Answers, parser: Parser, spelling: Spelling, seed: int, progress: Progress
) -> FusionResult:
    """Measure and compare the systems; a run that has no number, parameters and time yet."""
    common = np.array([None not in of for of in zip(*answers.values(), strict=True)])
    if not common.any():
        made = ", ".join(f"{name} {len(of) - of.count(None):,}" for name, of in answers.items())
        raise InputError(
            f"no cluster of which all systems make a sentence ({made} of {len(source.cases):,});"
            " leave out the one that makes fewest",
            path=source.source or None,
        )
    trees = _parsed(answers, parser, progress)
    named = f"{parser.name}@{parser.version}"
    systems = [
        FuserResult(
            name,
            [None if words is None else " ".join(words) for words in of],
            measured(
                source.cases,
                [None if words is None else trees[tuple(words)] for words in of],
                common,
                spelling,
                named,
            ),
        )
        for name, of in answers.items()
    ]
    return FusionResult(
        systems=with_intervals(systems, seed),
        comparisons=_compared(systems, BLEU, seed),
        argument_tests=[found for metric in ARGUMENTS for found in _compared(systems, metric, seed)],
        cases=source.cases,
        common=int(common.sum()),
        seed=seed,
    )


def _compared(systems: Sequence[FuserResult], metric: str, seed: int) -> list[SystemComparison]:
    """Compare all pairs by a figure; none where a system has nothing to count."""
    found = {system.system: system.measurements[metric] for system in systems}
    defined = all(measurement.value == measurement.value for measurement in found.values())
    return compare_all(found, seed=seed) if defined else []


def _parsed(answers: Answers, parser: Parser, progress: Progress) -> dict[tuple[str, ...], Sentence]:
    """Parse all sentences, the same ones once."""
    # Sorted, so that the parser gets them in the same order every time.
    wanted = sorted({tuple(words) for of in answers.values() for words in of if words is not None})
    trees: dict[tuple[str, ...], Sentence] = {}
    for words, tree in zip(wanted, parser.parse_tokenized(wanted), strict=True):
        trees[words] = tree
        progress("sentences", len(trees), len(wanted))
    return trees
