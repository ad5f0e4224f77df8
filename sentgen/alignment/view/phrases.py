"""An alignment as a table: where each phrase of the abstract comes from, and what is changed or new."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sentgen.alignment.alignment import Span
from sentgen.alignment.states.word_states import State, WordState
from sentgen.alignment.view.view import PairView

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
    for span in loose_stretches(shown):
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


def loose_stretches(shown: PairView) -> Iterator[Span]:
    """Yield the spans of words in no block: new words without a source joined in a sentence, others alone."""
    for sentence in shown.sentences("abstract"):
        joined: list[int] = []
        for segment in sentence:
            of = shown.states[segment.span[0]]
            loose = not segment.blocks and of.state == "new" and not of.source
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
        for word, because, elsewhere in said(states)
        if (reason := "; ".join(filter(None, (because, _stands(elsewhere)))))
    )


def said(states: Sequence[WordState]) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    """Yield the words of which there is something to say, empty if there is one: word, why, elsewhere."""
    if len(states) == 1:
        yield "", states[0].why, states[0].elsewhere
        return
    for one in states:
        if one.why or one.elsewhere or one.state not in ("same", "new"):
            yield one.word, one.why or one.state * (one.state != "new"), one.elsewhere


def _stands(sentences: Sequence[int]) -> str:
    if not sentences:
        return ""
    named = [str(number) for number in sentences[:NAMED]]
    if len(sentences) > NAMED:
        named.append(f"{len(sentences) - NAMED} more")
    *first, last = named
    return f"stands in sentences {', '.join(first)} and {last}" if first else f"stands in sentence {last}"
