"""The choice of an aligner by the options of `align text` and `align apply`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import Annotated, Literal

from sentgen.alignment.pairs.alignment import Aligner, Alignment
from sentgen.alignment.pairs.budget import UNBOUNDED, Budget
from sentgen.alignment.phrase_hmm.pbhmm import PhraseHmm
from sentgen.alignment.stored.application import ApplicationSummary, apply_model
from sentgen.alignment.stored.stored_model import StoredAligner, with_vectors
from sentgen.alignment.systems import aligner_named
from sentgen.errors import InputError, spell
from sentgen.options import Option
from sentgen.schema import Store

Preset = Literal["paper", "best"]
#: Note about an aligner without model and system.
_PRIORS = "priors only: nothing was learnt from pairs; `sentgen align train` makes a model for {model}"
#: Note about an aligner that cannot give the reasons that were asked for.
_NO_REASONS_NOTE = "no reasons: this aligner has no posteriors; the phrase-based HMM and its models have"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What is chosen of `align text`, in the names of its options.

    Raises:
        InputError: choices exclude each other.
    """

    model: Annotated[
        str | None,
        Option("A model of `sentgen align train`.", short="-m", metavar="NAME", api={"max_length": 200}),
    ] = None
    system: Annotated[
        str | None,
        Option(
            "Another aligner: NAME[:SETTING=VALUE], such as cut-and-paste.",
            shell="Another aligner, such as cut-and-paste or lcs.",
            metavar="NAME[:SETTING=VALUE]",
            api={"max_length": 200},
        ),
    ] = None
    preset: Annotated[
        Preset | None,
        Option(
            "Settings of the aligner without a model; best if not given.",
            shell="Settings of the aligner without --model; best if not given.",
            closed=True,
        ),
    ] = None
    vectors: Annotated[
        str | None,
        Option(
            "Vectors of `sentgen vectors build`: words that they bring near are related.",
            metavar="NAME",
            api={"max_length": 200},
        ),
    ] = None
    decode: Annotated[
        Literal["viterbi", "posterior"] | None,
        Option("The best path, or links with a high posterior.", closed=True),
    ] = None
    threshold: Annotated[float | None, Option("Least posterior of a link.", metavar="T", least=0, most=1)] = (
        None
    )
    explain: Annotated[
        bool,
        Option(
            "Say what each link is made of, and what it was chosen among.",
            shell="Show what each link is made of, and its runner-up.",
        ),
    ] = False

    def __post_init__(self) -> None:
        if self.model is not None and self.system is not None:
            raise InputError(f"{spell('model')} and {spell('system')} exclude each other; choose one")
        if self.system is not None and (self.decode is not None or self.threshold is not None):
            raise InputError(
                f"{spell('decode')} and {spell('threshold')} are of the phrase-based HMM; leave out"
                f" {spell('system')}"
            )
        if self.system is not None and self.vectors is not None:
            raise InputError(f"{spell('vectors')} are for the phrase-based HMM; leave out {spell('system')}")
        if self.preset is not None and not self.priors_only:
            raise InputError(
                f"{spell('preset')} is for the aligner without {spell('model')} and"
                f" {spell('system')}; leave it out"
            )

    @property
    def needs_store(self) -> bool:
        """Return whether a model or vectors are to be read."""
        return self.model is not None or self.vectors is not None

    @property
    def priors_only(self) -> bool:
        """Return whether the aligner is the untrained phrase-based HMM."""
        return self.model is None and self.system is None

    def notes(self, answers: Iterable[Alignment]) -> list[str]:
        """Return notes for the reader of alignments."""
        lines = [_PRIORS.format(model=spell("model"))] if self.priors_only else []
        if self.explain and any(answer.weighed is None for answer in answers):
            lines.append(_NO_REASONS_NOTE)
        return lines

    def aligner(self, store: Callable[[], Store], *, budget: Budget = UNBOUNDED) -> tuple[Aligner, str]:
        """Return the chosen aligner, and a description of it for readers.

        Args:
            store: opens the store; called for a model, which needs it as long as it aligns, or for vectors.
            budget: memory for the phrase-based HMM.

        Raises:
            NotFoundError: there are no such model or vectors.
            InputError: there is no such system, vectors change nothing, or a threshold for the best path.
        """
        store = cache(store)  # opened once, for the model and the vectors
        if self.system is not None:
            return aligner_named(self.system), self.system
        if self.model is not None:
            aligner: StoredAligner | PhraseHmm = StoredAligner.load(store(), self.model)
            name = f"the model {self.model}"
        else:
            aligner = PhraseHmm.untrained(self.preset or "best")
            name = f"the phrase-based HMM, preset {self.preset or 'best'}, with its priors only"
        if self.vectors is not None:
            aligner = with_vectors(aligner, store(), self.vectors)
            name = f"{name}, with the vectors {self.vectors}"
        settings = aligner.settings.with_decoding(decode=self.decode, threshold=self.threshold)
        return replace(aligner, settings=settings, budget=budget, explain=self.explain), name

    def apply(
        self,
        store: Store,
        pairs: str,
        *,
        budget: Budget,
        progress: Callable[[int, int], None] | None = None,
    ) -> ApplicationSummary:
        """Align a corpus of pairs with the chosen aligner; see `apply_model`."""
        return apply_model(
            store,
            pairs,
            self.model,
            preset=self.preset,
            decode=self.decode,
            threshold=self.threshold,
            vectors=self.vectors,
            budget=budget,
            progress=progress,
        )
