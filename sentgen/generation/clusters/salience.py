"""Content selection: how likely a word of a cluster is to be chosen, p_em of the Viterbi search."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from sentgen.arrays import Floats
from sentgen.errors import InputError
from sentgen.models.related.cluster_counts import ClusterCounts

Kind = Literal["uniform", "unigram", "tfidf"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, slots=True)
class DocumentFrequencies:
    """In how many clusters each word is, of how many."""

    found_in: Mapping[str, int]
    clusters: int

    def idf(self, word: str) -> float:
        """Return ln((1 + clusters) / (1 + clusters with the word)) + 1, at least 1."""
        return math.log((1 + self.clusters) / (1 + self.found_in.get(word, 0))) + 1


def emission(
    counts: ClusterCounts,
    salience: Kind | Mapping[str, float] = "uniform",
    frequencies: DocumentFrequencies | None = None,
) -> Floats:
    """Return log p_em of the words of a cluster, (n,) natural logarithms.

    Args:
        counts: of the cluster.
        salience: `uniform` is 1 for every word, as in the paper; `unigram` the relative frequency of the word
            in the cluster; `tfidf` that times its inverse document frequency, to sum to one again. Or weights
            by word, to be used as they are: those without one have 1, and a word with 0 is never used.
        frequencies: for `tfidf`.

    Raises:
        InputError: a weight is negative or no number.
    """
    if salience == "uniform":
        return np.zeros(len(counts.words))
    if not isinstance(salience, str):
        weights = np.array([_checked(word, salience.get(word, 1.0)) for word in counts.words])
    else:
        weights = counts.count.astype(np.float64)
        if salience == "tfidf":
            if frequencies is None:
                raise ValueError("tfidf needs document frequencies")
            weights *= [frequencies.idf(word) for word in counts.words]
        weights /= weights.sum()
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(weights))


def _checked(word: str, weight: float) -> float:
    if not 0 <= weight < math.inf:
        raise InputError(f"weight {weight} of {word!r} is not a number from 0")
    return weight


def parse_weights(lines: Iterable[str], *, path: str) -> dict[str, float]:
    """Read word weights, a word and its number a line, with white space between; blank lines are skipped.

    Raises:
        InputError: a line is not that, with where it stands.

    >>> parse_weights(["flood 3", "the\t0.5"], path="weights.txt")
    {'flood': 3.0, 'the': 0.5}
    """
    weights: dict[str, float] = {}
    for number, line in enumerate(lines, 1):
        try:
            if line.strip():
                word, value = line.split()
                weights[word] = _checked(word, float(value))
        except ValueError:
            shown = line.strip()[:40]
            raise InputError(f"{shown!r} is not a word and a number", path=path, line=number) from None
        except InputError as error:
            raise InputError(error.message, path=path, line=number) from error
    return weights
