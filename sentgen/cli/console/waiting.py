"""Words for those who wait."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import typer

#: Machine code is kept from run to run; making it takes tens of seconds.
COMPILING = "still working; the first run of an algorithm compiles it, which takes up to a minute ..."
_PATIENCE = 3.0


@contextmanager
def told_when_slow(text: str = COMPILING, seconds: float = _PATIENCE) -> Iterator[None]:
    """Say something on standard error, if it is a terminal, when the work inside takes longer than usual."""
    timer = threading.Timer(seconds, typer.echo, [text], {"err": True})
    timer.daemon = True
    if sys.stderr.isatty():
        timer.start()
    try:
        yield
    finally:
        timer.cancel()
