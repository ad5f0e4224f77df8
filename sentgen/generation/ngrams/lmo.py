"""Greedy n-gram ordering: `greedy` in Wan et al. 2007, LMO in 2009 (algorithm 2), a baseline without a tree.

All units are right siblings of a start-of-sentence token. The left string of each join is the last chosen
phrase: "it then becomes the new point of comparison" (2007, section 5). So single words are judged by
bigrams: "when concatenating pairs of single tokens, the first baseline is disadvantaged because the maximum
overlap window is limited to just a bigram" (2007, section 6.3; 2009, section 5.3, says the same of LMO). The
papers give one algorithm two names, and so it has both here. With the setting `lmo_context` the left string
is all that was chosen so far, which neither paper does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from sentgen.generation.bags.problem import Algorithm, Ordering, Paper, Problem, Setting
from sentgen.generation.ngrams.join import complete_greedily, value_of_joins


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
    """Order a bag by the best join with what `lmo_context` says (see `complete_greedily`)."""
    return complete_greedily(problem, nbest, whole_string=problem.settings.of(LmoSettings).whole_string)


def value(problem: Problem, units: tuple[int, ...], heads: tuple[int, ...] | None) -> float:
    """Return the sum of the joins of some order."""
    return value_of_joins(problem, units, whole_string=problem.settings.of(LmoSettings).whole_string)


#: The name in each paper.
_NAMES: tuple[tuple[str, Paper], ...] = (("greedy", "2007"), ("lmo", "2009"))

ALGORITHMS = tuple(
    Algorithm(
        name,
        f"greedy n-gram ordering after the last phrase ({paper})",
        order_units,
        value,
        settings=(LmoSettings,),
        published={paper: {"lmo_context": "phrase"}},
    )
    for name, paper in _NAMES
)
