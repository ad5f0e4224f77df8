"""Sentences in which every verb has only arguments that the sources support, and every word a supported head.

The search of Wan et al. 2005 averages a bigram probability and that of the best relation to the head stack,
so that a sentence that one of them excludes can still be probable; a word without a relation is a fragment,
which a parser then attaches to some verb. Here a sentence has one tree of supported arcs (see
`cluster_model`) over all its words, without crossings, and the average is the geometric one:

    log p = (1 - weight) * sum of log p(w_i | w_i-2 w_i-1), the end included
          + weight * (log p(root) + sum of log p(head governs modifier))
          + sum of log p_em(w_i)

The search is compiled. A hypothesis is a prefix of a sentence with the part of its tree that can still
change: a stack of words, the oldest first, some of which already have a head, as in arc-eager parsing (Nivre
2003). A word that is appended governs items from the top down, each only if all items above it have heads;
then it modifies an item above which all have heads, or waits for its own head. A waiting word
must find its head to the right; only the lowest item may be the root instead. If not the whole tree is
supported, the hypothesis is dropped.

A waiting word counts with the highest probability that it can get, so that hypotheses with and without heads
can be compared. Hypotheses are equivalent if they agree in their last two words, in the stack, in the
modifiers of its items, and in the words used; of equivalent ones with the same words, only the best is kept.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from sentgen.arrays import Bits, Bools, Floats, Ints, Longs, compiled
from sentgen.generation.bags.problem import ROOT, Tree
from sentgen.generation.clusters.depviterbi import Rule, Step, TraceStep, WordPath
from sentgen.generation.clusters.depviterbi_kernels import best_slots
from sentgen.generation.ngrams.beam_kernels import mixed
from sentgen.models.dependency.cluster_model import Arcs, Trigrams
from sentgen.schema.tables.corpus import EOS, RESERVED_WORDS

#: Most items of a stack; deeper trees are lost.
_HIGHEST = 24


class SupportedLattice(NamedTuple):
    """The n words of a search and their weighted log-probabilities; rows are earlier words."""

    ngrams: Trigrams
    arcs: Arcs
    waiting: Floats  # (n,) the highest log-probability of a word by a head to its right
    ceiling: Floats  # (n,) upper bound of the gain by appending a word
    emission: Floats  # (n,)
    limit: Ints  # (n,) how often a word may be used

    def best_paths(
        self, lengths: Collection[int], *, nbest: int = 1, beam: int | None = None
    ) -> Mapping[int, list[WordPath]]:
        """Return the most probable sentences of each length, the best one first, or as many as there are.

        Args:
            lengths: numbers of words, from 1.
            nbest: sentences of each length.
            beam: hypotheses to keep for each length and last word; `_BEAM` if ``None``.
        """
        longest = max(lengths, default=0)
        if not longest or not len(self.limit):
            return {length: [] for length in lengths}
        nodes, begin, lost = _search_supported(self, longest, beam or _BEAM, nbest)
        by_length = {}
        for length in lengths:
            final = nodes.final[begin[length] : begin[length + 1]]
            best = np.argsort(-final, kind="stable")[: int((final > -np.inf).sum())]
            paths: dict[tuple[int, ...], WordPath] = {}
            for number in (begin[length] + best).tolist():
                words, heads = _read(nodes, number)
                # A sentence with several trees is returned once, with the best tree.
                paths.setdefault(
                    words, WordPath(words, float(nodes.final[number]), length < int(lost[0]), heads)
                )
                if len(paths) == nbest:
                    break
            by_length[length] = list(paths.values())
        return by_length

    @classmethod
    def weighted(
        cls,
        ngrams: Trigrams,
        arcs: Arcs,
        *,
        weight: float,
        emission: Floats,
        limit: Ints,
        allowed: Bools | None = None,
    ) -> SupportedLattice:
        """Return the lattice of a search.

        Args:
            weight: weight of the arcs; that of the n-grams is 1 - weight.
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
        # N-grams add at most 0, and arcs to waiting words at most what these counted.
        most = np.maximum(waiting, np.maximum(weighted.root, weighted.left.max(axis=0, initial=-np.inf)))
        return cls(
            ngrams=Trigrams(
                _times(others, bigram), others * ngrams.backed_off, ngrams.keys, others * ngrams.trigram
            ),
            arcs=weighted,
            waiting=waiting,
            ceiling=most + emission,
            emission=emission,
            limit=limit.astype(np.int32),
        )


