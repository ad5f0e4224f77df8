"""The words of a summary held against its source: what became of each, for which no trees are needed.

Both texts are aligned by the phrase-based HMM with its priors, and the states of words tell what links mean.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sentgen.alignment.pairs.alignment import Alignment, Pair
from sentgen.alignment.pairs.budget import UNBOUNDED, Budget
from sentgen.alignment.phrase_hmm.pbhmm import untrained
from sentgen.alignment.states.states import WordState
from sentgen.alignment.states.word_states import word_states
from sentgen.corpus.sentence import Sentence
from sentgen.errors import MemoryLimitError
from sentgen.output.tabular import Rows
from sentgen.output.wording import are, quantity

WORD_COLUMNS = ("sentence", "place", "word", "state", "there", "source", "why", "elsewhere", "text")


@dataclass(frozen=True, slots=True)
class CheckedWord:
    """A word of a summary, and what its source says of it.

    Attributes:
        sentence: its sentence in the summary, from 1.
        place: its place there, from 0.
        state: what became of it.
        there: the words of the source that it comes from, or that contradict it, as they stand there.
        support: the sentences of these, from 1, ascending.
    """

    sentence: int
    place: int
    state: WordState
    there: str = ""
    support: tuple[int, ...] = ()

    @property
    def changed(self) -> bool:
        """Return whether the source contradicts it."""
        return self.state.state == "changed"

    @property
    def wanting(self) -> bool:
        """Return whether it is changed or new."""
        return self.state.state in ("changed", "new")

    @property
    def reason(self) -> str:
        """Return what is against it: what tells its state, or else what stands there."""
        return self.state.why or self.there


@dataclass(frozen=True, slots=True)
class WordLimits:
    """How much aligning may take: memory, and words of the summary times words of the source."""

    budget: Budget = UNBOUNDED
    cells: float = math.inf


NO_LIMITS = WordLimits()


def check_words(
    summary: Sequence[Sentence], source: Sequence[Sentence], limits: WordLimits = NO_LIMITS
) -> list[CheckedWord]:
    """Say of each word of a summary what became of it.

    Raises:
        MemoryLimitError: the texts are too long.
    """
    pair = Pair.of_sentences("", source, summary)
    if len(pair.document) * len(pair.abstract) > limits.cells:
        raise MemoryLimitError(
            f"the texts have {len(pair.document):,} x {len(pair.abstract):,} words; at most"
            f" {int(limits.cells):,} word pairs are taken"
        )
    alignment = Alignment(())
    if pair.document and pair.abstract:
        (alignment,) = replace(untrained("best"), budget=limits.budget).align([pair])
    return [_checked(pair, offset, state) for offset, state in enumerate(word_states(pair, alignment))]


def _checked(pair: Pair, offset: int, state: WordState) -> CheckedWord:
    sentence = bisect_right(pair.abstract_starts, offset)
    support = {bisect_right(pair.document_starts, place) for place in state.source}
    there = " ".join(pair.document[place] for place in state.source)
    return CheckedWord(
        sentence, offset - pair.abstract_starts[sentence - 1], state, there, tuple(sorted(support))
    )


def word_table(words: Sequence[CheckedWord], texts: Sequence[str]) -> Rows:
    """Return a row a word, with the text of its sentence; places count from 1."""
    return Rows(
        WORD_COLUMNS,
        [
            (
                *(word.sentence, word.place + 1, word.state.word, word.state.state, word.there),
                *(" ".join(map(str, word.support)), word.state.why),
                *(" ".join(map(str, word.state.elsewhere)), texts[word.sentence - 1]),
            )
            for word in words
        ],
    )


def word_counts(words: Sequence[CheckedWord]) -> dict[str, int]:
    """Return how many words there are, and how many are changed and new."""
    changed = sum(word.changed for word in words)
    return {"words": len(words), "changed": changed, "new": sum(word.wanting for word in words) - changed}


def word_figure(words: Sequence[CheckedWord]) -> str:
    """Return the same in words.

    >>> word_figure([CheckedWord(1, 0, WordState("camp", "same")), CheckedWord(1, 1, WordState("is", "new"))])
    '0 of 2 words are changed, 1 new'
    """
    of = word_counts(words)
    changed, new = (f"{of[name]:,}" for name in ("changed", "new"))
    return f"{changed} of {quantity(of['words'], 'word')} {are(of['words'])} changed, {new} new"
