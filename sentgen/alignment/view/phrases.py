"""An alignment as tables: where each phrase comes from, what is changed or new, and what speaks for links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from sentgen.alignment.pairs.alignment import Span, WeighedLink, linked_words
from sentgen.alignment.states.states import State, WordState
from sentgen.alignment.view.view import PairView

#: Shares that are told in words, but for the largest, and weights.
_SHARE, _WEIGHT, _WEIGHTS = 0.01, 0.05, 3


@dataclass(frozen=True, slots=True)
class _Reason:
    """A word of the abstract and one of the document that it could come from.

    Attributes:
        abstract: offset of the abstract word.
        number: of its block, from 1, where the link was chosen.
        link: what speaks for it; ``None`` where no document word reaches the floor, or where the word comes
            from one with which the aligner does not link it.
        rival: the best other document word of the same abstract word, where one reaches the floor.
        first: whether it is the best one of its abstract word.
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


def reasons(shown: PairView) -> list[_Reason]:
    """Return what each word could come from, the best first; a word of which nothing is known has a row, too.

    An aligner without posteriors has no reasons.
    """
    if shown.alignment.weighed is None:
        return []
    null, numbers = shown.alignment.null, _numbers(shown)
    by_word = {
        word: sorted(links, key=lambda link: (-link.posterior, link.document))
        for word, links in groupby(shown.alignment.weighed.links, key=lambda link: link.abstract)
    }
    rows = []
    for word in range(len(shown.pair.abstract)):
        links = by_word.get(word, [])
        of_word = None if null is None else null[word]
        # What was looked up, or contradicts a word in its place, is no link of the aligner, and comes first.
        loose = bool(shown.states[word].source) and not any(
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


def main_reasons(shown: PairView) -> Iterator[_Reason]:
    """Yield the reasons of the links that were chosen; of a new word what would be chosen first."""
    for _, rows in groupby(reasons(shown), key=lambda reason: reason.abstract):
        of_word = list(rows)
        yield from [reason for reason in of_word if reason.chosen] or of_word[:1]


def made_of(link: WeighedLink) -> str:
    """Return what a link is made of.

    >>> made_of(WeighedLink(0, 0, 1, shares=(("same word", 0.9), ("same stem", 0.099), ("synonyms", 0.001))))
    'same word 90%, same stem 10%'
    """
    parts = [part for part in link.shares if part[1] >= _SHARE] or link.shares[:1]
    return ", ".join(f"{name} {share:.0%}" for name, share in parts)


def weighed_by(link: WeighedLink) -> str:
    """Return what changes the score of a link most in a tuned model.

    >>> weighed_by(WeighedLink(0, 0, 0.9, weights=(("words", "synonyms", -1.25),)))
    'words: synonyms -1.25'
    """
    largest = [feature_weight for feature_weight in link.weights if abs(feature_weight[2]) >= _WEIGHT][
        :_WEIGHTS
    ]
    return "; ".join(f"{feature}: {value} {weight:+.2f}" for feature, value, weight in largest)


def _numbers(shown: PairView) -> dict[tuple[int, int], int]:
    """Return the block of each word link, by abstract word and document word."""
    return {
        cell: block.number for block in shown.blocks for cell in linked_words(block.abstract, block.document)
    }


#: Sentences that are named where a new word stands elsewhere.
NAMED = 5


@dataclass(frozen=True, slots=True)
class Phrase:
    """A block of an alignment, or words in no block, which have no number.

    Attributes:
        number: of the block, from 1.
        abstract: its words in the abstract, and where they are.
        document: its words in the document, and where they are; those that contradict a word that is linked
            with nothing, and none of new words.
        sentence: of the document, from 1.
        posterior: mean of its links, where the aligner knows it.
        null: mean P(null) of its abstract words, where the aligner knows it.
        state: of the word that has the least support.
        why: what tells the states of its words, but for those that are the same.
    """

    number: int | None
    abstract: tuple[str, Span]
    document: tuple[str, Span] | None
    sentence: int | None
    posterior: float | None
    null: float | None
    state: State
    why: str


def phrases(shown: PairView) -> Iterator[Phrase]:
    """Yield a phrase for each block, and for each stretch in none, in the order of the abstract."""
    rows = [
        _phrase(shown, block.abstract, block.document, block.number, block.posterior)
        for block in shown.blocks
    ]
    for span in _loose_stretches(shown):
        source = shown.states[span[0]].source
        rows.append(_phrase(shown, span, (source[0], source[-1] + 1) if source else None))
    yield from sorted(rows, key=lambda phrase: phrase.abstract[1])


def _phrase(
    shown: PairView,
    abstract: Span,
    document: Span | None,
    number: int | None = None,
    posterior: float | None = None,
) -> Phrase:
    null = shown.alignment.null
    return Phrase(
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
    """Return what tells the states of words; of several words, which one is meant.

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
    """Yield the words of which there is something to say, empty if there is one: word, why, elsewhere."""
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
