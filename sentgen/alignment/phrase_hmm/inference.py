"""Exact inference in the phrase-based HMM: likelihood and posteriors (Daumé & Marcu 2004, sec. 2.2).

The paper sums over pairs of states, O(m * L * (n * K)^2), and kept half of them. A jump depends only on where
it starts and ends, so that the sums factor through the last position: O(m * n * (window + far cells) +
events), with the same result. See ``lattice_kernels``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sentgen.alignment.phrase_hmm.lattice_kernels import (
    Alphas,
    Chain,
    Emission,
    Sums,
    backward,
    begin_backward,
    forward,
    jump_cells,
    jump_to_end,
    jump_weights,
    lattice,
    pass_buffers,
    totals,
)
from sentgen.alignment.phrase_hmm.parameters import RewriteParameters
from sentgen.alignment.phrase_hmm.settings import PbhmmSettings
from sentgen.alignment.phrase_hmm.weights import weighted_jumps
from sentgen.arrays import Floats

#: Called with the first of some abstract words, the posteriors of words (rows, n), and those of all events,
#: of which the ones that end after the first word are known. Words are good until the call returns.
Take = Callable[[int, Floats, Floats], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Posteriors:
    """What is expected of a pair given both texts, but for its words.

    ``events`` are the probabilities of the events of an ``Emission``, ``null`` (m,) that a word comes from
    null. ``jumps`` are the expected jumps by cell, ends included, and ``departures`` (n + 1,) the expected
    jumps from each position over the sum of their weights. An impossible pair has a ``logp`` of -inf,
    posteriors of 0 and null words only.
    """

    logp: float
    null: Floats
    events: Floats
    jumps: Floats
    departures: Floats


def chain(parameters: RewriteParameters, settings: PbhmmSettings, n: int, m: int = 0) -> Chain:
    """Return the transitions over a document of n words, for an abstract of m."""
    cells = jump_cells(settings.window, settings.reach)
    jumps = jump_weights(cells, parameters.jumps)
    total = totals(jumps, n) if settings.normalization == "position" else np.ones(n + 1)
    p0 = parameters.p0
    if settings.null_excess and m > n:
        # n document words cannot account for more abstract words one by one.
        p0 = 1 - (1 - p0) * n / m
    if parameters.tuning is not None:
        # After the totals: a score over those of all paths needs no jumps that sum to one.
        jumps = jump_weights(cells, weighted_jumps(cells, parameters.jumps, parameters.tuning.weights))
    return Chain(p0, jumps, total, settings.null == "table3" and n > 0)


def infer_rows(
    emission: Emission, chain: Chain, take: Take, *, rows: int = 0, counting: bool = True
) -> Posteriors:
    """Hand over the posteriors of so many abstract words at a time, from the last ones to the first.

    Rows are counted from the beginning of the abstract: 0 to ``rows``, and so on; 0 for all at once. The
    forward pass keeps where each of these blocks begins (a checkpoint), and is made again for all blocks but
    the last when the backward pass comes to them (Griewank 1992): all sums are the same to the last bit, for
    16 * n * rows + 8 * n * m / rows bytes. Ten thousand words against a hundred thousand take 250 MB with
    rows = sqrt(m / 2), and 18 GB all at once.
    """
    m, n = len(emission.abstract), len(emission.document)
    # 0 stands for all, and tables need a row even without words.
    rows = min(rows, m) or max(m, 1)
    firsts = range(0, m, rows)
    table = lattice(emission, chain)
    alphas = Alphas(np.zeros((rows + 1, n + 1)), np.empty((rows, n + 2)), np.zeros(m + 1))
    alphas.scaled[0, 0] = 1.0
    # No checkpoint of the last block: it is still there when the backward pass begins.
    checkpoints = np.empty((len(firsts) - 1 if len(firsts) > 1 else 0, n + 1))
    near, far = np.zeros(len(chain.jumps.near)), np.zeros(len(chain.jumps.far))
    sums = Sums(np.ones(m), np.zeros(len(emission.prob)), near, far, np.zeros(n + 1), counting)
    last = 0
    for number, first in enumerate(firsts):
        if number:
            alphas.scaled[0] = alphas.scaled[rows]
        if number < len(checkpoints):
            checkpoints[number] = alphas.scaled[0]
        last = min(first + rows, m)
        forward(table, first, last, alphas)
    row = alphas.scaled[m - firsts[-1] if m else 0]
    end = jump_to_end(chain, row)
    if end == 0.0:
        for first in reversed(firsts):
            take(first, np.zeros((min(rows, m - first), n)), sums.events)
        return _posteriors(-np.inf, sums)
    buffers = pass_buffers(n)
    begin_backward(table, row, alphas.log_scale, end, sums, buffers)
    for first in reversed(firsts):
        last = min(first + rows, m)
        if last < m:
            alphas.scaled[0] = checkpoints[first // rows]
            forward(table, first, last, alphas)
        backward(table, first, last, alphas, sums, buffers)
        take(first, alphas.jumped[: last - first, 1 : n + 1], sums.events)
    return _posteriors(float(alphas.log_scale[m] + np.log(end)), sums)


def _posteriors(logp: float, sums: Sums) -> Posteriors:
    side = len(sums.far) // 2
    # As `jump_cells` has them: `jump_weights` has taken the far cells from both ends.
    by_cell = np.concatenate([sums.far[:side], sums.near, sums.far[side:]])
    return Posteriors(
        logp=logp, null=sums.null, events=sums.events, jumps=by_cell, departures=sums.departures
    )
