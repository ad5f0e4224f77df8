"""An algorithm with its settings, as in ``beam:beam=512`` or ``ab:as-published=2009``, resolved once."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields
from typing import Literal, cast, get_args, get_origin

from sentgen.errors import InputError, SentgenError
from sentgen.generation.algorithms import ALGORITHMS, GROUPS, SETTINGS, algorithm_named, settings_of
from sentgen.generation.bags.problem import PAPERS, Algorithm, Paper, SearchSettings
from sentgen.notation import Assignment, parse_system
from sentgen.options import Option, Parameter

_PUBLISHED = "as_published"


def read_system(
    text: str, as_published: Paper | None = None, changes: Mapping[str, object] | None = None
) -> tuple[Algorithm, SearchSettings, Collection[str]]:
    """Read ``NAME`` or ``NAME:SETTING=VALUE:SETTING=VALUE``; return algorithm, settings, and those given.

    Settings are those of the algorithm, with dashes or underscores, and ``as-published`` for a paper.

    Args:
        text: the system.
        as_published: the paper, where the text names none.
        changes: values of settings that the text does not have, None for those that nobody gave.

    Raises:
        InputError: there is no such algorithm, a value has another type than its setting, or see
            `settings_for`.
    """
    name, assignments = parse_system(text)
    # A wrong name is told before the settings are read.
    algorithm = algorithm_named(name)
    known = settings_of(algorithm)
    own = dict(_assignment(text, assignment, known) for assignment in assignments)
    paper = cast("Paper | None", own.pop(_PUBLISHED, as_published))
    given = {name: value for name, value in (changes or {}).items() if value is not None} | own
    return algorithm, settings_for(algorithm, paper, given), given.keys()


def _assignment(system: str, given: Assignment, known: Mapping[str, Parameter]) -> tuple[str, object]:
    text, setting, value = given
    if value is None:
        raise InputError(f"{system!r} has {text!r} where a setting belongs; write SETTING=VALUE")
    if setting not in known:  # or that of a paper, which is no setting; others are refused later
        return setting, value if setting == _PUBLISHED else value.strip()
    return setting, known[setting].read(value.strip(), _dashed(setting))


def settings_for(
    algorithm: Algorithm, as_published: Paper | None = None, changes: Mapping[str, object] | None = None
) -> SearchSettings:
    """Return the settings of a search: the algorithm's defaults, or a paper's reading, with changes.

    Raises:
        InputError: the paper does not have the algorithm, the algorithm does not look at a setting that is
            changed, or a change makes no sense.
    """
    known, changes = settings_of(algorithm), changes or {}
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
    # After the values are checked: a wrong value is the nearer mistake.
    for name in idle:
        users = ", ".join(algorithm.name for algorithm in ALGORITHMS.values() if name in algorithm.options)
        raise InputError(f"{algorithm.name} does not look at {_dashed(name)}; it is for: {users}")
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
    """Return the settings of a group: those that have values, and its defaults; texts are read."""
    mine = {}
    for name in (field.name for field in fields(group) if field.name in values):
        value, read = values[name], known[name].option.read
        mine[name] = read(value) if read and isinstance(value, str) else value
    return group(**mine)


def _check(setting: Parameter, value: object) -> None:
    """Refuse words and numbers that a setting cannot have; numbers of ours are checked by their groups."""
    kind, option = setting.kind, setting.option
    if get_origin(kind) is Literal and value not in get_args(kind):
        raise InputError(f"{_dashed(setting.name)} {value!r} is neither {' nor '.join(get_args(kind))}")
    if setting.name not in SETTINGS and isinstance(value, int | float) and not _within(value, option):
        raise InputError(f"{_dashed(setting.name)} {value!r} is not {_bounds(option)}")


def _within(value: float, option: Option) -> bool:
    return (option.least is None or value >= option.least) and (option.most is None or value <= option.most)


def _bounds(option: Option) -> str:
    """Say between which bounds a number has to be."""
    if option.most is None:
        return f"{option.least} or more"
    return f"{option.most} or less" if option.least is None else f"between {option.least} and {option.most}"


def _dashed(name: str) -> str:
    return name.replace("_", "-")
