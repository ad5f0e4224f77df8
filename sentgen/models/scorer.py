"""What a scorer is: a language model of the user's own, sentences in and log-probabilities out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

Sentences = Sequence[Sequence[str]]
#: Takes sentences and returns the natural logarithm of the probability of each word, a list a sentence.
ScoreWords = Callable[[Sentences], Sequence[Sequence[float]]]


@dataclass(frozen=True, slots=True)
class Scorer:
    """A language model by its name; it gets at most `MOST` sentences at a time, of about the same length.

    Attributes:
        name: that of its entry point.
        title: what it is, for lists.
        score: takes sentences, each the list of its words, and returns the natural logarithm of the
            probability of each.
        score_words: the same of each word after those before it, a list a sentence; None if it cannot tell.
        package: what adds it, with its version; sentgen sets it.
    """

    name: str
    title: str
    score: Callable[[Sentences], Sequence[float]]
    score_words: ScoreWords | None = None
    package: str = ""
