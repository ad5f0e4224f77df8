"""The phrase-based HMM as an aligner (Daumé & Marcu 2004): pairs in, alignments out.

A jump to one of n document words has a probability of about 1 / n, a word that occurs c times in the document
shares its posterior among c positions, and in the reverse direction a longer document has more words from
null: text that is added to a document takes links away from the rest. So sentences of a long document are
selected first: for each abstract sentence, the document sentence that covers most of it, then the one that
covers most of the remainder, and so on, as long as the gain is large enough (Marcu 1999 and Daumé & Marcu
2004, sec. 3.2, do so for word models). The other sentences are not aligned, and a repeated sentence is
aligned once.

Coverage is the weight of the shared stems and pairs of neighboring stems. The weights do not depend on the
document, so that added text does not change the coverage by other sentences.

A link is explained as follows. It comes from the event of its word pair, or from events of several words that
contain it. The posterior of each event is divided among the components of its rewrite probability, as EM does
(``emission.credit``); the share of a component is its sum over events, divided by the posterior of the link.
With two directions, the shares are the mean of both.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from sentgen.alignment.pairs.alignment import Alignment, Pair, PhraseLink, Weighed, WeighedLink
from sentgen.alignment.pairs.budget import UNBOUNDED, Budget, text_sizes
from sentgen.alignment.phrase_hmm.decode import Noted, decode_path, decode_posterior
from sentgen.alignment.phrase_hmm.em import train
from sentgen.alignment.phrase_hmm.emission import Rewriting, rewriting
from sentgen.alignment.phrase_hmm.kernels import IDENTITY, STEMS, TABLE, Components, share_out_events
from sentgen.alignment.phrase_hmm.lexicon import CLUE_BYTES, Lexicon, PairIds, phrase_keys
from sentgen.alignment.phrase_hmm.parameters import RewriteParameters
from sentgen.alignment.phrase_hmm.settings import PbhmmSettings
from sentgen.alignment.phrase_hmm.weights import LINK_OFFSETS, NAMES, find_clues
from sentgen.alignment.words.kinship import GROUPED, NEAR, RELATED, SIMILAR, SYNONYM, Kinds, Nearness
from sentgen.alignment.words.word_classes import is_function_word, sentence_starts
from sentgen.alignment.words.wordnet import find_wordnet
from sentgen.arrays import Bools, Floats, Ints, Longs
from sentgen.models.vectors import WordVectors

Key = TypeVar("Key", bound=Hashable)
#: Least posterior of links that are explained, chosen or not.
_FLOOR = 0.05
#: Shares and weights below this are rounding errors.
_ROUNDING_ERROR = 1e-9

_KIN = {
    SIMILAR: "similar spelling",
    GROUPED: "same group of function words",
    SYNONYM: "synonyms",
    RELATED: "related words",
    NEAR: "near vectors",
}
#: Names of shares: components of the word pair, of events of several words, and other links.
_SHARES = (
    *("same word", "same stem", *_KIN.values(), "rewrite table", "stem table", "untrained table"),
    *("copied run", "run of same stems", "phrase table", "phrase stem table"),
    "linked sentences",
)
_AT = {name: number for number, name in enumerate(_SHARES)}


@dataclass(frozen=True, slots=True)
class _Direction:
    """A direction of the model: the pair, exchanged in the reverse direction, and the parameters."""

    pair: PairIds
    parameters: RewriteParameters


@dataclass(frozen=True, slots=True)
class _Candidates:
    """Candidate links: offsets in the abstract and in the document, sorted by both, and their posteriors.

    ``made`` (links, directions) are the posteriors in each direction; ``by_sentence`` flags links of full
    stops, whose posterior is not computed from those.
    """

    rows: Longs
    columns: Longs
    posteriors: Floats
    made: Floats
    by_sentence: Bools


def _explain_alignment(
    answer: Alignment, noted: Noted, directions: Sequence[_Direction], settings: PbhmmSettings
) -> Alignment:
    """Return an alignment with its candidate links; its phrases are the chosen links only.

    The decoded alignment has all links from ``noted.floor`` on. Of the directions, the abstract from the
    document is the first.
    """
    links = _candidates(answer, noted, directions[0].pair, settings)
    shares = np.zeros((len(links.rows), len(_SHARES)))
    for number, direction in enumerate(directions):
        parts = rewriting(direction.pair, direction.parameters, settings)
        made_of = _made_of(parts, direction, settings, noted.events[number], links, number)
        shares += made_of / len(directions)
    shares[links.by_sentence] = np.arange(len(_SHARES)) == _AT["linked sentences"]
    threshold = settings.threshold if settings.decode == "posterior" else None
    phrases = answer.phrases
    if threshold is not None:
        phrases = tuple(
            link for link in phrases if link.posterior is not None and link.posterior >= threshold
        )
    return replace(
        answer,
        phrases=phrases,
        weighed=Weighed(noted.floor, threshold, _weighed_links(links, shares, _weights(directions, links))),
    )


def _candidates(answer: Alignment, noted: Noted, pair: PairIds, settings: PbhmmSettings) -> _Candidates:
    """Return the candidates: the noted links of a best path, else the links of the answer with full stops."""
    rows, columns, made = noted.links()
    if settings.decode == "viterbi":
        return _Candidates(rows, columns, made[:, 0], made, np.zeros(len(rows), np.bool_))
    cells = [(phrase.abstract[0], phrase.document[0], phrase.posterior) for phrase in answer.phrases]
    links = np.array(cells, np.float64).reshape(-1, 3)
    (at, to), n = links[:, :2].T.astype(np.int64), len(pair.document)
    stops = pair.stops() if settings.stops else None
    by_sentence = np.zeros(len(at), np.bool_) if stops is None else stops[0][at] & stops[1][to]
    index = np.searchsorted(rows * n + columns, at * n + to)
    of_links = np.zeros((len(at), made.shape[1]))
    of_links[~by_sentence] = made[index[~by_sentence]]
    return _Candidates(at, to, links[:, 2], of_links, by_sentence)


def _made_of(
    rewriting: Rewriting,
    direction: _Direction,
    settings: PbhmmSettings,
    events: Floats,
    links: _Candidates,
    number: int,
) -> Floats:
    """Return the shares of the posterior of each link in one direction, (links, shares).

    ``events`` are the posteriors of the phrase events; ``number`` is 1 if document and abstract are
    exchanged, else 0.
    """
    of_events = _of_events(rewriting, direction, settings, events, links, swapped=number == 1)
    texts = (links.rows, links.columns) if number == 0 else (links.columns, links.rows)
    of_words = _of_words(rewriting, direction, settings, *texts)
    # The posterior of the word pair: that of the link less those of the events; below 0 only by rounding.
    alone = np.maximum(links.made[:, number] - of_events.sum(axis=1), 0.0)
    masses = alone[:, None] * of_words + of_events
    # A link with posterior 0 gets the shares of its word pair.
    sums = masses.sum(axis=1, keepdims=True)
    np.divide(masses, sums, out=of_words, where=sums > 0)
    return of_words


def _of_words(
    rewriting: Rewriting, direction: _Direction, settings: PbhmmSettings, rows: Longs, columns: Longs
) -> Floats:
    """Return the shares of the components in the word pair of each link, (links, shares)."""
    words, into = rewriting.pair.words
    row, column = into.at[rows], words.at[columns]
    shares = np.zeros((len(rows), len(_SHARES)))
    for part in rewriting.word_parts(direction.parameters, settings):
        here = np.flatnonzero((row >= part.rows.start) & (row < part.rows.stop))
        cells = (row[here] - part.rows.start) * len(words.ids) + column[here]
        some = Components(part.components.parts[:, cells], *(values[cells] for values in part.components[1:]))
        kinship = rewriting.pair.kinship
        kinds = None if kinship is None else kinship.kinds[row[here], column[here]]
        same_stem = into.stems[row[here]] == words.stems[column[here]]
        named = _named_shares(some, direction.parameters.weights, settings, kinds, same_stem)
        for name, mass in named:
            shares[here, _AT[name]] += mass
    # Rows of zeros stay 0.
    sums = shares.sum(axis=1, keepdims=True)
    np.divide(shares, sums, out=shares, where=sums > 0)
    return shares


def _named_shares(
    components: Components, weights: Floats, settings: PbhmmSettings, kinship: Kinds | None, same_stem: Bools
) -> Iterator[tuple[str, Floats]]:
    """Yield the weighted components of word pairs under the names of their shares."""
    table, stems, identity = weights[:, None] * components.parts
    learnt = np.where(components.cells >= 0, weights[TABLE] * components.learnt, 0.0)
    yield "rewrite table", learnt
    yield "untrained table", table - learnt
    if settings.stems == "table":
        known = components.stem_cells >= 0
        yield "stem table", np.where(known, stems, 0.0)
        yield "untrained table", np.where(known, 0.0, stems)
        yield "same stem", identity
        return
    yield "same word", identity
    # Words with equal stems are related by their spelling, too; the stem is the better explanation.
    yield "same stem", np.where(same_stem, stems, 0.0)
    if kinship is not None:
        for kind, name in _KIN.items():
            yield name, np.where(~same_stem & (kinship == kind), stems, 0.0)


def _of_events(
    rewriting: Rewriting,
    direction: _Direction,
    settings: PbhmmSettings,
    posteriors: Floats,
    links: _Candidates,
    *,
    swapped: bool,
) -> Floats:
    """Return the part of events of several words in the posterior of each link, (links, shares)."""
    parts = direction.parameters.weights[:, None] * rewriting.event_parts.parts
    total = parts.sum(axis=0)
    shares = parts * np.divide(posteriors, total, out=np.zeros_like(total), where=total > 0)
    rows = len(rewriting.pair.document if swapped else rewriting.pair.abstract)
    starts = np.searchsorted(links.rows, np.arange(rows + 1))
    masses = np.zeros((len(links.rows), len(shares)))
    share_out_events(rewriting.emission.events, shares, starts, links.columns, swapped, masses)
    stems, identity = ("phrase stem table", "run of same stems")
    if settings.stems == "equal":
        stems, identity = ("run of same stems", "copied run")
    shares_by_name = np.zeros((len(masses), len(_SHARES)))
    for component, name in ((TABLE, "phrase table"), (STEMS, stems), (IDENTITY, identity)):
        shares_by_name[:, _AT[name]] = masses[:, component]
    return shares_by_name


def _weights(directions: Sequence[_Direction], links: _Candidates) -> Iterator[Mapping[int, float]]:
    """Yield the weight of each feature in the log score of each link, as the mean of the directions."""
    values = directions[0].pair.clues
    tunings = [direction.parameters.tuning for direction in directions]
    if values is None or None in tunings:
        yield from ({} for _ in links.rows)
        return
    places = LINK_OFFSETS[:, None] + values.links[:, links.rows, links.columns]
    means = np.mean([direction.weights[places] for direction in tunings if direction is not None], axis=0)
    for numbers, weights in zip(places.T.tolist(), means.T.tolist(), strict=True):
        yield dict(zip(numbers, weights, strict=True))


def _weighed_links(
    links: _Candidates, shares: Floats, weights: Iterable[Mapping[int, float]]
) -> tuple[WeighedLink, ...]:
    arrays = links.rows, links.columns, np.minimum(links.posteriors, 1.0), np.minimum(links.made, 1.0)
    rows = zip(
        *(array.tolist() for array in (*arrays, links.by_sentence, shares)),
        weights,
        strict=True,
    )
    return tuple(
        WeighedLink(
            row,
            column,
            posterior,
            () if by_sentence else tuple(made),
            tuple(_largest(dict(zip(_SHARES, share, strict=True)))),
            tuple((*NAMES[number], weight) for number, weight in _largest(weighed)),
        )
        for row, column, posterior, made, by_sentence, share, weighed in rows
    )


def _largest(values: Mapping[Key, float]) -> list[tuple[Key, float]]:
    """Return the values of at least ``_ROUNDING_ERROR`` in size, the largest first."""
    counts = [(key, value) for key, value in values.items() if abs(value) >= _ROUNDING_ERROR]
    return sorted(counts, key=lambda item: -abs(item[1]))


#: Weight of a function word; a content word has 1.
FUNCTION = 0.1
#: Weight of a pair of neighbors, as a share of their mean. Both were chosen, as the settings, on every other
#: pair (docs/pbhmm.md).
NEIGHBORS = 0.75
#: Least coverage of an abstract sentence by the first document sentence that is selected for it.
SHARE = 0.1


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of an abstract, and the offsets of the document words to align it with, ascending."""

    abstract: slice
    document: Longs

    def texts(self, pair: Pair) -> Pair:
        """Return the pair of both parts; each is a single sentence."""
        document = tuple(pair.document[position] for position in self.document.tolist())
        return Pair(pair.key, document, pair.abstract[self.abstract])

    def ids(self, pair: PairIds) -> PairIds:
        """Return the ids of both parts."""
        here, there = self.abstract, self.document
        return PairIds(
            pair.document[there], pair.abstract[here], pair.document_stems[there], pair.abstract_stems[here]
        )

    def in_texts(self, phrase: PhraseLink) -> Iterator[PhraseLink]:
        """Yield a link with offsets in the texts, as several links if its document words are not adjacent."""
        (first, end), (start, stop) = phrase.document, phrase.abstract
        copied = stop - start == end - first
        start, stop = start + self.abstract.start, stop + self.abstract.start
        words = self.document[first:end]
        firsts = np.append(True, np.diff(words) > 1).astype(np.bool_)
        begins = np.flatnonzero(firsts).tolist()
        for begin, last in zip(begins, [*begins[1:], len(words)], strict=True):
            source = int(words[begin]), int(words[last - 1]) + 1
            # Copies are linked one to one; in other phrases each word is linked with each.
            target = (start + begin, start + last) if copied else (start, stop)
            yield PhraseLink(target, source, phrase.posterior)

    def weighed_in_texts(self, answer: Alignment) -> Weighed | None:
        """Return the candidate links of an alignment of the parts, with offsets in the texts."""
        if answer.weighed is None:
            return None
        begin = self.abstract.start
        links = (
            replace(link, abstract=link.abstract + begin, document=int(self.document[link.document]))
            for link in answer.weighed.links
        )
        return replace(answer.weighed, links=tuple(links))


