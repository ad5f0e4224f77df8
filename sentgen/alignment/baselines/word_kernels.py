"""The inner loops of IBM Model 1 and the HMM, compiled; `word_reference` of the tests defines them."""

from __future__ import annotations

import numpy as np

from sentgen.alignment.baselines.bitext import Bitext
from sentgen.arrays import Floats, Ints, compiled


@compiled
def model1_counts(bitext: Bitext, table: Floats, counts: Floats) -> float:
    """Add the expected counts of the parameters and return the log-probability of all targets."""
    logp = 0.0
    for k in range(len(bitext.starts)):
        width = bitext.columns[k]
        for row in range(bitext.rows[k]):
            start = bitext.starts[k] + row * width
            total = 0.0
            for i in range(start, start + width):
                total += table[bitext.cells[i]]
            # Each source word, null among them, is as likely as the others.
            logp += np.log(total / width)
            for i in range(start, start + width):
                counts[bitext.cells[i]] += table[bitext.cells[i]] / total
    return logp


@compiled
def model1_best(bitext: Bitext, table: Floats, k: int) -> Ints:
    """Return for each target word of sentence pair k the best column; ties go to words, then to the left."""
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
def transitions(jump: Floats, length: int, smoothing: float) -> Floats:
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
    """Return vector @ matrix, for which numba would need scipy; row by row, which is as fast."""
    out = np.zeros(matrix.shape[1])
    for i in range(len(vector)):
        weight, row = vector[i], matrix[i]
        for j in range(len(row)):
            out[j] += weight * row[j]
    return out


@compiled
def _add_jumps(weight: float, learnt: Floats, arrive: Floats, before: int, jump_counts: Floats) -> None:
    """Add the expected counts of jumps from one word to each; those out of reach count for the longest."""
    reach = len(jump_counts) // 2
    near, far = max(0, before - reach), min(len(learnt), before + reach + 1)
    for after in range(near):
        jump_counts[0] += weight * learnt[after] * arrive[after]
    # One cell for each word: as slices, so that the loop over them becomes vector instructions.
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
        move = transitions(jump, length, smoothing)
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
        # Only the part of the transition that is not smoothing tells of the jump.
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
            # Null keeps the position, and so its part is not moved.
            behind = _times(arrive, moved) + null * emission[t, 0] * behind / scale[t]
    return logp


@compiled
def hmm_best(bitext: Bitext, table: Floats, jump: Floats, null: float, smoothing: float, k: int) -> Ints:
    """Return for each target word of sentence pair k its column on the best path, 0 for null.

    Ties go to the earliest source word; to words before null.
    """
    # Not the log of 0: paths through words that were never seen together still differ.
    emission = np.log(np.maximum(_emissions(bitext, table, k), 1e-300))
    rows, length = emission.shape[0], emission.shape[1] - 1
    move = np.log((1 - null) * transitions(jump, length, smoothing))
    # State i is word i; state length + i is null after word i.
    back = np.zeros((rows, 2 * length), np.int32)
    score = np.empty(2 * length)
    score[:length] = np.log((1 - null) / length) + emission[0, 1:]
    score[length:] = np.log(null / length) + emission[0, 0]
    for t in range(1, rows):
        # The better of the two states that remember the same position is all that a next word can see.
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
