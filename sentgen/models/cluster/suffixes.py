"""Tasks of a part of the n-grams, which has the suffixes of all that it has: what joins by suffix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from sentgen.arrays import Bools, Floats, Ints, Longs, compiled
from sentgen.counts.cluster.files import read_batch, write_batches
from sentgen.models.cluster.plan import ModelPlan, columns
from sentgen.models.smoothing.rows import damaged
from sentgen.schema.tables.corpus import BOS
from sentgen.space import Space

_VALUES = pa.schema([("value", pa.float64())])


def adjust(plan: ModelPlan, part: int) -> dict[str, list[list[int]]]:
    """Count the words before each n-gram of a part, and send the counts back to the ranges.

    Links to suffixes are kept, by order: a row of the order below, or the last word of a bigram.

    Returns:
        Counts of adjusted counts from 1 to 4, by order from 2, without what begins with <s>.
    """
    space = plan.space()
    found: list[list[int]] = []
    links: dict[str, Ints] = {}
    below, sizes = np.empty((0, 1), np.int32), [0]
    for n in plan.orders:
        words, here = _read(plan, part, n, space)
        if n == 2:
            links["links_2"] = words[:, 1].copy()
            before = np.bincount(words[:, 1])
            seen = np.flatnonzero(before)
            plan.keep("words", part, {"words": seen, "counts": before[seen]})
        else:
            links[f"links_{n}"] = _linked(words, below, space)
            counts = np.bincount(links[f"links_{n}"], minlength=len(below)).astype(np.float64)
            counted = counts[below[:, 0] != BOS]
            found.append([int(np.count_nonzero(counted == r)) for r in range(1, 5)])
            _send(plan, "adjust", part, n - 1, counts, below[:, 0] == BOS, sizes)
        below, sizes = words, here
        space.relax()
    plan.keep("adjust", part, links)
    return {"counts": found}


def interpolate(plan: ModelPlan, part: int) -> dict[str, object]:
    """Add to each n-gram what comes of its suffix, order by order, and send probabilities back."""
    space = plan.space()
    lower: Floats = plan.load("unigrams", 0, "probabilities")
    for n in plan.orders:
        suffix = plan.load("adjust", part, f"links_{n}")
        value: Floats = space.array(len(suffix), np.float64)
        gone = space.array(len(suffix), np.bool_)
        at, sizes = 0, []
        for number in range(len(plan.ranges)):
            batch = read_batch(plan.file("smooth", number, n), part)
            here = slice(at, at + batch.num_rows)
            shares, weight = batch.columns
            gone[here] = shares.is_null().to_numpy(zero_copy_only=False)
            value[here] = shares.fill_null(0).to_numpy() + weight.to_numpy() * lower[suffix[here]]
            at += batch.num_rows
            sizes.append(batch.num_rows)
        value[gone] = 0
        _send(plan, "interpolate", part, n, value, np.zeros(len(value), np.bool_), sizes)
        lower = value
        space.relax()
    return {}


def _read(plan: ModelPlan, part: int, n: int, space: Space) -> tuple[Ints, list[int]]:
    """Return the n-grams of an order, a row each, and how many come from each range."""
    files = [plan.file("split", number, n) for number in range(len(plan.ranges))]
    sizes = [read_batch(file, part).num_rows for file in files]
    words: Ints = space.array(sum(sizes) * n, np.int32).reshape(-1, n)
    at = 0
    for file, size in zip(files, sizes, strict=True):
        for k, column in enumerate(columns(read_batch(file, part))):
            words[at : at + size, k] = column
        at += size
    return words, sizes


def _send(
    plan: ModelPlan, stage: str, part: int, n: int, values: Floats, unknown: Bools, sizes: Sequence[int]
) -> None:
    """Write values for each range, in the order of its n-grams; null where a part does not know them."""

    def batches() -> Iterator[pa.RecordBatch]:
        at = 0
        for size in sizes:
            here = slice(at, at + size)
            yield pa.record_batch([pa.array(values[here], mask=unknown[here])], schema=_VALUES)
            at += size

    write_batches(plan.file(stage, part, n), _VALUES, batches(), compressed=stage == "adjust")


def _linked(words: Ints, below: Ints, space: Space) -> Ints:
    """Return the row of the suffix of each n-gram.

    Raises:
        DamagedError: it has none.
    """
    size = 1 << max(4, (2 * len(below)).bit_length())
    table = space.array(size, np.int32)
    links: Ints = space.array(len(words), np.int32)
    if not _link(words, below, table, links):
        raise damaged(words.shape[1])
    return links


@compiled
def _link(words: Ints, below: Ints, table: Ints, links: Ints) -> bool:
    """Find the suffix of each n-gram by a hash table of rows; False if one is missing.

    Args:
        words: (rows, n).
        below: (fewer rows, n - 1).
        table: zeros, a power of two of them; gets rows of ``below`` plus 1.
        links: gets rows of ``below``.
    """
    mask = len(table) - 1
    for row in range(len(below)):
        at = _slot(below, row, 0) & mask
        while table[at]:
            at = (at + 1) & mask
        table[at] = row + 1
    for row in range(len(words)):
        at = _slot(words, row, 1) & mask
        while True:
            found = table[at] - 1
            if found < 0:
                return False
            k = 0
            while k < below.shape[1] and below[found, k] == words[row, k + 1]:
                k += 1
            if k == below.shape[1]:
                break
            at = (at + 1) & mask
        links[row] = found
    return True


@compiled
def _slot(words: Ints, row: int, start: int) -> np.int64:
    """Return a hash of the words of a row from one on."""
    mixed = np.uint64(14695981039346656037)
    for k in range(start, words.shape[1]):
        mixed = (mixed ^ np.uint64(words[row, k])) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(32)
    return np.int64(mixed >> np.uint64(1))


def sums(plan: ModelPlan, stage: str, tasks: int, size: int) -> Longs:
    """Sum the counts of words that tasks kept, by word; there are words below a number."""
    total = np.zeros(size, np.int64)
    for task in range(tasks):
        total[plan.load(stage, task, "words")] += plan.load(stage, task, "counts")
    return total
