"""Sentences side by side: what each system made of a bag, joins that are not in the original marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sentgen.evaluation.regeneration.bleu import bleu
from sentgen.evaluation.regeneration.orders import adjacencies_found
from sentgen.evaluation.regeneration.results import PRIMARY, RegenerationResult
from sentgen.generation import RegeneratedSentence

EXAMPLES = 40
_LEAST_WORDS = 5


@dataclass(frozen=True, slots=True)
class OutputUnit:
    """A unit of an output; ``wrong`` if it does not follow what is before it in the original."""

    text: str
    phrase: bool
    wrong: bool


@dataclass(frozen=True, slots=True)
class SystemOutput:
    """What one system made; ``wrong_end`` if the original does not end so."""

    system: str
    bleu: float
    exact: bool
    pieces: Sequence[OutputUnit]
    wrong_end: bool


@dataclass(frozen=True, slots=True)
class SentenceExample:
    """A sentence of the test set, counted from 1, and the attempts, the best system of the run first."""

    item: int
    reference: str
    attempts: Sequence[SystemOutput]


def examples(result: RegenerationResult, count: int = EXAMPLES) -> list[SentenceExample]:
    """Return sentences of five words and more, drawn with the seed of the run, in the order of the test set.

    They are drawn without looking at the outputs, so that they show what is usual. Where the test set has too
    few of that length, all its sentences are shown, up to ``count``.
    """
    long = [i for i, text in enumerate(result.references) if len(text.split()) >= _LEAST_WORDS]
    # Short sentences are right by chance, and show little.
    pool = long if len(long) >= count else range(len(result.references))
    drawn = np.random.default_rng(result.seed).permutation(np.array(pool, np.int64))[:count]
    return [_example(result, int(item)) for item in sorted(drawn)]


def _example(result: RegenerationResult, item: int) -> SentenceExample:
    reference = result.references[item]
    attempts = []
    for system in result.ranked:
        value = bleu(system.measurements[PRIMARY].statistics[item], effective=True)
        answer = system.answers[item]
        pieces, wrong_end = _pieces(answer, reference)
        attempts.append(
            SystemOutput(system.system, float(value), answer.text == reference, pieces, wrong_end)
        )
    return SentenceExample(item + 1, reference, attempts)


def _pieces(answer: RegeneratedSentence, reference: str) -> tuple[list[OutputUnit], bool]:
    found = adjacencies_found(answer.words, reference.split(" "))
    pieces, place = [], 0
    for unit in answer.units:
        pieces.append(OutputUnit(" ".join(unit.words), len(unit.words) > 1, not found[place]))
        place += len(unit.words)
    return pieces, not found[place]
