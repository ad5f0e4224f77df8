"""Capitals of new sentences: at the first word, and not at words that had a capital only as first words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sentgen.case_folding import fold
from sentgen.corpus.sentence import Sentence

_NAMES = ("PROPN", "NNP", "NNPS")


def capitalized(words: Sequence[str]) -> list[str]:
    """Return the words of a sentence, the first with a capital.

    >>> capitalized(["``", "heavy", "rains", "''"])
    ['``', 'Heavy', 'rains', "''"]
    """
    first = _first_word(words)
    return [word[:1].upper() + word[1:] if at == first else word for at, word in enumerate(words)]


def decapitalized(sentence: Sentence) -> Sentence:
    """Return a sentence whose first word is lower-cased, unless it is a name or `I`."""
    position = _first_word(sentence.forms)
    first = sentence.forms[position] if position is not None else ""
    tags = sentence.upos or sentence.xpos
    if position is None or first == "I" or not first.istitle() or (tags and tags[position] in _NAMES):
        return sentence
    return replace(sentence, forms=[*sentence.forms[:position], fold(first), *sentence.forms[position + 1 :]])


def _first_word(words: Sequence[str]) -> int | None:
    """Return the position of the first word that is not punctuation."""
    return next((at for at, word in enumerate(words) if any(map(str.isalnum, word))), None)
