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
#: Files that a confined process may have open.
_MOST_FILES = 256
#: Seconds between two looks at the parent and the memory of a process.
_LOOK_SECONDS = 0.5
#: What `give_way` adds to the niceness of the process.
_NICENESS = 5


@contextmanager
def importing() -> Iterator[None]:
    """Collect no garbage during large imports, which are a tenth faster so, and make next to none."""
    gc.disable()
    try:
        yield
    finally:
        collect_again()


def collect_again() -> None:
    """Collect garbage again, but not among the objects that there are now."""
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
    """Kill the child processes of this one."""
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
    """Yield the ids of the child processes, on Linux."""
    # Imports nothing: the main thread may be importing the same module while Ctrl-C is to end it.
    with suppress(OSError):
        for thread in os.listdir("/proc/self/task"):
            with open(f"/proc/self/task/{thread}/children", encoding="utf-8") as children:
                yield from map(int, children.read().split())


def apart() -> dict[str, Any]:
    """Return keywords of `subprocess.Popen` for a process that gets no Ctrl-C from this one's terminal."""
    if sys.platform == "win32":
        import subprocess

        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}


def confine(*, memory: int, file: int) -> None:
    """Limit the bytes of memory of this process and of files that it writes, and end it with its parent."""
    if sys.platform != "win32":
        import resource

        # Not RLIMIT_AS: that counts libraries and all mapped files, too.
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
        resource.setrlimit(resource.RLIMIT_FSIZE, (file, file))
        # A core dump would hold the requests of others.
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_NOFILE, (_MOST_FILES, _MOST_FILES))
    if sys.platform == "linux":
        import ctypes

        libc = ctypes.CDLL(None)
        # A killed parent cannot end its children, which would keep their memory.
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
            time.sleep(_LOOK_SECONDS)
    os._exit(1)


def limits_missing() -> str:
    """Return a warning that names the limits of `confine` that this system lacks; empty if none."""
    if sys.platform == "linux":
        return ""
    what = (
        "the memory of workers" if sys.platform == "darwin" else "the memory of workers, nor what they write"
    )
    return f"this system cannot limit {what}; their memory is looked at twice a second"


def give_way() -> None:
    """Lower the priority of this process."""
    if sys.platform == "win32":
        import psutil

        psutil.Process().nice(psutil.BELOW_NORMAL_PRIORITY_CLASS)
    else:
        os.nice(_NICENESS)


def after_fork(function: Callable[[], object]) -> None:
    """Call a function in each child of `os.fork`, which Windows does not have."""
    if sys.platform != "win32":
        os.register_at_fork(after_in_child=function)


def end_on_broken_pipe() -> None:
    """End this process when the reader of its output has ended, as programs in C do, without a traceback."""
    if sys.platform != "win32":
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)


def signal_pipe() -> int:
    """Return a descriptor from which the number of each signal can be read as soon as it arrives."""
    read_fd, write_fd = os.pipe()
    if sys.platform != "win32":
        # A signal must not wait for a full pipe, which has enough to read anyway.
        os.set_blocking(write_fd, False)
    signal.set_wakeup_fd(write_fd, warn_on_full_buffer=False)
    return read_fd


def ending_signals() -> tuple[signal.Signals, ...]:
    """Return the signals that ask a process to end, besides that of Ctrl-C."""
    if sys.platform == "win32":
        return (signal.SIGTERM, signal.SIGBREAK)
    return (signal.SIGTERM, signal.SIGHUP)


def on_request_to_end(loop: asyncio.AbstractEventLoop, function: Callable[[], object]) -> None:
    """Let an event loop call a function when a user or the system asks this process to end."""
    if sys.platform == "win32":
        # Ctrl-Break and the closing of the console come as SIGBREAK.
        for number in (signal.SIGINT, signal.SIGBREAK):
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(function))
    else:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, function)
