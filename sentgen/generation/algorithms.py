"""The algorithms by name, those of plug-ins included, and all settings that they look at."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import fields, replace
from math import isfinite

from sentgen.entry_points import Plugin, Registry, check_called, of_kind
from sentgen.errors import InputError, PluginError
from sentgen.generation.bags.problem import (
    LEFT,
    RIGHT,
    ROOT,
    Algorithm,
    NgramSettings,
    Ordering,
    Problem,
    RerankSettings,
    SearchSettings,
    Tree,
    Weights,
)
from sentgen.generation.joint import joint
from sentgen.generation.ngrams import beam, lmo
from sentgen.generation.trees import assignment, cle, prim
from sentgen.options import Option, Parameter, parameters_of
from sentgen.output.tabular import Rows
from sentgen.output.wording import quantity


def _algorithm_of(plugin: Plugin, given: object) -> Algorithm:
    """Return the algorithm of a plug-in, under guard.

    Raises:
        PluginError: what the entry point names is no algorithm.
    """
    algorithm = of_kind(plugin, given, Algorithm)
    check_called(plugin, algorithm.name)
    return replace(
        algorithm, order=_guarded_order(plugin, algorithm), value=_guarded_value(plugin, algorithm)
    )


def _check_settings(
    plugin: Plugin, algorithm: Algorithm, names: Collection[str], groups: Collection[type]
) -> None:
    """Refuse settings that are declared in another way than ours, or have the name of one of ours.

    Args:
        plugin: the plug-in.
        algorithm: what it adds.
        names: those of our settings.
        groups: the classes that declare them, which an algorithm of a plug-in may look at as well.

    Raises:
        PluginError: there is such a setting.
    """
    for group in algorithm.settings:
        if group in groups:
            continue
        with plugin.at_work():
            # A field without an option is no parameter, so that nobody could set it.
            declared = [one for one in parameters_of(group) if isinstance(one.option, Option)]
            names_of = {field.name for field in fields(group)}
        if {one.name for one in declared} != names_of:
            raise PluginError(
                f"has settings in {group.__name__} that are no Annotated[TYPE, Setting(...)];"
                " its authors must change that",
                plugin=plugin,
            )
        taken = [one.name for one in declared if one.name in names]
        if taken:
            told = (
                f"has a setting {taken[0]!r}, which is one of sentgen; its authors must choose another name"
            )
            raise PluginError(told, plugin=plugin)
    valued = {*algorithm.defaults, *(name for of in algorithm.published.values() for name in of)}
    if idle := sorted(valued - algorithm.options):
        raise PluginError(
            f"has a value for {idle[0]!r}, which is none of its settings; its authors must change that",
            plugin=plugin,
        )


def _guarded_order(plugin: Plugin, algorithm: Algorithm) -> Callable[[Problem, int], list[Ordering]]:
    def guarded(problem: Problem, nbest: int) -> list[Ordering]:
        with plugin.at_work():
            orderings = list(algorithm.order(problem, nbest))
            wrong = _fault(orderings, problem.size, nbest, trees=algorithm.trees)
            if wrong:
                raise PluginError(f"gives {wrong}; tell its authors", plugin=plugin)
            # Numbers of numpy would not be written as JSON.
            return [
                replace(ordering, units=tuple(map(int, ordering.units)), score=float(ordering.score))
                for ordering in orderings
            ]

    return guarded


def _guarded_value(
    plugin: Plugin, algorithm: Algorithm
) -> Callable[[Problem, tuple[int, ...], tuple[int, ...] | None], float | None]:
    def guarded(problem: Problem, units: tuple[int, ...], heads: tuple[int, ...] | None) -> float | None:
        with plugin.at_work():
            found = algorithm.value(problem, units, heads)
            return None if found is None else float(found)

    return guarded


def _fault(orderings: Sequence[object], size: int, nbest: int, *, trees: bool) -> str:
    """Return what is wrong with the answers for a bag of that size, empty if nothing is."""
    if not 1 <= len(orderings) <= nbest:
        return f"{len(orderings)} orderings where 1 to {nbest} belong"
    for ordering in orderings:
        if not isinstance(ordering, Ordering):
            return f"a {type(ordering).__name__} where an Ordering belongs"
        if sorted(ordering.units) != list(range(size)):
            return f"an ordering in which not every unit of the bag stands once: {ordering.units!r:.100}"
        if not isinstance(ordering.score, float | int) or not isfinite(ordering.score):
            return f"the score {ordering.score!r:.100}, which is no finite number"
        if trees != (ordering.tree is not None):
            return "an ordering without a tree" if trees else "a tree, but `trees` of the algorithm is false"
        if ordering.tree is not None and (wrong := _fault_of(ordering.tree, size)):
            return wrong
    if len({tuple(ordering.units) for ordering in orderings if isinstance(ordering, Ordering)}) < len(
        orderings
    ):
        return "the same ordering twice"
    return ""


def _fault_of(tree: Tree, size: int) -> str:
    """Return what is wrong with a tree over so many units, empty if nothing is."""
    if any(len(column) != size for column in (tree.heads, tree.sides, tree.earlier, tree.weights)):
        return f"a tree that does not have one entry for each of {quantity(size, 'unit')}"
    if not all(ROOT <= head < size for head in tree.heads) or not set(tree.sides) <= {LEFT, RIGHT}:
        return f"a tree with heads or sides that there are not: {tree.heads!r:.100}"
    for unit in range(size):
        head, steps = tree.heads[unit], 0
        while head != ROOT:
            head, steps = tree.heads[head], steps + 1
            if steps > size:
                return f"a tree in which unit {unit} is below itself: {tree.heads!r:.100}"
    return ""


ALGORITHMS: dict[str, Algorithm] = {
    algorithm.name: algorithm
    for module in (lmo, beam, joint, prim, cle, assignment)
    for algorithm in module.ALGORITHMS
}

#: All groups of settings that our algorithms look at.
GROUPS = tuple(dict.fromkeys(group for algorithm in ALGORITHMS.values() for group in algorithm.groups))
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
    algorithm = _algorithm_of(plugin, given)
    _check_settings(plugin, algorithm, SETTINGS, GROUPS)
    return algorithm


#: What `generate` and `fuse` know besides is no algorithm for bags.
_REGISTRY = Registry("algorithm", ALGORITHMS, _of_plugin, reserved=("depviterbi", "bigram"))


def settings_record(algorithm: Algorithm, settings: SearchSettings) -> dict[str, object]:
    """Return the values of all settings, also of those that the algorithm does not look at.

    Those that only an algorithm of a plug-in has stand behind them, with its package.
    """
    values: dict[str, object] = {}
    for group in (*GROUPS, *algorithm.groups):
        for field in fields(group):
            value = getattr(settings.of(group), field.name)
            values[field.name] = value.text if isinstance(value, Weights) else value
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
