"""The n-grams of several models together, with what each of the models gives them.

With h the words before w, and h' those without the first one, a model gives

    p(w | h) = its probability           if it has the n-gram h w
             = backoff(h) p(w | h')      otherwise; backoff(h) = 1 if it has not h

A word of h that it does not know is <unk> to it, as for scores; to a word w that it does not know it gives
nothing, so that its probabilities of all words of the union sum to one. To the n-grams come the suffixes
that a pruned model lacks: then p(w | h') is in the row of the suffix.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from sqlalchemy import Connection

from sentgen.arrays import Bools, Floats, Ints, compiled
from sentgen.models.base import sql
from sentgen.models.smoothing.rows import NgramRows, allocate, damaged, find_suffixes
from sentgen.schema.engine import arrow_reader
from sentgen.schema.store import raw
from sentgen.schema.tables.corpus import BOS, UNK
from sentgen.space import Space

_FILE = "union.sql"
_READ = 1 << 17
#: What words share that were not seen after a context is rounding below this.
_NOTHING = 1e-12


class Given(NamedTuple):
    """What one model gives the n-grams of an order; as read, logarithms, and NaN for what it has not."""

    p: Floats  # (rows,) of the last word after the others
    backoff: Floats  # (rows,) weight of the n-gram, as the model knows its words
    row: Ints  # (rows,) row of the n-gram with <unk> for the words that the model does not know; -1 if none


#: Of the empty context.
_EMPTY = Given(np.zeros(1), np.ones(1), np.zeros(1, np.int32))


def read_union(
    connection: Connection,
    models: Sequence[int],
    weights: Sequence[float],
    *,
    order: int,
    space: Space,
    progress: Callable[[str], None],
) -> list[NgramRows]:
    """Return the n-grams of some models by order; their value is the weighted sum of what the models give.

    Args:
        connection: of the store; gets temporary tables.
        models: their numbers.
        weights: above 0, and 1 together.
        order: the highest one.
        space: room for the n-grams.
        progress: called with one line a step.
    """
    _make_tables(connection, models, order)
    orders: list[NgramRows] = []
    known: list[Bools] = []
    below, words = [_EMPTY] * len(models), np.empty((0, 1), np.int32)
    for n in range(1, order + 1):
        progress(f"reading order {n}")
        rows, words, given = _read(connection, n, words, len(models), space)
        if orders:
            _find_suffixes(rows, orders[-1], space)
        known = known or [_known(rows, each) for each in given]
        for each, lower, its_words, weight in zip(given, below, known, weights, strict=True):
            _give(rows, each, lower, its_words, space)
            rows.value += weight * each.p
        orders.append(rows)
        below = given
    orders[0].value[slice(*orders[0].begins)] = 1.0  # <s> is always there
    return orders


def _make_tables(connection: Connection, models: Sequence[int], order: int) -> None:
    """Make ``union_1`` and up."""
    for n in range(order, 0, -1):
        columns = [
            sql.statements(_FILE)["column"].format(value=value, model=model, place=place)
            for place, model in enumerate(models)
            for value in ("logp", "backoff")
        ]
        longer = {"words": sql.words(n, start=2), "longer": n + 1}
        sql.run(
            connection,
            _FILE,
            "union",
            n=n,
            words=sql.words(n),
            columns=", ".join(columns),
            models=", ".join(map(str, models)),
            suffixes=sql.statements(_FILE)["suffixes"].format(**longer) if n < order else "",
        )


def _read(
    connection: Connection, n: int, below: Ints, models: int, space: Space
) -> tuple[NgramRows, Ints, list[Given]]:
    """Read the n-grams of an order, and what the store has of each model; also return their words, (n, rows).

    Unlike those that were counted, n-grams of models may be no context, whatever they end in: each is
    compared with those of the order below, ``below``.
    """
    ((size,),) = sql.run(connection, _FILE, "size", n=n)
    rows, words = allocate(n, size, below.shape[1], space), space.array(n * size, np.int32).reshape(n, size)
    given = [
        Given(space.array(size, np.float64), space.array(size, np.float64), space.array(size, np.int32))
        for _ in range(models)
    ]
    columns = [f"{value}_{place}" for place in range(models) for value in ("logp", "backoff")]
    values = {"columns": ", ".join(columns), "n": n, "words": sql.words(n)}
    at, context = 0, -1
    for batch in arrow_reader(raw(connection), sql.statements(_FILE)["columns"].format(**values), rows=_READ):
        end = at + batch.num_rows
        read = [column.to_numpy(zero_copy_only=False) for column in batch.columns]
        words[:, at:end] = read[:n]
        rows.last[at:end], rows.anchor[at:end] = read[n - 1], np.max(words[:, at:end], axis=0)
        for each, logp, backoff in zip(given, read[n::2], read[n + 1 :: 2], strict=True):
            each.p[at:end], each.backoff[at:end] = logp, backoff
        context = _find_prefixes(words, at, end, below, rows.first, context)
        if context < 0:
            raise damaged(n)
        at = end
        space.relax()
    rows.first[context + 1 :] = size
    if n == 1:
        start, end = np.searchsorted(rows.last, [BOS, BOS + 1]).tolist()
        rows.begins = (start, end)
    return rows, words, given


@compiled
def _find_prefixes(words: Ints, at: int, end: int, below: Ints, first: Ints, context: int) -> int:
    """Note where the n-grams of each context begin; return the last context, or -1 if one is missing.

    Args:
        words: (n, rows) of the order.
        at, end: the rows to look at.
        below: (n - 1, contexts) words of the order below.
        first: (contexts + 1,) gets the rows.
        context: that of the row before, -1 if there is none.
    """
    for row in range(at, end):
        while context < 0 or not np.array_equal(below[:, context], words[:-1, row]):
            context += 1
            if context == below.shape[1]:
                return -1
            first[context] = row
    return context


def _find_suffixes(rows: NgramRows, below: NgramRows, space: Space) -> None:
    for start, end in rows.spans():
        contexts = slice(start, end)
        first = rows.first[start : end + 1]
        found = find_suffixes(first, rows.last, below.suffix[contexts], below.first, below.last, rows.suffix)
        if not found:
            raise damaged(rows.n)
        space.relax()


def _known(rows: NgramRows, stored: Given) -> Bools:
    """Return for each word of the store whether a model has it, by its unigrams."""
    known = np.zeros(int(rows.last[-1]) + 1, np.bool_)
    known[rows.last[~np.isnan(stored.p)]] = True
    return known


def _give(rows: NgramRows, given: Given, lower: Given, known: Bools, space: Space) -> None:
    """Replace what is stored of a model by what the model gives; ``lower`` is that of the order below."""
    for kernel in (_find_rows, _give_own, _give_mapped):
        for start, end in rows.spans():
            contexts = slice(start, end)
            below = Given(lower.p, lower.backoff[contexts], lower.row[contexts])
            kernel(rows.first, start, rows.last, rows.suffix, below, known, given)
            space.relax()


@compiled
def _find_rows(
    first: Ints, start: int, last: Ints, suffix: Ints, lower: Given, known: Bools, given: Given
) -> None:
    """Find the n-grams of some contexts with <unk> for what a model does not know.

    Args:
        first, last, suffix: as in `NgramRows`.
        start: the first context.
        lower: what the model gives the order below: all p, and the others of these contexts.
        known: whether the model has a word.
        given: what it gives; gets the rows.
    """
    for c in range(len(lower.row)):
        for row in range(first[start + c], first[start + c + 1]):
            word = last[row] if known[last[row]] else UNK
            if lower.row[c] == start + c and word == last[row]:
                given.row[row] = row
                continue
            given.row[row] = -1
            if lower.row[c] >= 0:
                low, high = first[lower.row[c]], first[lower.row[c] + 1]
                while low < high:
                    middle = (low + high) >> 1
                    if last[middle] < word:
                        low = middle + 1
                    else:
                        high = middle
                if low < first[lower.row[c] + 1] and last[low] == word:
                    given.row[row] = low


@compiled
def _give_own(
    first: Ints, start: int, last: Ints, suffix: Ints, lower: Given, known: Bools, given: Given
) -> None:
    """Give the n-grams that have no other row; the terms are those of `_find_rows`."""
    for c in range(len(lower.row)):
        for row in range(first[start + c], first[start + c + 1]):
            if given.row[row] == row:
                if not known[last[row]]:
                    given.p[row] = 0.0
                elif np.isnan(given.p[row]):
                    given.p[row] = lower.backoff[c] * lower.p[suffix[row]]
                else:
                    given.p[row] = np.exp(given.p[row])
                given.backoff[row] = 1.0 if np.isnan(given.backoff[row]) else np.exp(given.backoff[row])


@compiled
def _give_mapped(
    first: Ints, start: int, last: Ints, suffix: Ints, lower: Given, known: Bools, given: Given
) -> None:
    """Give the others what those rows have; the terms are those of `_find_rows`."""
    for c in range(len(lower.row)):
        for row in range(first[start + c], first[start + c + 1]):
            other = given.row[row]
            if other != row:
                given.backoff[row] = given.backoff[other] if other >= 0 else 1.0
                if not known[last[row]]:
                    given.p[row] = 0.0
                elif other >= 0:
                    given.p[row] = given.p[other]
                else:
                    given.p[row] = lower.backoff[c] * lower.p[suffix[row]]


def weigh_contexts(orders: Sequence[NgramRows], space: Space) -> None:
    """Set the back-off weights so that the probabilities after each context sum to one.

    An n-gram of value 0 is not in the model, and gets by back-off what its suffix has; with the n-grams h w
    that are, as SRILM does it,

        backoff(h) = (1 - sum_w p(w | h)) / (1 - sum_w p(w | h'))
    """
    lower = orders[0].value
    for below, rows in pairwise(orders):
        below.weight = space.array(len(below.last), np.float64)
        full = space.array(len(rows.last), np.float64)
        for start, end in rows.spans():
            _weigh(rows.first, start, end, rows.value, rows.suffix, lower, below.weight, full)
            space.relax()
        lower = full


@compiled
def left_over(first: Ints, context: int, value: Floats, suffix: Ints, lower: Floats) -> tuple[float, float]:
    """Return what the n-grams of a context leave over of its words, and of those of the shorter context."""
    left, shorter = 1.0, 1.0
    for row in range(first[context], first[context + 1]):
        if value[row] > 0:
            left -= value[row]
            shorter -= lower[suffix[row]]
    # What rounding leaves of nothing is for no word.
    return (max(left, 0.0), shorter) if shorter > _NOTHING else (0.0, 0.0)


@compiled
def _weigh(
    first: Ints,
    start: int,
    end: int,
    value: Floats,
    suffix: Ints,
    lower: Floats,
    weight: Floats,
    full: Floats,
) -> None:
    """Weigh some contexts, and give each of their n-grams what the model gives it."""
    for context in range(start, end):
        left, shorter = left_over(first, context, value, suffix, lower)
        weight[context] = left / shorter if shorter > 0 else 1.0
        for row in range(first[context], first[context + 1]):
            full[row] = value[row] if value[row] > 0 else weight[context] * lower[suffix[row]]
