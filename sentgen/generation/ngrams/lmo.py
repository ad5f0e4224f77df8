"""Greedy n-gram ordering: `greedy` in Wan et al. 2007, LMO in 2009 (algorithm 2), a baseline without a tree.

All units are right siblings of a start-of-sentence token. The left string of each join is the last chosen
phrase: "it then becomes the new point of comparison" (2007, section 5). So single words are scored by
bigrams: "when concatenating pairs of single tokens, the first baseline is disadvantaged because the maximum
overlap window is limited to just a bigram" (2007, section 6.3; 2009, section 5.3, says the same of LMO). The
papers give one algorithm two names, and so it has both here. With the setting `lmo_context=string` the left
string is the whole string so far, which neither paper does.

The score of a join is the n-gram probability of a window around the seam. Wan et al. 2009, equation 3,
as corrected: for a window w0 .. wj, made of the last n-1 words of the left
string and the first n-1 words of the right string, with k = min(n-1, j),

    log P = sum over i = 0 .. j-k of log p(w(i+k) | wi .. w(i+k-1))

so that only n-grams of the greatest possible order count. (As printed, k is off by one, and the join of two
single words would score a unigram.) The window of Wan et al. 2007, section 5, is the same: six words for
n = 4, and "the product of the probabilities of four-grams within that substring".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from sentgen.arrays import Ints, compiled
from sentgen.generation.bags.problem import Algorithm, Ordering, Paper, Problem, Setting
from sentgen.models.ngrams.ngram_table import NgramTable, extend
from sentgen.schema.tables.corpus import BOS


@compiled
def window_logp(table: NgramTable, window: Ints, length: int, order: int) -> float:
    """Return equation 3 for the first ``length`` words of ``window``; 0 for less than two words."""
    if length < 2:
        return 0.0
    k = min(order - 1, length - 1)
    total = 0.0
    for i in range(length - k):
        state = 0
        for index in range(i, i + k):
            _, state = extend(table, state, window[index])
        logp, _ = extend(table, state, window[i + k])
        total += logp
    return total


@compiled
def order_greedily(
    table: NgramTable, words: Ints, offsets: Ints, order: int, start: int, first: int, whole_string: bool
) -> tuple[Ints, float]:
    """Append to a start word the unit that joins best, until all are used.

    Args:
        table: the language model.
        words, offsets: the units (see `Problem`).
        order: n.
        start: the first word of the string.
        first: the unit to take first, -1 for the best one.
        whole_string: whether to join with the end of the whole string; else with the last chosen phrase only.

    Returns:
        The order of the units, and the sum of the scores of the joins. Ties go to the first unit.
        Time: quadratic in the number of units.
    """
    size, span = len(offsets) - 1, max(1, order - 1)
    string = np.empty(len(words) + 1, np.int32)
    string[0] = start
    # After the start token `begin` moves, unless the whole string is to the left of each join.
    begin, end = 0, 1  # the left string of the join: string[begin:end]
    used = np.zeros(size, np.bool_)
    chosen = np.empty(size, np.int32)
    window = np.empty(2 * span, np.int32)
    total = 0.0
    for step in range(size):
        left = min(span, end - begin)
        window[:left] = string[end - left : end]
        best, best_logp = -1, -np.inf
        for unit in range(size):
            if used[unit] or (step == 0 and first >= 0 and unit != first):
                continue
            right = min(span, offsets[unit + 1] - offsets[unit])
            window[left : left + right] = words[offsets[unit] : offsets[unit] + right]
            logp = window_logp(table, window, left + right, order)
            # `best < 0` takes a first unit even if all joins are impossible (-inf).
            if best < 0 or logp > best_logp:
                best, best_logp = unit, logp
        used[best] = True
        chosen[step] = best
        total += best_logp
        length = offsets[best + 1] - offsets[best]
        string[end : end + length] = words[offsets[best] : offsets[best + 1]]
        begin, end = (0 if whole_string else end), end + length
    return chosen, total


@compiled
def _joins_logp(
    table: NgramTable, words: Ints, offsets: Ints, order: int, start: int, units: Ints, whole_string: bool
) -> float:
    """Return the sum of the scores of the joins of an order, as in `order_greedily`."""
    span = max(1, order - 1)
    string = np.empty(len(words) + 1, np.int32)
    string[0] = start
    begin, end = 0, 1
    window = np.empty(2 * span, np.int32)
    total = 0.0
    for unit in units:
        left = min(span, end - begin)
        window[:left] = string[end - left : end]
        right = min(span, offsets[unit + 1] - offsets[unit])
        window[left : left + right] = words[offsets[unit] : offsets[unit] + right]
        total += window_logp(table, window, left + right, order)
        length = offsets[unit + 1] - offsets[unit]
        string[end : end + length] = words[offsets[unit] : offsets[unit + 1]]
        begin, end = (0 if whole_string else end), end + length
    return total


@dataclass(frozen=True, slots=True)
class LmoSettings:
    """The left string of a join: the last chosen `phrase`, or the whole `string` so far."""

    lmo_context: Annotated[
        Literal["phrase", "string"], Setting("What a unit joins: the last one, or all so far.")
    ] = "phrase"

    @property
    def whole_string(self) -> bool:
        """Return whether the left string of a join is the whole string."""
        return self.lmo_context == "string"


def _order_units(problem: Problem, nbest: int = 1) -> list[Ordering]:
    """Return the greedy order, followed by the best greedy orders that begin with another unit.

    These are ranked by their log-probability as sentences, without duplicate strings. Ties go to the unit
    that is first in the (shuffled) bag. Time: u^2 joins, times u for ``nbest`` above 1.
    """
    best = _from(problem, -1)
    if nbest <= 1:
        return [best]
    others = [_from(problem, first) for first in range(problem.size)]
    others.sort(key=lambda ordering: -problem.sentence_logp(ordering.units))
    different: dict[tuple[int, ...], Ordering] = {}
    for ordering in (best, *others):
        # The greedy order stays first, whatever its log-probability.
        different.setdefault(problem.string_of(ordering.units), ordering)
    return list(different.values())[:nbest]


def _from(problem: Problem, first: int) -> Ordering:
    whole = problem.settings.of(LmoSettings).whole_string
    units, score = order_greedily(
        problem.table, problem.words, problem.offsets, problem.order, BOS, first, whole
    )
    return Ordering(tuple(units.tolist()), score)


def value(problem: Problem, units: tuple[int, ...], heads: tuple[int, ...] | None) -> float:
    """Return the sum of the scores of the joins of an order."""
    chosen, whole = np.array(units, np.int32), problem.settings.of(LmoSettings).whole_string
    return float(
        _joins_logp(problem.table, problem.words, problem.offsets, problem.order, BOS, chosen, whole)
    )


#: The names of the algorithm in both papers.
_NAMES: tuple[tuple[str, Paper], ...] = (("greedy", "2007"), ("lmo", "2009"))

ALGORITHMS = tuple(
    Algorithm(
        name,
        f"greedy n-gram ordering after the last phrase ({paper})",
        _order_units,
        value,
        settings=(LmoSettings,),
        published={paper: {"lmo_context": "phrase"}},
    )
    for name, paper in _NAMES
)
