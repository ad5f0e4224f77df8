"""Which n-grams lie within one bag of a batch.

A batch looks up the words of all its bags at once, but what is searched is one bag: an n-gram is of use only
if some bag has all of its words. A word is a set of bags, one bit each; so is the intersection over the words
of an n-gram, and it must not be empty. Of the rows that have an anchor in a hundred sentences, one in ten to
one in twenty is left.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from sentgen.arrays import Bits, Ints, Longs, compiled

_BITS = 64


class Membership(NamedTuple):
    """The bags of each word; W words occur in B bags."""

    places: Ints  # (greatest word id + 1,) row of a word in `bits`, -1 if it is in no bag
    bits: Bits  # (W, ceil(B / 64)) bit b % 64 of column b // 64: is it in bag b?


def membership(bags: Sequence[Sequence[int]], everywhere: Iterable[int]) -> Membership:
    """Return the bags of each word.

    Args:
        bags: the word ids of each bag.
        everywhere: word ids that count as members of every bag, and of one bag if there is none.
    """
    lengths = [len(bag) for bag in bags]
    flat = np.array([word for bag in bags for word in bag], np.int32)
    always = np.array(sorted(everywhere), np.int32)
    # Sorted, so that rows of `bits` come in the order of the ids, whatever the order of the bags.
    words = np.unique(np.concatenate((flat, always)))
    places = np.full(int(words.max(initial=-1)) + 1, -1, np.int32)
    places[words] = np.arange(len(words))
    bits = np.zeros((len(words), max(1, -(-len(bags) // _BITS))), np.uint64)
    column, bit = np.divmod(np.repeat(np.arange(len(bags)), lengths), _BITS)
    # `at`: a word occurs in many bags of one column, and plain indexing would keep the last one only.
    np.bitwise_or.at(bits, (places[flat], column), np.left_shift(np.uint64(1), bit.astype(np.uint64)))
    # All bits, beyond the last bag, too: n-grams of such words alone are kept even without a bag.
    bits[places[always]] = ~np.uint64(0)
    return Membership(places, bits)


@compiled
def within_bags(words: Ints, places: Ints, bits: Bits) -> Longs:
    """Return the rows of the n-grams that lie within one bag, ascending; one pass.

    Args:
        words: (R, n) word ids, -1 beyond the length; none is greater than the greatest one of the bags.
        places, bits: the `Membership`.
    """
    found = np.empty(len(words), np.int64)
    size = 0
    for row in range(len(words)):
        # 64 bags at a time, and done at the first one that has them all.
        for column in range(bits.shape[1]):
            common = ~np.uint64(0)
            for i in range(words.shape[1]):
                if words[row, i] < 0:
                    break
                place = places[words[row, i]]
                common = common & bits[place, column] if place >= 0 else np.uint64(0)
                if common == 0:
                    break
            if common != 0:
                found[size] = row
                size += 1
                break
    return found[:size].copy()
