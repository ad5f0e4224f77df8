"""Build vectors: count, weight, decompose, and store.

Others may read the store until the rows are written, which is one transaction: a build that fails or is
interrupted leaves no trace.

Words and their contexts are weighed by PPMI, whose truncated SVD gives the vectors, as Levy, Goldberg and
Dagan 2015 do, "Improving distributional similarity with lessons learned from word embeddings":
context-distribution smoothing (section 3.2), shifted PPMI, and singular values to a power.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, insert, select

from sentgen.arrays import Floats
from sentgen.counts.shares import COUNTING_SHARE, DATABASE_SHARE
from sentgen.errors import InputError, ModelError, spell
from sentgen.lookups.question.selection import select_corpora
from sentgen.models.request import WhereOption
from sentgen.models.vectors.cooccurrence import ContextCounts, VectorWords, count_cells, find_vocabulary
from sentgen.models.vectors.registry import Singles, SpaceInfo, find_space
from sentgen.options import Option
from sentgen.output.wording import quantity
from sentgen.schema import Store
from sentgen.schema.store import append, next_id, now
from sentgen.schema.tables.vectors import vector_space

if TYPE_CHECKING:
    import pyarrow as pa


Contexts = Literal["window", "dependencies", "both"]
#: Rows that are handed to DuckDB at once.
_ROWS = 10_000
#: What the libraries of BLAS that come with scipy read when they are loaded.
_THREADS = "OPENBLAS_NUM_THREADS"


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorRequest:
    """Vectors of the words of some corpora.

    Raises:
        InputError: the name is blank.
    """

    name: Annotated[str, Option("Name of the vectors.", argument=True, metavar="NAME")]
    corpus: Annotated[
        list[str],
        Option("Corpora to count.", shell="Corpus to count; may be repeated.", metavar="NAME", given=True),
    ]
    dimensions: Annotated[int, Option("Numbers of each vector.", least=1, most=2000)] = 200
    contexts: Annotated[
        Contexts,
        Option("Contexts: words around, relations with the word at their other end, or both."),
    ] = "window"
    window: Annotated[int, Option("Words on each side that are contexts.", least=1, most=100)] = 2
    min_count: Annotated[int, Option("Words that are rarer have no vector.", least=1)] = 10
    words: Annotated[int, Option("Number of words with vectors, the most frequent ones.", least=2)] = 50_000
    smoothing: Annotated[
        float, Option("Power of the counts of contexts in PPMI (0.75: Levy et al. 2015).", least=0, most=1)
    ] = 0.75
    shift: Annotated[float, Option("Take the logarithm of this from PPMI.", least=1)] = 1.0
    power: Annotated[
        float, Option("Power of the singular values that dimensions are multiplied by.", least=0, most=1)
    ] = 0.5
    where: WhereOption = None
    seed: Annotated[int, Option("Seed of the decomposition.", least=0, most=2**31 - 1)] = 1

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise InputError("a blank is no name for vectors; give them another one")

    def build(self, store: Store, progress: Callable[[str], None] | None = None) -> SpaceInfo:
        """Build the vectors.

        Args:
            store: the store, open for writing.
            progress: called with one line a step.

        Raises:
            InputError: the name is taken, or the condition cannot be read.
            NotFoundError: there is no such corpus.
            ModelError: the corpora are too small.
            StoreError: the counts do not fit into memory.
        """
        report = progress or (lambda _: None)
        with store.connect() as connection:
            _check_name(connection, self.name)
        store.downgrade_to_read()
        with store.connect() as connection:
            words, cells = self._counted(connection, store, report)
        report(f"decomposing {quantity(len(cells.rows), 'pair')}")
        vectors = decomposed(
            cells,
            dimensions=self.dimensions,
            smoothing=self.smoothing,
            shift=self.shift,
            power=self.power,
            seed=self.seed,
        )
        report("writing the vectors")
        with store.begin() as connection:
            _check_name(connection, self.name)  # others may have built meanwhile
            return self._write(connection, words, cells, vectors)

    @property
    def _window(self) -> int:
        return 0 if self.contexts == "dependencies" else self.window

    def _counted(
        self, connection: Connection, store: Store, report: Callable[[str], None]
    ) -> tuple[VectorWords, ContextCounts]:
        report("counting words with their company")
        selection = select_corpora(connection, self.corpus, condition=self.where)
        words = find_vocabulary(connection, selection, self.min_count, self.words)
        cells = count_cells(
            connection,
            selection,
            words,
            window=self._window,
            dependencies=self.contexts != "window",
            memory=int(store.memory_limit * COUNTING_SHARE / DATABASE_SHARE),
        )
        return words, cells

    def _write(
        self, connection: Connection, words: VectorWords, cells: ContextCounts, vectors: Singles
    ) -> SpaceInfo:
        space = next_id(connection, vector_space)
        # A word without any positive cell has zeros, which are near nothing.
        known = np.flatnonzero(vectors.any(axis=1))
        for first in range(0, len(known), _ROWS):
            some = known[first : first + _ROWS]
            append(connection, "word_vector", _rows(space, words, vectors, some))
        settings = ("name", "contexts", "dimensions", "min_count", "smoothing", "shift", "power", "seed")
        row = {name: getattr(self, name) for name in settings}
        row |= {"id": space, "corpora": "\n".join(dict.fromkeys(self.corpus)), "reach": self._window}
        row |= {"tokens": cells.tokens, "words": len(known), "cells": len(cells.rows), "created_at": now()}
        connection.execute(insert(vector_space), row)
        return find_space(connection, self.name)


def _rows(space: int, words: VectorWords, vectors: Singles, some: np.ndarray) -> pa.Table:
    """Return the rows of some words."""
    import pyarrow as pa

    numbers = pa.array(vectors[some].ravel())
    offsets = pa.array(np.arange(0, len(numbers) + 1, vectors.shape[1], dtype=np.int32))
    return pa.table(
        {
            "space_id": pa.array(np.full(len(some), space, np.int32)),
            "rank": pa.array((some + 1).astype(np.int32)),
            "form": pa.array([words.forms[number] for number in some.tolist()], pa.string()),
            "count": pa.array(words.counts[some]),
            "components": pa.ListArray.from_arrays(offsets, numbers),
        }
    )


def _check_name(connection: Connection, name: str) -> None:
    """Refuse a name that is taken."""
    if connection.execute(select(vector_space.c.id).where(vector_space.c.name == name)).first():
        raise InputError(f"there are vectors {name!r}; take another name, or: sentgen vectors remove {name}")


def ppmi(cells: ContextCounts, *, smoothing: float, shift: float) -> tuple[npt.NDArray[np.bool_], Singles]:
    """Return which cells are positive, and what they are.

    A cell is log(#(w, c) N / (#(w) #(c)^smoothing)) - log(shift), with N the sum of all #(c)^smoothing, and
    0 where that is less.
    """
    words = np.bincount(cells.rows, cells.counts, cells.shape[0])
    contexts = np.bincount(cells.columns, cells.counts, cells.shape[1]) ** smoothing
    logs = np.log(cells.counts)
    logs += np.log(contexts.sum() / shift)
    logs -= np.log(words, where=words > 0, out=np.zeros_like(words))[cells.rows]
    logs -= np.log(contexts)[cells.columns]
    positive = logs > 0
    return positive, logs[positive].astype(np.float32)


def decomposed(
    cells: ContextCounts, *, dimensions: int, smoothing: float, shift: float, power: float, seed: int
) -> Singles:
    """Return a vector a word, of length 1: U S^power of the truncated SVD U S V' of PPMI.

    A word that has no positive cell has zeros. Of the two signs that a dimension may have, its largest number
    is positive, so that the same cells and seed give the same vectors.

    Raises:
        ModelError: there are not more words and contexts than dimensions.
    """
    if dimensions >= min(cells.shape):
        raise ModelError(
            f"too few words for {dimensions} dimensions, {min(cells.shape)}, or too few contexts;"
            f" lower {spell('dimensions')} or {spell('min_count')}, or ingest more"
        )
    with _one_thread():
        from scipy.sparse import csr_array
        from scipy.sparse.linalg import svds
    positive, values = ppmi(cells, smoothing=smoothing, shift=shift)
    starts = np.searchsorted(cells.rows[positive], np.arange(cells.shape[0] + 1))
    matrix = csr_array((values, cells.columns[positive], starts), shape=cells.shape)
    start = np.random.default_rng(seed).standard_normal(min(cells.shape)).astype(np.float32)
    left, singular, _ = svds(matrix, k=dimensions, v0=start, return_singular_vectors="u")
    order = np.argsort(-singular, kind="stable")
    vectors = left[:, order] * np.maximum(singular[order], 0) ** power
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(dimensions)]
    vectors *= np.where(largest < 0, -1, 1)
    return _unit(vectors)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Have the BLAS of scipy take one thread, if it is loaded within; numpy has another one.

    The products of the decomposition are small: beside other processes, two threads took six times the CPU
    time of one, as they wait for each other.

    Where scipy is loaded already, as in a notebook, it keeps its threads, and the vectors are the same:
    nothing in scipy sets them then, and threadpoolctl, which could, is no dependency. Who minds the time
    starts Python with that variable set.
    """
    kept = os.environ.get(_THREADS)
    os.environ[_THREADS] = "1"
    try:
        yield
    finally:
        del os.environ[_THREADS]
        if kept is not None:
            os.environ[_THREADS] = kept


def _unit(vectors: Floats | Singles) -> Singles:
    """Return vectors of length 1; zeros stay."""
    lengths = np.sqrt((vectors * vectors).sum(axis=1, keepdims=True))
    return (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
