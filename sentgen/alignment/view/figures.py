"""Figures of a summary: how much of it is copied, how much is changed, and how much has no source.

Grusky et al. 2018 (Newsroom), with F(A, S) the fragments of the summary S that are copied from the article A:

    coverage = sum |f| / |S|          density = sum |f|^2 / |S|          over f in F(A, S)

Fragments are found from left to right: the longest run of words of the document that begins at the first
word not yet covered; upper and lower case are the same. The authors' program passes over a run that begins
inside a shorter one; here the longest run counts wherever it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sentgen.alignment.pair import Pair
from sentgen.alignment.states.word_states import State, WordState
from sentgen.arrays import Longs


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures of one abstract.

    ``coverage`` is the share of its words in copied fragments, ``density`` the mean length of the fragment
    that a word is in, ``longest`` the length of the longest one; these come from the texts alone. ``new``
    and ``changed`` are the shares of words in these states. All are 0 for an abstract without words.
    """

    words: int
    coverage: float
    density: float
    longest: int
    new: float
    changed: float


def figures(pair: Pair, states: Sequence[WordState]) -> Figures:
    """Return the figures of an aligned pair, of whose words the states are; O(n m), with memory for n."""
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
    return [place for place, one in enumerate(states) if one.state == state]


def fragments(document: Sequence[str], abstract: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Yield copied fragments (document start, abstract start, length) from left to right.

    Of equally long runs in the document the first is taken.

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
    """Return for each abstract word the longest common run that begins there, and where in the document."""
    ids = {word: i for i, word in enumerate(dict.fromkeys(word.lower() for word in document))}
    codes = np.array([ids[word.lower()] for word in document], np.int64)
    lengths, places = np.zeros(len(abstract), np.int64), np.zeros(len(abstract), np.int64)
    following = np.zeros(len(document) + 1, np.int64)
    for at in range(len(abstract) - 1, -1, -1):
        runs = np.zeros_like(following)
        # -1 stands for words that the document does not have.
        equal = np.flatnonzero(codes == ids.get(abstract[at].lower(), -1))
        runs[equal] = following[equal + 1] + 1
        # The first of the longest runs.
        places[at] = runs.argmax()
        lengths[at] = runs[places[at]]
        following = runs
    return lengths, places
