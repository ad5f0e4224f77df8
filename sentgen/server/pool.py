"""Pools of workers of one kind: a bounded queue of requests, a deadline, and a new worker when all are busy.

A worker keeps what it loaded for its requests: machine code, caches, the memory of DuckDB. A worker that was
idle for minutes ends, so that an unused server has one fresh worker of each kind.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import Awaitable, Coroutine
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, get_args

import sentgen
from sentgen import temporary
from sentgen.errors import StoreError
from sentgen.output.wording import quantity
from sentgen.server import wire
from sentgen.server.monitoring import Metrics
from sentgen.server.operations import Opening
from sentgen.server.problems import Refused
from sentgen.server.wire import PING, Call, Reply
from sentgen.system import processes

logger = logging.getLogger(__name__)

#: Exists if the package contains machine code; `sentgen.machine_code` knows, too, but imports numba.
_MACHINE_CODE = Path(sentgen.__file__).with_name("models") / "ngrams" / "machine_code"
_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 10.0
#: Seconds after which an idle worker ends.
_IDLE = 300.0
#: Seconds in which an idle worker must report its health; monitors usually wait for four.
_PING = 3.0

#: Health of a pool: workers answer, all are busy, none has started yet, or an idle worker does not answer.
Health = Literal["ok", "busy", "starting", "failing"]
#: From the best to the worst.
HEALTHS: tuple[Health, ...] = get_args(Health)

#: Environment variables that a worker inherits; no secrets.
_ENVIRONMENT = (
    *("PATH", "HOME", "LANG", "LC_ALL", "PYTHONPATH", "VIRTUAL_ENV", "NUMBA_CACHE_DIR"),
    # Windows needs these for sockets, and libraries for the folders of their data.
    *("SYSTEMROOT", "USERPROFILE", "LOCALAPPDATA", "TEMP"),
)
#: One thread for each worker, so that the number of workers is the number of cores used. The system
#: allocator, since Arrow's own would reserve a gigabyte at once, which counts against the limit.
_FRUGAL = {
    **dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"),
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "MALLOC_ARENA_MAX": "2",
}
#: Seconds for a start: the first one compiles for a minute or two of processor time, longer on a busy
#: machine.
_START_SECONDS = 900.0
_SLOW = 10.0


class NotTaken(ConnectionError):
    """A worker died before it took a request."""


class Worker:
    """A running worker; made by `start`.

    Attributes:
        process: the process.
        is_fresh: whether it has not worked since it opened the snapshot.
        idle_since: when it became idle, by the clock of the event loop.
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
            StoreError: the worker could not start.
        """
        folder = str(temporary.folder_of_process("sentgen-worker-"))
        try:
            worker = cls(await _spawned(opening, folder), folder, is_fresh=not opening.warm_up)
        except BaseException:  # such as a signal to the server; later, the worker removes the folder
            temporary.remove_held(folder)
            raise
        slow = asyncio.get_running_loop().call_later(_SLOW, _say_slow, opening.kind)
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
            # RuntimeError: raised by uvloop if the pipe is closed before the end of the process is reported.
            raise NotTaken("the worker had died") from error
        return await self._receive()

    def kill(self) -> None:
        """Kill the process."""
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()

    async def wait(self) -> int:
        """Wait until the process has ended, and remove its folder; return its exit code."""
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
        # Read in blocks, since output without a line end must not fill our memory.
        while block := await self.process.stderr.read(1 << 16):
            text = block.decode("utf-8", "replace").rstrip()
            logger.warning("worker output", extra={"worker": self.process.pid, "text": text})


async def _spawned(opening: Opening, folder: str) -> Process:
    environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    return await asyncio.create_subprocess_exec(
        # -P: nothing is imported from the current folder, which has texts of users.
        *(sys.executable, "-P", "-m", "sentgen.server", wire.encode(opening)),
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        cwd=folder,
        # Temporary files of libraries are removed with the folder when the worker has ended.
        env={**environment, **_FRUGAL, "TMPDIR": folder},
        # Ctrl-C is sent to all processes of a terminal, but only the front ends workers.
        **processes.apart(),
    )


def _say_slow(kind: str) -> None:
    why = "; the first start compiles the algorithms" if kind == "compute" else ""
    logger.info(f"a worker is still starting{why}", extra={"kind": kind})


def start_task(tasks: set[asyncio.Task[None]], work: Coroutine[object, object, None], name: str) -> None:
    """Start a task, keep it in ``tasks`` until it ends, and log its exception, if there is one."""
    task = asyncio.create_task(work, name=name)
    # asyncio holds tasks weakly: without this one could vanish at work.
    tasks.add(task)

    def forget(task: asyncio.Task[None]) -> None:
        tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("work ended by an error", extra={"work": name, "error": repr(error)}, exc_info=error)

    task.add_done_callback(forget)


async def unless(ended: asyncio.Event, work: Awaitable[None]) -> None:
    """Await some work, and cancel it when the event is set."""
    task, ending = asyncio.ensure_future(work), asyncio.ensure_future(ended.wait())
    await asyncio.wait([task, ending], return_when=asyncio.FIRST_COMPLETED)
    ending.cancel()
    if not task.done():
        task.cancel()
        await asyncio.wait([task])
    # Raises the exception of the work.
    if not task.cancelled():
        task.result()


@dataclass(slots=True)
class Pool:
    """Workers that all opened the same snapshot.

    Args:
        opening: what the workers open, with the limits of their work and of the queue.
        size: maximal number of workers.
        metrics: the metrics that count requests and killed workers.
    """

    opening: Opening
    size: int
    metrics: Metrics
    _idle: list[Worker] = field(default_factory=list)
    _all: set[Worker] = field(default_factory=set)
    _waiting: deque[asyncio.Future[Worker]] = field(default_factory=deque)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _stopping: bool = False
    _cannot_start: bool = False

    async def start(self, *, whole: bool = True) -> None:
        """Start the first worker, and the task that ends idle ones.

        Args:
            whole: whether to wait for it even if it only loads machine code; if not, `fill` starts it.

        Raises:
            StoreError: the worker could not start.
        """
        if whole or self.opening.kind != "compute" or not _MACHINE_CODE.is_dir():
            await self._add()
        start_task(self._tasks, self._end_idle(), "end idle")

    def fill(self) -> None:
        """Start missing workers in the background; requests wait for them as for busy ones."""
        # One after another: several that start at once would take the processors from those that work.
        if not any(task.get_name() == "fill" and not task.done() for task in self._tasks):
            start_task(self._tasks, self._filled(), "fill")

    async def stop(self) -> None:
        """Kill all workers, and wait until they have ended."""
        self._stopping = True
        for worker in self._all:
            worker.kill()
        for task in tuple(self._tasks):
            # A start may take minutes and is cancelled; watchers end with their workers.
            if not task.done() and task.get_name() != "watch":
                task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def state(self) -> dict[str, int]:
        """Return the number of workers, of idle workers, and of waiting requests."""
        waiting = sum(not request.done() for request in self._waiting)
        return {"workers": len(self._all), "idle": len(self._idle), "waiting": waiting}

    @property
    def seconds(self) -> float:
        """Return the seconds that work for one request may take."""
        return self.opening.limits.seconds[self.opening.kind]

    async def health(self) -> Health:
        """Check the health of an idle worker; one that does not answer is replaced."""
        if not self._idle:
            return "busy" if self._all else "failing" if self._cannot_start else "starting"
        worker = self._idle[-1]
        before = worker.is_fresh, worker.idle_since
        try:
            reply = await self.call(PING, again=False, seconds=_PING)
        except Refused:
            return "failing"
        # To be asked is no work.
        worker.is_fresh, worker.idle_since = before
        return "failing" if reply.retire else "ok"

    async def call(self, message: Call, *, again: bool = True, seconds: float | None = None) -> Reply:
        """Have a worker answer a request.

        Args:
            message: the request.
            again: whether to try another worker if the first turns out to be dead.
            seconds: seconds that the work may take; by default, those of the kind.

        Raises:
            Refused: too many wait (429), it took too long (504), or the worker died (503).
        """
        worker = await self._take()
        try:
            reply = await asyncio.wait_for(worker.call(message), seconds or self.seconds)
        except TimeoutError:
            worker.kill()
            self.metrics.killed(self.opening.kind, "deadline")
            raise Refused(
                504, "deadline", f"this took longer than {self.seconds:g} seconds and was ended; ask for less"
            ) from None
        except ConnectionError as error:
            worker.kill()
            self.metrics.killed(self.opening.kind, "died")
            # Once only: an idle worker may have died, but two dead ones in a row have another cause.
            if again and isinstance(error, NotTaken):
                return await self.call(message, again=False)
            raise Refused(
                503,
                "worker-died",
                "the process that worked on this died, perhaps for lack of memory; ask for less, or again",
                {"Retry-After": "1"},
            ) from None
        except asyncio.CancelledError:
            worker.kill()
            self.metrics.killed(self.opening.kind, "cancelled")
            raise
        self.metrics.looked_up(reply.lookups)
        # Killed after the answer, and replaced by `_watch` as all workers that end.
        if reply.retire:
            worker.kill()
            self.metrics.killed(self.opening.kind, "retired")
        else:
            self._give(worker)
        return reply

    async def _take(self) -> Worker:
        """Take an idle worker, or wait for one."""
        if self._idle:
            # The worker that worked last, which has the warmest caches.
            return self._idle.pop()
        # Requests that gave up are still in the queue, and must not count as waiting.
        while self._waiting and self._waiting[0].done():
            self._waiting.popleft()
        queue = self.opening.limits.queue
        if len(self._waiting) >= queue:
            raise Refused(
                429,
                "busy",
                f"waiting already: {quantity(queue, 'request')}; try again later",
                {"Retry-After": "1"},
            )
        future: asyncio.Future[Worker] = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        self.fill()
        try:
            # Not wait_for, which cancels the future: a worker that is assigned at that moment would be lost.
            await asyncio.wait([future], timeout=self.seconds)
        except asyncio.CancelledError:
            if future.done():
                self._give(future.result())
            future.cancel()
            raise
        if future.done():
            return future.result()
        future.cancel()
        raise Refused(429, "busy", "no worker became free in time; try again later", {"Retry-After": "1"})

    def _give(self, worker: Worker) -> None:
        """Assign a worker to the request that waits longest."""
        # It has died in the meantime; a waiting request gets its successor from `_add`.
        if worker not in self._all or self._stopping:
            return
        while self._waiting:
            future = self._waiting.popleft()
            if not future.done():
                future.set_result(worker)
                return
        worker.idle_since = asyncio.get_running_loop().time()
        self._idle.append(worker)

    async def _add(self) -> None:
        worker = await Worker.start(self.opening)
        self._cannot_start = False
        # The first worker's machine code is cached on the disk, from which the others load it on demand.
        self.opening = replace(self.opening, warm_up=False)
        if self._stopping:
            worker.kill()
            await worker.wait()
            return
        self._all.add(worker)
        start_task(self._tasks, self._watch(worker), "watch")
        self._give(worker)

    async def _watch(self, worker: Worker) -> None:
        """Wait until a worker ends, and have it replaced."""
        code = await worker.wait()
        if worker not in self._all:  # it was idle
            return
        self._all.discard(worker)
        if worker in self._idle:
            self._idle.remove(worker)
        if self._stopping:
            return
        logger.warning(
            "worker ended", extra={"worker": worker.process.pid, "kind": self.opening.kind, "code": code}
        )
        self.fill()

    @property
    def _is_short(self) -> bool:
        """Return whether a worker can be added, and is needed: there is none, or requests wait."""
        return not self._all or (self.state["waiting"] > 0 and len(self._all) < self.size)

    async def _filled(self) -> None:
        pause = _FIRST_PAUSE
        while self._is_short and not self._stopping:
            try:
                await self._add()
            # The system may be unable to start a process, which may be temporary.
            except (StoreError, OSError) as error:
                self._cannot_start = True
                logger.error("worker cannot start", extra={"kind": self.opening.kind, "error": str(error)})
                await asyncio.sleep(pause)
                # A full disk or a lost snapshot may last: do not start processes that die at once in a loop.
                pause = min(pause * 2, _LONGEST_PAUSE)

    async def _end_idle(self) -> None:
        """End workers that were idle for long, except a last fresh one."""
        while True:
            await asyncio.sleep(_IDLE / 10)
            past = asyncio.get_running_loop().time() - _IDLE
            for worker in [worker for worker in self._idle if worker.idle_since < past]:
                if len(self._all) > 1 or not worker.is_fresh:
                    self._idle.remove(worker)
                    self._all.discard(worker)
                    worker.kill()
                    self.fill()
