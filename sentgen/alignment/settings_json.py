"""The settings of the aligner as JSON, and changed by name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from typing import Any, get_args, get_type_hints

from sentgen.alignment.settings import Part, Prior, Settings
from sentgen.errors import InputError


def as_json(settings: Settings) -> str:
    """Return settings as JSON; `from_json` reads it."""
    values = asdict(settings) | {"fixed": sorted(settings.fixed)}
    return json.dumps(values, sort_keys=True)


def from_json(text: str) -> Settings:
    """Return the settings that `as_json` wrote; what a newer version added has its default."""
    values = {name: value for name, value in json.loads(text).items() if name in _names(Settings)}
    values["prior"] = Prior(**{k: v for k, v in values.get("prior", {}).items() if k in _names(Prior)})
    values["fixed"] = frozenset(values.get("fixed", ()))
    values["weights"] = tuple(values["weights"])
    return Settings(**values)


def changed(settings: Settings, given: Mapping[str, str]) -> Settings:
    """Return settings with other values, by name; the priors are called `prior-word` and so on.

    >>> changed(Settings(), {"p0": "0.1", "prior-identity": "9", "fixed": "null,weights"}).prior.identity
    9.0

    Raises:
        InputError: there is no such setting, or it cannot have that value.
    """
    for option, text in given.items():
        name = option.replace("-", "_")
        if name in _names(Settings) - {"prior"}:
            settings = replace(settings, **{name: _value(option, name, text)})
        elif name.removeprefix("prior_") in _names(Prior) and name.startswith("prior_"):
            prior = replace(settings.prior, **{name.removeprefix("prior_"): _number(option, text)})
            settings = replace(settings, prior=prior)
        else:
            known = sorted(_names(Settings) - {"prior"} | {f"prior_{one}" for one in _names(Prior)})
            raise InputError(f"no setting {option!r}; there are: {', '.join(known).replace('_', '-')}")
    return settings


def _names(kind: type[Any]) -> set[str]:
    return {field.name for field in fields(kind)}


def _value(option: str, name: str, text: str) -> Any:
    """Read a value of the type that a setting has."""
    hint = get_type_hints(Settings)[name]
    choices = [choice for choice in get_args(hint) if isinstance(choice, str)]
    if choices:
        if text not in choices:
            raise InputError(f"{option} is {text!r}; choose one of: {', '.join(choices)}")
        return text
    if name == "fixed":
        parts = frozenset(part for part in text.split(",") if part)
        if not parts <= set(get_args(Part)):
            raise InputError(f"{option} is {text!r}; name some of: {','.join(get_args(Part))}")
        return parts
    if name == "weights":
        return tuple(_number(option, part) for part in text.split(","))
    if hint is bool:
        if text not in ("true", "false"):
            raise InputError(f"{option} is {text!r}; say true or false")
        return text == "true"
    if text == "none" and type(None) in get_args(hint):
        return None
    number = _number(option, text)
    return int(number) if int in (hint, *get_args(hint)) else number


def _number(option: str, text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise InputError(f"{option} is {text!r}, which is no number") from error
