"""Users and their rights: no answer shows anything of corpora that a user may not see."""

from __future__ import annotations

import asyncio
import dataclasses
import gc
import re
import shutil
import time
import weakref
from collections.abc import Iterator, Mapping
from importlib.resources import files
from itertools import product
from pathlib import Path
from urllib.parse import quote, quote_plus

import httpx
import marked_store
import pytest
from marked_store import MARKS
from markupsafe import escape
from serving import Server, serving, until
from sql_attacks import ATTACKS
from starlette.types import Message, Receive, Scope, Send

import sentgen.server.audiences
from sentgen.counts.corpora import remove
from sentgen.desk.desk import desk_of
from sentgen.errors import InputError
from sentgen.schema import Store, snapshots
from sentgen.schema.base import metadata
from sentgen.schema.manifests import Snapshot
from sentgen.server.app import AccessMiddleware, _Applications
from sentgen.server.audiences import Audiences
from sentgen.server.monitoring import Metrics
from sentgen.server.operations import Kind, Limits, operations
from sentgen.server.operations.operation import Operation
from sentgen.server.pages.page import Page
from sentgen.server.pages.site import PAGES
from sentgen.server.pool import Health
from sentgen.server.service import Service
from sentgen.server.settings import ServerSettings
from sentgen.server.users import USER, UserFile, _read_users, digest_of, new_token

VIEWS = sorted(view.name for view in files("sentgen.schema").joinpath("views").iterdir())
A, B = MARKS
#: Who may see what of the store of tests/marked_store.py: nothing, one part, the other, all.
RIGHTS = {
    "nobody": [],
    "one": [f"{A}trees", f"{A}text", f"{A}pairs"],
    "other": [f"{B}trees", f"{B}text", f"{B}pairs"],
    "boss": "all",
}
#: What nothing that each is told may hold.
HIDDEN = {"nobody": MARKS, "one": (B,), "other": (A,)}
TOKENS = {user: f"token-of-{user}-0123456789" for user in RIGHTS}


def write_users(path: Path, **rights: object) -> Path:
    """Write a file of users with their corpora."""
    parts = [
        f'[users.{user}]\ntoken = "{digest_of(TOKENS[user].encode())}"\ncorpora = {corpora!r}\n'
        for user, corpora in rights.items()
    ]
    path.write_text("\n".join(parts))
    return path


# ---- the file


def test_a_user_sees_the_corpora_of_groups_and_of_its_own(tmp_path: Path) -> None:
    """One group that sees all makes all of it; a user may have several tokens, as while one is changed."""
    tokens = [new_token() for _ in range(4)]
    (tmp_path / "users.toml").write_text(
        f"""
        [users.ann]
        token = ["{tokens[0][1]}", "{tokens[1][1]}"]
        groups = ["syntax"]
        corpora = ["novels"]
        [users.ben]
        token = "{tokens[2][1]}"
        groups = ["syntax", "staff"]
        [users.eve]
        token = "{tokens[3][1]}"
        [groups.syntax]
        corpora = ["ewt", "gum"]
        [groups.staff]
        corpora = "all"
        """
    )
    users = UserFile(tmp_path / "users.toml")

    found = [users.find(token.encode()) for token, _ in tokens]
    assert [(user.name, user.corpora) for user in found if user] == [
        ("ann", {"ewt", "gum", "novels"}),
        ("ann", {"ewt", "gum", "novels"}),
        ("ben", None),
        ("eve", frozenset()),
    ]
    assert users.find(tokens[0][1].encode()) is None  # the hash is no token
    assert users.audiences == {frozenset({"ewt", "gum", "novels"}), None, frozenset()}


