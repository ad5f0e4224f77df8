"""The loops over the cells of a rewrite table, compiled.

A table has a row for each document phrase and a column for each abstract phrase; row r has the cells
``starts[r]`` up to ``starts[r + 1]``, in the order of their columns. Arrays named ``x_of`` with ``x_starts``
list, for each thing, its x in the same way.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sentgen.arrays import Bools, Bytes, Floats, Ints, Longs, compiled

#: Kinds of cells; stores hold these numbers.
PHRASE, WORD, STEM, IDENTITY = range(4)


class Occurrences(NamedTuple):
    """The pairs of each row and the columns of each pair, and the keys of rows and columns.

    Other cells than those of words with words need ``least`` pairs.
    """

    pair_starts: Longs
    pairs_of: Ints
    column_starts: Longs
    columns_of: Ints
    rows: Longs
    columns: Longs
    row_stems: Longs
    column_stems: Longs
    least: int


class CellArrays(NamedTuple):
    """Column, kind, expected count and probability of each cell, (cells,), and fake counts by kind."""

    targets: Ints
    kinds: Bytes
    counts: Floats
    prob: Floats
    fake: Floats


class PartArrays(NamedTuple):
    """Place, column, probability and expected count of some cells, in the order of their places."""

    places: Longs
    targets: Ints
    prob: Floats
    counts: Floats


@compiled
def invert(starts: Longs, things: Ints, new_starts: Longs, owners: Ints) -> None:
    """Turn lists of things into lists of their owners; ``new_starts`` (things + 1,) holds zeros at first."""
    for thing in things:
        new_starts[thing + 1] += 1
    for thing in range(len(new_starts) - 1):
        new_starts[thing + 1] += new_starts[thing]
    next_free = new_starts[:-1].copy()
    for owner in range(len(starts) - 1):
        for k in range(starts[owner], starts[owner + 1]):
            owners[next_free[things[k]]] = owner
            next_free[things[k]] += 1


@compiled
def _count_row(occurrences: Occurrences, row: int, times: Ints, seen: Ints) -> int:
    """Write the columns of the cells of a row into ``seen``; return how many there are.

    ``times`` (columns,) holds zeros, and does so again in the end.
    """
    count = 0
    for k in range(occurrences.pair_starts[row], occurrences.pair_starts[row + 1]):
        pair = occurrences.pairs_of[k]
        for c in range(occurrences.column_starts[pair], occurrences.column_starts[pair + 1]):
            column = occurrences.columns_of[c]
            if times[column] == 0:
                seen[count] = column
                count += 1
            times[column] += 1
    # Zeros again where something was counted: to clear all columns for each row would take longer.
    left = 0
    for column in seen[:count]:
        if times[column] >= occurrences.least or (
            occurrences.rows[row] >= 0 and occurrences.columns[column] >= 0
        ):
            seen[left] = column
            left += 1
        times[column] = 0
    return left


@compiled
def count_cells(occurrences: Occurrences, sizes: Longs) -> None:
    """Write the number of cells of each row."""
    times = np.zeros(len(occurrences.columns), np.int32)
    seen = np.empty(len(occurrences.columns), np.int32)
    for row in range(len(occurrences.rows)):
        sizes[row] = _count_row(occurrences, row, times, seen)


@compiled
def fill_cells(
    occurrences: Occurrences, first: int, last: int, starts: Longs, targets: Ints, kinds: Bytes
) -> None:
    """Write the column and the kind of each cell of some rows; stems equal as keys make equal phrases."""
    times = np.zeros(len(occurrences.columns), np.int32)
    seen = np.empty(len(occurrences.columns), np.int32)
    for row in range(first, last):
        count = _count_row(occurrences, row, times, seen)
        end = starts[row] + count
        targets[starts[row] : end] = seen[:count]
        # They come in the order of the pairs, and `find_cells` wants them in that of their numbers.
        targets[starts[row] : end].sort()
        for cell in range(starts[row], end):
            column = targets[cell]
            if occurrences.rows[row] == occurrences.columns[column]:
                kinds[cell] = IDENTITY
            elif occurrences.row_stems[row] == occurrences.column_stems[column]:
                kinds[cell] = STEM
            else:
                kinds[cell] = (
                    WORD if occurrences.rows[row] >= 0 and occurrences.columns[column] >= 0 else PHRASE
                )


@compiled
def remake(starts: Longs, cells: CellArrays) -> None:
    """Make each row the mode of its posterior, (count + fake) / sum, and set the counts to 0.

    A row whose sum is 0 keeps what it has.
    """
    kinds, counts, fake = cells.kinds, cells.counts, cells.fake
    for row in range(len(starts) - 1):
        total = 0.0
        for cell in range(starts[row], starts[row + 1]):
            total += counts[cell] + fake[kinds[cell]]
        for cell in range(starts[row], starts[row + 1]):
            if total > 0.0:
                cells.prob[cell] = (counts[cell] + fake[kinds[cell]]) / total
            counts[cell] = 0.0


@compiled
def prior_density(kinds: Bytes, fake: Floats, prob: Floats) -> float:
    """Return the sum of fake * log(prob) over all cells with a fake count."""
    total = 0.0
    for cell in range(len(kinds)):
        if fake[kinds[cell]] > 0.0:
            total += fake[kinds[cell]] * np.log(prob[cell])
    return total


@compiled
def drop_cells(before: Longs, starts: Longs, count: int, cells: CellArrays, least: float) -> int:
    """Move the cells of some rows that stay behind the ``count`` ones: with a fake count, or with ``least``.

    ``before`` are the starts of these rows and the end of the last one; ``starts``, from the first of them
    on, becomes that of what is left. The number of all cells that are kept now is returned.
    """
    targets, kinds, counts, prob, fake = cells
    # In place: `kept` never overtakes `cell`.
    for row in range(len(before) - 1):
        for cell in range(before[row], before[row + 1]):
            if fake[kinds[cell]] > 0.0 or counts[cell] >= least:
                targets[count], kinds[count] = targets[cell], kinds[cell]
                counts[count], prob[count] = counts[cell], prob[cell]
                count += 1
        starts[row + 1] = count
    return count


@compiled
def take_part(
    starts: Longs, rows: Longs, wanted: Bools, cells: CellArrays, part: PartArrays, part_starts: Longs
) -> int:
    """Copy the cells of some rows, ascending, that are in columns that are ``wanted``; return their number.

    ``part_starts`` (rows + 1,) becomes where each row begins in the part. -1 if there is no room for all.
    """
    taken = 0
    for k in range(len(rows)):
        for cell in range(starts[rows[k]], starts[rows[k] + 1]):
            if wanted[cells.targets[cell]]:
                if taken == len(part.places):
                    return -1
                part.places[taken], part.targets[taken] = cell, cells.targets[cell]
                part.prob[taken], part.counts[taken] = cells.prob[cell], cells.counts[cell]
                taken += 1
        part_starts[k + 1] = taken
    return taken


@compiled
def put_back(places: Longs, counts: Floats, into: Floats) -> None:
    """Write counts to their places."""
    for k in range(len(places)):
        into[places[k]] = counts[k]
