"""The aligner that somebody asks for: a model, a system, or the priors; for command line and server alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from sentgen.alignment.alignment import Aligner
from sentgen.alignment.budget import UNBOUNDED, Budget
from sentgen.alignment.phrase_hmm.pbhmm import untrained
from sentgen.alignment.phrase_hmm.settings import Settings
from sentgen.alignment.phrase_hmm.settings_json import decoding
from sentgen.alignment.stored.stored_model import stored_aligner
from sentgen.alignment.systems import aligner_named
from sentgen.errors import InputError
from sentgen.schema import Store

#: What to say of an aligner without model and system.
PRIORS_NOTE = "priors only: nothing was learnt from pairs; `sentgen align train` makes a model for --model"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What is chosen of `align text`, in the names of its options.

    Raises:
        InputError: choices exclude each other.
    """

    model: str | None = None
    system: str | None = None
    preset: str | None = None
    decode: Literal["viterbi", "posterior"] | None = None
    threshold: float | None = None

    def __post_init__(self) -> None:
        if self.model is not None and self.system is not None:
            raise InputError("--model and --system exclude each other; choose one")
        if self.system is not None and (self.decode is not None or self.threshold is not None):
            raise InputError("--decode and --threshold are of the phrase-based HMM; leave out --system")
        if self.preset is not None and not self.priors_only:
            raise InputError("--preset is for the aligner without --model and --system; leave it out")

    @property
    def priors_only(self) -> bool:
        """Return whether the aligner has learnt nothing."""
        return self.model is None and self.system is None


def chosen_aligner(
    choice: Choice, store: Callable[[], Store], *, budget: Budget = UNBOUNDED
) -> tuple[Aligner, str]:
    """Return the aligner that was chosen, and what a reader is told of it.

    Args:
        choice: what was chosen.
        store: opens the store; called for a model only, which needs it as long as it aligns.
        budget: memory for the phrase-based HMM.

    Raises:
        NotFoundError: there is no such model.
        InputError: there is no such system, or a threshold for the best path.
    """
    if choice.system is not None:
        return aligner_named(choice.system), choice.system
    if choice.model is not None:
        stored = stored_aligner(store(), choice.model)
        stored = replace(stored, settings=_decoding(stored.settings, choice), budget=budget)
        return stored, f"the model {choice.model}"
    preset = choice.preset or "best"
    aligner = untrained(preset)
    name = f"the phrase-based HMM, preset {preset}, with its priors only"
    return replace(aligner, settings=_decoding(aligner.settings, choice), budget=budget), name


def _decoding(settings: Settings, choice: Choice) -> Settings:
    return decoding(settings, decode=choice.decode, threshold=choice.threshold)
