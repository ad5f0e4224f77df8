"""From which sentences of its document each sentence of an abstract comes, by what its words come from."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from sentgen.alignment.pair import Pair
from sentgen.alignment.states.word_states import WordState


@dataclass(frozen=True, slots=True)
class SentenceSource:
    """A sentence of the document, from 1, and the words of an abstract sentence that come from it.

    ``share`` is that of all words of the abstract sentence, ``posterior`` the mean of those of the best
    links of ``words``, where the aligner knows them.
    """

    sentence: int
    words: int
    share: float
    posterior: float | None


def sentence_sources(pair: Pair, states: Sequence[WordState]) -> list[tuple[int, list[SentenceSource]]]:
    """Return for each sentence of the abstract its words, and its sources by share, equals in their order.

    A word that comes from two sentences, or is contradicted in one, counts for each.
    """
    ends = (*pair.abstract_starts[1:], len(pair.abstract))
    return [
        (end - start, _sources(pair, states[start:end]))
        for start, end in zip(pair.abstract_starts, ends, strict=True)
    ]


def _sources(pair: Pair, words: Sequence[WordState]) -> list[SentenceSource]:
    by_sentence: dict[int, list[WordState]] = {}
    for word in words:
        for sentence in {bisect_right(pair.document_starts, place) for place in word.source}:
            by_sentence.setdefault(sentence, []).append(word)
    found = []
    for sentence, of in by_sentence.items():
        known = [word.posterior for word in of if word.posterior is not None]
        mean = sum(known) / len(known) if known else None
        found.append(SentenceSource(sentence, len(of), len(of) / len(words), mean))
    return sorted(found, key=lambda one: (-one.words, one.sentence))
