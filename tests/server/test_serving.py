"""The server goes on: workers die, deadlines pass, queues fill, snapshots come, signals end it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from fastapi.routing import APIRoute
from serving import PATIENCE, ROOT, Server, kind_of, serving, until, worker_of, workers_of, works

from sentgen.cli import main
from sentgen.schema import Store, snapshots
from sentgen.schema.manifests import Snapshot
from sentgen.server import routes
from sentgen.server.pages import site
from sentgen.server.settings import ServerSettings

#: Runs until somebody ends it.
ENDLESS = "select count(*) from range(1000000000000) a"


@pytest.fixture(scope="module")
def written(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of its own, which is written to while it is served."""
    return Path(shutil.copy(demo, tmp_path_factory.mktemp("written") / "store.duckdb"))


@pytest.fixture(scope="module")
def quick(written: Path, tmp_path_factory: pytest.TempPathFactory):  # type: ignore[no-untyped-def]
    """A server of that store: it asks for a token, SQL has a second, and one request may wait."""
    folder = tmp_path_factory.mktemp("quick")
    (folder / "tokens").touch(0o600)
    (folder / "tokens").write_text("# no comment: a token\n0123456789abcdef\n")
    limits = ("--no-warm-up", "--workers", 1, "--sql-timeout", 1, "--max-queue", 1)
    options = ("--db", written, *limits, "--token-file", folder / "tokens")
    with serving(folder, *options, headers={"authorization": "Bearer 0123456789abcdef"}) as running:
        yield running


def test_a_worker_killed_in_mid_request_is_replaced(server: Server) -> None:
    """The client gets a clear 503; the next request is answered by a new worker."""
    until(lambda: server.pools()["sql"] == 1)
    worker = worker_of(server, "sql")
    busy = works(worker)  # before it has begun, another worker would be asked
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(server.client.post, "/v1/sql", json={"sql": ENDLESS})
        until(busy)
        os.kill(worker, signal.SIGKILL)
        answer = asked.result()

    assert answer.status_code == 503
    assert answer.json()["type"] == "urn:sentgen:problem:worker-died"
    assert "died" in answer.json()["detail"]
    assert server.client.post("/v1/sql", json={"sql": "select 1 as x"}).json()["rows"] == [{"x": 1}]
    assert worker_of(server, "sql") != worker


@pytest.mark.slow
def test_a_request_that_matches_too_much_is_cut(quick: Server) -> None:
    """Look-ups have the deadline of SQL: every set of six tokens in each sentence takes too long to count."""
    request = "pattern { A []; B []; C []; D []; E []; F [] }"

    answer = quick.client.get("/v1/match", params={"request": request, "count": True})

    assert answer.status_code == 504
    assert answer.json()["type"] == "urn:sentgen:problem:deadline"
    until(lambda: quick.pools()["lookup"] == 1)


def test_an_idle_worker_that_dies_is_replaced(server: Server) -> None:
    """No request fails."""
    worker = worker_of(server, "lookup")
    os.kill(worker, signal.SIGKILL)
    until(lambda: worker not in workers_of(server) and server.pools()["lookup"] == 1)

    assert server.client.get("/v1/corpora").status_code == 200


@pytest.mark.slow
def test_deadlines_and_queues(quick: Server) -> None:
    """What takes too long is ended; what finds too many waiting is refused; other kinds go on meanwhile."""
    with ThreadPoolExecutor(3) as pool:
        asked = [pool.submit(quick.client.post, "/v1/sql", json={"sql": ENDLESS})]
        until(lambda: quick.pools()["sql"] == 0)
        asked.append(pool.submit(quick.client.post, "/v1/sql", json={"sql": ENDLESS}))
        until(lambda: quick.pools("waiting")["sql"] == 1 or asked[0].done())
        refused = quick.client.post("/v1/sql", json={"sql": "select 1"})
        meanwhile = quick.client.get("/v1/ngrams", params={"pattern": "the *"})
        first, second = (one.result() for one in asked)

    assert first.status_code == 504
    assert first.json()["type"] == "urn:sentgen:problem:deadline"
    assert refused.status_code == 429
    assert refused.headers["retry-after"] == "1"
    assert meanwhile.status_code == 200
    assert second.status_code in (
        429,
        504,
    )  # it waited a second for a worker, or got one that then took too long
    until(lambda: quick.pools()["sql"] == 1)
    assert quick.client.post("/v1/sql", json={"sql": "select 1 as x"}).status_code == 200


def test_a_query_that_takes_all_memory(server: Server) -> None:
    """It fails, by itself or with its worker, and the server goes on."""
    greedy = "select list(repeat('x', 10000) || a) from range(10000000) t(a)"

    answer = server.client.post("/v1/sql", json={"sql": greedy})

    assert answer.status_code in (400, 413, 503, 504), answer.text
    assert server.client.post("/v1/sql", json={"sql": "select 1 as x"}).json()["rows"] == [{"x": 1}]


