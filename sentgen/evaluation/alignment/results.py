"""What an evaluation of alignments found: answers, figures with intervals, comparisons, as plain values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sentgen.alignment import Alignment, Pair
from sentgen.alignment.systems import Missing
from sentgen.alignment.texts import pharaoh
from sentgen.evaluation.alignment.gold import GoldLinks
from sentgen.evaluation.alignment.measures import PRIMARY, Agreement
from sentgen.evaluation.figures.measurement import Score
from sentgen.evaluation.figures.results import (
    ExperimentResult,
    FigureRow,
    MainFigure,
    OutputRow,
    SystemResult,
    comparison_rows,
)

#: Figures that are recorded for each pair.
_SINGLE = ("soft-precision", "recall", "soft-f1", "precision", "f1")


@dataclass(frozen=True, slots=True)
class AlignerResult(SystemResult[Alignment]):
    """How one system, or one annotator against the others, did on the whole set.

    A system has times: the seconds that it took to make it, and the milliseconds a pair; those of systems
    that learn from the pairs that they align contain the learning.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignmentResult(ExperimentResult[AlignerResult]):
    """A run over a gold standard.

    ``humans`` are annotators, each measured by what the others drew; ``agreements`` are between two of them.
    ``missing`` are systems that could not run.
    """

    main = MainFigure(PRIMARY, "SoftF", 100)
    humans: Sequence[AlignerResult]
    agreements: Sequence[Agreement]
    missing: Sequence[Missing]
    pairs: Sequence[Pair] = field(repr=False)
    gold: Sequence[GoldLinks] = field(repr=False)
    ignored: frozenset[str] = field(repr=False)


def rows_of(result: AlignmentResult) -> Iterator[FigureRow]:
    """Yield every figure of the whole set as a row of `score`.

    Annotators are the systems ``human A``; their agreement is rows of the system ``A vs B``, as the
    comparison of systems is.
    """
    for system in (*result.systems, *result.humans):
        yield from system.rows(result.seed)
    for system in result.systems:
        yield from (FigureRow(system.system, time) for time in system.times)
    for found in result.agreements:
        signature = f"Cohen's kappa over pairs of words|{found.scope} words|items:{found.items}"
        score = Score(f"kappa:{found.kind}:{found.scope}", found.kappa, signature)
        yield FigureRow(f"{found.one} vs {found.other}", score)
    for comparison in result.comparisons:
        rows = comparison_rows(comparison, result.seed)
        yield from (row for row in rows if ":sign-test:" not in row.score.metric)


def pair_rows(result: AlignmentResult) -> Iterator[FigureRow]:
    """Yield the figures of each pair, all words, as rows of `score` with the number of the pair."""
    for system in result.systems:
        for name in _SINGLE:
            measurement = system.measurements[name]
            for item, value in enumerate(measurement.figure(measurement.statistics).tolist(), 1):
                yield FigureRow(system.system, Score(name, value, f"{measurement.signature}|one pair"), item)


def outputs_of(result: AlignmentResult) -> Iterator[OutputRow]:
    """Yield every answer as a row of `output`: the texts, the links in Pharaoh's form, the gold links."""
    gold = [" ".join(_gold_links(links)) for links in result.gold]
    for system in result.systems:
        for item, (pair, answer) in enumerate(zip(result.pairs, system.answers, strict=True), 1):
            texts = f"{' '.join(pair.document)} ||| {' '.join(pair.abstract)}"
            yield OutputRow(system.system, item, texts, pharaoh(answer), gold[item - 1])


def _gold_links(gold: GoldLinks) -> Iterator[str]:
    for i, j in sorted(gold.possible):
        yield f"{i}{'-' if (i, j) in gold.sure else 'p'}{j}"
