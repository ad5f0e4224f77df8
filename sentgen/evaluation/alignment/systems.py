"""The systems of an evaluation of alignments, by name; one that is not installed does not stop the others.

`pbhmm` is the phrase-based HMM with its priors only; `pbhmm:NAME` a model of the store. Settings follow
behind colons: `pbhmm:preset=paper:iterations=10` trains in memory, `pbhmm:max-document-phrase=1` changes a
setting of the model (see `Settings`), `pbhmm:prior-identity=0` one of its priors. All other names are those
of `sentgen.alignment.systems`.

Systems that learn do so from the training pairs and from the pairs that they are to align, without links, as
in the paper.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sentgen.alignment import Aligner, Pair
from sentgen.alignment.budget import UNBOUNDED, Budget
from sentgen.alignment.phrase_hmm.em import train
from sentgen.alignment.phrase_hmm.lexicon import Lexicon, PairIds
from sentgen.alignment.phrase_hmm.parameters import Parameters, initial_parameters, prior_parameters
from sentgen.alignment.phrase_hmm.pbhmm import PhraseHmm
from sentgen.alignment.phrase_hmm.settings import Settings, preset
from sentgen.alignment.phrase_hmm.settings_json import changed, setting_names
from sentgen.alignment.stored.stored_model import StoredAligner, stored_aligner
from sentgen.alignment.systems import SYSTEMS, aligner_named
from sentgen.alignment.words.wordnet import find_wordnet
from sentgen.errors import InputError, SentgenError
from sentgen.schema import Store

#: The name of our own system.
PBHMM = "pbhmm"


@dataclass(frozen=True, slots=True)
class Ready:
    """A system that can align, and how long it has learnt."""

    aligner: Aligner
    training_seconds: float


@dataclass(frozen=True, slots=True)
class Missing:
    """A system that cannot run here, and why."""

    system: str
    reason: str


def parse_specs(text: str) -> list[str]:
    """Return the systems of a list, separated by commas.

    Raises:
        InputError: there is none, one is there twice, or none is called so.
    """
    specs = [spec.strip() for spec in text.split(",") if spec.strip()]
    if not specs:
        raise InputError("no systems; give some, such as pbhmm,cut-and-paste,lcs")
    for number, spec in enumerate(specs):
        if spec in specs[:number]:
            raise InputError(f"the system {spec!r} is there twice; remove one")
        _check_name(spec)
    return specs


def _check_name(spec: str) -> None:
    """Refuse systems and settings that there are not, so that what is left may be missing here only."""
    name, *assignments = spec.split(":")
    if name == PBHMM:
        return
    if name not in SYSTEMS:
        raise InputError(f"no system {name!r}; there are: {', '.join((PBHMM, *SYSTEMS))}")
    known = SYSTEMS[name].settings
    for assignment in assignments:
        if (setting := assignment.partition("=")[0].strip().replace("-", "_")) not in known:
            raise InputError(f"{spec!r} has no setting {setting!r}; there are: {', '.join(known) or 'none'}")


def make_system(
    spec: str,
    pairs: Sequence[Pair],
    training: Sequence[Pair] = (),
    *,
    store: Store | None = None,
    budget: Budget = UNBOUNDED,
) -> Ready | Missing:
    """Make a system, and train it if it learns beforehand.

    Args:
        spec: its name and settings.
        pairs: what it is to align, and may learn from.
        training: more pairs to learn from.
        store: where models are that have been trained.
        budget: memory for aligning a pair with our own system.

    Raises:
        InputError: a setting of our own system is wrong.
        NotFoundError: the store has no such model.
    """
    clock = time.perf_counter()
    aligner: Aligner
    if spec.split(":")[0] == PBHMM:
        aligner = replace(_phrase_hmm(spec, (*training, *pairs), store), budget=budget)
    else:
        try:
            aligner = aligner_named(spec, training)
        except SentgenError as error:
            return Missing(spec, str(error))
    return Ready(aligner, time.perf_counter() - clock)


def _phrase_hmm(spec: str, training: Sequence[Pair], store: Store | None) -> PhraseHmm | StoredAligner:
    _, *parts = spec.split(":")
    if parts and "=" not in parts[0]:
        return _stored(spec, parts[0], parts[1:], store)
    given = dict(_assignment(spec, part) for part in parts)
    iterations = _iterations(spec, given.pop("iterations", "0"))
    settings = _settings(spec, preset(given.pop("preset", "best")), given)
    return train_phrase_hmm(spec, training if iterations else (), settings, iterations=iterations)


def _stored(spec: str, name: str, parts: Sequence[str], store: Store | None) -> StoredAligner:
    """Return a model of the store, decoding in another way if the settings say so."""
    if store is None:
        raise InputError(f"{spec!r} is a model of a store, and there is none")
    model = stored_aligner(store, name, label=spec)
    given = dict(_assignment(spec, part) for part in parts)
    if given.keys() - {"decode", "threshold"}:
        raise InputError(f"{spec!r} is trained; only decode and threshold can be set")
    return replace(model, settings=_settings(spec, model.settings, given))


def _iterations(spec: str, text: str) -> int:
    if not text.isdecimal() or len(text) > 9:
        raise InputError(f"{spec[:40]!r} has the value {text[:40]!r} for iterations, which must be 0 or more")
    return int(text)


def train_phrase_hmm(
    name: str, training: Sequence[Pair], settings: Settings, *, iterations: int
) -> PhraseHmm:
    """Return the phrase-based HMM after EM in memory, in both directions if the settings decode in both.

    Without iterations it has its priors only.
    """
    lexicon = Lexicon(fold=settings.fold)
    if not iterations:
        return PhraseHmm(name, settings, prior_parameters(settings), lexicon)
    pairs = [lexicon.encode(pair) for pair in training]
    if settings.kindred:
        wordnet = find_wordnet()
        pairs = [lexicon.with_kinship(pair, wordnet=wordnet) for pair in pairs]
    exchanged = [pair.exchanged() for pair in pairs] if settings.both else None
    return PhraseHmm(
        name,
        settings,
        _trained(pairs, lexicon, settings, iterations),
        lexicon,
        None if exchanged is None else _trained(exchanged, lexicon, settings, iterations),
    )


def _trained(pairs: Sequence[PairIds], lexicon: Lexicon, settings: Settings, iterations: int) -> Parameters:
    parameters = initial_parameters(pairs, lexicon.stem_of, settings)
    for iteration in train(pairs, parameters, settings, iterations=iterations):
        parameters = iteration.parameters
    return parameters


def _assignment(spec: str, part: str) -> tuple[str, str]:
    name, equals, value = part.partition("=")
    if not equals:
        raise InputError(f"{part!r} in {spec!r} is no setting; write NAME=VALUE")
    return name.strip().replace("-", "_"), value.strip()


def _settings(spec: str, settings: Settings, given: dict[str, str]) -> Settings:
    """Change settings and priors by their names; what is wrong is said of the system."""
    for name, text in given.items():
        if name not in (known := setting_names()):
            raise InputError(f"{spec!r} has no setting {name!r}; there are: {', '.join(known)}")
        try:
            settings = changed(settings, {name: text})
        except InputError as error:
            refused = f"{spec!r} has the value {text!r} for {name}, which it cannot take"
            raise InputError(f"{refused}: {error.message}") from error
    return settings
