"""The state of each word of an abstract, judged by its links and by its place in the sentence.

A link is evidence of the source of a word, not of the same meaning: in *hired 21 engineers*, 21 is linked
with the 12 of the document, which is in the same place. States distinguish such words, whatever the aligner.

Links are judged first, word by word (``relations``). Then each abstract sentence is compared with the
document sentences from which most of its words come: the words between the same matched words (``slots``) are
compared with each other (``_Judging``), and the negations of both (``judge_polarity``). Numbers, dates and
names are compared by value (``_judge_names``), and words without a link are looked up in the document
(``_WordOccurrences``).

The look-up is needed since the occurrences of a word share its posterior, and only some sentences of a long
document are aligned (``passages``): a word may have no link, although the document has it. A reader would not
call it new. So each content word without a link is searched in the whole document by its stem, and comes from
the occurrence with the best score: for equal words next to it, for content words that its sentence shares
with that of the word, and for sources of other words of the sentence, there or in the sentences around. If no
score is high enough, the document has the word elsewhere.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

from sentgen.alignment.pairs.alignment import Alignment, Pair, Span, linked_words
from sentgen.alignment.words.names import lower_words, same_names
from sentgen.alignment.words.quantities import Quantity
from sentgen.alignment.words.relations import RELATIONS, Relation, opposite, other_form, relation
from sentgen.alignment.words.slots import LONGEST, Slot, match_words, slots, worth
from sentgen.alignment.words.states import SUPPORTED, TextKinds, WordState, judge_polarity
from sentgen.alignment.words.word_classes import is_function_word, stem
from sentgen.alignment.words.wordnet import find_wordnet
from sentgen.arrays import Longs

#: Scores of an occurrence: its sentence is a source of other words, and each shared content word;
_LINKED, _SHARED = 1.0, 1.0
#: the factor for evidence in the sentences around, and the number of these on each side;
_NEARBY, _AROUND = 0.5, 2
#: and the least score of a source.
_ENOUGH = 0.5
#: Most occurrences of a word that are scored, those near the sources of its sentence first.
_MOST = 100


class _WordOccurrences:
    """The occurrences of some words of an abstract in its document."""

    def __init__(self, words: Sequence[str], document: TextKinds) -> None:
        self._document, self._wanted = document, {stem(word) for word in words}
        self._stems = dict[int, frozenset[str]]()

    @cached_property
    def _positions(self) -> Mapping[str, Sequence[int]]:
        places = defaultdict[str, list[int]](list)
        if self._wanted:
            for position, word in enumerate(self._document.words):
                if (form := stem(word)) in self._wanted:
                    places[form].append(position)
        return places

    def positions(self, word: str) -> Sequence[int]:
        """Return the positions of a word, or those of its other forms if there are none."""
        places = self._positions.get(stem(word), ())
        same = [position for position in places if self._document.words[position].lower() == word.lower()]
        return same or places

    def sentences(self, word: str) -> tuple[int, ...]:
        """Return the numbers of the sentences that have a word, from 1."""
        return tuple(
            dict.fromkeys(bisect_right(self._document.starts, position) for position in self.positions(word))
        )

    def best(self, words: Sequence[str], at: int, sources: Collection[int]) -> int | None:
        """Return the position of the best occurrence of a word, or ``None`` if no score is high enough.

        The word is ``words[at]`` of a sentence; ``sources`` are the numbers, from 0, of the document
        sentences from which its other words come.
        """
        own = {stem(word) for word in words if not is_function_word(word)} - {stem(words[at])}
        places = self.positions(words[at])
        if len(places) > _MOST:
            near = {number + step for number in sources for step in range(-_AROUND, _AROUND + 1)}
            places = sorted(places, key=lambda position: self._document.number(position) not in near)[:_MOST]
        scores = {position: self._score(words, at, position, own, sources) for position in places}
        best = max(scores, key=lambda position: (scores[position], -position), default=None)
        return best if best is not None and scores[best] >= _ENOUGH else None

    def _score(
        self, words: Sequence[str], at: int, position: int, own: Collection[str], sources: Collection[int]
    ) -> float:
        """Return the score of an occurrence of a word; ``own`` are the stems of the words around it."""
        number = self._document.number(position)
        around = range(max(number - _AROUND, 0), min(number + _AROUND + 1, len(self._document.sentences)))
        score = 0.0
        for other in around:
            shared = _SHARED * len(self._stems_of(other).intersection(own)) + _LINKED * (other in sources)
            score = max(score, shared if other == number else _NEARBY * shared)
        start, end = self._document.sentences[number]
        for step in (-1, 1):
            if 0 <= at + step < len(words) and start <= position + step < end:
                beside = self._document.words[position + step]
                score += worth(beside) * (beside.lower() == words[at + step].lower())
        return score

    def _stems_of(self, sentence: int) -> frozenset[str]:
        if sentence not in self._stems:
            start, end = self._document.sentences[sentence]
            self._stems[sentence] = frozenset(map(stem, self._document.words[start:end]))
        return self._stems[sentence]


#: Reasons for words whose value the document has, or nearly has.
_WHY = ("the same value", "nearly the same value")


def _judge_quantities(
    states: list[WordState], abstract: TextKinds, sentence: Span, document: TextKinds, sources: Iterable[Span]
) -> None:
    """Mark the words of numbers, amounts and dates as variants whose values the sources have, in place.

    ``sources`` are the spans of the document sentences from which the sentence comes.
    """
    own = abstract.quantities(sentence)
    others = [(source, quantity) for source in sources if own for quantity in document.quantities(source)]
    for quantity in own:
        matches = [(source, other, _how_equal(quantity, other)) for source, other in others]
        for why in _WHY:
            same = [_span(source, other) for source, other, match in matches if match == why]
            if same:
                _mark(states, _span(sentence, quantity), same, why)
                break


def _how_equal(quantity: Quantity, other: Quantity) -> str:
    """Return how a quantity of the document equals one of the abstract, or an empty string if it does not."""
    compared = quantity.compare(other)
    if compared == "equal" and quantity.readings and other.readings:
        # *March 2021* supports *March*, not the other way around.
        return _WHY[0] if any(a.keys() <= b.keys() for a in quantity.readings for b in other.readings) else ""
    if compared == "near":
        # Nor does *about 2,000* support 1,975.
        return _WHY[1] if _digits(quantity) <= _digits(other) else ""
    return _WHY[0] if compared == "equal" else ""


def _digits(quantity: Quantity) -> int:
    """Return the number of digits of a number up to the last one that is not 0."""
    return len(str(quantity.figure or 0).partition("/")[0].rstrip("0"))


def _span(sentence: Span, quantity: Quantity) -> Span:
    return sentence[0] + quantity.start, sentence[0] + quantity.end


def _judge_names(states: list[WordState], abstract: Sequence[str], document: Sequence[str]) -> None:
    """Mark the words of names as variants that the document has in another form, in place."""
    spans = defaultdict[Span, list[Span]](list)
    # Names that are linked in the same form are skipped; where case marks names, other words are none.
    lone = [
        state.word for state in states if state.state not in SUPPORTED and not is_function_word(state.word)
    ]
    if not lone or (all(map(str.islower, lone)) and not all(map(str.islower, filter(str.isalpha, abstract)))):
        return
    for words, match in same_names(abstract, document):
        spans[words].append(match)
    for words, places in spans.items():
        _mark(states, words, places, "another form of the name")


def _mark(states: list[WordState], words: Span, places: Sequence[Span], why: str) -> None:
    """Mark words as variants of the first of several places, or of the place from which they come already.

    If a word is contradicted, all words keep their states, unless one of the places contradicts it and is
    linked with no other word.
    """
    own = states[slice(*words)]
    source = {match for state in own for match in state.source}
    match = next((match for match in places if source.intersection(range(*match))), None)
    if any(state.state == "changed" for state in own):
        linked = {j for at, state in enumerate(states) if state.state in SUPPORTED for j in state.source}
        if match is None or linked.intersection(range(*match)):
            return
    for at in range(*words):
        if states[at].state not in SUPPORTED:
            states[at] = states[at].with_state("variant", tuple(range(*(match or places[0]))), why)


#: Least worth of the frame of a slot whose words are comparable: in all, and on each side.
_FRAME, _SIDE = 2.0, 0.3
#: Least share of a sentence in the other for words to contradict that are not numbers or names.
_ALIKE = 0.5
#: Kinds of words with little meaning by themselves.
_LIGHT = ("function word", "mark")
_ARTICLES = frozenset(("a", "an", "the"))
#: Document words that are related to an abstract word, with the relation.
_Relations = Mapping[int, tuple[Relation, str]]


class _Likeness(NamedTuple):
    """The likeness of both sides of a slot.

    ``long``: the sides have the same number of words; ``even``: the same number of content words, and no
    function words that differ; ``joined``: both have function words that differ.
    """

    long: bool
    even: bool
    joined: bool


class _Judging:
    """The states of the words of an abstract sentence, compared with a document sentence.

    The states by links are corrected in place.
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
        """Compare the words between matches, given the match of each word (``slots.match_words``)."""
        words, others = (
            text.words[slice(*span)]
            for text, span in ((self._here, self._sentence), (self._there, self._source))
        )
        self._take_over(places.tolist())
        worths = [worth(word) for word in words]
        matched = sum(value for value, match in zip(worths, places, strict=True) if match >= 0)
        self._alike = matched / sum(worths) >= _ALIKE
        for slot in slots(words, others, places):
            small = max(b - a for a, b in (slot.abstract, slot.document)) <= LONGEST
            if small and slot.frame >= _FRAME and min(slot.before, slot.after) >= _SIDE:
                self._compare(slot)

    def _take_over(self, places: Sequence[int]) -> None:
        """Mark new words as the same if they match, next to another match or one word apart from it."""
        for at, match in enumerate(places):
            beside = {places[at + step] - step for step in (-2, -1, 1, 2) if 0 <= at + step < len(places)}
            i = at + self._sentence[0]
            if match >= 0 and match in beside and self._states[i].state == "new":
                j = match + self._source[0]
                state, why = other_form(self._here.words[i], self._there.words[j])
                self._states[i] = self._states[i].with_state(state, (j,), why)

    def _compare(self, slot: Slot) -> None:
        """Compare the words of both sides of a slot, one of which may be empty."""
        here = range(*(end + self._sentence[0] for end in slot.abstract))
        there = range(*(end + self._source[0] for end in slot.document))
        related = {i: self._related(i, there) for i in here}
        explained = {j for of_word in related.values() for j in of_word}
        rivals = [j for j in there if j not in explained]
        sides = [
            (self._here, self._sentence, [i for i in here if not related[i]]),
            (self._there, self._source, rivals),
        ]
        # *after the flood* does not replace *and water*: different function words join them.
        joined = [_joins(text, places) for text, _, places in sides]
        contents = {
            sum(text.kind(span, position) not in _LIGHT for position in positions)
            for text, span, positions in sides
        }
        likeness = _Likeness(len(here) == len(there), len(contents) == 1 and not any(joined), all(joined))
        for i in here:
            if related[i]:
                self._join(i, related[i])
            elif not self._goes_on_elsewhere(i, here, there):
                self._contradict(i, self._rivals(i, rivals, likeness))

    def _rivals(self, i: int, there: Sequence[int], likeness: _Likeness) -> list[int]:
        """Return the positions of the document words of a slot that contradict an abstract word of it.

        ``there`` are those that are related to none of its abstract words.
        """
        word, kind = self._here.words[i], self._here.kind(self._sentence, i)
        if kind == "function word":
            return [j for j in there if opposite(word, self._there.words[j])]
        content = [j for j in there if self._there.kind(self._source, j) not in _LIGHT]
        if kind == "mark" or not content:
            return []
        if self._has(self._there, self._source, word):
            # The word has only moved, unless the words here have moved, too: then they are exchanged.
            return [j for j in content if self._has(self._here, self._sentence, self._there.words[j])]
        supported = self._states[i].state in SUPPORTED
        # The first word of a sentence always has a capital.
        plain = kind == "word" or (kind == "name" and i == self._sentence[0])
        if (plain and not (self._alike and likeness.even)) or (supported and likeness.joined):
            return []
        # *IBM* may be *the company* of another sentence: a word contradicts a word, not a phrase.
        same = [j for j in content if self._there.kind(self._source, j) == kind]
        return same or (content if likeness.long or not supported else [])

    def _related(self, i: int, there: range) -> _Relations:
        word = self._here.words[i]
        relations = ((j, relation(word, self._there.words[j], self._wordnet)) for j in there)
        return {j: how for j, how in relations if how[0] != "other"}

    @staticmethod
    def _has(text: TextKinds, sentence: Span, word: str) -> bool:
        """Return whether a sentence has a word, by its stem."""
        return any(stem(other) == stem(word) for other in text.words[slice(*sentence)])

    def _join(self, i: int, relatives: _Relations) -> None:
        """Mark a new word as related to a document word in its place."""
        current = self._states[i]
        j, (state, why) = min(relatives.items(), key=lambda item: RELATIONS.index(item[1][0]))
        if current.state == "new" and state in SUPPORTED:
            self._states[i] = current.with_state(state, (j,), why)

    def _goes_on_elsewhere(self, i: int, here: range, there: range) -> bool:
        """Return whether a word is elsewhere next to a content word that is also next to this slot."""
        current = self._states[i]
        if current.state not in SUPPORTED:
            return False
        return any(
            other.state in SUPPORTED
            and not is_function_word(other.word)
            and any(position + step in other.source and position not in there for position in current.source)
            for step in (-1, 1)
            if 0 <= i + step < len(self._states) and i + step not in here
            for other in (self._states[i + step],)
        )

    def _contradict(self, i: int, rivals: Sequence[int]) -> None:
        """Mark a word as changed if a document word contradicts it in its place."""
        if rivals:
            # Of several, the last one, which is usually the head of an English phrase.
            j = rivals[-1]
            kinds = self._here.kind(self._sentence, i), self._there.kind(self._source, j)
            kind = kinds[0] if kinds[0] == kinds[1] else "word"
            why = f"another {kind}: {self._there.words[j]}"
            self._states[i] = self._states[i].with_state("changed", (j,), why)


