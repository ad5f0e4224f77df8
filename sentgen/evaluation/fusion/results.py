"""What an evaluation of fusion found: sentences, figures with intervals, and which systems differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sentgen.evaluation.figures.results import (
    ExperimentResult,
    FigureRow,
    MainFigure,
    OutputRow,
    SystemResult,
    comparison_rows,
)
from sentgen.evaluation.figures.significance import SystemComparison
from sentgen.evaluation.fusion.cases import FusionCase
from sentgen.evaluation.fusion.measures import BLEU, LABELS

#: A sentence of a system, or None where it made none.
Fused = str | None


@dataclass(frozen=True, slots=True)
class FuserResult(SystemResult[Fused]):
    """What one system made of each cluster, and its figures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FusionResult(ExperimentResult[FuserResult]):
    """A run over clusters with references.

    Attributes:
        cases: the clusters.
        common: of how many of them all systems made a sentence, which most figures are of.
        argument_tests: comparisons of all pairs by each figure of verb arguments that all systems have.
    """

    main = MainFigure(BLEU, LABELS[BLEU])
    cases: Sequence[FusionCase] = field(repr=False)
    common: int
    argument_tests: Sequence[SystemComparison]

    @property
    def tests(self) -> list[SystemComparison]:
        """Return all comparisons, those by the main figure first."""
        return [*self.comparisons, *self.argument_tests]


def rows_of(result: FusionResult) -> Iterator[FigureRow]:
    """Yield every figure as a row of `score`."""
    for system in result.systems:
        yield from system.rows(result.seed)
    for comparison in result.tests:
        yield from comparison_rows(comparison, result.seed)


def outputs_of(result: FusionResult) -> Iterator[OutputRow]:
    """Yield every sentence as a row of `output`: what came in, the key first, and references."""
    for system in result.systems:
        for item, (case, answer) in enumerate(zip(result.cases, system.answers, strict=True), 1):
            if answer is not None:
                given, references = (
                    "\n".join(" ".join(sentence.forms) for sentence in sentences)
                    for sentences in (case.inputs, case.references)
                )
                yield OutputRow(system.system, item, given, answer, references)
