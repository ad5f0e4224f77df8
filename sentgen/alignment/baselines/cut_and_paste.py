"""Cut & Paste: the document positions that a summary was cut from (Jing 2002), a baseline of the 2004 paper.

A hidden Markov model without training. The states of a summary word are the positions of the document words
with the same stem; transitions prefer that a word follows its predecessor in the document. Going from word w1
of sentence s1 to word w2 of sentence s2 has the probability

    1.0   w2 = w1 + 1, same sentence             0.7   s1 < s2 < s1 + near
    0.9   w2 > w1 + 1, same sentence             0.6   s1 - near < s2 < s1
    0.8   w2 <= w1, same sentence                0.5   |s2 - s1| >= near

Blocks of at least ``n`` words on the best path that are adjacent in both texts are aligned; Daumé & Marcu
2004 (sec. 3.3) found n = 2 best. Jing calls ``near`` a small constant.

`Lcs`: greedy longest common sequences: the longest run of equal stems first, then the next longest.

This is greedy string tiling (Wise 1993): the words of a run in the abstract and, unless document words may be
reused, in the document are not available to later runs. No training; a run may cross the ends of sentences.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sentgen.alignment.pairs.alignment import Alignment, Link, Pair
from sentgen.alignment.words.word_classes import stem
from sentgen.arrays import Floats, Longs


@dataclass(frozen=True, slots=True)
class LongestCommon:
    """The aligner `lcs`.

    Args:
        n: words of the shortest run that is aligned.
        reuse: whether a document word may be the source of several abstract words.
    """

    n: int = 1
    reuse: bool = False
    name: str = "lcs"

    def align(self, pairs: Sequence[Pair]) -> Iterator[Alignment]:
        """Align pairs, one answer for each."""
        for pair in pairs:
            runs = common_runs(stems(pair.document), stems(pair.abstract), n=self.n, reuse=self.reuse)
            yield Alignment.of_links(_words_of(runs))


def stems(words: Sequence[str]) -> list[str]:
    """Return the stem of every word."""
    return [stem(word) for word in words]


def _words_of(runs: Iterable[tuple[int, int, int]]) -> Iterator[Link]:
    """Yield the links of the words of runs (document start, abstract start, length), one to one."""
    return ((d + k, s + k) for d, s, length in runs for k in range(length))


def common_runs(
    document: Sequence[str], abstract: Sequence[str], *, n: int = 1, reuse: bool = False
) -> list[tuple[int, int, int]]:
    """Return runs of equal words (document start, abstract start, length), the longest first.

    Ties go to the run that is first in the abstract, then first in the document. Each abstract word is in one
    run at most, and so is each document word unless ``reuse``. A run that overlaps a longer run is shortened
    and goes back into the queue: O(r log r) for r pairs of equal words, once per overlap.
    """
    waiting: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for d, s, length in _maximal_runs(document, abstract):
        waiting[length].append((s, d))
    taken_s, taken_d = [False] * len(abstract), [False] * len(document)
    runs = []
    for length in range(max(waiting, default=0), max(n, 1) - 1, -1):
        for s, d in sorted(waiting.pop(length, ())):
            blocked = [taken_s[s + k] or (not reuse and taken_d[d + k]) for k in range(length)]
            if any(blocked):
                for start, size in _gaps(blocked):
                    # Shorter than this length, and so later in the queue.
                    waiting[size].append((s + start, d + start))
                continue
            runs.append((d, s, length))
            taken_s[s : s + length] = taken_d[d : d + length] = [True] * length
    return runs


def _maximal_runs(document: Sequence[str], abstract: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Yield maximal runs, which no equal words on either side extend: (document, abstract, length)."""
    places = defaultdict(list)
    for d, word in enumerate(document):
        places[word].append(d)
    open_runs: dict[int, int] = {}  # document offset after the run so far: its length
    for s, word in enumerate(abstract):
        grown = {d + 1: open_runs.pop(d, 0) + 1 for d in places.get(word, ())}
        for end, length in open_runs.items():
            yield end - length, s - length, length
        open_runs = grown
    for end, length in open_runs.items():
        yield end - length, len(abstract) - length, length


