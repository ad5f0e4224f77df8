"""All figures of one system on one test set, from its answers and the gold orders.

Theft, greed and shortage are how trees go wrong in the numbers of arguments (Wan et al. 2007, section 4.1).

A tree is compared with the gold tree over the same units, and with how many modifiers the dependency counts
have seen a head with on each side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from sentgen.arrays import Floats
from sentgen.evaluation.figures.measurement import Measurement, ratio
from sentgen.evaluation.regeneration.bleu import overlap_measurements, overlap_statistics
from sentgen.evaluation.regeneration.cases import Case
from sentgen.evaluation.regeneration.orders import (
    adjacencies_found,
    attachments_found,
    is_search_error,
    kendall_tau,
)
from sentgen.generation import Problem, RegeneratedSentence, Unit
from sentgen.generation.bags.problem import LEFT, RIGHT, ROOT, TreeModel
from sentgen.generation.regenerate import gold_places

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

    def same(first: int, second: int) -> bool:
        return first == second or (ROOT not in (first, second) and kinds[first] == kinds[second])

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


#: What one sentence adds to both parts of a ratio.
Parts = tuple[float, float]


def statistics(
    answers: Sequence[RegeneratedSentence], cases: Sequence[Case], problems: Sequence[Problem] | None = None
) -> dict[str, Floats]:
    """Return by metric what the figures sum, a row a sentence; any part of a test set can be done apart.

    Errors in the arguments are counted where the ``problems`` are given that were answered.
    """
    outputs, references = [answer.text for answer in answers], [case.reference for case in cases]
    parts = {
        name: np.array([of(*pair) for pair in zip(answers, cases, strict=True)], np.float64).reshape(-1, 2)
        for name, (of, _) in _FRACTIONS.items()
    }
    known: Sequence[Problem | None] = problems or [None] * len(cases)
    errors = [_argument_errors(*one) for one in zip(answers, cases, known, strict=True)]
    parts |= {
        name: np.array([(counts[k], counts[-1]) for counts in errors], np.float64).reshape(-1, 2)
        for k, name in enumerate(ARGUMENT_ERRORS)
    }
    return overlap_statistics(outputs, references) | parts


def measurements(statistics: Mapping[str, Floats]) -> dict[str, Measurement]:
    """Return the figures by their names: overlap 0 to 100, the others fractions (Kendall's tau -1 to 1).

    Other words are there for answers that were made elsewhere, search errors if the algorithm can score other
    orders, attachments if it makes trees and the test set has some; the signature says how many sentences
    these figures are about.
    """
    meanings = {name: meaning for name, (_, meaning) in _FRACTIONS.items()} | ARGUMENT_ERRORS
    fractions = {
        name: Measurement(
            name, f"{meaning}|sentences:{counted}/{len(statistics[name])}", statistics[name], ratio
        )
        for name, meaning in meanings.items()
        # A figure that no sentence has is left out, not 0.
        if (counted := np.count_nonzero(statistics[name][:, 1]))
    }
    return overlap_measurements(statistics) | fractions


def _exact(answer: RegeneratedSentence, case: Case) -> Parts:
    return float(answer.text == case.reference), 1.0


def _tau(answer: RegeneratedSentence, case: Case) -> Parts:
    tau = kendall_tau(answer.words, case.words)
    # Both parts 0: the sentence counts neither for nor against.
    return (0.0, 0.0) if tau is None else (tau, 1.0)


def _adjacency(answer: RegeneratedSentence, case: Case) -> Parts:
    words, gold = answer.words, case.words
    # Both have as many pairs, unless another system lost words, which must not make it better.
    return float(sum(adjacencies_found(words, gold))), float(max(len(words), len(gold)) + 1)


def _other_words(answer: RegeneratedSentence, case: Case) -> Parts:
    # Of a bag that was put in order the words are those of the sentence.
    if answer.given:
        return 0.0, 0.0
    return float(Counter(answer.words) != Counter(case.words)), 1.0


def _search_error(answer: RegeneratedSentence, _: Case) -> Parts:
    if answer.gold_score is None:
        return 0.0, 0.0
    return float(is_search_error(answer.score, answer.gold_score)), 1.0


def _attachment(answer: RegeneratedSentence, case: Case) -> Parts:
    gold = case.gold
    if answer.tree is None or gold.heads is None:
        return 0.0, 0.0
    same = _comparable(gold.units)
    found = attachments_found(
        list(map(same, answer.units)), answer.tree.heads, list(map(same, gold.units)), gold.heads
    )
    return float(found), float(len(gold.units))


def _argument_errors(
    answer: RegeneratedSentence, case: Case, problem: Problem | None
) -> tuple[int, int, int, int]:
    """Return theft, greed and shortage of a tree, and the number of its units; zeros where there is none."""
    gold = case.gold
    if answer.tree is None or gold.heads is None or problem is None or problem.trees is None:
        return 0, 0, 0, 0
    order, heads = gold_places(gold, answer.given)
    if heads is None:
        return 0, 0, 0, 0
    place = {unit: position for position, unit in enumerate(order)}
    sides = [LEFT if head != ROOT and place[unit] < place[head] else RIGHT for unit, head in enumerate(heads)]
    # Of the places of the sentence those of the bag.
    own_heads, own_sides = [ROOT] * len(heads), [RIGHT] * len(heads)
    for position, unit in enumerate(answer.order):
        head = answer.tree.heads[position]
        own_heads[unit] = answer.order[head] if head != ROOT else ROOT
        own_sides[unit] = answer.tree.sides[position]
    found = argument_errors(own_heads, own_sides, heads, sides, problem.kinds.tolist(), problem.trees)
    return *found, len(heads)


def _comparable(gold: Sequence[Unit]) -> Callable[[Unit], object]:
    """Return what makes units the same: words and tags, or words only where the test set has no tags."""
    if all(unit.tags for unit in gold):
        return lambda unit: unit
    return lambda unit: unit.words


#: What goes wrong in the arguments, and what it is a share of; the words of section 4.1 of Wan et al. 2007.
ARGUMENT_ERRORS = {
    "theft": "units that hang elsewhere while their gold head has fewer on that side, per unit",
    "greed": f"heads with more on a side than gold, so many being unusual (p < {UNUSUAL}), per unit",
    "shortage": f"heads with fewer on a side than gold, so few being unusual (p < {UNUSUAL}), per unit",
}
#: What a sentence adds to both parts, and what the ratio is of. A sentence that adds nothing does not count.
_FRACTIONS: dict[str, tuple[Callable[[RegeneratedSentence, Case], Parts], str]] = {
    "exact-match": (_exact, "share of sentences"),
    "kendall-tau": (_tau, "mean over sentences of 2 words and more"),
    "adjacency": (_adjacency, "share of pairs of neighbors, boundaries included"),
    "other-words": (_other_words, "share of sentences with other words than the original"),
    "search-error": (_search_error, "share of sentences whose gold order scores higher"),
    "attachment": (_attachment, "share of units on their gold head"),
}
