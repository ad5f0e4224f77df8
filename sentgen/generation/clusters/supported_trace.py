"""A sentence of supported arcs for people: word by word with the stack, and its tree."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from sentgen.arrays import Floats
from sentgen.generation.bags.problem import ROOT, Tree
from sentgen.generation.clusters.depviterbi_trace import TraceStep, tree_of
from sentgen.generation.clusters.head_stack import Rule
from sentgen.generation.clusters.supported import SupportedPath
from sentgen.generation.clusters.supported_kernels import ngram_logp
from sentgen.models.related.cluster_trees import Arcs
from sentgen.models.related.cluster_trigrams import Trigrams
from sentgen.schema.tables.corpus import EOS, RESERVED_WORDS


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

    def _edge(self, path: SupportedPath, place: int) -> float:
        """Return the log-probability of the arc to a word, NaN at the root."""
        head, word = path.heads[place], path.words[place]
        if head == ROOT:
            return math.nan
        table = self._arcs.left if head < place else self._arcs.right
        earlier, later = sorted(((head, path.words[head]), (place, word)))
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
