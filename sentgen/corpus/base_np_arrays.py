"""Base noun phrases and function heads of many sentences at once, compiled; the reference is `base_np`.

The sentences stand one after the other in flat arrays. The heads of a sentence must be a tree, which
`validation.check` makes sure of, or all be `NO_HEAD`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sentgen.corpus.base_np import NOMINAL, is_function, is_inside

Ints = NDArray[np.int32]

NO_HEAD = -1
#: Codes of tags and relations.
OTHER, NOMINAL_TAG = 0, 1
INSIDE_RELATION, FUNCTION_RELATION = 1, 2


class _UposCodes(dict[str, int]):
    def __missing__(self, tag: str) -> int:
        self[tag] = NOMINAL_TAG if tag in NOMINAL else OTHER
        return self[tag]


class _RelationCodes(dict[str, int]):
    def __missing__(self, relation: str) -> int:
        inside, function = is_inside(relation), is_function(relation)
        self[relation] = INSIDE_RELATION if inside else FUNCTION_RELATION if function else OTHER
        return self[relation]


def upos_codes(upos: Sequence[str]) -> Ints:
    """Return ``NOMINAL_TAG`` for the tags that base noun phrases are built around, else ``OTHER``."""
    return np.fromiter(map(_UposCodes().__getitem__, upos), np.int32, len(upos))


def relation_codes(deprels: Sequence[str]) -> Ints:
    """Return ``INSIDE_RELATION``, ``FUNCTION_RELATION`` or ``OTHER`` for each relation."""
    return np.fromiter(map(_RelationCodes().__getitem__, deprels), np.int32, len(deprels))


@njit(cache=True)
def _longest(lengths: Ints) -> int:
    longest = 0
    for size in lengths:
        longest = max(longest, size)
    return longest


@njit(cache=True)
def _set_depths(heads: Ints, start: int, size: int, depths: Ints) -> None:
    """Set the distance of each token from the root (``depths[0]`` is the root above)."""
    depths[0] = 0
    depths[1 : size + 1] = -1
    for i in range(1, size + 1):
        node = i
        steps = 0
        while depths[node] < 0:
            steps += 1
            node = heads[start + node - 1]
        depth = depths[node] + steps
        node = i
        while depths[node] < 0:
            depths[node] = depth
            depth -= 1
            node = heads[start + node - 1]


@njit(cache=True)
def _sort_nominals(upos: Ints, start: int, size: int, depths: Ints, order: Ints, places: Ints) -> int:
    """Set ``order`` to the nominals, nearer to the root first, then left to right; return their number.

    A counting sort: ``places`` is scratch for the next place of each depth.
    """
    places[: size + 2] = 0
    for i in range(1, size + 1):
        if upos[start + i - 1] == NOMINAL_TAG:
            places[depths[i] + 1] += 1
    for depth in range(1, size + 2):
        places[depth] += places[depth - 1]
    count = places[size + 1]
    for i in range(1, size + 1):
        if upos[start + i - 1] == NOMINAL_TAG:
            order[places[depths[i]]] = i
            places[depths[i]] += 1
    return count


@njit(cache=True)
def _reaches(
    position: int, top: int, owner: Ints, heads: Ints, relations: Ints, start: int, depths: Ints
) -> bool:
    """Climb to the child of ``top`` above a token, or to a token that is known to be inside."""
    node = position
    depth = depths[top] + 1
    while depths[node] > depth and owner[node] != top:
        node = heads[start + node - 1]
    if depths[node] > depth:
        return True
    if depths[node] != depth or heads[start + node - 1] != top:
        return False
    return relations[start + node - 1] == INSIDE_RELATION


@njit(cache=True)
def base_np_numbers(upos: Ints, relations: Ints, heads: Ints, lengths: Ints) -> Ints:
    """Return the number of the base noun phrase of each token in its sentence, as `base_np.base_nps` does.

    Args:
        upos: (tokens,) int32, see `upos_codes`.
        relations: (tokens,) int32, see `relation_codes`.
        heads: (tokens,) int32, 1-based position of the head in its sentence, 0 for the root; `NO_HEAD`
            throughout a sentence that has none.
        lengths: (sentences,) int32.

    Returns:
        (tokens,) int32: 0 outside base noun phrases, and in sentences without heads.
    """
    result = np.zeros(heads.size, np.int32)
    longest = _longest(lengths)
    depths = np.empty(longest + 2, np.int32)
    places = np.empty(longest + 2, np.int32)
    order = np.empty(longest + 2, np.int32)
    owner = np.empty(longest + 2, np.int32)
    start = 0
    for size in lengths:
        if size and heads[start] != NO_HEAD:
            _set_depths(heads, start, size, depths)
            count = _sort_nominals(upos, start, size, depths, order, places)
            owner[: size + 2] = 0
            for top in order[:count]:
                if owner[top]:
                    continue
                owner[top] = top
                for step in (-1, 1):
                    i = top + step
                    while 0 < i <= size and not owner[i]:
                        if not _reaches(i, top, owner, heads, relations, start, depths):
                            break
                        owner[i] = top
                        i += step
            latest = 0
            previous = 0
            for i in range(1, size + 1):
                if owner[i]:
                    latest += owner[i] != previous
                    result[start + i - 1] = latest
                previous = owner[i]
        start += size
    return result


@njit(cache=True)
def _group_functions(
    heads: Ints, relations: Ints, start: int, size: int, first: Ints, functions: Ints
) -> int:
    """Sort function words by their heads, then left to right; return their number.

    Those of head h are ``functions[first[h] : first[h + 1]]``.
    """
    first[: size + 3] = 0
    for i in range(1, size + 1):
        if heads[start + i - 1] > 0 and relations[start + i - 1] == FUNCTION_RELATION:
            first[heads[start + i - 1] + 2] += 1
    for head in range(2, size + 3):
        first[head] += first[head - 1]
    for i in range(1, size + 1):
        if heads[start + i - 1] > 0 and relations[start + i - 1] == FUNCTION_RELATION:
            head = heads[start + i - 1]
            functions[first[head + 1]] = i
            first[head + 1] += 1
    return first[size + 1]


@njit(cache=True)
def _outermost(head: int, low: int, high: int, functions: Ints) -> int:
    """Return the place of the word farthest from its head, of two the left one; it is the first or last."""
    left = abs(functions[low] - head) >= abs(functions[high - 1] - head)
    return low if left else high - 1


@njit(cache=True)
def _governor(position: int, head: int, first: Ints, functions: Ints) -> int:
    """Return the outermost function word of a head between it and a dependent, else the head.

    Of the function words between them the outermost is the one nearest to the dependent, which binary search
    finds. A function word can have function words of its own, to which the same applies.
    """
    while head > 0:
        begin = first[head]
        end = first[head + 1]
        low = begin
        high = end
        # Right of the head, the word sought is the last one before the dependent.
        limit = position if position < head else position - 1
        while low < high:
            middle = (low + high) // 2
            if functions[middle] <= limit:
                low = middle + 1
            else:
                high = middle
        if position < head:
            if low == end or functions[low] > head:
                break
            head = functions[low]
        else:
            if low == begin or functions[low - 1] < head:
                break
            head = functions[low - 1]
    return head


@njit(cache=True)
def _set_tops(size: int, first: Ints, functions: Ints, tops: Ints) -> None:
    """Set the token that is outermost of each token and the function words above it."""
    tops[: size + 1] = 0
    for i in range(1, size + 1):
        node = i
        while not tops[node] and first[node] < first[node + 1]:
            node = functions[_outermost(node, first[node], first[node + 1], functions)]
        top = tops[node] if tops[node] else node
        node = i
        while not tops[node] and first[node] < first[node + 1]:
            tops[node] = top
            node = functions[_outermost(node, first[node], first[node + 1], functions)]
        tops[node] = top


@njit(cache=True)
def function_head_positions(relations: Ints, heads: Ints, lengths: Ints) -> Ints:
    """Return the heads with function words above the words they belong to, as `base_np.promoted` does.

    Args:
        relations: (tokens,) int32, see `relation_codes`.
        heads: (tokens,) int32, 1-based position of the head in its sentence, 0 for the root; `NO_HEAD`
            throughout a sentence that has none.
        lengths: (sentences,) int32.

    Returns:
        (tokens,) int32: heads; those of sentences without function words, or without heads, are unchanged.
    """
    result = heads.copy()
    longest = _longest(lengths)
    first = np.empty(longest + 3, np.int32)
    functions = np.empty(longest + 1, np.int32)
    tops = np.empty(longest + 1, np.int32)
    start = 0
    for size in lengths:
        if _group_functions(heads, relations, start, size, first, functions):
            _set_tops(size, first, functions, tops)
            for i in range(1, size + 1):
                head = heads[start + i - 1]
                if head == 0 or relations[start + i - 1] != FUNCTION_RELATION:
                    result[start + tops[i] - 1] = _governor(i, head, first, functions)
                low = first[i]
                high = first[i + 1]
                if low == high:
                    continue
                # From the outermost word inwards: each governs the next one, the innermost governs the head.
                outer = 0
                while low < high:
                    place = _outermost(i, low, high, functions)
                    inner = functions[place]
                    if place == low:
                        low += 1
                    else:
                        high -= 1
                    if outer:
                        result[start + tops[inner] - 1] = _governor(inner, outer, first, functions)
                    outer = inner
                result[start + i - 1] = _governor(i, outer, first, functions)
        start += size
    return result
