"""Base noun phrases of Universal Dependencies, function words as heads, and trees over units, compiled.

The sentences are concatenated in flat arrays. The heads of a sentence must form a tree, which
`validation.check` ensures, or all be `NO_HEAD`. A unit is a base noun phrase, as one node, or another word.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sentgen.arrays import Bools, Ints, Longs, compiled
from sentgen.corpus.sentence import Sentence

NO_HEAD = -1
#: Codes of tags and relations.
OTHER, NOMINAL_TAG = 0, 1
INSIDE_RELATION, FUNCTION_RELATION = 1, 2

#: The tags of words that head base noun phrases.
NOMINAL = frozenset({"NOUN", "PROPN", "PRON", "NUM"})
#: Relations by which a word is inside the base noun phrase of its head, subtypes apart.
_INSIDE = frozenset({"det", "amod", "compound", "nummod", "flat"})
_FUNCTION = frozenset({"case", "mark", "aux", "cop"})

NOT_LAST = -1


def upos_codes(upos: Sequence[str]) -> Ints:
    """Return ``NOMINAL_TAG`` for the tags that head base noun phrases, else ``OTHER``."""
    return np.array([NOMINAL_TAG if tag in NOMINAL else OTHER for tag in upos], np.int32)


def relation_codes(deprels: Sequence[str]) -> Ints:
    """Return ``INSIDE_RELATION``, ``FUNCTION_RELATION`` or ``OTHER`` for each relation."""
    return np.array([_relation_code(relation) for relation in deprels], np.int32)


def _relation_code(relation: str) -> int:
    kind = relation.partition(":")[0]
    if kind in _INSIDE or relation == "nmod:poss":
        return INSIDE_RELATION
    return FUNCTION_RELATION if kind in _FUNCTION else OTHER


@compiled
def _longest(lengths: Ints) -> int:
    longest = 0
    for size in lengths:
        longest = max(longest, size)
    return longest


# The functions below get one sentence's slice of each array, and scratch arrays over positions, from 1 on.
# These are Longs (int64), so that numba compiles each function only once, not for both widths.


@compiled
def _set_depths(heads: Ints, depths: Longs) -> None:
    """Set the distance of each token from the root; ``depths[0]`` is that of the artificial root."""
    depths[0] = 0
    for i in range(1, heads.size + 1):
        depths[i] = -1
    for i in range(1, heads.size + 1):
        node = i
        depth = 0
        while depths[node] < 0:
            depth += 1
            node = heads[node - 1]
        depth += depths[node]
        node = i
        while depths[node] < 0:
            depths[node] = depth
            depth -= 1
            node = heads[node - 1]


@compiled
def _sort_nominals(upos: Ints, depths: Longs, order: Longs, places: Longs) -> int:
    """Set ``order`` to the nominals, nearer to the root first, then left to right; return their number.

    A counting sort: ``places`` is scratch for the next index of each depth.
    """
    for depth in range(upos.size + 2):
        places[depth] = 0
    for i in range(1, upos.size + 1):
        if upos[i - 1] == NOMINAL_TAG:
            places[depths[i] + 1] += 1
    for depth in range(1, upos.size + 2):
        places[depth] += places[depth - 1]
    for i in range(1, upos.size + 1):
        if upos[i - 1] == NOMINAL_TAG:
            order[places[depths[i]]] = i
            places[depths[i]] += 1
    return int(places[upos.size + 1])


@compiled
def _reaches(position: int, top: int, owner: Longs, heads: Ints, relations: Ints, depths: Longs) -> bool:
    """Return whether a path of inside relations leads from a token up to ``top``, or to a token inside."""
    node = position
    depth = depths[top] + 1
    while depths[node] > depth and owner[node] != top:
        node = heads[node - 1]
    if depths[node] > depth:
        return True
    if depths[node] != depth or heads[node - 1] != top:
        return False
    return bool(relations[node - 1] == INSIDE_RELATION)


@compiled
def base_np_numbers(upos: Ints, relations: Ints, heads: Ints, lengths: Ints) -> Ints:
    """Return the number of the base noun phrase of each token in its sentence, see `mark_base_nps`.

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
    # The scratch arrays are shared by all sentences: allocating them takes longer than the computation.
    scratch = np.empty((4, _longest(lengths) + 2), np.int64)
    depths, places, order, owner = scratch[0], scratch[1], scratch[2], scratch[3]
    start = 0
    for size in lengths:
        end = start + size
        if size and heads[start] != NO_HEAD:
            own, own_relations = heads[start:end], relations[start:end]
            _set_depths(own, depths)
            count = _sort_nominals(upos[start:end], depths, order, places)
            for i in range(size + 2):
                owner[i] = 0
            for position in range(count):
                top = order[position]
                if owner[top]:
                    continue
                owner[top] = top
                # A phrase is contiguous: on either side it ends at the first token outside.
                for step in (-1, 1):
                    at = top + step
                    while 0 < at <= size and not owner[at]:
                        if not _reaches(at, top, owner, own, own_relations, depths):
                            break
                        owner[at] = top
                        at += step
            latest = 0
            for i in range(1, size + 1):
                if owner[i]:
                    # Adjacent phrases have different owners; `owner[0]` is always 0.
                    latest += owner[i] != owner[i - 1]
                    result[start + i - 1] = latest
        start = end
    return result


