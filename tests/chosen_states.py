"""States of words as a test chooses them, so that what is shown of them does not hang on how they are judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from sentgen.alignment import Alignment, Pair, PhraseLink
from sentgen.alignment.words.states import WordState
from sentgen.alignment.words.word_states import word_states

#: The first example of those who must not show an error as supported: five words are other than in the document.
DOCUMENT = "The club hired 12 cooks in Rome. Shares of the club rose 4 percent on Monday."
SUMMARY = "The club hired 21 cooks in Oslo. Shares of the team rose 40 percent on Friday."
#: Of these words of the summary what stands there in the document, and why they are told as changed.
CHANGED = {
    3: (3, "another number: 12"),
    6: (6, "another name: Rome"),
    11: (11, "another noun: club"),
    13: (13, "another number: 4"),
    16: (16, "another day: Monday"),
}
PAIR = Pair(
    "1",
    tuple(DOCUMENT.replace(".", " .").split()),
    tuple(SUMMARY.replace(".", " .").split()),
    (0, 8),
    (0, 8),
)
#: Each word from the word that stands in its place.
LINKED = Alignment(
    tuple(PhraseLink((k, k + 1), (k, k + 1), 0.8 if k in CHANGED else 1.0) for k in range(18)),
    tuple(0.2 if k in CHANGED else 0.0 for k in range(18)),
)


def changed(word: str, source: int, why: str) -> WordState:
    """Return the state of a word that the document contradicts."""
    return WordState(word, "changed", (source,), 0.83, 0.16, why)


def choose(monkeypatch: pytest.MonkeyPatch, chosen: Mapping[int, WordState]) -> None:
    """Have words of the abstract these states, by their offsets; others keep what they have."""

    def states(pair: Pair, alignment: Alignment) -> tuple[WordState, ...]:
        found = word_states(pair, alignment)
        return tuple(
            replace(chosen[place], posterior=one.posterior, null=one.null) if place in chosen else one
            for place, one in enumerate(found)
        )

    monkeypatch.setattr("sentgen.alignment.view.view.word_states", states)


def contradicted() -> dict[int, WordState]:
    """Return the states of the changed words of the example."""
    return {place: changed(PAIR.abstract[place], *told) for place, told in CHANGED.items()}
