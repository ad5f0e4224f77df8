"""What the strings of two systems are like, beside their verb arguments: new or copied, and how fluent."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sentgen.arrays import Bools, Floats
from sentgen.corpus.sentence import Sentence
from sentgen.models import find
from sentgen.models.scoring import score_sentences
from sentgen.schema import Store

#: Of each system, cluster and length.
Strings = list[list[list[tuple[str, ...] | None]]]


def copies(strings: Strings, clusters: Sequence[Sequence[Sentence]]) -> Bools:
    """Return (systems, clusters, lengths) whether a string is a sentence of its cluster or a piece of one."""
    return np.array(
        [
            [
                [text is not None and is_copied(text, cluster) for text in row]
                for row, cluster in zip(system, clusters, strict=True)
            ]
            for system in strings
        ],
        bool,
    )


def is_copied(words: Sequence[str], sentences: Sequence[Sentence]) -> bool:
    """Return whether words are one of some sentences, or a piece of one, capitals aside."""
    return any(_spaced(words) in _spaced(sentence.forms) for sentence in sentences)


def fluency(store: Store, model: str, strings: Strings) -> Floats:
    """Return (systems, clusters, lengths) log10 a word, the end included, by a model; NaN without a string.

    Raises:
        NotFoundError: there is no such model.
    """
    found = np.full((len(strings), len(strings[0]), len(strings[0][0])), np.nan)
    places = [place for place in np.ndindex(found.shape) if _at(strings, place) is not None]
    texts = [_at(strings, place) or () for place in places]
    for place, score in zip(places, score_sentences(store, find(store, model), texts), strict=True):
        found[place] = score.log10 / (len(score.words) + 1)
    return found


def _spaced(words: Sequence[str]) -> str:
    return f" {' '.join(words).lower()} "


def _at(strings: Strings, index: tuple[int, ...]) -> tuple[str, ...] | None:
    system, cluster, length = index
    return strings[system][cluster][length]
