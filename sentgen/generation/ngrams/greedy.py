"""Greedy n-gram ordering: the string so far, and whatever continues it best (baseline of Wan et al. 2007).

The left string of each join is the whole sentence so far, so that single words, too, are judged by n-grams
of full order. This is the one difference from `lmo`, where the last chosen phrase is all there is to the
left, and a word after a word is judged by a bigram.
"""

from __future__ import annotations

from sentgen.generation.ngrams.join import complete_greedily, value_of_joins
from sentgen.generation.problem import Algorithm, Ordering, Problem


def order_units(problem: Problem, nbest: int = 1) -> list[Ordering]:
    """Order a bag greedily from the start of the sentence.

    With ``nbest`` above 1 every unit is tried as the first one and completed greedily; the different strings
    come ranked by their log-probability as sentences, the greedy choice always first, as it is the answer.
    Ties go to the unit that comes first in the (shuffled) bag. Time: u^2 joins, times u for ``nbest`` > 1.
    """
    return complete_greedily(problem, nbest, whole_string=True)


def value(problem: Problem, units: tuple[int, ...], heads: tuple[int, ...] | None) -> float:
    """Return the sum of the joins of some order."""
    return value_of_joins(problem, units, whole_string=True)


ALGORITHMS = (
    Algorithm(
        "greedy",
        "greedy n-gram ordering after the string so far (2007)",
        order_units,
        value,
        published={"2007": {}},
    ),
)
