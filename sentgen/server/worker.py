"""A worker: ``python -m sentgen.server OPENING``. It opens the snapshot and answers requests one by one.

It sets its limits before it opens anything. It reads requests from standard input and writes answers to what
was standard output; prints of libraries go to standard error. The front kills a worker that takes too long,
and the kernel kills one whose front has died.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import duckdb

from sentgen import never_loaded
from sentgen.desk.lending import DeskLabels
from sentgen.errors import MemoryLimitError, QueryRejected, SentgenError, StoreError, spelling
from sentgen.schema import Store, readonly
from sentgen.schema.connections import has_broken
from sentgen.schema.engine import DATABASE_SHARE, LINE_LABELS, one_row
from sentgen.schema.store import raw
from sentgen.server import problems, wire
from sentgen.server.operations import Opening, operations
from sentgen.server.operations.operation import Context, Operation
from sentgen.server.problems import ProblemDocument
from sentgen.server.rendering import render
from sentgen.server.wire import PING, Call, Reply
from sentgen.system import processes

#: Beginning of messages of DuckDB.
_ENGINE = re.compile(r"\b[A-Z][A-Za-z]+( [A-Z][a-z]+)* Error: ")


def main() -> None:
    """Answer requests until standard input ends."""
    opening = wire.decode(sys.argv[1], Opening)
    confine(opening)
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    # Descriptor 1 is standard error now, so that no print can break the messages.
    os.dup2(2, 1)
    never_loaded.refuse_pandas()
    try:
        context = _open_context(opening)
    except Exception as error:
        _send(sink, Reply(503, (str(error) or type(error).__name__).encode("utf-8", "replace")))
        return
    _send(sink, Reply(200))
    while (call := wire.read(source)) is not None:
        # Before the work: a request whose worker dies after this is not tried again, as it may be the reason.
        _send(sink, Reply(102))
        _send(sink, answer(context, call))


def confine(opening: Opening) -> None:
    """Set the limits of this process for memory, files and processors."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Now, as Python finds its temporary folder by writing to it, which the limits below forbid.
    tempfile.gettempdir()
    processes.confine(memory=opening.limits.memory, file=opening.limits.file[opening.kind])
    # SQL has a lower priority than the other kinds.
    if opening.kind == "sql":
        processes.give_way()


def _open_context(opening: Opening) -> Context:
    """Open the snapshot for reading only, cut off from the file system."""
    with processes.importing():
        operations(opening.kind)
    path, limit = Path(opening.store), int(opening.limits.memory * DATABASE_SHARE)
    if opening.kind == "sql":
        return Context(opening, locked=readonly.open_locked(path, memory_limit=limit, threads=1))
    store = Store(path, read_only=True, memory_limit=limit, threads=1)
    try:
        with store.connect() as connection:
            # The locks belong to the database, so they hold for all later connections.
            readonly.lock(raw(connection), path)
    except BaseException:
        store.close()
        raise
    if opening.warm_up:
        _warm_up(store)
    return Context(opening, store)


def _warm_up(store: Store) -> None:
    """Order, score and align a few words, so that such requests do not wait for compilation.

    Numba caches machine code on disk, if it can: with the cache, this takes seconds, without it up to two
    minutes.
    """
    # Imported here, as these import Numba, which no other kind of worker needs.
    from sentgen.alignment import Pair
    from sentgen.alignment.phrase_hmm.pbhmm import PhraseHmm
    from sentgen.generation import ALGORITHMS, parse_bag, regenerate
    from sentgen.models.base import registry
    from sentgen.models.scoring import score_sentences

    words = ("the", "people", "said", "the", "people", "arrived")
    list(PhraseHmm.untrained().align([Pair("", words, words[:3])]))
    models = registry.list_models(store)
    if not models:
        return
    # A phrase, words and punctuation, as the algorithms have different code for these.
    bag = parse_bag("the [the people] said in .")
    list(score_sentences(store, models[-1], [["the", "people"]]))
    for name in ALGORITHMS:
        try:
            list(regenerate(store, models[-1], [bag], algorithm=name, nbest=2))
        except SentgenError:
            continue  # as for algorithms that need trees, if the corpora of the model have none


