"""What models give each event of a text: its words, and the end of each sentence.

A sentence w1 .. wn is n + 1 events, the last of which is </s>, after <s>.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sentgen.arrays import Bools, Floats, Ints
from sentgen.counts.ngrams import wrap
from sentgen.models.base.registry import DYNAMIC, ModelLike, looked_up
from sentgen.models.ngrams.model_reader import ModelReader
from sentgen.models.ngrams.ngram_table import MISSING_UNK
from sentgen.models.text_batches import TextBatch
from sentgen.schema import Store
from sentgen.schema.tables.corpus import BOS, EOS, UNK


class Events(NamedTuple):
    """What a model gives each event of some sentences."""

    logp: Floats  # (events,) natural logarithms
    known: Bools  # (events,) whether the model knows the word
    length: Ints  # (events,) words of the n-gram that was found, the longest one there is


def events(store: Store, model: ModelLike, batch: TextBatch, lower: bool) -> Events:
    """Return what a model gives some sentences, their words in lower case if it is so."""
    if model.smoothing != DYNAMIC:
        return _events(store, model, batch, lower)
    parts = looked_up(store, model)
    found = [_events(store, part, batch, lower) for part, _ in parts]
    logp = mixed(found, [weight for _, weight in parts])
    known: Bools = np.any([each.known for each in found], axis=0)
    return Events(logp, known, np.max([each.length for each in found], axis=0))


def mixed(found: Sequence[Events], weights: Sequence[float]) -> Floats:
    """Return the log-probability of each event in a mixture of models, which gave it these."""
    logp: Floats = np.log(np.maximum(np.array(weights) @ probabilities(found), np.exp(MISSING_UNK)))
    return logp


def are_words(lengths: Ints) -> Bools:
    """Return which events of sentences are words, and not their ends."""
    words = np.ones(int(lengths.sum()) + len(lengths), np.bool_)
    words[np.cumsum(lengths + 1) - 1] = False
    return words


def probabilities(found: Sequence[Events]) -> Floats:
    """Return what models give the same events, (models, events); those that only others know get nothing."""
    known = np.array([each.known for each in found])
    p: Floats = np.exp([each.logp for each in found])
    p[~known & known.any(axis=0)] = 0
    return p


def _events(store: Store, model: ModelLike, batch: TextBatch, lower: bool) -> Events:
    forms = [model.symbols.lowered(form) for form in batch.forms] if lower else list(batch.forms)
    reader, lengths = ModelReader(store, model), batch.lengths
    reader.expect(len(batch.numbers) + len(lengths))
    stream = wrap(reader.known(forms)[batch.numbers], lengths, BOS, EOS)
    logp, found = reader.events(stream)
    return Events(logp, stream[stream != BOS] != UNK, found)
