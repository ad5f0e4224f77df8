"""Systems to compare: an algorithm with settings, such as ``beam:beam=512`` or ``ab:as-published=2009``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sentgen.errors import InputError
from sentgen.generation import Search, algorithm_named
from sentgen.generation.systems import read_system


def parse_systems(texts: Sequence[str], search: Search) -> dict[str, Search]:
    """Read systems: ``NAME`` or ``NAME:SETTING=VALUE:SETTING=VALUE``; returns the search of each.

    Settings are those of the algorithm, with dashes or underscores, and ``as-published`` for a paper.

    Args:
        texts: one a system.
        search: what all systems share: the paper that they take if they name none, and settings, for those
            that look at them and do not set them themselves.

    Raises:
        InputError: there is no such algorithm or value, no system looks at a change, or two systems are the
            same.

    >>> parse_systems(["lmo", "lmo:order=3"], Search())["lmo:order=3"].changes
    {'order': 3}
    """
    if not texts:
        raise InputError("there is nothing to compare; name an algorithm or more, such as lmo,greedy")
    twice = next((text for text in texts if texts.count(text) > 1), None)
    if twice is not None:
        raise InputError(f"{twice} is there twice; name each system once")
    systems = {text: _parse(text, search) for text in texts}
    looked_at = {name for system in systems.values() for name in algorithm_named(system.algorithm).options}
    idle = sorted(
        name for name, value in search.changes.items() if value is not None and name not in looked_at
    )
    if idle:
        raise InputError(f"none of {', '.join(texts)} looks at {idle[0].replace('_', '-')}; leave it out")
    return systems


def _parse(text: str, search: Search) -> Search:
    algorithm, paper, own = read_system(text)
    # What is said for all systems holds for those that look at it; the others must not refuse it.
    shared = {setting: value for setting, value in search.changes.items() if setting in algorithm.options}
    paper = search.as_published if paper is None else paper
    return replace(search, algorithm=algorithm.name, as_published=paper, changes=shared | own)
