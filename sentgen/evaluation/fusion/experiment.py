"""Fusion against references: systems make a sentence of each cluster, which is measured and recorded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from sentgen.corpus.parsers import Parser
from sentgen.errors import InputError
from sentgen.evaluation.check.verb_arguments import FORMS, Spelling, parse_once
from sentgen.evaluation.figures.results import (
    ExperimentResult,
    MainFigure,
    OutputRow,
    Progress,
    Recorder,
    SystemResult,
    compare_systems,
)
from sentgen.evaluation.figures.significance import SystemComparison
from sentgen.evaluation.fusion.cases import FusionCase, FusionCases
from sentgen.evaluation.fusion.measures import ARGUMENTS, BLEU, LABELS, measured, require_bleu
from sentgen.evaluation.fusion.systems import FusionSystem
from sentgen.schema import Store

COMMAND = "evaluate fusion"

#: The words of each system's sentence of each cluster.
Answers = Mapping[str, list[Sequence[str] | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FusionResult(ExperimentResult[SystemResult[str | None]]):
    """A run over clusters with references: of each system a sentence a cluster, or None.

    Systems are compared by BLEU, then by each figure of verb arguments that all of them have.

    Attributes:
        cases: the clusters.
        common: of how many of them all systems made a sentence, which most figures are of.
    """

    main = MainFigure(BLEU, LABELS[BLEU])
    cases: Sequence[FusionCase] = field(repr=False)
    common: int

    def outputs(self) -> Iterator[OutputRow]:
        """Yield every sentence: what came in, the key first, and references."""
        for system in self.systems:
            for item, (case, answer) in enumerate(zip(self.cases, system.answers, strict=True), 1):
                if answer is not None:
                    given, references = (
                        "\n".join(" ".join(sentence.forms) for sentence in sentences)
                        for sentences in (case.inputs, case.references)
                    )
                    yield OutputRow(system.system, item, given, answer, references)


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
    recorder = Recorder(store, COMMAND)
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
    return recorder.record(replace(result, parameters=described))


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
        counts = ", ".join(f"{name} {len(of) - of.count(None):,}" for name, of in answers.items())
        raise InputError(
            f"no cluster of which all systems make a sentence ({counts} of {len(source.cases):,});"
            " leave out the one that makes fewest",
            path=source.source or None,
        )
    made = (words for of in answers.values() for words in of if words is not None)
    trees = parse_once(made, parser, partial(progress, "sentences"))
    named = f"{parser.name}@{parser.version}"
    systems = [
        SystemResult(
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
    result = FusionResult.from_systems(systems, seed, cases=source.cases, common=int(common.sum()))
    more = [pair for metric in ARGUMENTS for pair in _compared(systems, metric, seed)]
    return replace(result, comparisons=[*result.comparisons, *more])


def _compared(systems: Sequence[SystemResult[str | None]], metric: str, seed: int) -> list[SystemComparison]:
    """Compare all pairs by a figure; none where a system has nothing to count."""
    defined = all(system.value(metric) == system.value(metric) for system in systems)
    return compare_systems(systems, metric, seed) if defined else []
