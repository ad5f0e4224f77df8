"""Tasks of a range of first words, in which the n-grams of a context are neighbors: sums over contexts.

A range is read once, sorted. Its n-grams go out to the parts that have their suffixes (`suffixes`); what
comes back are numbers alone, in the order in which the n-grams went.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sentgen.arrays import Bools, Floats, Ints, Longs, Shorts
from sentgen.counts.cluster.files import read_batch, write_batches
from sentgen.models.building.summed_counts import count
from sentgen.models.building.writing import logarithms
from sentgen.models.cluster.plan import ModelPlan, dealt
from sentgen.models.smoothing import kneser_ney
from sentgen.models.smoothing.rows import (
    NgramRows,
    allocate,
    read_contexts,
    read_continuations,
    words_of,
)
from sentgen.space import Space

#: What comes of an n-gram by its context alone: null where it is not in the model.
SHARES = pa.schema([("discounted", pa.float64()), ("weight", pa.float64())])


def words_schema(n: int) -> list[tuple[str, pa.DataType]]:
    """Return the columns of the words of n-grams."""
    return [(f"w{i}", pa.int32()) for i in range(1, n + 1)]


def split(plan: ModelPlan, number: int) -> dict[str, list[list[int]]]:
    """Read a range, and deal its n-grams out by their last two words.

    Returns:
        Counts of counts, by order from 2: all of the highest one, else of what begins with <s>.
    """
    space, settings = plan.space(), plan.recipe
    with plan.connected() as connection:
        count(connection, plan.corpora, settings, lambda _: None, first_words=plan.words(number))
        orders = [read_contexts(connection, space)]
        for n in plan.orders:
            orders.append(read_continuations(connection, orders[-1], settings.min_count[n - 1], space))
    anchors = np.zeros(0, np.int64)
    kept: dict[str, npt.NDArray[np.generic]] = {"last_1": orders[0].last}
    for rows in orders:
        rows.find_prefixes(space)
    for rows in orders[1:]:
        places, begins = dealt(_parts(orders, rows, plan.parts, space), plan.parts, space)
        _ship(plan.file("split", number, rows.n), orders, rows.n, _cut(places, begins))
        kept |= _kept(rows, places, begins, highest=rows.n == settings.order)
        known = rows.anchor[rows.kept] if len(rows.kept) else rows.anchor
        anchors = _add(anchors, np.bincount(known))
    plan.keep("split", number, kept)
    words = np.flatnonzero(anchors)
    plan.keep("anchors", number, {"words": words, "counts": anchors[words]})
    return {"counts": [_counts(rows, rows.n == settings.order) for rows in orders[1:]]}


def _parts(orders: Sequence[NgramRows], rows: NgramRows, parts: int, space: Space) -> Shorts:
    """Return the part of each n-gram: by a hash of its last two words, which its suffix has, too."""
    found: Shorts = space.array(len(rows.last), np.uint16)
    before = orders[rows.n - 2].last
    for start, end in rows.blocks():
        mixed = before[rows.prefix[start:end]].astype(np.uint64) << np.uint64(32)
        mixed |= rows.last[start:end].astype(np.uint64)
        mixed *= np.uint64(0x9E3779B97F4A7C15)  # wraps around: Knuth 1973, section 6.4
        found[start:end] = (mixed >> np.uint64(33)) % np.uint64(parts)
    return found


def _cut(places: Ints, begins: Longs) -> Iterator[Ints]:
    for start, end in pairwise(begins.tolist()):
        yield places[start:end]


def _ship(path: Path, orders: Sequence[NgramRows], n: int, chosen: Iterator[Ints]) -> None:
    """Write the words of some rows, a batch for each part."""
    schema = pa.schema(words_schema(n))

    def batches() -> Iterator[pa.RecordBatch]:
        for rows in chosen:
            words = words_of(orders, n, rows)
            yield pa.record_batch([pa.array(column) for column in words], schema=schema)

    write_batches(path, schema, batches())


def _kept(
    rows: NgramRows, places: Ints, begins: Longs, *, highest: bool
) -> dict[str, npt.NDArray[np.generic]]:
    """Return what has to be known of an order later on; counts, where nothing else takes their place."""
    counts = rows.value if highest else rows.value[slice(*rows.begins)]
    arrays = {
        "first": rows.first,
        "last": rows.last,
        "kept": rows.kept,
        "begins": np.array(rows.begins),
        "counts": counts.astype(np.int64),
        "places": places,
        "parts": begins,
    }
    return {f"{name}_{rows.n}": array for name, array in arrays.items()}


def _counts(rows: NgramRows, highest: bool) -> list[int]:
    if highest:
        return rows.counts_of(4)
    found = rows.value[slice(*rows.begins)]
    return [int(np.count_nonzero(found == r)) for r in range(1, 5)]


def _add(one: Longs, other: Longs) -> Longs:
    shorter, longer = sorted((one, other), key=len)
    longer[: len(shorter)] += shorter
    return longer


class ContextRange:
    """A range as it was left: n-grams with their contexts, and the order in which they went to the parts."""

    def __init__(self, plan: ModelPlan, number: int, space: Space) -> None:
        self.plan, self.number, self.space = plan, number, space
        self.orders: list[NgramRows] = []
        #: Of order 2 and up.
        self.places: dict[int, Ints] = {}
        self.parts: dict[int, Longs] = {}
        words = plan.load("split", number, "last_1")
        contexts = allocate(1, len(words), 1, space)
        contexts.last[:] = contexts.anchor[:] = words
        contexts.first[1] = len(words)
        contexts.find_prefixes(space)
        self.orders.append(contexts)
        for n in plan.orders:
            self._read(n)

    def _read(self, n: int) -> None:
        def kept(name: str) -> Any:
            return self.plan.load("split", self.number, f"{name}_{n}")

        below, last, flags = self.orders[-1], kept("last"), kept("kept")
        rows = allocate(n, len(last), len(below.last), self.space)
        rows.first[:], rows.last[:] = kept("first"), last
        rows.begins = tuple(kept("begins").tolist())
        if len(flags):
            rows.kept = self.space.array(len(flags), np.bool_)
            rows.kept[:] = flags
        rows.find_prefixes(self.space)
        for start, end in rows.blocks():
            np.maximum(below.anchor[rows.prefix[start:end]], rows.last[start:end], out=rows.anchor[start:end])
            self.space.relax()
        self.places[n], self.parts[n] = self.space.array(len(last), np.int32), kept("parts")
        self.places[n][:] = kept("places")
        rows.value[slice(*rows.begins) if n < self.plan.recipe.order else slice(None)] = kept("counts")
        self.orders.append(rows)

    def receive(self, stage: str, n: int) -> None:
        """Take the values that the parts send back; what they do not know stays as it is."""
        rows = self.orders[n - 1]
        for part, places in enumerate(_cut(self.places[n], self.parts[n])):
            (sent,) = read_batch(self.plan.file(stage, part, n), self.number).columns
            here = sent.is_valid().to_numpy(zero_copy_only=False)
            rows.value[places[here]] = sent.drop_null().to_numpy()
            self.space.relax()

    def send(self, stage: str, n: int, batch: Callable[[Ints], pa.RecordBatch]) -> None:
        """Send something of the n-grams of an order to the parts."""
        found = (batch(places) for places in _cut(self.places[n], self.parts[n]))
        write_batches(self.plan.file(stage, self.number, n), SHARES, found, compressed=False)


def smooth(plan: ModelPlan, number: int, discounts: Sequence[Sequence[float]]) -> dict[str, object]:
    """Weigh the contexts of a range, and send what each n-gram gets of its own to the parts.

    Args:
        plan: of the model.
        number: of the range.
        discounts: of the adjusted counts 0 to 3, by order from 2.
    """
    space = plan.space()
    found = ContextRange(plan, number, space)
    weights = {}
    for n in plan.orders:
        if n < plan.recipe.order:
            found.receive("adjust", n)
        rows, below = found.orders[n - 1], found.orders[n - 2]
        below.weight = space.array(len(below.last), np.float64)
        # Nothing is below: what comes of it is added where the suffix is.
        rows.suffix = np.zeros(len(rows.last), np.int32)
        steps = np.array(discounts[n - 2])
        kneser_ney.interpolate(rows, np.zeros(1), below.weight, steps, space)
        found.send("smooth", n, lambda places, rows=rows, below=below: _shares(rows, below, places))  # type: ignore[misc]
        weights[f"weight_{below.n}"] = below.weight
    plan.keep("smooth", number, weights)
    return {}


def _shares(rows: NgramRows, below: NgramRows, places: Ints) -> pa.RecordBatch:
    gone: Bools | None = ~rows.kept[places] if len(rows.kept) else None
    shares = pa.array(rows.value[places], mask=gone)
    return pa.record_batch([shares, pa.array(below.weight[rows.prefix[places]])], schema=SHARES)


def place(plan: ModelPlan, number: int, anchors: Sequence[int]) -> dict[str, object]:
    """Deal the n-grams of a range out to the files of the lake, by anchor.

    Args:
        plan: of the model.
        number: of the range.
        anchors: the least anchor of each file.
    """
    space = plan.space()
    found = ContextRange(plan, number, space)
    for n in plan.orders:
        found.receive("interpolate", n)
        below = found.orders[n - 2]
        below.weight = space.array(len(below.last), np.float64)
        below.weight[:] = plan.load("smooth", number, f"weight_{n - 1}")
    _place_words(plan, number, found.orders[0], anchors)
    for rows in found.orders[1:]:
        file = space.array(len(rows.last), np.uint16)
        for start, end in rows.blocks():
            chosen = np.searchsorted(np.array(anchors), rows.anchor[start:end], side="right") - 1
            # Behind the last file: what is not in the model.
            file[start:end] = np.where(rows.value[start:end] > 0, chosen, len(anchors))
        places, begins = dealt(file, len(anchors) + 1, space)

        def batch(chosen: Ints, rows: NgramRows = rows) -> list[Ints | Floats]:
            scores = logarithms(rows.value, rows.weight, chosen)
            return [*words_of(found.orders, rows.n, chosen), *scores]

        _write(plan.file("place", number, rows.n), rows.n, map(batch, _cut(places, begins[:-1])))
    return {}


def _place_words(plan: ModelPlan, number: int, contexts: NgramRows, anchors: Sequence[int]) -> None:
    """Deal the words of a range out: those of the model, whether they are contexts or not."""
    values = plan.load("unigrams", 0, "probabilities")
    first, end = plan.words(number)
    value: Floats = np.array(values[first:end])
    words = np.flatnonzero(value > 0)
    weight = np.ones(len(value) if len(contexts.weight) else 0)
    weight[contexts.last[: len(contexts.weight)] - first] = contexts.weight
    cuts = np.searchsorted(words + first, [*anchors[1:]])

    def batch(chosen: Longs) -> list[Ints | Floats]:
        return [(chosen + first).astype(np.int32), *logarithms(value, weight, chosen)]

    _write(plan.file("place", number, 1), 1, map(batch, np.split(words, cuts)))


def _write(path: Path, n: int, found: Iterator[list[Ints | Floats]]) -> None:
    schema = pa.schema([*words_schema(n), ("logp", pa.float64()), ("backoff", pa.float64())])
    rows = (pa.record_batch([pa.array(column) for column in one], schema=schema) for one in found)
    write_batches(path, schema, rows)
