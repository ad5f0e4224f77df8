"""The state of each word of an abstract: what became of it, judged by what it is linked with, and where.

A link says where a word comes from, not that it says the same: in *hired 21 engineers*, 21 is linked with the
12 of the document, as it stands in its place. States tell such words apart, whatever the aligner.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from sentgen.alignment.alignment import Alignment
from sentgen.alignment.pair import Pair
from sentgen.alignment.states.relations import relation

State = Literal["same", "variant", "related", "changed", "new"]
#: From the best supported to the least.
STATES: tuple[State, ...] = get_args(State)


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
        elsewhere: of a new word, the sentences of the document that have it, from 1, ascending.
    """

    word: str
    state: State
    source: tuple[int, ...] = ()
    posterior: float | None = None
    null: float | None = None
    why: str = ""
    elsewhere: tuple[int, ...] = ()


def word_states(pair: Pair, alignment: Alignment) -> tuple[WordState, ...]:
    """Return the state of each word of the abstract, in its order."""
    links = [list[tuple[float | None, int]]() for _ in pair.abstract]
    for phrase in alignment.phrases:
        (start, end), (first, last) = phrase.abstract, phrase.document
        for word in range(start, end):
            copied = end - start == last - first
            to = (first + word - start,) if copied else range(first, last)
            links[word] += [(phrase.posterior, place) for place in to]
    return tuple(_state(pair, alignment, word, found) for word, found in enumerate(links))


def _state(
    pair: Pair, alignment: Alignment, word: int, links: Sequence[tuple[float | None, int]]
) -> WordState:
    form = pair.abstract[word]
    null = None if alignment.null is None else alignment.null[word]
    if not links:
        return WordState(form, "new", null=null)
    state, why = min(
        (relation(form, pair.document[place]) for _, place in links), key=lambda one: STATES.index(one[0])
    )
    posteriors = [posterior for posterior, _ in links if posterior is not None]
    source = tuple(sorted({place for _, place in links}))
    return WordState(form, state, source, max(posteriors, default=None), null, why)
