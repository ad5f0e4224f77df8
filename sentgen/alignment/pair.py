"""A document and its abstract as the aligners see them: two lists of words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from sentgen.corpus.sentence import Sentence


@dataclass(frozen=True, slots=True)
class Pair:
    """A document and its abstract.

    ``document_starts`` and ``abstract_starts`` are the offsets at which sentences begin, the first one 0; a
    text that is not split into sentences has the one offset.
    """

    key: str
    document: tuple[str, ...]
    abstract: tuple[str, ...]
    document_starts: tuple[int, ...] = (0,)
    abstract_starts: tuple[int, ...] = (0,)

    @classmethod
    def of_sentences(cls, key: str, document: Sequence[Sentence], abstract: Sequence[Sentence]) -> Pair:
        """Return the words of two texts and where their sentences begin."""
        return cls(key, _words(document), _words(abstract), _starts(document), _starts(abstract))


def _words(sentences: Sequence[Sentence]) -> tuple[str, ...]:
    return tuple(form for sentence in sentences for form in sentence.forms)


def _starts(sentences: Sequence[Sentence]) -> tuple[int, ...]:
    return tuple(accumulate((len(sentence.forms) for sentence in sentences[:-1]), initial=0))
