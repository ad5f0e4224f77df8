"""Inference over states as the paper writes it: plain, and quadratic in the number of states.

A state is a document phrase or null at a position; the tables are those of the paper (tables 2 and 3). Tests
compare the compiled lattice with it, and the benchmark measures what factoring gains.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from whole_pairs import Posterior

from sentgen.alignment.phrase_hmm.inference import Chain, Emission, Jumps
from sentgen.arrays import Floats

State = tuple[int, int]  # first position and width; (e, 0) is null at e


def jump_weight(jumps: Jumps, distance: int) -> float:
    """Return j(distance)."""
    window = len(jumps.near) // 2
    if -window <= distance <= window:
        return float(jumps.near[distance + window])
    for cell in range(len(jumps.far)):
        if jumps.first[cell] <= distance <= jumps.last[cell]:
            return float(jumps.far[cell])
    return 0.0


def states(emission: Emission, chain: Chain) -> list[State]:
    """Return all states: phrases of the widths that occur, and null at each position."""
    n = len(emission.document)
    widths = sorted({1, *emission.events.width.tolist()})
    phrases = [(i, k) for k in widths for i in range(1, n + 2 - k)]
    return phrases + [(e, 0) for e in range(1 if chain.null_moves else 0, n + 1)]


def last(state: State) -> int:
    """Return the position at which a state leaves."""
    return state[0] + max(state[1], 1) - 1


def transition(chain: Chain, position: int, state: State) -> float:
    """Return the probability of going from a position to a state (Daumé & Marcu 2004, table 3)."""
    if state[1] == 0 and not chain.null_moves:
        return chain.p0 if state[0] == position else 0.0
    jump = jump_weight(chain.jumps, state[0] - position) / float(chain.total[position])
    return jump * (chain.p0 if state[1] == 0 else 1 - chain.p0)


def emissions(emission: Emission, all_states: list[State]) -> dict[int, Floats]:
    """Return, by length, the probability of each state emitting that many words from each start, (m, S)."""
    m = len(emission.null)
    index = {state: number for number, state in enumerate(all_states)}
    words = emission.words[emission.abstract][:, emission.document]
    by_length = {length: np.zeros((m, len(all_states))) for length in {1, *emission.events.length.tolist()}}
    for (i, k), number in index.items():
        by_length[1][:, number] = emission.null if k == 0 else words[:, i - 1] if k == 1 else 0.0
    for one in range(len(emission.events.start)):
        state = (int(emission.events.position[one]), int(emission.events.width[one]))
        by_length[int(emission.events.length[one])][emission.events.start[one], index[state]] += (
            emission.prob[one]
        )
    return by_length


class Tables(NamedTuple):
    """The transitions between S states, into them, and out of them to the end; the emissions by length.

    ``anywhere`` are the transitions into them from any position, 0 to n, each as likely as the other.
    """

    states: list[State]
    moves: Floats  # (S, S)
    begin: Floats  # (S,)
    anywhere: Floats  # (S,)
    finish: Floats  # (S,)
    emitted: dict[int, Floats]  # (m, S)


def tables(emission: Emission, chain: Chain) -> Tables:
    """Return the tables of all transitions and emissions."""
    n = len(emission.document)
    all_states = states(emission, chain)
    return Tables(
        all_states,
        np.array([[transition(chain, last(a), b) for b in all_states] for a in all_states]),
        np.array([transition(chain, 0, state) for state in all_states]),
        np.array([np.mean([transition(chain, e, state) for e in range(n + 1)]) for state in all_states]),
        np.array([transition(chain, last(state), (n + 1, 1)) for state in all_states]),
        emissions(emission, all_states),
    )


def infer_plainly(emission: Emission, chain: Chain) -> Posterior:
    """Return likelihood and posteriors of words, events and null by sums over pairs of states, unscaled."""
    return infer_from(tables(emission, chain), emission, chain)


def infer_from(written: Tables, emission: Emission, chain: Chain) -> Posterior:
    """Return likelihood and posteriors from tables, by a product with the matrix of states a word and length."""
    m, n = len(emission.abstract), len(emission.document)
    all_states, moves, begin, anywhere, finish, emitted = written
    alpha, beta = np.zeros((m + 1, len(all_states))), np.zeros((m + 1, len(all_states)))
    entered = np.zeros((m, len(all_states)))
    for t in range(m):
        forgotten = emission.forget[t]
        entered[t] = (1 - forgotten) * (begin if t == 0 else alpha[t] @ moves)
        entered[t] += forgotten * anywhere * (1.0 if t == 0 else alpha[t].sum())
        for length, prob in emitted.items():
            if t + length <= m:
                alpha[t + length] += entered[t] * prob[t]
    beta[m] = finish
    for t in range(m - 1, 0, -1):
        for length, prob in emitted.items():
            if t + length <= m:
                after = prob[t] * beta[t + length]
                beta[t] += (1 - emission.forget[t]) * (moves @ after) + emission.forget[t] * anywhere @ after
    likelihood = float(alpha[m] @ finish) if m else transition(chain, 0, (n + 1, 1))
    index = {state: number for number, state in enumerate(all_states)}
    gamma = entered * emitted[1] * beta[1:] / likelihood
    words = gamma[:, :n]
    events = [
        entered[t, index[i, k]] * prob * beta[t + length, index[i, k]] / likelihood
        for t, length, i, k, prob in zip(*emission.events[:4], emission.prob, strict=True)
    ]
    null = gamma[:, [number for (_, k), number in index.items() if k == 0]].sum(axis=1)
    return Posterior(
        logp=float(np.log(likelihood)),
        words=words,
        null=null,
        events=np.array(events),
        jumps=np.empty(0),
        departures=np.zeros(n + 1),
    )
