"""Where the sentences of a text begin, by their full stops and by what is known of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from sentgen.alignment.words.function_words import STOPS
from sentgen.arrays import Bools, Longs

#: Words of a sentence at most; of a text without full stops, so many are taken for one.
LONGEST = 100


def breaks(stops: Bools) -> Bools:
    """Say which words come right after a full stop, (m,)."""
    return np.append(False, stops[:-1])[: len(stops)]


def sentence_starts(words: Sequence[str], starts: Sequence[int]) -> Longs:
    """Return where sentences begin: at ``starts``, after full stops, and after ``LONGEST`` words without one.

    Marks alone are no sentence: they belong to the one before them. A text has words.

    >>> sentence_starts("`` so it was . '' so it is . ''".split(), (0,)).tolist()
    [0, 5]
    """
    first = breaks(np.array([word in STOPS for word in words], np.bool_))
    first[[start for start in starts if start < len(words)]] = True
    begins = np.flatnonzero(first)
    says = np.array(list(map(_says, words)), np.int64)
    # The first one stays, whatever it is: there is none before it.
    begins = begins[np.append(True, np.add.reduceat(says, begins)[1:] > 0)]
    lengths = np.diff(np.append(begins, len(words)))
    pieces = -(-lengths // LONGEST)
    # The number of each piece in its sentence: 0, 1, 2, 0, 0, 1, ...
    number = np.arange(pieces.sum()) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    found: Longs = np.repeat(begins, pieces) + LONGEST * number
    return found


@lru_cache(maxsize=1 << 16)
def _says(word: str) -> bool:
    return any(map(str.isalnum, word))
