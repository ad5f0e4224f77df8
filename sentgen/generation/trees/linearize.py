"""From a tree to a sentence: each head between its left and its right modifiers, siblings in some order.

Two ways to order the siblings on one side of a head:

* `by_ngrams`, LMO (Wan et al. 2009, algorithm 2): append again and again the sibling whose string joins best
  (see `ngrams.join`). The left modifiers begin after a start token, the right ones after the
  head's own string; the modifiers of the root are right of a start token.
* `by_weight` (Wan et al. 2007, section 5, "relation-based"): the stronger the relation, the nearer to the
  head.

Both work from the leaves up. A string is a chain of units, so that two of them are joined by one link.
Nothing is recursive: a chain of a thousand heads is a tree like any other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sentgen.arrays import Floats, Ints, compiled
from sentgen.generation.ngrams.lmo import window_logp
from sentgen.models.ngrams.ngram_table import NgramTable
from sentgen.schema.tables.corpus import BOS


class _Strings(NamedTuple):
    """The string of each unit's subtree, as far as it is known, -1 for none."""

    first: Ints  # (n,) first unit of the string
    last: Ints  # (n,) last unit of the string
    before: Ints  # (n,) the unit to the left of a unit
    after: Ints  # (n,) the unit to its right


class _Joining(NamedTuple):
    """What strings are joined by: the language model, the units, and n - 1 words of either side."""

    table: NgramTable
    words: Ints
    offsets: Ints
    order: int
    window: Ints  # (2 * (order - 1),) written anew for each join
    whole_string: bool


@compiled
def by_ngrams(
    table: NgramTable,
    words: Ints,
    offsets: Ints,
    order: int,
    heads: Ints,
    sides: Ints,
    whole_string: bool,
) -> Ints:
    """Return the units from left to right, siblings in the order of LMO.

    Args:
        table, words, offsets: the language model and the units (see `Problem`).
        order: n.
        heads, sides: (n,) the tree (see `Tree`).
        whole_string: compare with the end of all that is chosen; else with the last chosen phrase.

    Of equal siblings the first unit is taken. Time: quadratic in the number of siblings on a side.
    """
    members, begins = _siblings(heads, sides)
    strings = _single(len(heads))
    window = np.empty(2 * max(1, order - 1), np.int32)
    joining = _Joining(table, words, offsets, order, window, whole_string)
    start = -1
    # Leaves first: the strings of all modifiers are whole when their head asks for them.
    for node in _heads_first(members, begins)[::-1]:
        begin, middle, end = begins[2 * node], begins[2 * node + 1], begins[2 * node + 2]
        left = _chain(joining, strings, members, begin, middle, -1)
        right = _chain(joining, strings, members, middle, end, node - 1)
        start = _around(strings, node - 1, left, right)
    return _walk(strings, start)


@compiled
def by_weight(heads: Ints, sides: Ints, earlier: Ints, weights: Floats) -> Ints:
    """Return the units from left to right, the strongest relation nearest to the head.

    Of equal siblings the one that was attached first is nearest. Args as in `Tree`. Time: as `by_ngrams`.
    """
    members, begins = _siblings(heads, sides)
    strings = _single(len(heads))
    start = -1
    for node in _heads_first(members, begins)[::-1]:
        begin, middle, end = begins[2 * node], begins[2 * node + 1], begins[2 * node + 2]
        _sort(members, begin, middle, earlier, weights)
        _sort(members, middle, end, earlier, weights)
        left, right = (-1, -1), (node - 1, node - 1)
        for place in range(begin, end):
            if place < middle:
                left = _linked(strings, (strings.first[members[place]], strings.last[members[place]]), left)
            else:
                right = _linked(strings, right, (strings.first[members[place]], strings.last[members[place]]))
        start = _around(strings, node - 1, left, right)
    return _walk(strings, start)


@compiled
def _siblings(heads: Ints, sides: Ints) -> tuple[Ints, Ints]:
    """Return units grouped by node and side, and where groups begin: 2 * (head + 1) + side is a group."""
    size = len(heads)
    # One group more than there are, since filling moves each begin to the end of its group.
    begins = np.zeros(2 * size + 4, np.int32)
    for unit in range(size):
        begins[2 * (heads[unit] + 1) + sides[unit] + 2] += 1
    for group in range(2, len(begins)):
        begins[group] += begins[group - 1]
    members = np.empty(size, np.int32)
    for unit in range(size):
        group = 2 * (heads[unit] + 1) + sides[unit]
        # In the order of units, so that siblings begin in the order of the bag.
        members[begins[group + 1]] = unit
        begins[group + 1] += 1
    return members, begins


