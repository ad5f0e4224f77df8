"""Kill processes of a local cluster with SIGKILL: a count that goes on ends with the same bytes."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from sentgen.counts.cluster import listing
from sentgen.schema import write_lock
from sentgen.schema.lakes.places import Place

CLIENT = Path(__file__).parents[1] / "cluster_client.py"
VICTIMS = ("worker", "scheduler", "client")


def files(lake: Path) -> dict[str, bytes]:
    """Return all files of a lake."""
    return {
        path.relative_to(lake).as_posix(): path.read_bytes() for path in lake.rglob("*") if path.is_file()
    }


def children(process: int) -> list[int]:
    """Return the processes that the threads of a process started."""
    lists = Path(f"/proc/{process}/task").glob("*/children")
    return [int(pid) for found in lists for pid in found.read_text().split()]


@contextmanager
def running(*command: object) -> Iterator[subprocess.Popen[str]]:
    """Run a process, with all that it starts, and kill what is left at the end."""
    process = subprocess.Popen(
        [sys.executable, *map(str, command)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


class Machines:
    """A scheduler and two workers, each a process that can be killed."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.address = folder / "scheduler.json"
        self.address.unlink(missing_ok=True)
        quiet = ("--no-dashboard",)
        self.scheduler = stack.enter_context(
            running(
                "-m", "distributed.cli.dask_scheduler", "--scheduler-file", self.address, "--port", 0, *quiet
            )
        )
        self.workers = [
            stack.enter_context(
                running(
                    *("-m", "distributed.cli.dask_worker", "--scheduler-file", self.address, "--nthreads", 1),
                    *(
                        "--no-nanny",
                        "--memory-limit",
                        0,
                        "--local-directory",
                        folder,
                        "--death-timeout",
                        30,
                        *quiet,
                    ),
                )
            )
            for _ in range(2)
        ]

    def kill(self, victim: str, rng: random.Random) -> None:
        """Kill one of them."""
        os.kill(self.scheduler.pid if victim == "scheduler" else rng.choice(self.workers).pid, signal.SIGKILL)


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twenty thousand words, a few hundred different ones."""
    rng = random.Random(5)
    path = tmp_path_factory.mktemp("kills") / "text.lines"
    lines = (" ".join(f"w{int(rng.paretovariate(0.6)) % 997}" for _ in range(10)) for _ in range(4_000))
    path.write_text("\n".join(lines))
    return path


@pytest.fixture(scope="module")
def whole(text: Path) -> tuple[dict[str, bytes], float]:
    """The lake of the text, and the seconds that two processes took from their start."""
    lake = text.parent / "whole"
    with running(CLIENT, lake, text, 2) as client:
        assert client.stdout is not None
        client.stdout.readline()
        began = time.monotonic()
        _, told = client.communicate(timeout=120)
        assert client.returncode == 0, told
        return files(lake), time.monotonic() - began


def round_of(number: int, text: Path, whole: tuple[dict[str, bytes], float], folder: Path) -> None:
    """Kill one process at a random moment, then count to the end and compare."""
    rng = random.Random(number)
    victim = VICTIMS[number % len(VICTIMS)]
    lake = folder / f"lake-{number}"
    with ExitStack() as stack:
        machines = Machines(folder, stack)
        client = stack.enter_context(running(CLIENT, lake, text, machines.address))
        assert client.stdout is not None
        assert client.stdout.readline() == "connected\n"
        time.sleep(rng.uniform(0, whole[1]))
        if victim == "client":
            os.kill(client.pid, signal.SIGKILL)
            client.communicate(timeout=60)
        else:
            machines.kill(victim, rng)
            _, told = client.communicate(timeout=120)
            assert client.returncode in ((0, 1) if victim == "scheduler" else (0,)), told
            assert len(told.strip().splitlines()) <= 1, told
    if (lake / "manifest.json").exists():  # what it names is there, whenever
        list(listing.status(Place(lake), lake / "_work"))
    with running(CLIENT, lake, text, 2) as client:
        _, told = client.communicate(timeout=120)
        assert client.returncode == 0, told
    assert files(lake) == whole[0], f"{victim} killed in round {number}"


@pytest.mark.slow
@pytest.mark.parametrize("number", range(3))
def test_a_killed_process_changes_nothing(
    number: int, text: Path, whole: tuple[dict[str, bytes], float], tmp_path: Path
) -> None:
    round_of(number, text, whole, tmp_path)


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize("number", range(3, 53))
def test_fifty_killed_processes_change_nothing(
    number: int, text: Path, whole: tuple[dict[str, bytes], float], tmp_path: Path
) -> None:
    round_of(number, text, whole, tmp_path)


@pytest.mark.slow
def test_a_killed_worker_of_a_local_cluster_is_replaced(
    text: Path, whole: tuple[dict[str, bytes], float], tmp_path: Path
) -> None:
    lake = tmp_path / "lake"
    with running(CLIENT, lake, text, 2) as client:
        assert client.stdout is not None
        client.stdout.readline()
        command = "spawn_main"  # the others look after semaphores
        workers = [pid for pid in children(client.pid) if command in Path(f"/proc/{pid}/cmdline").read_text()]
        os.kill(workers[0], signal.SIGKILL)
        _, told = client.communicate(timeout=120)
        assert (client.returncode, told) == (0, "")
    assert files(lake) == whole[0]


@pytest.mark.slow
def test_a_second_client_is_refused(text: Path, tmp_path: Path) -> None:
    lock = write_lock.take(tmp_path / "lake")
    try:
        with running(CLIENT, tmp_path / "lake", text, 1) as client:
            _, told = client.communicate(timeout=60)
    finally:
        lock.release()
    assert client.returncode == 1
    assert f"in use by another process, {lock._holder.command} (process {os.getpid()})" in told
    assert len(told.splitlines()) == 1
    assert not (tmp_path / "lake").exists()
