"""All bigrams of some words at once: a dense table of a back-off model, for searches over vocabularies."""

from __future__ import annotations

import numpy as np

from sentgen.arrays import Floats, Ints, compiled
from sentgen.models.ngrams.ngram_table import EMPTY, NgramTable, extend, find, start_state
from sentgen.schema.tables.corpus import EOS


def bigram_matrix(table: NgramTable, words: Ints) -> Floats:
    """Return p(column | row) of n words: (n + 1, n + 1), row n is the start, column n the end of the
    sentence.

    Probabilities, no logarithms. Only one word of context is used, whatever the order of the model; a word
    that it does not know is <unk>, so that a row need not sum to one.

    Args:
        table: the model.
        words: (n,) local ids.
    """
    probabilities: Floats = np.exp(_fill(table, start_state(table), words.astype(np.int32)))
    return probabilities


@compiled
def _fill(table: NgramTable, start: int, words: Ints) -> Floats:
    n = len(words)
    logp = np.empty((n + 1, n + 1))
    for a in range(n + 1):
        state = start
        if a < n:
            # The state of the unigram, not one that has the start of the sentence before it.
            row = find(table, EMPTY, words[a])
            state = table.state[row] if row >= 0 else EMPTY
        for b in range(n + 1):
            logp[a, b], _ = extend(table, state, words[b] if b < n else EOS)
    return logp