def passages(pair: Pair, ids: PairIds, settings: PbhmmSettings) -> list[Passage]:
    """Return the parts of an abstract in their order, each with the document words to align it with.

    Repetitions of a document sentence are left out. If the other sentences are no more than those of the
    abstract, or than ``settings.whole_sentences``, the abstract is one part, aligned with all of them. O(n
    log n + the occurrences of abstract words in the document). ``ids`` are the word ids of the pair.
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
    parts = []
    for begin, end in zip(begins.tolist(), [*begins[1:].tolist(), len(pair.abstract)], strict=True):
        chosen = index.best(ids.abstract_stems[begin:end], weights[begin:end], settings.passage_gain)
        parts.append(Passage(slice(begin, end), _offsets(starts[chosen], lengths[chosen])))
    return parts


def _distinct(words: Ints, starts: Longs) -> tuple[Longs, Longs]:
    """Return the start of the first occurrence of each different sentence, and its length."""
    ends = np.append(starts[1:], len(words))
    first = {words[begin:end].tobytes(): begin for begin, end in zip(starts[::-1], ends[::-1], strict=True)}
    first_places = np.isin(starts, np.array(list(first.values())))
    return starts[first_places], (ends - starts)[first_places]


def _offsets(starts: Longs, lengths: Longs) -> Longs:
    """Return the offsets of the words of some sentences."""
    parts = [np.arange(start, start + length) for start, length in zip(starts, lengths, strict=True)]
    return np.concatenate([np.empty(0, np.int64), *parts])


class _Index:
    """Inverted index of the sentences of a document by stem and by pair of neighboring stems."""

    def __init__(self, stems: Ints, starts: Longs, lengths: Longs) -> None:
        words = _offsets(starts, lengths)
        sentence = np.repeat(np.arange(len(starts)), lengths)
        # Words on both sides of a sentence that was left out are no neighbors.
        neighbors = np.flatnonzero((sentence[1:] == sentence[:-1]) & (np.diff(words) == 1))
        keys = np.concatenate([stems[words].astype(np.int64), phrase_keys(stems, 2)[words[neighbors]]])
        sentence = np.concatenate([sentence, sentence[neighbors]])
        order = np.lexsort((sentence, keys))
        keys, sentence = keys[order], sentence[order]
        is_first = np.append(True, (np.diff(keys) != 0) | (np.diff(sentence) != 0))
        self._keys, self._sentence, self._size = keys[is_first], sentence[is_first], len(starts)

    def best(self, stems: Ints, weights: Floats, gain: float) -> Longs:
        """Return the numbers of the sentences that are selected for an abstract sentence, ascending.

        The selection is greedy; ties go to the first sentence. The first selected sentence covers at least
        ``SHARE`` of all weights; each further one adds at least ``gain`` times the coverage so far.
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
            # 1e-9 against rounding; a gain of 0 ends the search even if ``gain`` is 0.
            if gains[best] < max(enough - 1e-9, 1e-9):
                break
            chosen.append(best)
            had += gains[best]
            enough = gain * had
            left[feature[sentence == best]] = 0.0
        return np.array(sorted(chosen), np.int64)


