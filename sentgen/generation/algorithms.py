"""The algorithms by name."""

from __future__ import annotations

from sentgen.errors import InputError
from sentgen.generation import beam, greedy, lmo
from sentgen.generation.problem import Algorithm
from sentgen.generation.settings import SearchSettings

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
        Algorithm(
            "viterbi",
            "4-gram beam search over single words (2007, 2009)",
            beam.order_without_future_cost,
            beam.value,
            defaults=SearchSettings(beam=100),
            published={"2007": {"beam": 100}, "2009": {"beam": 100}},
            words=True,
        ),
        Algorithm(
            "beam",
            "n-gram beam search with a future cost (Schmaltz et al. 2016)",
            beam.order_units,
            beam.value,
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
