"""The scorer `elman`: a recurrent network over words (Elman 1990) with random weights: put in your own."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence

import numpy as np

from sentgen.plugins import Scorer

SIZE, WORDS = 16, 512
_random = np.random.default_rng(1)
INPUT, STATE, OUTPUT = (_random.normal(0, 0.3, of) for of in ((WORDS, SIZE), (SIZE, SIZE), (SIZE, WORDS)))


def score_words(sentences: Sequence[Sequence[str]]) -> list[list[float]]:
    """Return the log-probability of each word after those before it, a list a sentence."""
    return [list(_logps(words)) for words in sentences]


def _logps(words: Sequence[str]) -> Iterator[float]:
    state = np.zeros(SIZE)
    for word in words:
        number = zlib.crc32(word.encode()) % WORDS
        logits = state @ OUTPUT
        yield float(logits[number] - np.logaddexp.reduce(logits))
        state = np.tanh(INPUT[number] + state @ STATE)


def score(sentences: Sequence[Sequence[str]]) -> list[float]:
    """Return the log-probability of each sentence."""
    return [sum(words) for words in score_words(sentences)]


SCORER = Scorer("elman", "a recurrent network with random weights", score, score_words)
