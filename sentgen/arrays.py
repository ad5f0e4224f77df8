"""Arrays: a name for each type of their elements, and functions over them as machine code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

F = TypeVar("F", bound=Callable[..., Any])

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


def compiled(function: F) -> F:
    """Compile a function over arrays with numba, without the GIL, and keep the machine code on the disk."""
    # Here, since whoever only names the types should not wait for numba.
    from sentgen.machine_code import dispatcher

    return cast(F, dispatcher(function))