class _SupportedFrontier(NamedTuple):
    """The m hypotheses of one length."""

    logp: Floats  # (m,)
    word: Ints  # (m,) the last one
    previous: Ints  # (m,) the one before
    parent: Ints  # (m,) within the frontier before
    kept: Ints  # (m,) items of the parent's stack that the last word did not govern
    partner: Ints  # (m,) item that the last word modifies, -1 if it waits
    height: Ints  # (m,)
    stack: Ints  # (m, _HIGHEST)
    headed: Bools  # (m, _HIGHEST)
    taken: Bits  # (m, _HIGHEST) modifiers of each kind, two bits each
    used: Ints  # (m, n)
    mark: Bits  # (m,) a hash of what the future depends on
    text: Bits  # (m,) a hash of all words


class _Slots(NamedTuple):
    """Slots for ``beam`` hypotheses of each word, and one to try; those of word x begin at x * (beam + 1)."""

    extended: _SupportedFrontier
    filled: Ints  # (n,) number of hypotheses
    worst: Ints  # (n,) the slot of the least probable one, once all are filled
    lost: Bools  # (1,) whether a hypothesis was lost


class _Nodes(NamedTuple):
    """All hypotheses, by length, with the fields that are needed to read them."""

    final: Floats  # (N,) log-probability as a whole sentence
    word: Ints  # (N,)
    parent: Ints  # (N,)
    kept: Ints  # (N,)
    partner: Ints  # (N,)


class _Move(NamedTuple):
    """One way to append a word: its log-probability, the items that it governs, the item that it modifies."""

    logp: float
    kept: np.int64
    partner: int
    taken: np.uint64  # modifiers of the word
    modifier: np.uint64  # addition to the modifiers of the partner


@compiled
def _search_supported(
    lattice: SupportedLattice, longest: int, beam: int, nbest: int
) -> tuple[_Nodes, Longs, Ints]:
    """Find the most probable sentences of 1 to so many words.

    Args:
        longest: most words of a sentence.
        beam: hypotheses to keep for each length and last word.
        nbest: equivalent hypotheses to keep, with different words.

    Returns:
        The hypotheses; (longest + 2,) the first hypothesis of each length; and (1,) the shortest length at
        which a hypothesis was lost, longest + 1 if none was.

    Time: longest * beam * n * n * height of the stacks.
    """
    n = len(lattice.limit)
    size = longest * n * beam
    nodes = _Nodes(
        np.full(size, -np.inf),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
    )
    begin, lost = np.zeros(longest + 2, np.int64), np.full(1, longest + 1, np.int32)
    frontier = _frontier(1, n)
    frontier.logp[0], frontier.word[0], frontier.previous[0] = 0.0, n, -1
    for length in range(1, longest + 1):
        slots = _Slots(
            _frontier(n * (beam + 1), n), np.zeros(n, np.int32), np.zeros(n, np.int32), np.zeros(1, np.bool_)
        )
        for x in range(n):
            for p in range(len(frontier.logp)):
                # The frontier is sorted (`_sorted`), so that all later ones fail, too; this saves most of the
                # work.
                highest = frontier.logp[p] + lattice.ceiling[x]
                if slots.filled[x] == beam and highest <= slots.extended.logp[slots.worst[x]]:
                    slots.lost[0] = True
                    break
                _extend(lattice, frontier, p, x, slots, nbest)
        if slots.lost[0]:
            lost[0] = min(lost[0], length)
        frontier = _sorted(slots)
        _keep(lattice, frontier, nodes, begin, length)
    return nodes, begin, lost


@compiled
def _frontier(size: int, n: int) -> _SupportedFrontier:
    return _SupportedFrontier(
        np.full(size, -np.inf),
        np.zeros(size, np.int32),
        np.zeros(size, np.int32),
        np.zeros(size, np.int32),
        np.zeros(size, np.int32),
        np.zeros(size, np.int32),
        np.zeros(size, np.int32),
        np.zeros((size, _HIGHEST), np.int32),
        np.zeros((size, _HIGHEST), np.bool_),
        np.zeros((size, _HIGHEST), np.uint64),
        np.zeros((size, n), np.int32),
        np.zeros(size, np.uint64),
        np.zeros(size, np.uint64),
    )