@compiled
def _heads_first(members: Ints, begins: Ints) -> Ints:
    """Return all nodes, 0 for the root and unit + 1 for the others, each one before its modifiers."""
    nodes = np.zeros(len(members) + 1, np.int32)
    found = 1
    for done in range(len(nodes)):
        for place in range(begins[2 * nodes[done]], begins[2 * nodes[done] + 2]):
            nodes[found] = members[place] + 1
            found += 1
    return nodes


@compiled
def _sort(members: Ints, begin: int, end: int, earlier: Ints, weights: Floats) -> None:
    """Sort units by falling weight; in the order of attachment where weights are equal."""
    for step in range(begin + 1, end):
        unit, place = members[step], step
        while place > begin and (weights[members[place - 1]], -earlier[members[place - 1]]) < (
            weights[unit],
            -earlier[unit],
        ):
            members[place] = members[place - 1]
            place -= 1
        members[place] = unit


@compiled
def _chain(
    joining: _Joining, strings: _Strings, members: Ints, begin: int, end: int, start: int
) -> tuple[int, int]:
    """Link ``members[begin:end]`` behind a unit, or a start token if it is -1; return first and last unit."""
    table, words, offsets, order, window, whole_string = joining
    chain, phrase = (start, start), start
    for step in range(begin, end):
        since = chain[0] if whole_string else phrase
        length = _last_words(words, offsets, strings, since, chain[1], whole_string and start < 0, window)
        best, best_logp = -1, -np.inf
        for place in range(step, end):
            total = _first_words(words, offsets, strings, strings.first[members[place]], window, length)
            logp = window_logp(table, window, total, order)
            if best < 0 or logp > best_logp:
                best, best_logp = place, logp
        chosen = members[best]
        # The others keep their order, so that the first of equals stays the first of the bag.
        for place in range(best, step, -1):
            members[place] = members[place - 1]
        members[step] = chosen
        phrase = strings.first[chosen]
        chain = _linked(strings, chain, (phrase, strings.last[chosen]))
    return chain


@compiled
def _last_words(
    words: Ints, offsets: Ints, strings: _Strings, first: int, last: int, after_start: bool, window: Ints
) -> int:
    """Write the last n - 1 words from one unit to another, with a start token before them if there is one.

    Returns:
        The number of words; a start token alone if there are no units.
    """
    free = len(window) // 2
    unit = last
    while unit >= 0 and free:
        place = offsets[unit + 1]
        while place > offsets[unit] and free:
            place -= 1
            free -= 1
            window[free] = words[place]
        # Stops at `first`: with `phrase` what lies before it is linked, but not looked at.
        unit = strings.before[unit] if unit != first else -1
    if free and (after_start or last < 0):
        free -= 1
        window[free] = BOS
    # Words were written from the right end; they must begin at 0 for `window_logp`.
    length = len(window) // 2 - free
    for place in range(length):
        window[place] = window[free + place]
    return length


@compiled
def _first_words(words: Ints, offsets: Ints, strings: _Strings, first: int, window: Ints, length: int) -> int:
    """Write the first n - 1 words of a string behind ``length`` words; return how many there are then."""
    limit = length + len(window) // 2
    unit = first
    while unit >= 0 and length < limit:
        place = offsets[unit]
        while place < offsets[unit + 1] and length < limit:
            window[length] = words[place]
            place += 1
            length += 1
        unit = strings.after[unit]
    return length


@compiled
def _single(size: int) -> _Strings:
    """Return strings of one unit each."""
    units = np.arange(size).astype(np.int32)
    return _Strings(units, units.copy(), np.full(size, -1, np.int32), np.full(size, -1, np.int32))


@compiled
def _linked(strings: _Strings, left: tuple[int, int], right: tuple[int, int]) -> tuple[int, int]:
    """Join two strings, either of which may be empty (-1, -1); return first and last unit."""
    if left[1] < 0:
        return right
    if right[0] < 0:
        return left
    strings.after[left[1]] = right[0]
    strings.before[right[0]] = left[1]
    return left[0], right[1]


@compiled
def _around(strings: _Strings, head: int, left: tuple[int, int], right: tuple[int, int]) -> int:
    """Put the left modifiers before the head with the right ones; return the first unit of it all."""
    first, last = _linked(strings, left, right)
    if head >= 0:
        strings.first[head], strings.last[head] = first, last
    return first


@compiled
def _walk(strings: _Strings, start: int) -> Ints:
    """Return the units of a string."""
    units = np.empty(len(strings.after), np.int32)
    for place in range(len(units)):
        units[place] = start
        start = strings.after[start]
    return units