GOOD = f'token = "sha256:{"0" * 64}"'


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", r"there are no users in it; add one with: \[users.NAME\]"),
        ("[users.ann", "is not the TOML of a file of users: "),
        ("users = 3", r"users is a table: \[users.NAME\]"),
        ("[users]\nann = 3", r"users.ann is a table: \[users.ann\]"),
        ("[people.ann]", "'people' is neither users nor groups"),
        ("[users.ann]\ncorpora = 'all'", "users.ann: token is a hash that `sentgen token` prints"),
        ("[users.ann]\ntoken = 'my secret'", "users.ann: token is a hash that `sentgen token` prints"),
        (f"[users.ann]\n{GOOD}\nlets = 3", "users.ann: 'lets' is unknown; there are: corpora, groups, token"),
        (f"[users.ann]\n{GOOD}\ncorpora = 3", "users.ann: corpora is a text, or a list of texts"),
        (f"[users.ann]\n{GOOD}\ngroups = 'x'", r"users.ann: there is no \[groups.x\]"),
        (f"[users.ann]\n{GOOD}\n[users.ben]\n{GOOD}", "ann and ben have the same token"),
    ],
)
def test_a_file_that_is_wrong_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    """The error has one line, and says what to write."""
    (tmp_path / "users.toml").write_text(text)

    with pytest.raises(InputError, match=f"^{re.escape(str(tmp_path))}/users.toml: {problem}"):
        _read_users(tmp_path / "users.toml")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """Nor one that is no text."""
    with pytest.raises(InputError, match="cannot be read: No such file"):
        _read_users(tmp_path / "none")


def test_who_is_struck_out_is_not_let_in(tmp_path: Path) -> None:
    """The file is looked at each time; while it is wrong nobody is let in, and then all are again."""
    users = UserFile(write_users(tmp_path / "users.toml", one=["pets"], boss="all"))
    assert users.find(TOKENS["one"].encode())

    write_users(tmp_path / "users.toml", boss="all")
    assert users.find(TOKENS["one"].encode()) is None

    (tmp_path / "users.toml").write_text("[users")
    assert (users.readable, users.find(TOKENS["boss"].encode())) == (False, None)

    (tmp_path / "users.toml").unlink()
    assert not users.readable

    write_users(tmp_path / "users.toml", boss="all")
    assert users.find(TOKENS["boss"].encode())


def test_files_of_line_sets_are_apart() -> None:
    """Names are told from each other, and stay names of files."""
    desks = [desk_of(Path("x.desk"), names) for names in (["a", "b"], ["a+b"], ["a/b"], ["a" * 300])]

    assert [str(desk) for desk in desks[:3]] == ["x-a+b.desk", "x-a%2Bb.desk", "x-a%2Fb.desk"]
    assert len(str(desks[3])) < 50
    assert desks[3] != desk_of(Path("x.desk"), [str(desks[3].stem).removeprefix("x-")])
    assert desk_of(Path("x.desk"), ["a-b"]) != desk_of(Path("x-a.desk"), ["b"])
    assert desk_of(None, ["a"]) is None


# ---- the gate


