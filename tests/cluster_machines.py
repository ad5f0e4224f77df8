"""A scheduler and workers as processes, and clients of them, which tests kill."""

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


def kill_one(number: int, folder: Path, lake: Path, words: tuple[object, ...], longest: float) -> str:
    """Kill one process at a random moment while a client works; return which.

    Args:
        number: of the round.
        folder: of the scheduler.
        lake: the lake.
        words: what the client does, but for where.
        longest: seconds that it takes undisturbed.
    """
    rng = random.Random(number)
    victim = VICTIMS[number % len(VICTIMS)]
    with ExitStack() as stack:
        machines = Machines(folder, stack)
        client = stack.enter_context(running(CLIENT, lake, *words, machines.address))
        assert client.stdout is not None
        assert client.stdout.readline() == "connected\n"
        time.sleep(rng.uniform(0, longest))
        if victim == "client":
            os.kill(client.pid, signal.SIGKILL)
            client.communicate(timeout=60)
        else:
            machines.kill(victim, rng)
            _, told = client.communicate(timeout=120)
            assert client.returncode in ((0, 1) if victim == "scheduler" else (0,)), told
            assert len(told.strip().splitlines()) <= 1, told
    return victim


def run_to_the_end(lake: Path, *words: object) -> float:
    """Run a client with two processes; return the seconds that it took from its start on."""
    with running(CLIENT, lake, *words, 2) as client:
        assert client.stdout is not None
        client.stdout.readline()
        began = time.monotonic()
        _, told = client.communicate(timeout=120)
        assert client.returncode == 0, told
        return time.monotonic() - began
