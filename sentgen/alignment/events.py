"""The phrase events of a pair: cells of the rewrite tables, and copied runs, at all their places.

A table is looked up once for the different phrases of both texts; each cell that is found then becomes an
event wherever its phrases stand. Pairs of single words are no events but cells of a matrix.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sentgen.alignment import event_kernels as kernels
from sentgen.alignment.event_kernels import Hits, Indices, Order, Phrases, Runs
from sentgen.alignment.lexicon import Ids, Keys, find_keys, phrase_keys
from sentgen.alignment.parameters import RewriteTable
from sentgen.alignment.settings import Settings

#: Most events of copied runs of a pair; 500 words of news against 10,000 have some 200,000.
MOST_COPIES = 1 << 22


class Found(NamedTuple):
    """What a table has of a pair: cells of words (u, v), -1 for none, and of longer phrases.

    u and v count the different words of the abstract and of the document, in the order of their keys.
    """

    words: Indices
    document: Phrases
    abstract: Phrases
    phrases: Hits


def phrases(words: Ids, longest: int) -> tuple[Keys, Phrases]:
    """Return the keys of the phrases of a text, each once and sorted, and where they are."""
    longest = max(1, min(longest, len(words)))
    keys = np.concatenate([phrase_keys(words, length) for length in range(1, longest + 1)])
    offset = np.concatenate([np.arange(len(words) - length + 1) for length in range(1, longest + 1)])
    length = np.repeat(np.arange(1, longest + 1), [len(words) - k + 1 for k in range(1, longest + 1)])
    unique, phrase, times = np.unique(keys, return_inverse=True, return_counts=True)
    order = np.argsort(phrase, kind="stable")
    place = np.full((longest, len(words)), -1)
    place[length - 1, offset] = phrase
    starts = np.append(0, np.cumsum(times))
    first_word = int(np.searchsorted(unique, 0))
    return unique, Phrases(first_word, starts, offset[order], length[order], place)


def look_up(table: RewriteTable, document: Ids, abstract: Ids, settings: Settings) -> Found:
    """Return all cells of a table that a pair can use."""
    left_keys, left = phrases(document, settings.max_document_phrase)
    right_keys, right = phrases(abstract, settings.max_abstract_phrase)
    rows, row = find_keys(table.rows, left_keys)
    columns, column = find_keys(table.columns, right_keys)
    firsts, lasts = table.starts[row], table.starts[row + 1]
    found = np.empty((int(np.minimum(lasts - firsts, len(column)).sum()), 3), np.int64)
    count = kernels.find_cells(rows, firsts, lasts, columns, column, table.targets, found)
    words = np.full((len(right_keys) - right.first_word, len(left_keys) - left.first_word), -1)
    hits = kernels.place_hits(found[:count], left.first_word, right.first_word, len(right_keys), words)
    return Found(words, left, right, hits)


def nothing(found: Found) -> Found:
    """Return what a table without cells has of the same pair."""
    none = np.empty(0, np.int64)
    hits = Hits(np.zeros(len(found.abstract.starts), np.int64), none, none)
    return Found(np.full_like(found.words, -1), found.document, found.abstract, hits)


def copied_runs(abstract: Ids, document: Ids, settings: Settings) -> Runs:
    """Return the runs of two or more equal words, by where they start.

    Of texts that repeat themselves so much that there are more than ``MOST_COPIES`` beginnings of runs, the
    longest are left out.
    """
    longest = min(len(abstract), len(document))
    runs = kernels.run_lengths(abstract, document, longest if settings.max_run is None else settings.max_run)
    at_least = np.cumsum(np.bincount(runs[:, 2], minlength=2)[::-1])[::-1]
    kept = 1 + int(np.searchsorted(np.cumsum(at_least[2:]), MOST_COPIES, side="right"))
    starts = np.searchsorted(runs[:, 0], np.arange(len(abstract) + 1))
    return Runs(starts, runs[:, 1].copy(), np.minimum(runs[:, 2], kept))


def all_events(m: int, n: int, table: Found, stems: Found, stem_runs: Runs, word_runs: Runs) -> Order:
    """Return all phrase events of m abstract words and n document words, each once, by where they start."""
    sides = (table.document, table.abstract, table.phrases), (stems.document, stems.abstract, stems.phrases)
    room = sum(kernels.count_events(*side) for side in sides)
    room += int(np.maximum(stem_runs.longest - 1, 0).sum())
    fields = np.empty((6, room), np.int64)
    equal = np.zeros((2, room), np.bool_)
    count = kernels.fill_events(m, n, *sides, stem_runs, word_runs, fields, equal)
    return Order(*fields[:, :count], *equal[:, :count])
