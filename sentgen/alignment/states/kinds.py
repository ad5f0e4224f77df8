"""What kind of thing words are: numbers, dates, names, others; words of different kinds do not contradict."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Literal

from sentgen.alignment.alignment import Span
from sentgen.alignment.pair import Pair
from sentgen.alignment.states.polarity import NEGATIONS
from sentgen.alignment.words.function_words import is_function_word
from sentgen.alignment.words.names import lower_words, name_like
from sentgen.alignment.words.quantities import Quantity, quantities
from sentgen.alignment.words.sentences import sentence_starts

Kind = Literal["number", "date", "name", "word", "function word", "mark"]


class TextKinds:
    """A text of a pair: its sentences, and the kinds of its words, looked at where they are asked for.

    Args:
        words: of the text.
        starts: offsets at which its sentences begin, as far as they are known.
        lower: words that the pair has in lower case, which are no names.
    """

    def __init__(self, words: Sequence[str], starts: Sequence[int], lower: frozenset[str]) -> None:
        self.words, self.starts, self._lower = words, starts, lower
        begins = sentence_starts(words, starts).tolist()
        #: The spans of its sentences, long ones in pieces.
        self.sentences: list[Span] = list(zip(begins, [*begins[1:], len(words)], strict=True))
        self._of_sentence = dict[Span, list[Quantity]]()

    def number(self, place: int) -> int:
        """Return the number of the sentence of a word, from 0."""
        return bisect_right(self.sentences, (place, len(self.words))) - 1

    def quantities(self, sentence: Span) -> list[Quantity]:
        """Return the numbers, amounts and dates of a sentence; offsets count from its first word."""
        if sentence not in self._of_sentence:
            self._of_sentence[sentence] = quantities(self.words[slice(*sentence)])
        return self._of_sentence[sentence]

    def kind(self, sentence: Span, place: int) -> Kind:
        """Return the kind of a word of a sentence; units are words, the number beside them is one."""
        word = self.words[place]
        if not any(map(str.isalnum, word)):
            return "mark"
        within = next(
            (one for one in self.quantities(sentence) if one.start <= place - sentence[0] < one.end), None
        )
        if within is not None and within.kind in ("date", "time"):
            return "date"
        if any(map(str.isdigit, word)) or (within is not None and place - sentence[0] == within.start):
            return "number"
        if is_function_word(word) or word.lower() in NEGATIONS:
            return "function word"
        return "name" if name_like(self.words, place, self._lower) else "word"


def both_texts(pair: Pair) -> tuple[TextKinds, TextKinds]:
    """Return the abstract and the document of a pair."""
    lower = lower_words(pair.abstract, pair.document)
    return (
        TextKinds(pair.abstract, pair.abstract_starts, lower),
        TextKinds(pair.document, pair.document_starts, lower),
    )
