"""The algorithms by name, and all settings that they look at."""

from __future__ import annotations

from typing import Any

from sentgen.errors import InputError
from sentgen.generation.ngrams import beam, greedy, lmo
from sentgen.generation.problem import Algorithm, SearchSettings
from sentgen.generation.trees import assignment, cle, prim
from sentgen.options import Parameter, parameters_of

ALGORITHMS: dict[str, Algorithm] = {
    algorithm.name: algorithm
    for module in (greedy, lmo, beam, prim, cle, assignment)
    for algorithm in module.ALGORITHMS
}

#: The settings that help lists first, and those that records do, as they always did; the others follow.
_HELP = ("order", "beam")
_RECORD = (
    *("order", "lmo_context", "q", "padding", "padding_cost", "verb_root", "noun_under_noun", "one_root"),
    *("theft", "beam"),
)


def _settings(*first: str) -> dict[str, Parameter]:
    groups = (group for algorithm in ALGORITHMS.values() for group in algorithm.groups)
    found = {one.name: one for group in dict.fromkeys(groups) for one in parameters_of(group)}
    # A name that comes again keeps its first place.
    return {name: found[name] for name in (*first, *found)}


#: The settings of all algorithms by name, in the order of help.
SETTINGS = _settings(*_HELP)


def settings_record(settings: SearchSettings) -> dict[str, Any]:
    """Return the values of all settings, also of those that the algorithm does not look at."""
    return {name: settings.values.get(name, one.default) for name, one in _settings(*_RECORD).items()}


def algorithm_named(name: str) -> Algorithm:
    """Return an algorithm.

    Raises:
        InputError: there is none of that name.
    """
    if name not in ALGORITHMS:
        raise InputError(f"no algorithm {name!r}; there are: {', '.join(sorted(ALGORITHMS))}")
    return ALGORITHMS[name]
