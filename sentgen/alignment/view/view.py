"""The view of an alignment: blocks of linked words, texts in segments of these blocks, and figures.

Links that are adjacent on both sides form one block, so that a copied phrase is shown as one, whether the
aligner links words or phrases. A changed or new word is always a block of its own: the posterior of a phrase
would hide it.

The sources of a sentence are those of its words. The figures of a summary are the shares that are copied,
changed, and without a source. Grusky et al. 2018 (Newsroom), with F(A, S) the fragments of the summary S that
are copied from the article A:

    coverage = sum |f| / |S|          density = sum |f|^2 / |S|          over f in F(A, S)

Fragments are found from left to right: the longest run of words of the document that begins at the first word
not yet covered, whatever its case. The authors' program misses a run that begins inside a shorter one; here
the longest run counts wherever it is.

Tables have the source of each phrase, its changed and new words, and the evidence for links.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

import numpy as np

from sentgen.alignment.pairs.alignment import Alignment, Pair, PhraseLink, Span, WeighedLink, linked_words
from sentgen.alignment.words.states import STATES, State, WordState
from sentgen.alignment.words.word_states import word_states
from sentgen.arrays import Longs


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures of one abstract.

    ``coverage`` is the share of words in copied fragments, ``density`` the mean over words of the length of
    their fragment, ``longest`` the length of the longest fragment; these depend on the texts alone. ``new``
    and ``changed`` are the shares of words in these states. All are 0 for an abstract without words.
    """

    words: int
    coverage: float
    density: float
    longest: int
    new: float
    changed: float

    @staticmethod
    def count(pair: Pair, states: Sequence[WordState]) -> Figures:
        """Return the figures of an aligned pair with the states of its words; O(n m) time, O(n) memory."""
        words = len(pair.abstract)
        lengths = [length for _, _, length in fragments(pair.document, pair.abstract)]
        size = max(words, 1)
        return Figures(
            words=words,
            coverage=sum(lengths) / size,
            density=sum(length**2 for length in lengths) / size,
            longest=max(lengths, default=0),
            new=len(places_of("new", states)) / size,
            changed=len(places_of("changed", states)) / size,
        )


def places_of(state: State, states: Sequence[WordState]) -> list[int]:
    """Return the offsets of the abstract words in a state."""
    return [position for position, word in enumerate(states) if word.state == state]


