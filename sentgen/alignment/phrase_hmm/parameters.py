"""The parameters that EM estimates: mixture weights, jumps, rewrite tables and the words of null.

The parameters are flat arrays, so that they can be stored and sent; the rewrite tables are sorted by their
keys (see ``lexicon``), so that the part of a table that a batch of pairs needs can be fetched alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sentgen.alignment.phrase_hmm.inference import Chain, jump_cells, totals
from sentgen.alignment.phrase_hmm.lexicon import PairIds, phrase_keys, text_keys
from sentgen.alignment.phrase_hmm.settings import PbhmmSettings, Prior
from sentgen.alignment.phrase_hmm.weights import Tuning
from sentgen.arrays import Bools, Floats, Ints, Longs


@dataclass(frozen=True, slots=True)
class RewriteTable:
    """P(abstract phrase | document phrase).

    Row r is the document phrase with the key ``rows[r]`` and has the cells ``starts[r]`` up to
    ``starts[r + 1]``; cell c is the abstract phrase with the key ``columns[targets[c]]`` and has the
    probability ``prob[c]``. Keys are sorted, and so are the targets of a row; the probabilities of a row sum
    to one. ``fake`` (cells,) are the fake counts of the Dirichlet prior where EM runs in memory.
    """

    rows: Longs
    starts: Longs
    columns: Longs
    targets: Ints
    prob: Floats
    fake: Floats

    @classmethod
    def of_cells(cls, document: Longs, abstract: Longs, prob: Floats, fake: Floats) -> RewriteTable:
        """Return the table of cells that are sorted by (document key, abstract key), all (cells,)."""
        rows, firsts = np.unique(document, return_index=True)
        columns, targets = np.unique(abstract, return_inverse=True)
        return cls(rows, np.append(firsts, len(document)), columns, targets.astype(np.int32), prob, fake)

    @classmethod
    def prior_mean(cls, document: Longs, abstract: Longs, fake: Floats) -> RewriteTable:
        """Return a table of sorted cells at the mean of its Dirichlet prior: alpha = 1 + fake."""
        table = cls.of_cells(document, abstract, np.zeros(len(fake)), fake)
        return replace(table, prob=table.normalized(fake + 1.0))

    @classmethod
    def none(cls) -> RewriteTable:
        """Return a table without cells."""
        keys, none = np.empty(0, np.int64), np.empty(0)
        return cls(keys, np.zeros(1, np.int64), keys, np.empty(0, np.int32), none, none)

    def __len__(self) -> int:
        """Return the number of cells."""
        return len(self.prob)

    @property
    def document(self) -> Longs:
        """The document key of each cell."""
        return np.repeat(self.rows, np.diff(self.starts))

    @property
    def abstract(self) -> Longs:
        """The abstract key of each cell."""
        return self.columns[self.targets]

    def normalized(self, counts: Floats) -> Floats:
        """Return counts divided by the sum of their row; a row whose sum is 0 keeps its probabilities."""
        if not len(self):
            return counts
        # No row is empty: `reduceat` would give an empty row the first count of the next row.
        row_sums = np.repeat(np.add.reduceat(counts, self.starts[:-1]), np.diff(self.starts))
        return np.where(row_sums > 0, counts / np.where(row_sums > 0, row_sums, 1.0), self.prob)


@dataclass(frozen=True, slots=True)
class RewriteParameters:
    """The parameters of the model.

    ``jumps`` is the mass of each cell of ``jump_cells``; ``weights`` are those of table, stems and identity;
    ``table`` is over words and phrases, ``stems`` over stems (without cells where the settings have no table
    of stems); ``unigram`` is P(word | null) by word id and ``forms`` the number of abstract words by stem id.
    A word pair without a cell, or with a word id beyond ``unigram``, has the probability ``unseen``, times
    4/3 if equal up to the stem and 5/3 if identical: the prior mean. In training there is no such pair.
    ``tuning`` are the weights and counts that were learnt from gold links.
    """

    p0: float
    jumps: Floats
    weights: Floats
    table: RewriteTable
    stems: RewriteTable
    unigram: Floats
    forms: Ints
    unseen: float
    tuning: Tuning | None = None

    def chain(self, settings: PbhmmSettings, n: int, m: int = 0) -> Chain:
        """Return the transitions for a document of n words and an abstract of m words."""
        cells = jump_cells(settings.window, settings.reach)
        jumps = cells.weights(self.jumps)
        total = totals(jumps, n) if settings.normalization == "position" else np.ones(n + 1)
        p0 = self.p0
        if settings.null_excess and m > n:
            # n document words account for at most n abstract words one to one.
            p0 = 1 - (1 - p0) * n / m
        if self.tuning is not None:
            # After the totals: scores are normalized over all paths, so that jumps need not sum to 1.
            jumps = cells.weights(self.tuning.jumps(cells, self.jumps))
        return Chain(p0, jumps, total, settings.null == "table3" and n > 0)

    @staticmethod
    def starting(
        settings: PbhmmSettings, *, words: int, forms: Ints, table: RewriteTable, stems: RewriteTable
    ) -> RewriteParameters:
        """Return the prior means over tables, words (their number) and ``forms``."""
        jumps = jump_cells(settings.window, settings.reach)
        return RewriteParameters(
            p0=settings.p0,
            jumps=jumps.prior(settings.jump_power, back=settings.jump_back),
            weights=np.array(settings.weights),
            table=table,
            stems=stems,
            unigram=np.full(words, 1 / max(1, words)),
            forms=forms,
            unseen=1 / settings.vocabulary,
        )

    @staticmethod
    def prior(settings: PbhmmSettings) -> RewriteParameters:
        """Return the means of the priors, without any pair."""
        none = np.empty(0, np.int32)
        return RewriteParameters.starting(
            settings, words=0, forms=none, table=RewriteTable.none(), stems=RewriteTable.none()
        )

    @staticmethod
    def initial(pairs: Sequence[PairIds], stem_of: Ints, settings: PbhmmSettings) -> RewriteParameters:
        """Return the parameters at which EM starts: the prior means over what the pairs support.

        ``stem_of`` is the id of the stem of each word (``Lexicon.stem_of``).
        """
        stems = RewriteTable.none()
        if settings.stems == "table":
            themselves = np.arange(len(stem_of), dtype=np.int32)
            stems = support([_stems_as_words(pair) for pair in pairs], themselves, settings, stems=True)
        words = np.unique(np.concatenate([np.empty(0, np.int32), *(pair.abstract for pair in pairs)]))
        return RewriteParameters.starting(
            settings,
            words=len(stem_of),
            forms=forms_of_stems(words, stem_of),
            table=support(pairs, stem_of, settings),
            stems=stems,
        )

    def log_prior(self, settings: PbhmmSettings) -> float:
        """Return the log-density of the Dirichlet and Beta priors at the parameters, but for a constant."""
        prior, fixed = settings.prior, settings.fixed
        total = 0.0
        if "null" not in fixed:
            p0 = np.array([self.p0, 1 - self.p0])
            total += _density(p0, prior.null * np.array([settings.p0, 1 - settings.p0]))
        if "weights" not in fixed:
            total += _density(self.weights, prior.weight)
        if "jumps" not in fixed:
            total += _density(self.jumps, prior.jump)
        if "unigram" not in fixed:
            total += _density(self.unigram, prior.unigram)
        if "table" not in fixed:
            total += _density(self.table.prob, self.table.fake)
            total += _density(self.stems.prob, self.stems.fake)
        return float(total)


def _stems_as_words(pair: PairIds) -> PairIds:
    return PairIds(pair.document_stems, pair.abstract_stems, pair.document_stems, pair.abstract_stems)


def forms_of_stems(words: Ints, stem_of: Ints) -> Ints:
    """Return the number of different words with each stem, by stem id, at least 1."""
    counts = np.bincount(stem_of[words], minlength=int(stem_of.max(initial=-1)) + 1)
    return np.maximum(counts, 1).astype(np.int32)


def support(
    pairs: Sequence[PairIds], stem_of: Ints, settings: PbhmmSettings, *, stems: bool = False
) -> RewriteTable:
    """Return the table of all cells with support in the pairs, at the prior mean.

    These are all word pairs that occur together in a pair, and the phrase pairs that do so in
    ``min_documents`` pairs. ``stems``: whether the words are stems, of which equal ones count as equal up to
    the stem.
    """
    seen = [phrase_pairs(pair, settings) for pair in pairs]
    cells = np.concatenate([np.empty((0, 2), np.int64), *seen])
    cells, times = np.unique(cells, axis=0, return_counts=True)
    words = (cells >= 0).all(axis=1)
    cells = cells[words | (times >= settings.min_documents)]
    equal_stems = _equal_phrases(pairs, cells, settings)
    fake = _fake_counts(cells[:, 0], cells[:, 1], stem_of, settings.prior, equal_stems)
    if stems:
        fake[cells[:, 0] == cells[:, 1]] = settings.prior.stem
    return RewriteTable.prior_mean(cells[:, 0], cells[:, 1], fake)


def phrase_pairs(pair: PairIds, settings: PbhmmSettings) -> Longs:
    """Return the keys of the different phrase pairs of a pair, within the longest lengths, (pairs, 2)."""
    document = text_keys([pair.document], settings.max_document_phrase)
    abstract = text_keys([pair.abstract], settings.max_abstract_phrase)
    return np.stack([np.repeat(document, len(abstract)), np.tile(abstract, len(document))], axis=1)


def _fake_counts(document: Longs, abstract: Longs, stem_of: Ints, prior: Prior, equal_stems: Bools) -> Floats:
    """Return the fake counts of cells by their kind: identical, equal up to the stem, words, phrases.

    ``equal_stems`` flags the cells of longer phrases that are equal up to the stem.
    """
    words = (document >= 0) & (abstract >= 0)
    fake = np.where(words, prior.word, prior.phrase)
    equal = equal_stems.copy()
    equal[words] = stem_of[document[words]] == stem_of[abstract[words]]
    # The closest kind last: identical words are equal up to the stem, too.
    fake[equal] = prior.stem
    fake[document == abstract] = prior.identity
    return fake


def _equal_phrases(pairs: Sequence[PairIds], cells: Longs, settings: PbhmmSettings) -> Bools:
    """Return which cells are phrases of two words or more that are equal up to the stem."""
    stem_keys: dict[int, int] = {}
    longest = max(settings.max_document_phrase, settings.max_abstract_phrase)
    for pair in pairs:
        for words, stems in (
            (pair.document, pair.document_stems),
            (pair.abstract, pair.abstract_stems),
        ):
            for length in range(2, longest + 1):
                keys = phrase_keys(words, length).tolist()
                stem_keys.update(zip(keys, phrase_keys(stems, length).tolist(), strict=True))
    equal = [a < 0 and b < 0 and stem_keys[a] == stem_keys[b] for a, b in cells.tolist()]
    return np.array(equal, np.bool_)


def _density(prob: Floats, fake: Floats | float) -> float:
    """Return the sum of fake * log(prob), where 0 log 0 is 0."""
    with np.errstate(divide="ignore"):  # the density is 0 where a prior expects what has no probability
        logs = np.log(prob, out=np.zeros_like(prob), where=np.asarray(fake) != 0)
    return float((fake * logs).sum())
