"""Look pairs up in a rewrite table, and find copied runs, compiled."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sentgen.alignment.jumps import Floats
from sentgen.models.ngram_table import compiled

Indices = npt.NDArray[np.int64]


@compiled
def find_cells(firsts: Indices, lasts: Indices, columns: Indices, wanted: Indices, found: Indices) -> int:
    """Find the cells of wanted columns in rows of a table; return their number.

    Row d has the cells ``firsts[d]`` up to ``lasts[d]``, in the order of their columns; ``wanted`` is sorted.
    ``found`` takes (d, place in wanted, cell). A row that is much longer than what is wanted is searched by
    bisection, any other is merged.
    """
    count = 0
    for d in range(len(firsts)):
        cell, last = firsts[d], lasts[d]
        bisect = last - cell > 8 * len(wanted)
        for s in range(len(wanted)):
            if bisect:
                cell += np.searchsorted(columns[cell:last], wanted[s])
            else:
                while cell < last and columns[cell] < wanted[s]:
                    cell += 1
            if cell == last:
                break
            if columns[cell] == wanted[s]:
                found[count, 0], found[count, 1], found[count, 2] = d, s, cell
                count += 1
    return count


@compiled
def run_lengths(abstract: npt.NDArray[np.int32], document: npt.NDArray[np.int32], longest: int) -> Indices:
    """Return all (start, position, length of the longest run from there) of two or more equal words.

    ``start`` and ``position`` count from 0; the runs are in their order.
    """
    m, n = len(abstract), len(document)
    count = 0
    for t in range(m - 1):
        for i in range(n - 1):
            count += abstract[t] == document[i] and abstract[t + 1] == document[i + 1]
    runs = np.empty((count, 3), np.int64)
    below = np.zeros(n + 1, np.int64)
    here = np.zeros(n + 1, np.int64)
    for t in range(m - 1, -1, -1):
        for i in range(n - 1, -1, -1):
            here[i] = 1 + below[i + 1] if abstract[t] == document[i] else 0
            if here[i] > 1:
                count -= 1
                runs[count] = (t, i, min(here[i], longest))
        below, here = here, below
    return runs


@compiled
def add_words(posterior: Floats, rows: Indices, columns: Indices, out: Floats) -> None:
    """Add posteriors (m, n) to the cells of the words that the offsets hold, (words of m, words of n)."""
    for t in range(posterior.shape[0]):
        row = out[rows[t]]
        for i in range(posterior.shape[1]):
            row[columns[i]] += posterior[t, i]


@compiled
def add_cells(cells: Indices, values: Floats, out: Floats) -> None:
    """Add values to their cells; a cell of -1 is none."""
    for k in range(len(cells)):
        if cells[k] >= 0:
            out[cells[k]] += values[k]
