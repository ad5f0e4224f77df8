"""No answer tells a path, a text of the engine, or the words of a library; the log of the server does."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
from serving import ask

from sentgen.errors import InputError, PluginError, SentgenError, StoreError
from sentgen.schema import Store, readonly
from sentgen.schema.store import raw, translated_errors
from sentgen.server import parameters, problems
from sentgen.server.operations import Opening, operations
from sentgen.server.operations.operation import Context, Nothing, Operation
from sentgen.server.parameters import read
from sentgen.server.problems import Refused
from sentgen.server.wire import Call, Reply
from sentgen.server.worker import _open_context, answer

PLACE = "/srv/hidden/store.duckdb"
#: What DuckDB says, and what the file system does, of which no answer may have anything.
ENGINE = sorted(
    {
        one
        for one in vars(duckdb).values()
        if isinstance(one, type) and issubclass(one, duckdb.Error) and one is not duckdb.InterruptException
    },
    key=lambda one: one.__name__,
)
#: Words of libraries, paths, and advice for whoever has the settings of DuckDB.
FOREIGN = re.compile(
    r"/srv|/tmp|\b\w+ Error:|duckdb|LocalFileSystem|\bSET\b|PRAGMA|https?://|Traceback|Input should|Field required"
    r"|Extra inputs|Value error|should have|should be|valid|pydantic|parsing|constrained|str_|\bctx\b|<class",
    re.IGNORECASE,
)


@pytest.fixture
def context(opening: Opening) -> Context:
    """What operations get that fail before they ask the store."""
    return Context(opening)


def failing(
    context: Context, operation: Operation, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> Reply:
    """Ask a worker for an operation that fails within the library."""

    def fail(*given: object) -> None:
        # As `Store` does it for everything that is asked of it.
        with translated_errors(Path(PLACE)):
            raise error

    # Without parameters, so that nothing is wrong with these.
    made = replace(operation, run=fail, declaration=Nothing)
    monkeypatch.setitem(operations(operation.kind), operation.name, made)
    own = replace(context, opening=replace(context.opening, kind=operation.kind))
    return answer(own, Call(operation.name, b"{}"))


def told(message: Reply) -> str:
    """The detail of a problem: one line with nothing foreign in it."""
    document = json.loads(message.body)
    assert not FOREIGN.search(document["detail"]), document["detail"]
    assert "\n" not in document["detail"]
    assert set(document) <= {"type", "title", "status", "detail"}
    return str(document["detail"])


FAILURES: list[tuple[str, Exception, tuple[int, ...]]] = [
    *(
        (
            one.__name__,
            one(f"{one.__name__} Error: no SET of {PLACE}"),
            (413,) if "Memory" in one.__name__ else (503,),
        )
        for one in ENGINE
    ),
    (
        "a spill",
        duckdb.PermissionException("Permission Error: File system LocalFileSystem has been disabled"),
        (413,),
    ),
    ("no file", FileNotFoundError(2, "No such file", PLACE), (503,)),
    ("full", OSError(28, "No space left on device", PLACE), (503,)),
    ("memory", MemoryError(f"in {PLACE}"), (413,)),
    ("a bug", KeyError(PLACE), (500,)),
    ("a store", StoreError(f"{PLACE}: out of order"), (503,)),
    ("a plug-in", PluginError(f"has failed: IO Error: {PLACE}", plugin="the reader x"), (500,)),
    ("an input", InputError(f"IO Error: {PLACE}"), (400,)),
]


@pytest.mark.nightly(by_day=12)
@pytest.mark.parametrize(("name", "error", "status"), FAILURES, ids=[one[0] for one in FAILURES])
def test_no_failure_tells_of_the_machine(
    context: Context,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    error: Exception,
    status: tuple[int, ...],
) -> None:
    """Of any operation; what it was stands in the log of the server."""
    for operation in (*operations("lookup").values(), *operations("compute").values()):
        message = failing(context, operation, monkeypatch, error)

        assert message.status in status, operation.name
        assert told(message)
        assert str(error).splitlines()[0][:20] in capsys.readouterr().err.replace("\\", "")


def test_a_place_of_the_server_is_not_told(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the store lies, where the worker runs, and what file the parser is."""
    own = replace(context, opening=replace(context.opening, parser="udpipe:/models/en.udpipe"))
    for place in (context.opening.store, str(Path.cwd()), "/models/en.udpipe"):
        message = failing(own, operations()["corpora"], monkeypatch, InputError(f"{place}: cannot be read"))
        assert (message.status, told(message)) == (400, problems.UNREADABLE)


def test_what_a_request_says_itself_is_told(opening: Opening, demo: Path) -> None:
    """A name that looks like an error of the engine, or like a path, is a name."""
    for name in ("Binder Error: x", str(demo)):
        with Store(demo, read_only=True) as store:
            message = ask(Context(opening, store), "corpus", name=name)
        assert (message.status, f"no corpus {name!r}" in message.body.decode()) == (404, True)