async def _slow(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with the name of the user, after a while."""
    await asyncio.sleep(0.1)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": scope[USER].name.encode()})


def test_a_user_has_so_many_requests_at_a_time(tmp_path: Path) -> None:
    """More are refused; those of others are answered meanwhile, and afterwards there is room again."""
    users = UserFile(write_users(tmp_path / "users.toml", one=["pets"], boss="all"))
    settings = ServerSettings(Path(), users=users, limits=Limits(user_requests=2))
    transport = httpx.ASGITransport(AccessMiddleware(_slow, settings=settings, metrics=Metrics()))

    async def ask() -> list[tuple[int, str]]:
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            askers = [*["one"] * 4, "boss"]
            answers = await asyncio.gather(*(client.get("/v1/x", headers=token_of(user)) for user in askers))
            answers += [await client.get("/v1/x", headers=token_of("one"))]
            return [(answer.status_code, answer.text) for answer in answers]

    statuses = asyncio.run(ask())
    assert sorted(status for status, _ in statuses[:4]) == [200, 200, 429, 429]
    assert statuses[4:] == [(200, "boss"), (200, "one")]


def token_of(user: str) -> dict[str, str]:
    """Return the header with the token of a user."""
    return {"Authorization": f"Bearer {TOKENS[user]}"}


# ---- services and applications


class Audience(Service):
    """A service that is well in some way, without workers."""

    well: Health = "ok"

    async def start(self) -> None:
        """Start nothing."""

    async def health(self) -> dict[Kind, Health]:
        """Say how it is."""
        return dict.fromkeys(self.settings.kinds, self.well)

    @property
    def snapshot(self) -> Snapshot:
        """A snapshot with the corpora of the tests."""
        return Snapshot(Path("x.duckdb"), "", 0, "", tuple({"name": each} for each in "ab"), (), {})  # type: ignore[misc]


@pytest.fixture
def audiences(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Audiences:
    """Those of users who see the corpora `a` and `b`, all, and one that is not there."""
    monkeypatch.setattr(sentgen.server.audiences, "Service", Audience)
    users = UserFile(write_users(tmp_path / "users.toml", one=["a"], other=["b"], nobody=["c"], boss="all"))
    return Audiences(ServerSettings(Path(), users=users, poll=0.01))


def test_the_health_is_that_of_the_workers_of_all(audiences: Audiences) -> None:
    """Of a kind, the worst tells; what is not there yet starts, and what cannot start fails."""

    async def seen() -> list[set[Health]]:
        found = [set((await audiences.health()).values())]
        await audiences.start()
        found.append(set((await audiences.health()).values()))
        for well in ("busy", "failing"):
            audiences._services[frozenset("b")].well = well  # type: ignore[attr-defined]
            found.append(set((await audiences.health()).values()))
        del audiences._services[frozenset("b")]
        audiences._failed[frozenset("b")] = audiences.whole.snapshot.name
        found.append(set((await audiences.health()).values()))
        await audiences.stop()
        return found

    assert asyncio.run(seen()) == [{"starting"}, {"ok"}, {"busy"}, {"failing"}, {"failing"}]


def test_what_nobody_may_see_any_more_leaves_memory(audiences: Audiences) -> None:
    """The service ends with its application; others go on, and who gets the corpora again has a new one."""
    assert audiences.settings.users is not None
    users = audiences.settings.users.path
    applications = _Applications(audiences)

    async def ask(user: str) -> int:
        found: list[int] = []

        async def send(message: Message) -> None:
            found.append(message.get("status", 0))

        async def receive() -> Message:
            return {"type": "http.request"}

        given = audiences.settings.users and audiences.settings.users.find(TOKENS[user].encode())
        scope = {"type": "http", "method": "GET", "path": "/static/style.css", "headers": [], USER: given}
        await applications({**scope, "query_string": b"", "http_version": "1.1"}, receive, send)
        return found[0]

    async def asked() -> None:
        await audiences.start()
        assert [await ask(user) for user in ("one", "other", "boss")] == [200] * 3
        application = weakref.ref(applications._applications[audiences._services[frozenset("a")]].result())
        write_users(users, other=["b"], boss="all")
        while len(applications._applications) > 2:
            await asyncio.sleep(0.01)
        gc.collect()
        assert application() is None
        assert [await ask(user) for user in ("other", "boss")] == [200] * 2
        write_users(users, one=["a"], other=["b"], boss="all")
        while frozenset("a") not in audiences._services:
            await asyncio.sleep(0.01)
        assert await ask("one") == 200
        await audiences.stop()

    asyncio.run(asked())


# ---- the server


class Guarded:
    """A server of a marked store for users with different rights."""

    def __init__(self, server: Server, users: Path) -> None:
        self.server, self.users = server, users

    def ask(self, user: str, method: str, url: str, **given: object) -> httpx.Response:
        """Send a request of a user."""
        return self.server.client.request(method, url, headers=token_of(user), **given)  # type: ignore[arg-type]

    def names(self, user: str, path: str, column: str) -> set[str]:
        """Return the values of a column of an answer."""
        return {row[column] for row in self.ask(user, "GET", f"/v1/{path}").json()["rows"]}


def require_hidden(user: str, answer: httpx.Response, given: Mapping[str, object]) -> None:
    """Fail if an answer has a mark that is not the user's, but for what was asked."""
    content = answer.text + "".join(f"{name}: {value}\n" for name, value in answer.headers.items())
    for value in _texts(given):
        for form in (value, str(escape(value)), quote(value), quote_plus(value)):
            content = content.replace(form, "")
    for mark in HIDDEN[user]:
        at = content.lower().find(mark)
        assert at < 0, f"{user} is told of {content[max(at - 200, 0) : at + 200]}"


def _texts(given: object) -> Iterator[str]:
    """Yield the texts in what was asked, longer ones first."""
    if isinstance(given, str):
        yield given
    elif isinstance(given, Mapping | list):
        values = given.values() if isinstance(given, Mapping) else given
        yield from sorted((text for value in values for text in _texts(value)), key=len, reverse=True)


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    """A server of users with different rights."""
    folder = tmp_path_factory.mktemp("users")
    snapshots.publish(marked_store.make(folder), folder / "snapshots")
    users = write_users(folder / "users.toml", **RIGHTS)
    options = ("--snapshots", folder / "snapshots", "--users", users, "--desk", folder / "class.desk")
    with serving(folder, *options, "--workers", 1, "--no-warm-up") as server:
        yield Guarded(server, users)


def test_corpora_are_those_of_the_user(guarded: Guarded) -> None:
    """And models, vectors, subcorpora and saved queries, which are of corpora; who sees all has all."""
    lists = {"corpora": "corpus", "models": "name", "vectors": "name", "subcorpora": "name", "saved": "name"}
    for user, mark in (("one", A), ("other", B)):
        names = {name for path, column in lists.items() for name in guarded.names(user, path, column)}
        kinds = ("trees", "text", "pairs", "model", "space", "sub", "saved")
        assert names == {f"{mark}{kind}" for kind in kinds}
    assert guarded.names("boss", "models", "name") == {"xqamodel", "xqbmodel", "xqaxqbmodel"}
    assert len(guarded.names("boss", "corpora", "corpus")) == 6


#: What is asked: each operation as its documentation does, and with names and words of both; each page.
OPERATIONS = [operation for operation in operations().values() if operation.api]
_CORPORA = ("corpus", "against", "name", "pairs")
_WORDS = ("pattern", "word", "text", "head", "query", "cql", "request", "bag")


@pytest.mark.nightly(by_day=16)
@pytest.mark.parametrize("user", ["one", "other"])
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_no_operation_tells_of_other_corpora(guarded: Guarded, user: str, operation: Operation) -> None:
    """Not in rows, notes, SQL, suggestions, errors, headers or citations, in JSON or CSV."""
    fields = {field.name for field in dataclasses.fields(operation.declaration)}
    for mark, kind, form in (("", "nothere", "json"), *product(MARKS, ("trees", "pairs"), ("json", "csv"))):
        given = dict(operation.example)
        for name in fields.intersection(_CORPORA) & {*given, "corpus"}:
            given[name] = [f"{mark}{kind}"] if isinstance(given.get(name), list) else f"{mark}{kind}"
        if "model" in given:
            given["model"] = f"{mark}model"
        for name in fields.intersection(_WORDS) & set(given) if mark else ():
            given[name] = [f"{mark}dog"] if isinstance(given[name], list) else f"{mark}dog"
        require_hidden(user, _ask(guarded, user, operation, given, form), given)


def _ask(
    guarded: Guarded, user: str, operation: Operation, given: Mapping[str, object], form: str
) -> httpx.Response:
    route = re.sub(r"{(\w+)}", lambda found: str(given.get(found[1], "x")), operation.route)
    if operation.method == "POST":
        return guarded.ask(user, "POST", route, json=given, params={"format": form})
    return guarded.ask(user, "GET", route, params={**given, "format": form, "cite": form == "json"})


@pytest.mark.nightly(by_day=12)
@pytest.mark.parametrize("user", ["one", "other"])
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.path)
def test_no_page_tells_of_other_corpora(guarded: Guarded, user: str, page: Page) -> None:
    """Nor their forms, drop-down lists, suggestions and errors."""
    for mark in MARKS:
        corpus = {"name": f"{mark}trees", "corpus": f"{mark}trees", "model": f"{mark}model"}
        word = {"word": f"{mark}dog", "query": f'"{mark}dog"', "pattern": f"{mark}dog", "bag": f"{mark}dog"}
        document = {"document": f"{mark}doc", "sentence": f"{mark}s1", "pair": "p0", "set": f"{mark}set"}
        # What was asked is said back: the column of the statement by itself, too.
        statement = {"query": f"select {mark}dog from word", "word": f"{mark}dog"}
        for given in (
            {},
            corpus,
            word,
            corpus | word,
            corpus | document,
            corpus | {"show": "ngrams"},
            statement,
        ):
            answer = guarded.ask(user, "GET", page.path, params=given, follow_redirects=True)
            require_hidden(user, answer, {**given, "url": str(answer.request.url)})


