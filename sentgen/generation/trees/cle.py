"""Chu-Liu/Edmonds: the most probable dependency tree (Wan et al. 2009, algorithm 1).

Of the two sides of an edge the better one counts. Arguments are not used: "while our adapted version of
the CLE algorithm finds an optimal spanning tree, this does not always correspond with a linguistically valid
dependency tree". Siblings are ordered by n-grams.

The maximum spanning tree of a dense directed graph (Chu and Liu 1965, Edmonds 1967) is found as follows. Grow
a path backwards: from any node take its best incoming edge, then that of the tail of the edge, and so on. If
the path arrives at a node that is connected to the root, all its nodes are. If it arrives at itself, there is
a cycle: contract the cycle to one node, where an edge into v loses the weight of v's edge in the cycle, and
continue from there (the order is that of Gabow, Galil, Spencer and Tarjan 1986). In the end unpack: the edge
that enters a contracted cycle replaces the cycle's own edge into the same node.
"""

from __future__ import annotations

import numpy as np

from sentgen.arrays import Bools, Floats, Ints, compiled
from sentgen.generation.bags.problem import Algorithm, Ordering, Problem
from sentgen.generation.ngrams.lmo import LmoSettings
from sentgen.generation.trees.trees import (
    Attachments,
    ConstraintSettings,
    RootSettings,
    best_orderings,
    siblings_by_ngrams,
    tree_value,
)


@compiled
def best_arborescence(weights: Floats) -> Ints:
    """Return the head of every node in the spanning tree with the greatest total weight.

    Args:
        weights: (n, n) finite, row = head, column = modifier; node 0 is the root. The diagonal and the first
            column are ignored.

    Returns:
        (n,) node of the head; -1 for the root. Ties go to the edge of the first head.
        Time and space: O(n^2).
    """
    size = len(weights)
    value = weights.copy()  # a copy, for contraction changes it
    # The edge between original nodes to which value[x, y] belongs.
    tail, tip = np.empty((size, size), np.int32), np.empty((size, size), np.int32)
    for x in range(size):
        for y in range(size):
            tail[x, y], tip[x, y] = x, y
    # A place has an original node, or a contracted cycle in the place of one of its members.
    node_at = np.arange(size)
    parent = np.full(2 * size, -1, np.int32)  # the contracted cycle of a node; fewer than n
    chosen = np.full((2 * size, 2), -1, np.int32)  # the edge that enters a node
    alive = np.ones(size, np.bool_)
    hangs = np.zeros(size, np.bool_)
    hangs[0] = True
    on_path = np.zeros(size, np.bool_)
    path, best = np.empty(size, np.int32), np.empty(size, np.int32)
    nodes = size
    for start in range(1, size):
        # A dead place was contracted into another place, which is already connected to the root.
        if hangs[start] or not alive[start]:
            continue
        path[0], length = start, 1
        on_path[start] = True
        while length:
            place = path[length - 1]
            source = _best_source(value, alive, place)
            best[place] = source
            chosen[node_at[place]] = tail[source, place], tip[source, place]
            if hangs[source]:
                # The whole path is connected: each node has its best edge from the next node.
                hangs[path[:length]], on_path[path[:length]] = True, False
                length = 0
            elif not on_path[source]:
                path[length] = source
                on_path[source] = True
                length += 1
            else:
                begin = _place_of(source, path, length)
                cycle = path[begin:length]
                _contract(value, tail, tip, alive, best, cycle)
                for other in cycle:
                    parent[node_at[other]] = nodes
                    on_path[other] = False
                node_at[source] = nodes
                on_path[source] = True
                nodes += 1
                # The path continues from the cycle, in the place of its first node.
                length = begin + 1
    return _unpack(parent[:nodes], chosen[:nodes], size)


@compiled
def _best_source(value: Floats, alive: Bools, node: int) -> int:
    source = -1
    for other in range(len(value)):
        if alive[other] and other != node and (source < 0 or value[other, node] > value[source, node]):
            source = other
    return source


@compiled
def _place_of(node: int, path: Ints, length: int) -> int:
    """Return the index of a node on the path."""
    index = length - 1
    while path[index] != node:
        index -= 1
    return index


@compiled
def _contract(value: Floats, tail: Ints, tip: Ints, alive: Bools, best: Ints, cycle: Ints) -> None:
    """Put a cycle in the place of its first node: its best edges out, and its best edges in minus its own."""
    home = cycle[0]
    lost = np.empty(len(cycle))
    for i, place in enumerate(cycle):
        lost[i] = value[best[place], place]
        alive[place] = False
    for other in range(len(value)):
        if not alive[other]:
            continue
        # Only strictly better edges: ties go to the first node of the cycle.
        out, into = cycle[0], cycle[0]
        gain = value[other, home] - lost[0]
        for i in range(1, len(cycle)):
            if value[cycle[i], other] > value[out, other]:
                out = cycle[i]
            if value[other, cycle[i]] - lost[i] > gain:
                into, gain = cycle[i], value[other, cycle[i]] - lost[i]
        value[home, other] = value[out, other]
        tail[home, other], tip[home, other] = tail[out, other], tip[out, other]
        value[other, home] = gain
        tail[other, home], tip[other, home] = tail[other, into], tip[other, into]
    alive[home] = True


@compiled
def _unpack(parent: Ints, chosen: Ints, size: int) -> Ints:
    """Return the heads of the original nodes, from the outermost cycles inwards."""
    heads = np.full(size, -1, np.int32)
    entered = np.zeros(len(parent), np.bool_)
    # Later nodes contain earlier ones: descending numbers reach each cycle before the nodes inside it.
    for node in range(len(parent) - 1, 0, -1):
        if entered[node]:
            continue
        head, modifier = chosen[node]
        heads[modifier] = head
        inner = modifier
        while inner != node:
            entered[inner] = True
            inner = parent[inner]
    return heads


def order_units(problem: Problem, nbest: int = 1) -> list[Ordering]:
    """Order a bag by its best tree; see `sentgen.generation.trees.trees.best_orderings` for further answers.

    Ties go to the root, then to the first unit, and to the left side. Time: quadratic.
    """
    return best_orderings(problem, nbest, search, siblings_by_ngrams)


def search(problem: Problem, edges: Floats) -> Attachments:
    """Return the best tree, with one modifier of the root if the settings say so.

    For that, all edges of the root lose more than all other edges could gain (the graph is complete, so that
    a tree with one edge of the root exists).
    """
    size = edges.shape[1]
    nodes = np.full((size + 1, size + 1), -np.inf)
    nodes[:, 1:] = edges.max(axis=2)
    if problem.settings.of(RootSettings).one_root and size:
        finite = nodes[np.isfinite(nodes)]
        # Just more than the largest difference of all other edges: larger numbers would cost digits of the
        # sums.
        nodes[0] -= size * (finite.max() - finite.min()) + 1
    heads = best_arborescence(nodes)[1:] - 1
    units = np.arange(size)
    # `argmax` takes the first of ties, which is LEFT.
    sides = edges[heads + 1, units].argmax(axis=1).astype(np.int32)
    return Attachments(heads, sides, np.zeros(size, np.int32), edges[heads + 1, units, sides])


ALGORITHMS = (
    Algorithm(
        "cle",
        "Chu-Liu/Edmonds' best tree, siblings ordered by n-grams (2009)",
        order_units,
        tree_value,
        settings=(LmoSettings, ConstraintSettings, RootSettings),
        defaults={"verb_root": False, "noun_under_noun": True},
        published={"2009": {"one_root": False}},
        trees=True,
    ),
)
