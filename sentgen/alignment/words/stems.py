"""Stems of words, as the Porter stemmer makes them."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any


@lru_cache(maxsize=1 << 18)
def stem(word: str) -> str:
    """Return the stem of a word in lower case (Porter 1980).

    >>> stem("Tripling"), stem("sales"), stem("'s")
    ('tripl', 'sale', "'s")
    """
    return str(_stemmer().stem(word))


@cache
def _stemmer() -> Any:
    from nltk.stem.porter import PorterStemmer  # NLTK imports scipy.stats, which takes a second

    return PorterStemmer()