def test_workers_are_confined(server: Server) -> None:
    """Each has its limits; only computation and line sets may write files."""
    until(lambda: all(server.pools().values()))  # one that a test before has ended has its limits again
    for worker in workers_of(server):
        limits = Path(f"/proc/{worker}/limits").read_text().splitlines()
        found = {line[:26].strip(): line[26:].split()[0] for line in limits}

        assert int(found["Max data size"]) == 2 * 2**30
        written = {"compute": 64 * 2**20, "desk": 2**30}
        assert int(found["Max file size"]) == written.get(kind_of(worker), 0)
        assert found["Max core file size"] == "0"
        assert b"TOKEN" not in Path(f"/proc/{worker}/environ").read_bytes()


def test_the_front_never_opens_the_snapshot(server: Server, published: Path) -> None:
    """Only workers have it open, each of them once it has started, whatever ended one that was there before."""
    name = Snapshot.newest(published).path.name

    def opened() -> bool:
        workers = workers_of(server)
        assert not holds(server.process.pid, name)
        return len(workers) == len(server.pools()) and all(holds(worker, name) for worker in workers)

    os.kill(worker_of(server, "lookup"), signal.SIGKILL)
    until(opened)


def holds(process: int, name: str) -> bool:
    """Say whether a process has a file of this name open; one that has just ended has none."""
    try:
        return any(os.readlink(link).endswith(name) for link in Path(f"/proc/{process}/fd").iterdir())
    except FileNotFoundError:
        return False


@pytest.mark.nightly
@pytest.mark.slow
def test_publishing_while_serving_loses_no_request(demo: Path, tmp_path: Path) -> None:
    """Clients ask all the time while a newer snapshot takes over: every one is answered, by one of the two."""
    store, folder = tmp_path / "store.duckdb", tmp_path / "snapshots"
    shutil.copy(demo, store)
    old = snapshots.publish(store, folder).snapshot.name
    with (
        serving(tmp_path, "--snapshots", folder, "--no-warm-up", "--workers", 1) as server,
        ThreadPoolExecutor(4) as pool,
    ):
        enough = threading.Event()

        def ask(_: int) -> list[tuple[int, str]]:
            found = []
            while not enough.is_set():
                answer = server.client.get("/v1/ngrams", params={"pattern": "the *", "limit": 1})
                found.append((answer.status_code, answer.headers.get("sentgen-snapshot", "")))
                time.sleep(0.01)  # so that what is published has a processor, too
            return found

        asking = [pool.submit(ask, number) for number in range(4)]
        with Store(store) as opened, opened.begin() as connection:
            connection.exec_driver_sql("comment on table word is 'newer'")
        new = snapshots.publish(store, folder, keep=1).snapshot.name
        until(lambda: server.client.get("/healthz").json()["snapshot"] == new)
        health = server.client.get("/healthz").json()
        assert health["status"] == "ok"
        assert set(health["workers"]) == {"lookup", "compute", "sql"}
        until(lambda: len(workers_of(server)) == 3)  # the old ones have ended
        enough.set()
        answers = [one for asked in asking for one in asked.result()]

    assert {status for status, _ in answers} == {200}
    assert {snapshot for _, snapshot in answers} == {old, new}
    assert old != new


@pytest.mark.nightly
@pytest.mark.slow
def test_a_broken_snapshot_is_not_served(demo: Path, tmp_path: Path) -> None:
    """What does not have its hash is refused, and the old one stays."""
    folder = tmp_path / "snapshots"
    good = snapshots.publish(demo, folder).snapshot
    with serving(tmp_path, "--snapshots", folder, "--no-warm-up", "--workers", 1, "--no-sql") as server:
        bad = folder / "sentgen-0000000000000000.duckdb"
        bad.write_bytes(good.path.read_bytes()[:-1] + b"!")
        manifest = good.manifest.read_text().replace(good.name, bad.stem).replace("T", "T", 1)
        bad.with_suffix(".json").write_text(manifest.replace('"published_at": "2', '"published_at": "3'))
        until(lambda: any("changed since" in event.get("error", "") for event in server.events()))

        assert server.client.get("/healthz").json()["snapshot"] == good.name
        assert server.client.get("/v1/corpora").status_code == 200


