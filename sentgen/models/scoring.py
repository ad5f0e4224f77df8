"""Log-probability and perplexity of sentences, with the semantics of KenLM's `query`.

A sentence w1 .. wn is scored as p(w1 .. wn </s> | <s>); an unknown word has the probability of <unk>.
Batches are bounded in tokens and in distinct words, so that memory does not grow with the text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from sentgen.arrays import Bools, Floats, Ints, Longs, compiled
from sentgen.corpus.tokenizer import tokenize
from sentgen.counts.ngrams import wrap
from sentgen.errors import spell
from sentgen.lookups.statistics.intervals import RatioSums, in_order
from sentgen.models.base.registry import STUPID_BACKOFF, ModelInfo
from sentgen.models.ngrams import stupid_backoff
from sentgen.models.ngrams.model_reader import ModelReader
from sentgen.models.ngrams.ngram_table import MISSING_UNK
from sentgen.models.submodel import lowercases
from sentgen.models.text_batches import MAX_TOKENS, MAX_WORDS, TextBatch
from sentgen.output.display import LN10, natural
from sentgen.output.wording import quantity
from sentgen.schema import Store
from sentgen.schema.tables.corpus import BOS, EOS, UNK


class Events(NamedTuple):
    """The scores of the events of some sentences: their words and ends."""

    logp: Floats  # (events,) natural logarithms
    known: Bools  # (events,) whether the model knows the word
    length: Ints  # (events,) length of the longest n-gram of the model that ends with the event


def are_words(lengths: Ints) -> Bools:
    """Return which events of sentences of some lengths are words, not ends of sentences."""
    words = np.ones(int(lengths.sum()) + len(lengths), np.bool_)
    words[np.cumsum(lengths + 1) - 1] = False
    return words


def probabilities(parts: Sequence[Events]) -> Floats:
    """Return the probabilities of the same events in models, (models, events).

    An event that only other models know has probability 0.
    """
    known = np.array([each.known for each in parts])
    p: Floats = np.exp([each.logp for each in parts])
    p[~known & known.any(axis=0)] = 0
    return p


TOTALS = (
    *("sentences", "tokens", "oov", "log10", "logp", "perplexity", "perplexity_without_oov"),
    *("perplexity_low", "perplexity_high"),
)
#: The columns of the scores of a sentence, and of a unit of several sentences.
FIGURES = ("log10", "logp", "tokens", "oov", "perplexity")
_LOG10_E = 1 / LN10
#: A punctuation mark beside a letter, except hyphens; and the share, among the unknown words, of words that
#: are known when split, from which on a text is taken for raw. For the dev part of GUM and a model of its
#: train part, it is 0.56.
_SIGN = re.compile(r"\w[^\w-]|[^\w-]\w")
_RAW = 0.2
#: The least number of parts of a text for an interval of its perplexity.
_LEAST_PARTS = 10
#: The note on scores of a model with brackets.
_BRACKET_NOTE = "the model counts brackets; write base noun phrases as <np> the dow </np>"
#: The note on scores of a model that is not over words.
_SYMBOL_NOTE = "the model is over {over}; write tags as <tag:NN>, and phrases of items as <np:NN>"


@dataclass(frozen=True, slots=True)
class SentenceScore:
    """The score of one sentence; logarithms are to base 10, as in ARPA files and KenLM.

    ``log10_oov`` is the part of ``log10`` from the unknown words, of which ``attached`` are known when split
    into words and punctuation. ``logps`` are the natural logarithms of the probabilities of the tokens and
    the end, ``unknown`` marks the unknown tokens.
    """

    words: tuple[str, ...]
    log10: float
    oov: int
    log10_oov: float
    attached: tuple[str, ...] = ()
    logps: Floats = field(default_factory=lambda: np.zeros(0), compare=False, repr=False)
    unknown: Bools = field(default_factory=lambda: np.zeros(0, np.bool_), compare=False, repr=False)

    @property
    def tokens(self) -> int:
        """Return the number of scored events: the words and </s>."""
        return len(self.words) + 1

    @property
    def perplexity(self) -> float:
        """Return the perplexity of the sentence, unknown words included."""
        return perplexity_of(self.log10, self.tokens)


@dataclass(frozen=True, slots=True, eq=False)
class ScoredBatch:
    """The scores of the sentences of a batch.

    Attributes:
        batch: the sentences.
        log10: log10 probability of each sentence, as in `SentenceScore`.
        oov: unknown words of each sentence.
        log10_oov: log10 probability of the unknown words of each sentence.
        logps: natural logarithms of the probabilities of all tokens, each sentence with its end.
        unknown: whether each token is unknown.
        attached: whether each different word is unknown as a whole, but known when it is split.
    """

    batch: TextBatch
    log10: Floats
    oov: Longs
    log10_oov: Floats
    logps: Floats
    unknown: Bools
    attached: Bools

    @property
    def perplexities(self) -> Floats:
        """The perplexity of each sentence."""
        # 10 ** 309 is no float.
        with np.errstate(over="ignore"):
            values: Floats = 10 ** (-self.log10 / (self.batch.lengths + 1))
        return values


@dataclass(slots=True)
class Totals:
    """The sums over all sentences, and the perplexities that follow.

    ``parts`` are the sums of documents, or of sentences without documents, for the interval.
    """

    sentences: int = 0
    tokens: int = 0
    oov: int = 0
    log10: float = 0.0
    log10_oov: float = 0.0
    attached: int = 0
    example: str = ""
    parts: RatioSums = field(default_factory=RatioSums)
    _part: object = None
    _open: tuple[float, int] = (0.0, 0)

    def add(self, score: SentenceScore, part: object = None) -> None:
        """Add a sentence; consecutive sentences of the same ``part`` are one part, else each is its own."""
        if part is None or part != self._part:
            self.parts.add(*self._open)
            self._part, self._open = part, (0.0, 0)
        self._open = self._open[0] + score.log10, self._open[1] + score.tokens
        self.sentences += 1
        self.tokens += score.tokens
        self.oov += score.oov
        self.log10 += score.log10
        self.log10_oov += score.log10_oov
        self.attached += len(score.attached)
        self.example = self.example or next(iter(score.attached), "")

    def add_batch(self, scored: ScoredBatch) -> None:
        """Count the sentences of a batch, each a part by itself."""
        tokens = scored.batch.lengths + 1
        self.sentences += len(tokens)
        self.tokens += int(tokens.sum())
        self.oov += int(scored.oov.sum())
        # One by one, so that a sum is the same however the text is divided into batches.
        self.log10 = in_order(self.log10, scored.log10)
        self.log10_oov = in_order(self.log10_oov, scored.log10_oov)
        self.parts.add_all(scored.log10, tokens)
        attached = scored.attached[scored.batch.numbers]
        self.attached += int(np.count_nonzero(attached))
        if not self.example and attached.any():
            self.example = scored.batch.forms[scored.batch.numbers[int(attached.argmax())]]

    @property
    def row(self) -> tuple[object, ...]:
        """Return the row of `TOTALS`."""
        return (
            *(self.sentences, self.tokens, self.oov, self.log10, natural(self.log10)),
            *(self.perplexity, self.perplexity_without_oov, *self.interval),
        )

    @property
    def interval(self) -> tuple[float, float] | tuple[None, None]:
        """Return the 95 % interval of the perplexity, by the variation of parts; None for too few parts."""
        sums = replace(self.parts)
        sums.add(*self._open)
        if sums.parts < _LEAST_PARTS:
            return None, None
        _, low, high = sums.interval
        return perplexity_of(high, 1), perplexity_of(low, 1)

    @property
    def notes(self) -> tuple[str, ...]:
        """Return the notes on the totals, the interval in words among them."""
        return (
            f"{quantity(self.sentences, 'sentence')}, {quantity(self.tokens, 'token')} with ends,"
            f" {self.oov} unknown; log10 {self.log10:.4f}",
            f"perplexity {_readable(self.perplexity)}, "
            f"without unknown words {_readable(self.perplexity_without_oov)}",
            *self._interval_note,
        )

    @property
    def _interval_note(self) -> list[str]:
        low, high = self.interval
        if low is None or high is None:
            return []
        by = "sentences" if self._part is None else "documents"
        return [f"perplexity of such texts, 95 % by {by}: {_readable(low)} to {_readable(high)}"]

    @property
    def warnings(self) -> list[str]:
        """Return a warning if the text seems not to be tokenized, so that words of the model are unknown."""
        if self.attached < _RAW * max(self.oov, 1):
            return []
        are = "is" if self.oov == 1 else "are"
        return [
            f"{self.attached:,} of {quantity(self.oov, 'unknown word')} {are} known when split, such as"
            f" {self.example!r}: to score text that is not tokenized, give {spell('tokenize')}"
        ]

    @property
    def perplexity(self) -> float:
        """Return the perplexity with unknown words (KenLM: "including OOVs")."""
        return perplexity_of(self.log10, self.tokens)

    @property
    def perplexity_without_oov(self) -> float:
        """Return the perplexity of the known words and </s> (KenLM: "excluding OOVs")."""
        return perplexity_of(self.log10 - self.log10_oov, self.tokens - self.oov)


def model_notes(model: ModelInfo) -> list[str]:
    """Return the notes on the scores of a model."""
    notes = {
        _BRACKET_NOTE: model.brackets,
        _SYMBOL_NOTE.format(over=model.symbols.over): not model.symbols.are_words,
        stupid_backoff.NOTE: model.smoothing == STUPID_BACKOFF,
    }
    return [note for note, holds in notes.items() if holds]


def split_lines(texts: Iterable[str]) -> list[str]:
    """Return the lines of texts, a sentence each; an empty text is an empty sentence."""
    return [line for text in texts for line in text.splitlines() or [""]]


def _readable(perplexity: float) -> str:
    return f"{perplexity:.2f}" if perplexity < 1e9 else f"{perplexity:.2e}"


def figures_of(log10: float, tokens: int, oov: int) -> tuple[object, ...]:
    """Return the values of the columns `FIGURES` for a part of a text."""
    return log10, natural(log10), tokens, oov, perplexity_of(log10, tokens)


def perplexity_of(log10: float, events: int) -> float:
    """Return 10 to the mean negative log10; infinite where a float cannot hold it, NaN without events."""
    if not events:
        return math.nan
    # 10 ** 309 is no float.
    mean = -log10 / events
    return math.inf if mean > 308 else float(10**mean)


def score_sentences(
    store: Store,
    model: ModelInfo,
    sentences: Iterable[Sequence[str]],
    *,
    lowercase: bool | None = None,
    max_tokens: int = MAX_TOKENS,
    max_words: int = MAX_WORDS,
) -> Iterator[SentenceScore]:
    """Score sentences in order, a batch at a time.

    Args:
        store: the store with the model.
        model: the model.
        sentences: the words of each sentence; an empty one is only </s>.
        lowercase: whether to lower-case the words first; if ``None``, whether the model's corpora were.
        max_tokens: most tokens of a batch.
        max_words: most distinct words of a batch.
    """
    for scored in score_batches(
        store, model, TextBatch.of_sentences(sentences, max_tokens, max_words), lowercase
    ):
        columns = (column.tolist() for column in (scored.log10, scored.oov, scored.log10_oov))
        attached = {form for form, is_so in zip(scored.batch.forms, scored.attached, strict=True) if is_so}
        at = end = 0  # among tokens, and these with the ends of sentences
        for sentence, log10, oov, log10_oov in zip(scored.batch.sentences, *columns, strict=True):
            of_these = tuple(filter(attached.__contains__, sentence)) if attached and oov else ()
            own = scored.logps[end : end + len(sentence) + 1], scored.unknown[at : at + len(sentence)]
            yield SentenceScore(sentence, log10, oov, log10_oov, of_these, *own)
            at, end = at + len(sentence), end + len(sentence) + 1


def score_batches(
    store: Store, model: ModelInfo, batches: Iterable[TextBatch], lowercase: bool | None = None
) -> Iterator[ScoredBatch]:
    """Score batches in order, as `score_sentences` does their sentences."""
    lower = lowercases(store, model) if lowercase is None else lowercase
    reader, attached = ModelReader(store, model), np.zeros(0, np.bool_)
    for batch in batches:
        forms, numbers, lengths, old = batch.forms, batch.numbers, batch.lengths, batch.old
        known, events = score_tokens(reader, forms, numbers, lengths, old, lower=lower)
        logps, unknown = events.logp, known[numbers] == UNK
        fresh = _known_when_split(reader, forms[old:], known[old:], lower)
        attached = np.concatenate((attached[:old], fresh))
        yield ScoredBatch(batch, *_sums(logps, unknown, lengths), logps, unknown, attached)


def score_batch(store: Store, model: ModelInfo, batch: TextBatch, lower: bool) -> Events:
    """Return the scores of a batch of sentences; ``lower`` looks their words up in lower case."""
    return score_tokens(ModelReader(store, model), batch.forms, batch.numbers, batch.lengths, lower=lower)[1]


def _known_when_split(reader: ModelReader, forms: Sequence[str], known: Ints, lower: bool) -> Bools:
    """Return which forms are unknown, but would be known words if the text were tokenized."""
    unknown = (i for i in np.flatnonzero(known == UNK).tolist() if _SIGN.search(forms[i]))
    split = {i: [part for part in tokenize(forms[i]) if re.search(r"\w", part)] for i in unknown}
    split = {i: parts for i, parts in split.items() if parts and parts != [forms[i]]}
    parts = sorted({part for each in split.values() for part in each})
    lowered = [reader.model.symbols.lowered(part) for part in parts] if lower else parts
    there = dict(zip(parts, (reader.known(lowered) != UNK).tolist(), strict=True)) if parts else {}
    known_in_parts = np.zeros(len(forms), np.bool_)
    known_in_parts[[i for i, each in split.items() if all(map(there.__getitem__, each))]] = True
    return known_in_parts


def score_tokens(
    reader: ModelReader,
    forms: Sequence[str],
    numbers: Longs,
    lengths: Ints,
    old: int = 0,
    *,
    lower: bool,
) -> tuple[Ints, Events]:
    """Return the word of each form, and the scores of all tokens of a text and ends of sentences.

    The text has to fit into memory.

    Args:
        forms: different words.
        numbers: the text, as indices of its words in ``forms``.
        lengths: lengths of its sentences.
        old: number of the first forms that are the same as in the previous call.
        lower: whether words are looked up in lower case.

    Returns:
        The id of each form in the model, or `UNK`; and the scores of the tokens of each sentence and its
        ``</s>``.
    """
    if reader.parts:
        given = [score_tokens(part, forms, numbers, lengths, old, lower=lower) for part, _ in reader.parts]
        words, parts = zip(*given, strict=True)
        mixed = np.array([weight for _, weight in reader.parts]) @ probabilities(parts)
        logp: Floats = np.log(np.maximum(mixed, np.exp(MISSING_UNK)))
        known: Bools = np.any([each.known for each in parts], axis=0)
        length: Ints = np.max([each.length for each in parts], axis=0)
        return np.max(words, axis=0), Events(logp, known, length)
    reader.expect(len(numbers) + len(lengths))
    symbols = reader.model.symbols
    ids = reader.known_in([symbols.lowered(form) for form in forms] if lower else forms, old)
    stream = wrap(ids[numbers], lengths, BOS, EOS)
    logp, length = reader.events(stream)
    return ids, Events(logp, stream[stream != BOS] != UNK, length)


@compiled
def _sums(logps: Floats, is_unknown: Bools, lengths: Ints) -> tuple[Floats, Longs, Floats]:
    """Return log10, unknown words and their log10 of each sentence; ``is_unknown`` is without ends."""
    total, oov, unknown = np.zeros(len(lengths)), np.zeros(len(lengths), np.int64), np.zeros(len(lengths))
    at = token = 0
    for sentence in range(len(lengths)):
        for _ in range(lengths[sentence]):
            total[sentence] += logps[at]
            if is_unknown[token]:
                oov[sentence] += 1
                unknown[sentence] += logps[at]
            at, token = at + 1, token + 1
        total[sentence] += logps[at]
        at += 1
    return total * _LOG10_E, oov, unknown * _LOG10_E
