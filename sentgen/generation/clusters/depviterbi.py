"""Dependency-propagating Viterbi search: the best sentences of each length from the words of a cluster.

Wan et al. 2005. A sentence w_1 ... w_L has the probability

    p_tr(w_1 | <s>) p_em(w_1) * product over i of p_tr(w_i+1 | w_i) p_em(w_i+1) * p_tr(</s> | w_L)
    p_tr(x | w) = (1 - weight) p_ngram(x | w) + weight p_dep(x)
    p_dep(x)    = max over the items h of the head stack of p(Dep_sym(h, x))

There is no dependency from the start, where the stack is empty, nor to the end: p_dep is 0. The paper keeps
one path for each length and last word, and with it one stack. But the stack is not in the state, so that the
best prefix need not be the prefix of the best sentence. Here the state is the last word with the relevant
part of the stack (see `depviterbi_kernels`), and several hypotheses are kept for each length and last word.
The pruned hypotheses are bounded from above: an answer that no pruned sentence can beat is `exact`.

Section 3.2: the head stack is the rightmost root-to-leaf branch of the tree of the words so far,
the part of it that words to come can modify or govern. When word w is appended,

    1.  no relation with any item           w is pushed
    2. else the most probable relation, p(Dep_sym(h, w)) over the items h; ties go to the oldest item
      a.  w governs h                       all down to and including h are popped, w is pushed
      b.  w modifies h                      all above h are popped, w is pushed

Ties go to the oldest item, since probabilities from few sentences tend to zero or one: so `workers` pops all
of `the UN relief`, and the modifiers of `dog` are popped when `dog` becomes a modifier of `over`.

The companion paper (section 4.2) would favor small reductions of the stack, after the distances of Collins
1996, and gives no formula. Here p(Dep_sym(h, w)) is multiplied by ``nearness`` for each item above h, in 2
and in p_dep, so that ties go to the newest item; with 1 nothing changes.

Relations determine the tree: h gets the head w in 2a, w the head h in 2b. An item that is popped without a
head also gets the head w, if w more probably governs than modifies it. A word without a relation is a root of
its own: a fragment.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from sentgen.arrays import Bools, Floats, Ints
from sentgen.generation.bags.problem import ROOT, Tree
from sentgen.generation.clusters.depviterbi_kernels import (
    CLOSE,
    DepviterbiHypotheses,
    DepviterbiLattice,
    search,
)
from sentgen.models.dependency.cluster_model import ClusterModel
from sentgen.schema.tables.corpus import EOS, RESERVED_WORDS

#: Hypotheses for each length and last word if the use of words is limited.
BEAM = 32
#: Without limits: hypotheses for each length in successive searches, until all answers are proven.
# Each width is many times the last: a failed search costs little compared with the successful one.
_WIDER = (256, 8_192, 65_536)
#: The limit of a word that may be used any number of times.
UNLIMITED = 2**31 - 1


@dataclass(frozen=True, slots=True)
class WordPath:
    """A sentence as numbers of words, with its log-probability; ``exact`` if its rank is proven.

    That is: of its length, at most rank - 1 sentences are more probable. Where the search finds a tree,
    ``heads`` are the positions of heads, `ROOT` for none.
    """

    words: tuple[int, ...]
    logp: float
    exact: bool
    heads: tuple[int, ...] = ()


def lattice_of(
    model: ClusterModel,
    *,
    weight: float,
    emission: Floats,
    limit: Ints,
    allowed: Bools | None = None,
    nearness: float = 1.0,
) -> DepviterbiLattice:
    """Return the lattice of a search.

    Args:
        model: the probabilities of the cluster.
        weight: weight of the dependencies; that of the bigrams is 1 - weight.
        emission: (n,) log p_em; -inf for excluded words.
        limit: (n,) how often each word may be used.
        allowed: (n + 1, n + 1) which word may follow which, row n the start and column n the end; all if
            ``None``.
        nearness: factor of the probability of a relation for each item above on the head stack.
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
    """Return the most probable sentences of each length, the best first; fewer if there are no more.

    Args:
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
    best: dict[int, list[WordPath]] = {}
    for width in _WIDER:
        answers, lost = _paths(lattice, floor, nbest, max(1, width // len(lattice.start)))
        best |= answers
        for length, paths in answers.items():
            floor[length] = _floor(paths, nbest, lost[length])
        if (floor == np.inf).all():
            break
    return best


def _floor(paths: Sequence[WordPath], nbest: int, lost: float) -> float:
    """Return the log-probability that better answers must reach; inf if there are none."""
    if len(paths) < nbest:
        return np.inf if lost == -np.inf else -np.inf
    # Proven lengths are not searched again; other lengths must reach their last answer.
    return np.inf if all(path.exact for path in paths) else paths[-1].logp


def _paths(
    lattice: DepviterbiLattice, floor: Floats, nbest: int, beam: int
) -> tuple[dict[int, list[WordPath]], Floats]:
    """Search once; return the sentences of all lengths with a finite floor, and bounds on lost sentences."""
    nodes, begin, lost = search(lattice, len(floor) - 1, beam, nbest, floor)
    by_length = {}
    for length in np.flatnonzero(floor < np.inf).tolist():
        numbers = np.arange(begin[length], begin[length + 1])
        # The end is added here and not in the search, since a sentence may end at any length.
        whole = nodes.logp[numbers] + lattice.end[nodes.word[numbers]]
        best = np.argsort(-whole, kind="stable")[:nbest].tolist()
        by_length[length] = [
            WordPath(_words(nodes, int(numbers[i])), float(whole[i]), bool(whole[i] >= lost[length] - CLOSE))
            for i in best
            if whole[i] > -np.inf
        ]
    return by_length, lost


def _words(nodes: DepviterbiHypotheses, number: int) -> tuple[int, ...]:
    """Read a sentence backward."""
    words = []
    while number >= 0:
        words.append(int(nodes.word[number]))
        number = int(nodes.parent[number])
    return tuple(reversed(words))


Rule = Literal["push", "governs", "modifies", "end"]
#: p(isHeadRight) or p(isHeadLeft) by word: a row is the earlier word, a column the later one.
Table = Sequence[Sequence[float]]


@dataclass(frozen=True, slots=True)
class Step:
    """A word that is appended; all numbers are positions in the sentence, from 0.

    ``partner`` is the item with the most probable relation, None if there is none, and ``dep`` its
    probability p(Dep_sym). ``popped`` and the ``stack`` after the word have the oldest item first.
    """

    place: int
    rule: Rule
    partner: int | None
    dep: float
    popped: tuple[int, ...]
    stack: tuple[int, ...]

    def traced(
        self, forms: Sequence[str], ngram: float, dep: float, transition: float, logp: float
    ) -> TraceStep:
        """Return the step with the words of the sentence, and the end, in place of their positions."""
        return TraceStep(
            forms[self.place],
            ngram,
            dep,
            transition,
            logp,
            self.rule,
            None if self.partner is None else forms[self.partner],
            tuple(forms[position] for position in self.popped),
            tuple(forms[position] for position in self.stack),
        )


def follow(
    words: Iterable[int], head_right: Table, head_left: Table, nearness: float = 1.0
) -> tuple[list[Step], list[int]]:
    """Return the steps of the head stack along a sentence, and the head of each word, `ROOT` for none.

    Args:
        words: rows of the tables.
        head_right: p(isHeadRight(a, b)) for a before b: b governs a.
        head_left: p(isHeadLeft(a, b)): a governs b.
        nearness: factor of the probability of a relation for each item above; 1 for no effect.
    """
    sentence: list[int] = []
    heads: list[int] = []
    steps: list[Step] = []
    stack: tuple[int, ...] = ()
    rule: Rule
    popped: tuple[int, ...]
    for position, word in enumerate(words):
        sentence.append(word)
        heads.append(ROOT)
        partner, dep = _most_probable(stack, sentence, head_right, head_left, nearness)
        kept, popped, rule = stack, (), "push"
        if partner is not None:
            item = sentence[partner]
            below = stack.index(partner)
            governs = head_right[item][word] > head_left[item][word]
            rule = "governs" if governs else "modifies"
            kept, popped = (
                (stack[:below], stack[below:]) if governs else (stack[: below + 1], stack[below + 1 :])
            )
            heads[partner if governs else position] = position if governs else partner
            for other in popped:
                old = sentence[other]
                if heads[other] == ROOT and head_right[old][word] > head_left[old][word]:
                    heads[other] = position
        stack = (*kept, position)
        steps.append(Step(position, rule, partner, dep, popped, stack))
    return steps, heads


def _most_probable(
    stack: Sequence[int], sentence: Sequence[int], head_right: Table, head_left: Table, nearness: float
) -> tuple[int | None, float]:
    """Return the item with the most probable relation to the last word, and its probability."""
    best, partner, left = 0.0, None, 1.0
    for item in reversed(stack):
        row, word = sentence[item], sentence[-1]
        dep = (head_right[row][word] + head_left[row][word]) * left
        # From the top, so that ties go to the oldest item.
        if dep > 0 and dep >= best:
            best, partner = dep, item
        left *= nearness
    return partner, best


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One word of a sentence with its probabilities, and the head stack after it; the last step is the end.

    ``ngram``, ``dep`` and ``transition`` are p_ngram, p_dep and p_tr, ``logp`` that of the sentence so far.
    The ``rule`` relates the word to its ``partner``; without a relation there is no partner. ``popped``
    and ``stack`` have the oldest item first.
    """

    word: str
    ngram: float
    dep: float
    transition: float
    logp: float
    rule: Rule
    partner: str | None
    popped: tuple[str, ...]
    stack: tuple[str, ...]


class PathReader:
    """Reads paths of one cluster; lists are faster than arrays for single numbers."""

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
        forms = [*(self._words[word] for word in path), RESERVED_WORDS[EOS]]
        start_or_end = len(self._words)
        # The end has no dependency, so that its share of the weight is lost, as in the paper's formula.
        end = Step(len(path), "end", None, 0.0, (), steps[-1].stack if steps else ())
        trace, logp = list[TraceStep](), 0.0
        words = pairwise((start_or_end, *path, start_or_end))
        for (previous, word), step in zip(words, (*steps, end), strict=True):
            ngram = self._bigrams[previous][word]
            transition = (1 - self._weight) * ngram + self._weight * step.dep
            logp += math.log(transition) + (0.0 if step is end else self._emission[word])
            trace.append(step.traced(forms, ngram, step.dep, transition, logp))
        return tuple(trace)

    def _tree(self, path: Sequence[int], heads: Sequence[int]) -> Tree:
        weights = []
        for position, head in enumerate(heads):
            if head == ROOT:
                weights.append(math.nan)
            elif head < position:
                weights.append(math.log(self._left[path[head]][path[position]]))
            else:
                weights.append(math.log(self._right[path[position]][path[head]]))
        return Tree.of_heads(heads, weights)
