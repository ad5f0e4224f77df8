"""Pools of real workers, without HTTP."""

from __future__ import annotations

import asyncio
import os
import signal
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from serving import call

from sentgen.errors import NotFoundError, StoreError
from sentgen.schema.manifests import Snapshot
from sentgen.server.cache import LruCache
from sentgen.server.monitoring import Metrics
from sentgen.server.operations import Opening
from sentgen.server.pool import NotTaken, Pool, Worker, start_task
from sentgen.server.problems import Refused
from sentgen.server.service import Generation, Service
from sentgen.server.settings import ServerSettings
from sentgen.server.wire import Call, Reply

ENDLESS = "select count(*) from range(1000000000000) a"


@pytest.fixture(scope="module")
def opening(opening: Opening, published: Path) -> Opening:
    """Workers for SQL start fastest."""
    return replace(opening, kind="sql", store=str(Snapshot.newest(published).path))


def ask(sql: str) -> Call:
    """A request for SQL."""
    return call("sql", sql=sql)


def within(opening: Opening, **limits: Any) -> Opening:
    """The settings with other limits."""
    return replace(opening, limits=replace(opening.limits, **limits))


@asynccontextmanager
async def running(opening: Opening, *, seconds: float = 240, queue: int = 2) -> AsyncIterator[Pool]:
    """A pool of one worker, which is stopped at the end."""
    pool = Pool(within(opening, seconds={"sql": seconds}, queue=queue), 1, Metrics())
    await pool.start()
    try:
        yield pool
    finally:
        await pool.stop()
        assert pool.state["workers"] == 0


async def until(true: Callable[[], object]) -> None:
    """Let other tasks run until a condition is true."""
    async with asyncio.timeout(240):
        while not true():
            await asyncio.sleep(0.01)


async def refusal(work: Awaitable[Any]) -> tuple[int, str]:
    """The status and kind of the problem that something ends with, which tells no path and no class of error."""
    with pytest.raises(Refused) as refused:
        await work
    assert not any(part in refused.value.document.detail for part in ("/", "Error", "Exception"))
    return refused.value.status, refused.value.document.type.rpartition(":")[2]


def test_a_worker_that_ran_short_is_replaced(opening: Opening) -> None:
    """The answer says what was wrong; the next request meets another worker."""

    async def scenario() -> None:
        async with running(within(opening, memory=600 * 2**20)) as pool:
            (first,) = pool._all
            sql = "select list(a::varchar || repeat('x', 1000)) from range(1000000) t(a)"
            short = await pool.call(ask(sql))
            good = await pool.call(ask("select 1 as n"))

            assert short.status == 400
            assert b"too much memory" in short.body
            assert good.status == 200
            assert first not in pool._all
            assert 'kind="sql",reason="retired"} 1' in pool.metrics.text({}, "", LruCache(0))

    asyncio.run(scenario())


#: Asks for more memory than there is at once, which DuckDB takes for a mistake of its own.
BREAKS = "select reservoir_quantile(i, 0.5, 2000000000) from range(10) t(i)"


def test_a_worker_whose_database_broke_is_replaced(opening: Opening) -> None:
    """Whoever broke it is told so, and nobody else notices."""

    async def scenario() -> None:
        async with running(opening) as pool:
            (first,) = pool._all
            broken = await pool.call(ask(BREAKS))
            good = await pool.call(ask("select 42 as n"))

            assert (broken.status, good.status) == (503, 200)
            assert b"the database failed over this, perhaps for lack of memory" in broken.body
            assert first not in pool._all

    asyncio.run(scenario())


def test_health(opening: Opening, monkeypatch: pytest.MonkeyPatch) -> None:
    """An idle worker is asked, which is no work; one that is not well is replaced."""

    async def scenario() -> None:
        async with running(opening) as pool:
            (worker,) = pool._all
            before = worker.idle_since
            assert await pool.health() == "ok"
            assert worker.is_fresh
            assert worker.idle_since == before

            busy = asyncio.create_task(pool.call(ask(ENDLESS)))
            await until(lambda: pool.state["idle"] == 0)
            assert await pool.health() == "busy"
            busy.cancel()
            await until(lambda: pool.state["idle"] == 1)

            monkeypatch.setattr("sentgen.server.pool.PING", ask(BREAKS))
            assert await pool.health() == "failing"
            monkeypatch.undo()
            await until(lambda: pool.state["idle"] == 1)
            assert await pool.health() == "ok"

    asyncio.run(scenario())


