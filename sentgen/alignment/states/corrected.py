"""The links of an alignment as the states of its words have them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sentgen.alignment.alignment import Alignment, PhraseLink, Span
from sentgen.alignment.states.state import WordState


def corrected(alignment: Alignment, states: Sequence[WordState]) -> Alignment:
    """Return an alignment whose links are those that the states of its words tell of.

    A word that is judged new has none; one that was looked up, or that another contradicts in its place, is
    linked there, without a posterior if the aligner did not link it so. A phrase of several words stays one
    as long as none of them is changed or new.
    """
    phrases = list[PhraseLink]()
    linked = set[tuple[int, int]]()
    for phrase in alignment.phrases:
        for one in _kept(phrase, states):
            phrases.append(one)
            linked.update((word, place) for word in range(*one.abstract) for place in range(*one.document))
    for word, state in enumerate(states):
        if state.source and not any((word, place) in linked for place in state.source):
            phrases += [PhraseLink((word, word + 1), span) for span in _stretches(state.source)]
    return replace(alignment, phrases=tuple(sorted(phrases, key=_order)))


def _order(phrase: PhraseLink) -> tuple[Span, Span]:
    return phrase.abstract, phrase.document


def _kept(phrase: PhraseLink, states: Sequence[WordState]) -> Iterator[PhraseLink]:
    """Yield what stays of a phrase: all of it, or the links of its words."""
    words, places = range(*phrase.abstract), range(*phrase.document)
    own = {word: [place for place in states[word].source if place in places] for word in words}
    if all(own[word] and states[word].state != "changed" for word in words):
        yield phrase
        return
    for word in words:
        for span in _stretches(own[word]):
            yield replace(phrase, abstract=(word, word + 1), document=span)


def _stretches(places: Sequence[int]) -> Iterator[Span]:
    """Yield the spans of ascending places that follow each other."""
    begin = 0
    for at in range(1, len(places) + 1):
        if at == len(places) or places[at] != places[at - 1] + 1:
            yield places[begin], places[at - 1] + 1
            begin = at
