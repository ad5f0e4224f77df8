"""Write a model: its n-grams, and the rows that describe it.

N-grams are sorted by anchor, order and words, in ranges of anchors that fit into memory. A source yields them
sorted by order and words. The n-grams of each anchor are counted first, so that the index of each n-gram is
known when it is read, and no n-grams are compared (a counting sort).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from sqlalchemy import Connection, func, insert, select

from sentgen.arrays import Floats, Ints, Longs, Space, compiled
from sentgen.models.base.registry import BRACKETS, CONDITION, SYMBOLS, ModelInfo, find_in, next_version
from sentgen.models.building.recipe import BuiltFrom, Chosen, Recipe
from sentgen.models.building.rows import NgramRows, words_of
from sentgen.schema import Store, metadata
from sentgen.schema.engine import COUNTING_SHARE, DATABASE_SHARE
from sentgen.schema.store import append, now, one_thread, scalar
from sentgen.schema.tables import models as tables
from sentgen.schema.tables.corpus import BOS
from sentgen.schema.tables.counts import MAX_ORDER

#: The smallest back-off weight that is stored, in place of 0.
_NO_WEIGHT = 1e-100
#: Word id in the columns beyond the order of an n-gram.
_ABSENT = -1
#: Share of the memory of the whole process for sorting n-grams.
_SORTING_SHARE = 0.35 * COUNTING_SHARE
#: Bytes of memory that sorting takes for each n-gram.
_BYTES_A_ROW = 36
#: N-grams that are appended at once: a row group.
_APPENDED = 122_880
Parameters = Sequence[tuple[int, str, float]]


class OrderNgrams(NamedTuple):
    """N-grams of one order, sorted by words: (n, rows) words, (rows,) natural logarithms."""

    words: Ints
    logp: Floats
    backoff: Floats


#: Yields the n-grams with anchors from the first number to below the second, sorted by order and words.
Source = Callable[[int, int], Iterable[OrderNgrams]]


def in_order(model_id: int, anchors: Longs, source: Source, *, memory: int) -> Iterator[pa.Table]:
    """Yield the rows of `model_ngram` of a model, a row group at a time.

    Args:
        anchors: number of the n-grams of each anchor.
        memory: bytes that sorting may take; a single anchor with more n-grams takes more.
    """
    before = np.concatenate(([0], np.cumsum(anchors)))
    ranges = list(_ranges(before, memory // _BYTES_A_ROW))
    most = int(max(before[end] - before[start] for start, end in ranges))
    words, scores = np.empty((most, MAX_ORDER), np.int32), np.empty((most, 2))
    for start, end in ranges:
        size = int(before[end] - before[start])
        following = before[start:end] - before[start]
        for ngrams in source(start, end):
            _place(*ngrams, start, following, words, scores)
        for at in range(0, size, _APPENDED):
            part = slice(at, min(at + _APPENDED, size))
            yield _columns(model_id, words[part], scores[part])


def _ranges(before: Longs, most: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of anchors with ``most`` n-grams or one anchor each, of about the same size."""
    parts = before[-1] // max(1, most) + 1
    start, last = 0, len(before) - 1
    while start < last:
        share = int(np.searchsorted(before, before[start] + before[-1] // parts + 1, side="right")) - 1
        end = min(max(share, start + 1), last)
        yield start, end
        start = end


@compiled
def _place(
    words: Ints,
    logp: Floats,
    backoff: Floats,
    least: int,
    following: Longs,
    sorted_words: Ints,
    sorted_scores: Floats,
) -> None:
    """Copy n-grams to their sorted rows, and advance the next row of their anchors.

    Args:
        words: (n, rows).
        logp, backoff: (rows,).
        least: the least anchor.
        following: sorted row of the next n-gram of each anchor, from ``least`` on.
        sorted_words: (all, 5), -1 beyond the order of an n-gram.
        sorted_scores: (all, 2).
    """
    for i in range(len(logp)):
        anchor = words[0, i]
        for k in range(1, len(words)):
            anchor = max(anchor, words[k, i])
        row = following[anchor - least]
        following[anchor - least] += 1
        for k in range(MAX_ORDER):
            sorted_words[row, k] = words[k, i] if k < len(words) else _ABSENT
        sorted_scores[row, 0] = logp[i]
        sorted_scores[row, 1] = backoff[i]


def _columns(model_id: int, words: Ints, scores: Floats) -> pa.Table:
    size = len(words)
    anchor, n = np.full(size, _ABSENT, np.int32), np.zeros(size, np.int16)
    columns = {"model_id": np.full(size, model_id, np.int32), "anchor": anchor, "n": n}
    for k in range(MAX_ORDER):
        column = words[:, k].copy()  # the array is reused for the next range
        absent = column == _ABSENT
        np.maximum(anchor, column, out=anchor)
        n += ~absent
        columns[f"w{k + 1}"] = pa.array(column, mask=absent)
    columns["logp"] = scores[:, 0].copy()
    columns["backoff"] = scores[:, 1].copy()
    return pa.table(columns)


def anchors_of(orders: Sequence[NgramRows], space: Space) -> Longs:
    """Return the number of n-grams of each anchor in smoothed orders; words are numbered from 0."""
    counts = np.zeros(int(orders[0].last[-1]) + 1, np.int64)
    for rows in orders:
        for start, end in rows.blocks():
            anchors = rows.anchor[start:end][rows.value[start:end] > 0]
            counts += np.bincount(anchors, minlength=len(counts))
            space.relax()
    return counts


def smoothed(orders: Sequence[NgramRows], space: Space) -> Source:
    """Return the n-grams of smoothed orders as a source; their suffixes are lost."""
    for rows in orders:
        rows.find_prefixes(space)

    def between(least: int, end: int) -> Iterator[OrderNgrams]:
        for rows in orders:
            for block in rows.blocks():
                yield _chosen(orders, rows, slice(*block), (least, end))
                space.relax()

    return between


def _chosen(
    orders: Sequence[NgramRows], rows: NgramRows, block: slice, anchors: tuple[int, int]
) -> OrderNgrams:
    """Return the n-grams of a block of rows that are in the model and have anchors in a range."""
    anchor = rows.anchor[block]
    within = (anchor >= anchors[0]) & (anchor < anchors[1]) & (rows.value[block] > 0)
    chosen = np.flatnonzero(within) + block.start
    return OrderNgrams(words_of(orders, rows.n, chosen), *logarithms(rows.value, rows.weight, chosen))


def logarithms(value: Floats, weight: Floats, chosen: Ints | Longs) -> tuple[Floats, Floats]:
    """Return the logarithms of probabilities and back-off weights of some rows; 0 without weights."""
    logp = np.minimum(np.log(value[chosen]), 0)
    backoff = np.zeros(len(chosen))
    if len(weight):
        np.log(np.maximum(weight[chosen], _NO_WEIGHT), out=backoff)
    return logp, backoff


def record(
    store: Store,
    connection: Connection,
    name: str,
    settings: Recipe,
    corpora: Sequence[BuiltFrom],
    parameters: Parameters,
    ngrams: tuple[Longs, Source] | None,
    chosen: Chosen | None = None,
    looked_up: Sequence[int] = (),
) -> ModelInfo:
    """Store the next version of a model: its n-grams, settings, corpora and parameters.

    ``ngrams`` are the number of n-grams of each anchor and their source. Imported models have no corpora;
    ``chosen`` are the sentences that were counted, if not all; ``looked_up`` are the models that a mixture
    without n-grams looks up.
    """
    model_id, version = next_version(connection, name)
    if ngrams:
        memory = int(store.memory_limit * _SORTING_SHARE / DATABASE_SHARE)
        with one_thread(connection):
            for table in in_order(model_id, *ngrams, memory=memory):
                append(connection, "model_ngram", table)
    columns = tables.model_ngram.c
    unigrams = (columns.model_id.in_(looked_up or [model_id]), columns.n == 1, columns.w1 != BOS)
    words = scalar(connection, select(func.count(columns.w1.distinct())).where(*unigrams))
    rows = rows_of(model_id, (name, version), settings, corpora, words)
    notes = {BRACKETS: 1.0} if settings.brackets else {}
    if not settings.symbols.are_words:
        notes[f"{SYMBOLS}{settings.symbols.over}"] = float(settings.symbols.kept)
    if chosen is not None:
        rows[tables.model.name][0] |= {"sentences": chosen.sentences, "tokens": chosen.tokens}
        if chosen.condition:
            notes[f"{CONDITION}{chosen.condition}"] = 1.0
    parameters = [*parameters, *((0, note, value) for note, value in notes.items())]
    rows[tables.model_parameter.name] = [
        {"model_id": model_id, "n": n, "name": key, "value": value} for n, key, value in parameters
    ]
    insert_rows(connection, rows)
    return find_in(connection, f"{name}@{version}")


def rows_of(
    model_id: int,
    label: tuple[str, int],
    settings: Recipe,
    corpora: Sequence[BuiltFrom],
    words: int,
    created_at: datetime | None = None,
) -> dict[str, list[dict[str, object]]]:
    """Return the rows that describe a model, by table; ``created_at`` is now unless it is given."""
    name, version = label
    model = {
        "id": model_id,
        "name": name,
        "version": version,
        "max_order": settings.order,
        "smoothing": settings.smoothing,
        "min_count": ",".join(map(str, settings.min_count)),
        "unknown": settings.unknown,
        "vocabulary": words,
        "sentences": sum(each.sentences for each in corpora),
        "tokens": sum(each.tokens for each in corpora),
        "created_at": created_at or now(exact=True),
    }
    corpus_rows = [
        {"model_id": model_id, "corpus_id": each.id, "corpus_name": each.name, "tokens": each.tokens}
        for each in corpora
    ]
    return {tables.model.name: [model], tables.model_corpus.name: corpus_rows}


def insert_rows(connection: Connection, rows: dict[str, list[dict[str, object]]]) -> None:
    """Store rows by table."""
    for table, new in rows.items():
        if new:
            connection.execute(insert(metadata.tables[table]), new)
