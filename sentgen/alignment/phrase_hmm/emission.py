"""The rewrite probabilities of a pair, a mixture (Daumé & Marcu 2004, sec. 2.3.4).

    rewrite(s | d) = w1 T(s | d) + w2 U(stem s | stem d) / N(stem s) + w3 [stems equal] / N(stem d)

T is the table of words and phrases, U that of stems, and N the number of abstract words with a stem (for
phrases, the product over their words), which makes each component sum to one. With ``stems="equal"`` the
second component is [stems equal] / N(stem d) and the third [equal]. What is equal may be of any length.
Related words (see ``kinship``) then have constants in the second component.

The components have the names of their weights under all settings: ``TABLE``, ``STEMS``, ``IDENTITY``.

The phrase events of a pair are the occurrences of cells of the rewrite tables, and of copied runs. A table is
looked up once for the different phrases of both texts; each cell found becomes an event at every occurrence
of its phrases. Pairs of single words are not events but cells of a matrix, which is looked up a block of rows
at a time (``_word_cells``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sentgen.alignment.pairs.budget import WORD_CELLS, Budget, RowBlocks, events_take_too_much
from sentgen.alignment.phrase_hmm.inference import Emission
from sentgen.alignment.phrase_hmm.kernels import (
    IDENTITY,
    STEMS,
    TABLE,
    Components,
    Credits,
    EqualRuns,
    EventOrder,
    PhraseCells,
    TextPhrases,
    by_end,
    count_events,
    count_runs,
    fill_events,
    find_cells,
    place_hits,
    run_lengths,
    share_out,
)
from sentgen.alignment.phrase_hmm.lexicon import PairIds, find_keys, phrase_keys
from sentgen.alignment.phrase_hmm.parameters import RewriteParameters, RewriteTable
from sentgen.alignment.phrase_hmm.settings import PbhmmSettings
from sentgen.alignment.phrase_hmm.weights import by_place, weighted
from sentgen.alignment.words.word_classes import breaks
from sentgen.arrays import Floats, Ints, Longs

#: Most events of copied runs of a pair; an abstract of 500 words with 10,000 of news has some 200,000.
MOST_COPIES = 1 << 22


#: Cells of a block of rows.
_BLOCK = 1 << 20


class _TableEvents(NamedTuple):
    """The cells of a table for the phrase pairs of a pair that have several words on at least one side."""

    document: TextPhrases
    abstract: TextPhrases
    phrases: PhraseCells


def _phrases(words: Ints, longest: int) -> tuple[Longs, TextPhrases]:
    """Return the different keys of the phrases of a text, sorted, and the occurrences of each phrase."""
    longest = max(1, min(longest, len(words)))
    keys = np.concatenate([phrase_keys(words, length) for length in range(1, longest + 1)])
    offset = np.concatenate([np.arange(len(words) - length + 1) for length in range(1, longest + 1)])
    length = np.repeat(np.arange(1, longest + 1), [len(words) - k + 1 for k in range(1, longest + 1)])
    unique, phrase, times = np.unique(keys, return_inverse=True, return_counts=True)
    # Stable: the occurrences of a phrase stay in the order of the text.
    order = np.argsort(phrase, kind="stable")
    phrase_at = np.full((longest, len(words)), -1)
    phrase_at[length - 1, offset] = phrase
    starts = np.append(0, np.cumsum(times))
    # Keys of phrases are negative, those of words are not.
    first_word = int(np.searchsorted(unique, 0))
    return unique, TextPhrases(first_word, starts, offset[order], length[order], phrase_at)


def _look_up(table: RewriteTable, document: Ints, abstract: Ints, settings: PbhmmSettings) -> _TableEvents:
    """Return the cells of a table that a pair can use, except those of single words with single words."""
    left_keys, left = _phrases(document, settings.max_document_phrase)
    right_keys, right = _phrases(abstract, settings.max_abstract_phrase)
    # Document phrases with all abstract keys, then document words with abstract phrases.
    of_phrases = _cells(table, left_keys[: left.first_word], right_keys)
    of_words = _cells(table, left_keys[left.first_word :], right_keys[: right.first_word])
    of_words[:, 0] += left.first_word
    cells = np.concatenate([of_phrases, of_words])
    return _TableEvents(left, right, place_hits(cells, len(right_keys)))


def _without_cells(events: _TableEvents) -> _TableEvents:
    """Return the events of a table without cells for the same pair."""
    none = np.empty(0, np.int64)
    hits = PhraseCells(np.zeros(len(events.abstract.starts), np.int64), none, none)
    return _TableEvents(events.document, events.abstract, hits)


def _word_cells(table: RewriteTable, document: Ints, abstract: Ints) -> Longs:
    """Return the cell of each abstract word with each document word, -1 for none; both keys are sorted."""
    cells = np.full((len(abstract), len(document)), -1)
    if len(table):
        entries = _cells(table, document.astype(np.int64), abstract.astype(np.int64))
        cells[entries[:, 1], entries[:, 0]] = entries[:, 2]
    return cells


def _cells(table: RewriteTable, document: Longs, abstract: Longs) -> Longs:
    """Return (document, abstract, cell) of each pair of sorted keys that a table has, sorted, (cells, 3)."""
    rows, row = find_keys(table.rows, document)
    columns, column = find_keys(table.columns, abstract)
    firsts, lasts = table.starts[row], table.starts[row + 1]
    # The most cells of each row, for the size of a block must be known before it is filled.
    most = np.cumsum(np.minimum(lasts - firsts, len(column)))
    parts = [np.empty((0, 3), np.int64)]
    begin = 0
    while begin < len(rows):
        before = most[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(most, before + _BLOCK, side="right")))
        part = np.empty((int(most[end - 1] - before), 3), np.int64)
        some = slice(begin, end)
        count = find_cells(rows[some], firsts[some], lasts[some], columns, column, table.targets, part)
        # A copy, so that the unused part of the buffer is freed.
        parts.append(part[:count].copy())
        begin = end
    return np.concatenate(parts)


def _copied_runs(abstract: Ints, document: Ints, settings: PbhmmSettings) -> EqualRuns:
    """Return the runs of two or more equal words, by their start.

    If repetitive texts have more than ``MOST_COPIES`` events of runs, the longest runs are left out.
    """
    longest = min(len(abstract), len(document))
    count = count_runs(abstract, document)
    if count > MOST_COPIES:  # not even the runs of two words can be listed
        none = np.empty(0, np.int64)
        return EqualRuns(np.zeros(len(abstract) + 1, np.int64), none, none)
    runs = run_lengths(abstract, document, longest if settings.max_run is None else settings.max_run, count)
    # at_least[k] runs have k words or more, each of which is an event of k words: events are left out
    # from the length on at which their sum is too large.
    at_least = np.cumsum(np.bincount(runs[:, 2], minlength=2)[::-1])[::-1]
    longest_kept = 1 + int(np.searchsorted(np.cumsum(at_least[2:]), MOST_COPIES, side="right"))
    starts = np.searchsorted(runs[:, 0], np.arange(len(abstract) + 1))
    return EqualRuns(starts, runs[:, 1].copy(), np.minimum(runs[:, 2], longest_kept))


def _all_events(
    m: int,
    n: int,
    table: _TableEvents,
    stems: _TableEvents,
    stem_runs: EqualRuns,
    word_runs: EqualRuns,
    *,
    most: float = math.inf,
) -> EventOrder:
    """Return all different phrase events of m abstract words and n document words, by their start.

    Raises:
        MemoryLimitError: there may be more than ``most`` events.
    """
    sides = (table.document, table.abstract, table.phrases), (stems.document, stems.abstract, stems.phrases)
    # An upper bound: an event of both tables, or of a table and a run, is counted twice.
    most_events = sum(count_events(*side) for side in sides)
    most_events += int(np.maximum(stem_runs.longest - 1, 0).sum())
    if most_events > most:
        raise events_take_too_much(most_events, most)
    fields = np.empty((6, most_events), np.int64)
    equal = np.zeros((2, most_events), np.bool_)
    count = fill_events(m, n, *sides, stem_runs, word_runs, fields, equal)
    return EventOrder(*fields[:, :count], *equal[:, :count])


@dataclass(frozen=True, slots=True)
class _WordParts:
    """The components of the different words ``rows`` of the abstract with all v of the document.

    ``components`` is row by row, (rows * v).
    """

    rows: slice
    components: Components


@dataclass(frozen=True, slots=True)
class Rewriting:
    """The emission of a pair, and its components.

    ``all_parts`` has the components of all word pairs if they fit into one block; else they are looked up
    again when needed. ``event_parts`` are the components of the phrase events.
    """

    emission: Emission
    pair: PairIds
    all_parts: _WordParts | None
    event_parts: Components

    def word_parts(self, parameters: RewriteParameters, settings: PbhmmSettings) -> Iterator[_WordParts]:
        """Yield the components of the word pairs, a block of different abstract words at a time."""
        if self.all_parts is not None:
            yield self.all_parts
        else:
            yield from _word_parts(self.pair, parameters, settings)

    def credit(
        self,
        by_word: Floats,
        events: Floats,
        parameters: RewriteParameters,
        settings: PbhmmSettings,
        credits: Credits,
    ) -> None:
        """Divide posteriors among the components, and add the parts of the tables to their counts.

        ``by_word`` are the sums of word posteriors by the different words of both texts, (u, v), ``events``
        the posteriors of events.
        """
        for part in self.word_parts(parameters, settings):
            share_out(by_word[part.rows].ravel(), parameters.weights, part.components, credits)
        share_out(events, parameters.weights, self.event_parts, credits)


def rewriting(
    pair: PairIds, parameters: RewriteParameters, settings: PbhmmSettings, *, most_events: float = math.inf
) -> Rewriting:
    """Look up all components of a pair.

    Raises:
        MemoryLimitError: there may be more than ``most_events``.
    """
    pair = pair.with_words()
    (words, into), kinship = pair.words, pair.kinship
    by_word = np.empty((len(into.ids), len(words.ids)))
    parts: _WordParts | None = None
    for parts in _word_parts(pair, parameters, settings):
        mixed, rows = _mix(parameters.weights, parts.components.parts), by_word[parts.rows]
        rows[:] = mixed.reshape(rows.shape)
    # The parts are not kept if they are several: they would not fit into memory together.
    if parts is not None and parts.rows.start:
        parts = None
    events = _events(pair, parameters, settings, most_events)
    event_parts = _event_parts(events, pair, parameters, settings)
    null = _unigram(pair.abstract, parameters)
    if kinship is not None and settings.null_function is not None:
        null[kinship.abstract[into.at]] = settings.null_function
    forget = np.zeros(len(pair.abstract))
    if kinship is not None:
        forget[breaks(kinship.abstract_stops[into.at])] = settings.forget
    prob = _mix(parameters.weights, event_parts.parts)
    order = by_end(events.start, events.length, len(pair.abstract))
    emission = Emission(by_word, into.at, words.at, null, forget, events, prob, order)
    if parameters.tuning is not None:
        if pair.clues is None:
            raise ValueError("a tuned model needs the clues of the pair")
        emission = weighted(by_place(emission), pair.clues, parameters.tuning.weights)
    return Rewriting(emission, pair, parts, event_parts)


def rewriting_within(
    budget: Budget, pair: PairIds, parameters: RewriteParameters, settings: PbhmmSettings, *, table: bool
) -> tuple[Rewriting, RowBlocks]:
    """Look up all components of a pair, and plan the blocks of rows of the passes.

    ``table``: whether the posteriors of all links are wanted (``Budget.plan``).

    Raises:
        MemoryLimitError: the pair does not fit into the budget.
    """
    pair = pair.with_words()
    # Planned twice: texts that never fit are refused before the look-up, and then with the number of events.
    sizes = pair.sizes()
    budget.plan(sizes, table=table)
    rewritten = rewriting(pair, parameters, settings, most_events=budget.most_events(sizes, table=table))
    return rewritten, budget.plan(sizes, table=table, events=len(rewritten.emission.prob))


def _word_parts(
    pair: PairIds, parameters: RewriteParameters, settings: PbhmmSettings
) -> Iterator[_WordParts]:
    """Look up the components of word pairs, a block of different abstract words at a time."""
    words, into = pair.words
    rows = max(1, WORD_CELLS // max(1, len(words.ids)))
    for first in range(0, len(into.ids), rows):
        some = slice(first, first + rows)
        yield _WordParts(some, _components(some, pair, parameters, settings))


def _components(
    rows: slice, pair: PairIds, parameters: RewriteParameters, settings: PbhmmSettings
) -> Components:
    """Return the components of a block of different abstract words with all different document words."""
    (words, abstract), kinship = pair.words, pair.kinship
    into, stems = abstract.ids[rows], abstract.stems[rows]
    same, identical = stems[:, None] == words.stems[None, :], into[:, None] == words.ids[None, :]
    share = 1.0 / _forms(stems, parameters, settings)[:, None]
    # In the ratio 3 : 4 : 5 of the prior means (fake count + 1) of words, equal stems and identical words.
    prior = parameters.unseen * (1.0 + same / 3.0 + identical / 3.0)
    if kinship is not None:
        prior[kinship.abstract[rows, None] != kinship.document[None, :]] *= settings.mixed
    cells = _word_cells(parameters.table, words.ids, into)
    stem_cells = np.full_like(cells, -1)
    parts = np.empty((3, *cells.shape))
    learnt = settings.trust * _probs(parameters.table, cells, prior)
    parts[TABLE] = learnt + (1.0 - settings.trust) * prior
    if settings.stems == "table":
        # The table is looked up with sorted keys, and the stems of sorted words are not sorted.
        (of_into, by_stem), (of_words, by_other) = (
            np.unique(keys, return_inverse=True) for keys in (stems, words.stems)
        )
        stem_cells = _word_cells(parameters.stems, of_words, of_into)[by_stem[:, None], by_other[None, :]]
        parts[STEMS] = _probs(parameters.stems, stem_cells, prior) * share
        parts[IDENTITY] = same * share
    else:
        parts[STEMS] = same * share
        if kinship is not None:
            # The greater, not the sum: words with equal stems are often related, too.
            parts[STEMS] = np.maximum(parts[STEMS], np.array(settings.kinship_values)[kinship.kinds[rows]])
        parts[IDENTITY] = identical
    return Components(parts.reshape(3, -1), cells.ravel(), stem_cells.ravel(), learnt.ravel())


def _forms(stems: Ints, parameters: RewriteParameters, settings: PbhmmSettings) -> Floats:
    """Return N(stem) of each stem, or 1 under the setting ``constants="one"``."""
    if settings.constants == "one":
        return np.ones(len(stems))
    # Stems with higher ids are of words that the model was not trained with.
    known = stems < len(parameters.forms)
    count = np.full(len(stems), float(settings.forms))
    count[known] = parameters.forms[stems[known]]
    return count


def _unigram(abstract: Ints, parameters: RewriteParameters) -> Floats:
    known = abstract < len(parameters.unigram)
    prob = np.full(len(abstract), parameters.unseen)
    prob[known] = parameters.unigram[abstract[known]]
    return prob


def _probs(table: RewriteTable, index: Longs, prior: Floats) -> Floats:
    if not len(table):
        return prior
    return np.where(index >= 0, table.prob[index], prior)


def _mix(weights: Floats, parts: Floats) -> Floats:
    """Return the weighted sum of the components; a matrix product would start the threads of BLAS."""
    mixed: Floats = (
        weights[TABLE] * parts[TABLE] + weights[STEMS] * parts[STEMS] + weights[IDENTITY] * parts[IDENTITY]
    )
    return mixed


def _events(pair: PairIds, parameters: RewriteParameters, settings: PbhmmSettings, most: float) -> EventOrder:
    by_words = _look_up(parameters.table, pair.document, pair.abstract, settings)
    by_stems = _without_cells(by_words)
    if settings.stems == "table":
        by_stems = _look_up(parameters.stems, pair.document_stems, pair.abstract_stems, settings)
    stem_runs = _copied_runs(pair.abstract_stems, pair.document_stems, settings)
    word_runs = _copied_runs(pair.abstract, pair.document, settings)
    return _all_events(
        len(pair.abstract), len(pair.document), by_words, by_stems, stem_runs, word_runs, most=most
    )


def _event_parts(
    events: EventOrder, pair: PairIds, parameters: RewriteParameters, settings: PbhmmSettings
) -> Components:
    parts = np.zeros((3, len(events.start)))
    known = np.flatnonzero(events.cell >= 0)
    parts[TABLE, known] = settings.trust * parameters.table.prob[events.cell[known]]
    copies = np.flatnonzero(events.stems)
    share = _shares(
        _forms(pair.document_stems, parameters, settings), events.position[copies] - 1, events.width[copies]
    )
    if settings.stems == "table":
        known = np.flatnonzero(events.stem_cell >= 0)
        into = _shares(
            _forms(pair.abstract_stems, parameters, settings), events.start[known], events.length[known]
        )
        parts[STEMS, known] = parameters.stems.prob[events.stem_cell[known]] * into
        parts[IDENTITY, copies] = share
    else:
        parts[STEMS, copies] = share
        parts[IDENTITY] = events.words
    return Components(parts, events.cell, events.stem_cell, parts[TABLE])


def _shares(counts: Floats, offsets: Longs, lengths: Longs) -> Floats:
    """Return the reciprocal of the product of the counts of each phrase."""
    # Differences of cumulative sums: a phrase of any length takes one subtraction.
    logs = np.append(0.0, np.cumsum(np.log(counts)))
    shares: Floats = np.exp(logs[offsets] - logs[offsets + lengths])
    return shares