def _joins(text: TextKinds, places: Iterable[int]) -> bool:
    """Return whether some of the words is a function word other than an article."""
    words = (text.words[position] for position in places)
    return any(is_function_word(word) and word.isalpha() and word.lower() not in _ARTICLES for word in words)


#: Most document sentences that an abstract sentence is compared with, and their least share of its words.
_SENTENCES, _LEAST = 2, 1.0
#: Least posterior of a link between related content words without a known relation.
_LIKELY = 0.5
#: Reason for related words without a known relation.
_IN_PLACE = "in its place"


def word_states(pair: Pair, alignment: Alignment) -> tuple[WordState, ...]:
    """Return the state of each word of the abstract, in its order."""
    if not pair.abstract or not pair.document:
        return tuple(WordState(word, "new") for word in pair.abstract)
    wordnet = _wordnet()
    lower = lower_words(pair.abstract, pair.document)
    abstract = TextKinds(pair.abstract, pair.abstract_starts, lower)
    document = TextKinds(pair.document, pair.document_starts, lower)
    states = [
        _linked_state(pair, alignment, word, links, wordnet)
        for word, links in enumerate(_links(pair, alignment))
    ]
    for sentence in abstract.sentences:
        sources = _sources(states[slice(*sentence)], document)
        for source in sources[:_SENTENCES]:
            places = match_words(
                *(text.words[slice(*span)] for text, span in ((abstract, sentence), (document, source)))
            )
            _Judging(states, (abstract, sentence), (document, source), wordnet).judge(places)
            judge_polarity(states, (pair.abstract, sentence), (pair.document, source), places)
        _judge_quantities(states, abstract, sentence, document, sources)
    _judge_names(states, pair.abstract, pair.document)
    _look_up(states, abstract, document)
    return tuple(states)