def _gaps(blocked: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """Yield the start and the length of every stretch that is not blocked."""
    start = 0
    for i, full in enumerate((*blocked, True)):
        if full:
            if i > start:
                yield start, i - start
            start = i + 1


#: As in the table above: down the left column, then down the right one.
_NEXT, _LATER, _EARLIER, _SOON, _BEFORE, _FAR = np.log([1.0, 0.9, 0.8, 0.7, 0.6, 0.5])


@dataclass(frozen=True, slots=True)
class CutAndPaste:
    """The aligner `cut-and-paste`.

    Args:
        n: words of the shortest block that is aligned; with 1, the whole path.
        near: the distance in sentences from which on two sentences are far from each other.
    """

    n: int = 2
    near: int = 3
    name: str = "cut-and-paste"

    def align(self, pairs: Sequence[Pair]) -> Iterator[Alignment]:
        """Align pairs, one answer for each."""
        for pair in pairs:
            sentences = sentence_numbers(pair.document_starts, len(pair.document))
            path = best_path(stems(pair.document), stems(pair.abstract), sentences, near=self.near)
            yield Alignment.of_links(_words_of(_blocks(path, sentences, self.n)))


def sentence_numbers(starts: Sequence[int], length: int) -> Longs:
    """Return the number of the sentence of each word, from 0."""
    return np.searchsorted(np.asarray(starts), np.arange(length), side="right") - 1


def best_path(
    document: Sequence[str], abstract: Sequence[str], sentences: Longs, *, near: int = 3
) -> list[tuple[int, int]]:
    """Return (document offset, abstract offset) of each abstract word that the document has, by Viterbi.

    Other abstract words are skipped. Ties go to the path whose last word is earliest in the document, then
    the word before it, and so on. O(m k^2) for m words with k positions each.
    """
    places = defaultdict(list)
    for d, word in enumerate(document):
        places[word].append(d)
    known = [s for s, word in enumerate(abstract) if word in places]
    candidates = [np.array(places[abstract[s]]) for s in known]
    if not known:
        return []
    score = np.zeros(len(candidates[0]))
    back: list[Longs] = []
    for before, after in pairwise(candidates):
        total = score[:, None] + _transition_logp(before, after, sentences, near)
        # `argmax` takes the first of equals, which is the earliest in the document.
        back.append(np.argmax(total, axis=0))
        score = total[back[-1], np.arange(len(after))]
    state = int(np.argmax(score))
    path = [int(candidates[-1][state])]
    for pointers, before in zip(reversed(back), reversed(candidates[:-1]), strict=True):
        state = int(pointers[state])
        path.append(int(before[state]))
    return list(zip(reversed(path), known, strict=True))


def _transition_logp(before: Longs, after: Longs, sentences: Longs, near: int) -> Floats:
    """Return log P(after | before), (len(before), len(after)), of document offsets."""
    step = after[None, :] - before[:, None]
    apart = sentences[after][None, :] - sentences[before][:, None]
    within = np.where(step == 1, _NEXT, np.where(step > 1, _LATER, _EARLIER))
    across = np.where(np.abs(apart) >= near, _FAR, np.where(apart > 0, _SOON, _BEFORE))
    logp: Floats = np.where(apart == 0, within, across)
    return logp


def _blocks(path: Sequence[tuple[int, int]], sentences: Longs, n: int) -> Iterator[tuple[int, int, int]]:
    """Yield (document start, abstract start, length) of runs of at least n words adjacent in both texts."""
    start = 0
    for i in range(1, len(path) + 1):
        if i < len(path):
            (d0, s0), (d1, s1) = path[i - 1], path[i]
            # A block does not cross the end of a document sentence.
            if d1 == d0 + 1 and s1 == s0 + 1 and sentences[d0] == sentences[d1]:
                continue
        if i - start >= n:
            yield *path[start], i - start
        start = i
