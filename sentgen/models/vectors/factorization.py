"""PPMI of words with their contexts, and its truncated SVD: vectors of words.

Levy, Goldberg and Dagan 2015, "Improving distributional similarity with lessons learned from word
embeddings": context-distribution smoothing (section 3.2), shifted PPMI, and singular values to a power.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt

from sentgen.arrays import Floats
from sentgen.errors import ModelError, spell
from sentgen.models.vectors.cooccurrence import ContextCounts

#: What the libraries of BLAS that come with scipy read when they are loaded.
_THREADS = "OPENBLAS_NUM_THREADS"
Singles = npt.NDArray[np.float32]


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
    return unit(vectors)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Have the BLAS of scipy take one thread, if it is loaded within; numpy has another one.

    The products of the decomposition are small: beside other processes, two threads took six times the CPU
    time of one, as they wait for each other.
    """
    kept = os.environ.get(_THREADS)
    os.environ[_THREADS] = "1"
    try:
        yield
    finally:
        del os.environ[_THREADS]
        if kept is not None:
            os.environ[_THREADS] = kept


def unit(vectors: Floats | Singles) -> Singles:
    """Return vectors of length 1; zeros stay."""
    lengths = np.sqrt((vectors * vectors).sum(axis=1, keepdims=True))
    return (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
