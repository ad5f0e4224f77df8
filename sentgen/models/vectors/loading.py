"""Vectors in memory, for what compares many words with many."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from sentgen.arrays import Longs
from sentgen.case_folding import fold
from sentgen.models.vectors.factorization import Singles
from sentgen.models.vectors.registry import find_space
from sentgen.schema import Store
from sentgen.schema.store import fetch_arrow


@dataclass(frozen=True, slots=True, eq=False)
class WordVectors:
    """Vectors of length 1, and the row of each word in lower case."""

    name: str
    rows: Mapping[str, int]
    vectors: Singles

    def numbers(self, words: Iterable[str]) -> Longs:
        """Return the row of each word, -1 for one without a vector."""
        return np.array([self.rows.get(fold(word), -1) for word in words], np.int64)


def load_vectors(store: Store, name: str) -> WordVectors:
    """Return the vectors of a name.

    Raises:
        NotFoundError: there are none.
    """
    with store.connect() as connection:
        space = find_space(connection, name)
        query = "select form, components from word_vector where space_id = ? order by rank"
        found = fetch_arrow(connection, query, [space.id])
    numbers = found["components"].combine_chunks().flatten().to_numpy()
    rows = {form: row for row, form in enumerate(found["form"].to_pylist())}
    return WordVectors(space.name, rows, numbers.reshape(len(rows), space.dimensions))
