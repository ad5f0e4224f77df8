"""A worker as the front sees it: a process that gets a request and gives an answer, or is killed."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sys
from asyncio.subprocess import PIPE, Process

from sentgen import temporary
from sentgen.errors import StoreError
from sentgen.server import wire
from sentgen.server.wire import Call, Opening, Reply
from sentgen.system import processes

logger = logging.getLogger(__name__)

#: What a worker learns of the environment of the server; secrets are not among it.
_ENVIRONMENT = (
    *("PATH", "HOME", "LANG", "LC_ALL", "PYTHONPATH", "VIRTUAL_ENV", "NUMBA_CACHE_DIR"),
    # Without these, Windows has no sockets, and libraries no folder for what they keep.
    *("SYSTEMROOT", "USERPROFILE", "LOCALAPPDATA", "TEMP"),
)
#: One thread for each worker: their number says how many cores are used. Memory is asked for as it is
#: needed: Arrow's own allocator would reserve a gigabyte at once, which counts against the limit.
_FRUGAL = {
    **dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"),
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "MALLOC_ARENA_MAX": "2",
}
#: The first start compiles for a minute or two of processor time, which a busy machine does not have at once.
_START_SECONDS = 900.0
_PATIENCE = 10.0


class NotTaken(ConnectionError):
    """A worker died before it took a request."""


class Worker:
    """A running worker; made by `start`.

    Attributes:
        process: it.
        is_fresh: whether it holds nothing but what it opened.
        idle_since: when it had nothing to do any more, by the clock of the event loop.
    """

    def __init__(self, process: Process, folder: str, *, is_fresh: bool = True) -> None:
        self.process = process
        self.is_fresh = is_fresh
        self.idle_since = 0.0
        self._folder = folder
        self._errors = asyncio.create_task(self._log_errors())

    @classmethod
    async def start(cls, opening: Opening) -> Worker:
        """Start a worker and wait until it has opened the snapshot.

        Raises:
            StoreError: it could not.
        """
        folder = str(temporary.folder_of_process("sentgen-worker-"))
        try:
            worker = cls(await _spawned(opening, folder), folder, is_fresh=not opening.warm_up)
        except BaseException:  # a signal to the server, perhaps; from here on the worker removes it
            temporary.remove_held(folder)
            raise
        slow = asyncio.get_running_loop().call_later(_PATIENCE, _say_slow, opening.kind)
        try:
            started = await asyncio.wait_for(worker._receive(), _START_SECONDS)
            error = "" if started.status == 200 else started.body.decode("utf-8", "replace")
        except ConnectionError:
            error = "it died; see the log"
        except TimeoutError:
            error = f"it took longer than {_START_SECONDS:g} seconds; try again"
        except asyncio.CancelledError:
            worker.kill()
            await worker.wait()
            raise
        finally:
            slow.cancel()
        if error:
            worker.kill()
            await worker.wait()
            raise StoreError(f"a worker for {opening.kind} cannot start: {error}")
        return worker

    async def call(self, message: Call) -> Reply:
        """Send a request and wait for the answer.

        Raises:
            NotTaken: the worker had died before; nothing was done.
            ConnectionError: the worker died over it.
        """
        assert self.process.stdin is not None
        self.is_fresh = False
        try:
            self.process.stdin.write(wire.pack(message))
            await self.process.stdin.drain()
            await self._receive()  # it has taken the request
        except (ConnectionError, RuntimeError) as error:
            # RuntimeError: so does uvloop say that the pipe is closed, between a death and the news of it.
            raise NotTaken("the worker had died") from error
        return await self._receive()

    def kill(self) -> None:
        """End the process, whatever it does."""
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()

    async def wait(self) -> int:
        """Wait until the process has ended, and remove what it left; return its exit code."""
        code = await self.process.wait()
        await self._errors
        # After its end: until then it may write there.
        temporary.remove_held(self._folder)
        return code

    async def _receive(self) -> Reply:
        assert self.process.stdout is not None
        return await wire.receive(self.process.stdout)

    async def _log_errors(self) -> None:
        assert self.process.stderr is not None
        # Blocks, not lines: what a worker prints without a line end must not fill our memory.
        while block := await self.process.stderr.read(1 << 16):
            text = block.decode("utf-8", "replace").rstrip()
            logger.warning("worker output", extra={"worker": self.process.pid, "text": text})


async def _spawned(opening: Opening, folder: str) -> Process:
    environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    return await asyncio.create_subprocess_exec(
        # -P: the current folder holds texts of strangers, and nothing is imported from there.
        *(sys.executable, "-P", "-m", "sentgen.server.worker", wire.encode(opening)),
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        cwd=folder,
        # What a library spills goes with the folder when the worker has ended.
        env={**environment, **_FRUGAL, "TMPDIR": folder},
        # Ctrl-C goes to all processes of a terminal; workers end when the front tells them.
        **processes.apart(),
    )


def _say_slow(kind: str) -> None:
    why = "; the first start compiles the algorithms" if kind == "compute" else ""
    logger.info(f"a worker is still starting{why}", extra={"kind": kind})