@cache
def _wordnet() -> Path | None:
    """Return the folder of WordNet, searched once in a process, as a search takes as long as a short pair."""
    return find_wordnet()


def _links(pair: Pair, alignment: Alignment) -> list[list[tuple[float | None, int]]]:
    """Return (posterior, document offset) of the links of each abstract word."""
    links = [list[tuple[float | None, int]]() for _ in pair.abstract]
    for phrase in alignment.phrases:
        for word, position in linked_words(phrase.abstract, phrase.document):
            links[word].append((phrase.posterior, position))
    return links


def _linked_state(
    pair: Pair,
    alignment: Alignment,
    word: int,
    links: Sequence[tuple[float | None, int]],
    wordnet: Path | None,
) -> WordState:
    form = pair.abstract[word]
    null = None if alignment.null is None else alignment.null[word]
    related = [
        (*relation(form, pair.document[position], wordnet), posterior, position)
        for posterior, position in links
    ]
    if not related:
        return WordState(form, "new", null=null)
    closest = min((link[0] for link in related), key=RELATIONS.index)
    chosen = [link for link in related if link[0] == closest]
    posterior = max((link[2] for link in chosen if link[2] is not None), default=None)
    source = tuple(sorted(link[3] for link in chosen))
    if closest != "other":
        return WordState(form, closest, source, posterior, null, chosen[0][1])
    # A function word may replace any other; unrelated content words need a likely link.
    plain = form.islower()  # neither a number nor a name
    if is_function_word(form) or (plain and (posterior is None or posterior >= _LIKELY)):
        return WordState(form, "related", source, posterior, null, _IN_PLACE)
    return WordState(form, "new", null=null)


