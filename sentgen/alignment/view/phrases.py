"""An alignment as a table: where each phrase of the abstract comes from, and what is new."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sentgen.alignment.alignment import Span
from sentgen.alignment.view.view import PairView


@dataclass(frozen=True, slots=True)
class Phrase:
    """A block of an alignment, or a stretch of new words, which has no number and no document.

    Attributes:
        number: of the block, from 1.
        abstract: its words in the abstract, and where they are.
        document: its words in the document, and where they are.
        sentence: of the document, from 1.
        posterior: mean of its links, where the aligner knows it.
        null: mean P(null) of its abstract words, where the aligner knows it.
    """

    number: int | None
    abstract: tuple[str, Span]
    document: tuple[str, Span] | None
    sentence: int | None
    posterior: float | None
    null: float | None


def phrases(shown: PairView) -> Iterator[Phrase]:
    """Yield a phrase for each block, and for each stretch of new words, in the order of the abstract."""
    null = shown.alignment.null

    def share(start: int, end: int) -> float | None:
        return None if null is None else sum(null[start:end]) / (end - start)

    rows = [
        Phrase(
            block.number,
            (shown.text("abstract", block.abstract), block.abstract),
            (shown.text("document", block.document), block.document),
            shown.sentence("document", block.document[0]),
            block.posterior,
            share(*block.abstract),
        )
        for block in shown.blocks
    ]
    rows += [
        Phrase(None, (shown.text("abstract", span), span), None, None, None, share(*span))
        for span in new_stretches(shown)
    ]
    yield from sorted(rows, key=lambda phrase: phrase.abstract[1])


def new_stretches(shown: PairView) -> Iterator[Span]:
    """Yield the spans of new words, joined within a sentence."""
    for sentence in shown.sentences("abstract"):
        start = end = -1
        for segment in sentence:
            if segment.blocks:
                continue
            # New words come in several segments; those that touch are one row.
            if segment.span[0] != end:
                if end > start:
                    yield start, end
                start = segment.span[0]
            end = segment.span[1]
        if end > start:
            yield start, end
