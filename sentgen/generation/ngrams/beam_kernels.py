"""Beam search over the multiset of a bag's units, compiled; the tests have it in plain Python.

A hypothesis is a prefix of the sentence. Hypotheses with the same number of words share a stack, and a stack
is filled at once, from the stacks that are one unit before it: candidates with the same units and the same
states of all models are one hypothesis, and the best hypotheses are kept.

There are M models, the first of which is over words; a hypothesis has the weighted sum of their
log-probabilities. Words are here the symbols of a unit in a model.

Hypotheses are hashed with pseudo-random bits that are the same in each run (SplitMix64, Steele et al. 2014).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sentgen.arrays import Bits, Floats, Ints, compiled
from sentgen.models.ngrams.ngram_table import NgramTables, extend, score_words, table_at
from sentgen.schema.tables.corpus import EOS

#: 2^64 over the golden ratio: its multiples are spread evenly modulo 2^64.
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@compiled
def random_bits(number: int) -> np.uint64:
    """Return the random bits of a number, from 0."""
    return mixed(np.uint64(number) * _GOLDEN)


@compiled
def mixed(bits: np.uint64) -> np.uint64:
    """Return random bits for other bits."""
    bits = bits + _GOLDEN
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


_WORD = 64  # bits of a set that one number holds
#: The stacks of which a search records all edges.
NONE, LAST, ALL = 0, 1, 2


class BeamUnits(NamedTuple):
    """The K different units of a bag, sorted by length, the number of their words in the first model.

    Each of the U units of a bag has a bit. Copies of unit k have the bits ``bits[k]`` to ``bits[k + 1] - 1``,
    and are used in this order.
    """

    words: Ints  # local word ids of all different units, one after the other, model by model
    offsets: Ints  # (M, K + 1) unit k in model m is words[offsets[m, k]:offsets[m, k + 1]]
    by_length: Ints  # (longest + 2,) units of n words are by_length[n] to by_length[n + 1] - 1
    bits: Ints  # (K + 1,)
    ahead: Floats  # (K,) future cost of each unit


class BeamHypotheses(NamedTuple):
    """Hypotheses stack by stack; number 0 is the empty sentence, and the last one the best whole one."""

    logp: Floats  # (N,) weighted, of the words so far, with the end of a whole sentence
    ahead: Floats  # (N,) future cost of the units to come
    state: Ints  # (N, M) of each model; 0 for a whole sentence
    parent: Ints  # (N,)
    unit: Ints  # (N,) last unit
    used: Bits  # (N, ceil(U / 64)) set of bits
    mark: Bits  # (N,) hash of that set


class _BeamCandidates(NamedTuple):
    """Extensions of hypotheses by a unit, ordered by hypothesis and unit."""

    parent: Ints  # (C,)
    unit: Ints  # (C,)
    bit: Ints  # (C,) of that copy of the unit
    logp: Floats  # (C,)
    state: Ints  # (C, M)
    same: Ints  # (C,) the first candidate with the same hypothesis
    best: Ints  # (C,) the best candidate with the same hypothesis; of first candidates only


class Edges(NamedTuple):
    """All edges into the kept hypotheses, including recombined ones, stack by stack."""

    node: Ints  # (M,)
    parent: Ints  # (M,)
    unit: Ints  # (M,)
    logp: Floats  # (M,) of the words so far, by this edge


@compiled
def search(
    tables: NgramTables, weights: Floats, units: BeamUnits, beam: int, remembered: int
) -> tuple[BeamHypotheses, int, Edges, int]:
    """Find the best order of the units of a bag that is not empty.

    Args:
        tables: the models.
        weights: (M,) weights of their log-probabilities.
        units: the different units of the bag.
        beam: hypotheses to keep of a stack.
        remembered: which edges to return: `NONE`, `LAST` for those of whole sentences, or `ALL`.

    Returns:
        Hypotheses and their number, edges and their number; entries beyond these are undefined.

    Ties go to the first candidate in the order of hypothesis and unit.
    Time: beam * words * different units * models.
    """
    size = len(units.bits) - 1
    length = 0
    for k in range(size):
        length += (units.bits[k + 1] - units.bits[k]) * (units.offsets[0, k + 1] - units.offsets[0, k])
    # Arrays for full stacks, which need not grow: untouched pages cost no memory.
    nodes = _hypotheses(length * beam + 1, units.bits[size], len(weights))
    nodes.state[0] = tables.start
    for k in range(size):
        nodes.ahead[0] += units.ahead[k] * (units.bits[k + 1] - units.bits[k])
    begin = np.zeros(length + 2, np.int32)  # first hypothesis of each stack
    begin[1] = 1
    marks = _marks(units.bits[size])
    edges, ways = _edges(0), 0
    for stack in range(1, length + 1):
        extended = _extensions(units, nodes, begin, stack)
        _score(tables, weights, units, nodes, extended)
        if stack == length:
            _end_sentence(tables, weights, extended)
        _recombine(nodes, extended, marks)
        best_slots = _best(units, nodes, extended, beam)
        if remembered == ALL or (remembered == LAST and stack == length):
            edges, ways = _add_edges(edges, ways, extended, best_slots, begin[stack])
        _add_hypotheses(units, nodes, begin[stack], extended, best_slots, marks)
        begin[stack + 1] = begin[stack] + len(best_slots)
    return nodes, begin[length + 1], edges, ways


@compiled
def _extensions(units: BeamUnits, nodes: BeamHypotheses, begin: Ints, stack: int) -> _BeamCandidates:
    """Return all candidates for a stack, without scores."""
    longest = min(stack, len(units.by_length) - 2)
    bound = 0
    for n in range(1, longest + 1):
        choices = units.by_length[n + 1] - units.by_length[n]
        bound += choices * (begin[stack - n + 1] - begin[stack - n])
    extended = _candidates(bound, nodes.state.shape[1])
    count = 0
    # Longest units first: they extend older stacks, so that candidates are in the order of hypotheses.
    for n in range(longest, 0, -1):
        for node in range(begin[stack - n], begin[stack - n + 1]):
            for unit in range(units.by_length[n], units.by_length[n + 1]):
                bit, end = units.bits[unit], units.bits[unit + 1]
                # Copies are used in their order, else sets that differ in copies only would compete.
                while bit < end and _has(nodes.used, node, bit):
                    bit += 1
                if bit == end:
                    continue
                extended.parent[count], extended.unit[count], extended.bit[count] = node, unit, bit
                count += 1
    return _first_candidates(extended, count)


@compiled
def _score(
    tables: NgramTables, weights: Floats, units: BeamUnits, nodes: BeamHypotheses, extended: _BeamCandidates
) -> None:
    """Set log-probabilities and states of candidates."""
    for i in range(len(extended.parent)):
        extended.logp[i] = nodes.logp[extended.parent[i]]
    # Model by model: selecting a model costs as much as some candidates.
    for model in range(len(weights)):
        table = table_at(tables, model)
        offsets = units.offsets[model]
        for i in range(len(extended.parent)):
            unit = extended.unit[i]
            words = units.words[offsets[unit] : offsets[unit + 1]]
            logp, state = score_words(table, nodes.state[extended.parent[i], model], words)
            extended.logp[i] += weights[model] * logp
            extended.state[i, model] = state


@compiled
def _end_sentence(tables: NgramTables, weights: Floats, candidates: _BeamCandidates) -> None:
    """Add the end of the sentence to candidates that are whole sentences, with equal states."""
    for model in range(len(weights)):
        table = table_at(tables, model)
        for i in range(len(candidates.parent)):
            # All whole sentences share their states, so that they recombine into the one last hypothesis.
            logp, _ = extend(table, candidates.state[i, model], EOS)
            candidates.logp[i] += weights[model] * logp
            candidates.state[i, model] = 0


@compiled
def _recombine(nodes: BeamHypotheses, candidates: _BeamCandidates, marks: Bits) -> None:
    """Find the candidates with the same set and states, and the best candidate of each such class."""
    # At most half of the slots are filled, so that runs of probing stay short.
    bits = 4
    while 1 << bits < 2 * len(candidates.parent):
        bits += 1
    slots = np.full(1 << bits, -1, np.int32)
    for i in range(len(candidates.parent)):
        # Only a hash: equal sets have equal marks, and `_are_same` compares the sets.
        mark = nodes.mark[candidates.parent[i]] ^ marks[candidates.bit[i]]
        for model in range(candidates.state.shape[1]):
            mark = (mark ^ np.uint64(candidates.state[i, model])) * _GOLDEN
        slot = np.int64(mark >> np.uint64(64 - bits))
        while slots[slot] >= 0 and not _are_same(nodes, candidates, slots[slot], i):
            slot = (slot + 1) & (len(slots) - 1)
        if slots[slot] < 0:
            slots[slot] = candidates.best[i] = i
        first = slots[slot]
        candidates.same[i] = first
        # Not `>=`: ties go to the first one.
        if candidates.logp[i] > candidates.logp[candidates.best[first]]:
            candidates.best[first] = i


@compiled
def _are_same(nodes: BeamHypotheses, candidates: _BeamCandidates, first: int, second: int) -> bool:
    """Whether two candidates have the same set and states."""
    for model in range(candidates.state.shape[1]):
        if candidates.state[first, model] != candidates.state[second, model]:
            return False
    for word in range(nodes.used.shape[1]):
        if _word_with(nodes, candidates, first, word) != _word_with(nodes, candidates, second, word):
            return False
    return True


@compiled
def _word_with(nodes: BeamHypotheses, candidates: _BeamCandidates, candidate: int, word: int) -> np.uint64:
    """Return a word of bits of the set of a candidate."""
    part: np.uint64 = nodes.used[candidates.parent[candidate], word]
    bit = candidates.bit[candidate]
    return part | _single(bit) if bit // _WORD == word else part


@compiled
def _best(units: BeamUnits, nodes: BeamHypotheses, candidates: _BeamCandidates, beam: int) -> Ints:
    """Return the first candidates of the best classes, in their order; ties go to the first class."""
    classes = np.empty(len(candidates.parent), np.int32)
    cost = np.empty(len(candidates.parent))
    count = 0
    for i in range(len(candidates.parent)):
        if candidates.same[i] == i:
            best = candidates.best[i]
            classes[count] = i
            ahead = nodes.ahead[candidates.parent[best]] - units.ahead[candidates.unit[best]]
            cost[count] = -(candidates.logp[best] + ahead)
            count += 1
    if count <= beam:
        return classes[:count]
    # Not sorted: the stack keeps the order of candidates, on which ties in the next one depend.
    worst = np.partition(cost[:count], beam - 1)[beam - 1]
    ties = beam - np.count_nonzero(cost[:count] < worst)
    best_slots = np.empty(beam, np.int32)
    size = 0
    for i in range(count):
        if cost[i] < worst or (cost[i] == worst and ties > 0):
            ties -= cost[i] == worst
            best_slots[size] = classes[i]
            size += 1
    return best_slots


@compiled
def _add_hypotheses(
    units: BeamUnits,
    nodes: BeamHypotheses,
    begin: int,
    extended: _BeamCandidates,
    best_slots: Ints,
    marks: Bits,
) -> None:
    """Write the best candidates of the kept classes as hypotheses from number ``begin`` on."""
    for i in range(len(best_slots)):
        node, best = begin + i, extended.best[best_slots[i]]
        parent, unit, bit = extended.parent[best], extended.unit[best], extended.bit[best]
        nodes.logp[node] = extended.logp[best]
        # Number by number: copying a row takes longer.
        for model in range(nodes.state.shape[1]):
            nodes.state[node, model] = extended.state[best, model]
        nodes.ahead[node] = nodes.ahead[parent] - units.ahead[unit]
        nodes.parent[node], nodes.unit[node] = parent, unit
        nodes.used[node] = nodes.used[parent]
        nodes.used[node, bit // _WORD] |= _single(bit)
        nodes.mark[node] = nodes.mark[parent] ^ marks[bit]


@compiled
def _add_edges(
    edges: Edges, ways: int, candidates: _BeamCandidates, best: Ints, begin: int
) -> tuple[Edges, int]:
    """Add the candidates of the kept classes as edges; return the edges and their number."""
    nodes = np.full(len(candidates.parent), -1, np.int32)
    nodes[best] = np.arange(begin, begin + len(best))
    if ways + len(candidates.parent) > len(edges.node):
        # Twice the needed size: the time of copying stays linear in the number of edges.
        edges = _more_edges(edges, ways, 2 * (ways + len(candidates.parent)))
    for i in range(len(candidates.parent)):
        node = nodes[candidates.same[i]]
        if node >= 0:
            edges.node[ways], edges.parent[ways] = node, candidates.parent[i]
            edges.unit[ways], edges.logp[ways] = candidates.unit[i], candidates.logp[i]
            ways += 1
    return edges, ways


@compiled
def _has(used: Bits, node: int, bit: int) -> bool:
    """Whether a set has a bit."""
    return bool(used[node, bit // _WORD] & _single(bit))


@compiled
def _single(bit: int) -> np.uint64:
    """Return the part of a set that has one bit only."""
    return np.uint64(np.uint64(1) << np.uint64(bit % _WORD))


@compiled
def _marks(count: int) -> Bits:
    """Return random bits for each bit of a set."""
    marks = np.empty(count, np.uint64)
    for i in range(count):
        marks[i] = random_bits(i)
    return marks


@compiled
def _hypotheses(count: int, units: int, models: int) -> BeamHypotheses:
    """Allocate hypotheses, the first of which is the empty sentence; untouched pages cost no memory."""
    nodes = BeamHypotheses(
        np.empty(count),
        np.empty(count),
        np.empty((count, models), np.int32),
        np.empty(count, np.int32),
        np.empty(count, np.int32),
        np.empty((count, (units + _WORD - 1) // _WORD), np.uint64),
        np.empty(count, np.uint64),
    )
    nodes.logp[0], nodes.ahead[0], nodes.parent[0], nodes.unit[0] = 0.0, 0.0, -1, -1
    nodes.used[0], nodes.mark[0] = 0, 0
    return nodes


@compiled
def _candidates(count: int, models: int) -> _BeamCandidates:
    """Allocate candidates."""
    return _BeamCandidates(
        np.empty(count, np.int32),
        np.empty(count, np.int32),
        np.empty(count, np.int32),
        np.empty(count),
        np.empty((count, models), np.int32),
        np.empty(count, np.int32),
        np.empty(count, np.int32),
    )


@compiled
def _first_candidates(candidates: _BeamCandidates, count: int) -> _BeamCandidates:
    """Return the first ``count`` candidates."""
    return _BeamCandidates(
        candidates.parent[:count],
        candidates.unit[:count],
        candidates.bit[:count],
        candidates.logp[:count],
        candidates.state[:count],
        candidates.same[:count],
        candidates.best[:count],
    )


@compiled
def _edges(count: int) -> Edges:
    """Allocate edges."""
    return Edges(
        np.empty(count, np.int32), np.empty(count, np.int32), np.empty(count, np.int32), np.empty(count)
    )


@compiled
def _more_edges(edges: Edges, count: int, size: int) -> Edges:
    """Return a larger array with the first ``count`` edges."""
    wider = _edges(size)
    wider.node[:count], wider.parent[:count] = edges.node[:count], edges.parent[:count]
    wider.unit[:count], wider.logp[:count] = edges.unit[:count], edges.logp[:count]
    return wider
