"""Systems to compare: algorithms with settings, such as ``beam:beam=512`` or ``ab:as-published=2009``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sentgen.errors import InputError
from sentgen.generation import Search, algorithm_named
from sentgen.notation import parse_system


def parse_systems(texts: Sequence[str], search: Search) -> dict[str, Search]:
    """Return the search of each system, ``NAME`` or ``NAME:SETTING=VALUE:SETTING=VALUE`` (see `read_system`).

    Args:
        texts: one a system.
        search: what all systems share: the paper that they take if they name none, and settings, for those
            that look at them and do not set them themselves.

    Raises:
        InputError: there is no such algorithm, no system looks at a change, or two systems are the same.

    >>> parse_systems(["lmo", "beam"], Search(changes={"beam": 8}))["lmo"].changes
    {}
    """
    if not texts:
        raise InputError("there is nothing to compare; name an algorithm or more, such as lmo,beam")
    twice = next((text for text in texts if texts.count(text) > 1), None)
    if twice is not None:
        raise InputError(f"{twice} is there twice; name each system once")
    algorithms = {text: algorithm_named(parse_system(text)[0]) for text in texts}
    looked_at = {name for algorithm in algorithms.values() for name in algorithm.options}
    idle = sorted(
        name for name, value in search.changes.items() if value is not None and name not in looked_at
    )
    if idle:
        raise InputError(f"none of {', '.join(texts)} looks at {idle[0].replace('_', '-')}; leave it out")
    # What is said for all systems holds for those that look at it; the others must not refuse it.
    return {
        text: replace(
            search,
            algorithm=text,
            changes={name: value for name, value in search.changes.items() if name in algorithm.options},
        )
        for text, algorithm in algorithms.items()
    }
