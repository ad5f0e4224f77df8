"""Ctrl-C ends a command at any point, with one line and exit code 130, and removes temporary files.

A store survives that its process is killed at any moment, so no exception is raised: the main thread may be
in a long statement of DuckDB, in machine code, or in a library that would swallow a KeyboardInterrupt.
Instead, a separate thread waits for the signal and ends the process.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from sentgen import temporary
from sentgen.system.processes import end_children, ending_signals, signal_pipe

EXIT_CODE = 130
INTERRUPTED = "sentgen: interrupted; what was finished is kept"
#: Erases the line of a progress bar, and shows the cursor again.
_CLEAN_LINE = "\r\x1b[K\x1b[?25h"
#: Held by the thread that ends the process, as the main thread may get another signal meanwhile.
_ending = threading.RLock()
#: Whether that thread has begun to print its line.
_saying = False


def end_on_interrupt() -> None:
    """End the process at Ctrl-C from now on, whatever the main thread does."""
    try:
        threading.Thread(target=_wait_for_interrupt, args=[signal_pipe()], daemon=True).start()
        signal.signal(signal.SIGINT, end_on_signal)
        for number in ending_signals():
            if signal.getsignal(number) is signal.SIG_DFL:  # not if ignored, as under `nohup`
                signal.signal(number, end_on_signal)
    except KeyboardInterrupt:  # before the handler was set
        _end(INTERRUPTED, EXIT_CODE)


def _wait_for_interrupt(read_fd: int) -> None:
    while signal.getsignal(number := os.read(read_fd, 1)[0]) is not end_on_signal:
        pass  # another signal, which somebody else handles
    end_on_signal(number, None)


def end_on_signal(number: int, _frame: FrameType | None) -> None:
    """Handle a signal as Ctrl-C, by the end of the process, without an exception."""
    if _saying and _ending.acquire(blocking=False):
        return  # to the same handler in this thread, which prints only once
    if number == signal.SIGINT:
        _end(INTERRUPTED, EXIT_CODE)
    # The exit code by which shells report a process ended by a signal.
    _end(f"sentgen: ended by {signal.Signals(number).name}; what was finished is kept", 128 + number)


def _end(line: str, code: int) -> NoReturn:
    """Remove temporary files, print a line, and end the process at once, with its children."""
    global _saying
    if not _ending.acquire(blocking=False):
        _stand_still()
    try:
        end_children()
        temporary.remove_all()
        # Last, as a progress bar might be drawn again until then.
        _saying = True
        os.write(2, f"{_CLEAN_LINE if os.isatty(2) else ''}{line}\n".encode())
    finally:
        os._exit(code)


def _stand_still() -> NoReturn:
    """Wait for the end of the process."""
    while True:
        time.sleep(60)


@contextmanager
def deadline(seconds: float | None, line: str) -> Iterator[None]:
    """End the command with one line and exit code 1 if the work inside takes longer."""
    if seconds is None:
        yield
        return
    timer = threading.Timer(seconds, _end, [f"sentgen: {line}", 1])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
