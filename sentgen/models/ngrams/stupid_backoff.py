"""Stupid back-off (Brants et al. 2007): nothing is estimated, and look-ups read the counts.

    S(w | h) = c(h w) / c(h)      if h w was counted
             = 0.4 S(w | h')      otherwise, where h' is h without its first word
    S(w)     = c(w) / N           N: all words and ends of sentences

The scores do not sum to one. A model of order n reads n - 1 words of context; a sentence begins with n - 1
<s>, and c(<s> <s> w) is c(<s> w). So the penalty of a word depends only on the length of the longest n-gram
found: a factor 0.4 for each word that it is shorter than n, and none if it begins with <s>. Every n-gram thus
has one score, and a table of scores needs no back-off weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import duckdb
import numpy as np
import pyarrow as pa

from sentgen.arrays import Ints, Longs
from sentgen.models.base.registry import ModelCounts, ModelInfo
from sentgen.models.base.sql import among
from sentgen.models.ngrams.ngram_cache import CachedNgrams
from sentgen.models.ngrams.ngram_table import EMPTY, NEVER, NgramTable, find
from sentgen.schema.engine import arrow_reader
from sentgen.schema.tables.corpus import BOS, UNK
from sentgen.schema.tables.counts import MAX_ORDER

ALPHA = 0.4
LOG_ALPHA = math.log(ALPHA)
#: The note on scores of such a model.
NOTE = (
    "scores of stupid-backoff are no probabilities: no perplexity, and nothing to compare with other models"
)


def counted(
    duck: duckdb.DuckDBPyConnection, counts: ModelCounts, order: int, words: Sequence[int], *, rows: int
) -> Iterator[pa.RecordBatch]:
    """Yield the n-grams up to an order that consist of the given words, which ascend, in batches.

    Columns are n, w1 to w5, null beyond the length, the count as ``logp``, and 0 as ``backoff``.
    """
    for n in range(1, order + 1):
        yield from _read(duck, counts, n, words, rows=rows, grouped=True)


def _read(
    duck: duckdb.DuckDBPyConnection,
    counts: ModelCounts,
    n: int,
    words: Sequence[int],
    *,
    rows: int,
    grouped: bool,
) -> Iterator[pa.RecordBatch]:
    """Yield the n-grams of one order, one row each if ``grouped``, else one per segment.

    A union of all orders did not finish for some bags.
    """
    if not counts.segments:
        return
    names = [f"w{i}" for i in range(1, n + 1)]
    padding = [f"null::integer as w{i}" for i in range(n + 1, MAX_ORDER + 1)]
    # The bits are the same for all columns.
    within, (parameters, *_) = zip(*(among(name, words) for name in names), strict=True)
    segments = ", ".join(map(str, counts.segments))
    groups = f"group by {', '.join(names)} having sum(count) >= {counts.min_count[n - 1]}" if grouped else ""
    query = f"""
        select {n}::smallint as n, {", ".join([*names, *padding])},
            {"sum(count)" if grouped else "count"}::double as logp, 0::double as backoff
        from ngram_{n}
        where segment_id in ({segments}) and {" and ".join(within)}
        {groups}
    """
    yield from (batch for batch in arrow_reader(duck, query, parameters, rows=rows) if batch.num_rows)


def count_rows(
    duck: duckdb.DuckDBPyConnection,
    model: ModelInfo,
    counts: ModelCounts,
    order: int,
    words: Sequence[int],
    *,
    keep: Callable[[Ints], Longs] | None = None,
) -> CachedNgrams:
    """Return the n-grams of `counted` as arrays, with counts as ``logp``; <unk> counts at least once.

    Args:
        duck, model, counts, order, words: see `counted`.
        keep: function that returns the rows to keep of the word ids, (R, order): of the n-grams of the words
            of a hundred bags, one in fifty is within one bag.
    """
    parts = []
    for n in range(1, order + 1):
        for batch in _read(duck, counts, n, words, rows=60_000, grouped=False):
            _, *padded, logp, backoff = (column.fill_null(-1).to_numpy() for column in batch.columns)
            part = CachedNgrams(np.stack(padded[:order], axis=1), logp, backoff)
            parts.append(part if keep is None else part.where(keep(part.words)))
    rows = _summed(CachedNgrams.joined(parts, order), counts.min_count)
    if model.unknown == "word" and not ((rows.words[:, 0] == UNK) & (rows.lengths == 1)).any():
        unknown = np.full((1, order), -1, np.int32)
        unknown[0, 0] = UNK
        rows = CachedNgrams.joined([rows, CachedNgrams(unknown, np.ones(1), np.zeros(1))], order)
    # DuckDB returns the rows in any order, on which a search must not depend.
    return rows.where(np.lexsort(rows.words.T[::-1]))


def _summed(rows: CachedNgrams, min_count: Sequence[int]) -> CachedNgrams:
    """Return one row for each n-gram whose count, summed over segments, is at least ``min_count``."""
    if not len(rows.logp):
        return rows
    rows = rows.where(np.lexsort(rows.words.T[::-1]))
    firsts = np.flatnonzero(np.append(True, (rows.words[1:] != rows.words[:-1]).any(axis=1)))
    summed = CachedNgrams(rows.words[firsts], np.add.reduceat(rows.logp, firsts), rows.backoff[firsts])
    return summed.where(summed.logp >= np.asarray(min_count)[summed.lengths - 1])


def put_scores(table: NgramTable, order: int, total: int) -> None:
    """Replace the counts of a table by scores; negative numbers, which are not counts, are kept.

    Args:
        table: table with counts in the place of log-probabilities.
        total: N, the number of words and ends of sentences.
    """
    prefixes, last = np.maximum(table.prefix, EMPTY), table.word
    lengths, first = np.zeros_like(prefixes), last
    for _ in range(order):
        lengths = np.where(np.arange(len(prefixes)) > 0, lengths[prefixes] + 1, 0)
        first = np.where(prefixes == EMPTY, last, first[prefixes])
    counts = table.logp.copy()
    seen = counts > 0
    context = np.where(prefixes == EMPTY, float(total), counts[prefixes])
    lacking = np.where(first == BOS, 0, order - lengths)
    table.logp[seen] = np.log(counts[seen]) - np.log(context[seen]) + LOG_ALPHA * lacking[seen]
    table.logp[find(table, EMPTY, BOS)] = NEVER


def counted_as(gram: Sequence[int]) -> tuple[int, ...]:
    """Return an n-gram with one <s> at its beginning at most."""
    begin = 0
    while tuple(gram[begin : begin + 2]) == (BOS, BOS):
        begin += 1
    return tuple(gram[begin:])
