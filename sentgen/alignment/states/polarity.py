"""Where a sentence of an abstract denies what the document says, or says what it denies."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from sentgen.alignment.alignment import Span
from sentgen.alignment.states.state import WordState
from sentgen.alignment.words.function_words import is_function_word
from sentgen.arrays import Longs

_WORDS = """
not n't n’t no never nobody nothing none neither nor nowhere cannot hardly
"""
#: Words that turn the sense of what follows around.
NEGATIONS = frozenset(_WORDS.split())
#: Function words between a negation and what it turns around, at most.
_BETWEEN = 3
#: Words of a clause that are looked through for one.
_CLAUSE = 6


def judge_polarity(
    states: list[WordState],
    abstract: tuple[Sequence[str], Span],
    document: tuple[Sequence[str], Span],
    places: Longs,
) -> None:
    """Mark negations that were put in, and words whose negation was left out, as changed, in place.

    Args:
        states: of all words of the abstract.
        abstract: its words, and one of its sentences.
        document: its words, and the sentence that is laid beside.
        places: which words match (``slots.matched``).
    """
    (start, end), (first, last) = abstract[1], document[1]
    words, others = abstract[0][start:end], document[0][first:last]
    own = [at for at, word in enumerate(words) if word.lower() in NEGATIONS]
    # A negation without a match may deny the same in other words.
    denies = any(places[at] < 0 for at in own)
    for i, j in enumerate(places.tolist()):
        # What comes from another sentence is denied, or not, there.
        if j < 0 or is_function_word(words[i]) or first + j not in states[start + i].source:
            continue
        here, there = negation(words, i), negation(others, j)
        if here is not None and there is None and places[here] < 0:
            at, why = here, f"not denied in the document: {others[j]}"
            source: tuple[int, ...] = (first + j,)
        elif here is None and there is not None and not denies and not _denied_before(words, i):
            at, why = i, _denied(others[there], others[j])
            source = first + there, first + j
        else:
            continue
        states[start + at] = states[start + at].judged("changed", source, why)
    if not denies:
        _left_out(states, start, (others, first), places)


def _left_out(
    states: list[WordState], start: int, document: tuple[Sequence[str], int], places: Longs
) -> None:
    """Mark the word before a negation that was left out, where no content word comes right after."""
    others, first = document
    matched = {j: i for i, j in enumerate(places.tolist()) if j >= 0}
    for j, word in enumerate(others):
        before, after = matched.get(j - 1), matched.get(j + 1)
        if word.lower() not in NEGATIONS or j in matched or before is None or after != before + 1:
            continue
        turned = next((k for k in range(j + 1, len(others)) if negation(others, k) == j), None)
        if turned is None or is_function_word(others[turned]):
            at, source, why = before, (first + j - 1, first + j), _denied(others[j - 1], word)
            states[start + at] = states[start + at].judged("changed", source, why)


def _denied_before(words: Sequence[str], place: int) -> bool:
    """Say whether a clause denies something before a word: *he did not go or call* denies both."""
    before = (words[at].lower() for at in range(place - 1, max(place - 1 - _CLAUSE, -1), -1))
    return any(word in NEGATIONS for word in takewhile(lambda word: word[0].isalnum() or "'" in word, before))


def _denied(*words: str) -> str:
    return f"denied in the document: {' '.join(words)}"


def negation(words: Sequence[str], place: int) -> int | None:
    """Return the place of the negation before a word that turns it around, or none.

    >>> negation("it was not only the cat".split(), 5), negation("he did not go".split(), 3)
    (None, 2)
    """
    for at in range(place - 1, max(place - 2 - _BETWEEN, -1), -1):
        word = words[at].lower()
        if word in NEGATIONS:
            return None if words[at + 1].lower() in ("only", "just") else at
        if word != "one" and (not is_function_word(word) or not word[0].isalnum()):
            return None
    return None
