"""An algorithm with its settings in one text, such as ``beam:beam=512`` or ``ab:as-published=2009``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from sentgen.errors import InputError
from sentgen.generation.algorithms import algorithm_named, settings_of
from sentgen.generation.problem import Algorithm, Paper
from sentgen.notation import Assignment, parse_system, truth
from sentgen.options import Parameter

_PUBLISHED = "as_published"


def read_system(text: str) -> tuple[Algorithm, Paper | None, dict[str, Any]]:
    """Read ``NAME`` or ``NAME:SETTING=VALUE:SETTING=VALUE``; return algorithm, paper and settings.

    Settings are those of the algorithm, with dashes or underscores, and ``as-published`` for a paper.

    Raises:
        InputError: there is no such algorithm, or a value has another type than its setting.
    """
    name, assignments = parse_system(text)
    # A wrong name is told before the settings are read.
    algorithm = algorithm_named(name)
    known = settings_of(algorithm)
    own = dict(_assignment(text, one, known) for one in assignments)
    return algorithm, cast("Paper | None", own.pop(_PUBLISHED, None)), own


def _assignment(system: str, given: Assignment, known: Mapping[str, Parameter]) -> tuple[str, Any]:
    text, setting, value = given
    if value is None:
        raise InputError(f"{system!r} has {text!r} where a setting belongs; write SETTING=VALUE")
    return setting, value if setting == _PUBLISHED else _value(setting, value.strip(), known)


def _value(setting: str, text: str, known: Mapping[str, Parameter]) -> Any:
    """Return the value with the type of the setting; an unknown setting is left to be refused later."""
    kind = known[setting].kind if setting in known else str
    try:
        if kind is bool:
            return truth(text)
        # Words of a fixed list are checked with the plan, where the message lists them.
        return kind(text) if kind in (int, float) else text
    except (KeyError, ValueError) as error:
        wanted = "yes or no" if kind is bool else "a number"
        raise InputError(f"{setting.replace('_', '-')} {text!r} is not {wanted}") from error
