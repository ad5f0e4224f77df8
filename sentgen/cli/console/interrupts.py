"""Ctrl-C: one line and exit code 130, at once, whatever runs and whatever swallows the KeyboardInterrupt.

Three things are in its way:

* Libraries lose it: ctypes callbacks (llvmlite calls some while machine code is loaded) print it and go on,
  and DuckDB takes one that comes while it imports pyarrow for a module that is not there. So it is raised
  again until it is seen on its way out.
* Machine code that numba made calls Python when it returns: to look up the type of arrays, and to make named
  tuples. It does not expect that this fails, and crashes. What is raised by a signal that came while a kernel
  ran would be raised just there, where Python runs again for the first time. So it waits for the return:
  what called the kernel is traced, and the first thing that it does then is to raise.
* Nothing can be raised while the main thread waits for DuckDB or for a kernel. So a thread interrupts
  DuckDB's statements, and ends the process where something that only reads does not notice for long.
"""

from __future__ import annotations

import _thread
import atexit
import errno
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, NoReturn

EXIT_CODE = 130
INTERRUPTED = "sentgen: interrupted; what was finished is kept"

#: Seconds after which an interrupt that nothing came of is raised again.
_AGAIN = 0.1
#: Seconds that something may take to notice, before the process ends without it.
_GRACE = 1.0
#: What the thread is told: to end, and to look at the deadline. No signal has these numbers.
_STOP, _NEWS = b"\xff", b"\xfe"
#: Over what a progress bar has left, with the cursor that it hides.
_CLEAN_LINE = "\r\x1b[K\x1b[?25h"


@dataclass
class _Ending:
    """Why the process ends before its work is done."""

    line: str = INTERRUPTED
    code: int = EXIT_CODE
    since: float = field(default_factory=time.monotonic)
    #: Whether the user has insisted, seeing that nothing happened.
    insisted: bool = False
    #: Seconds in which something could have come of it.
    waited: float = 0.0

    @property
    def overdue(self) -> bool:
        """Whether nothing has come of it for long."""
        return self.waited > _GRACE

    def wait(self) -> None:
        """Count the time until now; as long as this thread got no time, the main thread may have had none."""
        now = time.monotonic()
        self.waited += min(now - self.since, 2 * _AGAIN)
        self.since = now

    def exit(self) -> NoReturn:
        """End the process where it stands, as a kill would: a store can bear that."""
        clean = _CLEAN_LINE if os.isatty(2) else ""
        os.write(2, f"{clean}{self.line}\n".encode())
        os._exit(self.code)


