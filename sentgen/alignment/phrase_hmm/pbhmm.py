"""The phrase-based HMM as an aligner (Daumé & Marcu 2004): pairs in, alignments out.

A place in a document of n words costs a jump of about 1 / n, the posterior of a word that is copied from one
of c copies is shared out among them, and in the reverse direction a longer document has more words from null:
what is added to a document takes links away from the rest. So a long document is read first, as one looks for
a source: for each abstract sentence, the document sentence that has most of it, then the one that adds most
to that, and so on, as long as it adds enough (Marcu 1999 and Daumé & Marcu 2004, sec. 3.2, do so for word
models). The rest of the document is not looked at, however long it is, and a repeated sentence is read once.

What a sentence has of another one is counted in stems and in pairs of neighboring stems. Their weights do not
depend on the document: nothing that is added to it changes what a sentence of it is worth.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from sentgen.alignment.pairs.alignment import Alignment, Pair, PhraseLink, Weighed
from sentgen.alignment.pairs.budget import UNBOUNDED, Budget
from sentgen.alignment.phrase_hmm.clues import find_clues
from sentgen.alignment.phrase_hmm.decode import decode_path, decode_posterior
from sentgen.alignment.phrase_hmm.em import train
from sentgen.alignment.phrase_hmm.lexicon import CLUE_BYTES, Lexicon, PairIds, phrase_keys
from sentgen.alignment.phrase_hmm.links import Noted
from sentgen.alignment.phrase_hmm.parameters import (
    RewriteParameters,
    initial_parameters,
    prior_parameters,
)
from sentgen.alignment.phrase_hmm.reasons import FLOOR, Direction, explained
from sentgen.alignment.phrase_hmm.settings import PbhmmSettings, preset_settings
from sentgen.alignment.words.kinship import Nearness
from sentgen.alignment.words.word_classes import is_function_word, sentence_starts
from sentgen.alignment.words.wordnet import find_wordnet
from sentgen.arrays import Bools, Floats, Ints, Longs
from sentgen.models.vectors.loading import WordVectors
from sentgen.output.wording import quantity

#: What a function word is worth, of a content word,
FUNCTION = 0.1
#: and two neighbors, of the mean of both. Chosen, as the settings are, on every other pair (docs/pbhmm.md).
NEIGHBORS = 0.75
#: Share of an abstract sentence that the first sentence has at least that it may come from.
SHARE = 0.1


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of an abstract, and the offsets of the document words that it is aligned with, ascending."""

    abstract: slice
    document: Longs

    def texts(self, pair: Pair) -> Pair:
        """Return both parts of a pair, one text each."""
        document = tuple(pair.document[place] for place in self.document.tolist())
        return Pair(pair.key, document, pair.abstract[self.abstract])

    def of(self, pair: PairIds) -> PairIds:
        """Return both parts of a pair as numbers."""
        here, there = self.abstract, self.document
        return PairIds(
            pair.document[there], pair.abstract[here], pair.document_stems[there], pair.abstract_stems[here]
        )

    def placed(self, phrase: PhraseLink) -> Iterator[PhraseLink]:
        """Yield a link between the parts as one of the whole texts, or as several where the words part."""
        (first, end), (start, stop) = phrase.document, phrase.abstract
        copied = stop - start == end - first
        start, stop = start + self.abstract.start, stop + self.abstract.start
        words = self.document[first:end]
        firsts = np.append(True, np.diff(words) > 1).astype(np.bool_)
        for begin, last in _runs(firsts, len(words)):
            place = int(words[begin]), int(words[last - 1]) + 1
            # Of a copy each word belongs to one; of other phrases, all belong to all.
            of = (start + begin, start + last) if copied else (start, stop)
            yield PhraseLink(of, place, phrase.posterior)

    def placed_weighed(self, answer: Alignment) -> Weighed | None:
        """Return what an alignment of the parts was chosen among, as of the whole texts."""
        if answer.weighed is None:
            return None
        begin = self.abstract.start
        links = (
            replace(one, abstract=one.abstract + begin, document=int(self.document[one.document]))
            for one in answer.weighed.links
        )
        return replace(answer.weighed, links=tuple(links))


def _runs(firsts: Bools, length: int) -> Iterator[tuple[int, int]]:
    begins = np.flatnonzero(firsts).tolist()
    return zip(begins, [*begins[1:], length], strict=True)


