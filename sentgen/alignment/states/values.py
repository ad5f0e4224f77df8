"""Numbers, dates and names of an abstract that say the same as those of the document in another writing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from sentgen.alignment.alignment import Span
from sentgen.alignment.states.kinds import TextKinds
from sentgen.alignment.states.state import SUPPORTED, WordState
from sentgen.alignment.words.function_words import is_function_word
from sentgen.alignment.words.names import same_names
from sentgen.alignment.words.quantities import Quantity, compare

#: What is said of words whose value the document has, or nearly has.
_WHY = ("the same value", "nearly the same value")


def judge_quantities(
    states: list[WordState], abstract: TextKinds, sentence: Span, document: TextKinds, sources: Iterable[Span]
) -> None:
    """Mark the words of numbers, amounts and dates as variants whose values the sources have, in place.

    Args:
        states: of all words of the abstract.
        abstract: the abstract.
        sentence: one of its sentences.
        document: the document.
        sources: sentences of it from which the sentence comes.
    """
    own = abstract.quantities(sentence)
    others = [(source, one) for source in sources for one in document.quantities(source)] if own else []
    for one in own:
        said = [(source, other, _said(one, other)) for source, other in others]
        for why in _WHY:
            same = [_span(source, other) for source, other, how in said if how == why]
            if same:
                _mark(states, _span(sentence, one), same, why)
                break


def _said(one: Quantity, other: Quantity) -> str:
    """Return how a quantity of the document says one of the abstract, or nothing if it does not."""
    compared = compare(one, other)
    if compared == "equal" and one.readings and other.readings:
        # *March* is said by *March 2021*, and not the other way around.
        return _WHY[0] if any(a.keys() <= b.keys() for a in one.readings for b in other.readings) else ""
    if compared == "near":
        # Nor does *about 2,000* say 1,975.
        return _WHY[1] if _digits(one) <= _digits(other) else ""
    return _WHY[0] if compared == "equal" else ""


def _digits(one: Quantity) -> int:
    """Return how many digits a number has up to the last one that is not 0."""
    return len(str(one.figure or 0).partition("/")[0].rstrip("0"))


def _span(sentence: Span, one: Quantity) -> Span:
    return sentence[0] + one.start, sentence[0] + one.end


def judge_names(states: list[WordState], abstract: Sequence[str], document: Sequence[str]) -> None:
    """Mark the words of names as variants that the document has in another form, in place."""
    spans = defaultdict[Span, list[Span]](list)
    # Names that are linked as they stand need no other form; where case tells them, it tells what is none.
    lone = [one.word for one in states if one.state not in SUPPORTED and not is_function_word(one.word)]
    if not lone or (all(map(str.islower, lone)) and not all(map(str.islower, filter(str.isalpha, abstract)))):
        return
    for words, place in same_names(abstract, document):
        spans[words].append(place)
    for words, places in spans.items():
        _mark(states, words, places, "another form of the name")


def _mark(states: list[WordState], words: Span, places: Sequence[Span], why: str) -> None:
    """Mark words as variants of the first of several places, or of that from which they come already.

    What contradicts words in their place is not said otherwise by what stands elsewhere, nor by a name of
    which other words have their part.
    """
    own = states[slice(*words)]
    source = {place for one in own for place in one.source}
    place = next((place for place in places if source.intersection(range(*place))), None)
    if any(one.state == "changed" for one in own):
        linked = {j for at, one in enumerate(states) if one.state in SUPPORTED for j in one.source}
        if place is None or linked.intersection(range(*place)):
            return
    for at in range(*words):
        if states[at].state not in SUPPORTED:
            states[at] = states[at].judged("variant", tuple(range(*(place or places[0]))), why)