@pytest.mark.nightly
def test_waiting(opening: Opening) -> None:
    """Who waits too long, or finds too many waiting, is refused; who goes away gives up the place."""

    async def scenario() -> None:
        async with running(opening, seconds=3, queue=2) as pool:
            busy = asyncio.create_task(refusal(pool.call(ask(ENDLESS))))
            await until(lambda: pool.state["idle"] == 0)
            gone = asyncio.create_task(pool.call(ask("select 1 as n")))
            patient = asyncio.create_task(refusal(pool.call(ask(ENDLESS))))
            await until(lambda: pool.state["waiting"] == 2)

            assert await refusal(pool.call(ask("select 1 as n"))) == (429, "busy")
            gone.cancel()
            await until(lambda: gone.cancelled())
            assert pool.state["waiting"] == 1
            assert await busy == (504, "deadline")
            assert (await patient)[0] in (429, 504)

    asyncio.run(scenario())


def test_a_worker_dies_in_mid_request(opening: Opening, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its request is refused, and another one takes its place."""
    told: list[int] = []
    receive = Worker._receive

    async def noted(worker: Worker) -> Reply:
        reply = await receive(worker)
        told.append(reply.status)
        return reply

    async def scenario() -> None:
        monkeypatch.setattr(Worker, "_receive", noted)
        async with running(opening) as pool:
            (first,) = pool._all
            asked = asyncio.create_task(refusal(pool.call(ask(ENDLESS))))
            # Killed before it has taken the request, it would leave it to another worker.
            await until(lambda: 102 in told)
            os.kill(first.process.pid, signal.SIGKILL)
            assert await asked == (503, "worker-died")

            await until(lambda: pool.state["idle"] == 1)
            assert first not in pool._all

    asyncio.run(scenario())


def test_a_worker_dies_while_idle(opening: Opening) -> None:
    """The next request meets another one."""

    async def scenario() -> None:
        async with running(opening) as pool:
            (first,) = pool._all
            first.kill()
            await until(lambda: first not in pool._all)
            assert (await pool.call(ask("select 1 as n"))).status == 200

    asyncio.run(scenario())


def test_a_worker_that_dies_before_it_takes_a_request_leaves_it_to_another(opening: Opening) -> None:
    """It got the request, and no processor: the request cannot be what it died of."""

    async def scenario() -> None:
        async with running(opening) as pool:
            (worker,) = pool._all
            os.kill(worker.process.pid, signal.SIGSTOP)
            asked = asyncio.create_task(pool.call(ask("select 1 as n")))
            await until(lambda: pool.state["idle"] == 0)
            os.kill(worker.process.pid, signal.SIGKILL)
            assert (await asked).status == 200

    asyncio.run(scenario())


def test_a_worker_that_nobody_saw_die_gets_no_work(opening: Opening) -> None:
    """The event loop has not run since the worker was killed: the request waits for another one."""

    async def scenario() -> None:
        async with running(opening) as pool:
            (worker,) = pool._all
            os.kill(worker.process.pid, signal.SIGKILL)

            assert pool.state["idle"] == 1
            assert (await pool.call(ask("select 1 as n"))).status == 200

    asyncio.run(scenario())


def test_who_goes_away_in_mid_request_ends_the_work(opening: Opening) -> None:
    """A request that is cancelled does not keep its worker."""

    async def scenario() -> None:
        async with running(opening) as pool:
            asked = asyncio.create_task(pool.call(ask(ENDLESS)))
            await until(lambda: pool.state["idle"] == 0)
            asked.cancel()
            await until(lambda: pool.state["idle"] == 1)

            assert 'reason="cancelled"} 1' in pool.metrics.text({}, "", LruCache(0))

    asyncio.run(scenario())


def test_a_pool_that_cannot_start(opening: Opening, tmp_path: Path) -> None:
    """The error of the worker is the error of the pool; nothing is left running."""

    async def scenario() -> None:
        pool = Pool(replace(opening, store=str(tmp_path / "none")), 1, Metrics())
        generation = Generation(Snapshot.newest(Path(opening.store).parent), {"sql": pool})
        with pytest.raises(StoreError, match=r"a worker for sql cannot start: .*no store here"):
            await generation.start()
        assert pool.state["workers"] == 0

    asyncio.run(scenario())


def test_the_first_answers_wait_for_no_machine_code(
    opening: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker that loads it, or fails to, comes behind the others."""
    pools = {kind: Pool(replace(opening, kind=kind), 2, Metrics()) for kind in ("sql", "compute")}
    monkeypatch.setattr("sentgen.server.pool._MACHINE_CODE", Path(opening.store).parent)
    started: list[str] = []
    start = Worker.start

    async def counted(given: Opening) -> Worker:
        started.append(given.kind)
        if given.kind == "compute":
            raise StoreError("no")
        return await start(given)

    async def scenario() -> None:
        monkeypatch.setattr(Worker, "start", counted)
        generation = Generation(Snapshot.newest(Path(opening.store).parent), pools)
        await generation.start(whole=False)
        assert started == ["sql"]
        assert pools["sql"].state["idle"] == 1
        await until(lambda: "compute" in started)
        await generation.stop()

    asyncio.run(scenario())
    assert started.count("sql") == 1


@pytest.mark.nightly
def test_workers_come_when_all_are_busy_and_end_when_idle(
    opening: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No more than asked for, and never the last one that has not worked: the next request finds it."""

    async def scenario() -> None:
        monkeypatch.setattr("sentgen.server.pool._IDLE", 0.5)
        pool = Pool(within(opening, seconds={"sql": 240}), 2, Metrics())
        await pool.start()
        (first,) = pool._all
        await asyncio.sleep(1)
        assert pool._all == {first}

        busy = [asyncio.create_task(pool.call(ask(ENDLESS))) for _ in range(3)]
        await until(lambda: pool.state == {"workers": 2, "idle": 0, "waiting": 1})
        for task in busy:
            task.cancel()
        await until(lambda: pool.state == {"workers": 1, "idle": 1, "waiting": 0})
        (second,) = pool._all
        assert (await pool.call(ask("select 1 as n"))).status == 200
        # It has worked: a fresh one takes its place, and stays.
        await until(lambda: pool._all and second not in pool._all)
        (third,) = pool._all
        await asyncio.sleep(1)
        assert pool._all == {third}
        await pool.stop()

    asyncio.run(scenario())


def test_only_the_first_worker_warms_up(opening: Opening, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it has compiled lies on the disk; those that follow are smaller."""
    warmed: list[bool] = []
    start = Worker.start

    async def counted(given: Opening) -> Worker:
        warmed.append(given.warm_up)
        return await start(replace(given, warm_up=False))

    async def scenario() -> None:
        monkeypatch.setattr(Worker, "start", counted)
        async with running(replace(opening, warm_up=True)) as pool:
            (first,) = pool._all
            first.kill()
            await until(lambda: pool._all and first not in pool._all)

    asyncio.run(scenario())
    assert warmed == [True, False]


def test_a_worker_that_dies_while_it_starts(opening: Opening) -> None:
    """Without room for its libraries it dies at once, and that is said."""

    async def scenario() -> None:
        with pytest.raises(StoreError, match="cannot start"):
            await Worker.start(within(opening, memory=2**20))

    asyncio.run(scenario())


@pytest.mark.parametrize("steps", [1, 2, 4, 100])
def test_a_start_that_is_cancelled_leaves_nothing(
    opening: Opening, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    """The folder of the worker goes, whether its process is there yet or not."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    async def scenario() -> None:
        starting = asyncio.create_task(Worker.start(opening))
        for _ in range(steps):
            await asyncio.sleep(0)
        assert len(list(tmp_path.iterdir())) == 1

        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting

    asyncio.run(scenario())
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_respawned_is_tried_again(opening: Opening, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that fails to start is started again, with a pause."""
    start = Worker.start
    failures = iter([StoreError("no"), StoreError("no")])

    async def scenario() -> None:
        async with running(opening) as pool:
            (first,) = pool._all

            async def failing(given: Opening) -> Worker:
                error = next(failures, None)
                if error:
                    raise error
                return await start(given)

            monkeypatch.setattr(Worker, "start", failing)
            first.kill()
            await until(lambda: pool.state["idle"] == 1 and first not in pool._all)

    asyncio.run(scenario())
    assert next(failures, None) is None


def test_a_service_drains_what_it_replaces(published: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The old workers stay until their last request is answered, and then end."""
    monkeypatch.setattr(ServerSettings, "kinds", ("sql",))

    async def scenario() -> None:
        service = Service(ServerSettings(published, workers=1, poll=3600))
        with pytest.raises(RuntimeError):
            _ = service.snapshot
        await service.start()
        old = service._generation_now
        slow = "select count(*) as n from range(300000000) a"
        asked = asyncio.create_task(service.call(ask(slow)))
        await until(lambda: service.pools["sql"]["idle"] == 0)

        await service._replace(service.snapshot)
        assert service._generation_now is not old
        told = await asked
        await until(lambda: not service._draining)

        assert told.status == 200
        assert old.pools["sql"].state["workers"] == 0
        assert service.pools["sql"]["workers"] == 1
        await service.stop()

    asyncio.run(scenario())


def test_a_snapshot_of_another_version_is_not_served(published: Path, tmp_path: Path) -> None:
    """Its manifest says so; what to do is said."""
    found = Snapshot.newest(published)
    for path in (found.path, found.manifest):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    manifest = tmp_path / found.manifest.name
    manifest.write_text(manifest.read_text().replace('"schema": "', '"schema": "9'))

    with pytest.raises(StoreError, match="publish the store again"):
        asyncio.run(Service(ServerSettings(tmp_path)).start())
    with pytest.raises(NotFoundError):
        asyncio.run(Service(ServerSettings(tmp_path / "none")).start())


def test_a_pipe_that_is_closed_already_is_a_worker_that_had_died() -> None:
    """uvloop says so with a RuntimeError; the request goes to another worker."""

    class Closed:
        def write(self, _: object) -> None:
            raise RuntimeError("unable to perform operation on <UnixTransport closed=True>")

    worker = Worker.__new__(Worker)
    worker.process = cast(Any, SimpleNamespace(stdin=Closed()))

    with pytest.raises(NotTaken):
        asyncio.run(worker.call(Call("sql", b"")))


def test_a_worker_is_started_again_whatever_kept_it_from_starting(
    opening: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system has no more processes for a moment: the pool does not stay without workers."""

    async def scenario() -> None:
        pool = Pool(opening, 1, Metrics())
        tried: list[int] = []

        async def refused(_: Opening) -> Worker:
            tried.append(1)
            pool._stopping = len(tried) == 2
            raise OSError(11, "Resource temporarily unavailable")

        monkeypatch.setattr(Worker, "start", refused)
        monkeypatch.setattr("sentgen.server.pool._FIRST_PAUSE", 0)
        pool.fill()
        await until(lambda: not pool._tasks)
        assert len(tried) == 2

    asyncio.run(scenario())


def test_who_looks_out_for_snapshots_goes_on_whatever_happens(
    published: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """What goes wrong is logged, and the next look finds what is new."""
    asked: list[str] = []

    def looked(_: Path) -> Any:
        asked.append("asked")
        if len(asked) < 3:
            raise RuntimeError(f"number {len(asked)}")
        raise asyncio.CancelledError

    async def scenario() -> None:
        service = Service(ServerSettings(published, poll=0))
        with pytest.raises(asyncio.CancelledError):
            await service._follow()

    monkeypatch.setattr("sentgen.server.service.Snapshot.newest", looked)
    asyncio.run(scenario())

    assert [getattr(record, "error", "") for record in caplog.records] == [
        "RuntimeError('number 1')",
        "RuntimeError('number 2')",
    ]


def test_a_snapshot_that_breaks_the_server_is_tried_once(
    published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each try would start processes and read the whole file."""

    async def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("broken")

    monkeypatch.setattr(Service, "_generation", broken)
    service = Service(ServerSettings(published))
    with pytest.raises(RuntimeError):
        asyncio.run(service._replace(Snapshot.newest(published)))

    assert service._refused == Snapshot.newest(published).name


def test_work_that_ends_by_an_error_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """Nobody waits for it, and so nobody else would say."""
    kept: set[asyncio.Task[None]] = set()

    async def failing() -> None:
        raise RuntimeError("of nobody's concern")

    async def scenario() -> None:
        start_task(kept, failing(), "drain")
        await until(lambda: not kept)

    asyncio.run(scenario())

    (record,) = caplog.records
    assert (record.levelname, vars(record)["work"], vars(record)["error"]) == (
        "ERROR",
        "drain",
        'RuntimeError("of nobody\'s concern")',
    )
