"""LMO: the n-gram ordering of Wan et al. 2009 (algorithm 2), as a baseline without a tree.

All units are right siblings of a start-of-sentence token. The left string of each join is the last chosen
phrase ("it then becomes the new point of comparison", Wan et al. 2007, section 5), so that "the LMO baseline
reduces to bigram generation when concatenating single words" (2009, section 5.3). See `greedy` for the other
reading.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from sentgen.generation.ngrams.join import complete_greedily, value_of_joins
from sentgen.generation.problem import Algorithm, Ordering, Problem, Setting


@dataclass(frozen=True, slots=True)
class LmoSettings:
    """What a unit or sibling is joined to: the last chosen `phrase`, or the whole `string` so far."""

    lmo_context: Annotated[
        Literal["phrase", "string"], Setting("What a unit joins: the last one, or all so far.")
    ] = "phrase"

    @property
    def whole_string(self) -> bool:
        """Return whether it is the whole string."""
        return self.lmo_context == "string"


def order_units(problem: Problem, nbest: int = 1) -> list[Ordering]:
    """Order a bag by the best join with what `lmo_context` says; n-best and ties as in `greedy`."""
    return complete_greedily(problem, nbest, whole_string=problem.settings.of(LmoSettings).whole_string)


def value(problem: Problem, units: tuple[int, ...], heads: tuple[int, ...] | None) -> float:
    """Return the sum of the joins of some order."""
    return value_of_joins(problem, units, whole_string=problem.settings.of(LmoSettings).whole_string)


ALGORITHMS = (
    Algorithm(
        "lmo",
        "greedy n-gram ordering after the last phrase (2009)",
        order_units,
        value,
        settings=(LmoSettings,),
        published={"2009": {"lmo_context": "phrase"}},
    ),
)
