"""What models give each event of a text: its words, and the end of each sentence.

A sentence w1 .. wn is n + 1 events, the last of which is </s>, after <s>. Batches are bounded in tokens and
in distinct words, so that memory does not grow with the text.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np

from sentgen.arrays import Bools, Floats, Ints, compiled
from sentgen.counts.ngrams import wrap
from sentgen.models.ngrams.mixture import DYNAMIC
from sentgen.models.ngrams.ngram_table import MISSING_UNK, NgramTable, look_up, row_lengths, start_state
from sentgen.models.ngrams.text_ngrams import known_words, prefetch_text
from sentgen.models.registry import looked_up
from sentgen.models.submodel import ModelLike
from sentgen.schema import Store
from sentgen.schema.tables.corpus import BOS, EOS, UNK

# Two bounds: a list of names has new words only, and running text hardly any.
MAX_TOKENS = 500_000
MAX_WORDS = 100_000


class Events(NamedTuple):
    """What a model gives each event of some sentences."""

    logp: Floats  # (events,) natural logarithms
    known: Bools  # (events,) whether the model knows the word
    length: Ints  # (events,) words of the n-gram that was found, the longest one there is


class _Forms(dict[str, int]):
    """Numbers for strings, in the order in which they come."""

    def __missing__(self, form: str) -> int:
        number = self[form] = len(self)
        return number


@dataclass(slots=True)
class Batch:
    """Some sentences, the different words of them, and the number of each word of the text among those."""

    sentences: list[Sequence[str]] = field(default_factory=list)
    forms: _Forms = field(default_factory=_Forms)
    numbers: array[int] = field(default_factory=partial(array, "i"))

    @property
    def lengths(self) -> Ints:
        """Return how many words each sentence has."""
        return np.array([len(one) for one in self.sentences], np.int32)

    @property
    def places(self) -> Ints:
        """Return the numbers of the words."""
        return np.array(self.numbers, np.int32)

    @property
    def words(self) -> Bools:
        """Return which events are words, and not the ends of sentences."""
        words = np.ones(len(self.numbers) + len(self.sentences), np.bool_)
        words[np.cumsum(self.lengths + 1) - 1] = False
        return words


def batches(
    sentences: Iterable[Sequence[str]], max_tokens: int = MAX_TOKENS, max_words: int = MAX_WORDS
) -> Iterator[Batch]:
    """Yield sentences together, as many as the bounds allow."""
    batch = Batch()
    for words in sentences:
        batch.sentences.append(words)
        batch.numbers.extend(map(batch.forms.__getitem__, words))
        if len(batch.numbers) >= max_tokens or len(batch.forms) >= max_words:
            yield batch
            batch = Batch()
    if batch.sentences:
        yield batch


def events(store: Store, model: ModelLike, batch: Batch, lower: bool) -> Events:
    """Return what a model gives some sentences, their words in lower case if it is so."""
    if model.smoothing != DYNAMIC:
        return _events(store, model, batch, lower)
    parts = looked_up(store, model)
    found = [_events(store, part, batch, lower) for part, _ in parts]
    p = np.array([weight for _, weight in parts]) @ probabilities(found)
    logp: Floats = np.log(np.maximum(p, np.exp(MISSING_UNK)))
    known: Bools = np.any([each.known for each in found], axis=0)
    return Events(logp, known, np.max([each.length for each in found], axis=0))


def probabilities(found: Sequence[Events]) -> Floats:
    """Return what models give the same events, (models, events); those that only others know get nothing."""
    known = np.array([each.known for each in found])
    p: Floats = np.exp([each.logp for each in found])
    p[~known & known.any(axis=0)] = 0
    return p


def _events(store: Store, model: ModelLike, batch: Batch, lower: bool) -> Events:
    forms = [model.symbols.lowered(form) for form in batch.forms] if lower else list(batch.forms)
    words = known_words(store, model, forms)[batch.places]
    lengths = batch.lengths
    stream = wrap(words, lengths, BOS, EOS)
    table = prefetch_text(store, model, stream)
    logp, rows = _walk(table, start_state(table), stream, lengths)
    return Events(logp, stream[stream != BOS] != UNK, row_lengths(table, model.order)[rows])


@compiled
def _walk(table: NgramTable, start: int, stream: Ints, lengths: Ints) -> tuple[Floats, Ints]:
    """Return the log-probability of each event of a text between ``<s>`` and ``</s>``, and its row."""
    events = len(stream) - len(lengths)
    logp, rows = np.empty(events), np.empty(events, np.int32)
    at = event = 0
    for sentence in range(len(lengths)):
        state = start
        for place in range(at + 1, at + lengths[sentence] + 2):
            logp[event], rows[event] = look_up(table, state, stream[place])
            state = int(table.state[rows[event]])
            event += 1
        at += lengths[sentence] + 2
    return logp, rows
