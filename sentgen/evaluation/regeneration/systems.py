"""Systems to compare: an algorithm with settings, such as ``beam:beam=512`` or ``ab:as-published=2009``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast, get_type_hints

from sentgen.errors import InputError
from sentgen.generation import Algorithm, SearchSettings, algorithm_named, settings_for
from sentgen.generation.settings import Paper
from sentgen.notation import Assignment, parse_system, truth

_PUBLISHED = "as_published"


@dataclass(frozen=True, slots=True)
class System:
    """An algorithm with its settings under the name that the user wrote."""

    name: str
    algorithm: Algorithm
    settings: SearchSettings


def parse_systems(
    texts: Sequence[str], *, as_published: Paper | None = None, changes: Mapping[str, Any] | None = None
) -> list[System]:
    """Read systems: ``NAME`` or ``NAME:SETTING=VALUE:SETTING=VALUE``.

    The settings are those of `SearchSettings`, with dashes or underscores, and ``as-published`` for a paper.

    Args:
        texts: one a system.
        as_published: the paper whose literal readings all systems take that name none.
        changes: settings of all systems that look at them and do not set them themselves.

    Raises:
        InputError: there is no such algorithm, setting or value, no system looks at a change, or two systems
            are the same.

    >>> parse_systems(["lmo", "lmo:order=3"])[1].settings.order
    3
    """
    changes = {name: value for name, value in (changes or {}).items() if value is not None}
    systems = [_parse(text, as_published, changes) for text in texts]
    if not systems:
        raise InputError("there is nothing to compare; name an algorithm or more, such as lmo,greedy")
    names = [system.name for system in systems]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"{twice} is there twice; name each system once")
    idle = sorted(changes.keys() - {name for system in systems for name in system.algorithm.options})
    if idle:
        raise InputError(f"none of {', '.join(names)} looks at {idle[0].replace('_', '-')}; leave it out")
    return systems


def _parse(text: str, paper: Paper | None, changes: Mapping[str, Any]) -> System:
    name, assignments = parse_system(text)
    algorithm = algorithm_named(name)
    own = dict(_assignment(text, assignment) for assignment in assignments)
    paper = cast("Paper | None", own.pop(_PUBLISHED, paper))
    shared = {setting: value for setting, value in changes.items() if setting in algorithm.options}
    return System(text, algorithm, settings_for(algorithm, paper, shared | own))


def _assignment(system: str, given: Assignment) -> tuple[str, Any]:
    text, setting, value = given
    if value is None:
        raise InputError(f"{system!r} has {text!r} where a setting belongs; write SETTING=VALUE")
    return setting, value if setting == _PUBLISHED else _value(setting, value.strip())


def _value(setting: str, text: str) -> Any:
    """Return the value with the type of the setting; an unknown setting is left to be refused later."""
    kind = get_type_hints(SearchSettings).get(setting, str)
    try:
        if kind is bool:
            return truth(text)
        return kind(text) if kind in (int, float) else text
    except (KeyError, ValueError) as error:
        wanted = "yes or no" if kind is bool else "a number"
        raise InputError(f"{setting.replace('_', '-')} {text!r} is not {wanted}") from error
