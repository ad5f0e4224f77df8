"""Two sentences word by word: which words of one are those of the other, in the same order.

The one with the best score of all alignments of two sequences (Needleman & Wunsch 1970, with the gaps of
Gotoh 1982). A word that stands in place of another one costs less than one left out and one put in: of *the
cat chased the dog* and *the dog chased the cat*, it is the frame that matches, not *the cat*.
"""

from __future__ import annotations

import numpy as np

from sentgen.arrays import Floats, Longs, compiled

#: What a match adds that goes on where one ends, as a share of its weight: runs hold together.
_RUN = 0.5
#: What a word in place of another one costs; words without a counterpart, once and for each.
_OTHER, _GAP, _LONGER = 0.1, 0.35, 0.02


@compiled
def matches(abstract: Longs, document: Longs, weights: Floats) -> Longs:
    """Return for each abstract word the document word that it is matched with, or -1; both ascend.

    Words of the document before the first match and after the last one cost nothing. O(m n).

    Args:
        abstract: numbers of the words of a sentence, (m,), equal for words that count as equal.
        document: those of another one, (n,).
        weights: what each abstract word is worth, (m,), above 0.
    """
    m, n = len(abstract), len(document)
    # Best scores by how the last words end: matched, one for another, without a counterpart in either text.
    score = np.full((4, m + 1, n + 1), -np.inf)
    came = np.zeros((4, m + 1, n + 1), np.int8)
    score[1, 0, 0] = 0.0
    for i in range(m + 1):
        for j in range(n + 1):
            if i and j:
                add = weights[i - 1]
                same = abstract[i - 1] == document[j - 1]
                for state in range(4):
                    before = score[state, i - 1, j - 1]
                    here = before + add + (_RUN * add if state == 0 else 0.0)
                    if same and here > score[0, i, j]:
                        score[0, i, j], came[0, i, j] = here, state
                    if before - _OTHER > score[1, i, j] and not same:
                        score[1, i, j], came[1, i, j] = before - _OTHER, state
            for state in range(4):
                if i:
                    cost = _LONGER if state == 2 else _GAP
                    if score[state, i - 1, j] - cost > score[2, i, j]:
                        score[2, i, j], came[2, i, j] = score[state, i - 1, j] - cost, state
                if j:
                    free = i == 0 or i == m
                    cost = 0.0 if free else _LONGER if state == 3 else _GAP
                    if score[state, i, j - 1] - cost > score[3, i, j]:
                        score[3, i, j], came[3, i, j] = score[state, i, j - 1] - cost, state
    found = np.full(m, -1, np.int64)
    i, j, state = m, n, int(score[:, m, n].argmax())
    while i > 0 or j > 0:
        before = came[state, i, j]
        if state == 0:
            found[i - 1] = j - 1
        i, j = i - (state != 3), j - (state != 2)
        state = before
    return found
