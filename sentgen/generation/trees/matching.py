"""The assignment problem: give rows different columns at the least total cost (Kuhn 1955, Munkres 1957).

Solved by shortest augmenting paths, as in Jonker and Volgenant 1987 and Crouse 2016, "On implementing 2D
rectangular assignment algorithms", algorithm 1: rows enter one by one; each takes the cheapest way to a free
column, where the way may move rows that came before; prices of rows and columns keep all costs non-negative.
"""

from __future__ import annotations

import numpy as np

from sentgen.arrays import Floats, Ints, compiled


@compiled
def assign(costs: Floats) -> Ints:
    """Return the column of every row, -1 for the rows that get none, at the least total cost.

    Args:
        costs: (rows, columns) finite; there may be more of either, and min(rows, columns) pairs are made.

    Among assignments of equal cost the scan from the first column on decides. Time: O(k^2 m) for k the lesser
    and m the greater of the two numbers.
    """
    rows, columns = costs.shape
    if rows <= columns:
        return _assign_all_rows(costs)
    # The kernel needs a free column for every row; compiled code for one memory layout is enough.
    taken = _assign_all_rows(np.ascontiguousarray(costs.T))
    found = np.full(rows, -1, np.int32)
    for column in range(columns):
        found[taken[column]] = column
    return found


@compiled
def _assign_all_rows(costs: Floats) -> Ints:
    """Solve the problem for no more rows than columns."""
    rows, columns = costs.shape
    row_price, column_price = np.zeros(rows), np.zeros(columns)
    column_of, row_of = np.full(rows, -1, np.int32), np.full(columns, -1, np.int32)
    for start in range(rows):
        distance = np.full(columns, np.inf)
        came_from = np.full(columns, -1, np.int32)
        reached = np.zeros(columns, np.bool_)
        row, length, end = start, 0.0, -1
        while end < 0:
            nearest, shortest = -1, np.inf
            for column in range(columns):
                if reached[column]:
                    continue
                through = length + costs[row, column] - row_price[row] - column_price[column]
                if through < distance[column]:
                    distance[column], came_from[column] = through, row
                # `nearest < 0` takes a column even if all are infinitely far, so that the loop ends.
                if distance[column] < shortest or nearest < 0:
                    nearest, shortest = column, distance[column]
            reached[nearest] = True
            length = shortest
            if row_of[nearest] < 0:
                end = nearest
            else:
                row = row_of[nearest]
        # Prices move so that all reduced costs stay >= 0, and those of the pairs made stay 0.
        row_price[start] += length
        for column in range(columns):
            if reached[column] and column != end:
                row_price[row_of[column]] += length - distance[column]
                column_price[column] -= length - distance[column]
        column = end
        while column >= 0:
            row = came_from[column]
            row_of[column] = row
            # Walks the way back: each row on it gives up its column and takes the next one.
            column, column_of[row] = column_of[row], column
    return column_of
