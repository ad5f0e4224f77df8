"""Exact inference in the phrase-based HMM: likelihood and posteriors (Daumé & Marcu 2004, sec. 2.2).

The paper sums over pairs of states, O(m * L * (n * K)^2), and kept half of them. A jump depends only on where
it starts and ends, so that the sums factor through the last position: O(m * n * (window + far cells) +
events), with the same result. See ``lattice_kernels``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sentgen.alignment.jump_kernels import jump_weights
from sentgen.alignment.jumps import Floats, jump_cells
from sentgen.alignment.lattice_kernels import Chain, Counts, Emission, backward, forward, totals
from sentgen.alignment.parameters import Parameters
from sentgen.alignment.settings import Settings

__all__ = ["Chain", "Emission", "Posterior", "chain", "infer", "log_likelihood"]


@dataclass(frozen=True, slots=True)
class Posterior:
    """What is expected of a pair given both texts.

    ``words`` (m, n) and ``events`` are the probabilities of the events of an ``Emission``, ``null`` (m,) that
    a word comes from null. ``jumps`` are the expected jumps by cell, ends included, and ``departures`` (n +
    1,) the expected jumps from each position over the sum of their weights. An impossible pair has a ``logp``
    of -inf, posteriors of 0 and null words only.
    """

    logp: float
    words: Floats
    null: Floats
    events: Floats
    jumps: Floats
    departures: Floats


def chain(parameters: Parameters, settings: Settings, n: int, m: int = 0) -> Chain:
    """Return the transitions over a document of n words, for an abstract of m."""
    jumps = jump_weights(jump_cells(settings.window, settings.reach), parameters.jumps)
    total = totals(jumps, n) if settings.normalization == "position" else np.ones(n + 1)
    p0 = parameters.p0
    if settings.null_excess and m > n:
        p0 = 1 - (1 - p0) * n / m
    return Chain(p0, jumps, total, settings.null == "table3" and n > 0)


def infer(emission: Emission, chain: Chain, *, counting: bool = True) -> Posterior:
    """Return the log-likelihood and the posteriors; without ``counting`` the jumps are left at 0.

    Takes 8 * (2 * m * n + 2 * (m + n)) bytes and as much again as the longest event has rows of n words.
    """
    m, n = emission.words.shape
    scaled, jumped, log_scale = np.empty((m + 1, n + 1)), np.zeros((m, n + 2)), np.empty(m + 1)
    null, events = np.ones(m), np.zeros(len(emission.start))
    counts = Counts(np.zeros(len(chain.jumps.near)), np.zeros(len(chain.jumps.far)), np.zeros(n + 1))
    end = forward(emission, chain, scaled, jumped, log_scale)
    if end == 0.0:
        return Posterior(-np.inf, np.zeros((m, n)), null, events, _by_cell(counts), counts.departures)
    backward(emission, chain, scaled, jumped, log_scale, end, null, events, counts, counting)
    logp = float(log_scale[m] + np.log(end))
    return Posterior(logp, jumped[:, 1 : n + 1], null, events, _by_cell(counts), counts.departures)


def _by_cell(counts: Counts) -> Floats:
    side = len(counts.far) // 2
    return np.concatenate([counts.far[:side], counts.near, counts.far[side:]])


def log_likelihood(emission: Emission, chain: Chain) -> float:
    """Return the log-probability of the abstract given the document (forward pass only)."""
    m, n = emission.words.shape
    log_scale = np.empty(m + 1)
    end = forward(emission, chain, np.empty((m + 1, n + 1)), np.zeros((m, n + 2)), log_scale)
    return float(log_scale[m] + np.log(end)) if end else -np.inf