@pytest.mark.parametrize("user", ["one", "other"])
def test_a_corpus_of_others_is_one_that_is_not_there(guarded: Guarded, user: str) -> None:
    """An answer on it is, word for word, that on a corpus that nobody has."""
    strange = f"{HIDDEN[user][0]}trees"
    asked = {
        "kwic": {"pattern": "dog"},
        "ngrams": {"pattern": "dog"},
        "frequencies": {"query": '"dog"'},
        "collocations": {"word": "dog"},
    }
    for path, given in asked.items():
        answers = [
            guarded.ask(user, "GET", f"/v1/{path}", params={**given, "corpus": name})
            for name in (strange, "zzzzzzzz")
        ]
        assert answers[0].text.replace(strange, "zzzzzzzz") == answers[1].text
        assert answers[0].status_code == answers[1].status_code == 404
    shown = [guarded.ask(user, "GET", f"/v1/corpora/{name}") for name in (strange, "zzzzzzzz")]
    assert shown[0].status_code == shown[1].status_code == 404
    assert shown[0].text.replace(strange, "zzzzzzzz") == shown[1].text


@pytest.mark.nightly(by_day=6)
@pytest.mark.parametrize("attack", ATTACKS)
def test_no_attack_tells_of_other_corpora(guarded: Guarded, attack: str) -> None:
    """SQL is refused to each user alike, and tells nothing."""
    sql = attack.format(file="store.duckdb", folder=".")
    for user in ("one", "other"):
        answer = guarded.ask(user, "POST", "/v1/sql", json={"sql": sql})
        assert answer.status_code == 400
        require_hidden(user, answer, {"sql": sql})


