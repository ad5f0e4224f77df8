"""MAP expectation maximization of the phrase-based HMM (Daumé & Marcu 2004, sec. 2.2.4 and 2.2.5).

``expected_counts`` is additive over pairs: the counts of batches, summed in any order, are those of all pairs
to 1e-9. ``ExpectedCounts.maximize`` turns them into parameters, and log-likelihood +
``RewriteParameters.log_prior`` never falls from one iteration to the next. A streaming trainer loads the rows
of the tables that a batch needs, calls ``expected_counts``, adds the counts of the tables by their keys, and
normalizes by itself (``RewriteTable.normalized`` is the formula: (count + fake) / their sum over the row).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sentgen.alignment.pairs.budget import UNBOUNDED, Budget
from sentgen.alignment.phrase_hmm.emission import Rewriting, rewriting_within
from sentgen.alignment.phrase_hmm.inference import Posteriors, infer_rows, jump_cells
from sentgen.alignment.phrase_hmm.kernels import Credits, add_words
from sentgen.alignment.phrase_hmm.lexicon import PairIds
from sentgen.alignment.phrase_hmm.parameters import RewriteParameters, RewriteTable
from sentgen.alignment.phrase_hmm.settings import PbhmmSettings
from sentgen.arrays import Floats, Longs


@dataclass(slots=True)
class ExpectedCounts:
    """Expected counts of pairs, and the log-probability of their abstracts; all are sums over pairs.

    ``table`` and ``stems`` are indexed by cell of the tables, ``unigram`` by word id, ``weights`` by
    component, ``jumps`` by jump cell; ``nulls`` and ``moves`` are the numbers of segments from null and of
    others (ends included).
    """

    table: Floats
    stems: Floats
    unigram: Floats
    weights: Floats
    jumps: Floats
    logp: float = 0.0
    nulls: float = 0.0
    moves: float = 0.0

    @classmethod
    def zeros(cls, parameters: RewriteParameters, table: Floats, stems: Floats) -> ExpectedCounts:
        """Return counts of no pairs; those of the tables are added to arrays of the caller."""
        unigram, jumps = np.zeros(len(parameters.unigram)), np.zeros(len(parameters.jumps))
        return cls(table, stems, unigram, np.zeros(3), jumps)

    def add(self, pair: PairPosteriors, parameters: RewriteParameters, settings: PbhmmSettings) -> None:
        """Add the counts of a pair that was explained by these parameters."""
        seen = pair.posteriors
        self.logp += seen.logp
        if seen.logp == -np.inf:
            return
        # Weights are summed by pair first: sums over all rewrites at once would differ in their last bits.
        of_pair = Credits(self.table, self.stems, np.zeros(3))
        pair.rewriting.credit(pair.by_word, seen.events, parameters, settings, of_pair)
        self.weights += of_pair.weights
        self.jumps += seen.jumps + rejected_jumps(seen.departures, parameters, settings)
        abstract = pair.rewriting.pair.abstract
        # Words with higher ids are in no training pair, and null emits them with `unseen`.
        known = abstract < len(self.unigram)
        np.add.at(self.unigram, abstract[known], seen.null[known])
        self.nulls += float(seen.null.sum())
        # One more: the jump to the end.
        self.moves += float(pair.words + seen.events.sum() + 1.0)

    def maximize(self, parameters: RewriteParameters, settings: PbhmmSettings) -> RewriteParameters:
        """Return the parameters that maximize the posterior given expected counts (the M step).

        ``parameters`` are those of the E step; the parts that ``settings.fixed`` names, and rows without
        counts, are copied from them.
        """
        prior, fixed = settings.prior, settings.fixed
        new = parameters
        segments = self.nulls + self.moves + prior.null
        if "null" not in fixed and segments > 0:
            new = replace(new, p0=(self.nulls + prior.null * settings.p0) / segments)
        if "weights" not in fixed:
            new = replace(new, weights=_shares(self.weights + prior.weight, parameters.weights))
        if "jumps" not in fixed:
            new = replace(new, jumps=_shares(self.jumps + prior.jump, parameters.jumps))
        if "unigram" not in fixed:
            new = replace(new, unigram=_shares(self.unigram + prior.unigram, parameters.unigram))
        if "table" not in fixed:
            new = replace(
                new,
                table=_remade(parameters.table, self.table),
                stems=_remade(parameters.stems, self.stems),
            )
        return new


def expected_counts(
    pairs: Iterable[PairIds], parameters: RewriteParameters, settings: PbhmmSettings
) -> ExpectedCounts:
    """Return the expected counts of pairs under the parameters (the E step).

    A pair that is impossible under the model (log-probability -inf) adds no counts.
    """
    tables = (np.zeros(len(table)) for table in (parameters.table, parameters.stems))
    expected = ExpectedCounts.zeros(parameters, *tables)
    for pair in pairs:
        expected.add(explain(pair, parameters, settings), parameters, settings)
    return expected


@dataclass(frozen=True, slots=True)
class PairPosteriors:
    """A pair and the posteriors of the events that generate its abstract.

    ``by_word`` has the sums of word posteriors by different word of the abstract and of the document;
    ``words`` is their total.
    """

    rewriting: Rewriting
    posteriors: Posteriors
    by_word: Floats
    words: float


def explain(
    pair: PairIds, parameters: RewriteParameters, settings: PbhmmSettings, budget: Budget = UNBOUNDED
) -> PairPosteriors:
    """Return the posteriors of a pair; calls are independent, and may run in threads.

    Sums of blocks of rows differ in their last bits from sums over all rows.

    Raises:
        MemoryLimitError: the pair does not fit into the budget.
    """
    rewritten, blocks = rewriting_within(budget, pair, parameters, settings, table=False)
    transitions = parameters.chain(settings, len(pair.document), len(pair.abstract))
    emission = rewritten.emission
    by_word, total = np.zeros(emission.words.shape), 0.0

    def take(first: int, words: Floats, events: Floats) -> None:
        nonlocal total
        add_words(words, emission.abstract[first : first + len(words)], emission.document, by_word)
        total += float(words.sum())

    seen = infer_rows(emission, transitions, take, rows=blocks.rows)
    return PairPosteriors(rewritten, seen, by_word, total)


def rejected_jumps(departures: Floats, parameters: RewriteParameters, settings: PbhmmSettings) -> Floats:
    """Return the expected jumps that would have left the document, by cell, (C,).

    Renormalizing jumps over the targets 1..n + 1 is the same as drawing again until a jump stays inside; the
    rejected draws must be counted, or the M step is not that of EM. Each distance d of a cell that leaves the
    document from position e is expected departures[e] * j(d) times. Zeros for deficient jumps.
    """
    cells = jump_cells(settings.window, settings.reach)
    if settings.normalization == "deficient":
        return np.zeros(len(cells.first))
    n = len(departures) - 1
    position = np.arange(n + 1)
    total, first = np.append(0.0, np.cumsum(departures)), np.append(0.0, np.cumsum(departures * position))

    def inside(bound: Longs) -> Floats:
        """Sum over e of departures[e] times the number of distances up to a bound that stay inside."""
        low, high = np.clip(-bound, 0, n + 1), np.clip(n + 1 - bound, 0, n + 1)
        # None for e < low, those from 1 - e to the bound for low <= e < high, all n + 1 from high on.
        part = bound * (total[high] - total[low]) + first[high] - first[low]
        inner: Floats = part + (n + 1) * (total[n + 1] - total[high])
        return inner

    stay = inside(cells.last) - inside(cells.first - 1)
    rejected: Floats = parameters.jumps * np.maximum(0.0, total[-1] - stay / cells.sizes)
    return rejected


def _shares(counts: Floats, before: Floats) -> Floats:
    total = counts.sum()
    return counts / total if total > 0 else before


def _remade(table: RewriteTable, counts: Floats) -> RewriteTable:
    return replace(table, prob=table.normalized(counts + table.fake))


@dataclass(frozen=True, slots=True)
class _Iteration:
    """One iteration of EM.

    ``log_likelihood`` and ``log_posterior`` are those of the parameters before the M step; ``parameters`` are
    those after it.
    """

    number: int
    log_likelihood: float
    log_posterior: float
    parameters: RewriteParameters


def train(
    pairs: Sequence[PairIds], parameters: RewriteParameters, settings: PbhmmSettings, *, iterations: int = 10
) -> Iterator[_Iteration]:
    """Run EM in memory and yield each iteration."""
    for number in range(1, iterations + 1):
        expected = expected_counts(pairs, parameters, settings)
        posterior = expected.logp + parameters.log_prior(settings)
        parameters = expected.maximize(parameters, settings)
        yield _Iteration(number, expected.logp, posterior, parameters)
