"""The systems that the aligner is compared with, by name: ``cut-and-paste``, ``cut-and-paste:n=3``, ``lcs``.

Word models are unsupervised: they learn from the training pairs and from the texts that they are asked to
align, as the tools that they are named after do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, get_args

import numpy as np

from sentgen.alignment.alignment import Aligner
from sentgen.alignment.baselines.bitext import Side
from sentgen.alignment.baselines.cut_and_paste import CutAndPaste
from sentgen.alignment.baselines.external import make_eflomal, make_fast_align
from sentgen.alignment.baselines.giza import make_giza
from sentgen.alignment.baselines.hmm import SymmetricHMM, WordHMM
from sentgen.alignment.baselines.lcs import LongestCommon, stems
from sentgen.alignment.baselines.model1 import Model1
from sentgen.alignment.baselines.symmetrize import Join
from sentgen.alignment.budget import Budget
from sentgen.alignment.pair import Pair
from sentgen.errors import InputError

#: Words of a document times those of an abstract up to which no system takes much.
_SMALL = 1 << 20
#: Bytes of a pair of equal words in `lcs`, and of a step from one place of a word to one of the next word in
#: `cut-and-paste`.
_RUN_BYTES, _STEP_BYTES = 250, 60


def _truth(text: str) -> bool:
    return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}[text.lower()]


def _count(text: str) -> int:
    value = int(text)
    if value < 0:
        raise ValueError(text)
    return value


def _length(text: str) -> int:
    value = int(text)
    if value < 1:
        raise ValueError(text)
    return value


def _share(text: str) -> float:
    value = float(text)
    if not 0 < value < 1:
        raise ValueError(text)
    return value


def _side(text: str) -> Side:
    return next(side for side in get_args(Side) if side == text)


def _join(text: str) -> Join:
    return next(join for join in get_args(Join) if join == text)


def _model(text: str) -> str:
    return {"4": "4", "hmm": "hmm"}[text]


@dataclass(frozen=True, slots=True)
class System:
    """How a system is made: with ``name``, the settings that it has and, if it ``learns``, ``training``."""

    make: Callable[..., Aligner]
    help: str
    settings: Mapping[str, Callable[[str], Any]]
    learns: bool = False


def _symmetric(*, name: str, join: Join = "grow-diag-final-and", **settings: Any) -> SymmetricHMM:
    return SymmetricHMM(WordHMM(**settings), join, name)


_HMM = {
    "iterations": _count,
    "model1_iterations": _count,
    "null": _share,
    "smoothing": _share,
    "sentences": _count,
}
_PROGRAM = {"join": _join, "sentences": _count}
#: Name to system, in the order of tables.
SYSTEMS: Mapping[str, System] = {
    "lcs": System(LongestCommon, "longest common runs of stems, greedily", {"n": _length, "reuse": _truth}),
    "cut-and-paste": System(CutAndPaste, "Jing 2002: blocks of equal stems", {"n": _length, "near": _count}),
    "model1": System(
        Model1,
        "IBM Model 1, the document as source",
        {"iterations": _count, "source": _side, "sentences": _count},
        learns=True,
    ),
    "hmm": System(partial(WordHMM, source="abstract"), "HMM, the abstract as source", _HMM, learns=True),
    "hmm-flipped": System(
        partial(WordHMM, source="document"), "HMM, the document as source", _HMM, learns=True
    ),
    "hmm-symmetric": System(_symmetric, "HMM, both directions joined", _HMM | {"join": _join}, learns=True),
    "eflomal": System(make_eflomal, "eflomal, if it is installed", _PROGRAM, learns=True),
    "fast-align": System(make_fast_align, "fast_align, if it is installed", _PROGRAM, learns=True),
    "mgiza": System(
        partial(make_giza, executable="mgiza"),
        "MGIZA, if it is installed: Model 4, or model=hmm",
        _PROGRAM | {"model": _model},
        learns=True,
    ),
    "giza": System(
        partial(make_giza, executable="GIZA++"),
        "GIZA++, if it is installed: Model 4, or model=hmm",
        _PROGRAM | {"model": _model},
        learns=True,
    ),
}


def aligner_named(spec: str, training: Sequence[Pair] = ()) -> Aligner:
    """Make a system from ``NAME`` or ``NAME:SETTING=VALUE:SETTING=VALUE``.

    Args:
        spec: a name of `SYSTEMS` with settings; it is the name of the aligner, too.
        training: pairs to learn from beside those to align; systems without training ignore them.

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
        settings["training"] = tuple(training)
    return system.make(name=spec, **settings)


def check_memory(spec: str, pair: Pair, budget: Budget) -> None:
    """Refuse a pair for which a system takes more memory than there is, before it starts.

    Our own system knows better, and checks by itself.

    Raises:
        MemoryLimitError: it would take more.
    """
    name = spec.split(":")[0]
    if name not in SYSTEMS or len(pair.document) * len(pair.abstract) < _SMALL:
        return
    if name in ("lcs", "cut-and-paste"):
        places = Counter(stems(pair.document))
        equal = np.array([places[word] for word in stems(pair.abstract)], np.int64)
        equal = equal[equal > 0]
        wanted = _RUN_BYTES * int(equal.sum())
        if name == "cut-and-paste":
            wanted = _STEP_BYTES * int((equal[1:] * equal[:-1]).max(initial=0)) + 8 * int(equal.sum())
    else:
        sentences = len(pair.document_starts)
        wanted = 16 * sentences * (sentences + len(pair.abstract_starts))
    told = f"a document of {len(pair.document):,} words and an abstract of {len(pair.abstract):,}"
    budget.check(wanted, f"with {name}, {told}")


def _assignment(spec: str, text: str, system: System) -> tuple[str, Any]:
    setting, _, value = text.partition("=")
    setting = setting.strip().replace("-", "_")
    read = system.settings.get(setting)
    if read is None:
        known = ", ".join(system.settings) or "none"
        raise InputError(f"{spec!r} has no setting {setting!r}; there are: {known}")
    try:
        return setting, read(value.strip())
    except (KeyError, ValueError, StopIteration) as error:
        raise InputError(f"{spec!r} has the value {value!r} for {setting}, which it cannot take") from error
