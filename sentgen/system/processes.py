"""Processes: memory, children, limits, and signals.

Little is imported at the top: the command line asks for Ctrl-C before anything that takes time.
"""

from __future__ import annotations

import gc
import math
import os
import signal
import sys
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Iterator

_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38
_DESCRIPTORS = 256
_BETWEEN_LOOKS = 0.5
#: How much nicer than others a process is that gives way.
_NICENESS = 5


@contextmanager
def importing() -> Iterator[None]:
    """Look for no garbage while much is imported, a tenth faster: nothing of it becomes garbage."""
    gc.disable()
    try:
        yield
    finally:
        collect_again()


def collect_again() -> None:
    """Look for garbage again, but not among what was imported."""
    gc.freeze()
    gc.enable()


def machine_memory() -> int:
    """Return the bytes of memory that the machine has."""
    if sys.platform == "win32":
        import psutil

        return int(psutil.virtual_memory().total)
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def resident_memory() -> float:
    """Return the bytes of memory that this process takes, infinity where the system does not tell."""
    if sys.platform == "linux":
        try:
            with open("/proc/self/statm", encoding="utf-8") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except OSError:
            return math.inf
    import psutil

    return int(psutil.Process().memory_info().rss)


def end_children() -> None:
    """End the processes that this one has started, whatever they do."""
    if sys.platform != "linux":
        import psutil

        with suppress(psutil.Error):
            for process in psutil.Process().children():
                with suppress(psutil.Error):
                    process.kill()
        return
    for child in _child_processes():
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)


def _child_processes() -> Iterator[int]:
    """Yield the processes that this one has started, where Linux lists them."""
    # No import: the main thread may be within that of the same module, and be what Ctrl-C is to end.
    with suppress(OSError):
        for thread in os.listdir("/proc/self/task"):
            with open(f"/proc/self/task/{thread}/children", encoding="utf-8") as children:
                yield from map(int, children.read().split())


def apart() -> dict[str, Any]:
    """Return the keywords by which a process is started that gets no Ctrl-C of this one's terminal."""
    if sys.platform == "win32":
        import subprocess

        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}


def confine(*, memory: int, file: int) -> None:
    """Limit the bytes of memory and of a file that this process may use, and end it with its parent."""
    if sys.platform != "win32":
        import resource

        # Not RLIMIT_AS: that counts libraries and all mapped files, too.
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
        resource.setrlimit(resource.RLIMIT_FSIZE, (file, file))
        # A core would hold what others asked.
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_NOFILE, (_DESCRIPTORS, _DESCRIPTORS))
    if sys.platform == "linux":
        import ctypes

        libc = ctypes.CDLL(None)
        # Killed, the parent can end nobody; without this, its children would hold the memory.
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    else:
        import threading

        threading.Thread(target=_watch, args=[os.getppid(), memory], daemon=True).start()


def _watch(parent: int, memory: int) -> None:
    """End this process when its parent has ended, or when it takes more memory than it may."""
    import psutil

    with suppress(psutil.Error):
        this, started = psutil.Process(), psutil.Process(parent)
        while started.is_running() and this.memory_info().rss <= memory:
            time.sleep(_BETWEEN_LOOKS)
    os._exit(1)


def limits_missing() -> str:
    """Say what `confine` cannot limit in this system; nothing where it limits all."""
    if sys.platform == "linux":
        return ""
    what = (
        "the memory of workers" if sys.platform == "darwin" else "the memory of workers, nor what they write"
    )
    return f"this system cannot limit {what}; their memory is looked at twice a second"


def give_way() -> None:
    """Let other processes go first."""
    if sys.platform == "win32":
        import psutil

        psutil.Process().nice(psutil.BELOW_NORMAL_PRIORITY_CLASS)
    else:
        os.nice(_NICENESS)


def after_fork(do: Callable[[], object]) -> None:
    """Do something in each child of `os.fork`, which Windows has not."""
    if sys.platform != "win32":
        os.register_at_fork(after_in_child=do)


def end_on_broken_pipe() -> None:
    """Let this process end when nobody reads any more what it writes, as programs do that are not Python."""
    if sys.platform != "win32":
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)


def signal_pipe() -> int:
    """Return the descriptor from which the number of each signal can be read as soon as it has come."""
    read_fd, write_fd = os.pipe()
    if sys.platform != "win32":
        # A signal must never wait for the pipe; if it is full, there is enough to read.
        os.set_blocking(write_fd, False)
    signal.set_wakeup_fd(write_fd, warn_on_full_buffer=False)
    return read_fd


def ending_signals() -> tuple[signal.Signals, ...]:
    """Return the signals, besides that of Ctrl-C, by which a process is asked to end."""
    if sys.platform == "win32":
        return (signal.SIGTERM, signal.SIGBREAK)
    return (signal.SIGTERM, signal.SIGHUP)


def on_request_to_end(loop: asyncio.AbstractEventLoop, do: Callable[[], object]) -> None:
    """Have an event loop do something when the system, or who runs this process, asks it to end."""
    if sys.platform == "win32":
        # Ctrl-Break, and what closes the console, come as SIGBREAK.
        for number in (signal.SIGINT, signal.SIGBREAK):
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(do))
    else:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, do)