def test_what_would_spill_is_refused_with_what_to_do(opening: Opening, demo: Path, monkeypatch: Any) -> None:
    """A worker has no files: DuckDB says that a file system is disabled, the server what to ask for."""

    def spill(context: Context, parameters: object) -> None:
        with context.opened.connect() as connection:
            raw(connection).execute(
                "select distinct i, repeat('x', 90) || i from range(900000) t(i)"
            ).fetchall()

    monkeypatch.setitem(operations("lookup"), "corpora", replace(operations("lookup")["corpora"], run=spill))  # type: ignore[arg-type]
    with Store(demo, read_only=True, memory_limit=20 << 20, threads=1) as store:
        with store.connect() as connection:
            readonly.lock(raw(connection), demo)
        message = ask(Context(opening, store), "corpora")

    assert message.status == 413
    assert message.retire
    assert "ask for less" in told(message)
    assert "sentgen serve --worker-memory" in told(message)


def test_a_snapshot_that_is_gone_is_told_to_the_log_alone(opening: Opening, tmp_path: Path) -> None:
    """A worker that cannot open it never answers: requests wait for one that can, and are told to come again."""
    with pytest.raises(SentgenError):
        _open_context(replace(opening, store=str(tmp_path / "gone.duckdb")))


@pytest.mark.nightly(by_day=6)
@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("selec 1", 'syntax error at or near "selec"'),
        ("select x from word", 'column "x" not found'),
        ("select nope(1)", "nope"),
        ("select * from nope", "no table or view 'nope'"),
        ("select 'a'::integer", "Could not convert"),
        ("select form, count(*) from word", "GROUP BY"),
        ("select 1 + [1]", "No function matches"),
        ("select ?", "give them with"),
        ("select error('x')", "x"),
        ("select * from read_text('x')", "read_text"),
        ("select 9223372036854775807 + 1 + 9223372036854775807", ""),
        ("select regexp_matches('a', '(')", ""),
        ("select '2020-13-45'::date", ""),
        (f"select {' and '.join(['true'] * 1500)}", ""),
    ],
)
def test_sql_that_is_wrong_is_told_without_the_words_of_the_engine(
    opening: Opening, demo: Path, sql: str, said: str
) -> None:
    """What is wrong with the query is, as its language is that of DuckDB; its classes and settings are not."""
    with readonly.open_locked_store(demo) as duck:
        message = ask(Context(replace(opening, kind="sql"), locked=duck), "sql", sql=sql)

    if message.status != 200:
        assert message.status == 400
        assert said in json.loads(message.body)["detail"]
        assert not re.search(r"\b[A-Z]\w+ Error:|\bSET\b|https?:|/tmp", json.loads(message.body)["detail"])


@pytest.mark.parametrize("error", ENGINE, ids=lambda one: one.__name__)
def test_sql_that_fails_for_no_fault_of_its_own(error: type[Exception]) -> None:
    """Of files, memory and DuckDB itself nothing is told, whatever class it is of."""
    with pytest.raises(SentgenError) as caught, readonly._query_errors():
        raise error(f'{error.__name__} Error: cannot open. Use "SET x" to open it')
    assert not FOREIGN.search(str(caught.value))


BAD: tuple[Any, ...] = (
    *(None, [], {}, "", "x", "\ud800", -(10**9), 10**30, 1e400, float("nan"), 1.5, True, [1], [[]], [None]),
    *({"a": 1}, {"a": []}, [{}], [{"x": 1}], "x" * 1_000_001, ["x"] * 1_001, list(range(300))),
)


@pytest.mark.parametrize("name", list(operations()))
def test_every_mistake_in_parameters_is_told_in_our_words(name: str) -> None:
    """Any wrong value of any parameter of any operation, and one that there is not."""
    operation = operations()[name]
    good = dict(operation.example)
    for one in operation.names():
        for value in BAD:
            try:
                read(operation, {**good, one: value})
            except Refused as refusal:
                message = refusal.document.detail
                assert not FOREIGN.search(message), message
                if refusal.status == 422:
                    assert one in message or "is missing" in message
                assert len(message) < 1_000
        mistyped = one[:-1] + one[-1] * 2
        with pytest.raises(Refused, match=f"{mistyped}: there is no such parameter, did you mean {one}"):
            read(operation, {**good, mistyped: 1})


def test_the_kinds_of_mistakes_have_words() -> None:
    """Of what the parameters of operations are made of, only what may be of several kinds has none."""
    asked = {"bag": "x", "model": 1, "best": -1, "seed": "x", "tree": "x", "limt": 1}
    with pytest.raises(Refused) as refused:
        read(operations()["regenerate"], asked)

    told = refused.value.document.detail

    assert parameters._OTHER not in told
    assert "bag: give a list" in told
    assert "model: give a text" in told
