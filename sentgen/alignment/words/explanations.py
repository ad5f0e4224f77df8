"""How WordNet relates two words beyond kinship: by the words that explain them, or by two steps."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sentgen.alignment.words.function_words import is_function_word
from sentgen.alignment.words.shared import shared
from sentgen.alignment.words.stems import stem
from sentgen.alignment.words.wordnet import Synset, senses, wordnet

#: Kinds of relation, the closest last.
RELATED_BY = (
    "not related",
    "up to two steps apart",
    "one explains the other",
    "each explains the other",
)
#: Senses of a word as each part of speech whose explanations count, the most frequent ones.
_SENSES = 3
_WORDS = re.compile("[a-z]{3,}")


def related_by(folder: Path | None, left: Sequence[str], right: Sequence[str]) -> npt.NDArray[np.uint8]:
    """Return the number in `RELATED_BY` of each two words, (len(left), len(right)); 0 of function words.

    Without WordNet (``folder`` is ``None``) no words are related.
    """
    if folder is None or not left or not right:
        return np.zeros((len(left), len(right)), np.uint8)
    content, other = (["" if is_function_word(word) else word.lower() for word in of] for of in (left, right))
    steps, other_steps = ([_within_a_step(folder, word) for word in of] for of in (content, other))
    stems, other_stems = ([(stem(word),) if word else () for word in of] for of in (content, other))
    told, other_told = ([_explanation(folder, word) for word in of] for of in (content, other))
    explained = shared(stems, other_told).astype(np.uint8) + shared(told, other_stems)
    return np.where(explained > 0, 1 + explained, shared(steps, other_steps)).astype(np.uint8)


@lru_cache(maxsize=1 << 16)
def _within_a_step(folder: Path, word: str) -> frozenset[Synset]:
    own, others = senses(folder, word)
    return own | others


@lru_cache(maxsize=1 << 16)
def _explanation(folder: Path, word: str) -> frozenset[str]:
    """Return the stems of the content words that explain the most frequent senses of a word."""
    glosses = wordnet(folder).glosses(word, _SENSES)
    return frozenset(
        stem(one) for gloss in glosses for one in _WORDS.findall(gloss.lower()) if not is_function_word(one)
    )
