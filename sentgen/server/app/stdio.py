"""Speak MCP with one program, which has started this one, until it goes away."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import logging
import os
import threading

import anyio
from mcp.server.stdio import stdio_server

from sentgen.server.app.running import unless
from sentgen.server.logs import to_standard_error
from sentgen.server.routes import offered
from sentgen.server.service import Service
from sentgen.server.settings import ServerSettings
from sentgen.server.tools import tool_server
from sentgen.system import processes

logger = logging.getLogger(__name__)


def speak(settings: ServerSettings, *, address: str = "") -> None:
    """Speak MCP on standard input and output until the input ends, or a signal comes.

    Args:
        settings: what to serve, and how; there is no address to listen on.
        address: of a server that has pages of the same snapshots.

    Raises:
        SentgenError: there is no snapshot, or it cannot be opened.
    """
    to_standard_error()
    if warning := processes.limits_missing():
        logger.warning(warning)
    if os.isatty(0):
        logger.warning("this waits for a program that speaks MCP; Ctrl-C ends it")
    asyncio.run(_speak(settings, address))


async def _speak(settings: ServerSettings, address: str) -> None:
    """Start the service, answer until nobody asks any more, and stop the service."""
    ended = asyncio.Event()
    processes.on_request_to_end(asyncio.get_running_loop(), ended.set)
    service = Service(settings)
    try:
        await unless(ended, service.start())
        if not ended.is_set():
            await unless(ended, _converse(service, address))
    finally:
        await service.stop()


async def _converse(service: Service, address: str) -> None:
    """Answer one client, on standard input and output."""
    server = tool_server(service, offered(service.settings), address)
    async with stdio_server(_Input()) as (requests, answers):
        await server.run(requests, answers, server.create_initialization_options())


class _Input(anyio.AsyncFile[str]):
    """The lines of standard input, for which one can cease to wait.

    A signal must end the program also while nobody asks. Python waits in the end for all threads but daemons,
    and for nobody who has locked a file that it closes: so the thread that reads has a file of its own.
    """

    def __init__(self) -> None:
        super().__init__(open(os.dup(0), encoding="utf-8", errors="replace"))  # noqa: SIM115
        self._loop, self._lines = asyncio.get_running_loop(), asyncio.Queue[str](1)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        line = " "
        # After the end, the loop takes no more.
        with contextlib.suppress(RuntimeError, concurrent.futures.CancelledError):
            while line:
                line = self.wrapped.readline()
                asyncio.run_coroutine_threadsafe(self._lines.put(line), self._loop).result()

    async def readline(self) -> str:
        """Return a line; nothing at the end."""
        return await self._lines.get()
