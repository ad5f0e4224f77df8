"""Algorithms by name, those of plug-ins included, and systems: names with settings, as ``beam:beam=512``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from math import inf, isfinite
from typing import Literal, cast, get_args, get_origin

from sentgen.entry_points import Plugin, Registry
from sentgen.errors import InputError, PluginError, SentgenError
from sentgen.generation.bags.problem import (
    LEFT,
    PAPERS,
    RIGHT,
    ROOT,
    Algorithm,
    NgramSettings,
    Ordering,
    Paper,
    Problem,
    RerankSettings,
    SearchSettings,
    Tree,
    Weights,
)
from sentgen.generation.ngrams import beam, lmo
from sentgen.generation.trees import assignment, cle, joint, prim
from sentgen.options import Assignment, Option, Parameter, parameters_of, parse_system
from sentgen.output.tabular import Rows
from sentgen.output.wording import quantity


def _of_plugin(plugin: Plugin, given: object) -> Algorithm:
    """Return the algorithm of a plug-in, whose exceptions become `PluginError`.

    Raises:
        PluginError: the entry point names no algorithm, or settings as `_check_settings` refuses them.
    """
    algorithm = plugin.of_kind(given, Algorithm)
    plugin.check_called(algorithm.name)
    _check_settings(plugin, algorithm)
    return replace(
        algorithm, order=_guarded_order(plugin, algorithm), value=_guarded_value(plugin, algorithm)
    )


def _check_settings(plugin: Plugin, algorithm: Algorithm) -> None:
    """Refuse settings of a plug-in that are declared in another way than ours, or have the name of ours."""
    for group in algorithm.settings:
        if group in GROUPS:
            continue
        with plugin.at_work():
            # A field without an option is no parameter, and could not be set.
            declared = [each for each in parameters_of(group) if isinstance(each.option, Option)]
            names_of = {field.name for field in fields(group)}
        if {each.name for each in declared} != names_of:
            raise PluginError(
                f"has settings in {group.__name__} that are no Annotated[TYPE, Setting(...)];"
                " its authors must change that",
                plugin=plugin,
            )
        taken = [each.name for each in declared if each.name in SETTINGS]
        if taken:
            message = (
                f"has a setting {taken[0]!r}, which is one of sentgen; its authors must choose another name"
            )
            raise PluginError(message, plugin=plugin)
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
            # Numbers of numpy cannot be written as JSON.
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
            value = algorithm.value(problem, units, heads)
            return None if value is None else float(value)

    return guarded


def _fault(orderings: Sequence[object], size: int, nbest: int, *, trees: bool) -> str:
    """Return the fault of the orderings of a bag of ``size`` units, or an empty string."""
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
    """Return the fault of a tree over ``size`` units, or an empty string."""
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

#: All groups of settings of our algorithms.
GROUPS = tuple(dict.fromkeys(group for algorithm in ALGORITHMS.values() for group in algorithm.groups))
#: The settings that records list first; the others follow.
_RECORD = (
    *("order", "lmo_context", "q", "padding", "padding_cost", "verb_root", "noun_under_noun", "one_root"),
    *("theft", "beam"),
)


def _parameters(groups: Iterable[type]) -> dict[str, Parameter]:
    # A repeated group keeps its first place.
    return {one.name: one for group in dict.fromkeys(groups) for one in parameters_of(group)}


#: The settings of our algorithms by name, in the order of help: the most common ones first.
SETTINGS = _parameters((NgramSettings, beam.BeamSettings, RerankSettings, *GROUPS))


#: Algorithms of `generate` and `fuse`, which do not order bags.
_REGISTRY = Registry("algorithm", ALGORITHMS, _of_plugin, reserved=("depviterbi", "bigram"))


def settings_record(algorithm: Algorithm, settings: SearchSettings) -> dict[str, object]:
    """Return the values of all settings, including those that the algorithm does not use.

    Settings of a plug-in's algorithm follow, with the name of the package.
    """
    values: dict[str, object] = {}
    for group in (*GROUPS, *algorithm.groups):
        for field in fields(group):
            value = getattr(settings.of(group), field.name)
            values[field.name] = value.text if isinstance(value, Weights) else value
    package = _REGISTRY.package(algorithm.name)
    # An empty text names nothing.
    record = {name: values[name] for name in (*_RECORD, *values) if values[name] != ""}
    return record | ({"plugin": package} if package else {})


def _settings_of(algorithm: Algorithm) -> dict[str, Parameter]:
    """Return all settings by name: those of our algorithms, and those of this algorithm."""
    return SETTINGS | _parameters(algorithm.groups)


def algorithm_named(name: str) -> Algorithm:
    """Return an algorithm, which may be from a plug-in.

    Raises:
        InputError: there is no algorithm of that name.
        PluginError: the algorithm is that of a plug-in, and cannot be used.
    """
    algorithm = _REGISTRY.find(name)
    if algorithm is None:
        raise InputError(f"no algorithm {name!r}; there are: {', '.join(sorted(_REGISTRY.names()))}")
    return algorithm


def usable_algorithms() -> dict[str, Algorithm]:
    """Return all algorithms by name; plug-ins that cannot be used are left out."""
    return _REGISTRY.usable()


def overview() -> tuple[Rows, list[str]]:
    """Return a row an algorithm, and the faults of plug-ins that cannot be loaded."""
    there, wrong = _REGISTRY.listed()
    listed = [
        (name, package, one.trees, one.title, " ".join(map(_with_dashes, _parameters(one.groups))))
        for name, package, one in there
    ]
    return Rows(["algorithm", "package", "trees", "description", "settings"], listed), wrong


#: The setting of a system that names the paper to follow; no algorithm declares it.
_PUBLISHED = "as_published"


def read_system(
    text: str, as_published: Paper | None, changes: Mapping[str, object]
) -> tuple[Algorithm, SearchSettings, Collection[str]]:
    """Read ``NAME`` or ``NAME:SETTING=VALUE:SETTING=VALUE``; return algorithm, settings, and given names.

    Settings are those of the algorithm, with dashes or underscores, and ``as-published`` for a paper.

    Args:
        as_published: the paper, if the text names none.
        changes: values of settings that the text does not have, None for settings that were not given.

    Raises:
        InputError: there is no such algorithm, a value has another type than its setting, or see
            `settings_for`.
    """
    name, assignments = parse_system(text)
    # A wrong name is reported before settings are read.
    algorithm = algorithm_named(name)
    known = _settings_of(algorithm)
    own = dict(_assignment(text, change, known) for change in assignments)
    paper = cast("Paper | None", own.pop(_PUBLISHED, as_published))
    given = {name: value for name, value in changes.items() if value is not None} | own
    return algorithm, settings_for(algorithm, paper, given), given.keys()


def _assignment(system: str, given: Assignment, known: Mapping[str, Parameter]) -> tuple[str, object]:
    text, setting, value = given
    if value is None:
        raise InputError(f"{system!r} has {text!r} where a setting belongs; write SETTING=VALUE")
    if setting not in known:  # a paper is no setting; unknown papers are refused later
        return setting, value if setting == _PUBLISHED else value.strip()
    return setting, known[setting].read(value.strip(), _with_dashes(setting))


def settings_for(
    algorithm: Algorithm, as_published: Paper | None = None, changes: Mapping[str, object] | None = None
) -> SearchSettings:
    """Return the settings of a search: the algorithm's defaults, or a paper's reading, with changes.

    Raises:
        InputError: the paper does not have the algorithm, the algorithm does not use a changed setting, or a
            value is invalid.
    """
    known, changes = _settings_of(algorithm), changes or {}
    values = {**algorithm.defaults, **_reading(algorithm, as_published), **changes}
    unknown = sorted(changes.keys() - known.keys())
    if unknown:
        raise InputError(f"no setting {unknown[0]!r}; there are: {', '.join(sorted(known))}")
    idle = sorted(changes.keys() - algorithm.options)
    others = [group for group in GROUPS if not {field.name for field in fields(group)}.isdisjoint(idle)]
    try:
        made = [_made(group, values, known) for group in (*algorithm.groups, *others)]
    except SentgenError:
        raise
    except Exception as error:  # settings of a plug-in may refuse a value in any way
        raise InputError(
            f"{algorithm.name} cannot take {dict(changes)}: {error}; give other values"
        ) from error
    for name, value in changes.items():
        _check(known[name], value)
    # After the values are checked: a wrong value is the more likely mistake.
    for name in idle:
        users = ", ".join(algorithm.name for algorithm in ALGORITHMS.values() if name in algorithm.options)
        raise InputError(f"{algorithm.name} does not look at {_with_dashes(name)}; it is for: {users}")
    return SearchSettings(tuple(made))


def _reading(algorithm: Algorithm, paper: Paper | None) -> Mapping[str, object]:
    """Return the values that a paper fixes."""
    if paper is None:
        return {}
    if paper not in PAPERS:
        raise InputError(f"no paper {paper!r}; there are: {', '.join(PAPERS)}")
    if paper not in algorithm.published:
        has = ", ".join(algorithm.published) or "none"
        raise InputError(f"{algorithm.name} is not in the paper of {paper}; papers with it: {has}")
    return algorithm.published[paper]


def _made(group: type, values: Mapping[str, object], known: Mapping[str, Parameter]) -> object:
    """Return the settings of a group: given values, of which strings are parsed, else defaults."""
    mine = {}
    for name in (field.name for field in fields(group) if field.name in values):
        value, read = values[name], known[name].option.read
        mine[name] = read(value) if read and isinstance(value, str) else value
    return group(**mine)


def _check(setting: Parameter, value: object) -> None:
    """Refuse invalid values of a setting; numbers of our own settings are checked by their groups."""
    kind, option = setting.kind, setting.option
    if get_origin(kind) is Literal and value not in get_args(kind):
        raise InputError(f"{_with_dashes(setting.name)} {value!r} is neither {' nor '.join(get_args(kind))}")
    if setting.name in SETTINGS or not isinstance(value, int | float) or option.least is option.most is None:
        return
    least = -inf if option.least is None else option.least
    most = inf if option.most is None else option.most
    if not least <= value <= most:
        bounds = f"between {least} and {most}"
        if option.most is None or option.least is None:
            bounds = f"{least} or more" if option.most is None else f"{most} or less"
        raise InputError(f"{_with_dashes(setting.name)} {value!r} is not {bounds}")


def _with_dashes(name: str) -> str:
    return name.replace("_", "-")
