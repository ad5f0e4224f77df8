"""Share the posteriors of a pair out among the cells of the rewrite tables, compiled."""

from __future__ import annotations

from typing import NamedTuple

from sentgen.arrays import Floats, Longs, compiled

#: The components of the mixture, in the order of their weights.
TABLE, STEMS, IDENTITY = range(3)


class Components(NamedTuple):
    """What each component has in some rewrites, before weighting, and where in the tables it has it.

    ``cells`` and ``stem_cells`` are places in the tables, -1 for none; ``learnt`` is the part of the first
    component that the table itself has in it (``PbhmmSettings.trust``).
    """

    parts: Floats  # (3, rewrites)
    cells: Longs  # (rewrites,)
    stem_cells: Longs
    learnt: Floats


class Credits(NamedTuple):
    """What the cells of the tables and each component get."""

    table: Floats  # (cells,)
    stems: Floats
    weights: Floats  # (3,)


@compiled
def add_words(posterior: Floats, rows: Longs, columns: Longs, out: Floats) -> None:
    """Add posteriors (m, n) to the cells of the words that the offsets hold, (words of m, words of n)."""
    for t in range(posterior.shape[0]):
        row = out[rows[t]]
        for i in range(posterior.shape[1]):
            row[columns[i]] += posterior[t, i]


@compiled
def share_out(posterior: Floats, weights: Floats, of: Components, credits: Credits) -> None:
    """Share posteriors of rewrites out among the components by weights (3,) times parts.

    What the first two get goes to their cells, too, the first only for the part of it that was learnt.
    """
    parts = of.parts
    for k in range(len(posterior)):
        total = (
            weights[TABLE] * parts[TABLE, k]
            + weights[STEMS] * parts[STEMS, k]
            + weights[IDENTITY] * parts[IDENTITY, k]
        )
        if total <= 0.0:
            continue
        share = posterior[k] / total
        for component in (TABLE, STEMS, IDENTITY):
            credits.weights[component] += share * weights[component] * parts[component, k]
        # The untrained part of the first component (`trust`) has no cell that could learn.
        if of.cells[k] >= 0:
            credits.table[of.cells[k]] += share * weights[TABLE] * of.learnt[k]
        if of.stem_cells[k] >= 0:
            credits.stems[of.stem_cells[k]] += share * weights[STEMS] * parts[STEMS, k]
