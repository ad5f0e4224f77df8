"""How near an order is to the one it should be: metrics of single sentences, on plain lists.

All of them compare an output with a gold order of the same words or units. Identical words cannot be told
apart; each docstring says how they are matched, always without looking at what would be best for the output.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence

import numpy as np


def kendall_tau(output: Sequence[Hashable], gold: Sequence[Hashable]) -> float | None:
    """Return Kendall's tau between two orders of the same words: 1 for the same order, -1 for the reverse.

    The k-th occurrence of a word in the output is taken for its k-th occurrence in the gold order.
    Tau is 1 - 4 * (pairs in the wrong order) / (n * (n - 1)) for n words, and ``None`` for less than two, and
    where the words are not the same (Lapata 2006, "Automatic evaluation of information ordering: Kendall's
    tau"). Time and memory: n^2.

    >>> kendall_tau("abc", "abc"), round(kendall_tau("acb", "abc"), 3)
    (1.0, 0.333)
    """
    size = len(gold)
    if size < 2 or Counter(output) != Counter(gold):
        return None
    places = defaultdict(list)
    # From the right, so that pop() gives the places of a word from the left.
    for place in range(size - 1, -1, -1):
        places[gold[place]].append(place)
    order = np.fromiter((places[word].pop() for word in output), np.int64, size)
    # Above the diagonal: pairs in the order of the output.
    inversions = np.count_nonzero(np.triu(order[:, None] > order[None, :]))
    return 1 - 4 * int(inversions) / (size * (size - 1))


def adjacencies_found(output: Sequence[Hashable], gold: Sequence[Hashable]) -> list[bool]:
    """Tell for each adjacency of the output whether the gold order has it.

    The adjacencies are the pairs of neighboring words, with the beginning and the end of the sentence as
    neighbors too, so that n words have n + 1. A pair that the output has more often than the gold order is
    found as often as there, from the left. Adjacency accuracy is the share of those found; as both orders
    have the same number, it is precision and recall at once.

    Returns:
        n + 1 values: before the first word, between the words, after the last.

    >>> adjacencies_found(["the", "dog", "barks"], ["barks", "the", "dog"])
    [False, True, False, False]
    """
    left = Counter(_pairs(gold))
    found = []
    for pair in _pairs(output):
        found.append(left[pair] > 0)
        # Below 0, too: what is not there any more stays unfound.
        left[pair] -= 1
    return found


def _pairs(words: Sequence[Hashable]) -> list[tuple[object, object]]:
    """Return the pairs of neighbors; a word is wrapped, so that no word looks like a boundary."""
    wrapped = [(word,) for word in words]
    return list(zip([None, *wrapped], [*wrapped, None], strict=True))


def attachments_found(
    units: Sequence[Hashable],
    heads: Sequence[int],
    gold_units: Sequence[Hashable],
    gold_heads: Sequence[int],
) -> int:
    """Return how many units of a tree hang on the unit that they hang on in the gold tree.

    Identical units are interchangeable, so that what is compared are two multisets of pairs of head and
    modifier. The place of the units does not matter, nor do relations.

    Args:
        units: the units of the output, with whatever makes them the same (words and tags).
        heads: of each unit the place of its head in ``units``, from 0; -1 for the root.
        gold_units, gold_heads: those of the gold tree.

    >>> attachments_found(["dog", "barks"], [1, -1], ["barks", "dog"], [-1, 0])
    2
    """
    return (_attachments(units, heads) & _attachments(gold_units, gold_heads)).total()


def _attachments(units: Sequence[Hashable], heads: Sequence[int]) -> Counter[tuple[object, object]]:
    # Heads in tuples, so that no unit looks like the root.
    return Counter(
        ((units[head],) if head >= 0 else None, unit) for unit, head in zip(units, heads, strict=True)
    )


def is_search_error(score: float, gold_score: float) -> bool:
    """Tell whether a search missed a better answer: the gold order scores higher than what was returned.

    Orders that differ in identical units only have the same score but for rounding, so that a difference
    below a millionth (of the score, where that is above 1) is none.
    """
    return gold_score > score + 1e-6 * max(1.0, abs(score))
