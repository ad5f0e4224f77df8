"""The report of an evaluation of fusion: figures, tests, and clusters with what each system made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sentgen.evaluation.figures.report import (
    ExperimentReport,
    FigureColumn,
    Report,
    ReportTable,
    csv_text,
    probability,
    scores_csv,
)
from sentgen.evaluation.fusion.experiment import BLEU, LABELS, FusionResult
from sentgen.output.wording import quantity

_EXAMPLES = 40


@dataclass(frozen=True, slots=True)
class _ExampleCluster:
    """A cluster, and the sentence of each system that has one, the best system first."""

    name: str
    inputs: Sequence[str]
    references: Sequence[str]
    answers: Sequence[tuple[str, str]]


#: What figures are shown times; the others are shares, in percent.
_FACTORS = {BLEU: 1, "words": 1}


class FusionReport(ExperimentReport[FusionResult]):
    """The report of an evaluation of fusion."""

    def report(self) -> Report:
        """Return the report of a run."""
        tables = [self.figures(), *([self.tests()] if self.result.comparisons else [])]
        about = [self.settings(), self.signatures()]
        return Report(
            title=f"Fused sentences, run {self.result.run_id}",
            template="fusion/report.html.j2",
            shown={
                "clusters": len(self.result.cases),
                "tables": tables,
                "examples": self._examples(),
                "settings": about[0],
                "signatures": about[1],
            },
            markdown_parts=[
                tables[0],
                "![Systems with 95% intervals](systems.svg)\n",
                *tables[1:],
                *about,
            ],
            csv={
                "scores.csv": scores_csv(self.result.systems),
                "comparisons.csv": self.comparisons_csv(),
                "sentences.csv": self._sentences_csv(),
            },
            plots={"systems": self.systems_plot},
        )

    def _examples(self) -> list[_ExampleCluster]:
        """Return clusters that were drawn with the seed of the run, without looking at the sentences."""
        examples = []
        for index in self.result.drawn(range(len(self.result.cases)), _EXAMPLES):
            case = self.result.cases[index]
            inputs, references = (
                [" ".join(sentence.forms) for sentence in sentences]
                for sentences in (case.inputs, case.references)
            )
            answers = [(system.system, system.answers[index] or "") for system in self.result.ranked]
            examples.append(_ExampleCluster(case.name, inputs, references, answers))
        return examples

    def figures(self) -> ReportTable:
        """Return all figures of all systems with their intervals, the highest BLEU first."""
        return ReportTable.of_systems(
            quantity(len(self.result.cases), "cluster"),
            self.result.ranked,
            [
                FigureColumn(name, label, _FACTORS.get(name, 100), interval=True)
                for name, label in LABELS.items()
            ],
            "In brackets: 95% intervals of a bootstrap over clusters. Answered: clusters with a sentence."
            " Copied: sentences that are an input, or a piece of one. The others are of the"
            f" {quantity(self.result.common, 'cluster')} of which all systems make a sentence: words a"
            " sentence, BLEU to the references that were held back, precision (P) and recall (R) of verb"
            " arguments, in percent.",
        )

    def tests(self) -> ReportTable:
        """Return every pair of systems by each figure that is tested."""
        return ReportTable(
            "Which systems differ",
            ["figure", "worse", "better", "difference", "p, sign test", "p, randomization", "p, Holm"],
            [
                [
                    LABELS[pair.metric],
                    pair.worse,
                    pair.better,
                    f"{_FACTORS.get(pair.metric, 100) * pair.difference:.1f}",
                    *map(probability, (pair.sign_p, pair.shuffle_p, pair.holm)),
                ]
                for pair in self.result.comparisons
            ],
            "Sign test with the sampling method of Collins et al. 2005, a cluster at a time; approximate"
            " randomization over clusters; Holm: corrected for the number of pairs.",
        )

    def _sentences_csv(self) -> str:
        """Return a line a cluster and system: its sentence, or nothing."""
        return csv_text(
            ["cluster", "system", "sentence"],
            [
                (case.name, system.system, answer)
                for system in self.result.systems
                for case, answer in zip(self.result.cases, system.answers, strict=True)
            ],
        )