class _Watch:
    """A thread that hears of signals while the main thread is busy elsewhere, and of deadlines."""

    def __init__(self) -> None:
        self.ending: _Ending | None = None
        self._due: _Ending | None = None
        self._main = threading.main_thread().ident or 0
        self._bell, self._rope = os.pipe()
        # A signal must never wait for the pipe; if it is full, the thread has enough to read.
        os.set_blocking(self._rope, False)
        self._former = signal.set_wakeup_fd(self._rope, warn_on_full_buffer=False)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread."""
        # First, so that no signal is written to a pipe that is closed.
        signal.set_wakeup_fd(self._former)
        os.write(self._rope, _STOP)
        self._thread.join()
        os.close(self._bell)
        os.close(self._rope)

    def set_deadline(self, due: _Ending | None) -> None:
        """End the process when the time has come that ``due`` names, or never."""
        self._due = due
        os.write(self._rope, _NEWS)

    def _run(self) -> None:
        while _STOP not in (heard := self._listen()):
            if signal.getsignal(signal.SIGINT) is not _on_signal:
                continue  # a server has taken over; it ends in its own way
            if signal.SIGINT in heard:
                self._end(_Ending())
            if self._due is not None and time.monotonic() >= self._due.since:
                self._end(self._due)
                self._due = None
                # Only the main thread can raise there; to it, this is a signal.
                _thread.interrupt_main(signal.SIGALRM)
            if self.ending is not None:
                self._push(self.ending)

    def _listen(self) -> bytes:
        """Wait for signals, for the deadline, or until it is time to look after the main thread."""
        seconds = None if self._due is None else max(0.0, self._due.since - time.monotonic())
        if self.ending is not None:
            # From now on again and again, until the main thread is on its way out.
            seconds = _AGAIN
        return os.read(self._bell, 1024) if select.select([self._bell], [], [], seconds)[0] else b""

    def _end(self, ending: _Ending) -> None:
        if self.ending is None:
            self.ending = ending
        elif self.ending.overdue:
            # A second Ctrl-C counts once the first has had its time: keys repeat.
            self.ending.insisted = True

    def _push(self, ending: _Ending) -> None:
        """Interrupt what runs; where that is not heard, end the process, unless it might be writing."""
        ending.wait()
        if ending.insisted:
            ending.exit()
        # It is tidying up already: another interrupt would hit a rollback.
        if was_interrupted(self._handled()):
            return
        connections = sys.modules.get("sentgen.schema.connections")  # not imported, it has nothing open
        # A reader can be ended anywhere; a writer is waited for, as it may be within a commit.
        if ending.overdue and (connections is None or connections.only_reading()):
            ending.exit()
        if connections is not None:
            connections.interrupt()

    def _handled(self) -> BaseException | None:
        """Return the exception that the main thread is cleaning up after."""
        found: Any = sys._current_exceptions().get(self._main)
        error: BaseException | None = found[1] if isinstance(found, tuple) else found  # tuple: Python 3.11
        return error


#: The one at work, or the last one.
_watch: _Watch | None = None


@contextmanager
def interruptible(afterwards: signal.Handlers | None = None) -> Iterator[None]:
    """Raise KeyboardInterrupt on Ctrl-C, again and again until it is on its way out of this block.

    Args:
        afterwards: what Ctrl-C does after the block, if not what it did before.
    """
    global _watch
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield  # no signals come here; or this is Windows, which has no timer
        return
    if signal.getsignal(signal.SIGINT) is _on_signal:
        yield  # inside such a block
        return
    on_interrupt, on_alarm = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGALRM)
    unraisable = sys.unraisablehook
    watch = None
    try:
        # What libraries lose is printed there, with a traceback; that of an interrupt means nothing.
        sys.unraisablehook = lambda lost: None if was_interrupted(lost.exc_value) else unraisable(lost)
        _watch = watch = _Watch()
        signal.signal(signal.SIGALRM, _on_signal)
        signal.signal(signal.SIGINT, _on_signal)
        yield
    finally:
        signal.signal(signal.SIGINT, on_interrupt if afterwards is None else afterwards)
        # An alarm that nobody handles ends the process: none must be handled, and set the timer once more,
        # between the timer's end and the handler's.
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, on_alarm)
        if watch is not None:
            watch.stop()
        sys.unraisablehook = unraisable


@contextmanager
def deadline(seconds: float | None, line: str) -> Iterator[None]:
    """End the command with one line and exit code 1 if the work inside takes longer."""
    if seconds is None or _watch is None:
        yield
        return
    _watch.set_deadline(_Ending(f"sentgen: {line}", 1, since=time.monotonic() + seconds))
    try:
        yield
    finally:
        _watch.set_deadline(None)


def was_interrupted(error: BaseException | None) -> bool:
    """Say whether Ctrl-C is behind an error: DuckDB makes others of it."""
    while error is not None and not _is_interrupt(error):
        error = error.__cause__ or error.__context__
    return error is not None


def is_ending() -> bool:
    """Say whether Ctrl-C was pressed, so that whatever failed since then failed by it.

    DuckDB drops the exception of a generator that it reads from, and keeps its name in a message.
    """
    return _watch is not None and _watch.ending is not None


def say_interrupted() -> int:
    """Say in one line what Ctrl-C has left, or that time is up, and return the exit code."""
    ending = (_watch.ending if _watch is not None else None) or _Ending()
    print(ending.line, file=sys.stderr, flush=True)
    return ending.code


def exit_now(code: object) -> NoReturn:
    """End the process without the interpreter's tidying up."""
    with suppress(OSError, ValueError):
        sys.stdout.flush()
    # Standard error is flushed with each line.
    os._exit(code if isinstance(code, int) else 1)


def is_full(error: OSError) -> bool:
    """Say whether there was no room for what is printed: a file that could not be written has a name."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) and error.filename is None


def say_full(error: OSError) -> int:
    """Say that the output is not whole, and let go of the rest; return the exit code."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    reason = (error.strerror or "no room").lower()
    said = f"standard output: {reason}; output is incomplete: free some space, and run it again"
    print(f"sentgen: {said}", file=sys.stderr)
    return 1


def end_at_once(code: object) -> NoReturn:
    """End the process when all is written, without the interpreter's tidying up, which frees each object.

    What is registered for the end of a process is done; where a thread goes on or output cannot be written,
    the process ends as any other.
    """
    others = [one for one in threading.enumerate() if one is not threading.main_thread() and not one.daemon]
    if others or not (code is None or isinstance(code, int)):
        raise SystemExit(code)
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and is_full(error):
            code = say_full(error)
        else:  # the interpreter tries once more, and says so
            raise SystemExit(code) from None
    os._exit(code or 0)


def _is_interrupt(error: BaseException) -> bool:
    return isinstance(error, KeyboardInterrupt) or type(error).__name__ == "InterruptException"


def _on_signal(_number: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt: at once, or after machine code; not while it is being cleaned up."""
    signal.setitimer(signal.ITIMER_REAL, _AGAIN)
    caller = _caller_of_kernel(frame)
    if caller is None:
        _interrupt()
    else:
        _interrupt_in(caller)


def _interrupt() -> None:
    if not was_interrupted(sys.exception()):
        raise KeyboardInterrupt


def _interrupt_in(frame: FrameType) -> None:
    """Interrupt in a frame, as soon as what it has called returns."""
    former = sys.gettrace()

    def trace(*_event: object) -> None:
        sys.settrace(former)
        frame.f_trace = None
        _interrupt()

    frame.f_trace = trace
    frame.f_trace_opcodes = True
    sys.settrace(lambda *_event: None)


def _caller_of_kernel(frame: FrameType | None) -> FrameType | None:
    """Return what called machine code of numba that may now be calling Python, to make what it returns."""
    caller = None
    while frame is not None:
        module = str(frame.f_globals.get("__name__"))
        if module == "numba.core.serialize" or module.startswith("namedtuple_"):
            caller = frame.f_back
        frame = frame.f_back
    return caller
