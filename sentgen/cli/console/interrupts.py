"""Ctrl-C ends a command where it stands: one line, exit code 130, and nothing temporary is left.

A store bears that its process is killed at any moment, so nothing is unwound: the main thread may be in a
statement of DuckDB or in machine code that does not come back for long, or in a library that would swallow a
KeyboardInterrupt. A thread of its own hears the signal and ends the process.
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
#: Over what a progress bar has left, with the cursor that it hides.
_CLEAN_LINE = "\r\x1b[K\x1b[?25h"
#: Held by the thread that ends the process; the main thread may be told to once more while it does.
_ending = threading.RLock()
#: Whether that thread has begun to say so.
_saying = False


def end_on_interrupt() -> None:
    """End the process when Ctrl-C is pressed, from now on, whatever the main thread does."""
    try:
        threading.Thread(target=_wait_for_interrupt, args=[signal_pipe()], daemon=True).start()
        signal.signal(signal.SIGINT, end_on_signal)
        for number in ending_signals():
            if signal.getsignal(number) is signal.SIG_DFL:  # not what `nohup` ignores
                signal.signal(number, end_on_signal)
    except KeyboardInterrupt:  # in between
        _end(INTERRUPTED, EXIT_CODE)


def _wait_for_interrupt(read_fd: int) -> None:
    while signal.getsignal(number := os.read(read_fd, 1)[0]) is not end_on_signal:
        pass  # another signal, which somebody else handles
    end_on_signal(number, None)


def end_on_signal(number: int, _frame: FrameType | None) -> None:
    """Handle a signal by the end of the process, as Ctrl-C is: nothing is raised."""
    if _saying and _ending.acquire(blocking=False):
        return  # to the same, in this thread, which says it once
    if number == signal.SIGINT:
        _end(INTERRUPTED, EXIT_CODE)
    # As a shell tells of a process that a signal has ended.
    _end(f"sentgen: ended by {signal.Signals(number).name}; what was finished is kept", 128 + number)


def _end(line: str, code: int) -> NoReturn:
    """Remove what is temporary, say a line, and end the process as a kill would, with its children."""
    global _saying
    if not _ending.acquire(blocking=False):
        _stand_still()
    try:
        end_children()
        temporary.remove_all()
        # Last: a progress bar might be drawn once more until then.
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
