"""Ctrl-C: one line and exit code 130, whatever swallows the KeyboardInterrupt on its way.

Libraries lose it: ctypes callbacks (llvmlite calls some while machine code is loaded) print it and go on,
and DuckDB takes one that comes while it imports pyarrow for a module that is not there. So the signal comes
again until the exception is seen on its way out.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

import typer

EXIT_CODE = 130

#: Seconds after which an interrupt that nothing came of is raised again.
_AGAIN = 0.1


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt on Ctrl-C, again and again until it is on its way out of this block."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield  # no signals come here; or this is Windows, which has no timer
        return
    unraisable, on_alarm = sys.unraisablehook, signal.getsignal(signal.SIGALRM)
    on_interrupt = signal.signal(signal.SIGINT, _interrupt)
    sys.unraisablehook = lambda lost: None if was_interrupted(lost.exc_value) else unraisable(lost)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        sys.unraisablehook = unraisable
        signal.signal(signal.SIGALRM, on_alarm)
        signal.signal(signal.SIGINT, on_interrupt)


def was_interrupted(error: BaseException | None) -> bool:
    """Say whether Ctrl-C is behind an error: DuckDB makes a RuntimeError of it."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def end_interrupted() -> NoReturn:
    """Say in one line what Ctrl-C has left, and exit."""
    typer.echo("sentgen: interrupted; what was finished is kept", err=True)
    sys.exit(EXIT_CODE)


def _interrupt(number: int, _frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt, unless it is only being asked after and what it ended is cleaned up."""
    signal.signal(signal.SIGALRM, _interrupt)
    signal.setitimer(signal.ITIMER_REAL, _AGAIN)
    if number == signal.SIGINT or not was_interrupted(sys.exception()):
        raise KeyboardInterrupt
