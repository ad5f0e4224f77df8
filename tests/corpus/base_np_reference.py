"""Reference in plain Python for base noun phrases and function words as heads, one sentence at a time."""

from __future__ import annotations

import itertools

from sentgen.corpus.base_np import NOMINAL

_INSIDE = {"det", "amod", "compound", "nummod", "flat"}
_FUNCTION = {"case", "mark", "aux", "cop"}


def base_nps(upos: list[str], heads: list[int], deprels: list[str]) -> list[int]:
    """Return the number of the base noun phrase of each token, 0 outside (see `sentgen.corpus.base_np`).

    >>> base_nps(["DET", "ADJ", "NOUN", "VERB"], [3, 3, 4, 0], ["det", "amod", "nsubj", "root"])
    [1, 1, 1, 0]
    """
    size = len(heads)
    depths = _depths(heads)
    nominal = [position for position, tag in enumerate(upos, 1) if tag in NOMINAL]
    # A stable sort: of equally deep ones the left one comes first.
    nominal.sort(key=depths.__getitem__)
    owner = [0] * (size + 2)
    for top in nominal:
        if owner[top]:
            continue
        owner[top] = top
        for step in (-1, 1):
            position = top + step
            while 0 < position <= size and not owner[position]:
                if not _reaches(position, top, owner, heads, deprels, depths):
                    break
                owner[position] = top
                position += step
    return _numbered(owner[1 : size + 1])


def _depths(heads: list[int]) -> list[int]:
    """Return the distance of each token from the root (index 0 is the root above); linear, iterative."""
    depths = [0] + [-1] * len(heads)
    for start in range(1, len(heads) + 1):
        path = []
        node = start
        while depths[node] < 0:
            path.append(node)
            node = heads[node - 1]
        depth = depths[node]
        # Each token is on one path only, so that all paths together are linear.
        for node in reversed(path):
            depth += 1
            depths[node] = depth
    return depths


def _reaches(
    position: int, top: int, owner: list[int], heads: list[int], deprels: list[str], depths: list[int]
) -> bool:
    """Climb to the child of ``top`` above a token, or to a token that is known to be inside."""
    node, depth = position, depths[top] + 1
    while depths[node] > depth and owner[node] != top:
        node = heads[node - 1]
    if depths[node] > depth:
        return True
    if depths[node] != depth or heads[node - 1] != top:
        return False
    return deprels[node - 1] == "nmod:poss" or deprels[node - 1].split(":")[0] in _INSIDE


def _numbered(owner: list[int]) -> list[int]:
    numbers, latest, previous = [], 0, 0
    for top in owner:
        if top and top != previous:
            latest += 1
        numbers.append(latest if top else 0)
        previous = top
    return numbers


def promoted(heads: list[int], deprels: list[str]) -> list[int]:
    """Return the heads after promotion (see `sentgen.corpus.base_np`).

    >>> promoted([4, 4, 4, 0], ["nsubj", "aux", "cop", "root"])
    [2, 0, 2, 3]
    """
    functions = [
        head > 0 and relation.split(":")[0] in _FUNCTION
        for head, relation in zip(heads, deprels, strict=True)
    ]
    words: dict[int, list[int]] = {}
    for position, head in enumerate(heads, 1):
        if functions[position - 1]:
            words.setdefault(head, []).append(position)
    if not words:
        return list(heads)
    for head, chain in words.items():
        # Outermost first: `_tops` and `_governor` take the first that fits.
        chain.sort(key=lambda position: (-abs(position - head), position))
    tops = _tops(words, len(heads))
    result = [0] * len(heads)
    for position, head in enumerate(heads, 1):
        if not functions[position - 1]:
            result[tops[position] - 1] = _governor(position, head, words)
    for head, chain in words.items():
        for outer, inner in itertools.pairwise(chain):
            result[tops[inner] - 1] = _governor(inner, outer, words)
        result[head - 1] = _governor(head, chain[-1], words)
    return result


def _tops(words: dict[int, list[int]], size: int) -> list[int]:
    """Return the token that is outermost of each token and the function words above it."""
    tops = [0] * (size + 1)
    for start in range(size + 1):
        path = []
        node = start
        while not tops[node] and node in words:
            path.append(node)
            node = words[node][0]
        top = tops[node] or node
        tops[node] = top
        for node in path:
            tops[node] = top
    return tops


def _governor(position: int, head: int, words: dict[int, list[int]]) -> int:
    """Return the outermost function word of a head between it and a dependent, else the head.

    A function word can have function words of its own, to which the same applies.
    """
    while chain := words.get(head):
        low, high = (position, head) if position < head else (head, position)
        between = next((word for word in chain if low < word < high), None)
        if between is None:
            break
        head = between
    return head