def answer(context: Context, call: Call) -> Reply:
    """Answer a request; errors of the user become problems, others a status 5xx and a logged traceback."""
    started, before = time.perf_counter(), _lookups(context)
    context = replace(context, client=call.client)
    labels = _lend_labels(context)
    try:
        if call == PING:
            _require_well(context)
            return Reply(200)
        operation = operations(context.opening.kind)[call.operation]
        with spelling(operation.spelling()):
            reply = _answer(context, operation, call, labels)
    except Exception as error:
        reply = _failure(context, call, error)
    now = _lookups(context)
    taken = {name: (hits - before[name][0], misses - before[name][1]) for name, (hits, misses) in now.items()}
    seconds, of_labels = time.perf_counter() - started, labels is not None and labels.asked
    return replace(reply, seconds=seconds, lookups=taken, of_labels=of_labels)


def _lend_labels(context: Context) -> DeskLabels | None:
    """Give look-ups the labels of the client of this request."""
    if context.store is None or context.desk is None:
        return None
    labels = DeskLabels(context.store.path, context.desk, lambda text: None, tells_place=False)
    context.store.lent[LINE_LABELS] = labels
    return labels


def _lookups(context: Context) -> dict[str, tuple[int, int]]:
    """Return the numbers of look-ups found in the caches of this worker, and of those fetched, by kind."""
    if context.store is None or context.opening.kind != "compute":
        return {}
    from sentgen.models.caches import cache_statistics  # imports what no other kind of worker needs

    return {name: (each.hits, each.misses) for name, each in cache_statistics(context.store).items()}


def _failure(context: Context, call: Call, error: Exception) -> Reply:
    if isinstance(error, SentgenError) and not has_broken(error):
        return _reply(_problem_of(context, error, call.body.decode()), retire=_ran_short(error))
    sys.excepthook(type(error), error, error.__traceback__)
    if has_broken(error):
        return _reply(problems.ProblemDocument.make(503, "worker-died", problems.FAILED), retire=True)
    if _ran_short(error):
        return _reply(problems.ProblemDocument.make(413, "memory", problems.TOO_MUCH), retire=True)
    return _reply(problems.ProblemDocument.make(500, "internal", problems.BROKEN))


def _require_well(context: Context) -> None:
    """Ask the database for one row: that it is broken shows only in a query."""
    if context.locked is not None:
        one_row(context.locked, "select 42")
        return
    with context.opened.connect() as connection:
        one_row(raw(connection), "select 42")


def _answer(context: Context, operation: Operation, call: Call, labels: DeskLabels | None) -> Reply:
    request = wire.decode(call.body, operation.declaration)
    result = operation.run(context, request)
    if labels:
        result = replace(result, notes=[*result.notes, *labels.notes])
    return render(
        result,
        call.form,
        context.opening.limits,
        command=operation.command_line(request),
        citation=call.citation,
        escape_formulas=call.escape_formulas,
    )


def _reply(problem: ProblemDocument, *, retire: bool = False) -> Reply:
    return Reply(problem.status, problem.json_bytes, problems.MEDIA_TYPE, retire=retire)


def _problem_of(context: Context, error: SentgenError, request: str) -> ProblemDocument:
    """Return the problem for an error; details of this machine go to standard error only."""
    problem = problems.ProblemDocument.of_error(error)
    detail = problem.detail
    if _ran_short(error) and not isinstance(error, QueryRejected):
        detail = problems.TOO_MUCH
    elif isinstance(error, StoreError) or _of_this_machine(context, detail, request):
        detail = problems.TOO_MUCH if isinstance(error, MemoryLimitError) else problems.UNREADABLE
    if detail != problem.detail:
        sys.excepthook(type(error), error, error.__traceback__)
    return problem.model_copy(update={"detail": detail})


def _of_this_machine(context: Context, text: str, request: str) -> bool:
    """Return whether a text has a path of this machine or a message of DuckDB that is not in the request."""
    opening = context.opening
    paths = [str(Path(opening.store).parent), os.getcwd(), sys.prefix, str(Path(__file__).parents[2])]
    paths += [opening.parser.partition(":")[2]] if opening.parser else []
    paths += [str(Path(opening.desk).parent)] if opening.desk else []
    named = [*(match[0] for match in _ENGINE.finditer(text)), *(path for path in paths if path in text)]
    return any(len(part) > 1 and part not in request for part in named)


def _ran_short(error: BaseException | None) -> bool:
    """Return whether an error is due to a lack of memory."""
    while error is not None and not isinstance(error, MemoryError | duckdb.OutOfMemoryException):
        # DuckDB would spill to disk, but may use no file system; nothing else here needs one.
        if isinstance(error, duckdb.PermissionException) and "LocalFileSystem" in str(error):
            return True
        # The library raises an error of its own, whose cause has the class of DuckDB's.
        error = error.__cause__
    return error is not None


def _send(sink: BinaryIO, reply: Reply) -> None:
    sink.write(wire.pack(reply))
    sink.flush()
