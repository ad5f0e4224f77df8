"""Greedy n-gram ordering: the string so far, and whatever continues it best (baseline of Wan et al. 2007).

The left string of each join is the whole sentence so far, so that single words, too, are judged by n-grams
of full order. This is the one difference from `lmo`, where the last chosen phrase is all there is to the
left, and a word after a word is judged by a bigram.
"""

from __future__ import annotations

import numpy as np

from sentgen.generation.ngrams.join import joins_logp, order_greedily
from sentgen.generation.problem import Algorithm, Ordering, Problem, sentence_logp, string_of
from sentgen.schema.corpus import BOS


def order_units(problem: Problem, nbest: int = 1) -> list[Ordering]:
    """Order a bag greedily from the start of the sentence.

    With ``nbest`` above 1 every unit is tried as the first one and completed greedily; the different strings
    come ranked by their log-probability as sentences, the greedy choice always first, as it is the answer.
    Ties go to the unit that comes first in the (shuffled) bag. Time: u^2 joins, times u for ``nbest`` > 1.
    """
    return complete_greedily(problem, nbest, whole_string=True)


def complete_greedily(problem: Problem, nbest: int, *, whole_string: bool) -> list[Ordering]:
    """Return the greedy order, and behind it the best of those that begin with another unit."""
    best = _from(problem, -1, whole_string=whole_string)
    if nbest <= 1:
        return [best]
    others = [_from(problem, first, whole_string=whole_string) for first in range(problem.size)]
    others.sort(key=lambda ordering: -sentence_logp(problem, ordering.units))
    different: dict[tuple[int, ...], Ordering] = {}
    for ordering in (best, *others):
        different.setdefault(string_of(problem, ordering.units), ordering)
    return list(different.values())[:nbest]


def _from(problem: Problem, first: int, *, whole_string: bool) -> Ordering:
    units, score = order_greedily(
        problem.table, problem.words, problem.offsets, problem.order, BOS, first, whole_string
    )
    return Ordering(tuple(units.tolist()), score)


def value(problem: Problem, units: tuple[int, ...], heads: tuple[int, ...] | None) -> float:
    """Return the sum of the joins of some order."""
    return value_of_joins(problem, units, whole_string=True)


def value_of_joins(problem: Problem, units: tuple[int, ...], *, whole_string: bool) -> float:
    """Return what `complete_greedily` would have scored an order with."""
    chosen = np.array(units, np.int32)
    return float(
        joins_logp(problem.table, problem.words, problem.offsets, problem.order, BOS, chosen, whole_string)
    )


ALGORITHMS = (
    Algorithm(
        "greedy",
        "greedy n-gram ordering after the string so far (2007)",
        order_units,
        value,
        published={"2007": {}},
    ),
)
