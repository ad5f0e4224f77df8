"""The algorithms by name."""

from __future__ import annotations

from sentgen.errors import InputError
from sentgen.generation import greedy, lmo
from sentgen.generation.problem import Algorithm

ALGORITHMS: dict[str, Algorithm] = {
    algorithm.name: algorithm
    for algorithm in (
        Algorithm(
            "greedy",
            "greedy n-gram ordering after the string so far (2007)",
            greedy.order_units,
            greedy.value,
            published={"2007": {}},
        ),
        Algorithm(
            "lmo",
            "greedy n-gram ordering after the last phrase (2009)",
            lmo.order_units,
            lmo.value,
            published={"2009": {"lmo_context": "phrase"}},
        ),
    )
}


def algorithm_named(name: str) -> Algorithm:
    """Return an algorithm.

    Raises:
        InputError: there is none of that name.
    """
    if name not in ALGORITHMS:
        raise InputError(f"no algorithm {name!r}; there are: {', '.join(sorted(ALGORITHMS))}")
    return ALGORITHMS[name]
