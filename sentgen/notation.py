"""The notation in which systems are asked for: ``NAME`` or ``NAME:SETTING=VALUE:SETTING=VALUE``."""

from __future__ import annotations

import re
from typing import NamedTuple

#: Not after the drive that a path begins with.
_COLON = re.compile(r":(?![\\/])|(?<!=[A-Za-z]):")


class Assignment(NamedTuple):
    """A setting, with underscores for dashes, and its value; both are as they were written in ``text``."""

    text: str
    setting: str
    value: str | None


def parse_system(text: str) -> tuple[str, list[Assignment]]:
    r"""Return the name and the settings; what stands without ``=`` has no value.

    >>> parse_system("lcs:n=2")
    ('lcs', [Assignment(text='n=2', setting='n', value='2')])
    >>> [part.value for part in parse_system(r"lcs:links=C:\a:gold=d:/b:n=2")[1]]
    ['C:\\a', 'd:/b', '2']
    """
    name, *parts = _COLON.split(text)
    return name, [_assignment(part) for part in parts]


def _assignment(text: str) -> Assignment:
    setting, equals, value = text.partition("=")
    return Assignment(text, setting.strip().replace("-", "_"), value if equals else None)
