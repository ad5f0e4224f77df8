"""Theft, greed and shortage: how trees go wrong in the numbers of arguments (Wan et al. 2007, section 4.1).

A tree is compared with the gold tree over the same units, and with how many modifiers the dependency counts
have seen a head with on each side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from sentgen.generation.bags.problem import LEFT, RIGHT, ROOT, TreeModel

#: A number of modifiers is unusual where the counts have less than this share beyond it.
UNUSUAL = 0.05


class ArgumentErrors(NamedTuple):
    """How often each error is made in a tree, or in several."""

    theft: int = 0
    greed: int = 0
    shortage: int = 0


def argument_errors(
    heads: Sequence[int],
    sides: Sequence[int],
    gold_heads: Sequence[int],
    gold_sides: Sequence[int],
    kinds: Sequence[int],
    model: TreeModel,
) -> ArgumentErrors:
    """Return how often a tree makes each error.

    * Theft: a unit hangs on another head than in the gold tree, and its head there has fewer modifiers on
      that side than in the gold tree: what it lost was not replaced.
    * Greed: a head has more modifiers on a side than in the gold tree, and so many or more are unusual.
    * Shortage: a head has fewer than in the gold tree, and so few or fewer are unusual.

    The root is a head, too. Equal units are interchangeable as heads, not as modifiers.

    Args:
        heads, sides: of each unit, as in `Tree`.
        gold_heads, gold_sides: those of the gold tree.
        kinds: equal for equal units.
        model: with p_arg of each unit.
    """
    had, has = Counter(zip(gold_heads, gold_sides, strict=True)), Counter(zip(heads, sides, strict=True))

    def same(one: int, other: int) -> bool:
        return one == other or (ROOT not in (one, other) and kinds[one] == kinds[other])

    thefts = sum(
        not same(head, gold) and has[gold, side] < had[gold, side]
        for head, gold, side in zip(heads, gold_heads, gold_sides, strict=True)
    )
    greed = shortage = 0
    for head in range(ROOT, len(heads)):
        for side in (LEFT, RIGHT):
            seen, number = model.arguments[head + 1, side], has[head, side]
            # The last entry stands for its number and all above.
            at = min(number, len(seen) - 1)
            greed += number > had[head, side] and seen[at:].sum() < UNUSUAL
            shortage += number < had[head, side] and seen[: at + 1].sum() < UNUSUAL
    return ArgumentErrors(int(thefts), int(greed), int(shortage))
