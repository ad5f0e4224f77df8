"""Operations as tools for programs that speak MCP (Model Context Protocol), most of them language models.

A tool is an operation of the API, with its name, parameters, limits, refusals and workers. Its answer is
that of the API, with the name of the snapshot. A client sends requests over HTTP, or starts this program and
talks to it over standard input and output.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import json
import logging
import os
import threading
from collections.abc import Mapping
from functools import cache
from typing import Any
from urllib.parse import urlencode

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)
from pydantic import Field

from sentgen import __version__
from sentgen.output.display import shorten
from sentgen.output.wording import quantity
from sentgen.schema import dictionary
from sentgen.server.monitoring import to_standard_error
from sentgen.server.operations.operation import Operation
from sentgen.server.pages.api import ANSWER
from sentgen.server.parameters import parameters, read
from sentgen.server.pool import unless
from sentgen.server.problems import BROKEN, ProblemDocument, Refused
from sentgen.server.routes import SNAPSHOT, AnswerDocument, CitedRequest, offered
from sentgen.server.service import Service
from sentgen.server.settings import ServerSettings
from sentgen.server.users import NOBODY, Asker
from sentgen.system import processes

logger = logging.getLogger(__name__)

#: The operations that are tools, with notes for the client besides the parameters.
TOOLS: Mapping[str, str] = {
    "corpora": "Ask this first: other tools take these names as `corpus`.",
    "kwic": "With `count`, only how many hits there are.",
    "match": "It needs corpora with trees. With `key` or `whether`, hits are counted by these.",
    "frequencies": "With `query`, what it matches is counted, by `by`.",
    "collocations": "",
    "ngrams": "",
    "score": "What a model knows nothing of is told in the answer. The view v_models lists the models.",
    "sql": "In the dialect of DuckDB; give a `limit`, or all rows come. There are these views:",
}
#: Most bytes of an answer: no model reads more, and it would keep the front busy for seconds.
_MOST_BYTES = 2**20
#: Bounds of parameters from here on are left out of schemas, as no sensible request reaches them.
_LARGEST_BOUND = 1_000_000
_INSTRUCTIONS = (
    "Corpora, counts and language models that do not change. Ask `corpora` first. `limit` says how many rows"
    " come, and `truncated` whether there are more. Each answer has the command line and"
    " the SQL that give the same rows, and the snapshot that it is of: name these where you report a figure."
    " What cannot be answered is an error that says what to do; no rows means that there are none."
)


class ToolAnswer(AnswerDocument):
    """An answer, and what it is of."""

    snapshot: str = Field(description="The store that was asked, named by its hash.")
    link: str = Field(description="A page that shows these rows; empty if no server is known that has it.")


def tool_server(service: Service, offered: Mapping[str, Operation], address: str = "") -> Server[Any]:
    """Return an MCP server that asks a service.

    Args:
        service: the service, which has to be started before the first request.
        offered: the operations of the server, by name.
        address: address of a server whose pages show the answers; over HTTP, the address of the request is
            used instead.
    """
    tools = {name: offered[name] for name in TOOLS if name in offered}

    async def list_tools(context: Any, params: PaginatedRequestParams | None) -> ListToolsResult:
        # In a thread: at first, the data dictionary makes a store in memory, which would block all requests.
        return ListToolsResult(tools=await asyncio.to_thread(described))

    @cache
    def described() -> list[Tool]:
        return [_described(operation) for operation in tools.values()]

    async def call_tool(context: Any, params: CallToolRequestParams) -> CallToolResult:
        if params.name not in tools:
            raise MCPError(
                INVALID_PARAMS, f"no tool {shorten(params.name, 80)!r}; there are: {', '.join(tools)}"
            )
        given, request = params.arguments or {}, context.request
        asker = Asker.from_scope(request.scope) if request else NOBODY
        # A link for readers of the client's report: in a class, without the token of the asker.
        base = CitedRequest(request).addresses()[0] if request else address
        try:
            return await _answer(service, tools[params.name], given, base, asker)
        except Refused as refusal:
            return _failure(refusal.document)
        except Exception:
            # The client is told nothing of the exception, as everywhere.
            logger.exception("a tool failed", extra={"tool": params.name})
            return _failure(ProblemDocument.make(500, "internal", BROKEN))

    return Server(
        "sentgen",
        version=__version__,
        title="sentgen",
        instructions=_INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _described(operation: Operation) -> Tool:
    about = [operation.summary, f"The same as `sentgen {operation.command}`.", TOOLS[operation.name]]
    if operation.name == "sql":
        views = (each for each in dictionary.relations() if each.kind == "view")
        about += (f"\n{view.name}({', '.join(column.name for column in view.columns)})" for view in views)
    return Tool(
        name=operation.name,
        description=" ".join(filter(None, about)).replace(" \n", "\n"),
        input_schema=_plain(parameters(operation).model_json_schema()),
        output_schema=_plain(ToolAnswer.model_json_schema()),
        annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
    )


def _plain(schema: Any) -> Any:
    """Return a schema without the parts that a client does not need, as a model reads all of it each time.

    >>> _plain({"title": "Where", "anyOf": [{"type": "string", "maxLength": 1000000}, {"type": "null"}]})
    {'type': 'string'}
    """
    if isinstance(schema, list):
        return [_plain(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    # A parameter that may be left out need not accept null, too.
    kinds = [kind for kind in schema.get("anyOf", ()) if kind != {"type": "null"}]
    if len(kinds) == 1:
        schema = {key: value for key, value in schema.items() if key != "anyOf"} | kinds[0]
    return {key: _plain(value) for key, value in schema.items() if not _is_needless(key, value)}


def _is_needless(key: str, value: object) -> bool:
    """Return whether a part of a schema is empty, or only for documentation or the command line."""
    # A dict belongs to a parameter, which may have one of these names.
    if isinstance(value, dict):
        return False
    if key in ("maxLength", "maximum", "minimum"):
        return isinstance(value, int) and abs(value) >= _LARGEST_BOUND
    return key == "title" or key.startswith("x-") or (key == "default" and value is None)


async def _answer(
    service: Service, operation: Operation, given: Mapping[str, Any], address: str, asker: Asker
) -> CallToolResult:
    """Have an operation done; return its answer, or its problem.

    Raises:
        Refused: the parameters are wrong, or no worker could answer.
    """
    message, most = read(operation, given), service.settings.limits.body
    # As for requests over HTTP.
    if len(message.body) > most:
        raise Refused(413, "too-large", f"the request is longer than {quantity(most, 'byte')}; send less")
    reply = await service.ask(message, asker=asker)
    if reply.status != 200:
        return _failure(ProblemDocument.model_validate_json(reply.body))
    if len(reply.body) > _MOST_BYTES:
        raise Refused(
            413,
            "too-large",
            f"the answer has {quantity(len(reply.body), 'byte')}, more than a model can read;"
            " ask for less, as with `limit`",
        )
    about = {"ask": operation.name, "with": json.dumps(given), SNAPSHOT: reply.snapshot}
    link = f"{address}{ANSWER}?{urlencode(about)}" if address else ""
    answer = {**json.loads(reply.body), "snapshot": reply.snapshot, "link": link}
    # Also as text, as the protocol asks for: older clients read only the text.
    text = TextContent(text=json.dumps(answer, ensure_ascii=False))
    return CallToolResult(content=[text], structured_content=answer)


def _failure(problem: ProblemDocument) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=problem.detail)], is_error=True)


def speak(settings: ServerSettings, *, address: str = "") -> None:
    """Speak MCP on standard input and output until the input ends, or a signal comes.

    Args:
        settings: settings of the service; its address to listen on is ignored.
        address: address of a server with pages of the same snapshots.

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
    """Start the service, answer until the input ends or a signal comes, and stop the service."""
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
    """The lines of standard input; waiting for a line can be cancelled.

    A signal must end the program also while it waits for a request. At its end, Python waits for all threads
    but daemons, and cannot close a file that a thread has locked: so a daemon reads from a copy of the file.
    """

    def __init__(self) -> None:
        super().__init__(open(os.dup(0), encoding="utf-8", errors="replace"))  # noqa: SIM115
        self._loop, self._lines = asyncio.get_running_loop(), asyncio.Queue[str](1)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        line = " "
        # After the end of the program, the loop takes no more lines.
        with contextlib.suppress(RuntimeError, concurrent.futures.CancelledError):
            while line:
                line = self.wrapped.readline()
                asyncio.run_coroutine_threadsafe(self._lines.put(line), self._loop).result()

    async def readline(self) -> str:
        return await self._lines.get()
