"""The tasks of a build: one for each range of first words, part by suffixes, and file; one for all unigrams.

A range has all n-grams of its contexts, as sums over contexts need them. It is read once, sorted, and its
n-grams are sent to the parts that have their suffixes; the parts return numbers only, in the order in which
the n-grams were sent. One task has the unigrams of all ranges, and each file of the lake is written by one.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlalchemy import Connection

from sentgen.arrays import Bools, Floats, Ints, Longs, Shorts, Space, compiled
from sentgen.counts.cluster.stages import PROGRAM, read_batch, write_batches
from sentgen.models.building import kneser_ney
from sentgen.models.building.recipe import BuiltFrom, Recipe
from sentgen.models.building.rows import NgramRows, damaged, words_of
from sentgen.models.building.writing import OrderNgrams, in_order, logarithms
from sentgen.schema import Store
from sentgen.schema.base import literal
from sentgen.schema.lake_transfer import write_file
from sentgen.schema.places import Place
from sentgen.schema.store import raw
from sentgen.schema.tables.corpus import BOS
from sentgen.temporary import aside

#: Greater than the id of every word.
_LAST = 2**31 - 1
#: Shares of the memory of a task: for DuckDB, which reads, and for the n-grams.
_DATABASE, _ROWS = 0.3, 0.5
_FULL = 0.8
#: Share of the memory of a task that sorting may take.
_SORTING = 0.5
#: Bytes of the header of an array file.
_HEADER = 128
_VALUES = pa.schema([("value", pa.float64())])


@dataclass(frozen=True, slots=True)
class ModelPlan:
    """The plan of a model, which every task gets.

    Attributes:
        lake: the lake.
        work: folder of the files between.
        recipe: the settings of the model.
        corpora: the corpora that the model is built from.
        ranges: the first word of each range.
        parts: number of parts.
        memory: bytes that a task may take.
    """

    lake: Place
    work: str
    recipe: Recipe
    corpora: tuple[BuiltFrom, ...]
    ranges: tuple[int, ...]
    parts: int
    memory: int

    @property
    def orders(self) -> range:
        """The orders of n-grams that have a context."""
        return range(2, self.recipe.order + 1)

    def words(self, number: int) -> tuple[int, int]:
        """Return the first word of a range, and the first word of the next one."""
        return (*self.ranges, _LAST)[number], (*self.ranges, _LAST)[number + 1]

    def file(self, stage: str, number: int, n: int) -> Path:
        """Return where a task of a stage writes the n-grams of an order."""
        return Path(self.work) / stage / f"{number:06d}-{n}.arrow"

    def keep(self, stage: str, number: int, arrays: Mapping[str, npt.NDArray[np.generic]]) -> None:
        """Write arrays of a task for later stages."""
        for name, array in arrays.items():
            with aside(self._array(stage, number, name)) as draft, draft.open("wb") as file:
                np.save(file, array)

    def load(self, stage: str, number: int, name: str) -> Any:
        """Return an array that `keep` wrote, mapped into memory."""
        path = self._array(stage, number, name)
        # An empty file cannot be mapped.
        return np.load(path, mmap_mode="r" if path.stat().st_size > _HEADER else None)

    def _array(self, stage: str, number: int, name: str) -> Path:
        return Path(self.work) / stage / f"{number:06d}-{name}.npy"

    def space(self) -> Space:
        """Return the `Space` for the n-grams of a task."""
        return Space(int(self.memory * _ROWS), Path(self.work), most=int((self.memory + PROGRAM) * _FULL))

    @contextmanager
    def connected(self) -> Iterator[Connection]:
        """Open the lake; DuckDB spills into the work folder."""
        limit = int(self.memory * _DATABASE)
        with (
            Store(self.lake.root, read_only=True, memory_limit=limit, threads=1) as store,
            store.connect() as connection,
        ):
            # Processes give their spill files the same names: each has a folder of its own.
            spill = Path(self.work) / f".duckdb-{platform.node()}-{os.getpid()}"
            raw(connection).execute(f"set temp_directory = {literal(str(spill))}")
            yield connection

    def split(self, number: int) -> dict[str, list[list[int]]]:
        """Read a range, and divide its n-grams among the parts by their last two words.

        Returns:
            Counts of counts, by order from 2: of all n-grams of the highest order, else of those after <s>.
        """
        space, settings = self.space(), self.recipe
        with self.connected() as connection:
            settings.count(connection, self.corpora, lambda _: None, first_words=self.words(number))
            orders = [NgramRows.read_contexts(connection, space)]
            for n in self.orders:
                orders.append(
                    NgramRows.read_continuations(connection, orders[-1], settings.min_count[n - 1], space)
                )
        anchors = np.zeros(0, np.int64)
        arrays: dict[str, npt.NDArray[np.generic]] = {"last_1": orders[0].last}
        for rows in orders:
            rows.find_prefixes(space)
        for rows in orders[1:]:
            places, begins = _rows_by_part(_parts(orders, rows, self.parts, space), self.parts, space)
            _write_words(self.file("split", number, rows.n), orders, rows.n, _cut(places, begins))
            arrays |= _arrays_of(rows, places, begins, highest=rows.n == settings.order)
            known = rows.anchor[rows.kept] if len(rows.kept) else rows.anchor
            anchors = _add(anchors, np.bincount(known))
        self.keep("split", number, arrays)
        words = np.flatnonzero(anchors)
        self.keep("anchors", number, {"words": words, "counts": anchors[words]})
        return {"counts": [_counts(rows, rows.n == settings.order) for rows in orders[1:]]}

    def adjust(self, part: int) -> dict[str, list[list[int]]]:
        """Count the words before each n-gram of a part, and send the counts back to the ranges.

        Links to suffixes are kept for `interpolate`: rows of the order below, or last words of bigrams.

        Returns:
            Counts of adjusted counts from 1 to 4, by order from 2, without what begins with <s>.
        """
        space = self.space()
        counts_of_counts: list[list[int]] = []
        links: dict[str, Ints] = {}
        below, sizes = np.empty((0, 1), np.int32), [0]
        for n in self.orders:
            words, here = _read(self, part, n, space)
            if n == 2:
                links["links_2"] = words[:, 1].copy()
                before = np.bincount(words[:, 1])
                seen = np.flatnonzero(before)
                self.keep("words", part, {"words": seen, "counts": before[seen]})
            else:
                links[f"links_{n}"] = _linked(words, below, space)
                counts = np.bincount(links[f"links_{n}"], minlength=len(below)).astype(np.float64)
                counted = counts[below[:, 0] != BOS]
                counts_of_counts.append([int(np.count_nonzero(counted == r)) for r in range(1, 5)])
                _send(self, "adjust", part, n - 1, counts, below[:, 0] == BOS, sizes)
            below, sizes = words, here
            space.relax()
        self.keep("adjust", part, links)
        return {"counts": counts_of_counts}

    def unigrams(self, file: int) -> dict[str, object]:
        """Compute the unigram probabilities, and divide anchors into files of about ``file`` n-grams each.

        Returns:
            The estimates of order 1, the size of the vocabulary, and the least anchor of each file.
        """
        space, settings = self.space(), self.recipe
        with self.connected() as connection:
            replace(settings, order=1).count(connection, self.corpora, lambda _: None)
            rows = NgramRows.read_unigrams(
                connection, settings.min_count[0], settings.unknown != "none", space
            )
        size = int(rows.last[-1]) + 1
        if settings.order > 1:
            rows.value[:] = _sums(self, "words", self.parts, size)[rows.last]
        parameters = kneser_ney.estimate_and_interpolate([rows], space)
        rows.value[rows.begins[0]] = 1.0  # <s> is always there
        values: Floats = np.zeros(size)
        values[rows.last] = rows.value
        self.keep("unigrams", 0, {"probabilities": values})
        anchors = _sums(self, "anchors", len(self.ranges), size)
        anchors += values > 0
        vocabulary = int(np.count_nonzero(values)) - 1
        return {"parameters": parameters, "vocabulary": vocabulary, "anchors": _cuts(anchors, file)}

    def smooth(self, number: int, discounts: Sequence[Sequence[float]]) -> dict[str, object]:
        """Compute gamma of the contexts of a range, and send each n-gram's share by its order to its part.

        Args:
            discounts: discounts of the adjusted counts 0 to 3, by order from 2.
        """
        space = self.space()
        contexts = _ContextRange(self, number, space)
        weights = {}
        for n in self.orders:
            if n < self.recipe.order:
                contexts.receive("adjust", n)
            rows, below = contexts.orders[n - 1], contexts.orders[n - 2]
            below.weight = space.array(len(below.last), np.float64)
            # Without the lower order: `interpolate` adds its share in the part that has the suffix.
            rows.suffix = np.zeros(len(rows.last), np.int32)
            steps = np.array(discounts[n - 2])
            kneser_ney.interpolate(rows, np.zeros(1), below.weight, steps, space)
            contexts.send("smooth", n, lambda places, rows=rows, below=below: _shares(rows, below, places))  # type: ignore[misc]
            weights[f"weight_{below.n}"] = below.weight
        self.keep("smooth", number, weights)
        return {}

    def interpolate(self, part: int) -> dict[str, object]:
        """Add gamma(c) p(w | c') to each n-gram of a part, order by order, and send probabilities back."""
        space = self.space()
        lower: Floats = self.load("unigrams", 0, "probabilities")
        for n in self.orders:
            suffix = self.load("adjust", part, f"links_{n}")
            value: Floats = space.array(len(suffix), np.float64)
            pruned = space.array(len(suffix), np.bool_)
            at, sizes = 0, []
            for number in range(len(self.ranges)):
                batch = read_batch(self.file("smooth", number, n), part)
                here = slice(at, at + batch.num_rows)
                shares, weight = batch.columns
                pruned[here] = shares.is_null().to_numpy(zero_copy_only=False)
                value[here] = shares.fill_null(0).to_numpy() + weight.to_numpy() * lower[suffix[here]]
                at += batch.num_rows
                sizes.append(batch.num_rows)
            value[pruned] = 0
            _send(self, "interpolate", part, n, value, np.zeros(len(value), np.bool_), sizes)
            lower = value
            space.relax()
        return {}

    def divide_by_anchor(self, number: int, anchors: Sequence[int]) -> dict[str, object]:
        """Divide the n-grams of a range among the files of the lake, by anchor.

        Args:
            anchors: the least anchor of each file.
        """
        space = self.space()
        contexts = _ContextRange(self, number, space)
        for n in self.orders:
            contexts.receive("interpolate", n)
            below = contexts.orders[n - 2]
            below.weight = space.array(len(below.last), np.float64)
            below.weight[:] = self.load("smooth", number, f"weight_{n - 1}")
        _place_words(self, number, contexts.orders[0], anchors)
        for rows in contexts.orders[1:]:
            file = space.array(len(rows.last), np.uint16)
            for start, end in rows.blocks():
                chosen = np.searchsorted(np.array(anchors), rows.anchor[start:end], side="right") - 1
                # N-grams that are not in the model get the number after the last file.
                file[start:end] = np.where(rows.value[start:end] > 0, chosen, len(anchors))
            places, begins = _rows_by_part(file, len(anchors) + 1, space)

            def batch(chosen: Ints, rows: NgramRows = rows) -> list[Ints | Floats]:
                scores = logarithms(rows.value, rows.weight, chosen)
                return [*words_of(contexts.orders, rows.n, chosen), *scores]

            _write(self.file("place", number, rows.n), rows.n, map(batch, _cut(places, begins[:-1])))
        return {}

    def write(self, number: int, model: int, part: int) -> dict[str, dict[str, object]]:
        """Write a file of the lake: the n-grams of its anchors, sorted as a store has them.

        Args:
            number: number of the file among those of the model.
            model: number of the model.
            part: place of the file among those of the table.
        """

        def batches() -> Iterator[tuple[int, pa.RecordBatch]]:
            for n in range(1, self.recipe.order + 1):
                for task in range(len(self.ranges)):
                    yield n, read_batch(self.file("place", task, n), number)

        def source(least: int, end: int) -> Iterator[OrderNgrams]:
            for n, batch in batches():
                *words, logp, backoff = _columns(batch)
                anchor = np.max(words, axis=0)
                here = (anchor >= least) & (anchor < end)
                yield OrderNgrams(
                    np.array([column[here] for column in words]).reshape(n, -1), logp[here], backoff[here]
                )

        anchors = np.zeros(0, np.int64)
        for n, batch in batches():
            anchors = _add(anchors, np.bincount(np.max(_columns(batch)[:n], axis=0)))
        memory = int(self.memory * _SORTING)
        rows = (
            batch for table in in_order(model, anchors, source, memory=memory) for batch in table.to_batches()
        )
        return {"file": asdict(write_file(self.lake, "model_ngram", part, rows))}


def _read(plan: ModelPlan, part: int, n: int, space: Space) -> tuple[Ints, list[int]]:
    """Return the n-grams of an order in a part, (rows, n), and the number from each range."""
    files = [plan.file("split", number, n) for number in range(len(plan.ranges))]
    sizes = [read_batch(file, part).num_rows for file in files]
    words: Ints = space.array(sum(sizes) * n, np.int32).reshape(-1, n)
    at = 0
    for file, size in zip(files, sizes, strict=True):
        for k, column in enumerate(_columns(read_batch(file, part))):
            words[at : at + size, k] = column
        at += size
    return words, sizes


def _send(
    plan: ModelPlan, stage: str, part: int, n: int, values: Floats, unknown: Bools, sizes: Sequence[int]
) -> None:
    """Write a part's values for each range, in the order of its n-grams; null where ``unknown``."""

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
        DamagedError: an n-gram has no suffix.
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
        words: (rows, n) n-grams.
        below: (fewer rows, n - 1) n-grams of the order below.
        table: (power of two,) zeros; is filled with rows of ``below`` plus 1.
        links: (rows,) is set to rows of ``below``.
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
            candidate = table[at] - 1
            if candidate < 0:
                return False
            k = 0
            while k < below.shape[1] and below[candidate, k] == words[row, k + 1]:
                k += 1
            if k == below.shape[1]:
                break
            at = (at + 1) & mask
        links[row] = candidate
    return True


@compiled
def _slot(words: Ints, row: int, start: int) -> np.int64:
    """Return a hash of the words of a row from column ``start`` on."""
    mixed = np.uint64(14695981039346656037)
    for k in range(start, words.shape[1]):
        mixed = (mixed ^ np.uint64(words[row, k])) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(32)
    return np.int64(mixed >> np.uint64(1))


def _sums(plan: ModelPlan, stage: str, tasks: int, size: int) -> Longs:
    """Sum the counts that the tasks of a stage kept, by word: (size,)."""
    total = np.zeros(size, np.int64)
    for task in range(tasks):
        total[plan.load(stage, task, "words")] += plan.load(stage, task, "counts")
    return total


def _cuts(anchors: Longs, most: int) -> list[int]:
    """Return the least anchor of each file; the n-grams of an anchor stay together."""
    behind = np.cumsum(anchors)
    cuts, done = [0], 0
    while True:
        following = int(np.searchsorted(behind, done + most)) + 1
        if following >= len(behind) or behind[following - 1] == behind[-1]:
            return cuts
        cuts.append(following)
        done = int(behind[following - 1])


#: The share of an n-gram by its own order, null where it is not in the model, and its context's gamma.
SHARES = pa.schema([("discounted", pa.float64()), ("weight", pa.float64())])


def _words_schema(n: int) -> list[tuple[str, pa.DataType]]:
    return [(f"w{i}", pa.int32()) for i in range(1, n + 1)]


def _parts(orders: Sequence[NgramRows], rows: NgramRows, parts: int, space: Space) -> Shorts:
    """Return the part of each n-gram: a hash of its last two words, which are those of its suffix."""
    part_of: Shorts = space.array(len(rows.last), np.uint16)
    before = orders[rows.n - 2].last
    for start, end in rows.blocks():
        mixed = before[rows.prefix[start:end]].astype(np.uint64) << np.uint64(32)
        mixed |= rows.last[start:end].astype(np.uint64)
        mixed *= np.uint64(0x9E3779B97F4A7C15)  # wraps around: Knuth 1973, section 6.4
        part_of[start:end] = (mixed >> np.uint64(33)) % np.uint64(parts)
    return part_of


def _cut(places: Ints, begins: Longs) -> Iterator[Ints]:
    for start, end in pairwise(begins.tolist()):
        yield places[start:end]


def _write_words(path: Path, orders: Sequence[NgramRows], n: int, chosen: Iterator[Ints]) -> None:
    """Write the words of some rows, a batch for each part."""
    schema = pa.schema(_words_schema(n))

    def batches() -> Iterator[pa.RecordBatch]:
        for rows in chosen:
            words = words_of(orders, n, rows)
            yield pa.record_batch([pa.array(column) for column in words], schema=schema)

    write_batches(path, schema, batches())


def _arrays_of(
    rows: NgramRows, places: Ints, begins: Longs, *, highest: bool
) -> dict[str, npt.NDArray[np.generic]]:
    """Return the arrays of an order that later stages need; counts only where they are not adjusted."""
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
    values = rows.value[slice(*rows.begins)]
    return [int(np.count_nonzero(values == r)) for r in range(1, 5)]


def _add(counts: Longs, more: Longs) -> Longs:
    shorter, longer = sorted((counts, more), key=len)
    longer[: len(shorter)] += shorter
    return longer


class _ContextRange:
    """The n-grams of a range with their contexts, as `split` kept them, and their order in each part."""

    def __init__(self, plan: ModelPlan, number: int, space: Space) -> None:
        self.plan, self.number, self.space = plan, number, space
        self.orders: list[NgramRows] = []
        #: Rows in the order of the parts, and where each part begins, by order from 2.
        self.places: dict[int, Ints] = {}
        self.parts: dict[int, Longs] = {}
        contexts = NgramRows.of_words(plan.load("split", number, "last_1"), space)
        contexts.find_prefixes(space)
        self.orders.append(contexts)
        for n in plan.orders:
            self._read(n)

    def _read(self, n: int) -> None:
        def load(name: str) -> Any:
            return self.plan.load("split", self.number, f"{name}_{n}")

        below, last, flags = self.orders[-1], load("last"), load("kept")
        rows = NgramRows.allocate(n, len(last), len(below.last), self.space)
        rows.first[:], rows.last[:] = load("first"), last
        rows.begins = tuple(load("begins").tolist())
        if len(flags):
            rows.kept = self.space.array(len(flags), np.bool_)
            rows.kept[:] = flags
        rows.find_prefixes(self.space)
        for start, end in rows.blocks():
            np.maximum(below.anchor[rows.prefix[start:end]], rows.last[start:end], out=rows.anchor[start:end])
            self.space.relax()
        self.places[n], self.parts[n] = self.space.array(len(last), np.int32), load("parts")
        self.places[n][:] = load("places")
        rows.value[slice(*rows.begins) if n < self.plan.recipe.order else slice(None)] = load("counts")
        self.orders.append(rows)

    def receive(self, stage: str, n: int) -> None:
        """Set the values that the parts sent back; where they sent null, the value is kept."""
        rows = self.orders[n - 1]
        for part, places in enumerate(_cut(self.places[n], self.parts[n])):
            (sent,) = read_batch(self.plan.file(stage, part, n), self.number).columns
            here = sent.is_valid().to_numpy(zero_copy_only=False)
            rows.value[places[here]] = sent.drop_null().to_numpy()
            self.space.relax()

    def send(self, stage: str, n: int, batch: Callable[[Ints], pa.RecordBatch]) -> None:
        """Send a batch about the n-grams of an order to each part."""
        batches = (batch(places) for places in _cut(self.places[n], self.parts[n]))
        write_batches(self.plan.file(stage, self.number, n), SHARES, batches, compressed=False)


def _shares(rows: NgramRows, below: NgramRows, places: Ints) -> pa.RecordBatch:
    pruned: Bools | None = ~rows.kept[places] if len(rows.kept) else None
    shares = pa.array(rows.value[places], mask=pruned)
    return pa.record_batch([shares, pa.array(below.weight[rows.prefix[places]])], schema=SHARES)


def _place_words(plan: ModelPlan, number: int, contexts: NgramRows, anchors: Sequence[int]) -> None:
    """Divide the words of a range that are in the model among the files, contexts or not."""
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


def _write(path: Path, n: int, batches: Iterator[list[Ints | Floats]]) -> None:
    schema = pa.schema([*_words_schema(n), ("logp", pa.float64()), ("backoff", pa.float64())])
    rows = (pa.record_batch([pa.array(column) for column in columns], schema=schema) for columns in batches)
    write_batches(path, schema, rows)


def _columns(batch: pa.RecordBatch) -> list[Any]:
    """Return the columns of a batch without nulls as arrays."""
    return [column.to_numpy() for column in batch.columns]


def _rows_by_part(part: Shorts, parts: int, space: Space) -> tuple[Ints, Longs]:
    """Return the rows grouped by part, ascending within each, and where each part begins."""
    begins = np.concatenate(([0], np.cumsum(np.bincount(part, minlength=parts))))
    rows: Ints = space.array(len(part), np.int32)
    _group_rows(part, begins[:-1].copy(), rows)
    return rows, begins


@compiled
def _group_rows(part: Shorts, following: Longs, rows: Ints) -> None:
    for row in range(len(part)):
        rows[following[part[row]]] = row
        following[part[row]] += 1
