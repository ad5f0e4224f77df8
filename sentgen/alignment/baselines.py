"""The systems that the aligner is compared with, by name: ``cut-and-paste``, ``cut-and-paste:n=3``, ``lcs``.

Word models are unsupervised: they learn from the training pairs and from the texts that they are asked to
align, as the tools that they are named after do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sentgen.alignment.alignment import Aligner
from sentgen.alignment.lcs import LongestCommon
from sentgen.alignment.pair import Pair
from sentgen.errors import InputError


def _truth(text: str) -> bool:
    return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}[text.lower()]


@dataclass(frozen=True, slots=True)
class System:
    """How a system is made and what can be set.

    ``make`` takes the settings, ``name`` and, if the system ``learns``, ``training`` and ``seed``.
    """

    make: Callable[..., Aligner]
    help: str
    settings: Mapping[str, Callable[[str], Any]]
    learns: bool = False


#: Name to system, in the order of tables.
SYSTEMS: Mapping[str, System] = {
    "lcs": System(LongestCommon, "longest common runs of stems, greedily", {"n": int, "reuse": _truth}),
}


def aligner_named(spec: str, training: Sequence[Pair] = (), *, seed: int = 1) -> Aligner:
    """Make a system from ``NAME`` or ``NAME:SETTING=VALUE:SETTING=VALUE``.

    Args:
        spec: a name of `SYSTEMS` with settings; it is the name of the aligner, too.
        training: pairs to learn from beside those to align; systems without training ignore them.
        seed: of systems that draw random numbers.

    Raises:
        InputError: there is no such system, setting or value, or a program that it needs is not installed.

    >>> aligner_named("lcs:n=2").name
    'lcs:n=2'
    """
    name, *assignments = spec.split(":")
    system = SYSTEMS.get(name)
    if system is None:
        raise InputError(f"no system {name!r}; there are: {', '.join(SYSTEMS)}")
    settings = dict(_assignment(spec, text, system) for text in assignments)
    if system.learns:
        settings |= {"training": tuple(training), "seed": seed}
    return system.make(name=spec, **settings)


def _assignment(spec: str, text: str, system: System) -> tuple[str, Any]:
    setting, _, value = text.partition("=")
    setting = setting.strip().replace("-", "_")
    read = system.settings.get(setting)
    if read is None:
        known = ", ".join(system.settings) or "none"
        raise InputError(f"{spec!r} has no setting {setting!r}; there are: {known}")
    try:
        return setting, read(value.strip())
    except (KeyError, ValueError) as error:
        raise InputError(f"{spec!r} has the value {value!r} for {setting}, which it cannot take") from error
