"""What stands in the place of a word of an abstract, and whether it contradicts it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from sentgen.alignment.alignment import Span
from sentgen.alignment.states.kinds import TextKinds
from sentgen.alignment.states.relations import RELATIONS, Relation, opposite, other_form, relation
from sentgen.alignment.states.slots import LONGEST, Slot, slots, worth
from sentgen.alignment.states.state import SUPPORTED, WordState
from sentgen.alignment.words.function_words import is_function_word
from sentgen.alignment.words.stems import stem
from sentgen.arrays import Longs

#: What the frame of a slot is worth at least for its words to be about the same: in all, and on each side.
FRAME, SIDE = 2.0, 0.3
#: How much of a sentence the other one has at least where words contradict that are no numbers or names.
ALIKE = 0.5
#: Kinds of words that say little by themselves.
_LIGHT = ("function word", "mark")
_ARTICLES = frozenset(("a", "an", "the"))
#: Words of the document that are akin to one of the abstract, and how.
_Akin = Mapping[int, tuple[Relation, str]]


class _Likeness(NamedTuple):
    """How both sides of a slot are alike.

    ``long``: they have as many words; ``even``: as many words that say something, and no function words that
    differ; ``joined``: both have function words that differ.
    """

    long: bool
    even: bool
    joined: bool


class Judging:
    """The states of the words of a sentence of the abstract, laid beside one of the document.

    States are those of links at first; they are corrected in place.
    """

    def __init__(
        self,
        states: list[WordState],
        abstract: tuple[TextKinds, Span],
        document: tuple[TextKinds, Span],
        wordnet: Path | None,
    ) -> None:
        self._states, self._wordnet = states, wordnet
        (self._here, self._sentence), (self._there, self._source) = abstract, document

    def judge(self, places: Longs) -> None:
        """Compare what stands between words that both sentences have, given these (``slots.matched``)."""
        words, others = (
            text.words[slice(*span)]
            for text, span in ((self._here, self._sentence), (self._there, self._source))
        )
        self._take_over(places.tolist())
        self._alike = _share(words, places) >= ALIKE
        for slot in slots(words, others, places):
            small = max(b - a for a, b in (slot.abstract, slot.document)) <= LONGEST
            if small and slot.frame >= FRAME and min(slot.before, slot.after) >= SIDE:
                self._compare(slot)

    def _take_over(self, places: Sequence[int]) -> None:
        """Say that new words are the same that match and stand beside a match, or beyond the next word."""
        for at, place in enumerate(places):
            beside = {places[at + step] - step for step in (-2, -1, 1, 2) if 0 <= at + step < len(places)}
            i = at + self._sentence[0]
            if place >= 0 and place in beside and self._states[i].state == "new":
                j = place + self._source[0]
                state, why = other_form(self._here.words[i], self._there.words[j])
                self._states[i] = self._states[i].judged(state, (j,), why)

    def _compare(self, slot: Slot) -> None:
        """Compare the words of both sides of a slot, one of which may be empty."""
        here = range(*(end + self._sentence[0] for end in slot.abstract))
        there = range(*(end + self._source[0] for end in slot.document))
        akin = {i: self._akin(i, there) for i in here}
        explained = {j for of_word in akin.values() for j in of_word}
        rivals = [j for j in there if j not in explained]
        sides = [
            (self._here, self._sentence, [i for i in here if not akin[i]]),
            (self._there, self._source, rivals),
        ]
        # *after the flood* is not said in place of *and water*: what joins it is another thing.
        joined = [_joins(text, places) for text, _, places in sides]
        said = {sum(text.kind(span, place) not in _LIGHT for place in of) for text, span, of in sides}
        likeness = _Likeness(len(here) == len(there), len(said) == 1 and not any(joined), all(joined))
        for i in here:
            if akin[i]:
                self._join(i, akin[i])
            elif not self._goes_on_elsewhere(i, here, there):
                self._contradict(i, self._rivals(i, rivals, likeness))

    def _rivals(self, i: int, there: Sequence[int], likeness: _Likeness) -> list[int]:
        """Return which words contradict a word in their place.

        Args:
            i: the word.
            there: the words that stand in its place, and that no word there is akin to.
            likeness: of both sides of the slot.
        """
        word, kind = self._here.words[i], self._here.kind(self._sentence, i)
        if kind == "function word":
            return [j for j in there if opposite(word, self._there.words[j])]
        content = [j for j in there if self._there.kind(self._source, j) not in _LIGHT]
        if kind == "mark" or not content:
            return []
        if self._has(self._there, self._source, word):
            # Only moved, unless what stands here has moved, too: both are exchanged then.
            return [j for j in content if self._has(self._here, self._sentence, self._there.words[j])]
        supported = self._states[i].state in SUPPORTED
        # Any word has a capital where a sentence begins.
        plain = kind == "word" or (kind == "name" and i == self._sentence[0])
        if (plain and not (self._alike and likeness.even)) or (supported and likeness.joined):
            return []
        # *IBM* may be *the company* of another sentence, and no word contradicts a phrase; one may another.
        same = [j for j in content if self._there.kind(self._source, j) == kind]
        return same or (content if likeness.long or not supported else [])

    def _akin(self, i: int, there: range) -> _Akin:
        word = self._here.words[i]
        found = ((j, relation(word, self._there.words[j], self._wordnet)) for j in there)
        return {j: one for j, one in found if one[0] != "other"}

    @staticmethod
    def _has(text: TextKinds, sentence: Span, word: str) -> bool:
        """Say whether a sentence has a word, by its stem."""
        return any(stem(other) == stem(word) for other in text.words[slice(*sentence)])

    def _join(self, i: int, akin: _Akin) -> None:
        """Say that a new word is akin to one in its place."""
        one = self._states[i]
        j, (state, why) = min(akin.items(), key=lambda item: RELATIONS.index(item[1][0]))
        if one.state == "new" and state in SUPPORTED:
            self._states[i] = one.judged(state, (j,), why)

    def _goes_on_elsewhere(self, i: int, here: range, there: range) -> bool:
        """Say whether a word stands elsewhere beside a content word that stands beside this slot, too."""
        one = self._states[i]
        if one.state not in SUPPORTED:
            return False
        return any(
            other.state in SUPPORTED
            and not is_function_word(other.word)
            and any(place + step in other.source and place not in there for place in one.source)
            for step in (-1, 1)
            if 0 <= i + step < len(self._states) and i + step not in here
            for other in (self._states[i + step],)
        )

    def _contradict(self, i: int, rivals: Sequence[int]) -> None:
        """Say that a word is changed if there is one that contradicts it in its place."""
        if rivals:
            # Of several, the last one: it is the head of an English phrase more often than not.
            j = rivals[-1]
            kinds = self._here.kind(self._sentence, i), self._there.kind(self._source, j)
            kind = kinds[0] if kinds[0] == kinds[1] else "word"
            why = f"another {kind}: {self._there.words[j]}"
            self._states[i] = self._states[i].judged("changed", (j,), why)


def _joins(text: TextKinds, places: Iterable[int]) -> bool:
    """Say whether there is a function word that is no article."""
    words = (text.words[place] for place in places)
    return any(is_function_word(word) and word.isalpha() and word.lower() not in _ARTICLES for word in words)


def _share(words: Sequence[str], places: Longs) -> float:
    """Return how much of a sentence the other one has."""
    worths = [worth(word) for word in words]
    return sum(value for value, place in zip(worths, places, strict=True) if place >= 0) / sum(worths)
