"""Share the posteriors of a pair out among the cells of the rewrite tables, compiled."""

from __future__ import annotations

from sentgen.arrays import Floats, Longs, compiled

#: The components of the mixture, in the order of their weights.
TABLE, STEMS, IDENTITY = range(3)


@compiled
def add_words(posterior: Floats, rows: Longs, columns: Longs, out: Floats) -> None:
    """Add posteriors (m, n) to the cells of the words that the offsets hold, (words of m, words of n)."""
    for t in range(posterior.shape[0]):
        row = out[rows[t]]
        for i in range(posterior.shape[1]):
            row[columns[i]] += posterior[t, i]


@compiled
def share_out(
    posterior: Floats,
    weights: Floats,
    parts: Floats,
    learnt: Floats,
    cells: Longs,
    stem_cells: Longs,
    table: Floats,
    stems: Floats,
    sums: Floats,
) -> None:
    """Share posteriors (E,) out among the components, weights (3,) times parts (3, E).

    What the first two get goes to their cells of ``table`` and ``stems``, -1 for none, the first only for the
    part of it that was ``learnt``; ``sums`` (3,) takes what each component gets.
    """
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
            sums[component] += share * weights[component] * parts[component, k]
        if cells[k] >= 0:
            table[cells[k]] += share * weights[TABLE] * learnt[k]
        if stem_cells[k] >= 0:
            stems[stem_cells[k]] += share * weights[STEMS] * parts[STEMS, k]