def joined(parts: Sequence[Passage], answers: Sequence[Alignment]) -> Alignment:
    """Join the alignments of the parts of a pair, which count as independent."""
    links = (
        link
        for part, answer in zip(parts, answers, strict=True)
        for phrase in answer.phrases
        for link in part.in_texts(phrase)
    )
    null = (prob for answer in answers for prob in answer.null or ())
    weighed = [
        candidates
        for part, answer in zip(parts, answers, strict=True)
        if (candidates := part.weighed_in_texts(answer)) is not None
    ]
    every = tuple(link for candidates in weighed for link in candidates.links)
    return Alignment(
        tuple(links),
        tuple(null),
        sum(answer.logp or 0.0 for answer in answers),
        replace(weighed[0], links=every) if weighed else None,
    )


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
    by default the priors. With ``explain`` the alignment has its candidate links.

    Raises:
        MemoryLimitError: the pair does not fit into the budget.
    """
    noted = Noted(min(_FLOOR, settings.threshold)) if explain else None
    directions = [_Direction(pair, parameters)]
    if settings.decode == "viterbi":
        answer = decode_path(pair, parameters, settings, budget=budget, noted=noted)
    else:
        reverse = (reverse or RewriteParameters.prior(settings)) if settings.both else None
        if reverse is not None:
            directions.append(_Direction(pair.swap_texts(), reverse))
        wide = settings if noted is None else replace(settings, threshold=noted.floor)
        answer = decode_posterior(pair, parameters, wide, reverse=reverse, budget=budget, noted=noted)
    return answer if noted is None else _explain_alignment(answer, noted, directions, settings)


@dataclass(frozen=True)
class PhraseHmm:
    """The phrase-based HMM as an aligner; without parameters it uses the priors.

    With ``explain`` its alignments have their candidate links.
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
        wordnet = find_wordnet() if self.settings.needs_kinship else None
        nearness = None if self.vectors is None else Nearness(self.vectors, self.settings.nearness)
        for pair in pairs:
            ids = self.lexicon.encode(pair)
            parts = passages(pair, ids, self.settings)
            answers = [self._align(part.texts(pair), part.ids(ids), wordnet, nearness) for part in parts]
            yield joined(parts, answers)

    def _align(self, pair: Pair, ids: PairIds, wordnet: Path | None, nearness: Nearness | None) -> Alignment:
        ids = ids.with_words()
        # Before kinship, which takes long, so that texts that do not fit are refused at once.
        self.budget.plan(ids.sizes(), table=self.settings.decode == "posterior")
        tuning = self.parameters.tuning
        if tuning is not None:
            texts = text_sizes(len(pair.document), len(pair.abstract))
            self.budget.ensure_fits(CLUE_BYTES * ids.sizes().cells, f"tuned, {texts}")
        if self.settings.needs_kinship:
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

    @staticmethod
    def untrained(name: str = "best") -> PhraseHmm:
        """Return an aligner with the priors of a preset, without training."""
        return PhraseHmm.trained(f"pbhmm-{name}", (), PbhmmSettings.preset(name), iterations=0)

    @staticmethod
    def trained(
        name: str, training: Sequence[Pair], settings: PbhmmSettings, *, iterations: int
    ) -> PhraseHmm:
        """Return the phrase-based HMM after EM in memory, in both directions if the settings decode in both.

        Without iterations the parameters are the priors.
        """
        lexicon = Lexicon(fold=settings.fold)
        if not iterations:
            return PhraseHmm(name, settings, RewriteParameters.prior(settings), lexicon)
        pairs = [lexicon.encode(pair) for pair in training]
        if settings.needs_kinship:
            wordnet = find_wordnet()
            pairs = [lexicon.with_kinship(pair, wordnet=wordnet) for pair in pairs]
        exchanged = [pair.swap_texts() for pair in pairs] if settings.both else None
        return PhraseHmm(
            name,
            settings,
            _train(pairs, lexicon, settings, iterations),
            lexicon,
            None if exchanged is None else _train(exchanged, lexicon, settings, iterations),
        )


def _train(
    pairs: Sequence[PairIds], lexicon: Lexicon, settings: PbhmmSettings, iterations: int
) -> RewriteParameters:
    parameters = RewriteParameters.initial(pairs, lexicon.stem_of, settings)
    for iteration in train(pairs, parameters, settings, iterations=iterations):
        parameters = iteration.parameters
    return parameters
