"""The references of `by_ngrams` and `by_weight`: from a tree to a sentence as the papers write it."""

from __future__ import annotations

from collections.abc import Sequence

from join_reference import Probability, join_logp

from sentgen.generation.bags.problem import LEFT, RIGHT, ROOT
from sentgen.schema.tables.corpus import BOS


def by_weight_reference(
    heads: Sequence[int], sides: Sequence[int], earlier: Sequence[int], weights: Sequence[float]
) -> list[int]:
    """Return the units in the order of `by_weight`, by recursion."""

    def realized(node: int) -> list[int]:
        units = [] if node == ROOT else [node]
        mine = [unit for unit, head in enumerate(heads) if head == node]
        for unit in sorted(mine, key=lambda unit: (-weights[unit], earlier[unit])):
            units = [*realized(unit), *units] if sides[unit] == LEFT else [*units, *realized(unit)]
        return units

    return realized(ROOT)


def by_ngrams_reference(
    logp: Probability,
    strings: Sequence[Sequence[int]],
    order: int,
    heads: Sequence[int],
    sides: Sequence[int],
    *,
    whole_string: bool,
) -> list[int]:
    """Return the units in the order of `by_ngrams`, as algorithm 2 is written: recursive, with whole strings."""

    def realized(node: int) -> list[int]:
        """Return the units of a subtree in order."""
        left, right = (chain(node, side) for side in (LEFT, RIGHT))
        return [*left, *([] if node == ROOT else [node]), *right]

    def chain(node: int, side: int) -> list[int]:
        phrases = [realized(u) for u, head in enumerate(heads) if head == node and sides[u] == side]
        string = [BOS] if side == LEFT or node == ROOT else list(strings[node])
        units: list[int] = []
        while phrases:
            joins = [join_logp(logp, string, words_of(phrase), order) for phrase in phrases]
            best = phrases.pop(joins.index(max(joins)))
            units += best
            string = [*(string if whole_string else []), *words_of(best)]
        return units

    def words_of(units: Sequence[int]) -> list[int]:
        return [word for unit in units for word in strings[unit]]

    return realized(ROOT)
