"""The newest snapshot and its workers; the change to a newer snapshot loses no request.

For users who may see some corpora only, excerpts of the snapshot with these corpora are served.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import sys
from asyncio.subprocess import PIPE
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace

from sentgen import temporary
from sentgen.errors import SentgenError, StoreError
from sentgen.schema import migrate, snapshots
from sentgen.schema.manifests import Snapshot
from sentgen.server.cache import LruCache
from sentgen.server.monitoring import Metrics, audit
from sentgen.server.operations import NEVER_KEPT, Kind, Opening, operations
from sentgen.server.pool import Health, Pool, start_task
from sentgen.server.problems import Refused
from sentgen.server.settings import ServerSettings
from sentgen.server.users import NOBODY, Asker
from sentgen.server.wire import Call, Reply


class Excerpts:
    """Makes excerpts of snapshots with some corpora, in a process of their own: this one opens no store."""

    def __init__(self, corpora: Collection[str]) -> None:
        self._corpora = sorted(corpora)
        self._folder = temporary.folder_of_process("sentgen-excerpt-")

    async def of(self, snapshot: Snapshot) -> Snapshot:
        """Return the excerpt of a snapshot.

        Raises:
            StoreError: the excerpt cannot be made.
        """
        names = snapshot.named(self._corpora)
        if not names:
            raise StoreError(f"{snapshot.name} has none of: {', '.join(self._corpora)}")
        folder = self._folder / "snapshots"
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "sentgen", "publish", "--keep", "2"),
            *("--db", snapshot.path.resolve(), "--to", folder),
            *(f"--corpus={name}" for name in names),
            stdout=PIPE,
            stderr=PIPE,
        )
        _, errors = await process.communicate()
        if process.returncode:
            raise StoreError(errors.decode("utf-8", "replace").strip())
        return await asyncio.to_thread(Snapshot.newest, folder)

    def remove(self) -> None:
        """Remove the excerpts."""
        temporary.remove_held(str(self._folder))


logger = logging.getLogger(__name__)

#: Seconds for which the health of the workers is kept.
_HEALTH_KEPT = 1.0
#: Fields of an answer to SQL that are logged.
_LOGGED = ("status", "rows", "truncated", "seconds", "snapshot")


@dataclass(slots=True)
class Generation:
    """The workers of a snapshot, or of an excerpt of the snapshot ``origin``, and their open requests."""

    snapshot: Snapshot
    pools: dict[Kind, Pool]
    origin: str = ""
    _requests: int = 0
    _quiet: asyncio.Event = field(default_factory=asyncio.Event)

    async def start(self, *, whole: bool = True) -> None:
        """Start the workers; ``whole``: wait for all of them, see `Pool.start`.

        Raises:
            StoreError: a worker could not start; none is left running.
        """
        try:
            async with asyncio.TaskGroup() as group:
                for pool in self.pools.values():
                    group.create_task(pool.start(whole=whole))
        except BaseExceptionGroup as errors:
            await self.stop()
            # Only the first error, as the others have the same reason as a rule.
            raise errors.exceptions[0] from None
        except BaseException:
            await self.stop()
            raise
        # Last, as these would take processors from the workers that somebody waits for.
        for pool in self.pools.values():
            pool.fill()

    @contextlib.contextmanager
    def use(self) -> Iterator[None]:
        """Keep the workers running until the request inside is answered."""
        self._requests += 1
        self._quiet.clear()
        try:
            yield
        finally:
            self._requests -= 1
            if not self._requests:
                self._quiet.set()

    async def drain(self) -> None:
        """Wait for the open requests, then stop the workers."""
        # Without a request, nothing would ever set the event.
        if self._requests:
            await self._quiet.wait()
        await self.stop()

    async def stop(self) -> None:
        """Stop all workers."""
        await asyncio.gather(*(pool.stop() for pool in self.pools.values()))


class Service:
    """Answers requests by its workers; it never opens the store itself.

    Args:
        settings: settings of the server.
        excerpts: makes the excerpts to serve; without it, whole snapshots are served.
        beside: another service of the same server, with which it shares metrics and the cache of answers.

    Attributes:
        ended: set when the service answers no more requests.
    """

    def __init__(
        self, settings: ServerSettings, *, excerpts: Excerpts | None = None, beside: Service | None = None
    ) -> None:
        self.settings = settings
        self.excerpts = excerpts
        self.metrics: Metrics = beside.metrics if beside else Metrics()
        # Keys have the name of the snapshot, which is a hash of its content.
        self.cache: LruCache = beside.cache if beside else LruCache(settings.limits.kept)
        #: Limits the pages that ask at the same time, so that they do not fill the queues.
        self.pages = asyncio.Semaphore(settings.processes + 1)
        self.ended = asyncio.Event()
        self._current: Generation | None = None
        self._draining: list[Generation] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._refused = ""
        self._health: asyncio.Task[dict[Kind, Health]] | None = None
        self._asked_at = 0.0

    async def start(self) -> None:
        """Start the workers of the newest snapshot, and the search for newer ones.

        Raises:
            SentgenError: there is no snapshot, or it cannot be opened.
        """
        # Without waiting for all workers: one of a kind is enough for the first answers.
        self._current = await self._generation(Snapshot.newest(self.settings.snapshots), whole=False)
        start_task(self._tasks, self._follow(), "follow")

    async def stop(self) -> None:
        """Stop everything; requests must have ended."""
        self.ended.set()
        running = (*self._tasks, *([self._health] if self._health else []))
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        for generation in (*self._draining, *([self._current] if self._current else [])):
            await generation.stop()
        if self.excerpts:
            self.excerpts.remove()

    @property
    def snapshot(self) -> Snapshot:
        """Return the snapshot that is served."""
        return self._generation_now.snapshot

    @property
    def pools(self) -> dict[Kind, dict[str, int]]:
        """Return the state of the workers, by kind."""
        return {kind: pool.state for kind, pool in self._generation_now.pools.items()}

    async def health(self) -> dict[Kind, Health]:
        """Return the health of each kind of worker; it is asked for once a second at most."""
        now = asyncio.get_running_loop().time()
        if self._health is None or (self._health.done() and now > self._asked_at + _HEALTH_KEPT):
            self._asked_at, self._health = now, asyncio.create_task(self._ask_all())
        # Shielded: if a client leaves, a cancelled request would have the worker killed.
        return await asyncio.shield(self._health)

    async def _ask_all(self) -> dict[Kind, Health]:
        generation = self._generation_now
        with generation.use():
            states = await asyncio.gather(*(pool.health() for pool in generation.pools.values()))
        return dict(zip(generation.pools, states, strict=True))

    async def ask(self, message: Call, *, asker: Asker = NOBODY) -> Reply:
        """Have a worker do an operation, unless the cache has the answer for the same snapshot.

        Raises:
            Refused: no worker could answer.
        """
        if operations()[message.operation].kind in NEVER_KEPT:
            return await self.call(message, asker=asker)
        reply = self.cache.find((self.snapshot.name, message), Reply)
        if reply is None:
            reply = await self.call(message, asker=asker)
            if reply.status == 200 and not reply.of_labels:
                # By the snapshot of the answer, which may be newer than that of the look-up in the cache.
                self.cache.put((reply.snapshot, message), reply, len(reply.body))
        return reply

    async def call(self, message: Call, *, asker: Asker = NOBODY) -> Reply:
        """Have a worker do an operation; log SQL with its asker and its result.

        Raises:
            Refused: no worker could answer.
        """
        kind = operations()[message.operation].kind
        if kind != "sql" and self.settings.desk:
            message = replace(message, client=asker.user or asker.device)
        outcome: dict[str, object] = {"status": 0}
        try:
            # Kept for the whole request, as the current generation may change meanwhile.
            generation = self._generation_now
            with generation.use():
                reply = await generation.pools[kind].call(message)
            reply = replace(reply, snapshot=generation.snapshot.name)
            outcome = {key: getattr(reply, key) for key in _LOGGED}
            return reply
        except Refused as refusal:
            outcome = {"status": refusal.status, "problem": refusal.document.type}
            raise
        finally:
            # In `finally`, so that SQL that was refused or killed its worker is logged, too.
            if kind == "sql":
                audit.info("sql", extra={**asker.logged, "asked": json.loads(message.body), **outcome})

    @property
    def _generation_now(self) -> Generation:
        if self._current is None:
            raise RuntimeError("the service has not started")
        return self._current

    async def _generation(self, snapshot: Snapshot, *, whole: bool = True) -> Generation:
        """Start the workers of a snapshot, after a check of its version and its hash."""
        if snapshot.versions.get("schema") != migrate.REVISIONS[-1]:
            raise StoreError(
                f"{snapshot.path}: published by another version of sentgen; publish the store again"
            )
        served = await self.excerpts.of(snapshot) if self.excerpts else snapshot
        # In a thread, as it reads the whole file.
        await asyncio.to_thread(snapshots.verify, served)
        pools = {kind: self._pool(kind, served) for kind in self.settings.kinds}
        generation = Generation(served, pools, snapshot.name)
        await generation.start(whole=whole)
        logger.info("serving", extra={"snapshot": snapshot.name})
        return generation

    def _pool(self, kind: Kind, snapshot: Snapshot) -> Pool:
        settings = self.settings
        # Absolute, as workers run in folders of their own.
        store = str(snapshot.path.resolve())
        warm_up = settings.warm_up and kind == "compute"
        desk = str(settings.desk.resolve()) if kind != "sql" and settings.desk else ""
        apart = settings.classroom is not None
        opening = Opening(kind, store, settings.limits, settings.parser, warm_up, desk, apart)
        return Pool(opening, settings.processes, self.metrics)

    async def _follow(self) -> None:
        """Look for newer snapshots forever; one that cannot be opened is tried only once."""
        while True:
            await asyncio.sleep(self.settings.poll)
            try:
                snapshot = Snapshot.newest(self.settings.snapshots)
                if snapshot.name not in (self._generation_now.origin, self._refused):
                    await self._replace(snapshot)
            # Any exception: without this loop, the server would serve an old snapshot forever.
            except Exception as error:
                text = str(error) if isinstance(error, (SentgenError, OSError)) else repr(error)
                logger.error("cannot follow the snapshots", extra={"error": text})

    async def _replace(self, snapshot: Snapshot) -> None:
        """Start the workers of a newer snapshot, send requests to them, and let the old ones finish."""
        try:
            generation = await self._generation(snapshot)
        except OSError:  # of this machine, and perhaps temporary
            raise
        except Exception:
            # Not tried again, as each try starts processes and reads the whole file.
            self._refused = snapshot.name
            raise
        # No await in between, so that a request sees the old workers or the new ones.
        old, self._current = self._generation_now, generation
        self._draining.append(old)
        # In the background, as a request of half a minute must not delay a newer snapshot.
        start_task(self._tasks, self._drain(old), "drain")

    async def _drain(self, old: Generation) -> None:
        await old.drain()
        self._draining.remove(old)