@compiled
def ngram_logp(ngrams: Trigrams, u: int, v: int, x: int) -> float:
    """Return the log-probability of x after u v; u is -1 if v is the start."""
    bigram = float(ngrams.bigram[v, x])
    if u < 0 or bigram == -np.inf:
        return bigram
    size = len(ngrams.bigram)
    key = (np.int64(u) * size + v) * size + x
    at = np.searchsorted(ngrams.keys, key)
    if at < len(ngrams.keys) and ngrams.keys[at] == key:
        return float(ngrams.trigram[at])
    return float(ngrams.backed_off[u, v]) + bigram


@compiled
def sentence_logp(ngrams: Trigrams, words: Longs) -> float:
    """Return the log-probability of a sentence with its end."""
    end = len(ngrams.bigram) - 1
    u, v, logp = -1, end, 0.0
    for i in range(len(words) + 1):
        x = words[i] if i < len(words) else end
        logp += ngram_logp(ngrams, u, v, x)
        u, v = v, x
    return logp


@compiled
def _waits(lattice: SupportedLattice, word: int, depth: int) -> float:
    """Return the highest log-probability of a waiting word; only the lowest item may be the root."""
    waiting = float(lattice.waiting[word])
    return waiting if depth else max(waiting, float(lattice.arcs.root[word]))


@compiled
def _has_room(arcs: Arcs, taken: np.uint64, head: int, kind: int) -> bool:
    """Return whether a head with the modifiers ``taken`` may have another one of a kind."""
    return int((taken >> np.uint64(2 * kind)) & np.uint64(3)) < int(arcs.room[head, kind])


@compiled
def _extend(
    lattice: SupportedLattice, before: _SupportedFrontier, p: int, x: int, slots: _Slots, nbest: int
) -> None:
    """Append word x to hypothesis p in every supported way."""
    if before.used[p, x] >= lattice.limit[x]:
        return
    logp = (
        before.logp[p]
        + ngram_logp(lattice.ngrams, before.previous[p], before.word[p], x)
        + lattice.emission[x]
    )
    if logp == -np.inf:
        return
    arcs, kept, taken = lattice.arcs, np.int64(before.height[p]), np.uint64(0)
    while True:
        waits = _waits(lattice, x, int(kept))
        if waits > -np.inf:
            _try(before, p, x, _Move(logp + waits, kept, -1, taken, np.uint64(0)), slots, nbest)
        for item in range(kept - 1, -1, -1):
            head = before.stack[p, item]
            kind = arcs.left_kind[head, x]
            if arcs.left[head, x] > -np.inf and _has_room(arcs, before.taken[p, item], head, kind):
                one = np.uint64(1) << np.uint64(2 * kind)
                _try(before, p, x, _Move(logp + arcs.left[head, x], kept, item, taken, one), slots, nbest)
            if not before.headed[p, item]:
                break  # the item would be popped without a head
        lowest = kept - 1
        while lowest >= 0 and before.headed[p, lowest]:
            lowest -= 1
        if lowest < 0:
            return
        modifier = before.stack[p, lowest]
        kind = arcs.right_kind[modifier, x]
        if arcs.right[modifier, x] == -np.inf or not _has_room(arcs, taken, x, kind):
            return
        logp += arcs.right[modifier, x] - _waits(lattice, modifier, int(lowest))
        taken += np.uint64(1) << np.uint64(2 * kind)
        kept = lowest


@compiled
def _try(before: _SupportedFrontier, p: int, x: int, move: _Move, slots: _Slots, nbest: int) -> None:
    """Put a hypothesis into the slots of its last word, if it is one of the best."""
    extended, n = slots.extended, len(slots.filled)
    beam = len(extended.logp) // n - 1
    first, filled = x * (beam + 1), slots.filled[x]
    height = move.partner + 1 if move.partner >= 0 else move.kept
    if (filled == beam and move.logp <= extended.logp[slots.worst[x]]) or height == _HIGHEST:
        slots.lost[0] = True
        return
    # Tried in the slot behind the filled ones: sameness can be told only once the stack is made.
    tried = first + filled
    _write(before, p, x, move, extended, tried)
    same, weakest = 0, -1
    for slot in range(first, tried):
        if extended.mark[slot] == extended.mark[tried]:
            same += 1
            if extended.text[slot] == extended.text[tried]:
                # Other trees of a sentence must not displace other sentences.
                same, weakest = nbest, slot
                break
            if weakest < 0 or extended.logp[slot] < extended.logp[weakest]:
                weakest = slot
    if same >= nbest:
        if move.logp <= extended.logp[weakest]:
            return
        _copy(extended, tried, weakest)
    elif filled < beam:
        slots.filled[x] = filled + 1
    else:
        _copy(extended, tried, slots.worst[x])
        slots.lost[0] = True
    if slots.filled[x] == beam:
        slots.worst[x] = first + np.argmin(extended.logp[first : first + beam])


