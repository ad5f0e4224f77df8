"""How the n-grams of a model are cut up: in ranges of first words, and in parts by the last two words."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq
from sqlalchemy import Connection

from sentgen.arrays import Space
from sentgen.counts.cluster.catalogue import Catalogue
from sentgen.counts.cluster.stages import PROGRAM
from sentgen.models.building.recipe import BuiltFrom, Recipe
from sentgen.schema import Store
from sentgen.schema.lakes import literal
from sentgen.schema.places import Place
from sentgen.schema.store import raw
from sentgen.temporary import aside

#: Behind the number of every word.
LAST = 2**31 - 1
#: Shares of the memory of a task: what DuckDB may use that reads, and what n-grams may take.
_DATABASE, _ROWS = 0.3, 0.5
_FULL = 0.8
#: Bytes before the elements of an array in a file.
_HEADER = 128


@dataclass(frozen=True, slots=True)
class ModelTaskSizes:
    """How work is cut up; the model does not depend on it, but for where its files end.

    Attributes:
        rows: n-grams of all orders in a range or part, at least.
        most: ranges and parts of one model, about: those of a large one are larger.
        file: n-grams of a file of the lake, at least.
    """

    rows: int = 1 << 22
    most: int = 256
    file: int = 1 << 22


@dataclass(frozen=True, slots=True)
class ModelPlan:
    """What every task of a model knows.

    Attributes:
        lake: the lake.
        work: folder of the files between.
        recipe: the settings of the model.
        corpora: what it is built from.
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
        """Return the first word of a range, and the one behind its last."""
        return (*self.ranges, LAST)[number], (*self.ranges, LAST)[number + 1]

    def file(self, stage: str, number: int, n: int) -> Path:
        """Return where a task of a stage writes the n-grams of an order."""
        return Path(self.work) / stage / f"{number:06d}-{n}.arrow"

    def keep(self, stage: str, number: int, arrays: Mapping[str, npt.NDArray[np.generic]]) -> None:
        """Write arrays of a task for later stages."""
        for name, array in arrays.items():
            with aside(self._array(stage, number, name)) as draft, draft.open("wb") as file:
                np.save(file, array)

    def load(self, stage: str, number: int, name: str) -> Any:
        """Return such an array, in memory as far as it is looked at."""
        path = self._array(stage, number, name)
        # What is empty cannot be mapped.
        return np.load(path, mmap_mode="r" if path.stat().st_size > _HEADER else None)

    def _array(self, stage: str, number: int, name: str) -> Path:
        return Path(self.work) / stage / f"{number:06d}-{name}.npy"

    def space(self) -> Space:
        """Return room for the n-grams of a task."""
        return Space(int(self.memory * _ROWS), Path(self.work), most=int((self.memory + PROGRAM) * _FULL))

    @contextmanager
    def connected(self) -> Iterator[Connection]:
        """Open the lake; what does not fit into memory lies in the work folder."""
        limit = int(self.memory * _DATABASE)
        with (
            Store(self.lake.root, read_only=True, memory_limit=limit, threads=1) as store,
            store.connect() as connection,
        ):
            # Processes give their files the same names: each has a folder of its own.
            spill = Path(self.work) / f".duckdb-{platform.node()}-{os.getpid()}"
            raw(connection).execute(f"set temp_directory = {literal(str(spill))}")
            yield connection


def ranges(
    catalogue: Catalogue, segments: Sequence[int], order: int, sizes: ModelTaskSizes
) -> tuple[list[int], int, int]:
    """Cut first words into ranges of about as many n-grams, by what the ends of the files say.

    Returns:
        The first word of each range, the number of parts to divide the n-grams into, and how many these are
        at most.
    """
    groups = sorted(_groups(catalogue, segments, order))
    total = sum(rows for _, rows in groups)
    most = max(sizes.rows, total // sizes.most)
    firsts, rows = [0], 0
    for word, size in groups:
        if rows >= most and word > firsts[-1]:
            firsts.append(word)
            rows = 0
        rows += size
    return firsts, max(1, -(-total // most)), total


def _groups(catalogue: Catalogue, segments: Sequence[int], order: int) -> Iterator[tuple[int, int]]:
    """Yield the least first word and the rows of each row group of the segments."""
    for n in range(1, order + 1):
        for file in catalogue.files(f"ngram_{n}"):
            with catalogue.lake.open(file.path) as opened:
                about = pq.read_metadata(opened)
            for group in (about.row_group(number) for number in range(about.num_row_groups)):
                # Its first two columns: segment_id and w1.
                segment, word = group.column(0).statistics, group.column(1).statistics
                if any(segment.min <= one <= segment.max for one in segments):
                    yield int(word.min), int(group.num_rows)