@pytest.mark.parametrize("user", ["one", "other"])
def test_no_tool_tells_of_other_corpora(guarded: Guarded, user: str) -> None:
    """What speaks MCP asks as its user, too: the list of tools, and each with names and words of both."""
    pytest.importorskip("mcp", reason="no SDK of MCP; install the extra `mcp`")
    from sentgen.server.tools import TOOLS

    headers = {**token_of(user), "Accept": "application/json, text/event-stream"}
    calls: list[tuple[str, dict[str, object]]] = [("tools/list", {})]
    for name, mark in product(TOOLS, MARKS):
        example = dict(operations()[name].example)
        words = {key: f"{mark}dog" for key in ("pattern", "word", "query") if key in example}
        given = {"arguments": {**example, **words}, "name": name}
        calls += [("tools/call", given), ("tools/call", {"arguments": example, "name": name})]
    calls.append(("tools/call", {"name": "sql", "arguments": {"sql": "select form from word"}}))
    for method, given in calls:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": given}
        answer = guarded.server.client.post("/mcp", json=message, headers=headers)
        assert answer.status_code == 200
        require_hidden(user, answer, given)


@pytest.mark.parametrize("user", ["one", "other"])
def test_tables_and_views_have_no_other_rows(guarded: Guarded, user: str) -> None:
    """All that a SELECT can see; who sees all sees rows of both in most of them."""
    for table in (*metadata.tables, *(view.removesuffix(".sql") for view in VIEWS)):
        answer = guarded.ask(user, "POST", "/v1/sql", json={"sql": f"select * from {table}"})
        require_hidden(user, answer, {})


def test_who_sees_nothing_is_told_so(guarded: Guarded) -> None:
    """Every route refuses such a user, but the one for the health of the server."""
    for path in ("/", "/v1/corpora", "/v1/openapi.json", "/static/style.css", "/metrics"):
        answer = guarded.ask("nobody", "GET", path)
        assert answer.status_code == 403
        require_hidden("nobody", answer, {})
    assert "snapshot" not in guarded.server.client.get("/healthz").json()


def test_the_metrics_are_for_those_who_see_all(guarded: Guarded) -> None:
    """Only users who see all corpora get metrics, as these count the requests of everybody."""
    statuses = [guarded.ask(user, "GET", "/metrics").status_code for user in ("one", "other", "boss")]

    assert statuses == [404, 404, 200]


