"""Words of an abstract that no link reaches, and that stand in the document nevertheless.

A posterior is shared out among all copies of a word, and of a long document only some sentences are looked at
(``passages``): a word of the document may be linked with none of its places. Who reads an abstract would not
call it new. So each content word without a link is looked for in the whole document, by its stem, and comes
from the place whose sentence has most to do with its own: other words of it, the words beside it, or links of
it, there or in the next sentence. A place of which nothing speaks is somewhere else.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property

from sentgen.alignment.states.kinds import TextKinds
from sentgen.alignment.states.slots import worth
from sentgen.alignment.words.function_words import is_function_word
from sentgen.alignment.words.stems import stem

#: What speaks for a place: that others come from its sentence, and each content word that it shares,
LINKED, SHARED = 1.0, 1.0
#: what these count where they are found in the sentences around, and how many sentences that is on each side,
NEARBY, AROUND = 0.5, 2
#: and what has to speak for it at least.
ENOUGH = 0.5
#: Places of a word that are looked at, those near to the sources of its sentence first.
MOST = 100


class WordOccurrences:
    """Where some words of an abstract stand in its document."""

    def __init__(self, words: Sequence[str], document: TextKinds) -> None:
        self._document, self._wanted = document, {stem(word) for word in words}
        self._stems = dict[int, frozenset[str]]()

    @cached_property
    def _places(self) -> Mapping[str, Sequence[int]]:
        places = defaultdict[str, list[int]](list)
        if self._wanted:
            for place, word in enumerate(self._document.words):
                if (form := stem(word)) in self._wanted:
                    places[form].append(place)
        return places

    def of(self, word: str) -> Sequence[int]:
        """Return the places of a word; those of its other forms, if there are none."""
        places = self._places.get(stem(word), ())
        same = [place for place in places if self._document.words[place].lower() == word.lower()]
        return same or places

    def sentences(self, word: str) -> tuple[int, ...]:
        """Return the numbers of the sentences that have a word, from 1, as readers see them."""
        return tuple(dict.fromkeys(bisect_right(self._document.starts, place) for place in self.of(word)))

    def best(self, words: Sequence[str], at: int, sources: Collection[int]) -> int | None:
        """Return the place that a word of a sentence comes from, if something speaks for one.

        Args:
            words: the sentence of the abstract.
            at: the word in it.
            sources: numbers of the sentences of the document from which others of it come, from 0.
        """
        own = {stem(word) for word in words if not is_function_word(word)} - {stem(words[at])}
        places = self.of(words[at])
        if len(places) > MOST:
            near = {number + step for number in sources for step in range(-AROUND, AROUND + 1)}
            places = sorted(places, key=lambda place: self._document.number(place) not in near)[:MOST]
        scores = {place: self._score(words, at, place, own, sources) for place in places}
        best = max(scores, key=lambda place: (scores[place], -place), default=None)
        return best if best is not None and scores[best] >= ENOUGH else None

    def _score(
        self, words: Sequence[str], at: int, place: int, own: Collection[str], sources: Collection[int]
    ) -> float:
        """Return what speaks for a place of a word; ``own`` are the stems of the words that are with it."""
        number = self._document.number(place)
        around = range(max(number - AROUND, 0), min(number + AROUND + 1, len(self._document.sentences)))
        score = 0.0
        for other in around:
            shared = SHARED * len(self._stems_of(other).intersection(own)) + LINKED * (other in sources)
            score = max(score, shared if other == number else NEARBY * shared)
        start, end = self._document.sentences[number]
        for step in (-1, 1):
            if 0 <= at + step < len(words) and start <= place + step < end:
                beside = self._document.words[place + step]
                score += worth(beside) * (beside.lower() == words[at + step].lower())
        return score

    def _stems_of(self, sentence: int) -> frozenset[str]:
        """Return the stems of a sentence of the document."""
        if sentence not in self._stems:
            start, end = self._document.sentences[sentence]
            self._stems[sentence] = frozenset(map(stem, self._document.words[start:end]))
        return self._stems[sentence]
