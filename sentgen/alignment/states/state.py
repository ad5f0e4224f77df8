"""The states of words of an abstract."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

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
        elsewhere: of a new word, the sentences of the document that have it, from 1, ascending.
    """

    word: str
    state: State
    source: tuple[int, ...] = ()
    posterior: float | None = None
    null: float | None = None
    why: str = ""
    elsewhere: tuple[int, ...] = ()

    def judged(self, state: State, source: tuple[int, ...], why: str) -> WordState:
        """Return another state of the word; the posterior is that of its links, and of no other place."""
        posterior = self.posterior if set(source) & set(self.source) else None
        return replace(self, state=state, source=source, posterior=posterior, why=why)
