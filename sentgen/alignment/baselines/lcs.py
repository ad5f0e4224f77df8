"""Greedy longest common sequences: the longest run of equal stems first, then the next longest.

This is greedy string tiling (Wise 1993): a run takes its words of the abstract and, unless words may be
reused, of the document, and what is left is searched for the next run. No training, no crossing of sentences.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sentgen.alignment.alignment import Alignment, PhraseLink
from sentgen.alignment.pair import Pair
from sentgen.alignment.words.stems import stem


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
            yield word_by_word(runs)


def stems(words: Sequence[str]) -> list[str]:
    """Return the stem of every word."""
    return [stem(word) for word in words]


def word_by_word(runs: Sequence[tuple[int, int, int]]) -> Alignment:
    """Link the words of runs (document start, abstract start, length) one to one."""
    links = sorted((s + k, d + k) for d, s, length in runs for k in range(length))
    return Alignment(tuple(PhraseLink((s, s + 1), (d, d + 1)) for s, d in links))


def common_runs(
    document: Sequence[str], abstract: Sequence[str], *, n: int = 1, reuse: bool = False
) -> list[tuple[int, int, int]]:
    """Return runs of equal words (document start, abstract start, length), the longest first.

    Among runs of one length the first in the abstract is taken, then the first in the document. Each abstract
    word is in one run at most, and so is each document word unless ``reuse``. Runs that a longer one has cut
    are shortened and wait for their turn: O(r log r) for r pairs of equal words, once per cut.
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
                    # Shorter than this length, and so still to come.
                    waiting[size].append((s + start, d + start))
                continue
            runs.append((d, s, length))
            taken_s[s : s + length] = taken_d[d : d + length] = [True] * length
    return runs


def _maximal_runs(document: Sequence[str], abstract: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Yield runs that no equal words on either side would make longer: (document, abstract, length)."""
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
    """Yield the start and the length of every stretch that is free."""
    start = 0
    for i, full in enumerate((*blocked, True)):
        if full:
            if i > start:
                yield start, i - start
            start = i + 1
