"""The states and kinds of words, and the words of a sentence that contradict the document by negation."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Literal, get_args

from sentgen.alignment.pairs.alignment import Span
from sentgen.alignment.words.names import name_like
from sentgen.alignment.words.quantities import Quantity, quantities
from sentgen.alignment.words.word_classes import is_function_word, sentence_starts
from sentgen.arrays import Longs

State = Literal["same", "variant", "related", "changed", "new"]
#: From the best supported to the least.
STATES: tuple[State, ...] = get_args(State)
#: The states of words that the document has, in this form or in another.
SUPPORTED: tuple[State, ...] = ("same", "variant")


@dataclass(frozen=True, slots=True)
class WordState:
    """The state of a word of the abstract.

    Attributes:
        word: the word as it is in the abstract.
        state: ``same``: the same word; ``variant``: inflected, spelled otherwise, derived, or a synonym;
            ``related``: linked, and neither; ``changed``: the document has a contradicting word in the same
            place; ``new``: without a source.
        source: offsets of the document words that it comes from, or that contradict it, ascending.
        posterior: the posterior of the best link, where the aligner knows it.
        null: P(null) of the word, where the aligner knows it.
        why: the reason for the state, in a few words; empty if none is needed.
        elsewhere: the sentences of the document, from 1 and ascending, that have a new word.
    """

    word: str
    state: State
    source: tuple[int, ...] = ()
    posterior: float | None = None
    null: float | None = None
    why: str = ""
    elsewhere: tuple[int, ...] = ()

    def with_state(self, state: State, source: tuple[int, ...], why: str) -> WordState:
        """Return the word with another state; its posterior is kept only with the source of its links."""
        posterior = self.posterior if set(source) & set(self.source) else None
        return replace(self, state=state, source=source, posterior=posterior, why=why)


_WORDS = """
not n't n’t no never nobody nothing none neither nor nowhere cannot hardly
"""
#: Words that negate the words that follow.
_NEGATIONS = frozenset(_WORDS.split())
#: Most function words between a negation and the negated word.
_BETWEEN = 3
#: Most words of a clause in which a negation is searched.
_CLAUSE = 6


def judge_polarity(
    states: list[WordState],
    abstract: tuple[Sequence[str], Span],
    document: tuple[Sequence[str], Span],
    places: Longs,
) -> None:
    """Mark inserted negations, and words whose negation was deleted, as changed, in place.

    Args:
        states: states of all words of the abstract.
        abstract: words of the abstract, and the span of one of its sentences.
        document: words of the document, and the span of the sentence that is compared.
        places: the match of each abstract word (``slots.match_words``).
    """
    (start, end), (first, last) = abstract[1], document[1]
    words, others = abstract[0][start:end], document[0][first:last]
    own = [at for at, word in enumerate(words) if word.lower() in _NEGATIONS]
    # A negation without a match may have another form in the document.
    denies = any(places[at] < 0 for at in own)
    for i, j in enumerate(places.tolist()):
        # Words from another sentence are negated, or not, there.
        if j < 0 or is_function_word(words[i]) or first + j not in states[start + i].source:
            continue
        here, there = _negation(words, i), _negation(others, j)
        if here is not None and there is None and places[here] < 0:
            at, why = here, f"not denied in the document: {others[j]}"
            source: tuple[int, ...] = (first + j,)
        elif here is None and there is not None and not denies and not _denied_before(words, i):
            at, why = i, _denied_reason(others[there], others[j])
            source = first + there, first + j
        else:
            continue
        states[start + at] = states[start + at].with_state("changed", source, why)
    if not denies:
        _left_out(states, start, (others, first), places)


def _left_out(
    states: list[WordState], start: int, document: tuple[Sequence[str], int], places: Longs
) -> None:
    """Mark the word before a deleted negation that no content word follows directly."""
    others, first = document
    matched = {j: i for i, j in enumerate(places.tolist()) if j >= 0}
    for j, word in enumerate(others):
        before, after = matched.get(j - 1), matched.get(j + 1)
        if word.lower() not in _NEGATIONS or j in matched or before is None or after != before + 1:
            continue
        turned = next((k for k in range(j + 1, len(others)) if _negation(others, k) == j), None)
        if turned is None or is_function_word(others[turned]):
            at, source, why = before, (first + j - 1, first + j), _denied_reason(others[j - 1], word)
            states[start + at] = states[start + at].with_state("changed", source, why)


def _denied_before(words: Sequence[str], position: int) -> bool:
    """Return whether a clause has a negation before a word: *he did not go or call* negates both."""
    before = (words[at].lower() for at in range(position - 1, max(position - 1 - _CLAUSE, -1), -1))
    return any(
        word in _NEGATIONS for word in takewhile(lambda word: word[0].isalnum() or "'" in word, before)
    )


def _denied_reason(*words: str) -> str:
    return f"denied in the document: {' '.join(words)}"


def _negation(words: Sequence[str], position: int) -> int | None:
    """Return the position of the negation of a word before it, or ``None``.

    >>> _negation("it was not only the cat".split(), 5), _negation("he did not go".split(), 3)
    (None, 2)
    """
    for at in range(position - 1, max(position - 2 - _BETWEEN, -1), -1):
        word = words[at].lower()
        if word in _NEGATIONS:
            return None if words[at + 1].lower() in ("only", "just") else at
        if word != "one" and (not is_function_word(word) or not word[0].isalnum()):
            return None
    return None


Kind = Literal["number", "date", "name", "word", "function word", "mark"]


class TextKinds:
    """A text of a pair: its sentences, and the kinds of its words, computed when needed.

    Args:
        words: words of the text.
        starts: offsets at which sentences begin, if known.
        lower: words that the pair has in lower case, which are not names.
    """

    def __init__(self, words: Sequence[str], starts: Sequence[int], lower: frozenset[str]) -> None:
        self.words, self.starts, self._lower = words, starts, lower
        begins = sentence_starts(words, starts).tolist()
        #: The spans of the sentences; long sentences are split.
        self.sentences: list[Span] = list(zip(begins, [*begins[1:], len(words)], strict=True))
        self._of_sentence = dict[Span, list[Quantity]]()

    def number(self, position: int) -> int:
        """Return the number of the sentence of a word, from 0."""
        return bisect_right(self.sentences, (position, len(self.words))) - 1

    def quantities(self, sentence: Span) -> list[Quantity]:
        """Return the numbers, amounts and dates of a sentence; offsets count from its first word."""
        if sentence not in self._of_sentence:
            self._of_sentence[sentence] = quantities(self.words[slice(*sentence)])
        return self._of_sentence[sentence]

    def kind(self, sentence: Span, position: int) -> Kind:
        """Return the kind of a word of a sentence; a unit is a word, the number before it a number."""
        word = self.words[position]
        if not any(map(str.isalnum, word)):
            return "mark"
        within = next(
            (
                quantity
                for quantity in self.quantities(sentence)
                if quantity.start <= position - sentence[0] < quantity.end
            ),
            None,
        )
        if within is not None and within.kind in ("date", "time"):
            return "date"
        if any(map(str.isdigit, word)) or (within is not None and position - sentence[0] == within.start):
            return "number"
        if is_function_word(word) or word.lower() in _NEGATIONS:
            return "function word"
        return "name" if name_like(self.words, position, self._lower) else "word"
