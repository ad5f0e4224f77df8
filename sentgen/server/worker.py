"""A worker: ``python -m sentgen.server.worker OPENING``. It opens the snapshot and answers, one by one.

Its limits come before anything else is imported. Requests arrive on standard input and answers leave on what
was standard output; whatever a library prints goes to standard error. The front kills a worker that takes
too long, and the kernel one whose front has died.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from sentgen import without_pandas
from sentgen.server import wire
from sentgen.server.wire import Message, Opening

if TYPE_CHECKING:
    from sentgen.errors import SentgenError
    from sentgen.server.operations.operation import Context, Operation

_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38
#: Share of the memory of a worker that DuckDB may use.
_DATABASE_SHARE = 0.4
#: How the messages of DuckDB begin.
_ENGINE = re.compile(r"\b[A-Z][A-Za-z]+( [A-Z][a-z]+)* Error: ")
#: SQL gives way to the other kinds where there are too few cores.
_SQL_NICENESS = 5


def main() -> None:
    """Run until standard input ends."""
    opening = Opening(**json.loads(sys.argv[1]))
    confine(opening)
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    # Whatever prints cannot break the messages: descriptor 1 is standard error now.
    os.dup2(2, 1)
    without_pandas.install()
    try:
        context = open_context(opening)
    except Exception as error:
        _send(sink, Message({"ready": False, "error": str(error) or type(error).__name__}))
        return
    _send(sink, Message({"ready": True}))
    while (message := wire.read(source)) is not None:
        # Before the work: if it dies now, the request may be the reason, and is not tried on another worker.
        _send(sink, Message({"taken": True}))
        _send(sink, answer(context, message))


def confine(opening: Opening) -> None:
    """Limit what this process may use, before it has a reason to use it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Now: Python tries its folders by writing into them, which is not allowed below.
    tempfile.gettempdir()
    # Not RLIMIT_AS: that counts libraries and all mapped files, too.
    resource.setrlimit(resource.RLIMIT_DATA, (opening.memory, opening.memory))
    resource.setrlimit(resource.RLIMIT_FSIZE, (opening.file, opening.file))
    # A core would hold what others asked.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
    libc = ctypes.CDLL(None)
    if hasattr(libc, "prctl"):
        # Killed, the front can end nobody; without this, its workers would hold the memory.
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if opening.kind == "sql":
        os.nice(_SQL_NICENESS)


def open_context(opening: Opening) -> Context:
    """Open the snapshot with its locks."""
    from sentgen.schema import Store, readonly
    from sentgen.schema.store import raw
    from sentgen.server.operations import operations
    from sentgen.server.operations.operation import Context

    operations(opening.kind)
    path, limit = Path(opening.store), int(opening.memory * _DATABASE_SHARE)
    context = Context(opening)
    if opening.kind == "sql":
        context.state["locked"] = readonly.open_locked(path, memory_limit=limit, threads=1)
        return context
    store = Store(path, read_only=True, memory_limit=limit, threads=1)
    try:
        with store.connect() as connection:
            # The locks belong to the database, not to the connection: they hold for all that follow.
            readonly.lock(raw(connection), path)
    except BaseException:
        store.close()
        raise
    context = replace(context, store=store)
    if opening.kind == "compute" and opening.warm_up:
        from sentgen.server.warming import warm_up

        warm_up(store)
    return context


def answer(context: Context, message: Message) -> Message:
    """Do what a request asks for; errors of the user become problems, all others a 500 and a traceback here.

    An answer says `retire` if the worker should be replaced: memory that ran short may be left in pieces.
    """
    from pydantic import ValidationError

    from sentgen.errors import SentgenError
    from sentgen.server import mistakes, problems
    from sentgen.server.operations import operations
    from sentgen.server.wording import in_words_of

    started = time.perf_counter()
    operation = operations(context.opening.kind)[message.head["operation"]]
    worded = partial(in_words_of, operation)
    try:
        head, body = _answer(context, operation, message.head, worded)
    except SentgenError as error:
        head, body = _problem(_told(context, error, worded, str(message.head["parameters"])))
        head["retire"] = ran_short(error)
    except ValidationError as error:
        detail = mistakes.told(error.errors(), mistakes.names_of(operation))
        head, body = _problem(problems.problem(422, "parameters", detail))
    except Exception as error:
        sys.excepthook(*sys.exc_info())
        if ran_short(error):
            head, body = _problem(problems.problem(413, "memory", problems.TOO_MUCH))
            head["retire"] = True
        else:
            head, body = _problem(problems.problem(500, "internal", problems.BROKEN))
    return Message({**head, "seconds": time.perf_counter() - started}, body)


def _told(context: Context, error: SentgenError, worded: Callable[[str], str], asked: str) -> dict[str, Any]:
    """Return the problem that an error is; what it says of this machine goes to standard error alone."""
    from sentgen.errors import MemoryLimitError, QueryRejected, StoreError
    from sentgen.server import problems

    document = problems.of_error(error, worded)
    detail = document["detail"]
    if ran_short(error) and not isinstance(error, QueryRejected):
        detail = problems.TOO_MUCH
    elif isinstance(error, StoreError) or _of_this_machine(context, detail, asked):
        detail = problems.TOO_MUCH if isinstance(error, MemoryLimitError) else problems.UNREADABLE
    if detail != document["detail"]:
        sys.excepthook(type(error), error, error.__traceback__)
    return {**document, "detail": detail}


def _of_this_machine(context: Context, text: str, asked: str) -> bool:
    """Say whether a text names a place of this machine, or is of DuckDB, and not of the request."""
    opening = context.opening
    places = [str(Path(opening.store).parent), os.getcwd(), sys.prefix, str(Path(__file__).parents[2])]
    places += [opening.parser.partition(":")[2]] if opening.parser else []
    found = [*(one[0] for one in _ENGINE.finditer(text)), *(one for one in places if one in text)]
    return any(len(one) > 1 and one not in asked for one in found)


def ran_short(error: BaseException | None) -> bool:
    """Say whether an error comes from too little memory."""
    import duckdb

    while error is not None and not isinstance(error, MemoryError | duckdb.OutOfMemoryException):
        # What does not fit DuckDB would spill, and finds no file system: nothing else here asks for one.
        if isinstance(error, duckdb.PermissionException) and "LocalFileSystem" in str(error):
            return True
        # The library says in words of its own what DuckDB ran out of; the cause has the class.
        error = error.__cause__
    return error is not None


def _answer(
    context: Context, operation: Operation, head: dict[str, Any], worded: Callable[[str], str]
) -> tuple[dict[str, Any], bytes]:
    from sentgen.server.operations.operation import command_line
    from sentgen.server.rendering import MEDIA_TYPES, Format, render

    parameters = operation.parameters.model_validate(head["parameters"])
    form = Format(head["format"])
    found = operation.run(context, parameters)
    result = replace(found, notes=[worded(note) for note in found.notes])
    command = command_line(operation, parameters)
    escape = bool(head.get("escape_formulas"))
    rendered = render(result, form, context.opening, command=command, escape_formulas=escape)
    about = {"status": 200, "type": MEDIA_TYPES[form], "rows": rendered.rows, "truncated": rendered.truncated}
    return about, rendered.body


def _problem(document: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    from sentgen.server.problems import MEDIA_TYPE

    body = json.dumps(document, ensure_ascii=False).encode("utf-8", "replace")
    return {"status": document["status"], "type": MEDIA_TYPE, "rows": 0, "truncated": False}, body


def _send(sink: BinaryIO, message: Message) -> None:
    sink.write(wire.pack(message))
    sink.flush()


if __name__ == "__main__":
    main()
