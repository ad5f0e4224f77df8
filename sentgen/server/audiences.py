"""One service for each set of corpora that users may see, with a snapshot of only these corpora."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace

from sentgen.desk.desk import Desk, desk_of
from sentgen.errors import SentgenError
from sentgen.server.operations import Kind
from sentgen.server.pool import HEALTHS, Health, start_task
from sentgen.server.problems import Refused
from sentgen.server.service import Excerpts, Service
from sentgen.server.settings import ServerSettings
from sentgen.server.users import User

logger = logging.getLogger(__name__)


class Audiences:
    """The services of a server: that of the whole store, and those of its excerpts.

    Attributes:
        whole: the service of the whole store, with the list of all corpora.
    """

    def __init__(self, settings: ServerSettings) -> None:
        self.settings = settings
        self.whole = Service(settings)
        self._services: dict[frozenset[str], Service] = {}
        self._starting: set[frozenset[str]] = set()
        self._failed: dict[frozenset[str], str] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Start the services of all users.

        Raises:
            SentgenError: there is no snapshot, or one cannot be opened.
        """
        await self.whole.start()
        if self.settings.users:
            await asyncio.gather(*map(self._begin, self._missing()))
            start_task(self._tasks, self._follow(), "follow users")

    async def stop(self) -> None:
        """Stop everything; requests must have ended."""
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(each.stop() for each in (*self._services.values(), self.whole)))

    def service_of(self, user: User) -> Service:
        """Return the service for a user.

        Raises:
            Refused: there is no corpus that the user may see, or none yet.
        """
        if user.corpora is None:
            return self.whole
        if not self.whole.snapshot.named(user.corpora):
            raise Refused(
                403, "rights", "you may see no corpus of this server yet; ask whoever runs it for one"
            )
        service = self._services.get(user.corpora)
        if service is None:
            raise Refused(
                503, "starting", "your corpora are being made ready; ask again", {"Retry-After": "2"}
            )
        return service

    async def health(self) -> dict[Kind, Health]:
        """Return the health of each kind of workers: the worst one of all services."""
        services = (self.whole, *self._services.values())
        states = list(await asyncio.gather(*(each.health() for each in services)))
        for each in self._wanted - set(self._services):
            failed = self._failed.get(each) == self.whole.snapshot.name
            states.append(dict.fromkeys(self.settings.kinds, "failing" if failed else "starting"))
        return {kind: max((each[kind] for each in states), key=HEALTHS.index) for kind in self.settings.kinds}

    @property
    def _wanted(self) -> set[frozenset[str]]:
        """The sets of corpora that users may see, and of which at least one exists."""
        if self.settings.users is None:
            return set()
        snapshot = self.whole.snapshot
        return {each for each in self.settings.users.audiences if each is not None and snapshot.named(each)}

    def _missing(self) -> list[frozenset[str]]:
        """Return the wanted sets without a service, except those whose service failed to start."""
        failed = {each for each, name in self._failed.items() if name == self.whole.snapshot.name}
        return sorted(self._wanted - set(self._services) - self._starting - failed, key=sorted)

    async def _begin(self, corpora: frozenset[str]) -> None:
        self._starting.add(corpora)
        try:
            settings = replace(self.settings, desk=desk_of(self.settings.desk, corpora))
            if settings.desk:
                await asyncio.to_thread(Desk.begin, settings.desk)
            service = Service(settings, excerpts=Excerpts(corpora), beside=self.whole)
            try:
                await service.start()
            except BaseException:
                await service.stop()
                raise
            self._services[corpora] = service
        except SentgenError as error:
            # Retried only after a newer snapshot: each attempt starts processes, and copies a store.
            self._failed[corpora] = self.whole.snapshot.name
            logger.error("corpora of users cannot be made ready", extra={"error": str(error)})
        finally:
            self._starting.discard(corpora)

    async def _follow(self) -> None:
        """Periodically start the services of new users, and stop those without users."""
        while True:
            await asyncio.sleep(self.settings.poll)
            for corpora in self._missing():
                start_task(self._tasks, self._begin(corpora), "begin")
            for corpora in set(self._services) - self._wanted:
                # Running requests end with their workers, since their users may no longer see these corpora.
                start_task(self._tasks, self._services.pop(corpora).stop(), "end")
