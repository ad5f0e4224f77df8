"""IBM Model 1 and the HMM by their definitions: sums over all paths, as the oracle of the kernels."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, product

Words = Sequence[str]
Table = Mapping[tuple[str, str], float]
#: A source word and whether the target word comes from null beside it instead.
State = tuple[int, bool]
Path = tuple[State, ...]
#: The source word of what comes from no word.
NULL_WORD = ""


def model1_paths(source: Words, target: Words, table: Table) -> Iterator[tuple[Path, float]]:
    """Yield every path with P(target, path | source); for null the position is 0.

    Brown et al. 1993, eq. 5, but for the probability of the length: prod_j t(f_j | e_{a_j}) / (I + 1).
    """
    states = [(0, True), *((i, False) for i in range(len(source)))]
    for path in product(states, repeat=len(target)):
        emitted = (table[key] for key in emissions(source, target, path))
        yield path, math.prod(prob / len(states) for prob in emitted)


def hmm_paths(
    source: Words, target: Words, table: Table, jump: Mapping[int, float], *, null: float, smoothing: float
) -> Iterator[tuple[Path, float]]:
    """Yield every path with P(target, path | source).

    Vogel et al. 1996, eq. 5, with the null states of Och & Ney 2003, sec. 2.1.2: null keeps the position. All
    positions are equally probable at the start.
    """
    length = len(source)

    def step(before: State, after: State) -> float:
        if after[1]:
            return null if after[0] == before[0] else 0.0
        total = sum(jump[i - before[0]] for i in range(length))
        learnt = jump[after[0] - before[0]] / total
        return (1 - null) * ((1 - smoothing) * learnt + smoothing / length)

    for path in product(product(range(length), (False, True)), repeat=len(target)):
        probability = (null if path[0][1] else 1 - null) / length
        probability *= math.prod(step(before, after) for before, after in pairwise(path))
        yield path, probability * math.prod(table[key] for key in emissions(source, target, path))


def emissions(source: Words, target: Words, path: Path) -> Iterator[tuple[str, str]]:
    """Yield (source word, target word) along a path."""
    for (i, empty), word in zip(path, target, strict=True):
        yield (NULL_WORD if empty else source[i], word)


def expected_counts(
    source: Words, target: Words, paths: Sequence[tuple[Path, float]]
) -> tuple[dict[tuple[str, str], float], float]:
    """Return the expected number of links of (source word, target word), and log P(target | source)."""
    total = sum(probability for _, probability in paths)
    counts: defaultdict[tuple[str, str], float] = defaultdict(float)
    for path, probability in paths:
        for key in emissions(source, target, path):
            counts[key] += probability / total
    return dict(counts), math.log(total)


def expected_jumps(paths: Sequence[tuple[Path, float]]) -> dict[int, float]:
    """Return the expected number of jumps of each width to a word."""
    total = sum(probability for _, probability in paths)
    jumps: defaultdict[int, float] = defaultdict(float)
    for path, probability in paths:
        for before, after in pairwise(path):
            if not after[1]:
                jumps[after[0] - before[0]] += probability / total
    return dict(jumps)
