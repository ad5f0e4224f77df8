"""The phrase events of a pair: cells of the rewrite tables, and copied runs, at all their places.

A table is looked up once for the different phrases of both texts; each cell that is found then becomes an
event wherever its phrases stand. Pairs of single words are no events but cells of a matrix, which is looked
up some rows at a time (``word_cells``).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from sentgen.alignment.budget import events_take_too_much
from sentgen.alignment.phrase_hmm.lattice.event_kernels import place_hits, find_cells, count_runs, run_lengths, count_events, fill_events
from sentgen.alignment.phrase_hmm.lattice.event_kernels import EqualRuns, EventOrder, PhraseCells, TextPhrases
from sentgen.alignment.phrase_hmm.rewriting.lexicon import find_keys, phrase_keys
from sentgen.alignment.phrase_hmm.rewriting.parameters import RewriteTable
from sentgen.alignment.phrase_hmm.settings import PbhmmSettings
from sentgen.arrays import Ints, Longs

#: Most events of copied runs of a pair; 500 words of news against 10,000 have some 200,000.
MOST_COPIES = 1 << 22


#: Cells that may be found at a time.
_BLOCK = 1 << 20


class TableEvents(NamedTuple):
    """What a table has of the phrases of a pair that are longer than a word on one side."""

    document: TextPhrases
    abstract: TextPhrases
    phrases: PhraseCells


def phrases(words: Ints, longest: int) -> tuple[Longs, TextPhrases]:
    """Return the keys of the phrases of a text, each once and sorted, and where they are."""
    longest = max(1, min(longest, len(words)))
    keys = np.concatenate([phrase_keys(words, length) for length in range(1, longest + 1)])
    offset = np.concatenate([np.arange(len(words) - length + 1) for length in range(1, longest + 1)])
    length = np.repeat(np.arange(1, longest + 1), [len(words) - k + 1 for k in range(1, longest + 1)])
    unique, phrase, times = np.unique(keys, return_inverse=True, return_counts=True)
    # Stable: the places of a phrase stay in the order of the text.
    order = np.argsort(phrase, kind="stable")
    place = np.full((longest, len(words)), -1)
    place[length - 1, offset] = phrase
    starts = np.append(0, np.cumsum(times))
    # Keys of phrases are negative, those of words are not.
    first_word = int(np.searchsorted(unique, 0))
    return unique, TextPhrases(first_word, starts, offset[order], length[order], place)


def look_up(table: RewriteTable, document: Ints, abstract: Ints, settings: PbhmmSettings) -> TableEvents:
    """Return the cells of a table that a pair can use, but for those of a word with a word."""
    left_keys, left = phrases(document, settings.max_document_phrase)
    right_keys, right = phrases(abstract, settings.max_abstract_phrase)
    # All but words with words: phrases with anything, then words with phrases.
    of_phrases = _cells(table, left_keys[: left.first_word], right_keys)
    of_words = _cells(table, left_keys[left.first_word :], right_keys[: right.first_word])
    of_words[:, 0] += left.first_word
    found = np.concatenate([of_phrases, of_words])
    return TableEvents(left, right, place_hits(found, len(right_keys)))


def nothing(found: TableEvents) -> TableEvents:
    """Return what a table without cells has of the same pair."""
    none = np.empty(0, np.int64)
    hits = PhraseCells(np.zeros(len(found.abstract.starts), np.int64), none, none)
    return TableEvents(found.document, found.abstract, hits)


def word_cells(table: RewriteTable, document: Ints, abstract: Ints) -> Longs:
    """Return the cells of words with words, -1 for none, (abstract, document); both are sorted."""
    cells = np.full((len(abstract), len(document)), -1)
    if len(table):
        found = _cells(table, document.astype(np.int64), abstract.astype(np.int64))
        cells[found[:, 1], found[:, 0]] = found[:, 2]
    return cells


def _cells(table: RewriteTable, document: Longs, abstract: Longs) -> Longs:
    """Return (document, abstract, cell) of what a table has of sorted keys, sorted, (cells, 3)."""
    rows, row = find_keys(table.rows, document)
    columns, column = find_keys(table.columns, abstract)
    firsts, lasts = table.starts[row], table.starts[row + 1]
    # What each row can have at most, for the room of a block must be known before it is filled.
    most = np.cumsum(np.minimum(lasts - firsts, len(column)))
    found = [np.empty((0, 3), np.int64)]
    begin = 0
    while begin < len(rows):
        before = most[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(most, before + _BLOCK, side="right")))
        part = np.empty((int(most[end - 1] - before), 3), np.int64)
        some = slice(begin, end)
        count = find_cells(
            rows[some], firsts[some], lasts[some], columns, column, table.targets, part
        )
        # A copy lets go of the room that was not needed.
        found.append(part[:count].copy())
        begin = end
    return np.concatenate(found)


def copied_runs(abstract: Ints, document: Ints, settings: PbhmmSettings) -> EqualRuns:
    """Return the runs of two or more equal words, by where they start.

    Of texts that repeat themselves so much that there are more than ``MOST_COPIES`` beginnings of runs, the
    longest are left out.
    """
    longest = min(len(abstract), len(document))
    count = count_runs(abstract, document)
    if count > MOST_COPIES:  # not even the runs of two words can be listed
        none = np.empty(0, np.int64)
        return EqualRuns(np.zeros(len(abstract) + 1, np.int64), none, none)
    runs = run_lengths(
        abstract, document, longest if settings.max_run is None else settings.max_run, count
    )
    # at_least[k] runs have k words or more, each of which is an event of k words: longer ones are left out
    # from the length on at which all events together are too many.
    at_least = np.cumsum(np.bincount(runs[:, 2], minlength=2)[::-1])[::-1]
    kept = 1 + int(np.searchsorted(np.cumsum(at_least[2:]), MOST_COPIES, side="right"))
    starts = np.searchsorted(runs[:, 0], np.arange(len(abstract) + 1))
    return EqualRuns(starts, runs[:, 1].copy(), np.minimum(runs[:, 2], kept))


def all_events(
    m: int,
    n: int,
    table: TableEvents,
    stems: TableEvents,
    stem_runs: EqualRuns,
    word_runs: EqualRuns,
    *,
    most: float = math.inf,
) -> EventOrder:
    """Return all phrase events of m abstract words and n document words, each once, by where they start.

    Raises:
        MemoryLimitError: there may be more than ``most``.
    """
    sides = (table.document, table.abstract, table.phrases), (stems.document, stems.abstract, stems.phrases)
    # An upper bound: what both tables have, or a table and a run, is counted twice and one event.
    room = sum(count_events(*side) for side in sides)
    room += int(np.maximum(stem_runs.longest - 1, 0).sum())
    if room > most:
        raise events_take_too_much(room, most)
    fields = np.empty((6, room), np.int64)
    equal = np.zeros((2, room), np.bool_)
    count = fill_events(m, n, *sides, stem_runs, word_runs, fields, equal)
    return EventOrder(*fields[:, :count], *equal[:, :count])
