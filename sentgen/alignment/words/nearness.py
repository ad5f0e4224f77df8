"""Which words keep the same company: those whose vectors (`sentgen.models.vectors`) have a high cosine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sentgen.alignment.budget import WORD_CELLS
from sentgen.arrays import Bools
from sentgen.models.vectors.loading import WordVectors


@dataclass(frozen=True, slots=True, eq=False)
class Nearness:
    """Vectors, and the cosine from which on two words are near."""

    vectors: WordVectors
    least: float

    def near(self, left: Sequence[str], right: Sequence[str]) -> Bools:
        """Say which words are near, (len(left), len(right)); a word without a vector is near none."""
        found = np.zeros((len(left), len(right)), np.bool_)
        numbers, others = self.vectors.numbers(left), self.vectors.numbers(right)
        rows, columns = np.flatnonzero(numbers >= 0), np.flatnonzero(others >= 0)
        of_right = self.vectors.vectors[others[columns]]
        step = max(1, WORD_CELLS // max(1, len(columns)))
        for begin in range(0, len(rows), step):
            some = rows[begin : begin + step]
            # Not a product of matrices, which would wake the threads of BLAS.
            cosines = np.einsum("id,jd->ij", self.vectors.vectors[numbers[some]], of_right)
            found[np.ix_(some, columns)] = cosines >= self.least
        return found
