"""Dependency-propagating Viterbi search: the best sentences of each length from the words of a cluster.

Wan et al. 2005. A sentence w_1 ... w_L has the probability

    p_tr(w_1 | <s>) p_em(w_1) * product over i of p_tr(w_i+1 | w_i) p_em(w_i+1) * p_tr(</s> | w_L)
    p_tr(x | w) = (1 - weight) p_ngram(x | w) + weight p_dep(x)
    p_dep(x)    = max over the items h of the head stack of p(Dep_sym(h, x))

There is no dependency from the start, where the stack is empty, nor to the end: p_dep is 0. The paper keeps
one path for each length and last word, and with it one stack. But the stack is not in the state, so that the
best beginning need not be the beginning of the best sentence. Here the state is the last word with the stack,
as far as it matters (see `depviterbi_kernels`), and several hypotheses stay for each length and last word.
What the beam lost is bounded from above: an answer that no lost sentence can beat is `exact`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sentgen.arrays import Bools, Floats, Ints
from sentgen.generation.clusters.depviterbi_kernels import (
    CLOSE,
    DepviterbiHypotheses,
    DepviterbiLattice,
    search,
)
from sentgen.models.related.cluster_model import ClusterModel

#: Hypotheses for each length and last word where the use of words is limited.
BEAM = 32
#: Where it is not: hypotheses for each length of one search after the other, until all answers are proven.
# Each width is many times the last: a failed search costs little beside the one that proves.
_WIDER = (256, 8_192, 65_536)
#: The limit of a word that may be used as often as one likes.
UNLIMITED = 2**31 - 1


@dataclass(frozen=True, slots=True)
class WordPath:
    """A sentence as numbers of words, with its log-probability; ``exact`` if no sentence can have its rank.

    That is: of its length, at most rank - 1 sentences are more probable.
    """

    words: tuple[int, ...]
    logp: float
    exact: bool


def lattice_of(
    model: ClusterModel,
    *,
    weight: float,
    emission: Floats,
    limit: Ints,
    allowed: Bools | None = None,
    nearness: float = 1.0,
) -> DepviterbiLattice:
    """Return what the search needs.

    Args:
        model: the probabilities of the cluster.
        weight: of the dependencies; that of the bigrams is 1 - weight.
        emission: (n,) log p_em; -inf for words that are not to be used.
        limit: (n,) how often each word may be used.
        allowed: (n + 1, n + 1) which word may follow which, row n the start and column n the end; all if
            ``None``.
        nearness: what each item above one on the head stack leaves of its relations, see `head_stack`.
    """
    n = len(model.words)
    ngram = (1 - weight) * model.bigrams
    with np.errstate(divide="ignore"):
        start, end = np.log(ngram[n, :n]) + emission, np.log(ngram[:n, n])
    if allowed is not None:
        start, end = np.where(allowed[n, :n], start, -np.inf), np.where(allowed[:n, n], end, -np.inf)
        ngram = np.where(allowed, ngram, -np.inf)
    return DepviterbiLattice(
        start=start,
        end=end,
        ngram=np.ascontiguousarray(ngram[:n, :n]),
        dep=weight * (model.head_right + model.head_left),
        governs=model.head_right > model.head_left,
        emission=emission,
        limit=limit.astype(np.int32),
        nearness=nearness,
    )


def best_paths(
    lattice: DepviterbiLattice, lengths: Collection[int], *, nbest: int = 1, beam: int | None = None
) -> Mapping[int, list[WordPath]]:
    """Return the most probable sentences of each length, the best one first; fewer where there are no more.

    Args:
        lattice: the words.
        lengths: numbers of words, from 1.
        nbest: sentences of each length.
        beam: hypotheses to keep for each length and last word; 1 is the search of the paper. If ``None``,
            `BEAM`, but where words may be used without limit, as many as prove the answers: a narrow search
            shows how good they are at least, and a wider one drops what cannot be as good.
    """
    longest = max(lengths, default=0)
    if not longest or not len(lattice.start):
        return {length: [] for length in lengths}
    floor = np.full(longest + 1, np.inf)
    floor[list(lengths)] = -np.inf
    if beam is not None or lattice.limit.min() < longest:
        return _paths(lattice, floor, nbest, beam or BEAM)[0]
    found: dict[int, list[WordPath]] = {}
    for width in _WIDER:
        answers, lost = _paths(lattice, floor, nbest, max(1, width // len(lattice.start)))
        found |= answers
        for length, paths in answers.items():
            floor[length] = _floor(paths, nbest, lost[length])
        if (floor == np.inf).all():
            break
    return found


def _floor(paths: Sequence[WordPath], nbest: int, lost: float) -> float:
    """Return what better answers than these must reach; inf if there are none."""
    if len(paths) < nbest:
        return np.inf if lost == -np.inf else -np.inf
    # Proven lengths drop out of the next search; others look for what reaches the last answer.
    return np.inf if all(path.exact for path in paths) else paths[-1].logp


def _paths(
    lattice: DepviterbiLattice, floor: Floats, nbest: int, beam: int
) -> tuple[dict[int, list[WordPath]], Floats]:
    """Search once; return the sentences of all lengths with a finite floor, or none, and what was lost."""
    nodes, begin, lost = search(lattice, len(floor) - 1, beam, nbest, floor)
    found = {}
    for length in np.flatnonzero(floor < np.inf).tolist():
        numbers = np.arange(begin[length], begin[length + 1])
        # The end is added here and not in the search, since any length may be the last.
        whole = nodes.logp[numbers] + lattice.end[nodes.word[numbers]]
        best = np.argsort(-whole, kind="stable")[:nbest].tolist()
        found[length] = [
            WordPath(_words(nodes, int(numbers[i])), float(whole[i]), bool(whole[i] >= lost[length] - CLOSE))
            for i in best
            if whole[i] > -np.inf
        ]
    return found, lost


def _words(nodes: DepviterbiHypotheses, number: int) -> tuple[int, ...]:
    """Read a sentence backward."""
    words = []
    while number >= 0:
        words.append(int(nodes.word[number]))
        number = int(nodes.parent[number])
    return tuple(reversed(words))