@compiled
def _group_functions(heads: Ints, relations: Ints, first: Longs, functions: Longs) -> int:
    """Sort function words by their heads, then left to right; return their number.

    The function words of head h are ``functions[first[h] : first[h + 1]]``.
    """
    for i in range(heads.size + 3):
        first[i] = 0
    for i in range(heads.size):
        if heads[i] > 0 and relations[i] == FUNCTION_RELATION:
            # Counted two indices ahead: filling moves each start to the end of its group, one index ahead.
            first[heads[i] + 2] += 1
    for i in range(1, heads.size + 3):
        first[i] += first[i - 1]
    for i in range(heads.size):
        if heads[i] > 0 and relations[i] == FUNCTION_RELATION:
            functions[first[heads[i] + 1]] = i + 1
            first[heads[i] + 1] += 1
    return int(first[heads.size + 1])


@compiled
def _outermost(head: int, low: int, high: int, functions: Longs) -> int:
    """Return the index of the word farthest from its head, the first or the last; of equally far the left."""
    return low if abs(functions[low] - head) >= abs(functions[high - 1] - head) else high - 1


@compiled
def _governor(position: int, head: int | np.int64, first: Longs, functions: Longs) -> int:
    """Return the outermost function word of a head between it and a dependent, else the head.

    Of the function words between them the outermost is the nearest to the dependent, found by binary search.
    A function word can have function words of its own, among which the search continues.
    """
    while head > 0:
        low = first[head]
        high = first[head + 1]
        # Right of the head, it is the last function word before the dependent.
        limit = position if position < head else position - 1
        while low < high:
            middle = (low + high) // 2
            if functions[middle] <= limit:
                low = middle + 1
            else:
                high = middle
        if position < head:
            if low == first[head + 1] or functions[low] > head:
                break
            head = functions[low]
        else:
            if low == first[head] or functions[low - 1] < head:
                break
            head = functions[low - 1]
    return int(head)


@compiled
def _set_tops(size: int, first: Longs, functions: Longs, tops: Longs) -> None:
    """Set ``tops`` to the outermost of each token and the function words above it."""
    for i in range(1, size + 1):
        tops[i] = 0
    for i in range(1, size + 1):
        node = i
        while not tops[node] and first[node] < first[node + 1]:
            node = functions[_outermost(node, first[node], first[node + 1], functions)]
        top = tops[node] if tops[node] else node
        node = i
        while not tops[node]:
            tops[node] = top
            if first[node] < first[node + 1]:
                node = functions[_outermost(node, first[node], first[node + 1], functions)]


@compiled
def _promote(heads: Ints, relations: Ints, first: Longs, functions: Longs, tops: Longs, out: Ints) -> None:
    """Set the heads of one sentence after promotion."""
    for i in range(1, heads.size + 1):
        if heads[i - 1] == 0 or relations[i - 1] != FUNCTION_RELATION:
            out[tops[i] - 1] = _governor(i, np.int64(heads[i - 1]), first, functions)
        low = first[i]
        high = first[i + 1]
        if low == high:
            continue
        # From the outermost word inwards, each governs the next, and the innermost governs the head.
        position = _outermost(i, low, high, functions)
        outer = functions[position]
        while high - low > 1:
            if position == low:
                low += 1
            else:
                high -= 1
            position = _outermost(i, low, high, functions)
            inner = functions[position]
            out[tops[inner] - 1] = _governor(inner, outer, first, functions)
            outer = inner
        out[i - 1] = _governor(i, outer, first, functions)


@compiled
def function_head_positions(relations: Ints, heads: Ints, lengths: Ints) -> Ints:
    """Return the heads with function words above their heads, see `function_heads`.

    Args:
        relations: (tokens,) int32, see `relation_codes`.
        heads: (tokens,) int32, 1-based position of the head in its sentence, 0 for the root; `NO_HEAD`
            throughout a sentence that has none.
        lengths: (sentences,) int32.

    Returns:
        (tokens,) int32: heads; those of sentences without function words, or without heads, are unchanged.
    """
    result = heads.copy()
    scratch = np.empty((3, _longest(lengths) + 3), np.int64)
    first, functions, tops = scratch[0], scratch[1], scratch[2]
    start = 0
    for size in lengths:
        end = start + size
        own, own_relations = heads[start:end], relations[start:end]
        if _group_functions(own, own_relations, first, functions):
            _set_tops(own.size, first, functions, tops)
            _promote(own, own_relations, first, functions, tops, result[start:end])
        start = end
    return result


