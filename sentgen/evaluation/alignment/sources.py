"""From which sentence of its document each abstract sentence is: that to which most of its words lead."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable

from sentgen.alignment import Alignment, Link, Pair
from sentgen.evaluation.alignment.gold import GoldLinks


def count_sources(
    pair: Pair, answer: Alignment, gold: GoldLinks, ignored: Collection[str]
) -> dict[str, list[int]]:
    """Return by scope the abstract sentences whose source is that of the gold, and those that have one there.

    The source is the document sentence to which most of the links lead, sure ones of the gold; of several the
    first one of the system, and any of the gold. A document of one sentence has nothing to choose, and counts
    for nothing. Sentences are those that the pair knows, in pseudo-documents the texts.
    """
    if len(pair.document_starts) < 2:
        return {"": [0, 0], ":content": [0, 0]}
    counts = {}
    for scope in ("", ":content"):
        left_out = ignored if scope else ()
        drawn, sure = (_links_by_sentence(pair, links, left_out) for links in (answer.links, gold.sure))
        right = 0
        for sentence, of in sure.items():
            found = drawn.get(sentence)
            right += found is not None and of[_first_of_most(found)] == max(of.values())
        counts[scope] = [right, len(sure)]
    return counts


def _first_of_most(counts: Counter[int]) -> int:
    return min(counts, key=lambda place: (-counts[place], place))


def _links_by_sentence(
    pair: Pair, links: Iterable[Link], left_out: Collection[str]
) -> dict[int, Counter[int]]:
    """Return by abstract sentence how many links lead to each document sentence."""
    found: dict[int, Counter[int]] = {}
    for i, j in links:
        if pair.document[i].lower() in left_out or pair.abstract[j].lower() in left_out:
            continue
        source, sentence = (
            bisect_right(starts, place)
            for starts, place in ((pair.document_starts, i), (pair.abstract_starts, j))
        )
        found.setdefault(sentence, Counter())[source] += 1
    return found
