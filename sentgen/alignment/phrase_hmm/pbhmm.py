"""The phrase-based HMM as an aligner (Daumé & Marcu 2004): pairs in, alignments out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sentgen.alignment.alignment import Alignment
from sentgen.alignment.budget import UNBOUNDED, Budget
from sentgen.alignment.pair import Pair
from sentgen.alignment.phrase_hmm.lattice.decode import decode_path, decode_posterior
from sentgen.alignment.phrase_hmm.lattice.links import Noted
from sentgen.alignment.phrase_hmm.passages import joined, passages
from sentgen.alignment.phrase_hmm.reasons import FLOOR, Direction, explained
from sentgen.alignment.phrase_hmm.rewriting.em import train
from sentgen.alignment.phrase_hmm.rewriting.lexicon import Lexicon, PairIds
from sentgen.alignment.phrase_hmm.rewriting.parameters import (
    RewriteParameters,
    initial_parameters,
    prior_parameters,
)
from sentgen.alignment.phrase_hmm.settings import PbhmmSettings, preset_settings
from sentgen.alignment.phrase_hmm.weighting.clues import CLUE_BYTES
from sentgen.alignment.phrase_hmm.weighting.find_clues import find_clues
from sentgen.alignment.words.nearness import Nearness
from sentgen.alignment.words.wordnet import find_wordnet
from sentgen.models.vectors.loading import WordVectors
from sentgen.output.wording import quantity


def align(
    pair: PairIds,
    parameters: RewriteParameters,
    settings: PbhmmSettings,
    *,
    reverse: RewriteParameters | None = None,
    budget: Budget = UNBOUNDED,
    explain: bool = False,
) -> Alignment:
    """Align a pair, by the best path or by posteriors as the settings say.

    ``reverse`` are the parameters of the model with document and abstract exchanged, for ``settings.both``;
    without them its priors are taken. With ``explain`` the answer has what it was chosen among.

    Raises:
        MemoryLimitError: the pair does not fit into the budget.
    """
    noted = Noted(min(FLOOR, settings.threshold)) if explain else None
    directions = [Direction(pair, parameters)]
    if settings.decode == "viterbi":
        answer = decode_path(pair, parameters, settings, budget=budget, noted=noted)
    else:
        if settings.both:
            reverse = reverse or prior_parameters(settings)
            directions.append(Direction(pair.exchanged(), reverse))
        wide = settings if noted is None else replace(settings, threshold=noted.floor)
        answer = decode_posterior(pair, parameters, wide, reverse=reverse, budget=budget, noted=noted)
    return answer if noted is None else explained(answer, noted, directions, settings)


@dataclass(frozen=True)
class PhraseHmm:
    """An aligner with what it has learnt; without parameters it has its priors only.

    Its alignments have what they were chosen among if it is to ``explain``.
    """

    name: str
    settings: PbhmmSettings
    parameters: RewriteParameters
    lexicon: Lexicon
    reverse: RewriteParameters | None = None
    budget: Budget = UNBOUNDED
    vectors: WordVectors | None = None
    explain: bool = False

    def align(self, pairs: Sequence[Pair]) -> Iterator[Alignment]:
        """Align pairs, one answer for each, in their order.

        Raises:
            MemoryLimitError: a pair does not fit into the budget.
        """
        wordnet = find_wordnet() if self.settings.kindred else None
        nearness = None if self.vectors is None else Nearness(self.vectors, self.settings.nearness)
        for pair in pairs:
            ids = self.lexicon.encode(pair)
            parts = passages(pair, ids, self.settings)
            answers = [self._aligned(part.texts(pair), part.of(ids), wordnet, nearness) for part in parts]
            yield joined(parts, answers)

    def _aligned(
        self, pair: Pair, ids: PairIds, wordnet: Path | None, nearness: Nearness | None
    ) -> Alignment:
        """Align words of known numbers."""
        ids = ids.with_words()
        # Before kinship, which takes long for texts that will not fit anyway.
        self.budget.plan(ids.sizes(), table=self.settings.decode == "posterior")
        tuning = self.parameters.tuning
        if tuning is not None:
            told = f"a document of {quantity(len(pair.document), 'word')} and an abstract of "
            self.budget.check(CLUE_BYTES * ids.sizes().cells, f"tuned, {told}{len(pair.abstract):,}")
        if self.settings.kindred:
            ids = self.lexicon.with_kinship(ids, wordnet=wordnet, nearness=nearness)
        if tuning is not None:
            ids = replace(ids, clues=find_clues(pair, ids, tuning.counts, wordnet))
        return align(
            ids,
            self.parameters,
            self.settings,
            reverse=self.reverse,
            budget=self.budget,
            explain=self.explain,
        )


def untrained(name: str = "best") -> PhraseHmm:
    """Return an aligner with the priors of a preset, which needs no training."""
    return train_phrase_hmm(f"pbhmm-{name}", (), preset_settings(name), iterations=0)


def train_phrase_hmm(
    name: str, training: Sequence[Pair], settings: PbhmmSettings, *, iterations: int
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


def _trained(
    pairs: Sequence[PairIds], lexicon: Lexicon, settings: PbhmmSettings, iterations: int
) -> RewriteParameters:
    parameters = initial_parameters(pairs, lexicon.stem_of, settings)
    for iteration in train(pairs, parameters, settings, iterations=iterations):
        parameters = iteration.parameters
    return parameters
