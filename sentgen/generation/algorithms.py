"""The algorithms by name, those of plug-ins included, and all settings that they look at."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sentgen.entry_points import Plugin, Registry
from sentgen.errors import InputError
from sentgen.generation.joint import joint
from sentgen.generation.ngrams import beam, greedy, lmo
from sentgen.generation.plugin_algorithms import algorithm_of, check_settings
from sentgen.generation.problem import Algorithm, SearchSettings
from sentgen.generation.trees import assignment, cle, prim
from sentgen.options import Parameter, parameters_of
from sentgen.output.tabular import Rows

ALGORITHMS: dict[str, Algorithm] = {
    algorithm.name: algorithm
    for module in (greedy, lmo, beam, joint, prim, cle, assignment)
    for algorithm in module.ALGORITHMS
}

#: The settings that help lists first, and those that records do, as they always did; the others follow.
_HELP = ("order", "beam")
_RECORD = (
    *("order", "lmo_context", "q", "padding", "padding_cost", "verb_root", "noun_under_noun", "one_root"),
    *("theft", "beam"),
)


def _parameters(algorithms: Iterable[Algorithm]) -> dict[str, Parameter]:
    groups = dict.fromkeys(group for algorithm in algorithms for group in algorithm.groups)
    return {one.name: one for group in groups for one in parameters_of(group)}


def _settings(*first: str) -> dict[str, Parameter]:
    found = _parameters(ALGORITHMS.values())
    # A name that comes again keeps its first place.
    return {name: found[name] for name in (*first, *found)}


#: The settings of our algorithms by name, in the order of help.
SETTINGS = _settings(*_HELP)


def _of_plugin(plugin: Plugin, given: object) -> Algorithm:
    algorithm = algorithm_of(plugin, given)
    check_settings(
        plugin, algorithm, SETTINGS, {group for one in ALGORITHMS.values() for group in one.groups}
    )
    return algorithm


#: What `generate` and `fuse` know besides is no algorithm for bags.
_REGISTRY = Registry("algorithm", ALGORITHMS, _of_plugin, reserved=("depviterbi", "bigram"))


def settings_record(settings: SearchSettings, algorithm: Algorithm | None = None) -> dict[str, Any]:
    """Return the values of all settings, also of those that the algorithm does not look at.

    Those that only an algorithm of a plug-in has stand behind them, with its package.
    """
    known = _settings(*_RECORD) | (_parameters([algorithm]) if algorithm else {})
    record = {name: settings.values.get(name, one.default) for name, one in known.items()}
    # An empty text asks for nothing.
    record = {name: value for name, value in record.items() if value != ""}
    package = _REGISTRY.package(algorithm.name) if algorithm else ""
    return record | ({"plugin": package} if package else {})


def settings_of(algorithm: Algorithm) -> dict[str, Parameter]:
    """Return all settings that can be asked for by name: those of our algorithms, and its own."""
    return SETTINGS | _parameters([algorithm])


def algorithm_named(name: str) -> Algorithm:
    """Return an algorithm, which may be that of a plug-in.

    Raises:
        InputError: there is none of that name.
        PluginError: it is that of a plug-in, and cannot be used.
    """
    algorithm = _REGISTRY.find(name)
    if algorithm is None:
        raise InputError(f"no algorithm {name!r}; there are: {', '.join(sorted(_REGISTRY.names()))}")
    return algorithm


def usable_algorithms() -> dict[str, Algorithm]:
    """Return all algorithms by name; plug-ins that cannot be used are left out."""
    return _REGISTRY.usable()


def overview() -> tuple[Rows, list[str]]:
    """Return a row an algorithm, and what is wrong with those that are not there for it."""
    there, wrong = _REGISTRY.listed()
    listed = [(name, package, one.trees, one.title, " ".join(_dashed(one))) for name, package, one in there]
    return Rows(["algorithm", "package", "trees", "description", "settings"], listed), wrong


def _dashed(algorithm: Algorithm) -> list[str]:
    """Return the settings of an algorithm as the command line writes them."""
    return [name.replace("_", "-") for name in _parameters([algorithm])]
