"""Sentences of which every verb has only arguments that the sources support, and every word a supported head.

The search of Wan et al. 2005 averages a bigram probability and that of the best relation to the head stack,
so that either can pay for what the other excludes; a word that no relation reaches is a fragment, which a
parser then gives to some verb. Here a sentence has one tree of supported arcs (see `cluster_trees`) over all
its words, without crossings, and the average is the geometric one:

    log p = (1 - weight) * sum of log p(w_i | w_i-2 w_i-1), the end included
          + weight * (log p(root) + sum of log p(head governs modifier))
          + sum of log p_em(w_i)
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sentgen.arrays import Bools, Floats, Ints
from sentgen.generation.bags.problem import ROOT
from sentgen.generation.clusters.supported_kernels import Nodes, SupportedLattice, search_supported
from sentgen.models.related.cluster_trees import Arcs
from sentgen.models.related.cluster_trigrams import Trigrams

#: Hypotheses for each length and last word.
BEAM = 32


@dataclass(frozen=True, slots=True)
class SupportedPath:
    """A sentence as numbers of words, with the place of each head, `ROOT` for none, and its log-probability.

    ``exact`` if the search lost nothing, so that at most rank - 1 sentences of its length are more probable.
    """

    words: tuple[int, ...]
    heads: tuple[int, ...]
    logp: float
    exact: bool


def supported_lattice(
    ngrams: Trigrams,
    arcs: Arcs,
    *,
    weight: float,
    emission: Floats,
    limit: Ints,
    allowed: Bools | None = None,
) -> SupportedLattice:
    """Return what the search needs.

    Args:
        ngrams: of the n words.
        arcs: of them.
        weight: of the arcs; that of the n-grams is 1 - weight.
        emission: (n,) log p_em.
        limit: (n,) how often each word may be used.
        allowed: (n + 1, n + 1) which word may follow which, row n the start and column n the end; all if
            ``None``.
    """
    bigram = ngrams.bigram if allowed is None else np.where(allowed, ngrams.bigram, -np.inf)
    weighted = arcs._replace(
        left=_times(weight, arcs.left), right=_times(weight, arcs.right), root=_times(weight, arcs.root)
    )
    others = 1 - weight
    waiting = weighted.right.max(axis=1, initial=-np.inf)
    # N-grams add nothing, and what a word governs only what waited, or less.
    most = np.maximum(waiting, np.maximum(weighted.root, weighted.left.max(axis=0, initial=-np.inf)))
    return SupportedLattice(
        ngrams=Trigrams(
            _times(others, bigram), others * ngrams.backed_off, ngrams.keys, others * ngrams.trigram
        ),
        arcs=weighted,
        waiting=waiting,
        ceiling=most + emission,
        emission=emission,
        limit=limit.astype(np.int32),
    )


def _times(weight: float, logp: Floats) -> Floats:
    """Return weighted logarithms; what is impossible stays so with no weight, too."""
    return np.multiply(logp, weight, out=np.full_like(logp, -np.inf), where=logp > -np.inf)


def best_supported(
    lattice: SupportedLattice, lengths: Collection[int], *, nbest: int = 1, beam: int | None = None
) -> Mapping[int, list[SupportedPath]]:
    """Return the most probable sentences of each length, the best one first; fewer where there are no more.

    Args:
        lattice: the words.
        lengths: numbers of words, from 1.
        nbest: sentences of each length.
        beam: hypotheses to keep for each length and last word; `BEAM` if ``None``.
    """
    longest = max(lengths, default=0)
    if not longest or not len(lattice.limit):
        return {length: [] for length in lengths}
    nodes, begin, lost = search_supported(lattice, longest, beam or BEAM, nbest)
    found = {}
    for length in lengths:
        final = nodes.final[begin[length] : begin[length + 1]]
        best = np.argsort(-final, kind="stable")[: int((final > -np.inf).sum())]
        paths: dict[tuple[int, ...], SupportedPath] = {}
        for number in (begin[length] + best).tolist():
            words, heads = _read(nodes, number)
            # One sentence may have several trees; it stands once, with the best of them.
            paths.setdefault(
                words, SupportedPath(words, heads, float(nodes.final[number]), length < int(lost[0]))
            )
            if len(paths) == nbest:
                break
        found[length] = list(paths.values())
    return found


def _read(nodes: Nodes, number: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Read a sentence backward, and make its tree forward."""
    steps = []
    while number >= 0:
        steps.append((int(nodes.word[number]), int(nodes.kept[number]), int(nodes.partner[number])))
        number = int(nodes.parent[number])
    steps.reverse()
    return tuple(word for word, _, _ in steps), heads_of([(kept, partner) for _, kept, partner in steps])


def heads_of(steps: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """Return the place of each head, `ROOT` for none.

    Args:
        steps: for each word, how many items of the stack it did not govern, and which item it modifies, -1
            for none.

    >>> heads_of([(0, -1), (0, -1), (1, 0)])  # she <- sleeps -> well
    (1, -1, 1)
    """
    stack: list[int] = []
    heads = [ROOT] * len(steps)
    for place, (kept, partner) in enumerate(steps):
        for item in stack[kept:]:
            if heads[item] == ROOT:
                heads[item] = place
        if partner >= 0:
            heads[place] = stack[partner]
            kept = partner + 1
        stack = [*stack[:kept], place]
    return tuple(heads)