def _sources(states: Sequence[WordState], document: TextKinds) -> list[Span]:
    """Return the spans of the document sentences from which words come, by number of words, largest first."""
    counts = defaultdict[int, float](float)
    for word in states:
        for position in word.source:
            counts[document.number(position)] += worth(word.word) / len(word.source)
    most = sorted(counts, key=lambda number: (-counts[number], number))
    return [document.sentences[number] for number in most if counts[number] >= _LEAST]


def _look_up(states: list[WordState], abstract: TextKinds, document: TextKinds) -> None:
    """Look up words without a known link in the whole document, and set their states in place."""
    lone = [
        at
        for at, word in enumerate(states)
        if (word.state == "new" or word.why == _IN_PLACE) and not is_function_word(word.word)
    ]
    places = _WordOccurrences([states[at].word for at in lone], document)
    for start, end in abstract.sentences:
        here = [at for at in lone if start <= at < end]
        if not here:
            continue
        content = (word for word in states[start:end] if not is_function_word(word.word))
        sources = {document.number(position) for word in content for position in word.source}
        for at in here:
            best = places.best(abstract.words[start:end], at - start, sources)
            word = states[at]
            if best is not None:
                state, why = other_form(word.word, document.words[best])
                states[at] = word.with_state(state, (best,), why)
            elif word.state == "new":
                states[at] = replace(word, elsewhere=places.sentences(word.word))