@compiled
def _write(
    before: _SupportedFrontier, p: int, x: int, move: _Move, extended: _SupportedFrontier, slot: int
) -> None:
    """Write hypothesis p with word x appended into a slot."""
    height = move.partner + 1 if move.partner >= 0 else move.kept
    extended.logp[slot], extended.word[slot], extended.previous[slot] = move.logp, x, before.word[p]
    extended.parent[slot], extended.kept[slot], extended.partner[slot] = p, move.kept, move.partner
    extended.height[slot] = height + 1
    for i in range(height):
        extended.stack[slot, i] = before.stack[p, i]
        extended.headed[slot, i] = before.headed[p, i]
        extended.taken[slot, i] = before.taken[p, i]
    if move.partner >= 0:
        extended.taken[slot, move.partner] += move.modifier
    extended.stack[slot, height], extended.headed[slot, height] = x, move.partner >= 0
    extended.taken[slot, height] = move.taken
    extended.used[slot] = before.used[p]
    extended.used[slot, x] += 1
    # 64 bits suffice for one search: hypotheses with equal hashes count as equivalent.
    mark = mixed(np.uint64(extended.previous[slot] + 1))
    for i in range(height + 1):
        mark = mixed(mark + np.uint64(2 * extended.stack[slot, i] + extended.headed[slot, i]))
        mark = mixed(mark + extended.taken[slot, i])
    for i in range(extended.used.shape[1]):
        if extended.used[slot, i]:
            mark += mixed(np.uint64((i + 1) * 65_536 + extended.used[slot, i]))
    extended.mark[slot] = mark
    extended.text[slot] = mixed(before.text[p] + np.uint64(x + 1))


@compiled
def _copy(frontier: _SupportedFrontier, source: int, target: int) -> None:
    frontier.logp[target], frontier.word[target] = frontier.logp[source], frontier.word[source]
    frontier.previous[target], frontier.parent[target] = frontier.previous[source], frontier.parent[source]
    frontier.kept[target], frontier.partner[target] = frontier.kept[source], frontier.partner[source]
    frontier.height[target], frontier.mark[target] = frontier.height[source], frontier.mark[source]
    frontier.stack[target], frontier.headed[target] = frontier.stack[source], frontier.headed[source]
    frontier.taken[target], frontier.used[target] = frontier.taken[source], frontier.used[source]
    frontier.text[target] = frontier.text[source]


