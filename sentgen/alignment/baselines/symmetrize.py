"""One alignment from two directions, such as grow-diag-final-and (Koehn et al. 2003; as in Moses).

Forward, each abstract word comes from one document word at most; backward, the reverse.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import Literal

from sentgen.alignment.alignment import Link

#: What is made of the links of the two directions.
Join = Literal["grow-diag-final-and", "intersection", "forward", "backward"]
USUAL_JOIN: Join = "grow-diag-final-and"

_NEIGHBORS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


def joined(forward: Set[Link], backward: Set[Link], join: Join) -> set[Link]:
    """Make one set of links from two directions."""
    if join == USUAL_JOIN:
        return grow_diag_final_and(forward, backward)
    return set({"intersection": forward & backward, "forward": forward, "backward": backward}[join])


def grow_diag_final_and(one: Set[Link], other: Set[Link]) -> set[Link]:
    """Join the links of two directions.

    Start with the links of both. Again and again add links of either that touch one that is in, diagonally
    too, if one of their words has none yet. Last, add links of ``one``, then of ``other``, if both of their
    words have none yet. Links are taken in ascending order.

    >>> sorted(grow_diag_final_and({(0, 0), (1, 1), (3, 2)}, {(0, 0), (1, 2)}))
    [(0, 0), (1, 1), (1, 2)]
    """
    links = set(one & other)
    either = one | other
    left, right = {i for i, _ in links}, {j for _, j in links}

    def add(link: Link) -> None:
        # The words are taken at once: a link that is added shuts out those behind it.
        links.add(link)
        left.add(link[0])
        right.add(link[1])

    grown = True
    while grown:
        grown = False
        # A list of those that were in: what is added now has its turn in the next round.
        for i, j in sorted(links):
            for di, dj in _NEIGHBORS:
                near = (i + di, j + dj)
                if near in either and near not in links and (near[0] not in left or near[1] not in right):
                    add(near)
                    grown = True
    for link in _ascending(one, other):
        if link[0] not in left and link[1] not in right:
            add(link)
    return links


def _ascending(*sets: Iterable[Link]) -> Iterable[Link]:
    return (link for links in sets for link in sorted(links))
