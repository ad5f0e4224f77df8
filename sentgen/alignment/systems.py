"""The systems of the aligner by name, for command line, server and evaluation.

`cut-and-paste` or `cut-and-paste:n=3` are baselines; word models are unsupervised: they learn from the
training pairs and from the pairs to align, as the tools do that they are named after.

`pbhmm` is the phrase-based HMM with its priors only; `pbhmm:NAME` a model of the store. Settings follow
behind colons: `pbhmm:preset=paper:iterations=10` trains in memory on all these pairs, as in the paper,
`pbhmm:vectors=NAME` relates words that are near each other by vectors of the store,
`pbhmm:max-document-phrase=1` changes a setting (see `PbhmmSettings`), `pbhmm:prior-identity=0` one of its
priors. `pbhmm` is a system in evaluations only; `align text` has options for it (`choice.py`). Plug-ins add
systems of their own, whose alignments are checked; errors name the plug-in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, get_args

import numpy as np

from sentgen.alignment.baselines.bitext import USUAL_JOIN, Join, Side
from sentgen.alignment.baselines.cut_and_paste import CutAndPaste, LongestCommon, stems
from sentgen.alignment.baselines.external import make_eflomal, make_fast_align, make_giza
from sentgen.alignment.baselines.word_models import Model1, SymmetricHMM, WordHMM
from sentgen.alignment.pairs.alignment import Aligner, Alignment, Pair, PhraseLink, Span, System
from sentgen.alignment.pairs.budget import UNBOUNDED, Budget, text_sizes
from sentgen.alignment.phrase_hmm.pbhmm import PhraseHmm
from sentgen.alignment.phrase_hmm.settings import PbhmmSettings
from sentgen.alignment.stored.stored_model import StoredAligner, with_vectors
from sentgen.entry_points import Plugin, Registry
from sentgen.errors import InputError, PluginError, SentgenError
from sentgen.options import Assignment, parse_system, truth
from sentgen.output.tabular import Rows
from sentgen.schema import Store


def _of_plugin(plugin: Plugin, given: object) -> System:
    """Return the system of a plug-in, whose exceptions become `PluginError`.

    Raises:
        PluginError: the entry point names no system.
    """
    system = plugin.of_kind(given, System)
    settings = system.settings
    if not isinstance(settings, Mapping) or not all(
        isinstance(name, str) and name.isidentifier() and callable(read) for name, read in settings.items()
    ):
        raise PluginError(
            "has settings that are no mapping of names to functions; its authors must change that",
            plugin=plugin,
        )
    guarded = {name: _guarded_setting(plugin, read) for name, read in settings.items()}
    return replace(system, make=_guarded_make(plugin, system.make), settings=guarded)


def _guarded_setting(plugin: Plugin, read: Callable[[str], object]) -> Callable[[str], object]:
    def guarded(text: str) -> object:
        try:
            return read(text)
        except (KeyError, ValueError):  # a value that the plug-in refuses
            raise
        except Exception:
            with plugin.at_work():
                raise

    return guarded


def _guarded_make(plugin: Plugin, make: Callable[..., Aligner]) -> Callable[..., Aligner]:
    def guarded(*, name: str, **settings: object) -> Aligner:
        with plugin.at_work():
            made: object = make(name=name, **settings)
        if not callable(getattr(made, "align", None)):
            fault = f"makes a {type(made).__name__} without a method `align`; tell its authors"
            raise PluginError(fault, plugin=plugin)
        return _Guarded(plugin, name, made)  # type: ignore[arg-type]

    return guarded


@dataclass(frozen=True, slots=True)
class _Guarded:
    """An aligner of a plug-in, each of whose alignments is checked."""

    plugin: Plugin
    name: str
    aligner: Aligner

    def align(self, pairs: Sequence[Pair]) -> Iterator[Alignment]:
        """Align pairs, one answer for each."""
        done = 0
        with self.plugin.at_work():
            for done, answer in enumerate(self.aligner.align(pairs), 1):
                if done > len(pairs):
                    break
                if wrong := _fault(answer, pairs[done - 1]):
                    fault = f"gives {wrong} for pair {done}; tell its authors"
                    raise PluginError(fault, plugin=self.plugin)
                yield answer
            if done != len(pairs):
                number = "more" if done > len(pairs) else "fewer"
                raise PluginError(
                    f"gives {number} answers than there are pairs; tell its authors", plugin=self.plugin
                )


def _fault(answer: object, pair: Pair) -> str:
    """Return the fault of an alignment of a pair, or an empty string."""
    if not isinstance(answer, Alignment):
        return f"a {type(answer).__name__} where an Alignment belongs"
    end = 0
    for link in answer.phrases:
        if not isinstance(link, PhraseLink):
            return f"a {type(link).__name__} where a PhraseLink belongs"
        if not _is_span(link.abstract, len(pair.abstract)) or not _is_span(link.document, len(pair.document)):
            return f"a link outside of the texts, {link.abstract!r:.50} to {link.document!r:.50},"
        if link.abstract[0] < end:
            return "links that overlap or are not in the order of the abstract"
        end = link.abstract[1]
    if answer.null is not None and len(answer.null) != len(pair.abstract):
        return f"{len(answer.null)} values of null where {len(pair.abstract)} belong"
    return ""


def _is_span(span: Span, size: int) -> bool:
    start, end = span
    return type(start) is type(end) is int and 0 <= start < end <= size


#: The name of our own system.
PBHMM = "pbhmm"

#: Product of the words of document and abstract up to which no system needs much memory.
_SMALL = 1 << 20
#: Bytes of a pair of equal words in `lcs`, and of a transition between positions of two words in
#: `cut-and-paste`.
_RUN_BYTES, _STEP_BYTES = 250, 60


def _at_least(least: int) -> Callable[[str], int]:
    """Return a parser of whole numbers that are at least ``least``."""

    def read(text: str) -> int:
        if (value := int(text)) < least:
            raise ValueError(text)
        return value

    return read


_count, _length = _at_least(0), _at_least(1)


def _share(text: str) -> float:
    value = float(text)
    if not 0 < value < 1:
        raise ValueError(text)
    return value


def _choice(*names: str) -> Callable[[str], str]:
    """Return a parser that accepts some names."""
    return {name: name for name in names}.__getitem__


_side, _join, _model = _choice(*get_args(Side)), _choice(*get_args(Join)), _choice("4", "hmm")


def _symmetric(*, name: str, join: Join = USUAL_JOIN, **settings: Any) -> SymmetricHMM:
    return SymmetricHMM(WordHMM(**settings), join, name)


_HMM = {
    "iterations": _count,
    "model1_iterations": _count,
    "null": _share,
    "smoothing": _share,
    "sentences": _count,
}
_PROGRAM = {"join": _join, "sentences": _count}
#: Systems by name, in the order of tables.
SYSTEMS: Mapping[str, System] = {
    "lcs": System(LongestCommon, "longest common runs of stems, greedily", {"n": _length, "reuse": truth}),
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


_REGISTRY = Registry("aligner", SYSTEMS, _of_plugin, reserved=(PBHMM,))


def package_of(spec: str) -> str:
    """Return name and version of the package that adds a system; an empty string for our own systems."""
    name = parse_system(spec)[0]
    return "" if name == PBHMM else _REGISTRY.package(name)


def overview() -> tuple[Rows, list[str]]:
    """Return a row an aligner, and the faults of plug-ins that cannot be loaded."""
    there, wrong = _REGISTRY.listed()
    listed = [(PBHMM, "sentgen", True, "phrase-based HMM, the aligner of sentgen", "preset iterations")]
    for name, package, system in there:
        settings = " ".join(setting.replace("_", "-") for setting in system.settings)
        listed.append((name, package, system.learns, system.help, settings))
    return Rows(["aligner", "package", "learns", "description", "settings"], listed), wrong


def parse_specs(text: str) -> list[str]:
    """Return the systems of a list that is separated by commas.

    Unknown systems and settings are refused; the systems returned may still not be installed here.

    Raises:
        InputError: the list is empty, or names a system twice or an unknown one.
    """
    specs = [spec.strip() for spec in text.split(",") if spec.strip()]
    if not specs:
        raise InputError("no systems; give some, such as pbhmm,cut-and-paste,lcs")
    for number, spec in enumerate(specs):
        if spec in specs[:number]:
            raise InputError(f"the system {spec!r} is there twice; remove one")
        name, assignments = parse_system(spec)
        if name != PBHMM:
            system = _system(name, known=(PBHMM,))
            for assignment in assignments:
                _reader(spec, system, assignment)
    return specs


def aligner_named(spec: str, training: Sequence[Pair] = ()) -> Aligner:
    """Make a system from ``NAME`` or ``NAME:SETTING=VALUE:SETTING=VALUE``.

    Args:
        spec: a name of `SYSTEMS` with settings, which is also the name of the aligner.
        training: pairs to learn from in addition to those to align; systems without training ignore them.

    Raises:
        InputError: there is no such system, setting or value, or a program of the system is not installed.

    >>> aligner_named("lcs:n=2").name
    'lcs:n=2'
    """
    name, assignments = parse_system(spec)
    system = _system(name)
    settings: dict[str, object] = {
        assignment.setting: _value(spec, system, assignment) for assignment in assignments
    }
    if system.learns:
        settings["training"] = tuple(training)
    return system.make(name=spec, **settings)


def _system(name: str, *, known: Sequence[str] = ()) -> System:
    """Return a system by name; ``known`` are further names for suggestions."""
    system = _REGISTRY.find(name)
    if system is None:
        raise InputError(f"no system {name!r}; there are: {', '.join([*known, *_REGISTRY.names()])}")
    return system


def _reader(spec: str, system: System, given: Assignment) -> Callable[[str], object]:
    """Return the parser of the values of a setting."""
    if given.setting not in system.settings:
        known = ", ".join(system.settings)
        there = f"there are: {known}" if known else "it has none at all"
        raise InputError(f"{spec!r} has no setting {given.setting!r}; {there}")
    return system.settings[given.setting]


def _value(spec: str, system: System, given: Assignment) -> object:
    read, value = _reader(spec, system, given), given.value or ""
    try:
        return read(value.strip())
    # Parsers raise `KeyError` for names, and `ValueError` for numbers.
    except (KeyError, ValueError) as error:
        refused = f"{spec!r} has the value {value!r} for {given.setting}, which it cannot take"
        raise InputError(refused) from error


def ensure_fits(spec: str, pair: Pair, budget: Budget) -> None:
    """Refuse a pair before a system aligns it for which it would need more memory than the budget has.

    Our own system has a better estimate, and checks by itself.

    Raises:
        MemoryLimitError: the system would need more memory.
    """
    name, _ = parse_system(spec)
    if name not in SYSTEMS or len(pair.document) * len(pair.abstract) < _SMALL:
        return
    if name in ("lcs", "cut-and-paste"):
        places = Counter(stems(pair.document))
        # The number of equal document words of each abstract word: at worst each pair of equal words is a
        # run.
        equal = np.array([places[word] for word in stems(pair.abstract)], np.int64)
        equal = equal[equal > 0]
        wanted = _RUN_BYTES * int(equal.sum())
        if name == "cut-and-paste":
            wanted = _STEP_BYTES * int((equal[1:] * equal[:-1]).max(initial=0)) + 8 * int(equal.sum())
    else:
        # Word models learn from extracts: `bitext.extract` compares all sentences with each other.
        sentences = len(pair.document_starts)
        wanted = 16 * sentences * (sentences + len(pair.abstract_starts))
    budget.ensure_fits(wanted, f"with {name}, {text_sizes(len(pair.document), len(pair.abstract))}")


@dataclass(frozen=True, slots=True)
class Missing:
    """A system that cannot run here, and the reason."""

    system: str
    reason: str


def make_system(
    spec: str,
    pairs: Sequence[Pair],
    training: Sequence[Pair] = (),
    *,
    store: Store | None = None,
    budget: Budget = UNBOUNDED,
) -> Aligner | Missing:
    """Make a system, and train it if it is trained before it aligns.

    It may learn from the pairs to align, and from those of ``training``; ``store`` has trained models, and
    ``budget`` is the memory of our own system for a pair.

    Raises:
        InputError: a setting of our own system is wrong.
        NotFoundError: there is no such model in the store.
        PluginError: the plug-in of the system fails.
    """
    if parse_system(spec)[0] == PBHMM:
        return replace(_phrase_hmm(spec, (*training, *pairs), store), budget=budget)
    try:
        return aligner_named(spec, training)
    except PluginError:  # a mistake, not a missing program
        raise
    except SentgenError as error:
        return Missing(spec, str(error))


def _phrase_hmm(spec: str, training: Sequence[Pair], store: Store | None) -> PhraseHmm | StoredAligner:
    _, parts = parse_system(spec)
    if parts and parts[0].value is None:
        return _stored_model(spec, parts[0].text, parts[1:], store)
    given = _setting_texts(spec, parts)
    iterations = _iterations(spec, given.pop("iterations", "0"))
    vectors = given.pop("vectors", None)
    settings = _settings(spec, PbhmmSettings.preset(given.pop("preset", "best")), given)
    made = PhraseHmm.trained(spec, training if iterations else (), settings, iterations=iterations)
    if vectors is not None and store is None:
        raise InputError(f"{spec!r} has vectors of a store, and there is none")
    return made if store is None else with_vectors(made, store, vectors)


def _stored_model(spec: str, name: str, parts: Sequence[Assignment], store: Store | None) -> StoredAligner:
    """Return a model of the store, with the decoding of the settings if given."""
    if store is None:
        raise InputError(f"{spec!r} is a model of a store, and there is none")
    model = StoredAligner.load(store, name, label=spec)
    given = _setting_texts(spec, parts)
    model = with_vectors(model, store, given.pop("vectors", None))
    if given.keys() - {"decode", "threshold"}:
        raise InputError(f"{spec!r} is trained; only decode, threshold and vectors can be set")
    return replace(model, settings=_settings(spec, model.settings, given))


def _iterations(spec: str, text: str) -> int:
    if not text.isdecimal() or len(text) > 9:
        raise InputError(f"{spec[:40]!r} has the value {text[:40]!r} for iterations, which must be 0 or more")
    return int(text)


def _setting_texts(spec: str, parts: Sequence[Assignment]) -> dict[str, str]:
    given = {}
    for part, name, value in parts:
        if value is None:
            raise InputError(f"{part!r} in {spec!r} is no setting; write NAME=VALUE")
        given[name] = value.strip()
    return given


def _settings(spec: str, settings: PbhmmSettings, given: dict[str, str]) -> PbhmmSettings:
    """Change settings and priors by their names; errors name the system."""
    for name, text in given.items():
        if name not in (known := PbhmmSettings.names()):
            raise InputError(f"{spec!r} has no setting {name!r}; there are: {', '.join(known)}")
        try:
            settings = settings.changed({name: text})
        except InputError as error:
            refused = f"{spec!r} has the value {text!r} for {name}, which it cannot take"
            raise InputError(f"{refused}: {error.message}") from error
    return settings
