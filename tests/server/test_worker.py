"""What a worker answers, asked in this process."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from sentgen.errors import InputError, NotFoundError, QueryRejected, StoreError
from sentgen.schema import Store, readonly
from sentgen.server import wire, worker
from sentgen.server.operations import operations
from sentgen.server.operations.operation import Context
from sentgen.server.wire import Message, Opening
from sentgen.server.worker import answer, ran_short


@pytest.fixture
def lookup(opening: Opening, demo: Path) -> Iterator[Context]:
    """What look-ups work on."""
    with Store(demo, read_only=True) as store:
        yield Context(opening, store)


def ask(context: Context, operation: str, form: str = "json", **parameters: Any) -> Message:
    """Ask a worker as the front does."""
    return answer(context, Message({"operation": operation, "parameters": parameters, "format": form}))


def test_an_answer(lookup: Context) -> None:
    """The head says what the body is."""
    message = ask(lookup, "ngrams", "csv", pattern="the *", limit=2)

    assert message.head.pop("seconds") > 0
    assert message.head == {"status": 200, "type": "text/csv", "rows": 2, "truncated": True}
    assert message.body.startswith(b"w1,w2,count")


def test_all_rows_are_as_many_as_the_server_gives(lookup: Context) -> None:
    """A limit of 0, or one beyond the server's, is the server's."""
    for limit in (0, 101, 1_000_000):
        head = ask(lookup, "frequencies", limit=limit).head
        assert (head["rows"], head["truncated"]) == (100, True)


@pytest.mark.parametrize(
    ("operation", "parameters", "status", "detail"),
    [
        ("corpus", {"name": "memory"}, 404, "no corpus 'memory'"),
        ("collocations", {"word": "a", "window": "x"}, 400, "x"),
        ("ngrams", {"pattern": "a", "limit": "many"}, 422, "limit: give a whole number"),
        ("ngrams", {}, 422, "pattern: is missing"),
    ],
)
def test_errors(lookup: Context, operation: str, parameters: Any, status: int, detail: str) -> None:
    """Errors of the user are problems, and the worker goes on."""
    message = ask(lookup, operation, **parameters)

    assert message.head["status"] == status
    assert message.head["type"] == "application/problem+json"
    assert detail in json.loads(message.body)["detail"]
    assert not message.head.get("retire")


@pytest.mark.parametrize(
    ("error", "status", "retires"), [(MemoryError(), 413, True), (KeyError("k"), 500, None)]
)
def test_mistakes(
    lookup: Context,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: Exception,
    status: int,
    retires: bool | None,
) -> None:
    """A bug is a 500 without details, which stand in the log; a worker without memory is replaced."""

    def fail(*given: object) -> None:
        raise error

    operation = operations("lookup")["corpora"]
    monkeypatch.setitem(operations("lookup"), "corpora", replace(operation, run=fail))  # type: ignore[arg-type]

    message = ask(lookup, "corpora")

    assert (message.head["status"], message.head.get("retire")) == (status, retires)
    assert "KeyError" not in message.body.decode()
    assert ("KeyError" in capsys.readouterr().err) == (status == 500)


def test_sql_is_asked_on_a_locked_connection(opening: Opening, demo: Path) -> None:
    """The SQL worker has no store, only the connection that cannot be unlocked."""
    with readonly.locked(demo) as duck:
        context = Context(replace(opening, kind="sql"), state={"locked": duck})

        good = ask(context, "sql", sql="select ? + 1 as n", parameters=[2])
        bad = ask(context, "sql", sql="attach 'x'")

    assert json.loads(good.body)["rows"] == [{"n": 3}]
    assert bad.head["status"] == 400
    with pytest.raises(RuntimeError):
        _ = context.opened


def test_errors_of_memory_are_known_by_their_cause() -> None:
    """Words in a message mean nothing."""
    short = QueryRejected("x")
    short.__cause__ = duckdb.OutOfMemoryException("y")

    assert ran_short(short)
    assert ran_short(MemoryError())
    assert not ran_short(NotFoundError("no corpus 'memory'"))
    assert not ran_short(None)


def test_batches_are_bounded(lookup: Context) -> None:
    """The first item that is too long, or one too many, is named."""
    lookup.check_size([100] * 10, "bag")
    with pytest.raises(InputError, match="bag 2 has 101 words"):
        lookup.check_size([1, 101], "bag")
    with pytest.raises(InputError, match="more than 10 in one request"):
        lookup.check_size([1] * 11, "bag")


def test_texts_are_parsed_if_there_is_a_parser(
    opening: Opening, tmp_path: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without one, texts need trees; with one they do not. The files of a request are gone after it."""
    monkeypatch.chdir(tmp_path)
    asked = {"summary": "The camp received water.", "against": "Trucks brought water to the camp."}
    plain = Context(replace(opening, kind="compute"))
    parsing = Context(replace(opening, kind="compute", parser=f"udpipe:{tiny_model}"))

    refused = ask(plain, "check", **asked)
    told = ask(parsing, "check", **asked)

    assert refused.head["status"] == 400
    assert "no tree here" in json.loads(refused.body)["detail"]
    assert told.head["status"] == 200
    assert list(tmp_path.iterdir()) == []


def test_a_worker_speaks_only_through_its_pipe(opening: Opening, tmp_path: Path) -> None:
    """Started as the front does it, it says that it is ready, answers, and ends with its input."""
    command = [sys.executable, "-P", "-m", "sentgen.server.worker", json.dumps(asdict(opening))]
    request = Message({"operation": "corpora", "parameters": {}, "format": "csv"})

    done = subprocess.run(command, input=wire.pack(request), capture_output=True, cwd=tmp_path, check=True)

    stream = io.BytesIO(done.stdout)
    ready, taken, told = (wire.read(stream) for _ in range(3))
    assert ready is not None
    assert ready.head == {"ready": True}
    assert taken == Message({"taken": True})
    assert told is not None
    assert told.body.startswith(b"corpus,")
    assert stream.read() == b""


def test_a_worker_that_cannot_start_says_why(opening: Opening, tmp_path: Path) -> None:
    """The first message is the error."""
    none = replace(opening, store=str(tmp_path / "none.duckdb"))
    command = [sys.executable, "-P", "-m", "sentgen.server.worker", json.dumps(asdict(none))]

    done = subprocess.run(command, input=b"", capture_output=True, cwd=tmp_path, check=True)

    said = wire.read(io.BytesIO(done.stdout))
    assert said is not None
    assert not said.head["ready"]
    assert "no store here" in said.head["error"]


def test_a_store_that_lets_attacks_through_is_not_opened(
    demo: Path, opening: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the locks do not hold, there is no worker."""

    def broken(*given: object, **named: object) -> None:
        raise StoreError("let through what it must refuse")

    monkeypatch.setattr(readonly, "lock", broken)

    for kind in ("lookup", "sql"):
        with pytest.raises(StoreError, match="let through"):
            worker.open_context(replace(opening, kind=kind))


def test_a_worker_may_make_temporary_folders(opening: Opening, tmp_path: Path) -> None:
    """Where it may not write beside the snapshot, it spills there; Python tries such places with a file."""
    code = """
import json, sys, tempfile
from sentgen.server.wire import Opening
from sentgen.server.worker import confine
confine(Opening(**json.loads(sys.argv[1])))
print(tempfile.mkdtemp())
"""
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps(asdict(opening))],
        env={"TMPDIR": str(tmp_path), "PATH": ""},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.stdout.startswith(str(tmp_path)), done.stderr