def fragments(document: Sequence[str], abstract: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Yield copied fragments (document start, abstract start, length) from left to right.

    Ties go to the first run in the document.

    >>> list(fragments("the cat sat on the mat".split(), "on the mat The cat slept".split()))
    [(3, 0, 3), (0, 3, 2)]
    """
    lengths, places = _longest_runs(document, abstract)
    at = 0
    while at < len(abstract):
        length = int(lengths[at])
        if length:
            yield int(places[at]), at, length
        at += max(length, 1)


def _longest_runs(document: Sequence[str], abstract: Sequence[str]) -> tuple[Longs, Longs]:
    """Return the length of the longest common run from each abstract word, and its document offset."""
    ids = {word: i for i, word in enumerate(dict.fromkeys(word.lower() for word in document))}
    codes = np.array([ids[word.lower()] for word in document], np.int64)
    lengths, places = np.zeros(len(abstract), np.int64), np.zeros(len(abstract), np.int64)
    following = np.zeros(len(document) + 1, np.int64)
    for at in range(len(abstract) - 1, -1, -1):
        runs = np.zeros_like(following)
        # -1: words that the document does not have.
        equal = np.flatnonzero(codes == ids.get(abstract[at].lower(), -1))
        runs[equal] = following[equal + 1] + 1
        # `argmax` takes the first of the longest runs.
        places[at] = runs.argmax()
        lengths[at] = runs[places[at]]
        following = runs
    return lengths, places


@dataclass(frozen=True, slots=True)
class SentenceSource:
    """A sentence of the document, from 1, and the words of an abstract sentence that come from it.

    ``share`` is their share of the words of the abstract sentence, ``posterior`` the mean posterior of the
    best links of ``words``, where the aligner knows it.
    """

    sentence: int
    words: int
    share: float
    posterior: float | None

    @staticmethod
    def of_pair(pair: Pair, states: Sequence[WordState]) -> list[tuple[int, list[SentenceSource]]]:
        """Return for each abstract sentence its words, and its sources by share, equals in their order.

        A word counts for each sentence that it comes from, or that contradicts it.
        """
        ends = (*pair.abstract_starts[1:], len(pair.abstract))
        return [
            (end - start, _sources(pair, states[start:end]))
            for start, end in zip(pair.abstract_starts, ends, strict=True)
        ]


def _sources(pair: Pair, words: Sequence[WordState]) -> list[SentenceSource]:
    by_sentence: dict[int, list[WordState]] = {}
    for word in words:
        for sentence in {bisect_right(pair.document_starts, position) for position in word.source}:
            by_sentence.setdefault(sentence, []).append(word)
    sources = []
    for sentence, members in by_sentence.items():
        known = [word.posterior for word in members if word.posterior is not None]
        mean = sum(known) / len(known) if known else None
        sources.append(SentenceSource(sentence, len(members), len(members) / len(words), mean))
    return sorted(sources, key=lambda source: (-source.words, source.sentence))


Side = Literal["document", "abstract"]
#: States of words that the document does not support, which no phrase may hide; the worst last.
APART: tuple[State, ...] = ("changed", "new")


@dataclass(frozen=True, slots=True)
class AlignedBlock:
    """Words of the abstract and the words of the document that they come from.

    ``phrases`` are the phrase links of the aligner, ``posterior`` their mean posterior, where the aligner
    knows it; numbers count from 1.
    """

    number: int
    abstract: Span
    document: Span
    posterior: float | None
    phrases: tuple[PhraseLink, ...]

    @staticmethod
    def of_alignment(alignment: Alignment, states: Sequence[WordState]) -> list[AlignedBlock]:
        """Join phrase links that are adjacent on both sides; return blocks by abstract, then document offset.

        A link with a word that is changed or new is a block by itself. A link whose words are judged to come
        from elsewhere, or from nothing, is in no block.
        """
        ends: dict[tuple[int, int], int] = {}
        joined: list[list[PhraseLink]] = []
        for phrase in sorted(alignment.phrases, key=lambda phrase: (phrase.abstract, phrase.document)):
            of_words = states[slice(*phrase.abstract)]
            if of_words and not any(
                index in range(*phrase.document) for state in of_words for index in state.source
            ):
                continue
            if any(state.state in APART for state in of_words):
                joined.append([phrase])
                continue
            # Removed: only one link continues a block, another link that begins there is a block of its own.
            index = ends.pop((phrase.abstract[0], phrase.document[0]), len(joined))
            if index == len(joined):
                joined.append([])
            joined[index].append(phrase)
            ends[phrase.abstract[1], phrase.document[1]] = index
        return [_block(number, members) for number, members in enumerate(joined, 1)]


@dataclass(frozen=True, slots=True)
class Segment:
    """Adjacent words in the same blocks; an abstract word that is in no block, changed or new is a segment.

    ``null`` is the mean P(null) of the words, where the aligner knows it; ``space``: whether a blank follows;
    ``state``: the worst state of the words; of document words ``changed`` where the abstract contradicts
    them.
    """

    text: str
    span: Span
    blocks: tuple[int, ...]
    null: float | None
    space: bool
    state: State


@dataclass(frozen=True, slots=True)
class PairView:
    """An aligned pair with what is needed to show it.

    ``states`` are those of the abstract words; ``document_spaces`` and ``abstract_spaces`` tell for each word
    whether a blank follows it.
    """

    pair: Pair
    alignment: Alignment
    states: tuple[WordState, ...]
    blocks: tuple[AlignedBlock, ...]
    figures: Figures
    document_spaces: tuple[bool, ...]
    abstract_spaces: tuple[bool, ...]

    def text(self, side: Side, span: Span) -> str:
        """Return the words of a span of a side, with their blanks."""
        words, spaces = self.side(side)
        return "".join(
            word + " " * space for word, space in zip(words[slice(*span)], spaces[slice(*span)], strict=True)
        ).rstrip(" ")

    def count(self, state: State) -> int:
        """Return the number of abstract words in a state."""
        return len(places_of(state, self.states))

    def worst(self, span: Span) -> State:
        """Return the worst state of the words of a span of the abstract."""
        return max((word.state for word in self.states[slice(*span)]), key=STATES.index)

    def sentence(self, side: Side, offset: int) -> int:
        """Return the number of the sentence of a word, from 1."""
        starts = self.pair.document_starts if side == "document" else self.pair.abstract_starts
        return bisect_right(starts, offset)

    def sentences(self, side: Side) -> Iterator[list[Segment]]:
        """Yield the sentences of a side, cut where the blocks of a word and of the next differ."""
        words, spaces = self.side(side)
        starts = self.pair.document_starts if side == "document" else self.pair.abstract_starts
        member = _members(self.blocks, side, len(words))
        null = self.alignment.null if side == "abstract" else None
        unlinked_by_source = self.unlinked_by_source
        # Words that are segments of their own, each with a different number.
        apart = dict.fromkeys(unlinked_by_source, 0)
        if side == "abstract":
            loose = (at for at, word in enumerate(self.states) if not member[at] or word.state in APART)
            apart = {at: at for at in loose}
        for start, end in zip(starts, (*starts[1:], len(words)), strict=True):
            yield [
                Segment(
                    self.text(side, (first, last + 1)),
                    (first, last + 1),
                    member[first],
                    None if null is None else sum(null[first : last + 1]) / (last + 1 - first),
                    spaces[last],
                    self.worst((first, last + 1))
                    if side == "abstract"
                    else max(
                        (self.states[word].state for word in unlinked_by_source.get(first, ())),
                        key=STATES.index,
                        default="same",
                    ),
                )
                for first, last in _stretches(range(start, end), member, apart)
            ]

    @property
    def linked_words(self) -> set[int]:
        """Offsets of the abstract words in blocks."""
        return {word for block in self.blocks for word in range(*block.abstract)}

    @property
    def unlinked_by_source(self) -> dict[int, list[int]]:
        """Abstract words in no block, by the offset of each document word that is their source or rival."""
        linked = self.linked_words
        words: dict[int, list[int]] = {}
        for word, state in enumerate(self.states):
            for position in state.source if state.state == "changed" or word not in linked else ():
                words.setdefault(position, []).append(word)
        return words

    def side(self, side: Side) -> tuple[Sequence[str], Sequence[bool]]:
        """Return the words of a side, and for each whether a blank follows."""
        if side == "document":
            return self.pair.document, self.document_spaces
        return self.pair.abstract, self.abstract_spaces

    def reasons(self) -> list[_Reason]:
        """Return the possible sources of each word, the best first; a word without any source has a row, too.

        An aligner without posteriors has no reasons.
        """
        if self.alignment.weighed is None:
            return []
        null = self.alignment.null
        numbers = {
            cell: block.number
            for block in self.blocks
            for cell in linked_words(block.abstract, block.document)
        }
        by_word = {
            word: sorted(links, key=lambda link: (-link.posterior, link.document))
            for word, links in groupby(self.alignment.weighed.links, key=lambda link: link.abstract)
        }
        rows = []
        for word in range(len(self.pair.abstract)):
            links = by_word.get(word, [])
            of_word = None if null is None else null[word]
            # Sources that were looked up or are contradicted are not links of the aligner, and come first.
            loose = bool(self.states[word].source) and not any(
                (word, link.document) in numbers for link in links
            )
            if loose or not links:
                rows.append(_Reason(word, None, None, links[0] if links else None, True, of_word))
            rows += [
                _Reason(
                    word,
                    numbers.get((word, link.document)),
                    link,
                    next((other for other in links if other is not link), None),
                    not rank and not loose,
                    of_word,
                )
                for rank, link in enumerate(links)
            ]
        return rows

    def main_reasons(self) -> Iterator[_Reason]:
        """Yield the reasons of chosen links, and the first reason of each new word."""
        for _, rows in groupby(self.reasons(), key=lambda reason: reason.abstract):
            of_word = list(rows)
            yield from [reason for reason in of_word if reason.chosen] or of_word[:1]

    def phrases(self) -> Iterator[_Phrase]:
        """Yield a phrase for each block and for each stretch in no block, in the order of the abstract."""
        rows = [
            _phrase(self, block.abstract, block.document, block.number, block.posterior)
            for block in self.blocks
        ]
        for span in _loose_stretches(self):
            source = self.states[span[0]].source
            rows.append(_phrase(self, span, (source[0], source[-1] + 1) if source else None))
        yield from sorted(rows, key=lambda phrase: phrase.abstract[1])

    @staticmethod
    def make(
        pair: Pair,
        alignment: Alignment,
        *,
        document_spaces: Sequence[bool] | None = None,
        abstract_spaces: Sequence[bool] | None = None,
    ) -> PairView:
        """Return the view of an aligned pair; without ``spaces`` a blank follows every word."""
        states = word_states(pair, alignment)
        return PairView(
            pair,
            alignment,
            states,
            tuple(AlignedBlock.of_alignment(alignment, states)),
            Figures.count(pair, states),
            tuple(document_spaces or [True] * len(pair.document)),
            tuple(abstract_spaces or [True] * len(pair.abstract)),
        )


def _block(number: int, phrases: Sequence[PhraseLink]) -> AlignedBlock:
    """Return the block of phrase links, each of which begins where the previous one ends."""
    first, last = phrases[0], phrases[-1]
    known = [phrase.posterior for phrase in phrases if phrase.posterior is not None]
    return AlignedBlock(
        number,
        (first.abstract[0], last.abstract[1]),
        (first.document[0], last.document[1]),
        sum(known) / len(known) if known else None,
        tuple(phrases),
    )


def _members(blocks: Sequence[AlignedBlock], side: Side, words: int) -> list[tuple[int, ...]]:
    """Return the numbers of the blocks that each word is in."""
    member: list[tuple[int, ...]] = [()] * words
    for block in blocks:
        for word in range(*(block.document if side == "document" else block.abstract)):
            member[word] += (block.number,)
    return member


def _stretches(
    words: range, member: Sequence[tuple[int, ...]], apart: Mapping[int, int]
) -> Iterator[tuple[int, int]]:
    """Yield the first and last words of stretches with the same blocks and the same number in ``apart``."""
    for _, group in groupby(words, key=lambda word: (member[word], apart.get(word))):
        stretch = list(group)
        yield stretch[0], stretch[-1]


#: Least share that is shown besides the largest, and least weight.
_SHARE, _WEIGHT, _WEIGHTS = 0.01, 0.05, 3


@dataclass(frozen=True, slots=True)
class _Reason:
    """A word of the abstract and a document word that it could come from.

    Attributes:
        abstract: offset of the abstract word.
        number: number of its block, from 1, where the link was chosen.
        link: the evidence; ``None`` where no document word reaches the floor, or where the word comes from a
            document word without a link of the aligner.
        rival: the best other document word of the same abstract word, where one reaches the floor.
        first: whether this is the first reason of the abstract word.
        null: P(null) of the abstract word.
    """

    abstract: int
    number: int | None
    link: WeighedLink | None
    rival: WeighedLink | None
    first: bool
    null: float | None

    @property
    def chosen(self) -> bool:
        """Whether the words are linked."""
        return self.number is not None


def made_of(link: WeighedLink) -> str:
    """Return the shares of the posterior of a link as text.

    >>> made_of(WeighedLink(0, 0, 1, shares=(("same word", 0.9), ("same stem", 0.099), ("synonyms", 0.001))))
    'same word 90%, same stem 10%'
    """
    parts = [part for part in link.shares if part[1] >= _SHARE] or link.shares[:1]
    return ", ".join(f"{name} {share:.0%}" for name, share in parts)


def weighed_by(link: WeighedLink) -> str:
    """Return the weights of a tuned model that change the score of a link most, as text.

    >>> weighed_by(WeighedLink(0, 0, 0.9, weights=(("words", "synonyms", -1.25),)))
    'words: synonyms -1.25'
    """
    largest = [feature_weight for feature_weight in link.weights if abs(feature_weight[2]) >= _WEIGHT][
        :_WEIGHTS
    ]
    return "; ".join(f"{feature}: {value} {weight:+.2f}" for feature, value, weight in largest)


#: Most sentences that are named for a new word that the document has elsewhere.
NAMED = 5


@dataclass(frozen=True, slots=True)
class _Phrase:
    """A block of an alignment, or a stretch of abstract words in no block, which has no number.

    Attributes:
        number: number of the block, from 1.
        abstract: the words of the block in the abstract, and their offsets.
        document: the words of the block in the document, and their offsets; those that contradict a word that
            is linked with nothing, and none of new words.
        sentence: sentence of the document, from 1.
        posterior: mean of its links, where the aligner knows it.
        null: mean P(null) of its abstract words, where the aligner knows it.
        state: the worst state of the words.
        why: the reasons for the states of the words that are not the same.
    """

    number: int | None
    abstract: tuple[str, Span]
    document: tuple[str, Span] | None
    sentence: int | None
    posterior: float | None
    null: float | None
    state: State
    why: str


def _phrase(
    shown: PairView,
    abstract: Span,
    document: Span | None,
    number: int | None = None,
    posterior: float | None = None,
) -> _Phrase:
    null = shown.alignment.null
    return _Phrase(
        number,
        (shown.text("abstract", abstract), abstract),
        None if document is None else (shown.text("document", document), document),
        None if document is None else shown.sentence("document", document[0]),
        posterior,
        None if null is None else sum(null[slice(*abstract)]) / (abstract[1] - abstract[0]),
        shown.worst(abstract),
        why(shown.states[slice(*abstract)]),
    )


def _loose_stretches(shown: PairView) -> Iterator[Span]:
    """Yield the spans of words in no block: new words without a source joined in a sentence, others alone."""
    for sentence in shown.sentences("abstract"):
        joined: list[int] = []
        for segment in sentence:
            state = shown.states[segment.span[0]]
            loose = not segment.blocks and state.state == "new" and not state.source
            if joined and not loose:
                yield joined[0], joined[-1] + 1
                joined = []
            if loose:
                joined += range(*segment.span)
            elif not segment.blocks:
                yield segment.span
        if joined:
            yield joined[0], joined[-1] + 1


def why(states: Sequence[WordState]) -> str:
    """Return the reasons for the states of words; if there are several words, each reason names its word.

    >>> changed = WordState("21", "changed", (3,), why="another number: 12")
    >>> why([changed]), why([WordState("hired", "same", (2,)), changed])
    ('another number: 12', '21: another number: 12')
    >>> why([WordState("camp", "new", elsewhere=(3, 7))])
    'stands in sentences 3 and 7'
    """
    return "; ".join(
        f"{word}: {reason}" if word else reason
        for word, because, elsewhere in remarks(states)
        if (reason := "; ".join(filter(None, (because, _stands(elsewhere)))))
    )


def remarks(states: Sequence[WordState]) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    """Yield (word, reason, sentences elsewhere) of words with a remark; a single word is left empty."""
    if len(states) == 1:
        yield "", states[0].why, states[0].elsewhere
        return
    for state in states:
        if state.why or state.elsewhere or state.state not in ("same", "new"):
            yield state.word, state.why or state.state * (state.state != "new"), state.elsewhere


def _stands(sentences: Sequence[int]) -> str:
    if not sentences:
        return ""
    named = [str(number) for number in sentences[:NAMED]]
    if len(sentences) > NAMED:
        named.append(f"{len(sentences) - NAMED} more")
    *first, last = named
    return f"stands in sentences {', '.join(first)} and {last}" if first else f"stands in sentence {last}"