def mark_base_nps(sentence: Sentence) -> bool:
    """Set ``nps`` of a sentence that has none from its tags and relations; return whether it was set.

    A base noun phrase is a NOUN, PROPN, PRON or NUM, its modifiers by det, amod, compound, nummod, nmod:poss
    or flat, and all words below these, limited to the contiguous tokens around the head. Heads nearer to the
    root are processed first, from left to right: a phrase inside another one is part of it.
    """
    if sentence.nps is not None or not (sentence.upos and sentence.heads and sentence.deprels):
        return False
    codes = upos_codes(sentence.upos), relation_codes(sentence.deprels)
    sentence.nps = base_np_numbers(*codes, *_one_sentence(sentence.heads)).tolist()
    return True


def function_heads(sentence: Sentence) -> list[int]:
    """Return the heads with case, mark, aux and cop (subtypes included) above the words that they modified.

    Several function words of one head become a chain: the one farthest from the head is outermost (of two
    equally far, the left one), and the nearest one governs the head. Other dependents of the head, if a
    function word is between them and the head, are attached to the outermost such word, so that a projective
    tree remains projective: *he* in "he will be happy" depends on *will*, and *will* governs *be*, *be*
    governs *happy*. The result is a tree if the input is. Time: n log n.

    Raises:
        ValueError: The sentence has no heads or no relations.
    """
    if sentence.heads is None or sentence.deprels is None:
        raise ValueError("function_heads needs heads and deprels")
    codes = relation_codes(sentence.deprels)
    heads: list[int] = function_head_positions(codes, *_one_sentence(sentence.heads)).tolist()
    return heads


def _one_sentence(heads: Sequence[int]) -> tuple[Ints, Ints]:
    return np.array(heads, np.int32), np.array([len(heads)], np.int32)


@compiled
def _is_tree(heads: Ints, start: int, size: int, seen: Ints) -> bool:
    """Return whether every unit reaches the root; ``seen`` is scratch over 1-based positions."""
    seen[: size + 1] = 0
    roots = 0
    for i in range(1, size + 1):
        if heads[start + i - 1] == NOT_LAST:
            continue
        roots += heads[start + i - 1] == 0
        at = i
        # Each walk marks the units with its start: a unit with the same mark closes a cycle.
        while at != 0 and seen[at] == 0:
            seen[at] = i
            at = heads[start + at - 1]
        if at != 0 and seen[at] == i:
            return False
    return roots == 1


@compiled
def unit_heads(heads: Ints, nps: Ints, lengths: Ints) -> tuple[Ints, Bools]:
    """Return the governing unit of every unit, both represented by their last word.

    The head of a unit is found from its last word: up the tree until the path leaves the unit
    (Wan et al. 2007 represent a base NP by its last word).

    Args:
        heads: (tokens,) int32, 1-based position of the head in its sentence, 0 for the root, -1 for none.
        nps: (tokens,) int32, number of the base NP in the sentence, 0 outside.
        lengths: (sentences,) int32.

    Returns:
        (tokens,) int32: on the last word of a unit the position of the last word of the governing unit, 0 for
        the root; ``NOT_LAST`` elsewhere. And (sentences,) bool: whether the units of the sentence form a
        tree; where they do not (a base NP that is no subtree), all its entries are ``NOT_LAST``.
    """
    result = np.full(heads.size, NOT_LAST, np.int32)
    trees = np.ones(lengths.size, np.bool_)
    last = np.empty(_longest(lengths) + 1, np.int32)
    seen = np.empty(last.size, np.int32)
    start = 0
    for s in range(lengths.size):
        size = lengths[s]
        # From the right, so that the last word of a phrase comes before its other words.
        for i in range(size, 0, -1):
            same = i < size and nps[start + i - 1] > 0 and nps[start + i - 1] == nps[start + i]
            last[i] = last[i + 1] if same else i
        for i in range(1, size + 1):
            if last[i] != i or heads[start + i - 1] < 0:
                continue
            at = heads[start + i - 1]
            steps = 0
            # `steps` bounds the walk in case the heads are no tree.
            while at > 0 and last[at] == i and steps <= size:
                at = heads[start + at - 1]
                steps += 1
            result[start + i - 1] = last[at] if at > 0 else 0
        if size and heads[start] >= 0 and not _is_tree(result, start, size, seen):
            trees[s] = False
            result[start : start + size] = NOT_LAST
        start += size
    return result, trees
