"""Machine code of compiled functions: what numba makes of them, and where it is kept.

This module alone uses numba's insides; a version without one of them is refused when it is imported.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from functools import cache
from importlib import import_module
from operator import attrgetter
from typing import Any

from numba import config, types

from sentgen import temporary
from sentgen.extras import insides_of

with insides_of("numba"):
    from numba.core.caching import FunctionCache, IndexDataCacheFile
    from numba.core.dispatcher import Dispatcher
    from numba.core.registry import CPUDispatcher
    from numba.np import linalg

    attrgetter("_load_overload", "_index_key", "flush")(FunctionCache)
    attrgetter("locator", "filename_base", "rebuild")(FunctionCache._impl_class)
    attrgetter("load", "_load_index")(IndexDataCacheFile)
    attrgetter("get_call_template")(CPUDispatcher)
    attrgetter("ensure_blas")(linalg)

logger = logging.getLogger(__name__)

#: Folder beside a module with the machine code of its functions that came with the package.
SHIPPED = "machine_code"
#: What `build_backend.py` compiles for: any processor of this kind.
_GENERIC = ("generic", "")


class MachineCode(FunctionCache):
    """Where numba looks for machine code: what this user compiled, else what came with the package.

    Numba's own cache does not look into a folder that it cannot write, nor at code for another processor than
    this one; code for any processor of its kind runs here, too.
    """

    def __init__(self, function: Callable[..., object]) -> None:
        try:
            super().__init__(function)  # type: ignore[no-untyped-call]
        except RuntimeError:
            # A user without a home, as services have: what is compiled is kept as long as the process runs.
            # Nobody else can write into the folder, for code is loaded from it.
            folder = str(temporary.folder_of_process("sentgen-machine-code-"))
            config.CACHE_DIR = folder  # type: ignore[attr-defined]
            super().__init__(function)  # type: ignore[no-untyped-call]
        folder = os.path.join(os.path.dirname(function.__code__.co_filename), SHIPPED)
        stamp = self._impl.locator.get_source_stamp()
        self._shipped = IndexDataCacheFile(folder, self._impl.filename_base, stamp)  # type: ignore[no-untyped-call]
        self._is_shipped = os.path.exists(os.path.join(folder, f"{self._impl.filename_base}.nbi"))

    def _load_overload(self, sig: object, target_context: Any) -> object:
        try:
            code = super()._load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        except (ImportError, AttributeError):
            # An earlier version made it, whose types were in other modules.
            self.flush()  # type: ignore[no-untyped-call]
            code = None
        if code is not None:
            return code
        if not self._is_shipped:
            logger.info("compiling %s", self._py_func.__qualname__)
            return None
        key = self._index_key(sig, target_context.codegen())  # type: ignore[no-untyped-call]
        signature, (triple, *_), hashes = key
        data = self._shipped.load((signature, (triple, *_GENERIC), hashes))  # type: ignore[no-untyped-call]
        if data is not None:
            return self._impl.rebuild(target_context, data)
        index = self._shipped._load_index()  # type: ignore[no-untyped-call]
        if any(processor == (triple, *_GENERIC) for _, processor, _ in index):
            logger.info("compiling %s for other types", self._py_func.__qualname__)
        else:
            _say_that_it_compiles()
        return None


@cache
def _say_that_it_compiles() -> None:
    """Tell who listens that what came with the package was made for another numba, Python or processor."""
    logger.warning(
        "the machine code that came with this sentgen does not fit this computer; compiling it, once,"
        " takes half a minute"
    )


def _spare_scipy() -> None:
    """Have numba take it that there is a BLAS: looking imports scipy, in 0.15 s, and no kernel needs it."""
    look, linalg.ensure_blas = linalg.ensure_blas, lambda: None
    import_module("numba.np.arraymath")  # looks while it is imported, which numba does for the first kernel
    linalg.ensure_blas = look


_spare_scipy()


class _Dispatcher(CPUDispatcher):
    """What compiles a function once for each type of its arguments, not for each constant given to it."""

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return how a kernel calls it."""
        plain = dict(zip(kws, map(types.unliteral, kws.values()), strict=True))
        return super().get_call_template(tuple(map(types.unliteral, args)), plain)


def dispatcher(function: Callable[..., object], **options: Any) -> Dispatcher[Any]:
    """Return what compiles a function when it is called with types that it has not met."""
    # Nobody calls a kernel by its address, as C would.
    options |= {"nopython": True, "nogil": True, "boundscheck": None, "no_cfunc_wrapper": True}
    made = _Dispatcher(function, targetoptions=options)
    made._cache = MachineCode(function)  # type: ignore[attr-defined]
    return made
