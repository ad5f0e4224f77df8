"""What an algorithm gets and gives: arrays of one bag in, orders of its units out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sentgen.models.ngram_table import Ints, NgramTable, extend, score_words, start_state
from sentgen.schema.corpus import EOS


@dataclass(frozen=True, slots=True)
class Problem:
    """One bag as arrays.

    ``words`` holds the local word ids of all units one after the other, and unit u is
    ``words[offsets[u]:offsets[u + 1]]``. ``order`` is the n of the n-grams to use.
    """

    table: NgramTable
    words: Ints
    offsets: Ints
    order: int

    @property
    def size(self) -> int:
        """Return the number of units."""
        return len(self.offsets) - 1


@dataclass(frozen=True, slots=True)
class Ordering:
    """An order of the units, as indices into the bag, with what the algorithm optimised."""

    units: tuple[int, ...]
    score: float


@dataclass(frozen=True, slots=True)
class Algorithm:
    """A named way to order a bag.

    ``order`` takes a problem and a number n and returns at most n different orderings, the best one first.
    ``max_units`` bounds the bag so that an answer comes in seconds.
    """

    name: str
    title: str
    order: Callable[[Problem, int], list[Ordering]]
    max_units: int = 1000


def sentence_logp(problem: Problem, units: tuple[int, ...]) -> float:
    """Return the log-probability of the whole sentence in some order, with its end."""
    pieces = [problem.words[problem.offsets[u] : problem.offsets[u + 1]] for u in units]
    logp, state = score_words(
        problem.table, start_state(problem.table), np.concatenate(pieces) if pieces else problem.words[:0]
    )
    return float(logp + extend(problem.table, state, EOS)[0])
