"""BLEU, always in two ways, always with its signature (sacreBLEU; Papineni et al. 2002, Post 2018)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sacrebleu.metrics.bleu import BLEU


@dataclass(frozen=True, slots=True)
class Score:
    """A figure, what it is called, and how it was computed."""

    metric: str
    value: float
    signature: str


def _metrics(*, effective: bool) -> dict[str, BLEU]:
    return {
        "bleu-lc-13a": BLEU(lowercase=True, tokenize="13a", effective_order=effective, force=True),
        "bleu-none": BLEU(lowercase=False, tokenize="none", effective_order=effective, force=True),
    }


def corpus_bleu(outputs: Sequence[str], references: Sequence[str]) -> list[Score]:
    """Return corpus BLEU, 0 to 100: lower-cased with 13a tokens, as papers report it, and as it stands.

    No sentences have BLEU 0.

    >>> [round(score.value) for score in corpus_bleu(["a cat sat on it"], ["a cat sat on it"])]
    [100, 100]
    """
    scores = []
    for name, metric in _metrics(effective=False).items():
        value = metric.corpus_score(list(outputs), [list(references)]).score if outputs else 0.0
        signature = str(metric.get_signature()) if outputs else ""
        scores.append(Score(name, float(value), signature))
    return scores


def sentence_bleu(outputs: Sequence[str], references: Sequence[str]) -> list[Score]:
    """Return lower-cased 13a BLEU of each sentence (effective order, as sacreBLEU advises for sentences)."""
    metric = _metrics(effective=True)["bleu-lc-13a"]
    values = [
        float(metric.sentence_score(output, [reference]).score)
        for output, reference in zip(outputs, references, strict=True)
    ]
    signature = str(metric.get_signature()) if values else ""
    return [Score("sentence-bleu", value, signature) for value in values]
