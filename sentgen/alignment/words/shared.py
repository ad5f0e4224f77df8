"""Which of two lists of sets have a member in common."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

import numpy as np

from sentgen.arrays import Bools

Key = TypeVar("Key", bound=Hashable)


def shared(left: Sequence[Iterable[Key]], right: Sequence[Iterable[Key]]) -> Bools:
    """Say which sets have something in common, (len(left), len(right)).

    >>> shared([{"a", "b"}, {"c"}], [{"b"}, {"d"}]).tolist()
    [[True, False], [False, False]]
    """
    where: dict[Key, list[int]] = defaultdict(list)
    for column, members in enumerate(right):
        for member in members:
            where[member].append(column)
    found = np.zeros((len(left), len(right)), np.bool_)
    for row, members in enumerate(left):
        for member in members:
            found[row, where.get(member, [])] = True
    return found
