"""The jumps: how far the next phrase lies from the end of the last one (Daumé & Marcu 2004, table 3).

A jump d is the distance from the last position e (0 before the first phrase) to the first word of the next
one, or to n + 1 at the end; 1 goes straight on. Distances up to the window have a cell of their own, those
beyond share cells that double in size, within which they are equally likely.

A jump leads from the position e in 0..n to the target i in 1..n + 1 with the weight j(i - e), so that a sum
over all jumps is a product with a Toeplitz matrix. Near distances are added one diagonal after another, a far
cell is a difference of prefix sums: O(n * (window + far cells)). The tests have the matrix itself.

Vectors over positions are (n + 1,), those over targets (n + 2,) with the first value unused.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from sentgen.arrays import Floats, Longs, compiled, compiled_loosely

#: Where the outermost cells end for sums: farther than any document is long.
FAR = 1 << 40


@dataclass(frozen=True, slots=True, eq=False)
class JumpCells:
    """The cells in the order of their distances; a cell has the distances ``first`` to ``last``, (C,)."""

    window: int
    first: Longs
    last: Longs

    @property
    def sizes(self) -> Longs:
        """Number of distances in each cell, (C,)."""
        return self.last - self.first + 1

    def prior(self, power: float, *, back: float = 1.0) -> Floats:
        """Return the mass of each cell, (C,): a jump is (1 + |d - 1|) ** -power, times ``back`` if d < 1."""
        distances = np.arange(self.first[0], self.last[-1] + 1)
        mass = (1.0 + np.abs(distances - 1)) ** -power * np.where(distances < 1, back, 1.0)
        cells: Floats = np.add.reduceat(mass, self.first - self.first[0])
        cells /= cells.sum()
        return cells


# Asked for with each pair.
@lru_cache(maxsize=16)
def jump_cells(window: int | None, reach: int) -> JumpCells:
    """Lay out cells for jumps of up to ``reach``; a window of ``None`` gives each distance a cell."""
    near = reach if window is None else min(window, reach)
    bounds = [near]
    while bounds[-1] < reach:
        bounds.append(min(2 * bounds[-1], reach))
    starts = np.array([bound + 1 for bound in bounds[:-1]], np.int64)
    ends = np.array(bounds[1:], np.int64)
    alone = np.arange(-near, near + 1, dtype=np.int64)
    return JumpCells(
        near,
        np.concatenate([-ends[::-1], alone, starts]),
        np.concatenate([-starts[::-1], alone, ends]),
    )


class Jumps(NamedTuple):
    """The weight of a single jump by its distance.

    ``near[d + window]`` is that of the distance d; a far cell has the distances ``first`` to ``last``, all of
    the weight ``far``.
    """

    near: Floats  # (2 * window + 1,)
    first: Longs  # (far cells,)
    last: Longs
    far: Floats


def jump_weights(cells: JumpCells, mass: Floats) -> Jumps:
    """Spread the mass of each cell evenly over its distances; the outermost cells go on without end."""
    # Over the distances up to the reach only: beyond it the density goes on, so that no jump is impossible.
    weights = mass / cells.sizes
    side = (len(mass) - 2 * cells.window - 1) // 2
    outer = np.r_[0:side, len(mass) - side : len(mass)]
    first, last = cells.first[outer].copy(), cells.last[outer].copy()
    if side:
        first[0], last[-1] = -FAR, FAR
    return Jumps(weights[side : len(mass) - side].copy(), first, last, weights[outer])


@compiled
def prefix_sums(values: Floats, sums: Floats) -> None:
    """Set ``sums[k]`` to the sum of the first k values."""
    total = 0.0
    sums[0] = 0.0
    for k in range(len(values)):
        total += values[k]
        sums[k + 1] = total


@compiled
def add_jumps(jumps: Jumps, values: Floats, sums: Floats, out: Floats, backward: bool) -> None:
    """Set each of ``out`` to the sum over all jumps between it and one of ``values``, times their weights.

    Forward, ``values`` are over positions and ``out`` over targets, backward the reverse: then ``out[e]`` is
    the sum over i of j(i - e) * values[i]. ``sums`` is working space, (n + 3,).
    """
    n = min(len(values), len(out)) - 1
    window = len(jumps.near) // 2
    low, out_low = (1, 0) if backward else (0, 1)
    out[:] = 0.0
    for d in range(max(-window, 1 - n), min(window, n + 1) + 1):
        weight = jumps.near[d + window]
        start, stop = max(0, 1 - d), min(n, n + 1 - d) + 1
        # Slices without a condition, which become vector instructions.
        shift, out_shift = (d, 0) if backward else (0, d)
        part, target = values[start + shift : stop + shift], out[start + out_shift : stop + out_shift]
        for k in range(len(part)):
            target[k] += weight * part[k]
    prefix_sums(values, sums)
    for cell in range(len(jumps.far)):
        first, last, weight = jumps.first[cell], jumps.last[cell], jumps.far[cell]
        # Where the values lie, seen from `out`: ahead of it backward, behind it forward.
        nearest, farthest = (first, last) if backward else (-last, -first)
        for k in range(max(out_low, low - farthest), min(n + out_low, n + low - nearest) + 1):
            out[k] += weight * (sums[min(n + low, k + farthest) + 1] - sums[max(low, k + nearest)])


# Only counts come of it, no pass goes on with them.
@compiled_loosely
def _dot(left: Floats, right: Floats) -> float:
    total = 0.0
    for k in range(len(left)):
        total += left[k] * right[k]
    return total


@compiled
def count_jumps(
    jumps: Jumps, source: Floats, target: Floats, sums: Floats, near: Floats, far: Floats
) -> None:
    """Add source[e] * j(i - e) * target[i] to the cell of i - e, for all e and i."""
    n = len(source) - 1
    window = len(jumps.near) // 2
    for d in range(max(-window, 1 - n), min(window, n + 1) + 1):
        start, stop = max(0, 1 - d), min(n, n + 1 - d) + 1
        near[d + window] += jumps.near[d + window] * _dot(source[start:stop], target[start + d : stop + d])
    prefix_sums(source, sums)
    for cell in range(len(jumps.far)):
        first, last = jumps.first[cell], jumps.last[cell]
        total = 0.0
        for i in range(max(1, first), min(n + 1, n + last) + 1):
            total += target[i] * (sums[min(n, i - first) + 1] - sums[max(0, i - last)])
        far[cell] += jumps.far[cell] * total
