"""Work beside the requests: nobody waits for it, so that what ends it is told to the log."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine

logger = logging.getLogger(__name__)


def start(tasks: set[asyncio.Task[None]], work: Coroutine[object, object, None], name: str) -> None:
    """Start work, and keep it among the tasks until it has ended; if by an exception, log that."""
    task = asyncio.create_task(work, name=name)
    # asyncio holds tasks weakly: without this one could vanish at work.
    tasks.add(task)

    def ended(task: asyncio.Task[None]) -> None:
        tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("work ended by an error", extra={"work": name, "error": repr(error)}, exc_info=error)

    task.add_done_callback(ended)
