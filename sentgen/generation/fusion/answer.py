"""What fusion gives: new sentences, where each of their words is from, and what was done to the key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from sentgen.corpus.sentence import Sentence
from sentgen.generation.clusters.casing import capitalized

#: What is done with a phrase of a related sentence: it is added to a word of the key, it stands in the place
#: of a phrase, or it is a clause that follows the key.
ChangeKind = Literal["added", "replaced", "conjoined"]


class WordOrigin(NamedTuple):
    """Where a word is from: the number of its sentence, 0 for the key, and its place there, from 0."""

    sentence: int
    place: int


@dataclass(frozen=True, slots=True)
class FusionChange:
    """One thing that was done to the key sentence.

    Attributes:
        kind: what.
        text: the words that came in, in the order of their sentence.
        sentence: the number of the related sentence that they are from, from 1.
        places: of these words in their sentence, from 0.
        beside: the word of the key that they hang on; for what was replaced, the words that are gone.
        marker: the words put in with a clause that is from no sentence, such as `while`; "" for none.
    """

    kind: ChangeKind
    text: str
    sentence: int
    places: tuple[int, ...]
    beside: str
    marker: str = ""


@dataclass(frozen=True, slots=True)
class FusedSentence:
    """A new sentence.

    Attributes:
        words: as they are to be read; `text` puts the capital.
        score: what the algorithm optimized, a natural logarithm.
        origins: where each word is from, None for a word that is from no sentence.
        changes: what was done to the key sentence.
    """

    words: tuple[str, ...]
    score: float
    origins: tuple[WordOrigin | None, ...]
    changes: tuple[FusionChange, ...]

    @property
    def text(self) -> str:
        """Return the sentence, words separated by blanks, with a capital."""
        return " ".join(capitalized(self.words))


@dataclass(frozen=True, slots=True)
class FusionAnswer:
    """New sentences, the best one first; none where nothing could be added to the key, or nothing is new.

    Attributes:
        key: the key sentence.
        related: the others, which origins and changes count from 1.
        algorithm: what made them.
        changes: what was to be done to the key: with none, there is nothing to add.
        sentences: all different, and different from key and related sentences.
    """

    key: Sentence
    related: Sequence[Sentence]
    algorithm: str
    changes: tuple[FusionChange, ...]
    sentences: tuple[FusedSentence, ...]
