"""The settings of the aligner as JSON, and changed by name."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, replace
from math import inf, isfinite, nan
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from sentgen.alignment.phrase_hmm.settings import Part, PbhmmSettings, Prior
from sentgen.alignment.phrase_hmm.settings import preset_settings
from sentgen.errors import InputError

_PRIOR = "prior_"
#: Commas separate systems in a list of them, so that there slashes separate values.
_SEPARATOR = re.compile("[,/]")
_SWITCH = {"yes": True, "true": True, "no": False, "false": False}


def as_json(settings: PbhmmSettings) -> str:
    """Return settings as JSON; `from_json` reads it."""
    values = asdict(settings) | {"fixed": sorted(settings.fixed)}
    return json.dumps(values, sort_keys=True)


def from_json(text: str) -> PbhmmSettings:
    """Return the settings that `as_json` wrote; what a newer version added has its default."""
    values = {name: value for name, value in json.loads(text).items() if name in _names(PbhmmSettings)}
    values["prior"] = Prior(**{k: v for k, v in values.get("prior", {}).items() if k in _names(Prior)})
    values["fixed"] = frozenset(values.get("fixed", ()))
    values["weights"] = tuple(values["weights"])
    return PbhmmSettings(**values)


def setting_names() -> list[str]:
    """Return what `changed` can set, sorted; the priors are called ``prior_word`` and so on."""
    return sorted(_names(PbhmmSettings) - {"prior"} | {f"{_PRIOR}{name}" for name in _names(Prior)})


def training_settings(
    *,
    preset: Literal["paper", "best"] = "best",
    max_doc_phrase: int | None = None,
    max_abstract_phrase: int | None = None,
    setting: Sequence[str] = (),
    vectors: str | None = None,
) -> PbhmmSettings:
    """Return the settings of a model to train: a preset, other settings as NAME=VALUE, and those of a name.

    The last one of a name holds, and what is given by itself holds before ``setting``.

    Raises:
        InputError: there is no such setting, or it cannot have that value.
    """
    given = dict(_assignment(part) for part in setting)
    longest = {"max-document-phrase": max_doc_phrase, "max-abstract-phrase": max_abstract_phrase}
    given |= {name: str(words) for name, words in longest.items() if words is not None}
    settings = changed(preset_settings(preset), given)
    return settings if vectors is None else replace(settings, vectors=vectors)


def _assignment(part: str) -> tuple[str, str]:
    name, equals, value = part.partition("=")
    if not equals:
        raise InputError(f"{part!r} is no setting; write --set NAME=VALUE")
    return name.strip(), value.strip()


def changed(settings: PbhmmSettings, given: Mapping[str, str]) -> PbhmmSettings:
    """Return settings with other values, by name, with hyphens or underscores.

    Commas or slashes separate several values, ``none`` is no limit, and a switch is ``true`` or ``false``
    (``yes`` or ``no``).

    >>> changed(Settings(), {"p0": "0.1", "prior-identity": "9", "fixed": "null,weights"}).prior.identity
    9.0

    Raises:
        InputError: there is no such setting, or it cannot have that value.
    """
    for option, text in given.items():
        name = option.replace("-", "_")
        if name not in setting_names():
            known = ", ".join(setting_names()).replace("_", "-")
            raise InputError(f"no setting {option!r}; there are: {known}")
        if name.startswith(_PRIOR):
            number = _number(option, text, (0, inf))
            prior = replace(settings.prior, **{name.removeprefix(_PRIOR): number})
            settings = replace(settings, prior=prior)
        else:
            settings = replace(settings, **{name: _value(option, name, text)})
    return settings


def _names(kind: type[Any]) -> set[str]:
    return {field.name for field in fields(kind)}


def _value(option: str, name: str, text: str) -> Any:
    """Read a value of the type that a setting has."""
    hint = get_type_hints(PbhmmSettings)[name]
    choices = [choice for choice in get_args(hint) if isinstance(choice, str)]
    if choices:
        if text not in choices:
            raise InputError(f"{option} is {text!r}; choose one of: {', '.join(choices)}")
        return text
    if name == "fixed":
        parts = frozenset(part for part in _SEPARATOR.split(text) if part)
        if not parts <= set(get_args(Part)):
            raise InputError(f"{option} is {text!r}; name some of: {','.join(get_args(Part))}")
        return parts
    if name == "weights":
        weights = tuple(_number(option, part) for part in _SEPARATOR.split(text))
        if len(weights) != len(PbhmmSettings().weights):
            raise InputError(f"{option} is {text!r}; give three: of table, stems and identity")
        return weights
    if hint is bool:
        if text.lower() not in _SWITCH:
            raise InputError(f"{option} is {text!r}; say true or false")
        return _SWITCH[text.lower()]
    if text.lower() == "none" and type(None) in get_args(hint):
        return None
    if str in get_args(hint):
        return text
    number = _number(option, text, _bounds(name))
    if int not in (hint, *get_args(hint)):
        return number
    if not number.is_integer():
        raise InputError(f"{option} is {text!r}, which is no whole number")
    return int(number)


def _bounds(name: str) -> tuple[float, float]:
    """Return the least and the largest value of a setting, as its type says."""
    hint = get_type_hints(PbhmmSettings, include_extras=True)[name]
    kinds = (kind for kind in (hint, *get_args(hint)) if get_origin(kind) is Annotated)
    return next((kind.__metadata__[0] for kind in kinds), (-inf, inf))


def _number(option: str, text: str, bounds: tuple[float, float] = (-inf, inf)) -> float:
    try:
        number = float(text)
    except ValueError:
        number = nan
    if not isfinite(number):
        raise InputError(f"{option} is {text!r}, which is no number")
    least, most = bounds
    if not least <= number <= most:
        wanted = f"{least} or more" if most == inf else f"between {least} and {most}"
        raise InputError(f"{option} is {text!r}; it must be {wanted}")
    return number
