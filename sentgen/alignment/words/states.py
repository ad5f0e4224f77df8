"""What became of a word, what kind of thing it is, and where a sentence denies what the document says."""

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
#: Those of words that the document has, in this form or in another one.
SUPPORTED: tuple[State, ...] = ("same", "variant")


@dataclass(frozen=True, slots=True)
class WordState:
    """What became of a word of the abstract.

    Attributes:
        word: as it stands there.
        state: ``same``: the same word; ``variant``: inflected, spelled otherwise, derived, or a synonym;
            ``related``: linked, and neither; ``changed``: in a place where what stands in the document
            contradicts it; ``new``: comes from nothing.
        source: offsets of the document words that it comes from, or that contradict it, ascending.
        posterior: the probability of its best link given both texts, where the aligner knows it.
        null: the probability that it comes from nothing, where the aligner knows it.
        why: what tells its state, in a few words; empty where nothing is to be said.
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
        """Return another state of the word; the posterior is that of its links, and of no other place."""
        posterior = self.posterior if set(source) & set(self.source) else None
        return replace(self, state=state, source=source, posterior=posterior, why=why)


_WORDS = """
not n't n’t no never nobody nothing none neither nor nowhere cannot hardly
"""
#: Words that turn the sense of what follows around.
_NEGATIONS = frozenset(_WORDS.split())
#: Function words between a negation and what it turns around, at most.
_BETWEEN = 3
#: Words of a clause that are looked through for one.
_CLAUSE = 6


def judge_polarity(
    states: list[WordState],
    abstract: tuple[Sequence[str], Span],
    document: tuple[Sequence[str], Span],
    places: Longs,
) -> None:
    """Mark negations that were put in, and words whose negation was left out, as changed, in place.

    Args:
        states: states of all words of the abstract.
        abstract: words of the abstract, and the span of one of its sentences.
        document: words of the document, and the span of the sentence that is compared.
        places: which words match (``slots.match_words``).
    """
    (start, end), (first, last) = abstract[1], document[1]
    words, others = abstract[0][start:end], document[0][first:last]
    own = [at for at, word in enumerate(words) if word.lower() in _NEGATIONS]
    # A negation without a match may deny the same in other words.
    denies = any(places[at] < 0 for at in own)
    for i, j in enumerate(places.tolist()):
        # What comes from another sentence is denied, or not, there.
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
    """Mark the word before a negation that was left out, where no content word comes right after."""
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
    """Say whether a clause denies something before a word: *he did not go or call* denies both."""
    before = (words[at].lower() for at in range(position - 1, max(position - 1 - _CLAUSE, -1), -1))
    return any(
        word in _NEGATIONS for word in takewhile(lambda word: word[0].isalnum() or "'" in word, before)
    )


def _denied_reason(*words: str) -> str:
    return f"denied in the document: {' '.join(words)}"


def _negation(words: Sequence[str], position: int) -> int | None:
    """Return the place of the negation before a word that turns it around, or none.

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
    """A text of a pair: its sentences, and the kinds of its words, looked at where they are asked for.

    Args:
        words: words of the text.
        starts: offsets at which its sentences begin, as far as they are known.
        lower: words that the pair has in lower case, which are no names.
    """

    def __init__(self, words: Sequence[str], starts: Sequence[int], lower: frozenset[str]) -> None:
        self.words, self.starts, self._lower = words, starts, lower
        begins = sentence_starts(words, starts).tolist()
        #: The spans of its sentences, long ones in pieces.
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
        """Return the kind of a word of a sentence; units are words, the number beside them is one."""
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
