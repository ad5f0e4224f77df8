"""Sentences of which every verb has only arguments that the sources support, and every word a supported head.

The search of Wan et al. 2005 averages a bigram probability and that of the best relation to the head stack,
so that either can pay for what the other excludes; a word that no relation reaches is a fragment, which a
parser then gives to some verb. Here a sentence has one tree of supported arcs (see `cluster_model`) over all
its words, without crossings, and the average is the geometric one:

    log p = (1 - weight) * sum of log p(w_i | w_i-2 w_i-1), the end included
          + weight * (log p(root) + sum of log p(head governs modifier))
          + sum of log p_em(w_i)
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from sentgen.arrays import Bools, Floats, Ints
from sentgen.generation.bags.problem import ROOT, Tree
from sentgen.generation.clusters.depviterbi import Rule, TraceStep, tree_of
from sentgen.generation.clusters.supported_kernels import (
    Nodes,
    SupportedLattice,
    ngram_logp,
    search_supported,
)
from sentgen.models.dependency.cluster_model import Arcs, Trigrams
from sentgen.schema.tables.corpus import EOS, RESERVED_WORDS

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
    return tuple(word for word, _, _ in steps), _heads_of([(kept, partner) for _, kept, partner in steps])


def _heads_of(steps: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """Return the place of each head, `ROOT` for none.

    Args:
        steps: for each word, how many items of the stack it did not govern, and which item it modifies, -1
            for none.

    >>> _heads_of([(0, -1), (0, -1), (1, 0)])  # she <- sleeps -> well
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


class SupportedReader:
    """Reads the sentences of one cluster."""

    def __init__(
        self, words: Sequence[str], ngrams: Trigrams, arcs: Arcs, *, weight: float, emission: Floats
    ) -> None:
        self._words, self._ngrams, self._arcs = words, ngrams, arcs
        self._weight, self._emission = weight, emission

    def read(self, path: SupportedPath) -> tuple[tuple[TraceStep, ...], Tree]:
        """Return the trace of a sentence, and its tree.

        ``dep`` of a step is the product of the probabilities of the arcs that it makes, 1 if it makes none;
        at the end it is that of the root.
        """
        edges = [self._edge(path, place) for place in range(len(path.words))]
        return self._trace(path, edges), tree_of(path.heads, edges)

    def _edge(self, path: SupportedPath, position: int) -> float:
        """Return the log-probability of the arc to a word, NaN at the root."""
        head, word = path.heads[position], path.words[position]
        if head == ROOT:
            return math.nan
        table = self._arcs.left if head < position else self._arcs.right
        earlier, later = sorted(((head, path.words[head]), (position, word)))
        return float(table[earlier[1], later[1]])

    def _trace(self, path: SupportedPath, edges: Sequence[float]) -> tuple[TraceStep, ...]:
        start_or_end, last = len(self._words), len(path.words)
        forms = [*(self._words[word] for word in path.words), RESERVED_WORDS[EOS]]
        root = float(self._arcs.root[path.words[path.heads.index(ROOT)]])
        appended = [*_append(path.heads, edges), _Appended("end", None, (), (), root)]
        # The end changes no stack.
        appended[last] = replace(appended[last], stack=appended[last - 1].stack)
        steps: list[TraceStep] = []
        logp, before = 0.0, (-1, start_or_end)
        for place, (word, one) in enumerate(zip((*path.words, start_or_end), appended, strict=True)):
            ngram = float(ngram_logp(self._ngrams, *before, word))
            before = (before[1], word)
            transition = (1 - self._weight) * ngram + self._weight * one.dep
            logp += transition + (float(self._emission[word]) if place < last else 0)
            steps.append(
                TraceStep(
                    forms[place],
                    math.exp(ngram),
                    math.exp(one.dep),
                    math.exp(transition),
                    logp,
                    one.rule,
                    None if one.partner is None else forms[one.partner],
                    tuple(forms[at] for at in one.popped),
                    tuple(forms[at] for at in one.stack),
                )
            )
        return tuple(steps)


@dataclass(frozen=True, slots=True)
class _Appended:
    """What a word does to the stack, in places of the sentence, and the log-probability of its arcs."""

    rule: Rule | Literal["end"]
    partner: int | None
    popped: tuple[int, ...]
    stack: tuple[int, ...]
    dep: float


def _append(heads: Sequence[int], edges: Sequence[float]) -> Iterator[_Appended]:
    """Append word after word of a tree to the stack."""
    stack: tuple[int, ...] = ()
    for place, head in enumerate(heads):
        governed = [at for at in stack if heads[at] == place]
        modifies = 0 <= head < place
        # From the first modifier on, or all above the head: what is popped has all that it can get.
        kept = stack.index(governed[0]) if governed else len(stack)
        kept = stack.index(head) + 1 if modifies else kept
        dep = sum(edges[at] for at in governed) + (edges[place] if modifies else 0)
        partner = head if modifies else governed[0] if governed else None
        popped, stack = stack[kept:], (*stack[:kept], place)
        yield _Appended(
            "modifies" if modifies else "governs" if governed else "push", partner, popped, stack, dep
        )
