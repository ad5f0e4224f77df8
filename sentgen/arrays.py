"""Arrays: names for the types of elements, room for large ones, sparse ones, and machine code."""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, update_wrapper
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

from sentgen.system.files import leave_memory, take_room
from sentgen.system.processes import resident_memory

if TYPE_CHECKING:
    from scipy.sparse import csr_array


P = ParamSpec("P")
R = TypeVar("R", covariant=True)

#: Identifiers and counts of which a table has many.
Ints = npt.NDArray[np.int32]
#: Orders of n-grams.
Shorts = npt.NDArray[np.int16]
#: Keys made of two identifiers, sums, and offsets.
Longs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
#: Sets of small numbers, a bit each.
Bits = npt.NDArray[np.uint64]
Bytes = npt.NDArray[np.uint8]


class Kernel(Generic[P, R]):
    """A function over arrays that numba compiles at its first call.

    Numba is imported at that call, so that processes that call no kernel, such as the front of the server, do
    not load it. A kernel may call another one like a function compiled by numba.
    """

    def __init__(self, function: Callable[P, R], **options: object) -> None:
        update_wrapper(self, function)
        self._function, self._options = function, options

    @cached_property
    def dispatcher(self) -> Any:
        """Return numba's dispatcher, which compiles the function for new types, or loads its machine code."""
        from sentgen.machine_code import dispatcher

        return dispatcher(self._function, **self._options)

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> R:
        """Run the compiled function."""
        result: R = self.dispatcher(*arguments, **named)
        return result

    @property
    def _numba_type_(self) -> object:
        """Return the type of the function, for which numba asks where another kernel calls it."""
        kind: object = self.dispatcher._numba_type_
        return kind


def compiled(function: Callable[P, R]) -> Kernel[P, R]:
    """Compile a function over arrays with numba; it runs without the GIL, and is cached on the disk."""
    return Kernel(function)


def compiled_loosely(function: Callable[P, R]) -> Kernel[P, R]:
    """Compile a function whose sums of floats may be reordered, so that they can be vectorized."""
    return Kernel(function, fastmath={"reassoc", "contract"})


def sparse_rows(rows: Sequence[Mapping[int, float]], width: int) -> csr_array:
    """Return a sparse (len(rows), width) matrix from the values of each row by column."""
    from scipy.sparse import csr_array

    columns = [sorted(row) for row in rows]
    values = [row[column] for row, own in zip(rows, columns, strict=True) for column in own]
    indices = np.fromiter(chain.from_iterable(columns), np.int64)
    parts = np.array(values, np.float64), indices, np.cumsum([0, *map(len, columns)])
    return csr_array(parts, shape=(len(rows), width))


def unit_rows(rows: csr_array) -> csr_array:
    """Return the rows scaled to length 1; rows of zeros are unchanged."""
    sizes = np.diff(rows.indptr)
    squares, some = np.zeros(len(sizes)), np.flatnonzero(sizes)
    squares[some] = np.add.reduceat(rows.data * rows.data, rows.indptr[some])
    factors = 1 / np.maximum(np.sqrt(squares), 1e-12)
    return type(rows)((rows.data * np.repeat(factors, sizes), rows.indices, rows.indptr), shape=rows.shape)


class Space:
    """Allocates arrays: in memory up to a limit in bytes, then in unnamed files, which end with the process.

    Pages of files stay in memory until the process takes ``most`` bytes.
    """

    def __init__(self, limit: int, folder: Path, *, most: int = 0) -> None:
        self.limit, self.used, self.folder, self.most = limit, 0, folder, most
        self._files: list[mmap.mmap] = []

    def array(self, size: int, kind: npt.DTypeLike) -> npt.NDArray[Any]:
        """Return an array of zeros."""
        taken = size * np.dtype(kind).itemsize
        if not taken or self.used + taken <= self.limit:
            self.used += taken
            return np.zeros(size, kind)
        with tempfile.TemporaryFile(dir=self.folder) as file:
            take_room(file.fileno(), taken)  # a full disk raises an error now, not a signal later
            self._files.append(mmap.mmap(file.fileno(), taken))
        return np.frombuffer(self._files[-1], kind)

    @property
    def spilled(self) -> bool:
        """Whether there are arrays in files."""
        return bool(self._files)

    def relax(self) -> None:
        """Release pages of files if the process takes too much memory; their contents are kept."""
        if self._files and resident_memory() >= self.most:
            for file in self._files:
                leave_memory(file)
