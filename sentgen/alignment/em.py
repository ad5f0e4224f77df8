"""MAP expectation maximization of the phrase-based HMM (Daumé & Marcu 2004, sec. 2.2.4 and 2.2.5).

``expected_counts`` is additive over pairs: the counts of batches, summed in any order, are those of all pairs to
1e-9. ``maximize`` turns them into parameters, and log-likelihood + ``log_prior`` never falls from one iteration
to the next. A trainer that streams fetches the rows of the tables that a batch needs, calls ``expected_counts``,
adds the counts of the tables by their keys, and normalizes in its own way (``RewriteTable.normalized`` is the
formula: (count + fake) / their sum over the row).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sentgen.alignment.jumps import Floats
from sentgen.alignment.lexicon import PairIds
from sentgen.alignment.parameters import Parameters, RewriteTable
from sentgen.alignment.settings import Settings


@dataclass(frozen=True, slots=True)
class Expected:
    """Expected counts of pairs, and the log-probability of their abstracts; all are sums over pairs.

    ``table`` and ``stems`` are by the cells of the tables, ``unigram`` by word id, ``weights`` by component,
    ``jumps`` by jump cell; ``nulls`` and ``moves`` are the segments from null and the others (ends included).
    """

    logp: float
    pairs: int
    table: Floats
    stems: Floats
    unigram: Floats
    weights: Floats
    jumps: Floats
    nulls: float
    moves: float

    def __add__(self, other: Expected) -> Expected:
        """Return the counts of both."""
        return Expected(
            self.logp + other.logp,
            self.pairs + other.pairs,
            self.table + other.table,
            self.stems + other.stems,
            self.unigram + other.unigram,
            self.weights + other.weights,
            self.jumps + other.jumps,
            self.nulls + other.nulls,
            self.moves + other.moves,
        )


def expected_counts(pairs: Iterable[PairIds], parameters: Parameters, settings: Settings) -> Expected:
    """Return the expected counts of pairs under the parameters (the E step)."""
    raise NotImplementedError


def maximize(expected: Expected, parameters: Parameters, settings: Settings) -> Parameters:
    """Return the parameters of greatest posterior given expected counts (the M step).

    ``parameters`` are those that the counts were made with: the parts that ``settings.fixed`` names, and rows
    without any count, stay as they are.
    """
    raise NotImplementedError


def log_prior(parameters: Parameters, settings: Settings) -> float:
    """Return the log-density of the Dirichlet and Beta priors at the parameters, but for a constant."""
    raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Iteration:
    """One iteration of EM: what it was made with and what it found.

    ``log_likelihood`` and ``log_posterior`` are those of the parameters before the M step; ``parameters`` are
    those after it.
    """

    number: int
    log_likelihood: float
    log_posterior: float
    parameters: Parameters


def train(
    pairs: Sequence[PairIds], parameters: Parameters, settings: Settings, *, iterations: int = 10
) -> Iterator[Iteration]:
    """Run EM in memory and yield each iteration."""
    for number in range(1, iterations + 1):
        expected = expected_counts(pairs, parameters, settings)
        posterior = expected.logp + log_prior(parameters, settings)
        parameters = maximize(expected, parameters, settings)
        yield Iteration(number, expected.logp, posterior, parameters)


__all__ = ["Expected", "Iteration", "RewriteTable", "expected_counts", "log_prior", "maximize", "train"]
