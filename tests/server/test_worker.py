"""Answers of a worker that runs in this process."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
from serving import ask, call

from sentgen.errors import InputError, NotFoundError, QueryRejected, StoreError
from sentgen.schema import Store, readonly
from sentgen.server import wire, worker
from sentgen.server.operations import Opening, operations
from sentgen.server.operations.operation import Context
from sentgen.server.parameters import read
from sentgen.server.problems import Refused
from sentgen.server.wire import Reply
from sentgen.server.worker import _ran_short


@pytest.fixture
def lookup(opening: Opening, demo: Path) -> Iterator[Context]:
    """The context of look-ups."""
    with Store(demo, read_only=True) as store:
        yield Context(opening, store)


def test_an_answer(lookup: Context) -> None:
    """An answer has the media type of its body."""
    reply = ask(lookup, "ngrams", "csv", pattern="the *", limit=2)

    assert reply.seconds > 0
    assert reply == Reply(200, reply.body, "text/csv", 2, True, reply.seconds)
    assert reply.body.startswith(b"w1,w2,count")


def test_an_answer_has_the_lookups_that_it_took(opening: Opening, demo: Path) -> None:
    """Those of this answer: what the first one fetched, the second one finds in the caches."""
    with Store(demo, read_only=True) as store:
        context = Context(replace(opening, kind="compute"), store)
        asked = {"model": "relief", "bag": ["camp/NN arrived/VBD"], "algorithm": "cle"}
        first, second = (ask(context, "regenerate", **asked).lookups for _ in range(2))

    assert first.keys() == {"n-grams", "trees"}
    assert all(hits == 0 < misses for hits, misses in first.values())
    assert second == {name: (misses, 0) for name, (_, misses) in first.items()}


def test_all_rows_are_as_many_as_the_server_gives(lookup: Context) -> None:
    """A limit of 0, or one beyond the server's, is the server's."""
    for limit in (0, 101, 1_000_000):
        reply = ask(lookup, "frequencies", limit=limit)
        assert (reply.rows, reply.truncated) == (100, True)


@pytest.mark.parametrize(
    ("operation", "parameters", "status", "detail"),
    [
        ("corpus", {"name": "memory"}, 404, "no corpus 'memory'"),
        ("collocations", {"word": "a", "window": "x"}, 400, "x"),
    ],
)
def test_errors(lookup: Context, operation: str, parameters: Any, status: int, detail: str) -> None:
    """Errors of the user are problems, and the worker goes on."""
    reply = ask(lookup, operation, **parameters)

    assert reply.status == status
    assert reply.media_type == "application/problem+json"
    assert detail in json.loads(reply.body)["detail"]
    assert not reply.retire


@pytest.mark.parametrize(
    ("operation", "parameters", "status", "detail"),
    [
        ("ngrams", {"pattern": "a", "limit": "many"}, 422, "limit: give a whole number"),
        ("ngrams", {}, 422, "pattern: is missing"),
        ("kwic", {"pattern": "a", "cql": "[]"}, 400, "a pattern and a query in CQL exclude each other"),
    ],
)
def test_what_is_asked_is_read_before_a_worker_gets_it(
    operation: str, parameters: Any, status: int, detail: str
) -> None:
    """What no worker could answer is refused in the front, in the same words."""
    with pytest.raises(Refused) as refused:
        read(operations()[operation], parameters)

    assert refused.value.status == status
    assert detail in refused.value.document.detail


@pytest.mark.parametrize(
    ("error", "status", "retires"), [(MemoryError(), 413, True), (KeyError("k"), 500, False)]
)
def test_mistakes(
    lookup: Context,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: Exception,
    status: int,
    retires: bool,
) -> None:
    """A bug is a 500 without details, which stand in the log; a worker without memory is replaced."""

    def fail(*given: object) -> None:
        raise error

    operation = operations("lookup")["corpora"]
    monkeypatch.setitem(operations("lookup"), "corpora", replace(operation, run=fail))  # type: ignore[arg-type]

    reply = ask(lookup, "corpora")

    assert (reply.status, reply.retire) == (status, retires)
    assert "KeyError" not in reply.body.decode()
    assert ("KeyError" in capsys.readouterr().err) == (status == 500)


def chained(way: str, error: Exception) -> Exception:
    """The error by itself, or as what another one comes from."""
    if way == "itself":
        return error
    try:
        try:
            raise error
        except duckdb.Error as first:
            if way == "cause":
                raise StoreError("x") from first
            raise StoreError("x") from None
    except StoreError as told:
        return told


@pytest.mark.parametrize("way", ["itself", "cause", "context"])
@pytest.mark.parametrize("error", [duckdb.FatalException("x"), duckdb.InternalException("y")])
def test_a_broken_database_is_replaced_whatever_says_so(
    lookup: Context,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: Exception,
    way: str,
) -> None:
    """In the words of the library, too; and when it is asked whether it is well."""
    raised = chained(way, error)

    def fail(*given: object) -> None:
        raise raised

    operation = operations("lookup")["corpora"]
    monkeypatch.setitem(operations("lookup"), "corpora", replace(operation, run=fail))  # type: ignore[arg-type]
    assert worker.answer(lookup, wire.PING) == Reply(200)
    monkeypatch.setattr(worker, "one_row", fail)

    for reply in (ask(lookup, "corpora"), worker.answer(lookup, wire.PING)):
        assert (reply.status, reply.retire) == (503, True)
        assert json.loads(reply.body)["type"] == "urn:sentgen:problem:worker-died"
    assert "Traceback" in capsys.readouterr().err


def test_sql_is_asked_on_a_locked_connection(opening: Opening, demo: Path) -> None:
    """The SQL worker has no store, only the connection that cannot be unlocked."""
    with readonly.open_locked_store(demo) as duck:
        context = Context(replace(opening, kind="sql"), locked=duck)

        good = ask(context, "sql", sql="select ? + 1 as n", parameters=[2])
        bad = ask(context, "sql", sql="attach 'x'")

    assert json.loads(good.body)["rows"] == [{"n": 3}]
    assert bad.status == 400
    with pytest.raises(RuntimeError):
        _ = context.opened


def test_errors_of_memory_are_known_by_their_cause() -> None:
    """The words of a message do not matter."""
    short = QueryRejected("x")
    short.__cause__ = duckdb.OutOfMemoryException("y")

    assert _ran_short(short)
    assert _ran_short(MemoryError())
    assert not _ran_short(NotFoundError("no corpus 'memory'"))
    assert not _ran_short(None)


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
    """Without one, relations need trees; with one they do not. The files of a request are gone after it."""
    monkeypatch.chdir(tmp_path)
    asked = {"summary": "The camp received water.", "against": "Trucks brought water to the camp."}
    plain = Context(replace(opening, kind="compute"))
    parsing = Context(replace(opening, kind="compute", parser=f"udpipe:{tiny_model}"))

    refused = ask(plain, "check", **asked, lemmas=True)
    words = json.loads(ask(plain, "check", **asked).body)
    told = ask(parsing, "check", **asked)

    assert refused.status == 400
    assert "no tree here" in json.loads(refused.body)["detail"]
    assert told.status == 200
    assert json.loads(told.body)["more"].keys() >= {"precision", "words", "changed", "new"}
    assert [row["word"] for row in words["rows"]] == ["The", "camp", "received", "water", "."]
    assert words["more"].keys() == {"words", "changed", "new"}
    assert "the server's parser" in words["notes"][1]
    assert list(tmp_path.iterdir()) == []


def test_a_worker_speaks_only_through_its_pipe(opening: Opening, tmp_path: Path) -> None:
    """Started as the front does it, it says that it is ready, answers, and ends with its input."""
    command = [sys.executable, "-P", "-m", "sentgen.server", wire.encode(opening)]

    done = subprocess.run(
        command, input=wire.pack(call("corpora", "csv")), capture_output=True, cwd=tmp_path, check=True
    )

    ready, taken, told = replies(done.stdout)
    assert ready == Reply(200)
    assert taken == Reply(102)
    assert told.body.startswith(b"corpus,")


def replies(data: bytes) -> list[Reply]:
    """The messages of a worker until its end."""

    async def received() -> list[Reply]:
        reader = asyncio.StreamReader()
        reader.feed_data(data)
        reader.feed_eof()
        found = []
        while not reader.at_eof():
            found.append(await wire.receive(reader))
        return found

    return asyncio.run(received())


def test_a_worker_that_cannot_start_says_why(opening: Opening, tmp_path: Path) -> None:
    """The first message is the error."""
    none = replace(opening, store=str(tmp_path / "none.duckdb"))
    command = [sys.executable, "-P", "-m", "sentgen.server", wire.encode(none)]

    done = subprocess.run(command, input=b"", capture_output=True, cwd=tmp_path, check=True)

    (said,) = replies(done.stdout)
    assert said.status == 503
    assert b"no store here" in said.body


def test_a_store_that_lets_attacks_through_is_not_opened(
    demo: Path, opening: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the locks do not hold, there is no worker."""

    def broken(*given: object, **named: object) -> None:
        raise StoreError("let through what it must refuse")

    monkeypatch.setattr(readonly, "lock", broken)

    for kind in ("lookup", "sql"):
        with pytest.raises(StoreError, match="let through"):
            worker._open_context(replace(opening, kind=kind))


