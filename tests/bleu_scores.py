"""BLEU and chrF of plain texts, as measurements and as scores; the library measures answers of algorithms."""

from __future__ import annotations

from collections.abc import Sequence

from sentgen.evaluation.figures.measurement import Measurement
from sentgen.evaluation.figures.results import FigureRow, SystemResult
from sentgen.evaluation.regeneration import bleu
from sentgen.evaluation.regeneration.bleu import overlap_metrics


def measured(outputs: Sequence[str], references: Sequence[str]) -> list[Measurement]:
    """Return `overlap_metrics` for a test set, 0 to 100; 0 for no sentences."""
    return [
        Measurement(name, metric.signature, metric.statistics(outputs, references), metric.figure)
        for name, metric in overlap_metrics().items()
    ]


def corpus_bleu(outputs: Sequence[str], references: Sequence[str], system: str = "") -> list[FigureRow]:
    """Return corpus BLEU: lower-cased with 13a tokens, as it stands, and lower-cased as it stands."""
    figures = [found for found in measured(outputs, references) if found.metric != "chrf"]
    return SystemResult(system, (), {}).rows(figures)


def sentence_bleu(outputs: Sequence[str], references: Sequence[str]) -> list[float]:
    """Return lower-cased 13a BLEU of each sentence (effective order, as sacreBLEU advises for sentences)."""
    return bleu.sentence_bleu(measured(outputs, references)[0])[0]
