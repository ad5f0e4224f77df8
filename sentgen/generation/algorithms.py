"""The algorithms by name, those of plug-ins included, and all settings that they look at."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields

from sentgen.entry_points import Plugin, Registry
from sentgen.errors import InputError
from sentgen.generation.bags.problem import Algorithm, NgramSettings, RerankSettings, SearchSettings, Weights
from sentgen.generation.joint import joint
from sentgen.generation.ngrams import beam, lmo
from sentgen.generation.plugin_algorithms import algorithm_of, check_settings
from sentgen.generation.trees import assignment, cle, prim
from sentgen.options import Parameter, parameters_of
from sentgen.output.tabular import Rows

ALGORITHMS: dict[str, Algorithm] = {
    algorithm.name: algorithm
    for module in (lmo, beam, joint, prim, cle, assignment)
    for algorithm in module.ALGORITHMS
}

#: All groups of settings that our algorithms look at.
GROUPS = tuple(dict.fromkeys(group for one in ALGORITHMS.values() for group in one.groups))
#: The settings that records list first, as they always did; the others follow.
_RECORD = (
    *("order", "lmo_context", "q", "padding", "padding_cost", "verb_root", "noun_under_noun", "one_root"),
    *("theft", "beam"),
)


def _parameters(groups: Iterable[type]) -> dict[str, Parameter]:
    # A group that comes again keeps its first place.
    return {one.name: one for group in dict.fromkeys(groups) for one in parameters_of(group)}


#: The settings of our algorithms by name, in the order of help: what most people change comes first.
SETTINGS = _parameters((NgramSettings, beam.BeamSettings, RerankSettings, *GROUPS))


def _of_plugin(plugin: Plugin, given: object) -> Algorithm:
    algorithm = algorithm_of(plugin, given)
    check_settings(plugin, algorithm, SETTINGS, GROUPS)
    return algorithm


#: What `generate` and `fuse` know besides is no algorithm for bags.
_REGISTRY = Registry("algorithm", ALGORITHMS, _of_plugin, reserved=("depviterbi", "bigram"))


def settings_record(algorithm: Algorithm, settings: SearchSettings) -> dict[str, object]:
    """Return the values of all settings, also of those that the algorithm does not look at.

    Those that only an algorithm of a plug-in has stand behind them, with its package.
    """
    values: dict[str, object] = {}
    for group in (*GROUPS, *algorithm.groups):
        for one in fields(group):
            value = getattr(settings.of(group), one.name)
            values[one.name] = value.text if isinstance(value, Weights) else value
    package = _REGISTRY.package(algorithm.name)
    # An empty text asks for nothing.
    record = {name: values[name] for name in (*_RECORD, *values) if values[name] != ""}
    return record | ({"plugin": package} if package else {})


def settings_of(algorithm: Algorithm) -> dict[str, Parameter]:
    """Return all settings that can be asked for by name: those of our algorithms, and its own."""
    return SETTINGS | _parameters(algorithm.groups)


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
    return [name.replace("_", "-") for name in _parameters(algorithm.groups)]