@pytest.mark.nightly
@pytest.mark.slow
def test_shutdown(published: Path, tmp_path: Path) -> None:
    """A signal lets what has begun end, stops the workers, and leaves nothing behind; the exit code is 0.

    This is Ctrl-C; all other tests end their servers with SIGTERM, see `serving`.
    """
    environment = tmp_path / "tmp"
    environment.mkdir()
    old, os.environ["TMPDIR"] = os.environ.get("TMPDIR"), str(environment)
    try:
        with (
            serving(
                tmp_path, "--snapshots", published, "--no-warm-up", "--workers", 1, "--sql-timeout", 2
            ) as server,
            ThreadPoolExecutor(1) as pool,
        ):
            workers = workers_of(server)
            asked = pool.submit(server.client.post, "/v1/sql", json={"sql": ENDLESS})
            until(lambda: server.pools()["sql"] == 0)
            code = server.stop(signal.SIGINT)
            answer = asked.result()
    finally:
        os.environ.pop("TMPDIR")
        if old is not None:
            os.environ["TMPDIR"] = old

    assert code == 0
    assert answer.status_code == 504
    assert not any(Path(f"/proc/{worker}").exists() for worker in workers)
    assert list(environment.iterdir()) == []


@pytest.mark.nightly
@pytest.mark.slow
def test_workers_die_with_the_front(published: Path, tmp_path: Path) -> None:
    """Also when it is killed and can do nothing about it."""
    with serving(tmp_path, "--snapshots", published, "--no-warm-up", "--workers", 1) as server:
        workers = workers_of(server)
        server.stop(signal.SIGKILL)

        until(lambda: not any(Path(f"/proc/{worker}").exists() for worker in workers))


@pytest.mark.nightly(by_day=1)
@pytest.mark.parametrize("seconds", [number / 50 for number in range(10)])
def test_a_signal_while_the_snapshot_is_made(seconds: float, demo: Path, tmp_path: Path) -> None:
    """It leaves nothing behind, whether it comes before the server answers signals or after."""
    command = [sys.executable, str(ROOT / "cli.py"), "serve", "--db", str(demo), "--port", "0"]
    (tmp_path / "tmp").mkdir()
    environment = {**os.environ, "TMPDIR": str(tmp_path / "tmp")}
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
    # Not as soon as there is anything: Python tries the folder with a file that lives for an instant.
    until(lambda: list((tmp_path / "tmp").glob("sentgen-*")))
    time.sleep(seconds)
    process.terminate()

    assert process.wait(PATIENCE) in (0, 143)
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_store_is_served_by_a_snapshot_of_it(quick: Server, written: Path) -> None:
    """With --db the store itself stays free for writers; tokens are asked for where there are any."""
    with Store(written) as opened, opened.begin() as connection:
        connection.exec_driver_sql("comment on table word is 'written'")

    assert quick.client.get("/v1/corpora").json()["rows"][0]["corpus"] == "relief"
    assert quick.client.get("/v1/corpora", headers={"authorization": "no"}).status_code == 401


@pytest.mark.parametrize("sql", [True, False])
@pytest.mark.parametrize("desk", [Path("class.desk"), None])
def test_sql_and_lines_are_offered_or_not(sql: bool, desk: Path | None) -> None:
    """Without them there is no route of them, no page, and no worker."""
    settings = ServerSettings(Path("none"), sql=sql, desk=desk)
    routers = (routes.router(settings), site.router(settings))
    found = {route.path for router in routers for route in router.routes if isinstance(route, APIRoute)}

    assert ("/v1/sql" in found) == ("/sql" in found) == ("sql" in settings.kinds) == sql
    assert ("/v1/lines" in found) == ("/lines" in found) == ("desk" in settings.kinds) == bool(desk)
    assert {"/v1/kwic", "/query"} <= found


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--snapshots", "none"], "no such folder"),
        (["--snapshots", "."], "no snapshot here; make one with: sentgen publish --to ."),
        (["--db", "none.duckdb"], "no store here"),
        (["--snapshots", ".", "--host", "0.0.0.0"], "give --token-file"),
        (["--snapshots", ".", "--token-file", "short"], "16 characters"),
        (["--snapshots", ".", "--token-file", "open"], "others may read these tokens; run: chmod 600 open"),
        (["--snapshots", ".", "--token-file", "none"], "cannot be read"),
    ],
)
def test_refusals(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    told: str,
) -> None:
    """What cannot be served is said in one line."""
    (tmp_path / "short").touch(0o600)
    (tmp_path / "short").write_text("abc\n")
    (tmp_path / "open").touch(0o644)
    (tmp_path / "open").write_text("0123456789abcdef\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sentgen.server.running.to_standard_error", lambda: None)  # the logs of all tests
    monkeypatch.setattr("sys.argv", ["sentgen", "serve", "--port", "0", *options])

    with pytest.raises(SystemExit, match="1"):
        main()

    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith("sentgen: ")
    assert told in said[0]
    assert len(said) == 1
