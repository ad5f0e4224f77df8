"""A path of the dependency-propagating Viterbi search for people: word by word with stacks, and a tree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sentgen.arrays import Floats
from sentgen.generation.bags.problem import LEFT, RIGHT, ROOT, Tree
from sentgen.generation.clusters.head_stack import Rule, Step, follow
from sentgen.models.related.cluster_model import ClusterModel
from sentgen.schema.tables.corpus import EOS, RESERVED_WORDS


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One word of a sentence with its probabilities, and the head stack after it; the last step is the end.

    ``ngram``, ``dep`` and ``transition`` are p_ngram, p_dep and p_tr, ``logp`` that of the sentence so far.
    What the word does to its ``partner`` is the ``rule``; without a relation there is no partner. ``popped``
    and ``stack`` have the oldest item first.
    """

    word: str
    ngram: float
    dep: float
    transition: float
    logp: float
    rule: Rule | Literal["end"]
    partner: str | None
    popped: tuple[str, ...]
    stack: tuple[str, ...]


class PathReader:
    """Reads paths of one cluster; single numbers are looked up faster in lists than in arrays."""

    def __init__(
        self, model: ClusterModel, *, weight: float, emission: Floats, nearness: float = 1.0
    ) -> None:
        self._words, self._weight, self._nearness = model.words, weight, nearness
        self._bigrams: list[list[float]] = model.bigrams.tolist()
        self._right: list[list[float]] = model.head_right.tolist()
        self._left: list[list[float]] = model.head_left.tolist()
        self._emission: list[float] = emission.tolist()

    def read(self, path: Sequence[int]) -> tuple[tuple[TraceStep, ...], Tree]:
        """Return the trace of a path, given as numbers of words, and the tree that its pops make."""
        steps, heads = follow(path, self._right, self._left, self._nearness)
        return self._trace(path, steps), self._tree(path, heads)

    def _trace(self, path: Sequence[int], steps: Sequence[Step]) -> tuple[TraceStep, ...]:
        forms = [self._words[word] for word in path]
        start_or_end = len(self._words)
        trace: list[TraceStep] = []
        previous, logp = start_or_end, 0.0
        for word, step in zip(path, steps, strict=True):
            ngram = self._bigrams[previous][word]
            transition = self._transition(ngram, step.dep)
            logp += math.log(transition) + self._emission[word]
            trace.append(
                TraceStep(
                    forms[step.place],
                    ngram,
                    step.dep,
                    transition,
                    logp,
                    step.rule,
                    None if step.partner is None else forms[step.partner],
                    tuple(forms[place] for place in step.popped),
                    tuple(forms[place] for place in step.stack),
                )
            )
            previous = word
        ngram = self._bigrams[previous][start_or_end]
        # Nothing depends on the end, so that its share of the weight is lost, as in the paper's formula.
        transition = self._transition(ngram, 0.0)
        stack = trace[-1].stack if trace else ()
        end = RESERVED_WORDS[EOS]
        last = TraceStep(end, ngram, 0.0, transition, logp + math.log(transition), "end", None, (), stack)
        return (*trace, last)

    def _transition(self, ngram: float, dep: float) -> float:
        return (1 - self._weight) * ngram + self._weight * dep

    def _tree(self, path: Sequence[int], heads: Sequence[int]) -> Tree:
        weights = []
        for place, head in enumerate(heads):
            if head == ROOT:
                weights.append(math.nan)
            elif head < place:
                weights.append(math.log(self._left[path[head]][path[place]]))
            else:
                weights.append(math.log(self._right[path[place]][path[head]]))
        return tree_of(heads, weights)


def tree_of(heads: Sequence[int], weights: Sequence[float]) -> Tree:
    """Return the tree; the weight of an edge is the logarithm of its probability, NaN at a root."""
    sides, earlier = [], []
    for place, head in enumerate(heads):
        sides.append(RIGHT if head < place else LEFT)
        nearer = range(min(place, head) + 1, max(place, head)) if head != ROOT else ()
        earlier.append(sum(heads[other] == head for other in nearer))
    return Tree(tuple(heads), tuple(sides), tuple(earlier), tuple(weights))
