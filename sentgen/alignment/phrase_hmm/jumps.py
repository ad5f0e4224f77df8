"""The jump table: how far the next phrase lies from the end of the last one (Daumé & Marcu 2004, table 3).

A jump d is the distance from the last position e (0 before the first phrase) to the first word of the next
one, or to n + 1 at the end; 1 goes straight on. Distances up to the window have a cell of their own, those
beyond share cells that double in size, within which they are equally likely.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sentgen.arrays import Floats, Longs


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
