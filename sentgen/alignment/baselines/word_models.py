"""IBM Model 1 (Brown et al. 1993) and the HMM of word alignment (Vogel et al. 1996), with compiled loops.

In Model 1 every target word comes from any source word, or from null, independently of the others. In the HMM
the position of its source word depends on that of the target word before:

p(i | i', I) = c(i - i') / sum_k c(k - i') over the I source words, mixed with the uniform distribution; null
keeps the position and has the probability p0 (Och & Ney 2003, sec. 2.1.2). As in the 2004 paper the table
comes from Model 1, and `hmm` takes the abstract for the source, `hmm-flipped` the document.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sentgen.alignment.baselines.bitext import (
    NULL,
    SENTENCES,
    USUAL_JOIN,
    Bitext,
    Join,
    Side,
    alignments,
    bitext,
    join_links,
    units,
)
from sentgen.alignment.pairs.alignment import Alignment, Link, Pair
from sentgen.arrays import Floats, Ints, compiled


@compiled
def model1_counts(bitext: Bitext, table: Floats, counts: Floats) -> float:
    """Add the expected counts of the parameters to ``counts``; return the log-probability of all targets."""
    logp = 0.0
    for k in range(len(bitext.starts)):
        width = bitext.columns[k]
        for row in range(bitext.rows[k]):
            start = bitext.starts[k] + row * width
            total = 0.0
            for i in range(start, start + width):
                total += table[bitext.cells[i]]
            # All source words, null included, are equally likely.
            logp += np.log(total / width)
            for i in range(start, start + width):
                counts[bitext.cells[i]] += table[bitext.cells[i]] / total
    return logp


@compiled
def model1_best(bitext: Bitext, table: Floats, k: int) -> Ints:
    """Return for each target word of sentence pair k the best column; ties go to words, then to the first."""
    width = bitext.columns[k]
    best = np.zeros(bitext.rows[k], np.int32)
    for row in range(bitext.rows[k]):
        start = bitext.starts[k] + row * width
        for i in range(1, width):
            value = table[bitext.cells[start + i]]
            held = table[bitext.cells[start + best[row]]]
            if value > held or (value == held and best[row] == 0):
                best[row] = i
    return best


@compiled
def _transitions(jump: Floats, length: int, smoothing: float) -> Floats:
    """Return p(i | i'), (length, length), row = i', from weights of jumps -reach..reach."""
    reach = len(jump) // 2
    matrix = np.empty((length, length))
    for before in range(length):
        total = 0.0
        for after in range(length):
            matrix[before, after] = jump[reach + max(-reach, min(reach, after - before))]
            total += matrix[before, after]
        for after in range(length):
            matrix[before, after] = (1 - smoothing) * matrix[before, after] / total + smoothing / length
    return matrix


@compiled
def _emissions(bitext: Bitext, table: Floats, k: int) -> Floats:
    """Return t(target word | source word), (rows, columns), column 0 = null."""
    out = np.empty((bitext.rows[k], bitext.columns[k]))
    for row in range(out.shape[0]):
        for i in range(out.shape[1]):
            out[row, i] = table[bitext.cells[bitext.starts[k] + row * out.shape[1] + i]]
    return out


@compiled
def _times(vector: Floats, matrix: Floats) -> Floats:
    """Return vector @ matrix row by row, which is as fast; numba needs scipy for the operator."""
    out = np.zeros(matrix.shape[1])
    for i in range(len(vector)):
        weight, row = vector[i], matrix[i]
        for j in range(len(row)):
            out[j] += weight * row[j]
    return out


@compiled
def _add_jumps(weight: float, learnt: Floats, arrive: Floats, before: int, jump_counts: Floats) -> None:
    """Add the expected counts of jumps from one word to each; jumps out of reach count as the longest one."""
    reach = len(jump_counts) // 2
    near, far = max(0, before - reach), min(len(learnt), before + reach + 1)
    for after in range(near):
        jump_counts[0] += weight * learnt[after] * arrive[after]
    # Slices, so that the loop over cells becomes vector instructions.
    cells, some, ends = jump_counts[reach + near - before :], learnt[near:far], arrive[near:far]
    for i in range(len(some)):
        cells[i] += weight * some[i] * ends[i]
    for after in range(far, len(learnt)):
        jump_counts[2 * reach] += weight * learnt[after] * arrive[after]


@compiled
def hmm_counts(
    bitext: Bitext,
    table: Floats,
    jump: Floats,
    null: float,
    smoothing: float,
    counts: Floats,
    jump_counts: Floats,
) -> float:
    """Add the expected counts of the parameters and of the jumps; return the log-probability.

    Forward and backward, scaled. ``ahead[i]`` is the probability of the target words before t with position i
    remembered, whether the last of them comes from word i or from null.
    """
    logp = 0.0
    for k in range(len(bitext.starts)):
        emission = _emissions(bitext, table, k)
        rows, length = emission.shape[0], emission.shape[1] - 1
        move = _transitions(jump, length, smoothing)
        word = np.empty((rows, length))
        empty = np.empty((rows, length))
        scale = np.empty(rows)
        for t in range(rows):
            if t == 0:
                word[0] = (1 - null) / length * emission[0, 1:]
                empty[0] = null / length * emission[0, 0]
            else:
                ahead = word[t - 1] + empty[t - 1]
                word[t] = (1 - null) * _times(ahead, move) * emission[t, 1:]
                empty[t] = null * ahead * emission[t, 0]
            scale[t] = word[t].sum() + empty[t].sum()
            word[t] /= scale[t]
            empty[t] /= scale[t]
            logp += np.log(scale[t])
        behind = np.ones(length)
        moved = move.T.copy()
        # Only the part of the transition that is not smoothing is evidence of a jump.
        learnt = move - smoothing / length
        for t in range(rows - 1, -1, -1):
            base = bitext.starts[k] + t * (length + 1)
            for i in range(length):
                counts[bitext.cells[base + 1 + i]] += word[t, i] * behind[i]
                counts[bitext.cells[base]] += empty[t, i] * behind[i]
            if t == 0:
                break
            ahead = word[t - 1] + empty[t - 1]
            arrive = (1 - null) * emission[t, 1:] * behind / scale[t]
            for before in range(length):
                _add_jumps(ahead[before], learnt[before], arrive, before, jump_counts)
            # Null keeps the position, so that its part makes no jump.
            behind = _times(arrive, moved) + null * emission[t, 0] * behind / scale[t]
    return logp


@compiled
def hmm_best(bitext: Bitext, table: Floats, jump: Floats, null: float, smoothing: float, k: int) -> Ints:
    """Return for each target word of sentence pair k its column on the best path, 0 for null.

    Ties go to words before null, then to the earliest source word.
    """
    # Not the log of 0: paths through unseen word pairs still have different scores.
    emission = np.log(np.maximum(_emissions(bitext, table, k), 1e-300))
    rows, length = emission.shape[0], emission.shape[1] - 1
    move = np.log((1 - null) * _transitions(jump, length, smoothing))
    # State i is word i; state length + i is null after word i.
    back = np.zeros((rows, 2 * length), np.int32)
    score = np.empty(2 * length)
    score[:length] = np.log((1 - null) / length) + emission[0, 1:]
    score[length:] = np.log(null / length) + emission[0, 0]
    for t in range(1, rows):
        # Both states of a position have the same transitions: only the better one matters to the next word.
        from_null = score[length:] > score[:length]
        ahead = np.maximum(score[:length], score[length:])
        for i in range(length):
            best = 0
            for before in range(1, length):
                if ahead[before] + move[before, i] > ahead[best] + move[best, i]:
                    best = before
            score[i] = ahead[best] + move[best, i] + emission[t, 1 + i]
            back[t, i] = best + length * int(from_null[best])
            score[length + i] = ahead[i] + np.log(null) + emission[t, 0]
            back[t, length + i] = i + length * int(from_null[i])
    state = int(np.argmax(score))
    columns = np.zeros(rows, np.int32)
    for t in range(rows - 1, -1, -1):
        columns[t] = state + 1 if state < length else 0
        state = int(back[t, state])
    return columns


@dataclass(frozen=True, slots=True)
class Model1:
    """The aligner `model1`; it learns from the training pairs and from the pairs to align.

    Args:
        training: pairs to learn from.
        iterations: iterations of EM, from the uniform table.
        source: the text that generates the other.
        sentences: document sentences for an abstract sentence; 0 for whole texts.
    """

    training: tuple[Pair, ...] = ()
    iterations: int = 5
    source: Side = "document"
    sentences: int = SENTENCES
    name: str = "model1"

    def align(self, pairs: Sequence[Pair]) -> Iterator[Alignment]:
        """Align pairs: the most probable source word of each target word."""
        both = units(pairs, self.training, source=self.source, sentences=self.sentences)
        text = bitext(both)
        table, _ = train_model1(text, self.iterations)
        links = (_links(model1_best(text, table, k), self.source) for k in range(len(both)))
        yield from alignments(len(pairs), both, links)


def _links(columns: Ints, source: Side) -> Iterator[Link]:
    """Yield the links (document, abstract) of a sentence pair by the column of each target word."""
    for row, column in enumerate(columns.tolist()):
        if column != NULL:
            yield (column - 1, row) if source == "document" else (row, column - 1)


def train_model1(text: Bitext, iterations: int) -> tuple[Floats, list[float]]:
    """Return t(target | source), (P,), and the log-probability of all targets before each iteration."""
    # Any constant will do: the first E step normalizes it.
    table = np.full(len(text.sources), 1 / max(len(text.sources), 1))
    logp = []
    for _ in range(iterations):
        counts = np.zeros(len(table))
        logp.append(model1_counts(text, table, counts))
        table = _normalize(text, counts)
    return table, logp


def _normalize(text: Bitext, counts: Floats) -> Floats:
    """Divide the count of each parameter by that of its source word."""
    totals = np.bincount(text.sources, counts)[text.sources]
    return np.divide(counts, totals, out=np.zeros(len(counts)), where=totals > 0)


#: Longest jump with a count of its own; longer ones share the count of this one.
_REACH = 200


@dataclass(frozen=True, slots=True)
class WordHMM:
    """The aligners `hmm` and `hmm-flipped`; they learn from the training pairs and from the pairs to align.

    Args:
        training: pairs to learn from.
        source: the text that generates the other.
        iterations: iterations of EM of the HMM.
        model1_iterations: iterations of EM of Model 1 before.
        null: p0, the probability that a word comes from null.
        smoothing: weight of the uniform distribution in that of jumps.
        sentences: document sentences for an abstract sentence; 0 for whole texts.
    """

    training: tuple[Pair, ...] = ()
    source: Side = "abstract"
    iterations: int = 5
    model1_iterations: int = 5
    null: float = 0.2
    smoothing: float = 0.2
    sentences: int = SENTENCES
    name: str = "hmm"

    def align(self, pairs: Sequence[Pair]) -> Iterator[Alignment]:
        """Align pairs: the most probable path through the source words."""
        both = units(pairs, self.training, source=self.source, sentences=self.sentences)
        text = bitext(both)
        table, _ = train_model1(text, self.model1_iterations)
        table, jump, _ = train_hmm(text, table, self.iterations, null=self.null, smoothing=self.smoothing)
        best = (hmm_best(text, table, jump, self.null, self.smoothing, k) for k in range(len(both)))
        yield from alignments(len(pairs), both, (_links(columns, self.source) for columns in best))


@dataclass(frozen=True, slots=True)
class SymmetricHMM:
    """The aligner `hmm-symmetric`: the joined links of both directions of ``basis``."""

    basis: WordHMM
    join: Join = USUAL_JOIN
    name: str = "hmm-symmetric"

    def align(self, pairs: Sequence[Pair]) -> Iterator[Alignment]:
        """Align pairs in both directions and join the links."""
        flipped = replace(self.basis, source="document").align(pairs)
        basic = replace(self.basis, source="abstract").align(pairs)
        for document_links, abstract_links in zip(flipped, basic, strict=True):
            yield Alignment.of_links(join_links(document_links.links, abstract_links.links, self.join))


def train_hmm(
    text: Bitext, table: Floats, iterations: int, *, null: float, smoothing: float
) -> tuple[Floats, Floats, list[float]]:
    """Return t(target | source), the weights of jumps, and the log-probability before each iteration.

    As in Vogel et al., the M step ignores that the weights are normalized over each sentence, so that the
    log-probability nearly always rises, but need not.
    """
    reach = min(_REACH, max(int(text.columns.max(initial=1)) - 1, 1))
    jump = np.ones(2 * reach + 1)
    logp = []
    for _ in range(iterations):
        counts, jump_counts = np.zeros(len(table)), np.zeros(len(jump))
        logp.append(hmm_counts(text, table, jump, null, smoothing, counts, jump_counts))
        table = _normalize(text, counts)
        # An unseen jump keeps a little weight, or a short sentence may have no possible jump.
        jump = jump_counts + 1e-6 * max(float(jump_counts.sum()), 1.0)
    return table, jump, logp