def passages(pair: Pair, ids: PairIds, settings: PbhmmSettings) -> list[Passage]:
    """Return the parts of an abstract with what each is to be aligned with, in their order.

    Nothing is linked to a sentence that was there before. The abstract is one part, with all that is left of
    the document, if that has no more sentences than the abstract, or than ``settings.whole_sentences``.
    O(n log n + the places of the abstract's words in the document).

    Args:
        pair: both texts.
        ids: of the same pair.
        settings: the model.
    """
    everything = slice(0, len(pair.abstract))
    if settings.whole_sentences is None or not pair.document or not pair.abstract:
        return [Passage(everything, np.arange(len(pair.document)))]
    starts, lengths = _distinct(ids.document, sentence_starts(pair.document, pair.document_starts))
    begins = sentence_starts(pair.abstract, pair.abstract_starts)
    if len(starts) <= max(settings.whole_sentences, len(begins)):
        return [Passage(everything, _offsets(starts, lengths))]
    index = _Index(ids.document_stems, starts, lengths)
    weights = np.array([FUNCTION if is_function_word(word) else 1.0 for word in pair.abstract])
    found = []
    for begin, end in zip(begins.tolist(), [*begins[1:].tolist(), len(pair.abstract)], strict=True):
        chosen = index.best(ids.abstract_stems[begin:end], weights[begin:end], settings.passage_gain)
        found.append(Passage(slice(begin, end), _offsets(starts[chosen], lengths[chosen])))
    return found


def _distinct(words: Ints, starts: Longs) -> tuple[Longs, Longs]:
    """Return where the different sentences begin, each at its first place, and their lengths."""
    ends = np.append(starts[1:], len(words))
    first = {words[begin:end].tobytes(): begin for begin, end in zip(starts[::-1], ends[::-1], strict=True)}
    kept = np.isin(starts, np.array(list(first.values())))
    return starts[kept], (ends - starts)[kept]


def _offsets(starts: Longs, lengths: Longs) -> Longs:
    """Return the offsets of the words of some sentences."""
    parts = [np.arange(start, start + length) for start, length in zip(starts, lengths, strict=True)]
    return np.concatenate([np.empty(0, np.int64), *parts])


class _Index:
    """The sentences of a document by their stems and pairs of neighbors, each sentence once for each."""

    def __init__(self, stems: Ints, starts: Longs, lengths: Longs) -> None:
        words = _offsets(starts, lengths)
        sentence = np.repeat(np.arange(len(starts)), lengths)
        # Sentences that were left out part neighbors, as ends of sentences do.
        neighbors = np.flatnonzero((sentence[1:] == sentence[:-1]) & (np.diff(words) == 1))
        keys = np.concatenate([stems[words].astype(np.int64), phrase_keys(stems, 2)[words[neighbors]]])
        sentence = np.concatenate([sentence, sentence[neighbors]])
        order = np.lexsort((sentence, keys))
        keys, sentence = keys[order], sentence[order]
        fresh = np.append(True, (np.diff(keys) != 0) | (np.diff(sentence) != 0))
        self._keys, self._sentence, self._size = keys[fresh], sentence[fresh], len(starts)

    def best(self, stems: Ints, weights: Floats, gain: float) -> Longs:
        """Return the numbers of the sentences that have most of an abstract sentence, ascending.

        Of several that add as much the first is taken. The first one has ``SHARE`` of all weights or more;
        each further one adds ``gain`` of what those before it have.
        """
        keys = np.concatenate([stems.astype(np.int64), phrase_keys(stems, 2)])
        left = np.concatenate([weights, NEIGHBORS * (weights[1:] + weights[:-1]) / 2])
        begins, ends = (np.searchsorted(self._keys, keys, side) for side in ("left", "right"))
        feature = np.repeat(np.arange(len(keys)), ends - begins)
        sentence = np.concatenate(
            [np.empty(0, np.int64)] + [self._sentence[a:b] for a, b in zip(begins, ends, strict=True)]
        )
        chosen, enough, had = list[int](), SHARE * left.sum(), 0.0
        while len(sentence):
            gains = np.bincount(sentence, left[feature], self._size)
            best = int(gains.argmax())
            # Against rounding; and where nothing is left to gain, nothing is enough.
            if gains[best] < max(enough - 1e-9, 1e-9):
                break
            chosen.append(best)
            had += gains[best]
            enough = gain * had
            left[feature[sentence == best]] = 0.0
        return np.array(sorted(chosen), np.int64)


def joined(parts: Sequence[Passage], answers: Sequence[Alignment]) -> Alignment:
    """Return the alignment of a pair out of those of its parts, which count as independent."""
    links = (
        link
        for part, answer in zip(parts, answers, strict=True)
        for phrase in answer.phrases
        for link in part.placed(phrase)
    )
    null = (prob for answer in answers for prob in answer.null or ())
    weighed = _joined([part.placed_weighed(answer) for part, answer in zip(parts, answers, strict=True)])
    return Alignment(tuple(links), tuple(null), sum(answer.logp or 0.0 for answer in answers), weighed)


def _joined(parts: Sequence[Weighed | None]) -> Weighed | None:
    known = [part for part in parts if part is not None]
    if not known:
        return None
    return replace(known[0], links=tuple(link for part in known for link in part.links))


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
