"""The algorithm `insertion`: put in one unit after the other where the sentence is most probable.

Then every unit is taken out and put in again, some passes, or until nothing moves: a local search that does
not look ahead, with O(passes n²) sentences to score for n units.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from sentgen.plugins import Algorithm, Ordering, Problem, Setting


@dataclass(frozen=True, slots=True)
class InsertionSettings:
    """How long is searched."""

    passes: Annotated[int, Setting("How often every unit is put in again.", least=0, most=100)] = 3


def order_units(problem: Problem, nbest: int) -> list[Ordering]:
    """Return the best orders that were come across, one for each string of words."""
    passes = problem.settings.of(InsertionSettings).passes
    best = _scored(problem, ())
    found: dict[tuple[int, ...], Ordering] = {}
    for unit in [*range(problem.size)] * (1 + passes):
        rest = tuple(one for one in best.units if one != unit)
        tried = [_scored(problem, (*rest[:place], unit, *rest[place:])) for place in range(len(rest) + 1)]
        # The first one of equal ones: bags are shuffled by a seed, so that this is as good as any.
        best = max(tried, key=lambda one: one.score)
        if len(best.units) == problem.size:
            found |= {problem.string_of(one.units): one for one in tried}
    # A bag may be empty: then there is nothing but the empty sentence.
    return sorted(found.values() or [best], key=lambda one: (-one.score, one.units))[:nbest]


def _scored(problem: Problem, units: tuple[int, ...]) -> Ordering:
    return Ordering(units, problem.sentence_logp(units))


def value(problem: Problem, units: tuple[int, ...], heads: tuple[int, ...] | None) -> float:
    """Return what some other order would have scored, with which search errors are counted."""
    return problem.sentence_logp(units)


ALGORITHM = Algorithm(
    "insertion",
    "every unit where it fits best, again and again",
    order_units,
    value,
    settings=(InsertionSettings,),
    max_units=100,
)
