"""Chu-Liu/Edmonds: the most probable dependency tree (Wan et al. 2009, algorithm 1).

Of the two directions of an edge the better one counts. Arguments play no part: "while our adapted version of
the CLE algorithm finds an optimal spanning tree, this does not always correspond with a linguistically valid
dependency tree". Siblings are ordered by n-grams.
"""

from __future__ import annotations

import numpy as np

from sentgen.arrays import Floats
from sentgen.generation.bags.problem import Algorithm, Ordering, Problem
from sentgen.generation.ngrams.lmo import LmoSettings
from sentgen.generation.trees.arborescence import best_arborescence
from sentgen.generation.trees.trees import (
    Attachments,
    ConstraintSettings,
    RootSettings,
    best_orderings,
    by_ngrams,
    tree_value,
)


def order_units(problem: Problem, nbest: int = 1) -> list[Ordering]:
    """Order a bag by its best tree; see `sentgen.generation.trees.trees.best_orderings` for further answers.

    Of equal heads the root is taken, then the first unit; of equal sides the left. Time: quadratic.
    """
    return best_orderings(problem, nbest, search, by_ngrams)


def search(problem: Problem, edges: Floats) -> Attachments:
    """Return the best tree, with one modifier of the root if the settings say so.

    For that, all edges of the root lose more than any other edges could win back (the graph is complete, so
    a tree with one of them exists).
    """
    size = edges.shape[1]
    nodes = np.full((size + 1, size + 1), -np.inf)
    nodes[:, 1:] = edges.max(axis=2)
    if problem.settings.of(RootSettings).one_root and size:
        finite = nodes[np.isfinite(nodes)]
        # Just more than all other edges can differ by: with a larger number sums would lose digits.
        nodes[0] -= size * (finite.max() - finite.min()) + 1
    heads = best_arborescence(nodes)[1:] - 1
    units = np.arange(size)
    # `argmax` takes the first of equals, which is LEFT.
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
