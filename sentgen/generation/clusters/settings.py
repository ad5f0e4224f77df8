"""Settings of generation from clusters, and the probability of choosing a word (p_em)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from sentgen.arrays import Floats
from sentgen.corpus.paths import expand
from sentgen.errors import InputError
from sentgen.models.dependency.cluster_counts import ClusterCounts
from sentgen.models.dependency.cluster_model import Smoothing

GenerationAlgorithm = Literal["depviterbi", "bigram"]
Reuse = Literal["none", "counts", "free"]
Transitions = Literal["all", "seen"]
Arguments = Literal["all", "supported"]


@dataclass(frozen=True, slots=True)
class GenerationSettings:
    """Settings of generation from clusters.
    Attributes:
        algorithm: `depviterbi`, or `bigram` for the same search without dependencies: the paper's baseline.
        weight: weight of the dependency probability in p_tr, at least 0 and less than 1: dependencies alone
            would let no sentence begin or end.
        reuse: how often words may be used: `none` for each token of the cluster at most once; `counts` for
            each word at most as often as in the sentence that has it most; `free` for no limit.
        transitions: between words: `all`, or only those `seen` side by side in the cluster, as are all that
            the paper shows.
        arguments: which arguments words may get: `all` that the head stack lets through, as in the paper, or
            only those that are `supported` by a sentence of the cluster, in one tree over all words (see
            `supported`).
        smoothing: smoothing of dependencies: `none` as in the paper, or `collins` to back off to tags.
        salience: kind of p_em, see `emission`.
        nearness: factor of the probability of a relation for each item above on the head stack, more than 0;
            1 as in the paper. Smaller values favor small reductions of the stack.
        beam: hypotheses for each length and last word, see `depviterbi.best_paths`.
        punctuation: whether punctuation is among the words.
        lowercase: whether words are lower-cased first.
    """

    algorithm: GenerationAlgorithm = "depviterbi"
    weight: float = 0.5
    reuse: Reuse = "none"
    transitions: Transitions = "all"
    arguments: Arguments = "all"
    smoothing: Smoothing = "none"
    nearness: float = 1.0
    salience: Kind | Mapping[str, float] = "uniform"
    beam: int | None = None
    punctuation: bool = True
    lowercase: bool = False

    @property
    def name(self) -> str:
        """Return the name of the search in figures."""
        return self.algorithm if self.arguments == "all" else self.arguments

    def __post_init__(self) -> None:
        choices: dict[str, tuple[str, tuple[str, ...]]] = {
            "algorithm": (self.algorithm, get_args(GenerationAlgorithm)),
            "reuse": (self.reuse, get_args(Reuse)),
            "transitions": (self.transitions, get_args(Transitions)),
            "arguments": (self.arguments, get_args(Arguments)),
            "smoothing": (self.smoothing, get_args(Smoothing)),
        }
        if isinstance(self.salience, str):
            choices["salience"] = (self.salience, KINDS)
        for name, (chosen, allowed) in choices.items():
            if chosen not in allowed:
                raise InputError(f"{name} {chosen!r} is none of: {', '.join(allowed)}")
        if not 0 <= self.weight < 1:
            raise InputError(f"weight {self.weight} is not from 0 to less than 1")
        if not 0 < self.nearness <= 1:
            raise InputError(f"nearness {self.nearness} is not more than 0, and at most 1")
        if self.beam is not None and self.beam < 1:
            raise InputError(f"a beam of {self.beam} holds nothing; give 1 or more")
        if self.arguments == "supported" and (self.algorithm == "bigram" or self.smoothing == "collins"):
            chosen = "bigrams" if self.algorithm == "bigram" else "smoothing collins"
            raise InputError(f"{chosen} cannot be combined with supported arguments; leave one of them out")
        if self.nearness != 1 and (self.algorithm == "bigram" or self.arguments == "supported"):
            raise InputError("nearness is about the head stack, which is not used here; leave it out")


Kind = Literal["uniform", "unigram", "tfidf"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, slots=True)
class DocumentFrequencies:
    """The number of clusters with each word, and of all clusters."""

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
        salience: `uniform` is 1 for every word, as in the paper; `unigram` the relative frequency of the word
            in the cluster; `tfidf` that times its inverse document frequency, to sum to one again. Or weights
            by word, to be used as they are: those without one have 1, and a word with 0 is never used.
        frequencies: document frequencies for `tfidf`.

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
        InputError: a line has another form; with file and line.

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


def read_salience(text: Kind) -> Kind | dict[str, float]:
    """Return a kind of salience, or the weights of the file that is named.

    Raises:
        InputError: the text is neither a kind nor the name of such a file.
    """
    if text in KINDS:
        return text
    if not Path(text).is_file():
        raise InputError(f"{text!r} is neither a file with weights nor one of: {', '.join(KINDS)}")
    (source,) = expand([text])
    return parse_weights(source.lines(), path=source.name)