def test_line_sets_are_of_those_who_see_the_same(guarded: Guarded) -> None:
    """A set has lines of a corpus: who may not see that one has no such set."""
    made = guarded.ask("one", "POST", "/v1/lines", json={"name": "dogs", "pattern": f"{A}dog"})
    assert made.status_code == 200, made.text

    sets = {user: guarded.ask(user, "GET", "/v1/lines").json()["rows"] for user in ("one", "other", "boss")}
    assert "dogs" in [row["name"] for row in sets["one"]]  # with that of the next test, in any order
    assert sets["other"] == sets["boss"] == []
    assert guarded.ask("other", "GET", "/v1/lines/dogs").status_code == 404


def test_labels_are_of_those_who_see_the_same(guarded: Guarded) -> None:
    """As keys, too; also asked one after the other, when an answer could be kept."""
    guarded.ask("one", "POST", "/v1/lines", json={"name": "hounds", "pattern": f"{A}dog"})
    guarded.ask("one", "POST", "/v1/lines/hounds/labels", json={"lines": "1", "label": "x", "labeler": "o"})

    for asked in ({"by": "lines.hounds"}, {"where": "lines.hounds = x"}, {"where": 'exists "lines.hounds"'}):
        answers = [
            guarded.ask(user, "GET", "/v1/frequencies", params=asked) for user in ("one", "other", "boss")
        ]
        assert [answer.status_code for answer in answers] == [200, 404, 404], answers[0].text
        assert all("there are" not in answer.text for answer in answers[1:])


def test_the_log_names_the_user(guarded: Guarded) -> None:
    """Both logs, of requests and of SQL, have the name of the user."""
    guarded.ask("one", "POST", "/v1/sql", json={"sql": "select 1 as marked"})
    guarded.ask("boss", "GET", "/v1/corpora")

    until(lambda: any("marked" in str(event) for event in guarded.server.events("sentgen.audit")))
    (event,) = [event for event in guarded.server.events("sentgen.audit") if "marked" in str(event)]
    assert event["user"] == "one"
    logged = {"one", "boss"}
    until(lambda: {event.get("user") for event in guarded.server.events("sentgen.access")} >= logged)


@pytest.mark.nightly
def test_rights_change_while_the_server_runs(guarded: Guarded) -> None:
    """Who is struck out is refused at once; who gets other corpora sees these as soon as they are made ready."""
    try:
        write_users(guarded.users, boss="all")
        began = time.monotonic()
        assert guarded.ask("one", "GET", "/v1/corpora").status_code == 401
        assert time.monotonic() - began < 1

        write_users(guarded.users, one=[f"{B}pairs"], boss="all")
        until(lambda: guarded.ask("one", "GET", "/v1/corpora").status_code == 200)
        assert guarded.names("one", "corpora", "corpus") == {f"{B}pairs"}

        guarded.users.write_text("[users")
        assert guarded.ask("boss", "GET", "/v1/corpora").status_code == 503
    finally:
        write_users(guarded.users, **RIGHTS)
    for user in ("one", "other"):
        until(lambda user=user: guarded.ask(user, "GET", "/v1/corpora").status_code == 200)


@pytest.mark.nightly
def test_a_newer_snapshot_has_new_excerpts(guarded: Guarded) -> None:
    """A corpus that is published anew is seen by those who may, and one that is gone by nobody."""
    folder = guarded.users.parent
    store = folder / "marked.duckdb"
    shutil.copy(store, folder / "less.duckdb")
    with Store(folder / "less.duckdb") as less:
        remove(less, f"{B}text")
    before = guarded.ask("one", "GET", "/v1/corpora").headers["Sentgen-Snapshot"]
    try:
        snapshots.publish(folder / "less.duckdb", folder / "snapshots")
        until(lambda: guarded.names("other", "corpora", "corpus") == {f"{B}trees", f"{B}pairs"})
        # What others have lost changes nothing of one's own, not the name of what answers.
        assert guarded.names("one", "corpora", "corpus") == set(RIGHTS["one"])
        assert guarded.ask("one", "GET", "/v1/corpora").headers["Sentgen-Snapshot"] == before
    finally:
        snapshots.publish(store, folder / "snapshots")
        until(lambda: guarded.names("other", "corpora", "corpus") == set(RIGHTS["other"]))
