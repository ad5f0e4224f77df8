"""The phrase-based HMM as an aligner (Daumé & Marcu 2004): pairs in, alignments out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sentgen.alignment.alignment import Alignment
from sentgen.alignment.budget import UNBOUNDED, Budget
from sentgen.alignment.pair import Pair
from sentgen.alignment.phrase_hmm.decode import decode_path, decode_posterior, sizes_of
from sentgen.alignment.phrase_hmm.lexicon import Lexicon, PairIds
from sentgen.alignment.phrase_hmm.parameters import Parameters, prior_parameters
from sentgen.alignment.phrase_hmm.settings import Settings, preset
from sentgen.alignment.words.wordnet import find_wordnet


def align(
    pair: PairIds,
    parameters: Parameters,
    settings: Settings,
    *,
    reverse: Parameters | None = None,
    budget: Budget = UNBOUNDED,
) -> Alignment:
    """Align a pair, by the best path or by posteriors as the settings say.

    ``reverse`` are the parameters of the model with document and abstract exchanged, for ``settings.both``;
    without them its priors are taken.

    Raises:
        MemoryLimitError: the pair does not fit into the budget.
    """
    if settings.decode == "viterbi":
        return decode_path(pair, parameters, settings, budget=budget)
    if settings.both and reverse is None:
        reverse = prior_parameters(settings)
    return decode_posterior(pair, parameters, settings, reverse=reverse, budget=budget)


@dataclass(frozen=True)
class PhraseHmm:
    """An aligner with what it has learnt; without parameters it has its priors only."""

    name: str
    settings: Settings
    parameters: Parameters
    lexicon: Lexicon
    reverse: Parameters | None = None
    budget: Budget = UNBOUNDED

    def align(self, pairs: Sequence[Pair]) -> Iterator[Alignment]:
        """Align pairs, one answer for each, in their order.

        Raises:
            MemoryLimitError: a pair does not fit into the budget.
        """
        wordnet = find_wordnet() if self.settings.kindred else None
        for pair in pairs:
            ids = self.lexicon.encode(pair)
            self.budget.plan(sizes_of(ids), table=self.settings.decode == "posterior")
            if self.settings.kindred:
                ids = self.lexicon.with_kinship(ids, wordnet=wordnet)
            yield align(ids, self.parameters, self.settings, reverse=self.reverse, budget=self.budget)


def untrained(name: str = "best") -> PhraseHmm:
    """Return an aligner with the priors of a preset, which needs no training."""
    settings = preset(name)
    return PhraseHmm(f"pbhmm-{name}", settings, prior_parameters(settings), Lexicon(fold=settings.fold))
