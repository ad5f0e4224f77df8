"""A scheduler and workers as processes, and clients of them, which tests kill."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from cluster_client import work

from sentgen.counts.cluster.stages import ClusterTask, Inline

CLIENT = Path(__file__).parent / "cluster_client.py"
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


class Counting(Inline):
    """Runs tasks in this process, and says how many there were."""

    def __init__(self) -> None:
        self.tasks = 0

    def run(self, tasks: Sequence[ClusterTask]) -> Iterator[tuple[int, dict[str, Any]]]:
        self.tasks += len(tasks)
        return super().run(tasks)


def run_here(lake: Path, text: object) -> int:
    """Do what a client does in this process; return how many tasks there were."""
    engine = Counting()
    work(lake, str(text), engine)
    return engine.tasks


def receipts(lake: Path) -> int:
    """Return how many tasks of an unfinished work are done."""
    return sum(1 for _ in (lake / "_work").glob("*/*.json"))


def kill_one(number: int, folder: Path, lake: Path, text: object, tasks: int) -> str:
    """Kill one process while a client works, when some number of tasks is done; return which.

    Args:
        number: of the round.
        folder: of the scheduler.
        lake: the lake.
        text: what the client counts, or ``--model``.
        tasks: how many it has.
    """
    rng = random.Random(number)
    victim = VICTIMS[number % len(VICTIMS)]
    with ExitStack() as stack:
        machines = Machines(folder, stack)
        client = stack.enter_context(running(CLIENT, lake, text, machines.address))
        assert client.stdout is not None
        assert client.stdout.readline() == "connected\n"
        after = rng.randrange(tasks)
        while receipts(lake) < after and client.poll() is None:
            time.sleep(0.002)
        if victim == "client":
            os.kill(client.pid, signal.SIGKILL)
            client.communicate(timeout=60)
        else:
            machines.kill(victim, rng)
            _, told = client.communicate(timeout=120)
            assert client.returncode in ((0, 1) if victim == "scheduler" else (0,)), told
            assert len(told.strip().splitlines()) <= 1, told
    return victim


def run_to_the_end(lake: Path, text: object) -> None:
    """Run a client with two processes."""
    with running(CLIENT, lake, text, 2) as client:
        _, told = client.communicate(timeout=120)
        assert client.returncode == 0, told
