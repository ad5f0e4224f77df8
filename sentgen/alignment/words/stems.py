"""Stems of words, as Snowball's stemmer of English makes them (Porter2, the one its author recommends)."""

from __future__ import annotations

from functools import lru_cache

from Stemmer import Stemmer

# `lru_cache` remembers more words than the stemmer would, so that it need not.
_STEMMER = Stemmer("english", 0)


@lru_cache(maxsize=1 << 18)
def stem(word: str) -> str:
    """Return the stem of a word in lower case.

    >>> stem("Tripling"), stem("sales"), stem("'s")
    ('tripl', 'sale', "'s")
    """
    return str(_STEMMER.stemWord(word.lower()))