def test_a_worker_may_make_temporary_folders(opening: Opening, tmp_path: Path) -> None:
    """Where it may not write beside the snapshot, it spills there; Python tries such places with a file."""
    code = """
import sys, tempfile
from sentgen.server import wire
from sentgen.server.operations import Opening
from sentgen.server.worker import confine
confine(wire.decode(sys.argv[1], Opening))
print(tempfile.mkdtemp())
"""
    done = subprocess.run(
        [sys.executable, "-c", code, wire.encode(opening)],
        env={"TMPDIR": str(tmp_path), "PATH": ""},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.stdout.startswith(str(tmp_path)), done.stderr


def test_a_desk_that_is_gone_is_not_named(
    opening: Opening, demo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where it was is for whoever runs the server, who finds it in the log."""
    here = replace(opening, kind="desk", desk=str(tmp_path / "private" / "class.desk"))
    with Store(demo, read_only=True) as store:
        reply = ask(Context(here, store), "line_sets")

    assert reply.status >= 400
    assert str(tmp_path).encode() not in reply.body
    assert str(tmp_path) in capsys.readouterr().err


def test_a_client_may_put_so_much_on_the_desk(
    opening: Opening, demo: Path, desk: Path, tmp_path: Path
) -> None:
    """Each address by itself; how much is left is said before, and with what was done."""
    file = tmp_path / "class.desk"
    file.write_bytes(desk.read_bytes())
    limits = replace(opening.limits, desk_sets=2)
    told = []
    with Store(demo, read_only=True) as store:
        context = Context(replace(opening, kind="desk", desk=str(file), limits=limits), store)
        for name, client in (("a", "1.1.1.1"), ("b", "1.1.1.1"), ("c", "1.1.1.1"), ("c", "::2")):
            asked = replace(call("new_lines", name=name, pattern="camp"), client=client)
            reply = worker.answer(context, asked)
            notes = json.loads(reply.body).get("notes", [])
            told.append((reply.status, [note for note in notes if "you have" in note]))

    near = ["you have made 2 of the 2 line sets that you may make here"]
    assert told == [(200, []), (200, near), (400, []), (200, [])]
