"""What an evaluation of string regeneration found, as plain values; sentences are those of the test set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from sentgen.evaluation.figures.measurement import Measurement
from sentgen.evaluation.figures.results import (
    ExperimentResult,
    FigureRow,
    MainFigure,
    OutputRow,
    SystemResult,
    comparison_rows,
)
from sentgen.evaluation.regeneration.bleu import sentence_bleu
from sentgen.generation import RegeneratedSentence

#: The figure that systems are compared by: BLEU, lower-cased, tokenized as the test set is. (The 13a tokens
#: that sacreBLEU makes by default split web addresses and runs of punctuation into pieces that are then
#: always in order.)
PRIMARY = "bleu-lc-none"
#: Sentences by their number of words, up to and including the second number.
LENGTHS = ((1, 4), (5, 9), (10, 14), (15, 19), (20, 29), (30, 39), (40, None))


@dataclass(frozen=True, slots=True)
class OrderingResult(SystemResult[RegeneratedSentence]):
    """How one system ordered the whole set; its times are milliseconds a sentence: look-up and search."""

    @property
    def sentences(self) -> int:
        """Return the number of sentences."""
        return len(self.answers)

    @property
    def outputs(self) -> list[str]:
        """Return the sentences."""
        return [answer.text for answer in self.answers]


@dataclass(frozen=True, slots=True)
class _LengthBucket:
    """Which sentences of the test set have how many words."""

    label: str
    sentences: Sequence[int] = field(repr=False)


@dataclass(frozen=True, slots=True)
class LearningPoint:
    """A system of a learning curve: which one, and from how many sentences it was learnt."""

    system: str
    algorithm: str
    sentences: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RegenerationResult(ExperimentResult[OrderingResult]):
    """A run over a test set: its sentences as they should have been, and by length if that was wanted.

    ``curve`` has a point a system where these are learnt from more and more sentences.
    """

    main = MainFigure(PRIMARY, "BLEU, lower-cased")
    lengths: Sequence[_LengthBucket]
    references: Sequence[str] = field(repr=False)
    curve: Sequence[LearningPoint] = ()

    def by_length(self, system: OrderingResult) -> Iterator[Measurement]:
        """Yield the main figure of the sentences of each length."""
        whole = system.measurements[PRIMARY]
        for bucket in self.lengths:
            signature = f"{whole.signature}|words:{bucket.label}|sentences:{len(bucket.sentences)}"
            yield replace(whole.of(bucket.sentences), metric=f"{PRIMARY}:{bucket.label}", signature=signature)

    def rows(self) -> Iterator[FigureRow]:
        """Yield figures, times and lengths, these such as ``bleu-lc-none:10-14``; then comparisons."""
        for system in self.systems:
            yield from system.rows_with_intervals(self.seed)
            yield from system.rows([*system.times.values(), *self.by_length(system)])
        for comparison in self.comparisons:
            yield from comparison_rows(comparison, self.seed)

    def item_rows(self) -> Iterator[FigureRow]:
        """Yield BLEU of each sentence."""
        for system in self.systems:
            values, signature = sentence_bleu(system.measurements["bleu-lc-13a"])
            for item, value in enumerate(values, 1):
                yield FigureRow(system.system, "sentence-bleu", value, signature, item)

    def outputs(self) -> Iterator[OutputRow]:
        """Yield every sentence, beside the bag that it was made of."""
        for system in self.systems:
            for item, (answer, reference) in enumerate(zip(system.answers, self.references, strict=True), 1):
                given = " ".join(map(str, answer.given))
                yield OutputRow(system.system, item, given, answer.text, reference)


def length_buckets(references: Sequence[str]) -> list[_LengthBucket]:
    """Return the sentences by length, without the lengths that none has."""
    words = [len(reference.split()) for reference in references]
    buckets = []
    for low, high in LENGTHS:
        label = f"{low}-{high}" if high else f"{low}+"
        inside = [i for i, size in enumerate(words) if low <= size and (high is None or size <= high)]
        buckets.append(_LengthBucket(label, inside))
    # A length that none has would be a figure of nothing.
    return [bucket for bucket in buckets if bucket.sentences]
