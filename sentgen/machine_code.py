"""Compilation of functions by numba, and the cache of their machine code.

Only this module uses internals of numba; a version of numba without them is refused at its import.
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

#: Folder next to a module, with the machine code of its functions from the package.
SHIPPED = "machine_code"
#: Processor and features for which `build_backend.py` compiles: any processor of the architecture.
_GENERIC = ("generic", "")


class MachineCode(FunctionCache):
    """The cache of machine code: code compiled by this user, else code from the package.

    Numba's own cache reads neither folders that it cannot write, nor code for another processor than this
    one, although generic code for its architecture runs here, too.
    """

    def __init__(self, function: Callable[..., object]) -> None:
        try:
            super().__init__(function)  # type: ignore[no-untyped-call]
        except RuntimeError:
            # A user without a home folder, as for services: the code is kept as long as the process runs.
            # The folder must be private, as code is loaded from it.
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
            # Code from an earlier version, whose types were in other modules.
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
    """Log that the package's machine code is for another version of numba or Python, or another processor."""
    logger.warning(
        "the machine code that came with this sentgen does not fit this computer; compiling it, once,"
        " takes half a minute"
    )


def _spare_scipy() -> None:
    """Stop numba from looking for BLAS, which no kernel needs, and which would import scipy in 0.15 s."""
    look, linalg.ensure_blas = linalg.ensure_blas, lambda: None
    import_module("numba.np.arraymath")  # which looks for it at its import, else at the first kernel
    linalg.ensure_blas = look


_spare_scipy()


class _Dispatcher(CPUDispatcher):
    """Compiles a function once for each type of its arguments, not for each constant given to it."""

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return the template for calls from other kernels, with the types of constants."""
        plain = dict(zip(kws, map(types.unliteral, kws.values()), strict=True))
        return super().get_call_template(tuple(map(types.unliteral, args)), plain)


def dispatcher(function: Callable[..., object], **options: Any) -> Dispatcher[Any]:
    """Return the dispatcher of a function, which compiles it at calls with new types."""
    # Without the wrapper for C, as nothing calls a kernel by its address.
    options |= {"nopython": True, "nogil": True, "boundscheck": None, "no_cfunc_wrapper": True}
    made = _Dispatcher(function, targetoptions=options)
    made._cache = MachineCode(function)  # type: ignore[attr-defined]
    return made
