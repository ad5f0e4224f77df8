"""Arrays: a name for each type of their elements, and functions over them as machine code."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, update_wrapper
from typing import Any, Generic, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

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
    """A function over arrays that is machine code from its first call on.

    Numba is imported then, not before: who only passes by, such as the front of the server, does without.
    Another kernel may call it as it calls what numba made itself.
    """

    def __init__(self, function: Callable[P, R], **options: object) -> None:
        update_wrapper(self, function)
        self._function, self._options = function, options

    @cached_property
    def dispatcher(self) -> Any:
        """Return what compiles the function for types that it has not met, or loads its machine code."""
        from sentgen.machine_code import dispatcher

        return dispatcher(self._function, **self._options)

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> R:
        """Run it."""
        result: R = self.dispatcher(*arguments, **named)
        return result

    @property
    def _numba_type_(self) -> object:
        """Return its type; numba asks for it where a kernel names another one."""
        kind: object = self.dispatcher._numba_type_
        return kind


def compiled(function: Callable[P, R]) -> Kernel[P, R]:
    """Compile a function over arrays with numba, without the GIL, and keep the machine code on the disk."""
    return Kernel(function)


def compiled_loosely(function: Callable[P, R]) -> Kernel[P, R]:
    """Compile it so that sums of floats may be added in any order, as vectors need it."""
    return Kernel(function, fastmath={"reassoc", "contract"})