@compiled
def _sorted(slots: _Slots) -> _SupportedFrontier:
    """Return the hypotheses in the slots of all words, the most probable first."""
    extended = slots.extended
    order = best_slots(extended.logp, slots.filled, len(extended.logp) // len(slots.filled))
    return _SupportedFrontier(
        extended.logp[order],
        extended.word[order],
        extended.previous[order],
        extended.parent[order],
        extended.kept[order],
        extended.partner[order],
        extended.height[order],
        extended.stack[order],
        extended.headed[order],
        extended.taken[order],
        extended.used[order],
        extended.mark[order],
        extended.text[order],
    )


@compiled
def _keep(
    lattice: SupportedLattice, frontier: _SupportedFrontier, nodes: _Nodes, begin: Longs, length: int
) -> None:
    """Record the hypotheses of one length, and their log-probabilities as whole sentences."""
    n, size = len(lattice.limit), len(frontier.logp)
    begin[length + 1] = begin[length] + size
    for p in range(size):
        at = begin[length] + p
        nodes.word[at], nodes.kept[at] = frontier.word[p], frontier.kept[p]
        nodes.partner[at] = frontier.partner[p]
        nodes.parent[at] = frontier.parent[p] + begin[length - 1] if length > 1 else -1
        # One root, at the bottom; all others have heads.
        if not frontier.headed[p, 0] and frontier.headed[p, 1 : frontier.height[p]].all():
            root = frontier.stack[p, 0]
            share = lattice.arcs.root[root] - _waits(lattice, root, 0)
            nodes.final[at] = (
                frontier.logp[p]
                + share
                + ngram_logp(lattice.ngrams, frontier.previous[p], frontier.word[p], n)
            )


#: Hypotheses for each length and last word.
_BEAM = 32


def _times(weight: float, logp: Floats) -> Floats:
    """Return weighted logarithms; -inf stays -inf even with the weight 0."""
    return np.multiply(logp, weight, out=np.full_like(logp, -np.inf), where=logp > -np.inf)


def _read(nodes: _Nodes, number: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Read a sentence backward, then build its tree."""
    steps = []
    while number >= 0:
        steps.append((int(nodes.word[number]), int(nodes.kept[number]), int(nodes.partner[number])))
        number = int(nodes.parent[number])
    steps.reverse()
    return tuple(word for word, _, _ in steps), _heads_of([(kept, partner) for _, kept, partner in steps])


def _heads_of(steps: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """Return the position of each head, `ROOT` for none.

    Args:
        steps: for each word, the number of items of the stack that it does not govern, and the item that it
            modifies, -1 for none.

    >>> _heads_of([(0, -1), (0, -1), (1, 0)])  # she <- sleeps -> well
    (1, -1, 1)
    """
    stack: list[int] = []
    heads = [ROOT] * len(steps)
    for position, (kept, partner) in enumerate(steps):
        for item in stack[kept:]:
            if heads[item] == ROOT:
                heads[item] = position
        if partner >= 0:
            heads[position] = stack[partner]
            kept = partner + 1
        stack = [*stack[:kept], position]
    return tuple(heads)


class SupportedReader:
    """Reads the sentences of one cluster."""

    def __init__(
        self, words: Sequence[str], ngrams: Trigrams, arcs: Arcs, *, weight: float, emission: Floats
    ) -> None:
        self._words, self._ngrams, self._arcs = words, ngrams, arcs
        self._weight, self._emission = weight, emission

    def read(self, path: WordPath) -> tuple[tuple[TraceStep, ...], Tree]:
        """Return the trace of a sentence, and its tree.

        ``dep`` of a step is the product of the probabilities of its arcs, 1 without arcs; at the end it is
        the probability of the root.
        """
        edges = [self._edge(path, position) for position in range(len(path.words))]
        return self._trace(path, edges), Tree.of_heads(path.heads, edges)

    def _edge(self, path: WordPath, position: int) -> float:
        """Return the log-probability of the arc to a word, NaN at the root."""
        head, word = path.heads[position], path.words[position]
        if head == ROOT:
            return math.nan
        table = self._arcs.left if head < position else self._arcs.right
        earlier, later = sorted(((head, path.words[head]), (position, word)))
        return float(table[earlier[1], later[1]])

    def _trace(self, path: WordPath, edges: Sequence[float]) -> tuple[TraceStep, ...]:
        start_or_end, last = len(self._words), len(path.words)
        forms = [*(self._words[word] for word in path.words), RESERVED_WORDS[EOS]]
        root = float(self._arcs.root[path.words[path.heads.index(ROOT)]])
        appended = list(_append(path.heads, edges))
        # The end changes no stack.
        appended.append(Step(last, "end", None, root, (), appended[-1].stack))
        steps: list[TraceStep] = []
        logp, before = 0.0, (-1, start_or_end)
        for position, (word, step) in enumerate(zip((*path.words, start_or_end), appended, strict=True)):
            ngram = float(ngram_logp(self._ngrams, *before, word))
            before = (before[1], word)
            transition = (1 - self._weight) * ngram + self._weight * step.dep
            logp += transition + (float(self._emission[word]) if position < last else 0)
            dep = math.exp(step.dep)
            steps.append(step.traced(forms, math.exp(ngram), dep, math.exp(transition), logp))
        return tuple(steps)


def _append(heads: Sequence[int], edges: Sequence[float]) -> Iterator[Step]:
    """Yield the effect of each word of a tree on the stack, ``dep`` as the log-probability of its arcs."""
    stack: tuple[int, ...] = ()
    for position, head in enumerate(heads):
        governed = [at for at in stack if heads[at] == position]
        modifies = 0 <= head < position
        # From the first modifier on, or all above the head: popped items are complete.
        kept = stack.index(governed[0]) if governed else len(stack)
        kept = stack.index(head) + 1 if modifies else kept
        dep = sum(edges[at] for at in governed) + (edges[position] if modifies else 0)
        partner = head if modifies else governed[0] if governed else None
        popped, stack = stack[kept:], (*stack[:kept], position)
        rule: Rule = "modifies" if modifies else "governs" if governed else "push"
        yield Step(position, rule, partner, dep, popped, stack)
